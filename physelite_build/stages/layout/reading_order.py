"""In which order a page is read: bands from top to bottom, and in a band with a gutter column by column.

Part of ``layout``. A gutter needs running text on both sides that starts at one edge, or a printed rule between the columns; a
drawing with text beside it has neither and so makes no column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from physelite_build.geometry import Box

__all__ = ["Block", "Leaf", "count_columns", "split_page"]

# Lengths are in text heights.
LEAST_ROWS = 3
"""Running text rows needed on each side of a gutter."""
LEAST_RUN = 7.0
"""Height over which a gutter must stay clear."""
LEAST_COLUMN = 9.0
"""Narrowest column: 9 Chinese characters or 20 Latin letters."""
FILL = 0.55
"""A row of running text covers at least this share of its column; choices and labels do not."""
FILLED_ROWS = 0.4
"""Share of the rows on a side that must be running text."""
ALIGNED = 1.5
"""Rows of a column start within this distance of its edge or of its paragraph indent."""
CROSSING = 0.6
"""A box that reaches over the gutter by more than this on both sides stands in no column."""
MOST_DEPTH = 3


class Block(Protocol):
    """Anything with a place on the page."""

    @property
    def box(self) -> Box:
        """Place in upright pixels."""
        ...


T = TypeVar("T", bound=Block)


@dataclass(frozen=True, slots=True)
class Leaf:
    """Blocks that are read from top to bottom: a column in one band, or a band over the full width."""

    blocks: tuple[int, ...]
    """Positions in the list given to :func:`split_page`."""
    left: int
    right: int
    """Room of the column in pixels."""
    depth: int
    """0 for a band over the full width."""


@dataclass(frozen=True, slots=True)
class _Run:
    top: float
    bottom: float
    score: float


def split_page(blocks: Sequence[T], prose: Sequence[bool], rules: Sequence[Box], *, text_height: float) -> list[Leaf]:
    """Split a page into leaves in reading order.

    Args:
        blocks: Lines of text, drawings and tables with upright boxes.
        prose: For each block, whether it is a line of text that may prove a column.
        rules: Long straight lines of the page.
        text_height: Median height of a line, pixels.

    Returns:
        Leaves in reading order; every block is in exactly one.
    """
    if not blocks:
        return []
    left, right = min(b.box.left for b in blocks), max(b.box.right for b in blocks)
    indexes = list(range(len(blocks)))
    return _split(indexes, [b.box for b in blocks], list(prose), list(rules), (left, right), text_height, 0)


def count_columns(leaves: Sequence[Leaf]) -> list[int]:
    """Number the columns from left to right.

    Args:
        leaves: Leaves of one page.

    Returns:
        Column number of each leaf, from 0; leaves over the full width count as column 0.
    """
    edges = sorted({leaf.left for leaf in leaves if leaf.depth})
    return [sum(e < leaf.left for e in edges) if leaf.depth else 0 for leaf in leaves]


def _split(
    indexes: list[int],
    boxes: list[Box],
    prose: list[bool],
    rules: list[Box],
    room: tuple[int, int],
    height: float,
    depth: int,
) -> list[Leaf]:
    whole = [Leaf(tuple(indexes), room[0], room[1], depth)]
    if depth >= MOST_DEPTH or not indexes:
        return whole
    found = _find_gutter(indexes, boxes, prose, rules, room, height)
    if found is None:
        return whole
    gutter, runs = found
    leaves: list[Leaf] = []
    rest = sorted(indexes, key=lambda i: boxes[i].centre[1])
    for run in runs:
        before = [i for i in rest if boxes[i].centre[1] < run.top]
        inside = [i for i in rest if run.top <= boxes[i].centre[1] <= run.bottom]
        rest = [i for i in rest if boxes[i].centre[1] > run.bottom]
        if before:
            leaves.append(Leaf(tuple(before), room[0], room[1], depth))
        for side, span in (
            ([i for i in inside if boxes[i].centre[0] < gutter], (room[0], round(gutter))),
            ([i for i in inside if boxes[i].centre[0] >= gutter], (round(gutter), room[1])),
        ):
            if side:
                leaves += _split(side, boxes, prose, rules, span, height, depth + 1)
    if rest:
        leaves.append(Leaf(tuple(rest), room[0], room[1], depth))
    return leaves


def _find_gutter(
    indexes: Sequence[int],
    boxes: Sequence[Box],
    prose: Sequence[bool],
    rules: Sequence[Box],
    room: tuple[int, int],
    height: float,
) -> tuple[float, list[_Run]] | None:
    """Return the best gutter and where it holds, or None."""
    ordered = sorted(indexes, key=lambda i: boxes[i].centre[1])
    for rule in rules:
        x = rule.centre[0]
        if rule.height > 4 * rule.width and (rule.height > 20 * height):
            run = _ruled_run(x, rule, ordered, boxes, prose, room, height)
            if run is not None:
                return x, [run]
    first, last = room[0] + LEAST_COLUMN * height, room[1] - LEAST_COLUMN * height
    if last <= first:
        return None
    places = np.arange(first, last, 0.5 * height)
    found = [_runs(float(x), ordered, boxes, prose, height) for x in places]
    scores = np.array([sum(run.score for run in runs) for runs in found])
    if not scores.size or scores.max() <= 0:
        return None
    good = scores >= 0.9 * scores.max()
    starts = [i for i in range(len(good)) if good[i] and (i == 0 or not good[i - 1])]
    spans = []
    for start in starts:
        end = start
        while end + 1 < len(good) and good[end + 1]:
            end += 1
        spans.append((end - start, start, end))
    _, start, end = max(spans, key=lambda s: (s[0], -s[1]))
    middle = (start + end) // 2
    return float(places[middle]), found[middle]


def _ruled_run(
    x: float,
    rule: Box,
    ordered: Sequence[int],
    boxes: Sequence[Box],
    prose: Sequence[bool],
    room: tuple[int, int],
    height: float,
) -> _Run | None:
    """Accept a printed rule as a gutter if text stands beside it and none across it."""
    inside = [i for i in ordered if rule.top - height <= boxes[i].centre[1] <= rule.bottom + height]
    crossing = [i for i in inside if _crosses(boxes[i], x, height)]
    left = [i for i in inside if prose[i] and boxes[i].right <= x + CROSSING * height]
    right = [i for i in inside if prose[i] and boxes[i].left >= x - CROSSING * height]
    if len(crossing) > 0.05 * len(inside) or max(len(left), len(right)) < LEAST_ROWS:
        return None
    sides = [side for side in (left, right) if side]
    widest = max(max(boxes[i].width for i in side) for side in sides)
    if (
        any(max(boxes[i].width for i in side) < LEAST_COLUMN * height for side in sides)
        or widest < LEAST_COLUMN * height
    ):
        return None
    if len(sides) == 1 and not 0.3 < (x - min(boxes[i].left for i in inside)) / max(1.0, 2 * widest) < 0.75:
        return None
    return _Run(rule.top - height, rule.bottom + height, 1.0)


def _runs(x: float, ordered: Sequence[int], boxes: Sequence[Box], prose: Sequence[bool], height: float) -> list[_Run]:
    """Return the stretches of the page where ``x`` separates two columns of running text."""
    runs: list[_Run] = []
    current: list[int] = []
    for i in [*ordered, -1]:
        if i >= 0 and not _crosses(boxes[i], x, height):
            current.append(i)
            continue
        run = _judge(x, current, boxes, prose, height)
        if run is not None:
            runs.append(run)
        current = []
    return runs


def _judge(x: float, members: Sequence[int], boxes: Sequence[Box], prose: Sequence[bool], height: float) -> _Run | None:
    left = [i for i in members if boxes[i].centre[0] < x]
    right = [i for i in members if boxes[i].centre[0] >= x]
    if len(left) < LEAST_ROWS or len(right) < LEAST_ROWS:
        return None
    if not all(_is_column(side, boxes, prose, height) for side in (left, right)):
        return None
    tops = [max(min(boxes[i].top for i in side) for side in (left, right))]
    bottoms = [min(max(boxes[i].bottom for i in side) for side in (left, right))]
    shared = bottoms[0] - tops[0]
    if shared < LEAST_RUN * height:
        return None
    top = min(boxes[i].centre[1] for i in members)
    bottom = max(boxes[i].centre[1] for i in members)
    return _Run(top, bottom, bottom - top)


def _is_column(side: Sequence[int], boxes: Sequence[Box], prose: Sequence[bool], height: float) -> bool:
    """Tell whether one side is a column: several rows of running text that fill it and start at one edge."""
    text = [i for i in side if prose[i]]
    if len(text) < LEAST_ROWS:
        return False
    edge = float(np.percentile([boxes[i].left for i in text], 15))
    end = float(np.percentile([boxes[i].right for i in text], 90))
    if end - edge < LEAST_COLUMN * height:
        return False
    full = [i for i in text if boxes[i].width >= FILL * (end - edge)]
    aligned = [i for i in full if abs(boxes[i].left - edge) <= ALIGNED * height]
    return len(full) >= max(LEAST_ROWS, FILLED_ROWS * len(text)) and len(aligned) >= 0.5 * len(full)


def _crosses(box: Box, x: float, height: float) -> bool:
    return box.left < x - CROSSING * height and box.right > x + CROSSING * height
