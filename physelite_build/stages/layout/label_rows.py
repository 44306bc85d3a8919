"""What each row of a page is: running text, a display formula, a caption, or furniture (running heads, page numbers).

Part of ``layout``, after rows are formed. The layout model's labels count only together with place, size or wording.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from physelite_build.engines.protocol import LayoutBox
from physelite_build.geometry import Box
from physelite_build.stages.layout.group_rows import Row
from physelite_build.stages.layout.page_ink import PageInk, gap_px
from physelite_build.stages.layout.stack_pieces import Piece
from physelite_build.stages.layout.tell_prose import (
    count_chinese,
    count_words,
    is_caption,
    is_equation_number,
    is_part_caption,
    is_table_caption,
    starts_item,
    states_page_number,
)

__all__ = [
    "ColumnEdges",
    "find_captions",
    "find_furniture",
    "find_stray",
    "is_formula",
    "measure_edges",
    "split_number",
]

# Lengths are in text heights.
TOP_ZONE, BOTTOM_ZONE = 0.16, 0.80
"""Running heads lie above, page numbers below these shares of the page height (photos include some table around the paper)."""
NUMBER_ZONE = 0.65
"""A row that is nothing but a page number may stand a little higher."""
SHORT_NUMBER = 12
"""A page number without further words has at most that many characters."""
HEAD_RIM, FOOT_RIM = 0.1, 0.93
"""Both ends of a running head lie above the one; what stands alone below the other is a foot of whatever size."""
LONE_FOOT = 6.0
"""Empty space over such a foot: more than a paragraph's or a formula's."""
SLOPE = 0.03
"""Drop of a row over its length on photos that are curled or not quite flat."""
SMALL_PRINT = 0.86
"""Running heads are set smaller than text."""
HEADING = 1.2
"""Higher rows are titles even above a rule."""
RULE_REACH = 2.0
"""A running head stands this near to its rule."""
CLEAR = 1.2
"""Empty space between the text and a running foot."""
SPREAD = 0.3
"""A head of two parts leaves at least this share of the page width between them."""
FAINT = 0.5
"""Print less dark than this share of the text's darkness is a watermark."""
FAINT_CHARS = 3
"""Shorter print may look faint because its strokes are thin."""
HUGE = 3.5
"""Print higher than this is a watermark or a logo."""
CAPTION_REACH = 3.0
"""A caption stands this near to its drawing or table."""
CAPTION_GAP = 1.0
"""Widest gap inside a caption's row."""
LONG_CAPTION = 30
"""Captions that stand alone have at most that many characters."""
FORMULA_INDENT = 1.8
"""A display formula is set in by at least this much; paragraph indents of 2 Chinese characters measure 1.6."""
SMALL_NOTE = 0.75
"""Chinese print lower than this is a note under a brace, not prose."""
NUMBER_GAP = 1.5
"""Least gap between a formula and its number."""
FORMULA_AREA = 0.6
"""Share of a row that the model's formula area must cover to count."""


@dataclass(frozen=True, slots=True)
class ColumnEdges:
    """Where the text of a column begins and ends, in pixels."""

    left: int
    right: int


def measure_edges(rows: Sequence[Row], *, left: int, right: int) -> ColumnEdges:
    """Measure the edges of a column from its rows of running text; ``left`` and ``right`` are used if there are none."""
    text = [row for row in rows if any(p.prose for p in row.pieces) or starts_item(row.text)]
    if not text:
        return ColumnEdges(left, right)
    lefts = sorted(row.box.left for row in text)
    rights = sorted(row.box.right for row in text)
    return ColumnEdges(lefts[len(lefts) // 10], max(rights[-1 - len(rights) // 10], lefts[0] + 1))


def find_stray(pieces: Sequence[Piece], ink: PageInk) -> list[Piece]:
    """Find lines that are no part of the text block: watermarks and text turned on its side in the margin."""
    height = ink.text_height
    upright = [p for p in pieces if p.prose and p.box.width > 2 * p.box.height]
    left = min((p.box.left for p in upright), default=0)
    right = max((p.box.right for p in upright), default=ink.width_px)
    stray = []
    for piece in pieces:
        box = piece.box
        turned = box.height > 2.2 * box.width and box.height > 3.5 * height and len(piece.text) >= 3
        outside = box.centre[0] < left or box.centre[0] > right
        huge = box.height > HUGE * height and box.width > HUGE * height and len(piece.text) >= 2
        faint = len(piece.text) >= FAINT_CHARS and ink.darkness_of(box) < FAINT
        if (turned and outside) or huge or faint or ink.is_stamp(box):
            stray.append(piece)
    return stray


def find_captions(
    pieces: Sequence[Piece], drawings: Sequence[Box], tables: Sequence[Box], areas: Sequence[LayoutBox], ink: PageInk
) -> list[list[Piece]]:
    """Find captions: worded like one and standing at a drawing or table, or alone and short.

    Args:
        pieces: Lines that are neither in a drawing nor in a table.
        drawings: Boxes of the drawings.
        tables: Boxes of the tables.
        areas: Areas of the layout model; a caption area holds the rows of a long caption together.
        ink: Ink of the page.

    Returns:
        The pieces of each caption in reading order; the first one carries the words that make it a caption.
    """
    height = ink.text_height
    captions: list[list[Piece]] = []
    for piece in pieces:
        text, box = piece.text, piece.box
        near_drawing = any(gap_px(box, d) <= CAPTION_REACH * height and _faces(box, d) for d in drawings)
        near_table = any(gap_px(box, t) <= CAPTION_REACH * height and _faces(box, t) for t in tables)
        short = len(text) <= LONG_CAPTION
        if (
            (is_caption(text) and (near_drawing or short))
            or (is_part_caption(text) and any(_is_under(box, d, height) for d in drawings))
            or (is_table_caption(text) and (near_table or short))
        ):
            captions.append([piece])
    heads = {caption[0].index for caption in captions}
    for caption in captions:
        held = [a.box for a in areas if a.label == "caption" and caption[0].box.covered_by(a.box) > 0.6]
        for piece in sorted(pieces, key=lambda p: (p.box.top, p.box.left)):
            if piece.index not in heads and not starts_item(piece.text) and _continues(piece, caption, held, height):
                caption.append(piece)
                heads.add(piece.index)
    return captions


def _continues(piece: Piece, caption: Sequence[Piece], areas: Sequence[Box], height: float) -> bool:
    """Tell whether a piece goes on on the caption's row, or on its next row inside the same caption area."""
    last = caption[-1].box
    shared = min(piece.box.bottom, last.bottom) - max(piece.box.top, last.top)
    if shared > 0.5 * min(piece.box.height, last.height):
        return -0.3 * height <= piece.box.left - last.right <= CAPTION_GAP * height
    below = piece.box.top > caption[0].box.centre[1] and gap_px(piece.box, last) < 0.7 * height
    return below and any(piece.box.covered_by(area) > 0.8 for area in areas)


def _faces(box: Box, other: Box) -> bool:
    """Tell whether a caption stands below, above or beside, with its middle along the other's side."""
    x, y = box.centre
    return other.left <= x <= other.right or other.top <= y <= other.bottom


def _is_under(box: Box, drawing: Box, height: float) -> bool:
    x = box.centre[0]
    return (
        drawing.left + 0.2 * drawing.width <= x <= drawing.right - 0.2 * drawing.width
        and -0.5 * height <= box.top - drawing.bottom <= CAPTION_REACH * height
        and box.width <= 1.3 * drawing.width
    )


def find_furniture(
    rows: Sequence[Row], rules: Sequence[Box], areas: Sequence[LayoutBox], drawings: Sequence[Box], ink: PageInk
) -> list[Row]:
    """Find running heads and feet among the outermost rows of a page.

    Args:
        rows: All rows of the page.
        rules: Long straight lines of the page.
        areas: Areas of the layout model.
        drawings: Boxes of drawings and tables; nothing above a drawing at the foot is a foot.
        ink: Ink of the page.

    Returns:
        The rows that are furniture. The title on top of a paper is none.
    """
    ordered = sorted(rows, key=lambda r: r.box.top)
    heads: list[Row] = []
    for row in ordered:
        if row.box.centre[1] > TOP_ZONE * ink.height_px or not _is_head(row, rules, areas, ink):
            break
        heads.append(row)
    heads += [
        r
        for r in ordered
        if r not in heads
        and r.box.centre[1] <= HEAD_RIM * ink.height_px
        and any(_level(r, h) and r.box.height <= 1.3 * h.box.height for h in heads)
    ]
    feet: list[Row] = []
    last_block = max((d.bottom for d in drawings), default=0)
    for row in sorted(rows, key=lambda r: -r.box.bottom):
        above = [
            r
            for r in ordered
            if r is not row and r not in feet and r.box.bottom <= row.box.bottom and not _level(r, row)
        ]
        floor = max([last_block, *(r.box.bottom for r in above)])
        beside = any(_level(row, foot) for foot in feet)
        if row in heads or row.box.bottom <= last_block or not (beside or _is_foot(row, floor, rules, areas, ink)):
            break
        feet.append(row)
    if feet:
        feet += [
            r
            for r in ordered
            if r not in feet and any(_level(r, f) and r.box.height <= 1.3 * f.box.height for f in feet)
        ]
    return [*heads, *(f for f in feet if f not in heads)]


def _level(one: Row, other: Row) -> bool:
    """Tell whether two rows stand side by side; on photos one end of a head may lie lower than the other."""
    a, b = one.box, other.box
    least = min(a.height, b.height)
    if min(a.bottom, b.bottom) - max(a.top, b.top) > 0.5 * least:
        return True
    gap = max(a.left, b.left) - min(a.right, b.right)
    return gap > 0 and abs(a.centre[1] - b.centre[1]) <= 0.5 * least + SLOPE * gap


def _is_head(row: Row, rules: Sequence[Box], areas: Sequence[LayoutBox], ink: PageInk) -> bool:
    height = ink.text_height
    box = row.box
    if _is_page_number(row):
        return True
    if box.height > HEADING * height:
        return False
    ruled = any(r.width > r.height and -0.3 * height <= r.top - box.bottom <= RULE_REACH * height for r in rules)
    spread = _widest_gap(row) > SPREAD * ink.width_px
    named = _named(box, areas, "header")
    small = box.height <= SMALL_PRINT * height and "=" not in row.text
    return ruled or (named and (spread or small))


def _is_foot(row: Row, floor: float, rules: Sequence[Box], areas: Sequence[LayoutBox], ink: PageInk) -> bool:
    height = ink.text_height
    box = row.box
    share = box.centre[1] / ink.height_px
    clear = box.top - floor
    if _is_page_number(row) or any(_is_page_number(p) for p in row.pieces if _widest_gap(row) > SPREAD * ink.width_px):
        return share > NUMBER_ZONE and clear > 0.3 * height
    if states_page_number(row.text) and len(row.text) <= 30 and not starts_item(row.text):
        return share > NUMBER_ZONE and clear > 0.8 * height
    if share < BOTTOM_ZONE:
        return False
    ruled = any(r.width > r.height and -0.3 * height <= box.top - r.bottom <= RULE_REACH * height for r in rules)
    named = _named(box, areas, "footer")
    small = box.height <= SMALL_PRINT * height
    lone = share > FOOT_RIM and clear > LONE_FOOT * height and not starts_item(row.text)
    return lone or (clear > CLEAR * height and (ruled or named or (small and clear > 3 * height)))


def _is_page_number(row: Row | Piece) -> bool:
    return states_page_number(row.text) and len(row.text) <= SHORT_NUMBER


def _widest_gap(row: Row) -> float:
    ordered = sorted(row.pieces, key=lambda p: p.box.left)
    gaps = [b.box.left - a.box.right for a, b in pairwise(ordered)]
    return float(max(gaps, default=0))


def _named(box: Box, areas: Sequence[LayoutBox], label: str) -> bool:
    return any(a.label == label and box.covered_by(a.box) >= 0.4 for a in areas)


def split_number(row: Row, edges: ColumnEdges, ink: PageInk) -> tuple[Row | None, Piece | None]:
    """Take the equation number off a row.

    Args:
        row: A row of one column.
        edges: Edges of the column.
        ink: Ink of the page.

    Returns:
        The row without its number (None if nothing is left) and the number (None if it has none).
    """
    height = ink.text_height
    last = max(row.pieces, key=lambda p: p.box.right)
    if not is_equation_number(last.text):
        return row, None
    rest = tuple(p for p in row.pieces if p is not last)
    at_edge = last.box.right > edges.left + 0.85 * (edges.right - edges.left)
    if not rest:
        return (
            (None, last) if at_edge and last.box.left > edges.left + 0.5 * (edges.right - edges.left) else (row, None)
        )
    gap = last.box.left - max(p.box.right for p in rest)
    prose = any(p.prose and p.box.height > SMALL_NOTE * height for p in rest)
    if not at_edge or gap < (2 * NUMBER_GAP if prose else NUMBER_GAP) * height:
        return row, None
    box = rest[0].box
    for piece in rest[1:]:
        box = box.union(piece.box)
    return Row(rest, box, row.axis), last


def is_formula(row: Row, edges: ColumnEdges, areas: Sequence[LayoutBox], ink: PageInk, *, numbered: bool) -> bool:
    """Tell whether a row is a display formula: mathematics without prose, set in from the column's edge."""
    text = row.text
    named = _covered(row.box, areas) >= FORMULA_AREA
    words = count_words(text)
    chinese = sum(count_chinese(p.text) for p in row.pieces if p.box.height > SMALL_NOTE * ink.text_height)
    if words or chinese:
        return False
    if not any(c in "=<>≤≥≈∝≪≫→⇒+-−×·/∈≡:" for c in text) and len(row.pieces) < 2 and not (numbered or named):
        return False
    indent = row.box.left - edges.left
    if indent < FORMULA_INDENT * ink.text_height:
        wide = row.box.width > 0.6 * (edges.right - edges.left)
        return not starts_item(text) and (numbered or (wide and named))
    # Choices and parts set in by a paragraph indent are text.
    return not (starts_item(text) and indent < 5 * ink.text_height)


def _covered(box: Box, areas: Sequence[LayoutBox]) -> float:
    return max((box.covered_by(a.box) for a in areas if a.label == "formula"), default=0.0)
