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
from physelite_build.stages.layout.red_ink import find_red, large_strokes

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

DUST_SIDE, DUST_REACH = 0.32, 0.5
"""Largest speck of a poor copy, and how far from it there is no other ink; both in text heights."""
DUSTY = 20
"""So many lone specks make a page dusty; clean pages have 2 at most, where a lone point may be a charge or a mass."""

FRAME_RIM = 0.2
"""Width of the rim in which the ink of a frame lies, text heights; allows for a little tilt."""
FRAME_INSIDE = 0.05
"""Share of a frame's ink that may lie inside its rim."""

STAMP_RED = 0.5
"""Share of a seal's ink that is red; where it covers print the ink is mixed."""
STAMP_SIDE = 4.0
"""Smallest seal, text heights."""
STAMP_FILL = (0.68, 0.88)
"""Share of its box that a seal's outline fills: 0.79 for circles and ovals, 0.5 for triangles, 1 for frames."""


@dataclass(frozen=True, slots=True)
class InkPart:
    """One connected piece of ink, in upright pixels."""

    number: int
    """Its value in :attr:`PageInk.numbers`."""
    box: Box
    ink_px: int
    """Ink area in working pixels."""
    red: bool = False
    """Drawn in red ink on a page that is printed in black: a seal or a pen, unless a figure is coloured."""


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
    red = find_red(small, mask)
    parts, numbers = _parts(mask, large_strokes(small, red, mask, longest=text_height / shrink) & mask, shrink)
    parts = _without_dust(parts, numbers, lines, text_height)
    return PageInk(
        red=red,
        stamps=_stamps(parts, numbers, shrink, text_height),
        mask=mask,
        numbers=numbers,
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


def _parts(mask: NDArray[np.uint8], red: NDArray[np.uint8], shrink: int) -> tuple[list[InkPart], NDArray[np.int32]]:
    """Return the connected parts, black and red ones apart, and the number of the part at each pixel."""
    black_count, numbers, black, _ = cv2.connectedComponentsWithStats(mask & (1 - red), connectivity=8)
    parts = [_part(number, black[number], shrink, red=False) for number in range(1, black_count)]
    numbers = np.asarray(numbers, np.int32)
    if red.any():
        red_count, red_numbers, reds, _ = cv2.connectedComponentsWithStats(red, connectivity=8)
        numbers[red > 0] = red_numbers[red > 0] + (black_count - 1)
        parts += [_part(k + black_count - 1, reds[k], shrink, red=True) for k in range(1, red_count)]
    return parts, numbers


def _part(number: int, stats: NDArray[np.int32], shrink: int, *, red: bool) -> InkPart:
    x, y, w, h, area = (int(v) for v in stats)
    box = Box(left=x * shrink, top=y * shrink, right=(x + w) * shrink, bottom=(y + h) * shrink)
    return InkPart(number, box, area, red)


def _without_dust(
    parts: list[InkPart], numbers: NDArray[np.int32], lines: Sequence[Line], text_height: float
) -> list[InkPart]:
    """Drop what is too small for a stroke; on a dusty page also lone specks of the size of a full stop, away from text."""
    large = [part for part in parts if max(part.box.width, part.box.height) >= SPECK_SIDE * text_height]
    dust = _lone_specks(large, lines, text_height)
    if len(dust) >= DUSTY:
        large = [part for part in large if part.number not in dust]
    return sorted(large, key=lambda part: (part.box.top, part.box.left, part.number))


def _lone_specks(parts: Sequence[InkPart], lines: Sequence[Line], text_height: float) -> set[int]:
    """Return the numbers of specks that have no ink near them and stand in no line; dots of dotted lines have neighbours."""
    cell = max(1.0, DUST_REACH * text_height)
    specks = [p for p in parts if max(p.box.width, p.box.height) <= DUST_SIDE * text_height]
    if len(specks) < DUSTY:
        return set()
    boxes, dots, text = (_corners([item.box for item in items]) for items in (parts, specks, lines))
    lone = set()
    for speck in specks:
        near, alike, inner = (
            _meet(speck.box, some, reach) for some, reach in ((boxes, cell), (dots, cell), (text, 0.0))
        )
        if near == alike <= 2 and not inner:  # itself and at most one other speck
            lone.add(speck.number)
    return lone


def _corners(boxes: Sequence[Box]) -> NDArray[np.float64]:
    return np.array([[b.left, b.top, b.right, b.bottom] for b in boxes], dtype=np.float64).reshape(-1, 4)


def _meet(box: Box, others: NDArray[np.float64], reach: float) -> int:
    """Count the boxes within reach of one, itself included if it is among them."""
    across = (others[:, 0] < box.right + reach) & (others[:, 2] > box.left - reach)
    down = (others[:, 1] < box.bottom + reach) & (others[:, 3] > box.top - reach)
    return int((across & down).sum())


def _stamps(parts: Sequence[InkPart], numbers: NDArray[np.int32], shrink: int, text_height: float) -> tuple[Box, ...]:
    """Return the boxes of large round red parts."""
    least = STAMP_SIDE * text_height
    return tuple(
        part.box
        for part in parts
        if part.red
        and min(part.box.width, part.box.height) >= least
        and part.box.width < 2 * part.box.height
        and part.box.height < 2 * part.box.width
        and STAMP_FILL[0] < _hull_share(part, numbers, shrink) < STAMP_FILL[1]
    )


def _hull_share(part: InkPart, numbers: NDArray[np.int32], shrink: int) -> float:
    """Return the area of a part's convex hull over that of its box."""
    box = part.box
    own = numbers[box.top // shrink : box.bottom // shrink, box.left // shrink : box.right // shrink] == part.number
    hull = cv2.convexHull(np.argwhere(own).astype(np.int32))
    return float(cv2.contourArea(hull) / max(1, own.size))


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
