"""Problems whose number was not read: a row that begins with its points, ``（40分）`` or ``、（40分）``, where ``二、（40分）`` is printed.

Part of ``segment``. A lone 一, 二 or 三 at the head of a row is thin and is lost in poor copies; its points are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from physelite_build.stages.segment.chains import Candidate
from physelite_build.stages.segment.headings import STRONG_STYLES, Heading, split_points
from physelite_build.stages.segment.rows import Row

__all__ = ["restore_numbers"]

_LOST = re.compile(r"^[^\w\u4e00-\u9fff（(]{0,3}\s*(?=[（(]\s*(?:本题)?\s*\d{1,3}\s*分\s*[)）])")
"""What may be left of the number: nothing, its stop, or signs that its strokes were taken for."""
LEAST_SHARE = 0.5
"""Points of a problem over those of the smallest problem whose number was read: parts have fewer."""
LEAST_POINTS = 10.0
"""Points of a problem where no number was read at all; parts of Chinese papers mostly have fewer."""
FEWEST = 2
"""So many rows of this form are problems; a single one may as well be a part or a remark."""


def restore_numbers(rows: Sequence[Row], candidates: Sequence[Candidate]) -> list[Candidate]:
    """Add candidates for problems of the form ``一、（40分）`` whose number is missing.

    Args:
        rows: All rows of a document in reading order.
        candidates: Rows that read as headings.

    Returns:
        The candidates in reading order, with those whose number follows from their neighbours; unchanged in a document whose
        problems have another form.
    """
    known = [c for c in candidates if c.heading.style == "一、" and c.heading.points is not None]
    others = [c for c in candidates if c.heading.style in STRONG_STYLES or c.heading.points is not None]
    if len(others) > len(known):
        return list(candidates)
    least = LEAST_SHARE * min((c.heading.points or 0.0 for c in known), default=LEAST_POINTS / LEAST_SHARE)
    lost = [c for c in _lost(rows, {c.row for c in known}) if (c.heading.points or 0.0) >= least]
    if len(known) + len(lost) < FEWEST:
        return list(candidates)
    restored = _numbered(known, lost)
    taken = {c.row for c in restored}
    return sorted([*(c for c in candidates if c.row not in taken), *restored], key=lambda c: c.row)


def _lost(rows: Sequence[Row], known: set[int]) -> list[Candidate]:
    found = []
    for index, row in enumerate(rows):
        match = None if row.is_formula or index in known else _LOST.match(row.text)
        if match is None:
            continue
        points, rest = split_points(row.text[match.end() :])
        if rest:
            found.append(Candidate(index, Heading("一、", "", (0,), points, rest)))
    return found


def _numbered(known: Sequence[Candidate], lost: Sequence[Candidate]) -> list[Candidate]:
    """Count on from the number before; a row for which no number is free between its neighbours is left out."""
    numbered: list[Candidate] = []
    last = 0
    for candidate in sorted([*known, *lost], key=lambda c: c.row):
        if candidate.heading.number:
            last = candidate.heading.order[0]
            continue
        following = next((c.heading.order[0] for c in known if c.row > candidate.row), None)
        if following is not None and not last + 1 < following:
            continue
        last += 1
        numbered.append(
            Candidate(candidate.row, replace(candidate.heading, number=str(last), order=(last,))),
        )
    return numbered
