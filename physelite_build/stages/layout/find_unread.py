"""Rows of print that the text engine did not read.

A detector misses a row now and then. ``find_figures`` must not take such a row for part of a drawing, and ``read`` can look at
it again: :func:`find_unread` returns where to look.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from physelite_build.geometry import Box
from physelite_build.records import PageLayout, PageText, RegionKind
from physelite_build.stages.layout.page_ink import InkPart, PageInk, read_ink

__all__ = ["find_unread", "unread_rows"]

# Lengths are in text heights.
GLYPH_HEIGHT, GLYPH_WIDTH = 1.6, 2.5
"""Largest connected part that can be a character, or two that touch."""
LEAST_GLYPH = 0.22
"""Lower parts are dots and dashes; alone they make no row."""
WORD_GAP = 0.9
"""Characters further apart than this make two rows."""
ROW_HEIGHT = (0.45, 2.2)
"""Lowest and highest row of single glyphs."""
LEAST_ROW = 1.2
"""Shortest row worth reading again."""
LEAST_PARTS = 2
"""... with at least that many connected parts."""


def find_unread(picture: NDArray[np.uint8], text: PageText, layout: PageLayout) -> tuple[Box, ...]:
    """Find rows of print that no line and no figure, table or formula covers.

    Args:
        picture: Upright page, BGR, shape ``(height_px, width_px, 3)``, uint8.
        text: Lines read on it.
        layout: Its regions.

    Returns:
        Boxes in upright pixels from top to bottom, padded by a quarter of a text height; each holds one row.
    """
    ink = read_ink(picture, text.lines)
    whole = (RegionKind.FIGURE, RegionKind.TABLE, RegionKind.FORMULA)
    taken = [region.box for region in layout.regions if region.kind in whole]
    inside = [region.box for region in layout.regions]
    if inside:
        print_left, print_right = min(b.left for b in inside), max(b.right for b in inside)
    else:
        print_left, print_right = 0, picture.shape[1]
    reach = round(2 * ink.text_height)
    rows = unread_rows(ink, [line.box for line in text.lines] + taken, least_width=LEAST_ROW, least_parts=LEAST_PARTS)
    pad = round(0.25 * ink.text_height)
    return tuple(
        row.padded(pad, width_px=ink.width_px, height_px=ink.height_px)
        for row in rows
        if row.left >= print_left - reach and row.right <= print_right + reach
    )


def unread_rows(ink: PageInk, known: Sequence[Box], *, least_width: float, least_parts: int) -> list[Box]:
    """Find runs of character-sized ink outside known boxes.

    Args:
        ink: Ink of the page.
        known: Boxes that are explained already, upright pixels.
        least_width: Shortest run, in text heights.
        least_parts: Fewest connected parts in a run.

    Returns:
        Boxes of the runs, top to bottom.
    """
    height = ink.text_height
    k = ink.shrink
    under = ink.share_under(known)
    glyphs = [
        part
        for part in ink.parts
        if under[part.number] < 0.3
        and part.box.height <= GLYPH_HEIGHT * height
        and part.box.width <= GLYPH_WIDTH * height
        and max(part.box.height, part.box.width) >= LEAST_GLYPH * height
    ]
    canvas = np.zeros_like(ink.mask)
    for part in glyphs:
        canvas[ink.slices(part.box)] = 1
    reach = 2 * round(0.5 * WORD_GAP * height / k) + 1  # odd, or closing would shift the ink
    joined = cv2.morphologyEx(canvas, cv2.MORPH_CLOSE, np.ones((1, reach), np.uint8))
    count, numbers, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    members: dict[int, list[InkPart]] = {}
    for part in glyphs:
        rows, columns = ink.slices(part.box)
        members.setdefault(int(numbers[rows.start, columns.start]), []).append(part)
    found = []
    for number in range(1, count):
        parts = members.get(number, [])
        x, y, w, h, _ = (int(v) * k for v in stats[number])
        tall = [p for p in parts if p.box.height >= 0.4 * height]
        if len(parts) < least_parts or len(tall) < 0.3 * len(parts) or w < least_width * height:
            continue
        if ROW_HEIGHT[0] * height <= h <= ROW_HEIGHT[1] * height:
            found.append(Box(left=x, top=y, right=x + w, bottom=y + h))
    return sorted(found, key=lambda box: (box.top, box.left))
