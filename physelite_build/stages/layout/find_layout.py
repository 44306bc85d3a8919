"""Cuts a page into regions in reading order: rows of text, display formulas, figures, captions, tables, furniture.

Runs after ``read`` and before formulas are recognised and problems are segmented. Geometry comes from the ink and from the text
engine's boxes; the layout model's areas are weak labels that count only together with place, size or wording.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from physelite_build.engines.protocol import LayoutBox
from physelite_build.geometry import Box
from physelite_build.records import PageLayout, PageText, Region, RegionKind
from physelite_build.stages.layout.find_figures import Drawing, Findings, find_figures
from physelite_build.stages.layout.find_tables import Table
from physelite_build.stages.layout.fit_formulas import MissedFormula, find_missed_formulas, fit_formula
from physelite_build.stages.layout.group_rows import Row, group_rows
from physelite_build.stages.layout.label_rows import (
    ColumnEdges,
    find_captions,
    find_furniture,
    find_stray,
    is_formula,
    measure_edges,
    split_number,
)
from physelite_build.stages.layout.page_ink import PageInk, read_ink
from physelite_build.stages.layout.reading_order import Leaf, count_columns, split_page
from physelite_build.stages.layout.stack_pieces import Piece, find_bars, find_brackets, make_pieces
from physelite_build.stages.layout.tell_prose import count_chinese, count_words, join_texts

__all__ = ["find_layout"]

PROVING_WORDS = 2
"""Lines with fewer Chinese characters and words do not show where a column is."""


@dataclass(frozen=True, slots=True)
class _Caption:
    pieces: tuple[Piece, ...]
    box: Box


_Block = Piece | _Caption | Drawing | Table | MissedFormula


@dataclass(frozen=True, slots=True)
class _Item:
    """A region before it has its place in the order."""

    kind: RegionKind
    box: Box
    middle: float
    """Height at which it stands in its column, pixels."""
    text: str = ""
    confidence: float | None = None
    indexes: tuple[int, ...] = ()
    indent_px: int = 0


@dataclass(frozen=True, slots=True)
class _Column:
    """One leaf of the page with its rows."""

    rows: Sequence[Row]
    blocks: Sequence[_Block]
    """What else stands in it: captions, drawings, tables, formulas without lines."""
    edges: ColumnEdges
    number: int


@dataclass(frozen=True, slots=True)
class _Page:
    ink: PageInk
    areas: Sequence[LayoutBox]
    pieces: Sequence[Piece]
    obstacles: Sequence[Box]
    """Drawings and tables."""
    furniture: Sequence[Row]
    """Rows that are running heads or feet."""


def find_layout(picture: NDArray[np.uint8], text: PageText, areas: Sequence[LayoutBox]) -> PageLayout:
    """Find the regions of a page in reading order.

    Args:
        picture: Upright page, BGR, shape ``(height_px, width_px, 3)``, uint8.
        text: Lines of the text engine in pixels of ``picture``.
        areas: Labelled areas of a layout model in pixels of ``picture``; may be empty.

    Returns:
        Regions with ``order`` 0..n-1. Every line that is not blank is in exactly one region; lines inside a figure are its
        labels. Watermarks and turned text come last.

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
    obstacles = [d.box for d in found.drawings] + [t.box for t in found.tables]
    lines, blocks = _sort_out(body, found, areas, ink)
    leaves = _leaves(lines, blocks, found.rules, ink)
    bars, brackets = find_bars(ink, pieces, obstacles), find_brackets(ink, obstacles)
    rows = [
        group_rows([lines[i] for i in leaf.blocks if i < len(lines)], bars, brackets, ink.text_height)
        for leaf in leaves
    ]
    furniture = find_furniture([r for some in rows for r in some], found.rules, areas, obstacles, ink)
    page = _Page(ink, areas, pieces, obstacles, furniture)
    columns = _columns(leaves, rows, [*lines, *blocks], furniture)
    regions: list[Region] = []
    for column in columns:
        items = [item for row in column.rows for item in _row_items(row, column, page)]
        items += [_block_item(block) for block in column.blocks]
        for item in sorted(items, key=lambda i: (i.middle, i.box.left)):
            regions.append(_region(item, order=len(regions), column=column.number))
    for piece in stray:
        regions.append(_region(_piece_item(piece, RegionKind.FURNITURE), order=len(regions), column=0))
    return PageLayout(
        page_width_px=ink.width_px,
        page_height_px=ink.height_px,
        regions=tuple(regions),
        columns=max((c.number for c in columns), default=0) + 1,
    )


def _sort_out(
    body: Sequence[Piece], found: Findings, areas: Sequence[LayoutBox], ink: PageInk
) -> tuple[list[Piece], list[_Block]]:
    """Part the lines that form rows from captions, drawings, tables and formulas that were not read."""
    used = {i for d in found.drawings for i in d.indexes} | {i for t in found.tables for i in t.indexes}
    free = [p for p in body if p.index not in used]
    drawings, tables = [d.box for d in found.drawings], [t.box for t in found.tables]
    captions = [_Caption(tuple(c), _around(c)) for c in find_captions(free, drawings, tables, areas, ink)]
    in_caption = {p.index for c in captions for p in c.pieces}
    missed = find_missed_formulas(areas, body, [*drawings, *tables], ink)
    lines = [p for p in free if p.index not in in_caption]
    return lines, [*captions, *found.drawings, *found.tables, *missed]


def _leaves(lines: Sequence[Piece], blocks: Sequence[_Block], rules: Sequence[Box], ink: PageInk) -> list[Leaf]:
    everything: list[_Block] = [*lines, *blocks]
    proving = [
        isinstance(b, Piece) and (b.prose or count_chinese(b.text) + count_words(b.text) >= PROVING_WORDS)
        for b in everything
    ]
    return split_page(everything, proving, rules, text_height=ink.text_height)


def _columns(
    leaves: Sequence[Leaf], rows: Sequence[Sequence[Row]], everything: Sequence[_Block], furniture: Sequence[Row]
) -> list[_Column]:
    n_lines = sum(len(row.pieces) for some in rows for row in some)
    edges = _edges(leaves, rows, furniture)
    return [
        _Column(leaf_rows, [everything[i] for i in leaf.blocks if i >= n_lines], leaf_edges, number)
        for leaf, leaf_rows, leaf_edges, number in zip(leaves, rows, edges, count_columns(leaves), strict=True)
    ]


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


def _row_items(row: Row, column: _Column, page: _Page) -> list[_Item]:
    """Turn a row into one region, or two if it carries an equation number."""
    edges = column.edges
    if row in page.furniture:
        return [_row_item(row, RegionKind.FURNITURE, row.box, edges)]
    rest, number = split_number(row, edges, page.ink)
    items = []
    if rest is not None and is_formula(rest, edges, page.areas, page.ink, numbered=number is not None):
        own = {piece.index for piece in rest.pieces}
        foreign = [p.box for p in page.pieces if p.index not in own]
        box = fit_formula(rest, column.rows, [*foreign, *page.obstacles], page.ink)
        items.append(_row_item(rest, RegionKind.FORMULA, box, edges))
    elif rest is not None:
        items.append(_row_item(rest, RegionKind.TEXT, rest.box, edges))
    if number is not None:
        items.append(replace(_piece_item(number, RegionKind.FURNITURE), middle=row.axis))
    return items


def _row_item(row: Row, kind: RegionKind, box: Box, edges: ColumnEdges) -> _Item:
    indexes = tuple(p.index for p in row.pieces)
    return _Item(kind, box, row.axis, row.text, row.confidence, indexes, max(0, row.box.left - edges.left))


def _piece_item(piece: Piece, kind: RegionKind) -> _Item:
    return _Item(kind, piece.box, piece.box.centre[1], piece.text.strip(), piece.confidence, (piece.index,))


def _block_item(block: _Block) -> _Item:
    middle = block.box.centre[1]
    if isinstance(block, Piece):
        return _piece_item(block, RegionKind.TEXT)
    if isinstance(block, _Caption):
        row = Row(block.pieces, block.box, middle)
        indexes = tuple(p.index for p in block.pieces)
        text = join_texts([p.text for p in block.pieces])
        return _Item(RegionKind.CAPTION, block.box, middle, text, row.confidence, indexes)
    if isinstance(block, Drawing):
        return _Item(RegionKind.FIGURE, block.box, middle, "", block.confidence, block.indexes)
    if isinstance(block, Table):
        return _Item(RegionKind.TABLE, block.box, middle, block.text, block.confidence, block.indexes)
    return _Item(RegionKind.FORMULA, block.box, middle, "", block.confidence)


def _region(item: _Item, *, order: int, column: int) -> Region:
    return Region(
        kind=item.kind,
        box=item.box,
        order=order,
        column=column,
        text=item.text,
        confidence=item.confidence,
        indent_px=item.indent_px,
        line_indexes=item.indexes,
    )


def _around(pieces: Sequence[Piece]) -> Box:
    box = pieces[0].box
    for piece in pieces[1:]:
        box = box.union(piece.box)
    return box
