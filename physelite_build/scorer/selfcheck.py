"""Checks a gold file with the scorer itself: every answer equals itself, and answers made wrong on purpose fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .answers import UnreadableAnswerError
from .clean import clean
from .compare_values import DEFAULT_TOLERANCE
from .files import GoldAnswer, GoldRow
from .grade import score, score_problem
from .mutate import Mutation, mutations
from .parts import group_labels, split_reference
from .read import kind_of, read_reference
from .verdict import CORRECT, Verdict

IDENTITY = "itself"
MISSING_PART = "part missing"
LISTED = 50


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of one row."""

    problem_id: str
    """Public id of the row."""
    kind: str
    """`itself`, `part missing` or the kind of mutation."""
    text: str
    """The answer that was scored."""
    is_right: bool
    """True when the verdict was as expected."""
    verdict: Verdict
    """The verdict."""


def check_rows(gold: Sequence[GoldRow]) -> list[Finding]:
    """Check every row of a gold file, in its order."""
    return [finding for row in gold for finding in check_row(row)]


def check_row(row: GoldRow) -> list[Finding]:
    """Score a row's gold answers against themselves and against wrong variants."""
    answers = [answer.as_mapping() for answer in row.answers]
    whole = compose(row.answers)
    verdict = score_problem(whole, answers)
    findings = [Finding(row.problem_id, IDENTITY, whole, verdict.outcome == CORRECT and verdict.credit == 1.0, verdict)]
    for answer in row.answers:
        for mutation in _wrong_answers(answer):
            wrong = score(mutation.text, answer.answer, kind=answer.kind, tolerance=answer.tolerance)
            is_right = wrong.outcome != CORRECT and wrong.credit == 0.0
            findings.append(Finding(row.problem_id, mutation.kind, mutation.text, is_right, wrong))
        findings.extend(_missing_inner_part(row, answer))
    findings.extend(_missing_part(row, index) for index in range(len(row.answers)) if len(row.answers) > 1)
    return findings


def _wrong_answers(answer: GoldAnswer) -> list[Mutation]:
    reference = clean(answer.answer)
    if not kind_of(answer.kind) and split_reference(reference):
        return []
    try:
        read = read_reference(reference, answer.kind)
    except (UnreadableAnswerError, RecursionError):
        return []
    tolerance = DEFAULT_TOLERANCE if answer.tolerance is None else answer.tolerance
    return mutations(reference, read, tolerance=tolerance)


def _missing_inner_part(row: GoldRow, answer: GoldAnswer) -> list[Finding]:
    """Leave out the last part of an answer that has several parts in one text."""
    parts = () if kind_of(answer.kind) else split_reference(clean(answer.answer))
    if not parts:
        return []
    text = "; ".join(f"({part.label}) {part.text}" if part.label else part.text for part in parts[:-1])
    verdict = score(text, answer.answer, tolerance=answer.tolerance)
    is_right = verdict.outcome != CORRECT and bool(verdict.parts) and verdict.parts[-1].credit == 0.0
    return [Finding(row.problem_id, MISSING_PART, text, is_right, verdict)]


def compose(answers: Sequence[GoldAnswer], *, left_out: int | None = None) -> str:
    """Write the gold answers as a response: one answer as it is, several on a line for each part behind its label."""
    if len(answers) == 1:
        return answers[0].answer
    labels = group_labels([(answer.part or "").strip() for answer in answers])
    if not any(labels):
        labels = [str(index + 1) for index in range(len(answers))]
    lines: dict[str, list[str]] = {}
    for index, (label, answer) in enumerate(zip(labels, answers, strict=True)):
        if index != left_out:
            lines.setdefault(label, []).append(answer.answer)
    return "\n".join(f"{_bracketed(label)} {'; '.join(texts)}" for label, texts in lines.items())


def _bracketed(label: str) -> str:
    return label if label[:1] in "(（第" or label.lower().startswith(("part", "question")) else f"({label})"


def _missing_part(row: GoldRow, left_out: int) -> Finding:
    text = compose(row.answers, left_out=left_out)
    verdict = score_problem(text, [answer.as_mapping() for answer in row.answers])
    part = verdict.parts[left_out] if len(verdict.parts) > left_out else verdict
    return Finding(row.problem_id, MISSING_PART, text, verdict.outcome != CORRECT and part.credit == 0.0, verdict)


@dataclass(frozen=True, slots=True)
class Tally:
    """How one kind of check came out over all rows."""

    kind: str
    """The kind of check."""
    count: int
    """Checks made."""
    right: int
    """Checks that came out as expected."""


def tally(findings: Sequence[Finding]) -> list[Tally]:
    """Count findings by kind; the identity check comes first."""
    kinds = sorted({finding.kind for finding in findings}, key=lambda kind: (kind != IDENTITY, kind))
    counts = []
    for kind in kinds:
        found = [finding for finding in findings if finding.kind == kind]
        counts.append(Tally(kind, len(found), sum(finding.is_right for finding in found)))
    return counts


def selfcheck_record(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the result as plain values for JSON."""
    return {
        "ok": all(finding.is_right for finding in findings),
        "checks": [
            {"check": t.kind, "n": t.count, "expected": _expected(t.kind), "as_expected": t.right}
            for t in tally(findings)
        ],
        "failures": [
            {"id": f.problem_id, "check": f.kind, "text": f.text, "reason": f.verdict.reason,
             "explanation": f.verdict.explanation, "credit": f.verdict.credit}
            for f in findings
            if not f.is_right
        ],
    }  # fmt: skip


def selfcheck_text(findings: Sequence[Finding]) -> str:
    """Return the result as a table for people, failing rows below it."""
    counts = tally(findings)
    width = max([len(count.kind) for count in counts] + [5])
    lines = [f"{'check':<{width}}  {'n':>6}  {'expected':>9}  {'as expected':>11}"]
    lines += [f"{c.kind:<{width}}  {c.count:>6}  {_expected(c.kind):>9}  {c.right:>11}" for c in counts]
    failing = [finding for finding in findings if not finding.is_right]
    lines += [f"{f.problem_id}  {f.kind}: {_short(f.text)}  [{f.verdict.reason}]" for f in failing[:LISTED]]
    if len(failing) > LISTED:
        lines.append(f"... and {len(failing) - LISTED} more (all of them with --json)")
    lines.append("All checks came out as expected." if not failing else f"{len(failing)} checks failed.")
    return "\n".join(lines) + "\n"


def _expected(kind: str) -> str:
    return "correct" if kind == IDENTITY else "incorrect"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 120 else flat[:119] + "…"
