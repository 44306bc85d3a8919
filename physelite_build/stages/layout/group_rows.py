"""Which boxes of the text engine stand on one row.

Takes the stacks of ``stack_pieces`` (fractions, matrices) and chains them from left to right. Tilts and gentle curves of a row
are followed because each box is compared with its neighbour only. Used by ``layout``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from physelite_build.geometry import Box
from physelite_build.stages.layout.stack_pieces import Piece, Stack, overlap_x, overlap_y, stack_pieces
from physelite_build.stages.layout.tell_prose import count_chinese, is_equation_number, join_texts, starts_item

__all__ = ["Row", "group_rows"]

# All lengths are in text heights.
ROW_DRIFT = 0.42
"""Middles of neighbours on one row differ by less; rows of single-spaced print are at least 1.0 apart."""
FAR = 3.0
"""Neighbours further apart are compared more strictly: a display formula may begin beside a short row of prose."""
FAR_DRIFT = 0.2
"""Their middles differ by less than this."""
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
    units = stack_pieces(pieces, bars, brackets, text_height=text_height)
    solid = [u for u in units if u.held or u.box.height >= SMALL * height]
    small = [u for u in units if not (u.held or u.box.height >= SMALL * height)]
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


def _chain(units: Sequence[Stack], height: float) -> list[list[Stack]]:
    """Chain units from left to right: each joins the row whose last unit is nearest in height."""
    rows: list[list[Stack]] = []
    for unit in sorted(units, key=lambda u: (u.box.left, u.axis)):
        best, best_cost = None, 0.0
        for row in rows:
            last = max(row, key=lambda u: u.box.right)
            gap = max(0, unit.box.left - last.box.right)
            near = min(row, key=lambda u: abs(u.box.right - unit.box.left))
            drift = min(abs(unit.axis - last.axis), abs(unit.axis - near.axis))
            allowed = (ROW_DRIFT if gap <= FAR * height else FAR_DRIFT) * height + SLOPE * min(gap, 8 * height)
            overlap = max((overlap_x(unit.box, u.box) for u in row), default=0.0)
            if drift <= allowed and overlap < 0.5 * min(unit.box.width, last.box.width):
                cost = drift + 0.05 * gap
                if best is None or cost < best_cost:
                    best, best_cost = row, cost
        if best is None:
            rows.append([unit])
        else:
            best.append(unit)
    return rows


def _fill_holes(rows: list[list[Stack]], height: float) -> list[list[Stack]]:
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


def _is_bit(unit: Stack, height: float) -> bool:
    text = "".join(p.text for p in unit.pieces)
    chinese = any(count_chinese(p.text) for p in unit.pieces if p.box.height > SMALL * height)
    return unit.box.width <= BIT_WIDTH * height and not chinese and not (starts_item(text) and not unit.held)


def _fits_gap(unit: Stack, row: Sequence[Stack], height: float) -> bool:
    """Tell whether a unit overlaps a row in height and stands in one of its gaps or right at one of its ends."""
    if any(overlap_x(unit.box, u.box) > 0.35 * min(unit.box.width, u.box.width) for u in row if not _is_bit(u, height)):
        return False
    left = [u for u in row if u.box.right <= unit.box.left + 0.4 * height]
    right = [u for u in row if u.box.left >= unit.box.right - 0.4 * height]
    close = [
        u
        for u in (*left, *right)
        if max(unit.box.left - u.box.right, u.box.left - unit.box.right) <= NEAR * height
        and overlap_y(unit.box, u.box) > 0.25 * unit.box.height
    ]
    return bool(close) and (bool(left and right) or len(close) > 0)


def _nearest_row(unit: Stack, rows: Sequence[list[Stack]], height: float) -> list[Stack] | None:
    best, best_cost = None, 0.0
    for row in rows:
        for other in row:
            across = max(0, unit.box.left - other.box.right, other.box.left - unit.box.right)
            down = max(0, unit.box.top - other.box.bottom, other.box.top - unit.box.bottom)
            if across > NEAR * height or down > 0.15 * height:
                continue
            cost = across + 2.0 * down - 0.5 * overlap_y(unit.box, other.box)
            if best is None or cost < best_cost:
                best, best_cost = row, cost
    return best


def _merge_overlapping(rows: list[list[Stack]], height: float) -> list[list[Stack]]:
    """Merge a row of mere bits into the row at the same height that it stands in or beside."""
    rows = sorted(rows, key=lambda r: (_box_of(r).area, _box_of(r).top, _box_of(r).left))
    merged = True
    while merged:
        merged = False
        for row in rows:
            if not all(_is_bit(u, height) for u in row if not _is_number(u)) or all(_is_number(u) for u in row):
                continue
            homes = [
                (overlap_y(_box_of(row), _box_of(r)), k)
                for k, r in enumerate(rows)
                if r is not row and _takes(r, row, height)
            ]
            if homes:
                rows[max(homes)[1]].extend(row)
                rows = [r for r in rows if r is not row]
                merged = True
                break
    return rows


def _takes(home: Sequence[Stack], row: Sequence[Stack], height: float) -> bool:
    row = [u for u in row if not _is_number(u)]
    box, other = _box_of(row), _box_of(home)
    if other.height < 0.9 * box.height and other.width < box.width:
        return False
    if overlap_y(box, other) < MERGE_OVERLAP * box.height or -overlap_x(box, other) > MERGE_REACH * height:
        return False
    # Bits never move onto plain text of the other row.
    return all(u.box.intersection(h.box).area < 0.35 * u.box.area for u in row for h in home if not _is_bit(h, height))


def _is_number(unit: Stack) -> bool:
    return len(unit.pieces) == 1 and is_equation_number(unit.pieces[0].text)


def _box_of(units: Sequence[Stack]) -> Box:
    box = units[0].box
    for unit in units[1:]:
        box = box.union(unit.box)
    return box


def _in_order(units: Sequence[Stack]) -> list[Stack]:
    """Order units from left to right; those above each other from top to bottom."""
    stacks: list[list[Stack]] = []
    for unit in sorted(units, key=lambda u: (u.box.left, u.box.top)):
        last = stacks[-1] if stacks else None
        if last and all(
            overlap_x(unit.box, u.box) > 0.5 * min(unit.box.width, u.box.width)
            and overlap_y(unit.box, u.box) < 0.5 * min(unit.box.height, u.box.height)
            for u in last
        ):
            last.append(unit)
        else:
            stacks.append([unit])
    return [u for stack in stacks for u in sorted(stack, key=lambda u: u.box.top)]


def _finish(units: Sequence[Stack]) -> Row:
    ordered = _in_order(units)
    pieces = tuple(p for u in ordered for p in u.pieces)
    firm = [u for u in ordered if u.held or not _is_bit(u, SMALL)] or ordered
    return Row(pieces, _box_of(ordered), firm[0].axis)
