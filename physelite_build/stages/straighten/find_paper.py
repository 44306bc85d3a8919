"""Where does the sheet lie in a photo that also shows what it lies on? Part of ``straighten``.

The sheet is looked for as a bright area and, since shadows fall on sheets, as a colourless one. A shadow with a straight edge makes
a part of the sheet look like a whole one; it is told by the print that its border cuts.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["find_paper"]

_SIDE_PX = 900
"""Long side of the picture that is looked at: A4 at 75 DPI."""
_PAPER_SHARE = (0.3, 0.96)
"""Share of a photo that the sheet covers; above it the picture is all paper."""
_PAPER_STEP = 30.0
"""Least step of brightness, or of colour, from the sheet to what it lies on, of 255; shadows on paper are softer."""
_LEVELS = (1.0, 0.85, 0.7, 0.55)
"""Shares of Otsu's threshold that are tried: a shadow on the sheet is darker than its middle, but brighter than the desk."""
_FULL = 0.97
"""Share of the corners' area that the outline must fill: a torn or folded sheet is left as it is."""
_NEAR, _FAR = 0.006, 0.06
"""Print is looked for from here to there on both sides of a border, as shares of the sheet's mean side: 1.5 to 15 mm on A4."""
_CUT_PRINT = 0.04
"""Share of a border along which print stands on both sides of it: 0.07 and more where a shadow ends, below 0.02 where a sheet does."""
_STROKE_STEP = 0.3
"""Print is darker than the ground around it by this share; the grain of a desk stays below 0.25."""


def find_paper(picture: NDArray[np.uint8]) -> NDArray[np.float32] | None:
    """Find the sheet in a photo that also shows what it lies on.

    Args:
        picture: BGR picture.

    Returns:
        Corners from the top left clockwise, shape ``(4, 2)``, float32, pixels; None if the picture is all paper, or if no
        sheet with four clear edges stands out.
    """
    scale = min(1.0, _SIDE_PX / max(picture.shape))
    small = picture
    if scale < 1:
        small = np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    strokes = _strokes(np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), dtype=np.uint8))
    for tone in _tones(small):
        for corners in _sheets(tone):
            if not _cuts_print(corners, strokes):
                found: NDArray[np.float32] = _clockwise(corners) / np.float32(scale)
                return found
    return None


def _tones(picture: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    """Yield pictures in which sheets are bright: the grey one, and one of how little colour there is in the light."""
    for tone in (cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), _colourless(picture)):
        closed = cv2.morphologyEx(tone, cv2.MORPH_CLOSE, np.ones((15, 15), np.uint8))
        yield np.asarray(cv2.GaussianBlur(closed, (0, 0), 2), dtype=np.uint8)


def _colourless(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return 255 where a pixel is grey, less where it is coloured; brightness, and with it any shadow, falls out."""
    soft = cv2.GaussianBlur(picture, (0, 0), 2).astype(np.float32)
    least, most = soft.min(axis=2), soft.max(axis=2)
    return np.asarray(255.0 * least / np.maximum(most, 1.0), dtype=np.uint8)


def _sheets(tone: NDArray[np.uint8]) -> Iterator[NDArray[np.int32]]:
    middle, _ = cv2.threshold(tone, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    for share in _LEVELS:
        corners = _sheet_above(tone, middle * share)
        if corners is not None:
            yield corners


def _sheet_above(tone: NDArray[np.uint8], level: float) -> NDArray[np.int32] | None:
    """Return the four corners of the bright area above a level if it looks like a sheet."""
    bright = cv2.threshold(tone, level, 255, cv2.THRESH_BINARY)[1]
    outlines, _ = cv2.findContours(bright, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = max(outlines, key=cv2.contourArea, default=None)
    if outline is None or not _PAPER_SHARE[0] < cv2.contourArea(outline) / tone.size < _PAPER_SHARE[1]:
        return None
    hull = cv2.convexHull(outline)
    corners = cv2.approxPolyDP(hull, 0.02 * cv2.arcLength(hull, closed=True), closed=True).reshape(-1, 2)
    if len(corners) != 4 or cv2.contourArea(outline) < _FULL * cv2.contourArea(corners):
        return None
    inside = cv2.fillConvexPoly(np.zeros_like(tone), corners.astype(np.int32), 255)
    ring = cv2.dilate(inside, np.ones((25, 25), np.uint8)) - inside
    if cv2.mean(tone, inside)[0] - cv2.mean(tone, ring)[0] < _PAPER_STEP:
        return None
    return np.asarray(corners, dtype=np.int32)


def _strokes(grey: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return 1 where thin dark strokes are; the borders of shadows and sheets are broad and so none."""
    paper = cv2.morphologyEx(grey, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
    return np.asarray(cv2.subtract(paper, grey) > _STROKE_STEP * paper.astype(np.float32), dtype=np.uint8)


def _cuts_print(corners: NDArray[np.int32], strokes: NDArray[np.uint8]) -> bool:
    """Tell whether print goes on beyond a border: the page ends later than this."""
    frame = _clockwise(corners)
    side = round((sum(float(np.linalg.norm(frame[i] - frame[(i + 1) % 4])) for i in range(4))) / 4)
    near, far = round(_NEAR * side), round(_FAR * side)
    flat = np.array([[0, 0], [side, 0], [side, side], [0, side]], dtype=np.float32) + far
    to_flat, size = cv2.getPerspectiveTransform(frame, flat), (side + 2 * far, side + 2 * far)
    level = np.asarray(cv2.warpPerspective(strokes, to_flat, size, flags=cv2.INTER_NEAREST), dtype=np.uint8)
    for turn in range(4):
        above = np.rot90(level, turn)[: 2 * far, far:-far]
        outside, inside = (float(strip.any(axis=0).mean()) for strip in (above[: far - near], above[far + near :]))
        if min(outside, inside) > _CUT_PRINT:
            return True
    return False


def _clockwise(corners: NDArray[np.int32]) -> NDArray[np.float32]:
    """Order four corners from the top left clockwise."""
    order = np.argsort(corners.sum(axis=1))
    right, left = sorted((corners[order[1]], corners[order[2]]), key=lambda corner: float(corner[1] - corner[0]))
    return np.array([corners[order[0]], right, corners[order[3]], left], dtype=np.float32)
