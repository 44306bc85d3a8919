"""Looks over the finished corpus and lists what would mislead a reader or block a release."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from physelite_build.latex import MathStyle, split_math, structure_errors
from physelite_build.records import Document, Entries, Finding, Findings, PairDecision, Problem, Severity
from physelite_build.stages.dedup import normal_form, numbers_in

__all__ = ["check_corpus"]

_TABLE = re.compile(
    r"[如见]?[下上]?表\s*\d*\s*(?:所示|中的?数据|给出|列出)|(?:see|in|from) the table|[Tt]able \d", re.IGNORECASE
)
_MENTION = re.compile(r"如图|图\s*\d|(?:[Ff]igure|[Ff]ig\.)\s*\d|shown in the figure")


def check_corpus(
    entries: Entries, problems: Mapping[str, Problem], documents: Mapping[str, Document], *, least_confidence: float
) -> Findings:
    """List findings in the order of the entries.

    Args:
        entries: The corpus.
        problems: All problems by key.
        documents: All documents by id.
        least_confidence: A problem with a less certain row is reported, in [0, 1].

    Returns:
        Findings with stable codes; ``block`` keeps the problem out of a release.
    """
    found: list[Finding] = []
    for entry in entries.entries:
        for key in filter(None, (entry.zh, entry.en)):
            problem = problems[key]
            found += _check_problem(problem, least_confidence=least_confidence)
            if not documents[problem.doc_id].notes.rights:
                message = f'{key}: no rights are stated; write rights = "..." into source.toml beside the scans'
                found.append(_block(key, "rights.missing", message))
        if entry.zh and entry.en:
            found += _check_languages(problems[entry.zh], problems[entry.en])
    for pair in entries.pairs:
        if pair.decision is PairDecision.ASK:
            message = (
                f"{pair.left} and {pair.right} are {pair.similarity:.3f} the same ({pair.rule}); a person must decide"
            )
            found.append(_warn(pair.left, "pair.undecided", message))
    return Findings(findings=tuple(found))


def _check_problem(problem: Problem, *, least_confidence: float) -> Iterator[Finding]:
    key = problem.key
    if not problem.statement.strip():
        yield _block(key, "statement.empty", f"{key} has a heading but no text")
    if not problem.answers:
        yield _warn(key, "answer.missing", f"{key} has no final answer that could be found")
    for field, text in (("statement", problem.statement), ("solution", problem.solution or "")):
        for piece in split_math(text):
            errors = structure_errors(piece.text) if piece.style is not MathStyle.TEXT else []
            if errors:
                yield _warn(key, "latex.broken", f"{key}, {field}: {errors[0]} in {piece.text[:60]!r}")
    if _TABLE.search(problem.statement):
        yield _block(
            key, "table.missing", f"{key} asks the reader to look at a table, and tables are not transcribed yet"
        )
    if _MENTION.search(problem.statement) and not problem.figures:
        yield _warn(key, "figure.missing", f"{key} mentions a figure but none was linked to it")
    if problem.parts and 0 < len(problem.answers) < len(problem.parts):
        count = f"{len(problem.answers)} answers for {len(problem.parts)} parts"
        yield _warn(key, "answer.parts", f"{key} has {count}")
    labels = Counter(part.label for part in problem.parts)
    repeated = sorted(label for label, count in labels.items() if count > 1)
    if repeated:
        yield _warn(key, "part.repeated", f"{key} has part {repeated[0]!r} more than once")
    if problem.confidence is not None and problem.confidence < least_confidence:
        yield _warn(key, "read.uncertain", f"{key} has a row read with confidence {problem.confidence:.2f}")


def _check_languages(zh: Problem, en: Problem) -> Iterator[Finding]:
    here, there = numbers_in(normal_form(zh.statement)), numbers_in(normal_form(en.statement))
    differing = _differing(here, there)
    if differing:
        message = (
            f"{zh.key} and {en.key} are one problem, but these numbers stand in one text only: {', '.join(differing)}"
        )
        yield _warn(zh.key, "languages.numbers", message)
    if len(zh.parts) != len(en.parts):
        message = f"{zh.key} has {len(zh.parts)} parts, its translation {en.key} has {len(en.parts)}"
        yield _warn(zh.key, "languages.parts", message)


def _differing(left: Counter[str], right: Counter[str]) -> Sequence[str]:
    return sorted((left - right) + (right - left))[:8]


def _block(subject: str, code: str, message: str) -> Finding:
    return Finding(subject=subject, code=code, severity=Severity.BLOCK, message=message)


def _warn(subject: str, code: str, message: str) -> Finding:
    return Finding(subject=subject, code=code, severity=Severity.WARN, message=message)
