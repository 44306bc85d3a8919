"""Scores a whole prediction file and sums it up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .files import GoldRow
from .grade import score_problem
from .verdict import CORRECT, INCORRECT, UNSCORED, Verdict

LISTED = 20


@dataclass(frozen=True, slots=True)
class Scored:
    """The verdict for one problem."""

    row: GoldRow
    """The problem's references."""
    verdict: Verdict
    """The judgement; incorrect with reason `prediction.missing` when there is no prediction."""


@dataclass(frozen=True, slots=True)
class Group:
    """The result of a group of problems."""

    title: str
    """Name of the group."""
    count: int
    """Problems that could be scored, missing predictions included."""
    accuracy: float | None
    """Share that is fully correct, in [0, 1]; None for an empty group."""
    credit: float | None
    """Mean credit, in [0, 1]; None for an empty group."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a prediction file."""

    groups: tuple[Group, ...]
    """All problems first, then subjects, then difficulty bands."""
    missing: tuple[str, ...]
    """Ids of gold rows without a prediction; they count as wrong."""
    unknown: tuple[str, ...]
    """Ids of predictions without a gold row; they are not counted."""
    unscored: tuple[str, ...]
    """Ids whose reference cannot be read; they are not counted."""
    scored: tuple[Scored, ...]
    """One entry for each gold row, in the order of the gold file."""


def score_file(gold: Sequence[GoldRow], predictions: Mapping[str, str]) -> Report:
    """Score every gold row; a row without a prediction is wrong."""
    scored = tuple(Scored(row, _verdict(row, predictions)) for row in gold)
    known = {row.problem_id for row in gold}
    return Report(
        groups=tuple(_groups(scored)),
        missing=tuple(row.problem_id for row in gold if row.problem_id not in predictions),
        unknown=tuple(problem_id for problem_id in predictions if problem_id not in known),
        unscored=tuple(item.row.problem_id for item in scored if item.verdict.outcome == UNSCORED),
        scored=scored,
    )


def _verdict(row: GoldRow, predictions: Mapping[str, str]) -> Verdict:
    answers = [answer.as_mapping() for answer in row.answers]
    verdict = score_problem(predictions.get(row.problem_id, ""), answers)
    if row.problem_id in predictions or verdict.outcome == UNSCORED:
        return verdict
    return Verdict(INCORRECT, 0.0, "prediction.missing", "There is no prediction for this problem.")


def _groups(scored: tuple[Scored, ...]) -> list[Group]:
    groups = [_group("all", scored)]
    groups += _by(scored, "subject", lambda row: row.subject)
    groups += _by(scored, "difficulty", lambda row: None if row.difficulty is None else str(row.difficulty))
    return groups


def _by(scored: tuple[Scored, ...], title: str, key: Callable[[GoldRow], str | None]) -> list[Group]:
    names = sorted({name for item in scored if (name := key(item.row)) is not None})
    return [_group(f"{title} {name}", [item for item in scored if key(item.row) == name]) for name in names]


def _group(title: str, items: Sequence[Scored]) -> Group:
    verdicts = [item.verdict for item in items if item.verdict.outcome != UNSCORED]
    if not verdicts:
        return Group(title, 0, None, None)
    right = sum(verdict.outcome == CORRECT for verdict in verdicts)
    credit = sum(verdict.credit for verdict in verdicts)
    return Group(title, len(verdicts), right / len(verdicts), credit / len(verdicts))


def as_record(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain values for JSON."""
    record: dict[str, Any] = {
        "outcome": verdict.outcome,
        "credit": verdict.credit,
        "reason": verdict.reason,
        "explanation": verdict.explanation,
        "extracted": verdict.extracted,
    }
    if verdict.parts:
        record["parts"] = [as_record(part) for part in verdict.parts]
    return record


def report_record(report: Report) -> dict[str, Any]:
    """Return the summary of a report as plain values for JSON."""
    return {
        "groups": [
            {"group": g.title, "n": g.count, "accuracy": g.accuracy, "mean_credit": g.credit} for g in report.groups
        ],
        "missing": list(report.missing),
        "unknown": list(report.unknown),
        "unscored": list(report.unscored),
    }


def report_text(report: Report) -> str:
    """Return the summary of a report as a table for people."""
    width = max(len(group.title) for group in report.groups)
    lines = [f"{'group':<{width}}  {'n':>6}  {'accuracy':>8}  {'credit':>8}"]
    for group in report.groups:
        lines.append(f"{group.title:<{width}}  {group.count:>6}  {_share(group.accuracy)}  {_share(group.credit)}")
    lines += _listing("no prediction, counted as wrong", report.missing)
    lines += _listing("id not in the gold file, not counted", report.unknown)
    lines += _listing("reference not readable, not counted", report.unscored)
    return "\n".join(lines) + "\n"


def _share(value: float | None) -> str:
    return f"{'-':>8}" if value is None else f"{100 * value:>7.1f}%"


def _listing(title: str, ids: Sequence[str]) -> list[str]:
    if not ids:
        return []
    rest = f" and {len(ids) - LISTED} more (all of them with --json)" if len(ids) > LISTED else ""
    return [f"{title}: {len(ids)}: {', '.join(ids[:LISTED])}{rest}"]
