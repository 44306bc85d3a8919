"""Cuts a page into regions in reading order: rows of text, display formulas, figures, captions, tables, furniture.

Runs after ``read`` and before ``formulas`` and ``segment``. Geometry comes from the ink and the text engine's boxes; the layout
model's areas are weak labels (``docs`` of the stage: measured recipes in ARCHITECTURE.md, Layout).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physelite_build.engines.protocol import LayoutBox
from physelite_build.geometry import Box
from physelite_build.records import PageLayout, PageText, Region, RegionKind
from physelite_build.stages.find_figures import Drawing, find_figures
from physelite_build.stages.find_tables import Table
from physelite_build.stages.group_rows import Piece, Row, find_bars, group_rows, make_pieces
from physelite_build.stages.label_rows import (
    ColumnEdges,
    find_captions,
    find_furniture,
    find_stray,
    is_formula,
    measure_edges,
    split_number,
)
from physelite_build.stages.page_ink import PageInk, gap_px, is_frame, read_ink
from physelite_build.stages.reading_order import Leaf, count_columns, split_page
from physelite_build.stages.tell_prose import count_chinese, count_words

__all__ = ["find_layout"]

FORMULA_REACH = 0.35
"""Ink above or below a formula's boxes within this many text heights belongs to it (limits, bars, roots)."""
FORMULA_REACH_ACROSS = 1.3
"""Ink beside a formula within this many text heights belongs to it (signs and brackets that were not read)."""
MISSED_FORMULA = 0.5
"""Least confidence of a formula area without any line of text to be kept as a formula."""


@dataclass(frozen=True, slots=True)
class _Item:
    """A region before it has its place in the order."""

    kind: RegionKind
    box: Box
    key: float
    text: str
    confidence: float | None
    indexes: tuple[int, ...]
    indent_px: int = 0


@dataclass(frozen=True, slots=True)
class _Page:
    ink: PageInk
    areas: Sequence[LayoutBox]
    drawings: Sequence[Drawing]
    tables: Sequence[Table]
    furniture: Sequence[Row]
    """Rows that are running heads or feet."""
    all_pieces: Sequence[Piece]


def find_layout(picture: NDArray[np.uint8], text: PageText, areas: Sequence[LayoutBox]) -> PageLayout:
    """Find the regions of a page in reading order.

    Args:
        picture: Upright page, BGR, shape ``(height_px, width_px, 3)``, uint8.
        text: Lines of the text engine in pixels of ``picture``.
        areas: Labelled areas of a layout model in pixels of ``picture``; may be empty.

    Returns:
        Regions with ``order`` 0..n-1. Every line that is not blank is in exactly one region.

    Raises:
        ValueError: If the picture is not BGR or has no pixels.
    """
    if picture.ndim != 3 or picture.shape[2] != 3 or not picture.size:
        raise ValueError(f"expected a BGR picture with pixels, got shape {picture.shape}")
    ink = read_ink(picture, text.lines)
    pieces = make_pieces(text.lines)
    stray = find_stray(pieces, ink)
    body = [p for p in pieces if p not in stray]
    found = find_figures(ink, body, areas)
    used = {i for d in found.drawings for i in d.indexes} | {i for t in found.tables for i in t.indexes}
    free = [p for p in body if p.index not in used]
    captions = find_captions(free, [d.box for d in found.drawings], [t.box for t in found.tables], areas, ink)
    lines = [p for p in free if p not in captions]
    blocks: list[Piece | Drawing | Table] = [*lines, *captions, *found.drawings, *found.tables]
    proving = [isinstance(b, Piece) and (b.prose or count_chinese(b.text) + count_words(b.text) >= 2) for b in blocks]
    leaves = split_page(blocks, proving, found.rules, text_height=ink.text_height)
    bars = find_bars(ink, pieces)
    rows = [group_rows([lines[i] for i in leaf.blocks if i < len(lines)], bars, ink) for leaf in leaves]
    blockers = [d.box for d in found.drawings] + [t.box for t in found.tables]
    furniture = find_furniture([r for some in rows for r in some], found.rules, areas, blockers, ink)
    page = _Page(ink, areas, found.drawings, found.tables, furniture, pieces)
    edges = _edges(leaves, rows, furniture)
    columns = count_columns(leaves)
    regions: list[Region] = []
    for leaf, leaf_rows, leaf_edges, column in zip(leaves, rows, edges, columns, strict=True):
        others = [blocks[i] for i in leaf.blocks if i >= len(lines)]
        items = [item for row in leaf_rows for item in _row_items(row, leaf_rows, leaf_edges, page)]
        items += [_block_item(block) for block in others]
        regions += [_region(item, column) for item in sorted(items, key=lambda i: (i.key, i.box.left))]
    regions += [_region(_piece_item(RegionKind.FURNITURE, piece), 0) for piece in stray]
    ordered = tuple(region.model_copy(update={"order": k}) for k, region in enumerate(regions))
    return PageLayout(
        page_width_px=ink.width_px, page_height_px=ink.height_px, regions=ordered, columns=max(columns, default=0) + 1
    )


def _edges(leaves: Sequence[Leaf], rows: Sequence[Sequence[Row]], furniture: Sequence[Row]) -> list[ColumnEdges]:
    """Measure each column over all of its bands, so that a band of two rows has the edge of its neighbours."""
    found = []
    for leaf in leaves:
        same = [
            row
            for other, some in zip(leaves, rows, strict=True)
            if (other.left, other.right) == (leaf.left, leaf.right)
            for row in some
            if row not in furniture
        ]
        found.append(measure_edges(same, left=leaf.left, right=leaf.right))
    return found


def _row_items(row: Row, rows: Sequence[Row], edges: ColumnEdges, page: _Page) -> list[_Item]:
    """Turn a row into one region, or two if it carries an equation number."""
    if row in page.furniture:
        return [_row_item(RegionKind.FURNITURE, row, row.box, edges)]
    rest, number = split_number(row, edges, page.ink)
    items = []
    if rest is not None:
        if is_formula(rest, edges, page.areas, page.ink, numbered=number is not None):
            items.append(_row_item(RegionKind.FORMULA, rest, _formula_box(rest, rows, page), edges))
        else:
            items.append(_row_item(RegionKind.TEXT, rest, rest.box, edges))
    if number is not None:
        item = _piece_item(RegionKind.FURNITURE, number)
        items.append(_Item(item.kind, item.box, row.axis + 0.5, item.text, item.confidence, item.indexes))
    return items


def _row_item(kind: RegionKind, row: Row, box: Box, edges: ColumnEdges) -> _Item:
    indexes = tuple(p.index for p in row.pieces)
    return _Item(kind, box, row.axis, row.text, row.confidence, indexes, max(0, row.box.left - edges.left))


def _piece_item(kind: RegionKind, piece: Piece) -> _Item:
    return _Item(kind, piece.box, piece.box.centre[1], piece.text.strip(), piece.confidence, (piece.index,))


def _block_item(block: Piece | Drawing | Table) -> _Item:
    if isinstance(block, Piece):
        return _piece_item(RegionKind.CAPTION, block)
    kind = RegionKind.FIGURE if isinstance(block, Drawing) else RegionKind.TABLE
    return _Item(kind, block.box, block.box.centre[1], "", block.confidence, block.indexes)


def _region(item: _Item, column: int) -> Region:
    return Region(
        kind=item.kind,
        box=item.box,
        order=0,
        column=column,
        text=item.text,
        confidence=item.confidence,
        indent_px=item.indent_px,
        line_indexes=item.indexes,
    )


def _formula_box(row: Row, rows: Sequence[Row], page: _Page) -> Box:
    """Fit a box to the ink of a formula: what its lines cover and what hangs on it and belongs to no other line."""
    ink = page.ink
    height = ink.text_height
    own = {p.index for p in row.pieces}
    box = row.pieces[0].box
    tight = [ink.tighten(p.box) or p.box for p in row.pieces]
    box = tight[0]
    for other in tight[1:]:
        box = box.union(other)
    foreign = [p.box for p in page.all_pieces if p.index not in own]
    foreign += [d.box for d in page.drawings] + [t.box for t in page.tables]
    under = ink.share_under(foreign)
    loose = [p for p in ink.parts if under[p.number] < 0.3 and p.box.height < 9 * height and not is_frame(p, ink)]
    # Ink between two formulas belongs to the row that it shares more height with.
    loose = [p for p in loose if max(rows, key=lambda r: (_shared_height(p.box, r.box), r is row)) is row]
    for _ in range(3):
        grown = box
        for part in loose:
            beside = (
                _shared_height(part.box, box) > 0.5 * part.box.height
                and gap_px(part.box, box) <= FORMULA_REACH_ACROSS * height
            )
            if beside or gap_px(part.box, box) <= FORMULA_REACH * height:
                grown = grown.union(part.box)
        if grown == box:
            break
        box = grown
    return box


def _shared_height(one: Box, other: Box) -> int:
    return min(one.bottom, other.bottom) - max(one.top, other.top)
