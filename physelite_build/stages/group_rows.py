"""Which boxes of the text engine stand on one row: fractions, matrices and cases are put together first, then rows.

The text engine returns a fraction as two boxes and a matrix as many. A fraction bar or a tall bracket in the ink says what
belongs together and where the middle of its row is. Used by ``layout``; tilts and gentle curves of a row are followed because
each box is compared with its neighbour only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import cv2
import numpy as np

from physelite_build.geometry import Box
from physelite_build.records import Line
from physelite_build.stages.page_ink import PageInk
from physelite_build.stages.tell_prose import count_chinese, is_equation_number, is_prose, join_texts, starts_item

__all__ = ["Piece", "Row", "find_bars", "find_brackets", "group_rows", "make_pieces"]

# All lengths are in text heights.
ROW_DRIFT = 0.42
"""Middles of neighbours on one row differ by less; rows of single-spaced print are at least 1.0 apart."""
FAR = 3.0
"""Neighbours further apart are compared more strictly: a display formula may begin beside a short row of prose."""
FAR_DRIFT = 0.2
SLOPE = 0.03
"""Extra drift per unit of gap between neighbours: the curl of photographed pages stays below 2 degrees."""
SMALL = 0.72
"""Lower boxes are exponents, limits and dots; they never start a row while one is at hand."""
NEAR = 1.0
"""A small box further away than this is no exponent of a row."""
WORD_GAP = 1.0
"""Gaps wider than this share of a box's height are kept as a space even between Chinese characters."""
BIT_WIDTH = 6.0
"""Wider boxes are rows of their own."""
MERGE_OVERLAP = 0.5
"""Bits that overlap a row by this share of their height belong to it."""
MERGE_REACH = 1.5
"""... if they are not further from it than this."""
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


@dataclass(frozen=True, slots=True)
class Row:
    """Pieces of one visual row in reading order."""

    pieces: tuple[Piece, ...]
    box: Box
    axis: float
    """Height of its middle at its left end, in pixels: the middle of plain text, the bar of a fraction."""

    @property
    def text(self) -> str:
        """Joined text of its pieces."""
        reached = accumulate((piece.box.right for piece in self.pieces), max)
        gaps = [
            piece.box.left - right > WORD_GAP * piece.box.height
            for right, piece in zip(reached, self.pieces[1:], strict=False)
        ]
        return join_texts([piece.text for piece in self.pieces], gaps)

    @property
    def confidence(self) -> float | None:
        """Lowest confidence of its pieces; None if none is known."""
        known = [piece.confidence for piece in self.pieces if piece.confidence is not None]
        return min(known) if known else None


@dataclass(slots=True)
class _Unit:
    """Pieces that are stacked and have one middle; ``spread`` is true if a bar or bracket holds them."""

    pieces: list[Piece]
    box: Box
    axis: float
    stacked: bool


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


def group_rows(pieces: Sequence[Piece], bars: Sequence[Box], brackets: Sequence[Box], text_height: float) -> list[Row]:
    """Group the pieces of one column into rows.

    Args:
        pieces: Pieces of one column, figures and tables taken out.
        bars: Strokes of :func:`find_bars`.
        brackets: Tall parts of :func:`find_brackets`.
        text_height: Median height of a line, pixels.

    Returns:
        Rows from top to bottom; each piece is in exactly one row.
    """
    height = text_height
    units = [_Unit([p], p.box, p.box.centre[1], stacked=False) for p in pieces]
    for bar in bars:
        units = _join_at_bar(units, bar, height)
    for bracket in brackets:
        units = _join_at_bracket(units, bracket, height)
    solid = [u for u in units if u.stacked or u.box.height >= SMALL * height]
    small = [u for u in units if not (u.stacked or u.box.height >= SMALL * height)]
    rows = _chain(solid, height)
    rows = _fill_holes(rows, height)
    for unit in small:
        home = _nearest_row(unit, rows, height)
        if home is None:
            rows.append([unit])
        else:
            home.append(unit)
    found = [_finish(row) for row in _merge_overlapping(rows, height)]
    return sorted(found, key=lambda row: (row.axis, row.box.left))


def _join_at_bar(units: list[_Unit], bar: Box, height: float) -> list[_Unit]:
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
        through = [u for u in units if u.box.top < middle < u.box.bottom and _overlap_x(u.box, bar) > 0.5 * bar.width]
        if bar.width < BAR_LENGTH * height or through or any(count_chinese(p.text) for u in chosen for p in u.pieces):
            return units
    return _replace(units, chosen, [*above, *below], middle) if above else units


def _width_of(units: Sequence[_Unit]) -> int:
    return max(u.box.right for u in units) - min(u.box.left for u in units)


def _stands_on(box: Box, bar: Box, height: float) -> bool:
    """Tell whether a box stands over the length of a bar; boxes of single characters are wider than the character."""
    inside = _overlap_x(box, bar)
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


def _join_at_bracket(units: list[_Unit], bracket: Box, height: float) -> list[_Unit]:
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
            first[0].axis, first[0].stacked = bracket.centre[1], True  # the other entry was not read
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


def _are_stacked(units: Sequence[_Unit]) -> bool:
    ordered = sorted(units, key=lambda u: u.axis)
    return any(
        low.box.top >= high.box.bottom - 0.35 * min(high.box.height, low.box.height) for high, low in pairwise(ordered)
    )


def _replace(units: list[_Unit], chosen: Sequence[_Unit], ordered: Sequence[_Unit], axis: float) -> list[_Unit]:
    box = chosen[0].box
    for unit in chosen[1:]:
        box = box.union(unit.box)
    joined = _Unit([p for u in ordered for p in u.pieces], box, axis, stacked=True)
    return [u for u in units if not any(u is c for c in chosen)] + [joined]


def _chain(units: Sequence[_Unit], height: float) -> list[list[_Unit]]:
    """Chain units from left to right: each joins the row whose last unit is nearest in height."""
    rows: list[list[_Unit]] = []
    for unit in sorted(units, key=lambda u: (u.box.left, u.axis)):
        best, best_cost = None, 0.0
        for row in rows:
            last = max(row, key=lambda u: u.box.right)
            gap = max(0, unit.box.left - last.box.right)
            near = min(row, key=lambda u: abs(u.box.right - unit.box.left))
            drift = min(abs(unit.axis - last.axis), abs(unit.axis - near.axis))
            allowed = (ROW_DRIFT if gap <= FAR * height else FAR_DRIFT) * height + SLOPE * min(gap, 8 * height)
            overlap = max((_overlap_x(unit.box, u.box) for u in row), default=0.0)
            if drift <= allowed and overlap < 0.5 * min(unit.box.width, last.box.width):
                cost = drift + 0.05 * gap
                if best is None or cost < best_cost:
                    best, best_cost = row, cost
        if best is None:
            rows.append([unit])
        else:
            best.append(unit)
    return rows


def _fill_holes(rows: list[list[_Unit]], height: float) -> list[list[_Unit]]:
    """Put lone bits of formulas into the gap of a row that they overlap: fractions whose bar was not seen."""
    lone = [r for r in rows if len(r) == 1 and _is_bit(r[0], height)]
    kept = [r for r in rows if not any(r is one for one in lone)]
    for row in sorted(lone, key=lambda r: (r[0].box.left, r[0].axis)):
        unit = row[0]
        home = next((r for r in kept if _fits_gap(unit, r, height)), None)
        if home is None:
            kept.append(row)
        else:
            home.append(unit)
    return kept


def _is_bit(unit: _Unit, height: float) -> bool:
    text = "".join(p.text for p in unit.pieces)
    chinese = any(count_chinese(p.text) for p in unit.pieces if p.box.height > SMALL * height)
    return unit.box.width <= BIT_WIDTH * height and not chinese and not (starts_item(text) and not unit.stacked)


def _fits_gap(unit: _Unit, row: Sequence[_Unit], height: float) -> bool:
    """Tell whether a unit overlaps a row in height and stands in one of its gaps or right at one of its ends."""
    if any(
        _overlap_x(unit.box, u.box) > 0.35 * min(unit.box.width, u.box.width) for u in row if not _is_bit(u, height)
    ):
        return False
    left = [u for u in row if u.box.right <= unit.box.left + 0.4 * height]
    right = [u for u in row if u.box.left >= unit.box.right - 0.4 * height]
    close = [
        u
        for u in (*left, *right)
        if max(unit.box.left - u.box.right, u.box.left - unit.box.right) <= NEAR * height
        and _overlap_y(unit.box, u.box) > 0.25 * unit.box.height
    ]
    return bool(close) and (bool(left and right) or len(close) > 0)


def _nearest_row(unit: _Unit, rows: Sequence[list[_Unit]], height: float) -> list[_Unit] | None:
    best, best_cost = None, 0.0
    for row in rows:
        for other in row:
            across = max(0, unit.box.left - other.box.right, other.box.left - unit.box.right)
            down = max(0, unit.box.top - other.box.bottom, other.box.top - unit.box.bottom)
            if across > NEAR * height or down > 0.15 * height:
                continue
            cost = across + 2.0 * down - 0.5 * _overlap_y(unit.box, other.box)
            if best is None or cost < best_cost:
                best, best_cost = row, cost
    return best


def _merge_overlapping(rows: list[list[_Unit]], height: float) -> list[list[_Unit]]:
    """Merge a row of mere bits into the row at the same height that it stands in or beside."""
    rows = sorted(rows, key=lambda r: (_box_of(r).area, _box_of(r).top, _box_of(r).left))
    merged = True
    while merged:
        merged = False
        for row in rows:
            if not all(_is_bit(u, height) for u in row if not _is_number(u)) or all(_is_number(u) for u in row):
                continue
            homes = [
                (_overlap_y(_box_of(row), _box_of(r)), k)
                for k, r in enumerate(rows)
                if r is not row and _takes(r, row, height)
            ]
            if homes:
                rows[max(homes)[1]].extend(row)
                rows = [r for r in rows if r is not row]
                merged = True
                break
    return rows


def _takes(home: Sequence[_Unit], row: Sequence[_Unit], height: float) -> bool:
    row = [u for u in row if not _is_number(u)]
    box, other = _box_of(row), _box_of(home)
    if other.height < 0.9 * box.height and other.width < box.width:
        return False
    if _overlap_y(box, other) < MERGE_OVERLAP * box.height or -_overlap_x(box, other) > MERGE_REACH * height:
        return False
    # Bits never move onto plain text of the other row.
    return all(u.box.intersection(h.box).area < 0.35 * u.box.area for u in row for h in home if not _is_bit(h, height))


def _is_number(unit: _Unit) -> bool:
    return len(unit.pieces) == 1 and is_equation_number(unit.pieces[0].text)


def _box_of(units: Sequence[_Unit]) -> Box:
    box = units[0].box
    for unit in units[1:]:
        box = box.union(unit.box)
    return box


def _in_order(units: Sequence[_Unit]) -> list[_Unit]:
    """Order units from left to right; those above each other from top to bottom."""
    stacks: list[list[_Unit]] = []
    for unit in sorted(units, key=lambda u: (u.box.left, u.box.top)):
        last = stacks[-1] if stacks else None
        if last and all(
            _overlap_x(unit.box, u.box) > 0.5 * min(unit.box.width, u.box.width)
            and _overlap_y(unit.box, u.box) < 0.5 * min(unit.box.height, u.box.height)
            for u in last
        ):
            last.append(unit)
        else:
            stacks.append([unit])
    return [u for stack in stacks for u in sorted(stack, key=lambda u: u.box.top)]


def _finish(units: Sequence[_Unit]) -> Row:
    ordered = _in_order(units)
    pieces = tuple(p for u in ordered for p in u.pieces)
    firm = [u for u in ordered if u.stacked or not _is_bit(u, SMALL)] or ordered
    return Row(pieces, _box_of(ordered), firm[0].axis)


def _overlap_x(one: Box, other: Box) -> float:
    return float(min(one.right, other.right) - max(one.left, other.left))


def _overlap_y(one: Box, other: Box) -> float:
    return float(min(one.bottom, other.bottom) - max(one.top, other.top))
