"""The best way to read a set of numbered rows as one count: 1, 2, 3, ... with gaps and new starts at a price.

``numbering.py`` asks this for each form of number and compares the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from physelite_build.stages.segment.headings import STRONG_STYLES, Heading
from physelite_build.stages.segment.rows import Row

__all__ = ["Candidate", "Chain", "best_chain"]

# Weights of a chain of numbers. They were set so that each pitfall in tests/stages/test_segment.py falls on the right side;
# only their order matters: a missing heading costs less than a false one, a list less than a problem.
_ITEM = 1.0
_POINTS_BONUS = 0.7
_LOOSE_ITEM = 0.3
_WRAPPED_ITEM = 0.4
_JUMP = 0.7
_INDENT_COST = 0.8
_LIST_COST = 0.5
_LONGEST_JUMP = {True: 1.5, False: 3.0}
"""By whether a word or points show that the row is a heading: pages may be missing in between."""
_RESTART_COST = 2.0
_ANSWERS_RESTART_COST = 0.3
INDENT_TOLERANCE_EM = 1.6
"""Headings of one kind start at one indent; perspective and skew move them by up to one text height."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row whose start reads as a heading."""

    row: int
    heading: Heading


@dataclass(frozen=True, slots=True)
class Chain:
    """Rows that count up."""

    items: tuple[Candidate, ...]
    score: float


def best_chain(rows: Sequence[Row], group: list[Candidate], sections: list[int]) -> Chain:
    """Find the best-scoring run of numbers.

    Args:
        rows: All rows of the document.
        group: Candidates of one form in reading order.
        sections: Indexes of rows that may head an answers section; behind them a new start is cheap.

    Returns:
        The chain; empty with score 0 if there is no candidate.
    """
    best: list[tuple[float, int | None]] = []
    for j, candidate in enumerate(group):
        own = _worth(rows, candidate) - (_LIST_COST if _is_listed(group, j, sections) else 0.0)
        score, previous = own - 0.4 * min(candidate.heading.order[-1] - 1, 4), None
        if candidate.heading.answers:
            score -= 0.5
        for i in range(j):
            total = best[i][0] + own - _transition_cost(rows, group[i], candidate, sections)
            if total > score:
                score, previous = total, i
        best.append((score, previous))
    if not best:
        return Chain((), 0.0)
    index: int | None = max(range(len(best)), key=lambda k: best[k][0])
    total = best[index][0] if index is not None else 0.0
    items: list[Candidate] = []
    while index is not None:
        items.append(group[index])
        index = best[index][1]
    return Chain(tuple(reversed(items)), total)


def _is_listed(group: Sequence[Candidate], index: int, sections: Sequence[int]) -> bool:
    """True if the rows next to it carry the numbers next to it, as in a list of short remarks."""
    own = group[index]
    if own.heading.style in STRONG_STYLES or own.heading.points is not None or any(s < own.row for s in sections):
        return False
    return any(
        abs(other.row - own.row) == 1 and other.row - own.row == other.heading.order[-1] - own.heading.order[-1]
        for other in group[max(0, index - 1) : index + 2]
    )


def _worth(rows: Sequence[Row], candidate: Candidate) -> float:
    heading = candidate.heading
    if heading.style not in STRONG_STYLES and heading.points is None and _continues_sentence(rows, candidate.row):
        return _WRAPPED_ITEM if heading.firm else -_LIST_COST
    worth = 2 * _ITEM if heading.style in STRONG_STYLES else _ITEM if heading.firm else _LOOSE_ITEM
    return worth + (_POINTS_BONUS if heading.points is not None else 0.0)


def _continues_sentence(rows: Sequence[Row], index: int) -> bool:
    """The row above fills its column and has no full stop, so this row goes on with its sentence."""
    if index == 0:
        return False
    above = rows[index - 1]
    return not above.is_short and not above.is_formula and above.text[-1:] not in "。．.！？!?；;：:）)"


def _transition_cost(rows: Sequence[Row], a: Candidate, b: Candidate, sections: list[int]) -> float:
    weak = b.heading.style not in STRONG_STYLES
    cost = 0.0
    if weak and abs(rows[a.row].indent_em - rows[b.row].indent_em) > INDENT_TOLERANCE_EM:
        cost += _INDENT_COST
    before, after = a.heading.order, b.heading.order
    if not a.heading.number and not b.heading.number:
        return cost
    if _follows(before, after):
        return cost
    answers = b.heading.answers or any(a.row < s < b.row for s in sections)
    if after > before and not answers:
        return cost + min(
            _LONGEST_JUMP[not weak or b.heading.points is not None],
            _JUMP * max(1, after[-1] - before[-1] - 1 if after[:-1] == before[:-1] else 1),
        )
    if after > before:
        return cost + _ANSWERS_RESTART_COST
    return cost + (_ANSWERS_RESTART_COST if answers else _RESTART_COST)


def _follows(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    if len(before) != len(after):
        return False
    if before[:-1] == after[:-1]:
        return after[-1] == before[-1] + 1
    return after[:-1] == (*before[:-2], before[-2] + 1) and after[-1] == 1
