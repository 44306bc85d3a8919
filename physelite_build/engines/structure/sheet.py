"""Reads many small strips of ink with few calls of the text engine.

A call costs about a third of a second whatever it reads; the strips of a page are therefore laid out on white sheets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from physelite_build.engines.protocol import Picture
from physelite_build.engines.structure.ink import Blob, surround
from physelite_build.geometry import Box
from physelite_build.records import Char, Line

__all__ = ["Strip", "read_strips"]

SHEET_PX = 1600
"""Side of a sheet: the text engine looks for lines at this size without shrinking."""
GAP_PX = 48
"""White space between strips, enough that no line is found across two of them."""
EM_PX = 30
"""Type size on the sheet; the recogniser works on lines 48 px high."""
MAX_SCALE = 3.0


@dataclass(slots=True)
class Strip:
    """A simple sequence of characters to be read by itself."""

    picture: Picture
    """The picture that the ink is part of."""
    blobs: tuple[Blob, ...]
    """At least one; all other ink is painted over."""
    em: float
    """Type size in pixels of the picture."""
    lines: tuple[Line, ...] = ()
    """What was read, in pixels of the picture."""

    @property
    def scale(self) -> float:
        """Enlargement on the sheet."""
        whole = surround(self.blobs)
        return min(MAX_SCALE, max(0.5, EM_PX / self.em), (SHEET_PX - 2 * GAP_PX) / max(1, whole.width))


@dataclass(frozen=True, slots=True)
class _Cell:
    strip: Strip
    place: Box
    """On the sheet."""


def read_strips(strips: Sequence[Strip], read_lines: Callable[[Picture], tuple[Line, ...]]) -> None:
    """Read strips and store their lines in them.

    Args:
        strips: Any number; ``lines`` is set on each of them.
        read_lines: A text engine.

    Raises:
        ItemError: ``read.engine`` if the text engine fails.
    """
    for cells, height_px in _sheets(strips):
        sheet = np.full((height_px, SHEET_PX, 3), 255, dtype=np.uint8)
        for cell in cells:
            part = _painted(cell.strip, cell.place)
            sheet[cell.place.top : cell.place.bottom, cell.place.left : cell.place.right] = part
        for line in read_lines(sheet):
            x, y = line.box.centre
            for cell in cells:
                place = cell.place
                near = place.left - 8 <= x <= place.right + 8 and place.top - 8 <= y <= place.bottom + 8
                if near:
                    cell.strip.lines += (_back(line, cell),)
                    break


def _sheets(strips: Sequence[Strip]) -> list[tuple[list[_Cell], int]]:
    """Lay strips out in shelves, in their order."""
    sheets: list[tuple[list[_Cell], int]] = []
    cells: list[_Cell] = []
    left, top, shelf = GAP_PX, GAP_PX, 0
    for strip in strips:
        whole, scale = surround(strip.blobs), strip.scale
        width, height = max(1, round(whole.width * scale)), max(1, round(whole.height * scale))
        if left + width + GAP_PX > SHEET_PX:
            left, top, shelf = GAP_PX, top + shelf + GAP_PX, 0
        if top + height + GAP_PX > SHEET_PX and cells:
            sheets.append((cells, top + shelf + GAP_PX))
            cells, left, top, shelf = [], GAP_PX, GAP_PX, 0
        cells.append(_Cell(strip, Box(left=left, top=top, right=left + width, bottom=top + height)))
        left, shelf = left + width + 2 * GAP_PX, max(shelf, height)
    if cells:
        sheets.append((cells, top + shelf + GAP_PX))
    return sheets


def _painted(strip: Strip, place: Box) -> Picture:
    whole = surround(strip.blobs)
    paper = np.full((whole.height, whole.width, 3), 255, dtype=np.uint8)
    for blob in strip.blobs:
        y, x = blob.top - whole.top, blob.left - whole.left
        paper[y : y + blob.height, x : x + blob.width] = strip.picture[blob.top : blob.bottom, blob.left : blob.right]
    resized = cv2.resize(paper, (place.width, place.height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(resized, dtype=np.uint8)


def _back(line: Line, cell: _Cell) -> Line:
    """Move a line from the sheet to the picture of its strip."""
    whole, scale = surround(cell.strip.blobs), cell.strip.scale

    def moved(box: Box) -> Box:
        left, top = cell.place.left, cell.place.top
        return Box(
            left=round((box.left - left) / scale) + whole.left,
            top=round((box.top - top) / scale) + whole.top,
            right=round((box.right - left) / scale) + whole.left,
            bottom=round((box.bottom - top) / scale) + whole.top,
        )

    chars = tuple(Char(text=c.text, box=moved(c.box)) for c in line.chars)
    return Line(text=line.text, box=moved(line.box), confidence=line.confidence, chars=chars)
