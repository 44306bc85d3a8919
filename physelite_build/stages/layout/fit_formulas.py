"""Which ink belongs to a display formula, so that its crop shows all of it.

Part of ``layout``. The text engine boxes characters; fraction bars, roots, tall brackets and limits stick out of its boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from physelite_build.engines.protocol import LayoutBox
from physelite_build.geometry import Box
from physelite_build.stages.layout.group_rows import Row
from physelite_build.stages.layout.page_ink import PageInk, gap_px, is_frame
from physelite_build.stages.layout.stack_pieces import Piece

__all__ = ["MissedFormula", "find_missed_formulas", "fit_formula"]

# Lengths are in text heights.
REACH_DOWN = 0.35
"""Ink this far above or below a formula's boxes belongs to it (limits, bars, roots)."""
REACH_ACROSS = 1.3
"""Ink this far beside it at the same height belongs to it (signs and brackets that were not read)."""
TALLEST = 9.0
"""Higher ink is no bracket."""
MISSED_CONFIDENCE = 0.5
"""Least confidence of a formula area without any line of text that is kept as a formula."""
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class MissedFormula:
    """A display formula of which the text engine read nothing."""

    box: Box
    confidence: float


def fit_formula(row: Row, rows: Sequence[Row], foreign: Sequence[Box], ink: PageInk) -> Box:
    """Fit a box to the ink of a formula.

    Args:
        row: The formula's row.
        rows: All rows of its column, this one included.
        foreign: Boxes of drawings, tables and lines that are not in ``row``.
        ink: Ink of the page.

    Returns:
        Box in upright pixels around what its lines cover and what hangs on it and belongs to nothing else. A frame drawn
        around a result is left out.
    """
    height = ink.text_height
    tight = [ink.tighten(piece.box) or piece.box for piece in row.pieces]
    box = tight[0]
    for other in tight[1:]:
        box = box.union(other)
    under = ink.share_under(foreign)
    zone = box.padded(round(4 * height), width_px=ink.width_px, height_px=ink.height_px)
    others = [r.box for r in rows if not set(r.pieces) & set(row.pieces)]
    loose = [
        part.box
        for part in ink.parts
        if under[part.number] < 0.3
        and part.box.height < TALLEST * height
        and part.box.covered_by(zone) == 1.0
        # Ink between two formulas belongs to the row that it shares more height with.
        and _shared_height(part.box, row.box) >= max((_shared_height(part.box, other) for other in others), default=0)
        and not is_frame(part, ink)
    ]
    for _ in range(_ROUNDS):
        grown = box
        for part in loose:
            gap = gap_px(part, box)
            beside = _shared_height(part, box) > 0.5 * part.height and gap <= REACH_ACROSS * height
            if beside or gap <= REACH_DOWN * height:
                grown = grown.union(part)
        if grown == box:
            break
        box = grown
    return box


def find_missed_formulas(
    areas: Sequence[LayoutBox], pieces: Sequence[Piece], taken: Sequence[Box], ink: PageInk
) -> list[MissedFormula]:
    """Find formula areas of the layout model that hold ink but no line, drawing or table."""
    found: list[MissedFormula] = []
    occupied = [p.box for p in pieces] + list(taken)
    for area in areas:
        tight = ink.tighten(area.box)
        if area.label != "formula" or area.confidence < MISSED_CONFIDENCE or tight is None:
            continue
        if tight.height < 0.5 * ink.text_height or any(box.intersection(tight).area for box in occupied):
            continue
        found.append(MissedFormula(tight, area.confidence))
        occupied.append(tight)
    return found


def _shared_height(one: Box, other: Box) -> int:
    return min(one.bottom, other.bottom) - max(one.top, other.top)
