"""Which boxes of the text engine are stacked: fractions, matrices and cases, told by bars and brackets in the ink.

The text engine returns a fraction as two boxes and a matrix as many. A fraction bar or a tall bracket says what belongs
together and where the middle of its row is. ``group_rows`` then puts the stacks into rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from physelite_build.geometry import Box
from physelite_build.records import Line
from physelite_build.stages.layout.page_ink import PageInk
from physelite_build.stages.layout.tell_prose import count_chinese, is_prose

__all__ = [
    "Piece",
    "Stack",
    "find_bars",
    "find_brackets",
    "make_pieces",
    "overlap_x",
    "overlap_y",
    "stack_pieces",
]

# All lengths are in text heights.
BAR_LENGTH = 0.45
"""Shortest fraction bar: a single digit in script size."""
SHORT_BAR = 0.26
"""Bars this short count if a box stands on each side: one letter over one letter in small print."""
BAR_THICKNESS = 0.22
"""Thickest fraction bar; bars of bold print at 150 dpi measure 0.15."""
BAR_SLOPE = 0.08
"""Rise of a bar over its length on curled pages."""
BAR_REACH = 0.45
"""Numerators and denominators end within this distance of their bar."""
BRACKET_HEIGHT = 1.7
"""Lowest bracket that holds more than one row; brackets around plain text measure 1.0 to 1.2."""
BRACKET_WIDTH = 1.1
"""Widest bracket; four-row braces measure 0.9."""
LONE_ENTRY = 0.75
"""A box lower than this share of the bracket beside it is one of several entries."""
BRACKET_REACH = 1.3
"""Entries begin within this distance of their bracket."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One line of the text engine."""

    index: int
    """Place in :attr:`PageText.lines`."""
    box: Box
    text: str
    confidence: float | None
    prose: bool
    """Running text rather than a label or a bit of a formula."""


@dataclass(slots=True)
class Stack:
    """Pieces that are stacked and have one middle; ``held`` tells whether a bar or bracket holds them."""

    pieces: list[Piece]
    box: Box
    axis: float
    held: bool


def make_pieces(lines: Sequence[Line]) -> list[Piece]:
    """Return one piece per line that is not blank and not empty in size."""
    return [
        Piece(i, line.box, line.text, line.confidence, is_prose(line.text))
        for i, line in enumerate(lines)
        if line.text.strip() and line.box.area
    ]


def find_bars(ink: PageInk, pieces: Sequence[Piece], obstacles: Sequence[Box]) -> list[Box]:
    """Find horizontal strokes that may be fraction bars, in upright pixels.

    Args:
        ink: Ink of the page.
        pieces: Lines of the page; strokes inside running text (underlines, the character 一) are left out.
        obstacles: Drawings and tables; their lines are no bars.

    Returns:
        Boxes of level strokes, shortest first.
    """
    k = ink.shrink
    height = ink.text_height / k
    length = max(3, round(BAR_LENGTH * height))
    thick = cv2.dilate(ink.mask, np.ones((3, 1), np.uint8))  # a tilted stroke stays in one piece
    level = cv2.morphologyEx(thick, cv2.MORPH_OPEN, np.ones((1, length), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(level, connectivity=8)
    prose = [p.box for p in pieces if p.prose] + list(obstacles)
    bars = []
    for x, y, w, h, _ in stats[1:].tolist():
        if h > 2 + max(2.0, BAR_THICKNESS * height, BAR_SLOPE * w):
            continue
        box = Box(left=x * k, top=y * k, right=(x + w) * k, bottom=(y + h) * k)
        x_mid, y_mid = box.centre
        if not any(b.left <= x_mid < b.right and b.top <= y_mid < b.bottom for b in prose):
            bars.append(box)
    for part in ink.parts:
        box = part.box
        if box.width >= SHORT_BAR * ink.text_height and box.height <= max(
            BAR_THICKNESS * ink.text_height, BAR_SLOPE * box.width
        ):
            bars.append(box)
    return sorted(bars, key=lambda box: (box.width, box.top, box.left))


def stack_pieces(
    pieces: Sequence[Piece], bars: Sequence[Box], brackets: Sequence[Box], *, text_height: float
) -> list[Stack]:
    """Put pieces that stand above each other into one stack.

    Args:
        pieces: Pieces of one column.
        bars: Strokes of :func:`find_bars`, shortest first, so that inner fractions are joined before outer ones.
        brackets: Tall parts of :func:`find_brackets`.
        text_height: Median height of a line, pixels.

    Returns:
        Stacks, single pieces included; each piece is in exactly one.
    """
    stacks = [Stack([p], p.box, p.box.centre[1], held=False) for p in pieces]
    for bar in bars:
        stacks = _join_at_bar(stacks, bar, text_height)
    for bracket in brackets:
        stacks = _join_at_bracket(stacks, bracket, text_height)
    return stacks


def _join_at_bar(units: list[Stack], bar: Box, height: float) -> list[Stack]:
    """Join what stands directly above and below a bar, if both are there or one is plainly mathematical."""
    middle = bar.centre[1]
    above, below = [], []
    for unit in units:
        box = unit.box
        if not _stands_on(box, bar, height) or any(p.prose for p in unit.pieces):
            continue
        if box.centre[1] < middle and abs(box.bottom - middle) <= BAR_REACH * height:
            above.append(unit)
        elif box.centre[1] > middle and abs(box.top - middle) <= BAR_REACH * height:
            below.append(unit)
    chosen = above + below
    if not chosen or bar.width > _width_of(chosen) + height:
        return units
    if not below:  # a lone denominator would be what stands under a root or an overline
        through = [u for u in units if u.box.top < middle < u.box.bottom and overlap_x(u.box, bar) > 0.5 * bar.width]
        if bar.width < BAR_LENGTH * height or through or any(count_chinese(p.text) for u in chosen for p in u.pieces):
            return units
    return _replace(units, chosen, [*above, *below], middle) if above else units


def _width_of(units: Sequence[Stack]) -> int:
    return max(u.box.right for u in units) - min(u.box.left for u in units)


def _stands_on(box: Box, bar: Box, height: float) -> bool:
    """Tell whether a box stands over the length of a bar; boxes of single characters are wider than the character."""
    inside = overlap_x(box, bar)
    centred = bar.left - 0.3 * height <= box.centre[0] <= bar.right + 0.3 * height
    return centred and inside >= 0.6 * min(box.width, bar.width) and box.width <= 1.6 * bar.width + height


def find_brackets(ink: PageInk, obstacles: Sequence[Box]) -> list[Box]:
    """Find tall narrow parts that may be brackets over several rows.

    Args:
        ink: Ink of the page.
        obstacles: Drawings and tables; their lines are no brackets.

    Returns:
        Boxes in upright pixels, lowest first.
    """
    height = ink.text_height
    tall = [
        part.box
        for part in ink.parts
        if BRACKET_HEIGHT * height <= part.box.height <= 9 * height
        and part.box.width <= min(BRACKET_WIDTH * height, 0.5 * part.box.height)
        and not any(part.box.intersection(box).area for box in obstacles)
    ]
    return sorted(tall, key=lambda box: (box.height, box.top, box.left))


def _join_at_bracket(units: list[Stack], bracket: Box, height: float) -> list[Stack]:
    """Join rows of a matrix or of cases: at least two units, one above the other, next to the bracket."""
    within = [
        u
        for u in units
        if bracket.top - 0.3 * height <= u.box.top
        and u.box.bottom <= bracket.bottom + 0.3 * height
        and not any(p.prose for p in u.pieces)
    ]
    for toward_right in (True, False):
        first = [
            u for u in within if 0 <= _distance(bracket, u.box, toward_right=toward_right) <= BRACKET_REACH * height
        ]
        if len(first) == 1 and first[0].box.height < LONE_ENTRY * bracket.height:
            first[0].axis, first[0].held = bracket.centre[1], True  # the other entry was not read
        if len(first) < 2 or not _are_stacked(first):
            continue
        chosen = list(first)
        reach = max(u.box.right for u in first) if toward_right else min(u.box.left for u in first)
        rest = sorted((u for u in within if u not in first), key=lambda u: u.box.left if toward_right else -u.box.right)
        for unit in rest:
            gap = unit.box.left - reach if toward_right else reach - unit.box.right
            beside = unit.box.left > bracket.left if toward_right else unit.box.right < bracket.right
            if beside and gap <= 1.2 * height:
                chosen.append(unit)
                reach = max(reach, unit.box.right) if toward_right else min(reach, unit.box.left)
        ordered = sorted(chosen, key=lambda u: (round(u.axis / height), u.box.left))
        units = _replace(units, chosen, ordered, bracket.centre[1])
        break
    return units


def _distance(bracket: Box, box: Box, *, toward_right: bool) -> float:
    """Return how far a box begins beside a bracket; boxes of engines reach a little over the bracket."""
    slack = 0.6 * bracket.width + 2
    distance = box.left - bracket.left if toward_right else bracket.right - box.right
    return max(0.0, distance) if distance >= -slack else -1.0


def _are_stacked(units: Sequence[Stack]) -> bool:
    ordered = sorted(units, key=lambda u: u.axis)
    return any(
        low.box.top >= high.box.bottom - 0.35 * min(high.box.height, low.box.height) for high, low in pairwise(ordered)
    )


def _replace(units: list[Stack], chosen: Sequence[Stack], ordered: Sequence[Stack], axis: float) -> list[Stack]:
    box = chosen[0].box
    for unit in chosen[1:]:
        box = box.union(unit.box)
    joined = Stack([p for u in ordered for p in u.pieces], box, axis, held=True)
    return [u for u in units if not any(u is c for c in chosen)] + [joined]


def overlap_x(one: Box, other: Box) -> float:
    """Return the width that two boxes share, negative if there is a gap."""
    return float(min(one.right, other.right) - max(one.left, other.left))


def overlap_y(one: Box, other: Box) -> float:
    """Return the height that two boxes share, negative if there is a gap."""
    return float(min(one.bottom, other.bottom) - max(one.top, other.top))
