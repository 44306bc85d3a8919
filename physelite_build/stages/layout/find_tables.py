"""Where the tables of a page are: ruled grids in the ink, rules above and below aligned cells, or the model's word for it.

Part of ``find_figures``. A grid is a table only if text stands in its cells; a circuit has lines too, but few words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from physelite_build.engines.protocol import LayoutBox
from physelite_build.geometry import Box
from physelite_build.stages.layout.group_rows import group_rows
from physelite_build.stages.layout.page_ink import PageInk
from physelite_build.stages.layout.stack_pieces import Piece

__all__ = ["Table", "find_tables"]

GRID_LINE_SHARE = 0.9
"""A grid line runs over at least this share of its table."""
LEAST_CELL_TEXT = 0.12
"""Share of a table's box that its words cover; ruled data tables measure 0.25 to 0.5, circuits below 0.1."""
MODEL_CONFIDENCE = 0.5
"""Least confidence with which the model may name a table that has no grid."""
_LINE_LENGTH = 2.0
"""Shortest grid line, in text heights."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table."""

    box: Box
    indexes: tuple[int, ...]
    """Lines of the page that stand in it."""
    text: str
    """Cells joined by `` | ``, rows by line feeds, as the text engine read them."""
    confidence: float | None
    """Of the layout model's table area at the same place; None if it saw none."""


def find_tables(
    ink: PageInk, pieces: Sequence[Piece], areas: Sequence[LayoutBox], strokes: Sequence[Box]
) -> list[Table]:
    """Find tables.

    Args:
        ink: Ink of the upright page.
        pieces: Lines of text on it.
        areas: Areas of the layout model.
        strokes: Boxes of the connected parts that are no text.

    Returns:
        Tables from top to bottom, none inside another.
    """
    height = ink.text_height
    grids = [box for box in strokes if min(box.width, box.height) >= 1.8 * height and _is_grid(box, pieces, ink)]
    named = [
        (ink.tighten(a.box) or a.box)
        for a in areas
        if a.label == "table" and a.confidence >= MODEL_CONFIDENCE and _cover(a.box, pieces) >= LEAST_CELL_TEXT
    ]
    chosen: list[Box] = []
    for box in sorted(grids, key=lambda b: -b.area) + sorted(named, key=lambda b: -b.area):
        if not any(box.intersection(c).area > 0.3 * min(box.area, c.area) for c in chosen):
            chosen.append(box)
    tables = []
    for box in sorted(chosen, key=lambda b: (b.top, b.left)):
        rows = group_rows([p for p in pieces if p.box.covered_by(box) > 0.6], (), (), height)
        indexes = tuple(p.index for row in rows for p in row.pieces)
        text = "\n".join(" | ".join(p.text.strip() for p in row.pieces) for row in rows)
        seen = [(a.box.iou(box), a.confidence) for a in areas if a.label == "table"]
        best = max(seen, default=(0.0, 0.0))
        tables.append(Table(box, indexes, text, best[1] if best[0] > 0.3 else None))
    return tables


def _is_grid(box: Box, pieces: Sequence[Piece], ink: PageInk) -> bool:
    """Tell whether lines over the full width and height cut a box into cells with text."""
    rows, columns = ink.slices(box)
    mask = ink.mask[rows, columns]
    length = max(5, round(_LINE_LENGTH * ink.text_height / ink.shrink))
    level = _open(_thicken(mask, (3, 1)), (1, length))
    upright = _open(_thicken(mask, (1, 3)), (min(length, mask.shape[0]), 1))
    tilt = max(3, round(0.5 * ink.text_height / ink.shrink))
    n_level = _count_lines(_thicken(level, (tilt, 1)).mean(axis=1))
    n_upright = _count_lines(_thicken(upright, (1, tilt)).mean(axis=0))
    inside = [p for p in pieces if p.box.covered_by(box) > 0.8]
    if n_level < 3 or n_upright < 2 or n_level + n_upright < 6 or len(inside) < 2:
        return n_level >= 2 and n_upright >= 4 and len(inside) >= 4 and _cover(box, pieces) >= LEAST_CELL_TEXT
    return _cover(box, pieces) >= LEAST_CELL_TEXT


def _thicken(mask: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    return np.asarray(cv2.dilate(mask, np.ones(size, np.uint8)), dtype=np.uint8)


def _open(mask: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    return np.asarray(cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones(size, np.uint8)), dtype=np.uint8)


def _count_lines(profile: NDArray[np.float64]) -> int:
    on = profile >= GRID_LINE_SHARE
    return int(on[0]) + int(np.count_nonzero(on[1:] & ~on[:-1])) if on.size else 0


def _cover(box: Box, pieces: Sequence[Piece]) -> float:
    return sum(p.box.intersection(box).area for p in pieces) / box.area if box.area else 0.0
