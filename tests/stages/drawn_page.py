"""A page drawn by code, with the lines that a perfect text engine would return for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from physelite_build.engines.protocol import LayoutBox
from physelite_build.geometry import Box
from physelite_build.records import Fingerprint, Line, PageLayout, PageText, Region, RegionKind
from physelite_build.stages.layout.find_layout import find_layout

EM = 24
"""Size of a character; a line's box is two pixels higher on each side."""
ROW = 40
"""Distance between rows."""


@dataclass
class DrawnPage:
    width: int = 1200
    height: int = 1600
    lines: list[Line] = field(default_factory=list)
    areas: list[LayoutBox] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.picture: NDArray[np.uint8] = np.full((self.height, self.width, 3), 255, np.uint8)

    def write(self, text: str, left: int, top: int, *, em: int = EM, shade: int = 0, read: bool = True) -> Box:
        """Draw one character-like blob per character (half as wide for Latin) and record the line."""
        x = left
        for character in text:
            wide = em if ord(character) > 0x2E80 else em // 2
            if character != " ":
                self._glyph(x, top, wide, em, shade)
            x += wide
        box = Box(left=left - 2, top=top - 2, right=x + 2, bottom=top + em + 2)
        if read:
            self.lines.append(Line(text=text, box=box, confidence=0.9))
        return box

    def _glyph(self, x: int, top: int, wide: int, em: int, shade: int) -> None:
        colour = (shade, shade, shade)
        cv2.rectangle(self.picture, (x + 2, top + 2), (x + wide - 3, top + em - 3), colour, 2)
        cv2.line(self.picture, (x + 2, top + em // 2), (x + wide - 3, top + em // 2), colour, 2)

    def paragraph(self, text: str, left: int, top: int, rows: int) -> int:
        """Write the same row several times and return where the next one would stand."""
        for k in range(rows):
            self.write(text, left, top + k * ROW)
        return top + rows * ROW

    def stroke(self, *points: tuple[int, int], thickness: int = 2) -> None:
        cv2.polylines(self.picture, [np.array(points, np.int32)], False, (0, 0, 0), thickness)

    def fraction(self, above: str, below: str, left: int, axis: int) -> Box:
        """Draw a fraction whose bar lies at height ``axis``; each part becomes a line of its own."""
        wide = max(len(above), len(below)) * EM // 2 + 8
        bar = Box(left=left, top=axis - 1, right=left + wide, bottom=axis + 1)
        self.stroke((bar.left, axis), (bar.right, axis))
        for text, top in ((above, axis - EM - 5), (below, axis + 5)):
            self.write(text, left + (wide - len(text) * EM // 2) // 2, top)
        return bar

    def layout(self) -> PageLayout:
        text = PageText(lines=tuple(self.lines), engine=Fingerprint(name="drawn", version="1"))
        return find_layout(self.picture, text, self.areas)


def of_kind(layout: PageLayout, kind: RegionKind) -> list[Region]:
    return [region for region in layout.regions if region.kind is kind]


def texts(layout: PageLayout) -> list[str]:
    return [region.text for region in of_kind(layout, RegionKind.TEXT)]
