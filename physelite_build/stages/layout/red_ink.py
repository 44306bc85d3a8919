"""Which ink of a page is red: seals and the pen of whoever marked it, on a page that is printed in black.

Used by ``page_ink`` to keep seals and pen out of drawings, and by ``read`` to take the pen off the text below it.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["find_red", "large_strokes", "without_red_pen"]

RED_EXCESS = 40
"""Red ink is redder than green and blue by more than this, of 255; black print in JPEG colour noise stays below 25."""
RED_RIM = 12
"""The same for the pale rim of a red stroke."""
INK_STEP = 60
"""Ink is darker than the paper by more than this, of 255, in the channel in which it is darkest."""
PEN_LETTERS = 1.6
"""Strokes of a pen are longer than this many letters are high; red print is not."""
BRIDGE = 0.4
"""Widest black stroke under which a red one goes on, as share of a letter."""
SMALL_SHARE = 0.2
"""If less of the red ink than this is as small as letters, that belongs to the pen as well."""
_TALLEST_SHARE = 0.05
"""Higher parts of a page, as share of its height, are drawings and no letters."""
_FEWEST_LETTERS = 20


def find_red(picture: NDArray[np.uint8], mask: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Find red ink.

    Args:
        picture: BGR, shape ``(h, w, 3)``.
        mask: 1 where there is ink, shape ``(h, w)``.

    Returns:
        1 where ink is red; nothing if most of the page is printed in red.
    """
    red = np.asarray(_excess(picture) > RED_EXCESS, dtype=np.uint8) & mask
    return red if 2 * int(red.sum()) <= int(mask.sum()) else np.zeros_like(mask)


def large_strokes(
    picture: NDArray[np.uint8], red: NDArray[np.uint8], mask: NDArray[np.uint8], *, longest: float
) -> NDArray[np.uint8]:
    """Keep red strokes that are larger than letters, and add their pale rims.

    Args:
        picture: BGR, shape ``(h, w, 3)``.
        red: What :func:`find_red` found.
        mask: 1 where there is ink; black ink does not divide the stroke that it crosses.
        longest: Longest side of a letter, pixels.
    """
    if not red.any():
        return red
    reach = 1 + 2 * round(BRIDGE * longest / 2)
    bridges = cv2.morphologyEx(red, cv2.MORPH_CLOSE, np.ones((reach, reach), np.uint8)) & mask
    _, numbers, stats, _ = cv2.connectedComponentsWithStats(red | bridges, connectivity=8)
    large = stats[:, cv2.CC_STAT_WIDTH : cv2.CC_STAT_HEIGHT + 1].max(axis=1) > longest
    large[0] = False
    return _with_rims(picture, np.asarray(large[numbers], dtype=np.uint8) & red)


def _with_rims(picture: NDArray[np.uint8], red: NDArray[np.uint8]) -> NDArray[np.uint8]:
    around = cv2.dilate(red, np.ones((5, 5), np.uint8))
    return np.asarray((_excess(picture) > RED_RIM) & (around > 0), dtype=np.uint8)


def without_red_pen(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Take strokes of a red pen and seals off a page, for reading; print below them stays.

    Args:
        picture: Upright page with even paper, BGR, uint8.

    Returns:
        The same array if there are none; else a copy in which they have the colour of the paper. Red print stays.
    """
    paper = np.percentile(picture[::8, ::8].reshape(-1, 3), 90, axis=0)
    mask = np.asarray(picture.min(axis=2) < paper.min() - INK_STEP, dtype=np.uint8)
    red = find_red(picture, mask)
    if not red.any():
        return picture
    letter = _letter_height(mask & (1 - red))
    pen = np.zeros_like(mask) if letter is None else large_strokes(picture, red, mask, longest=PEN_LETTERS * letter)
    if not pen.any():
        return picture
    if int((red & (1 - pen)).sum()) < SMALL_SHARE * int(red.sum()):
        pen = _with_rims(picture, red)
    clean = picture.copy()
    clean[pen > 0] = paper.astype(np.uint8)
    return clean


def _letter_height(mask: NDArray[np.uint8]) -> float | None:
    """Return how high the higher letters of a page are, in pixels; None if there is no text to compare with."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    heights = stats[1:, cv2.CC_STAT_HEIGHT]
    heights = heights[(heights > 3) & (heights < _TALLEST_SHARE * mask.shape[0])]
    return float(np.percentile(heights, 90)) if heights.size >= _FEWEST_LETTERS else None


def _excess(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    blue, green, red = cv2.split(picture)
    return np.asarray(cv2.subtract(red, cv2.max(blue, green)), dtype=np.uint8)
