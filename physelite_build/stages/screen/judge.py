"""Is there anything to read on this page?

After ``ingest.py``, before ``straighten.py``. A page is put aside only for a stated reason; in doubt it is kept. Pages that
stand twice in a document are found by ``repeat.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from physelite_build.records import ScreenVerdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SHORTEST_SIDE_PX", "screen"]

SHORTEST_SIDE_PX = 300
"""Below it a page has at most 36 DPI as A4."""
_STRIP_SIDE_PX, _STRIP_HEIGHT_PX = 600, 60
"""A picture this long may be a strip cut out of a page, a problem of two rows; it may be as low as that."""
_POOR_DPI, _POOR_LONG_SIDE_PX = 60.0, 700
"""An A4 page at 60 DPI is 702 px long. Smaller pictures may be cut-out problems, so their letters are measured too."""
_LOWEST_LETTER_PX, _DOT_PX = 6.0, 3
"""Median height of letters below which nobody can read them (10 points at 50 DPI: 5 px), and size of blobs that are dots rather than letters."""

_WORK_SIDE_PX = 1200
"""Long side of the picture that is looked at: A4 at about 100 DPI. All sizes below are pixels of it."""
_DARK, _FAINT = 0.25, 0.05
"""Darkness relative to the paper. Letters on the full shared pages reach 0.44 to 0.97 (99.5th percentile), paper grain 0.05."""
_PRINT_DARK, _PRINT_SHARP = 0.18, 0.40
"""Pale strokes at least this dark and sharp are weak printing, not the other side of the sheet: paper blurs what shines
through. Sharpness is the steepest step over the darkness; mirrored pages blurred by 2 px or more stay below 0.39."""
_SHINING_LETTERS, _PALE_LETTERS = 20, 10
"""So many faint letters are the other side of the sheet, or a row of weak print."""
_DARK_PAGE, _GROUND_PX = 80, 31
"""Median brightness of a negative or a dark photo, and side of the square whose median is the ground behind print."""
_SPECK_PX, _SPECK_AREA_PX = 5, 6
"""A blob is a speck if it is smaller in both directions or in area; the x-height of 8-point text is 5 px."""
_DRAWING_PX = 40
"""A blob this long in some direction is part of a drawing."""
_HOLE_PX = (16, 44)
"""Punch holes: 4 to 11 mm."""
_HOLE_MARGIN = 0.12
_EDGE_PX = 6
"""Blobs that reach this close to the edge of the page belong to the scanner's lid or to the next page."""
_STREAK_SHARE = 0.6
"""A thin line over this share of a side is dirt on the glass or a fold."""
_MOST_BLOBS = 4000
"""More than on the densest page (shared scans: 1421). Not worth the time to look at one by one."""
_RUN_LETTERS = 3
"""Letters in a row that make text: ``3 m``."""

_COVER_LINES, _COVER_LETTERS = 10, 160
_COVER_LETTER_SHARE = 0.016
"""Median letter height over page height on a title page: 4.7 mm on A4, 18-point capitals."""
_COVER_CENTRED = 0.04
"""How far the middle of a line may be from that of the page, as share of its width."""


@dataclass(frozen=True, slots=True)
class _Blobs:
    """Connected pieces of ink, column vectors of equal length, in pixels of the work picture."""

    left: NDArray[np.int64]
    top: NDArray[np.int64]
    width: NDArray[np.int64]
    height: NDArray[np.int64]
    area: NDArray[np.int64]

    def only(self, wanted: NDArray[np.bool_]) -> _Blobs:
        return _Blobs(self.left[wanted], self.top[wanted], self.width[wanted], self.height[wanted], self.area[wanted])

    @property
    def size(self) -> NDArray[np.int64]:
        return np.maximum(self.width, self.height)


@dataclass(frozen=True, slots=True)
class _Pale:
    """Darkness and sharpness of the strongest faint strokes, both in [0, 1]."""

    dark: float
    sharp: float
    letters: int
    """Strokes that stand in rows of at least three."""

    @property
    def is_print(self) -> bool:
        return self.dark >= _PRINT_DARK and self.sharp >= _PRINT_SHARP


def screen(image: NDArray[np.uint8], *, dpi: float | None = None) -> ScreenVerdict:
    """Decide whether a page is worth reading.

    Scanner borders, punch holes, streaks, specks, grey or uneven paper and JPEG noise do not count as ink. A page with one row
    of three letters, or with a drawing, is kept.

    Args:
        image: Page image, shape ``(h, w)`` or ``(h, w, 3)`` BGR, uint8.
        dpi: Resolution if known.

    Returns:
        Verdict; ``code`` is one of ``page.too_small``, ``page.blank``, ``page.show_through`` (only the other side shines
        through), ``page.cover`` (a few centred lines of large letters), or None if the page is kept. ``ink`` is the share
        of pixels that are at least a quarter darker than the paper.

    Raises:
        ValueError: If the image has no pixels.
    """
    if image.size == 0:
        raise ValueError("the page image has no pixels")
    height_px, width_px = image.shape[:2]
    if min(height_px, width_px) < (SHORTEST_SIDE_PX if max(height_px, width_px) < _STRIP_SIDE_PX else _STRIP_HEIGHT_PX):
        return _aside(
            "page.too_small", f"the page has only {width_px} x {height_px} pixels; scan it at 200 DPI or more", 0.0
        )
    darkness = _darkness(image)
    dark = np.asarray(darkness >= _DARK, dtype=np.uint8)
    ink = round(float(dark.mean()), 6)
    every = _blobs(dark)
    if max(height_px, width_px) <= _POOR_LONG_SIDE_PX and _is_unreadable(every, dpi):
        return _aside(
            "page.too_small", f"letters cannot be read at {width_px} x {height_px} pixels; scan it at 200 DPI", ink
        )
    blobs = _worth_reading(every, *darkness.shape)
    if not _has_content(blobs):
        pale = _pale_strokes(darkness)
        if pale is None or (pale.letters < _SHINING_LETTERS and not pale.is_print):
            return _aside("page.blank", "there is no ink but specks, holes or borders", ink)
        if not pale.is_print:
            return _aside("page.show_through", "only the other side of the sheet shines through", ink)
    if _is_cover(blobs, *darkness.shape):
        return _aside("page.cover", "a few centred lines of large letters and nothing else", ink)
    return ScreenVerdict(keep=True, ink=ink)


def _aside(code: str, message: str, ink: float) -> ScreenVerdict:
    return ScreenVerdict(keep=False, code=code, message=message, ink=ink)


def _darkness(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return darkness relative to the paper around, in [0, 1], on the work picture."""
    grey: NDArray[Any] = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    scale = min(1.0, _WORK_SIDE_PX / max(grey.shape))
    if scale < 1:
        size = (max(1, round(grey.shape[1] * scale)), max(1, round(grey.shape[0] * scale)))
        grey = cv2.resize(grey, size, interpolation=cv2.INTER_AREA)
    if np.median(grey) < _DARK_PAGE and _is_negative(grey):
        grey = 255 - grey
    # The paper is the brightest tone within 12 mm, smoothed; taken at a quarter of the size, the kernel counts fourfold.
    small = cv2.resize(grey, (max(1, grey.shape[1] // 4), max(1, grey.shape[0] // 4)), interpolation=cv2.INTER_AREA)
    small = cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((13, 13), np.uint8))
    paper = cv2.resize(cv2.blur(small, (13, 13)), (grey.shape[1], grey.shape[0]), interpolation=cv2.INTER_LINEAR)
    paper = np.maximum(paper.astype(np.float32), 1)
    return np.asarray(np.clip(1 - grey.astype(np.float32) / paper, 0, 1), dtype=np.float32)


def _is_negative(grey: NDArray[Any]) -> bool:
    """Tell a page with white letters, or the open lid, from a dark photo: most pixels near print are ground, and few are print."""
    ground = cv2.medianBlur(np.asarray(grey, dtype=np.uint8), _GROUND_PX)
    step = grey.astype(np.float64) - ground
    return float((step**3).sum()) >= 0.0


def _blobs(mask: NDArray[np.uint8]) -> _Blobs:
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    rows = np.asarray(stats[1:], dtype=np.int64)
    return _Blobs(
        rows[:, cv2.CC_STAT_LEFT],
        rows[:, cv2.CC_STAT_TOP],
        rows[:, cv2.CC_STAT_WIDTH],
        rows[:, cv2.CC_STAT_HEIGHT],
        rows[:, cv2.CC_STAT_AREA],
    )


def _worth_reading(blobs: _Blobs, height: int, width: int) -> _Blobs:
    """Drop specks, holes, streaks and whatever reaches the edge."""
    speck = (blobs.size < _SPECK_PX) | (blobs.area < _SPECK_AREA_PX)
    right, bottom = blobs.left + blobs.width, blobs.top + blobs.height
    edge = (np.minimum(blobs.left, blobs.top) < _EDGE_PX) | (right > width - _EDGE_PX) | (bottom > height - _EDGE_PX)
    near_side = (right < width * _HOLE_MARGIN) | (blobs.left > width * (1 - _HOLE_MARGIN))
    near_side |= (bottom < height * _HOLE_MARGIN) | (blobs.top > height * (1 - _HOLE_MARGIN))
    as_hole = (blobs.size >= _HOLE_PX[0]) & (blobs.size <= _HOLE_PX[1])
    as_hole &= (blobs.size < 1.3 * np.minimum(blobs.width, blobs.height)) & (
        blobs.area > 0.68 * blobs.width * blobs.height
    )
    streak = (blobs.width <= 4) & (blobs.height > _STREAK_SHARE * height)
    streak |= (blobs.height <= 4) & (blobs.width > _STREAK_SHARE * width)
    return blobs.only(~(speck | edge | (near_side & as_hole) | streak))


def _has_content(blobs: _Blobs) -> bool:
    if blobs.left.size > _MOST_BLOBS or (blobs.size >= _DRAWING_PX).any():
        return True
    return max(map(len, _rows(blobs)), default=0) >= _RUN_LETTERS


def _rows(blobs: _Blobs) -> list[list[int]]:
    """Chain blobs into rows: each follows another to the right within three heights, at a similar height."""
    order = np.argsort(blobs.left, kind="stable")
    rows: list[list[int]] = []
    open_rows: list[list[int]] = []
    for index in order.tolist():
        left, top = int(blobs.left[index]), int(blobs.top[index])
        tall = int(blobs.height[index])
        best: list[int] | None = None
        still_open = []
        for row in open_rows:
            last = row[-1]
            gap = left - int(blobs.left[last] + blobs.width[last])
            reach = 3 * max(int(blobs.height[last]), 8)
            if gap > reach:
                continue
            still_open.append(row)
            overlap = min(top + tall, int(blobs.top[last] + blobs.height[last])) - max(top, int(blobs.top[last]))
            if overlap >= 0.3 * min(tall, int(blobs.height[last])) and tall <= 4 * int(blobs.height[last]) + 4:
                best = row
        open_rows = still_open
        if best is None:
            best = []
            rows.append(best)
            open_rows.append(best)
        best.append(index)
    return rows


def _is_unreadable(blobs: _Blobs, dpi: float | None) -> bool:
    """Tell whether the letters of a small picture, which is looked at in its own size, are too low."""
    if dpi is not None and dpi < _POOR_DPI:
        return True
    letters = blobs.only((blobs.size < _DRAWING_PX) & (blobs.size >= _DOT_PX))
    return letters.height.size >= 20 and float(np.median(letters.height)) < _LOWEST_LETTER_PX


def _pale_strokes(darkness: NDArray[np.float32]) -> _Pale | None:
    """Measure faint strokes that stand in rows like text; None if there are not enough."""
    soft = cv2.GaussianBlur(darkness, (0, 0), 1.2)
    mask = np.asarray(soft - np.median(soft) >= _FAINT, dtype=np.uint8)  # grain lets all paper seem a little dark
    blobs = _worth_reading(_blobs(mask), *darkness.shape)
    if blobs.left.size > _MOST_BLOBS:  # grain or raster, not strokes
        return None
    rows = _rows(blobs)
    letters = sum(len(row) for row in rows if len(row) >= _RUN_LETTERS)
    if letters < _PALE_LETTERS:
        return None
    across, down = (cv2.Sobel(darkness, cv2.CV_32F, dx, 1 - dx) for dx in (1, 0))
    dark = float(np.quantile(darkness[mask > 0], 0.95))
    step = float(np.quantile(np.hypot(across, down)[mask > 0], 0.95)) / 8  # the Sobel kernel weighs a step by 8
    return _Pale(dark, step / dark, letters)


def _is_cover(blobs: _Blobs, height: int, width: int) -> bool:
    """Tell whether there are only a few centred lines of large letters on a whole page."""
    if blobs.height.size > _COVER_LETTERS or not 1.2 <= height / width <= 1.6:
        return False
    if (blobs.size >= 4 * _DRAWING_PX).any():
        return False
    letters = blobs.only(blobs.height >= 2 * _SPECK_PX)
    if letters.height.size < 4 or np.median(letters.height) < _COVER_LETTER_SHARE * height:
        return False
    lines = _lines(blobs)
    middles = np.array([(left + right) / 2 for left, right in lines]) / width
    lefts = np.array([left for left, _ in lines]) / width
    centred = bool((np.abs(middles - 0.5) <= _COVER_CENTRED).all())
    return 2 <= len(lines) <= _COVER_LINES and centred and float(np.ptp(lefts)) > _COVER_CENTRED


def _lines(blobs: _Blobs) -> list[tuple[int, int]]:
    """Return left and right end of each line: blobs whose heights overlap on the page."""
    lines: list[tuple[int, int]] = []
    bottom = -1
    for index in np.argsort(blobs.top, kind="stable").tolist():
        left, right = int(blobs.left[index]), int(blobs.left[index] + blobs.width[index])
        if blobs.top[index] >= bottom:
            lines.append((left, right))
            bottom = -1
        else:
            lines[-1] = (min(left, lines[-1][0]), max(right, lines[-1][1]))
        bottom = max(bottom, int(blobs.top[index] + blobs.height[index]))
    return lines
