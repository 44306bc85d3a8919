"""What is dark on a page: the ink mask, its connected parts and the page's own ruler, the text height.

Used by ``layout``, ``find_figures`` and ``group_rows``. Lengths in those stages are multiples of the text height, so that a
110 dpi photo and a 600 dpi scan are treated alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from physelite_build.geometry import Box
from physelite_build.records import Line

__all__ = ["InkPart", "PageInk", "gap_px", "is_frame", "measure_text_height", "read_ink"]

WORK_TEXT_HEIGHT_PX = 24
"""Pages are shrunk by a whole number until text is about this high; strokes of 150 dpi print survive, 600 dpi pages stay fast."""
PLAIN_TEXT_CHARS = 6
"""Lines with at least that many characters measure the text height; labels and fractions would pull it down."""
FALLBACK_TEXT_SHARE = 1 / 70
"""Text height of a page without lines, as a share of the page height: 11 pt on A4."""
INK_SHARE_OF_TEXT = 0.35
"""A pixel is ink if it is at least that dark, text being 1; print watermarks measure 0.05 to 0.2."""
LEAST_INK_DARKNESS = 0.12
"""Darker than the paper by this share of full white, whatever the text says: paper grain stays below."""
SPECK_SIDE = 0.12
"""Parts smaller than this many text heights in both directions are dust."""

FRAME_RIM = 0.2
"""Width of the rim in which the ink of a frame lies, text heights; allows for a little tilt."""
FRAME_INSIDE = 0.05
"""Share of a frame's ink that may lie inside its rim."""

RED_EXCESS = 40
"""Red ink is redder than green and blue by more than this, of 255; black print in JPEG colour noise stays below 25."""
STAMP_RED = 0.5
"""Share of a seal's ink that is red; where it covers print the ink is mixed."""
STAMP_SIDE = 4.0
"""Smallest seal, text heights."""


@dataclass(frozen=True, slots=True)
class InkPart:
    """One connected piece of ink, in upright pixels."""

    number: int
    """Its value in :attr:`PageInk.numbers`."""
    box: Box
    ink_px: int
    """Ink area in working pixels."""


@dataclass(frozen=True, slots=True)
class PageInk:
    """Ink of one page at working size; boxes given and taken are upright pixels."""

    mask: NDArray[np.uint8]
    """1 where there is ink, shape ``(h, w)`` at working size."""
    numbers: NDArray[np.int32]
    """Number of the connected part at each working pixel, 0 for paper."""
    darkness: NDArray[np.uint8]
    """0 for paper to 255 for black, at working size."""
    shrink: int
    """Upright pixels per working pixel."""
    paper: NDArray[np.uint8]
    """Brightness of the paper around each working pixel."""
    text_height: float
    """Median height of a line of text, upright pixels."""
    text_darkness: float
    """How dark text is, share of full white in (0, 1]."""
    parts: tuple[InkPart, ...]
    """Connected parts without dust, top to bottom."""
    red: NDArray[np.uint8]
    """1 where ink is red, at working size."""
    stamps: tuple[Box, ...]
    """Boxes of red seals."""
    width_px: int
    height_px: int

    def slices(self, box: Box) -> tuple[slice, slice]:
        """Return the working rows and columns of a box, clipped to the page."""
        k = self.shrink
        return (
            slice(max(0, box.top // k), max(0, -(-box.bottom // k))),
            slice(max(0, box.left // k), max(0, -(-box.right // k))),
        )

    def tighten(self, box: Box) -> Box | None:
        """Return the smallest box around the ink inside ``box``; None if there is none."""
        rows, columns = self.slices(box)
        inside = self.mask[rows, columns]
        ys, xs = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
        if not ys.size:
            return None
        k = self.shrink
        tight = Box(
            left=(columns.start + int(xs[0])) * k,
            top=(rows.start + int(ys[0])) * k,
            right=(columns.start + int(xs[-1]) + 1) * k,
            bottom=(rows.start + int(ys[-1]) + 1) * k,
        )
        return tight.intersection(box)

    def share_under(self, boxes: Iterable[Box]) -> NDArray[np.float64]:
        """Return, by part number, which share of each part's ink lies in any of the boxes."""
        cover = np.zeros_like(self.mask)
        for box in boxes:
            cover[self.slices(box)] = 1
        size = int(self.numbers.max()) + 1
        whole = np.bincount(self.numbers.ravel(), minlength=size)
        inside = np.bincount(self.numbers[cover > 0], minlength=size)
        return np.asarray(inside / np.maximum(whole, 1), dtype=np.float64)

    def brightness_of(self, box: Box) -> float:
        """Return how bright the paper in a box is, 0 to 255."""
        inside = self.paper[self.slices(box)]
        return float(inside.mean()) if inside.size else 0.0

    def is_stamp(self, box: Box) -> bool:
        """Tell whether the ink of a box lies in a seal and is mostly red."""
        if not any(box.covered_by(stamp) > 0.5 for stamp in self.stamps):
            return False
        where = self.slices(box)
        return int(self.red[where].sum()) > STAMP_RED * int(self.mask[where].sum())

    def darkness_of(self, box: Box) -> float:
        """Return how dark the print in a box is, 1 being this page's text."""
        rows, columns = self.slices(box)
        inside = self.darkness[rows, columns]
        return float(np.percentile(inside, 99)) / 255 / self.text_darkness if inside.size else 0.0


def measure_text_height(lines: Sequence[Line], height_px: int) -> float:
    """Measure the height of ordinary text.

    Args:
        lines: Lines of the page.
        height_px: Height of the page, used if there is no line.

    Returns:
        Median box height in pixels of the longer lines that lie flat, at least 4.
    """
    flat = [line for line in lines if line.box.width >= line.box.height]
    plain = [line for line in flat if len(line.text) >= PLAIN_TEXT_CHARS] or flat or list(lines)
    if not plain:
        return max(4.0, height_px * FALLBACK_TEXT_SHARE)
    return max(4.0, float(np.median([line.box.height for line in plain])))


def read_ink(picture: NDArray[np.uint8], lines: Sequence[Line]) -> PageInk:
    """Separate ink from paper.

    Args:
        picture: Upright page, BGR, shape ``(height_px, width_px, 3)``, uint8.
        lines: Lines of text on it; they tell how high and how dark text is.

    Returns:
        Mask, connected parts and text measures. Faint print (watermarks) is not ink.
    """
    height, width = picture.shape[:2]
    text_height = measure_text_height(lines, height)
    shrink = max(1, round(text_height / WORK_TEXT_HEIGHT_PX))
    small = picture
    if shrink > 1:
        size = (-(-width // shrink), -(-height // shrink))
        small = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
    paper = _paper(np.asarray(grey, dtype=np.uint8), text_height / shrink)
    level = cv2.divide(grey, np.maximum(paper, 20), scale=255)
    darkness = np.asarray(255 - level, dtype=np.uint8)
    text_darkness = _text_darkness(darkness, lines, shrink)
    limit = 255 * max(LEAST_INK_DARKNESS, INK_SHARE_OF_TEXT * text_darkness)
    mask = (darkness >= limit).astype(np.uint8)
    count, numbers, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    parts = []
    least = SPECK_SIDE * text_height
    for number in range(1, count):
        x, y, w, h, area = (int(v) for v in stats[number])
        if max(w, h) * shrink < least:
            continue
        box = Box(left=x * shrink, top=y * shrink, right=(x + w) * shrink, bottom=(y + h) * shrink)
        parts.append(InkPart(number, box, area))
    parts.sort(key=lambda part: (part.box.top, part.box.left, part.number))
    red = _red(small) & mask
    return PageInk(
        red=red,
        stamps=_stamps(parts, np.asarray(numbers, np.int32), red, mask, text_height),
        mask=mask,
        numbers=np.asarray(numbers, np.int32),
        darkness=darkness,
        shrink=shrink,
        paper=paper,
        text_height=text_height,
        text_darkness=text_darkness,
        parts=tuple(parts),
        width_px=width,
        height_px=height,
    )


def gap_px(one: Box, other: Box) -> float:
    """Return the larger of the horizontal and vertical gaps between two boxes, 0 if they touch or overlap."""
    across = max(one.left, other.left) - min(one.right, other.right)
    down = max(one.top, other.top) - min(one.bottom, other.bottom)
    return float(max(0, across, down))


def is_frame(part: InkPart, ink: PageInk) -> bool:
    """Tell whether nearly all ink of a part lies on the rim of its box."""
    rows, columns = ink.slices(part.box)
    own = ink.numbers[rows, columns] == part.number
    rim = max(2, round(FRAME_RIM * ink.text_height / ink.shrink))
    if min(own.shape) <= 2 * rim:
        return False
    return int(own[rim:-rim, rim:-rim].sum()) < FRAME_INSIDE * part.ink_px


def _paper(grey: NDArray[np.uint8], text_height: float) -> NDArray[np.uint8]:
    """Return how bright the paper around each pixel is: the brightest within some text heights, smoothed."""
    scale = min(1.0, 5.0 / text_height)
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    paper = cv2.GaussianBlur(cv2.dilate(cv2.medianBlur(small, 3), np.ones((15, 15), np.uint8)), (0, 0), 5)
    paper = cv2.resize(paper, (grey.shape[1], grey.shape[0]), interpolation=cv2.INTER_LINEAR)
    return np.asarray(paper, dtype=np.uint8)


def _red(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    blue, green, red = cv2.split(picture)
    return np.asarray(cv2.subtract(red, cv2.max(blue, green)) > RED_EXCESS, dtype=np.uint8)


def _stamps(
    parts: list[InkPart],
    numbers: NDArray[np.int32],
    red: NDArray[np.uint8],
    mask: NDArray[np.uint8],
    text_height: float,
) -> tuple[Box, ...]:
    """Return the boxes of large, about round, red parts on a page that is not printed in red."""
    if 2 * int(red.sum()) > int(mask.sum()) or not red.any():
        return ()
    reds = np.bincount(numbers[red > 0], minlength=int(numbers.max()) + 1)
    least = STAMP_SIDE * text_height
    return tuple(
        part.box
        for part in parts
        if reds[part.number] > STAMP_RED * part.ink_px
        and min(part.box.width, part.box.height) >= least
        and part.box.width < 2 * part.box.height
        and part.box.height < 2 * part.box.width
    )


def _text_darkness(darkness: NDArray[np.uint8], lines: Sequence[Line], shrink: int) -> float:
    shares = []
    for line in lines:
        box = line.box
        inside = darkness[
            max(0, box.top // shrink) : box.bottom // shrink + 1, max(0, box.left // shrink) : box.right // shrink + 1
        ]
        if inside.size and len(line.text) >= PLAIN_TEXT_CHARS:
            shares.append(float(np.percentile(inside, 95)) / 255)
    return min(1.0, max(0.2, float(np.median(shares)))) if shares else 0.8
