"""How do the rows of a photographed page bend, and what does a row look like when it is laid flat?

Subscripts and fraction bars are found by height; a slant of two degrees is enough to confuse them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from physelite_build.engines.protocol import Picture
from physelite_build.engines.structure.ink import Blob

__all__ = ["Bend", "flattened", "mean_bend", "row_bend"]

MIN_LETTERS = 8
"""Fewer letters say nothing about the slant of a row."""
MAX_SLOPE = 0.08
"""4.6 degrees; a page is deskewed before, more than this is a misfit."""
OUTLIER_EM = 0.2
"""Descenders, scripts and denominators are farther from the line than this."""
FLAT_EM = 0.06
"""Rows that rise or fall by less are left alone."""


@dataclass(frozen=True, slots=True)
class Bend:
    """Slope of a row at two places: ``slope(x) = start + change * x``, x in pixels of the page."""

    start: float
    change: float
    y: float
    """Height of the row on the page, in pixels."""


def row_bend(blobs: Sequence[Blob], em: float, *, left: int, top: int) -> Bend | None:
    """Fit a gentle curve through the feet of the letters of one row.

    Args:
        blobs: Ink of the row, in pixels of its crop.
        em: Type size in pixels.
        left: Place of the crop on the page.
        top: Place of the crop on the page.

    Returns:
        Its bend in page pixels; None if there are too few letters or they do not agree.
    """
    feet = [(b.x, b.bottom) for b in blobs if 0.4 * em < b.height < 1.2 * em and b.width < 1.4 * em]
    if len(feet) < MIN_LETTERS:
        return None
    x, y = (np.array(v, dtype=float) for v in zip(*feet, strict=True))
    if x.max() - x.min() < 6 * em:
        return None
    far = x.searchsorted(x.min() + 0.4 * (x.max() - x.min()))
    pairs = [(y[far:] - y[i]) / (x[far:] - x[i]) for i in range(0, far, max(1, far // 25))]
    slope = float(np.median(np.concatenate(pairs))) if pairs else 0.0
    curve = np.array([0.0, slope, float(np.median(y - slope * x))])
    for _ in range(4):
        near = np.abs(y - np.polyval(curve, x)) < OUTLIER_EM * em
        if near.sum() < max(MIN_LETTERS, 0.35 * len(x)):
            return None
        wide = x[near].max() - x[near].min() > 15 * em
        fitted = np.polyfit(x[near], y[near], 2 if wide else 1)
        curve = fitted if wide else np.array([0.0, *fitted])
    bend = Bend(float(curve[1] - 2 * curve[0] * left), float(2 * curve[0]), top + float(np.median(y)))
    ends = [bend.start + bend.change * (left + v) for v in (x.min(), x.max())]
    return bend if max(map(abs, ends)) < MAX_SLOPE else None


def mean_bend(bends: Sequence[Bend], y: float) -> Bend | None:
    """Estimate the bend at a height of the page from the rows around it.

    Args:
        bends: Of rows of the page.
        y: Height in pixels.

    Returns:
        Median of the five nearest rows; None without rows.
    """
    near = sorted(bends, key=lambda b: abs(b.y - y))[:5]
    if not near:
        return None
    return Bend(float(np.median([b.start for b in near])), float(np.median([b.change for b in near])), y)


def flattened(crop: Picture, bend: Bend | None, em: float, *, left: int) -> Picture:
    """Shift the columns of a crop so that its row lies flat.

    Args:
        crop: BGR uint8 picture.
        bend: Of its row; None leaves it as it is.
        em: Type size in pixels.
        left: Place of the crop on the page.

    Returns:
        A picture of the same shape; the same object if the row is flat enough.
    """
    height, width = crop.shape[:2]
    if bend is None or width < 2:
        return crop
    columns: NDArray[np.float64] = np.arange(width, dtype=float)
    rise = (bend.start + bend.change * left) * columns + bend.change * columns**2 / 2
    rise -= np.median(rise)
    if float(rise.max() - rise.min()) < FLAT_EM * em:
        return crop
    map_x = np.repeat(columns[None, :], height, axis=0).astype(np.float32)
    map_y = (np.arange(height, dtype=float)[:, None] + rise[None, :]).astype(np.float32)
    moved = cv2.remap(crop, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(moved, dtype=np.uint8)
