"""Turns a page upright, takes out its skew and evens its shading, so that later stages see level rows on white paper.

Runs after ``screen`` and before ``read``. Everything that follows works in the picture made here; ``Upright.to_page`` leads
back to the page as a viewer shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from physelite_build.blobs import Blobs
from physelite_build.geometry import Transform
from physelite_build.records import Upright

__all__ = ["Picture", "find_paper", "measure_shading", "measure_skew_deg", "straighten"]

Picture = NDArray[np.uint8]

MAX_SKEW_DEG = 6.0
"""Feeder and flat-bed skew stays below 3 degrees; beyond 6 a page was turned by hand."""
LEAST_SKEW_DEG = 0.15
"""Below this a resampled picture is worse than a tilted one: 0.15 degrees move a row by 3 px over an A4 page at 150 dpi."""
SHADING_LIMIT = 0.06
"""Pages whose paper varies by less (share of full white) are left as they are; clean scans measure below 0.02."""
_PROFILE_SIDE_PX = 900
_PAPER_SHARE = (0.3, 0.96)
"""Share of a photo that the sheet covers; above it the picture is all paper."""
_PAPER_STEP = 30.0
"""Least step of brightness from the sheet to what it lies on, of 255; shadows on paper are softer."""
_LEVELS = (1.0, 0.85, 0.7, 0.55)
"""Shares of Otsu's threshold that are tried: a shadow on the sheet is darker than its middle, but brighter than the desk."""
_FULL = 0.97
"""Share of the corners' area that the outline must fill: a torn or folded sheet is left as it is."""
_TURNS = {90: cv2.ROTATE_90_COUNTERCLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_CLOCKWISE}


@dataclass(frozen=True, slots=True)
class _Level:
    picture: Picture
    to_page: NDArray[np.float64]


def straighten(page: Picture, *, find_turn: Callable[[Picture], Literal[0, 90, 180, 270]], blobs: Blobs) -> Upright:
    """Make the upright picture of a page.

    Args:
        page: BGR picture as a viewer shows it, shape ``(h, w, 3)``, uint8.
        find_turn: Returns the clockwise turn of the content in degrees.
        blobs: Where the upright picture is stored.

    Returns:
        The upright picture's digest, size, what was undone and the way back.
    """
    turned = find_turn(page)
    level = _undo_perspective(_undo_turn(page, turned))
    skew = measure_skew_deg(level.picture)
    if abs(skew) >= LEAST_SKEW_DEG:
        level = _undo_skew(level, skew)
    else:
        skew = 0.0
    picture = level.picture
    if measure_shading(picture) > SHADING_LIMIT:
        picture = _even_paper(picture)
    height, width = picture.shape[:2]
    matrix = cast(
        "tuple[float, float, float, float, float, float, float, float, float]",
        tuple(round(float(v), 9) for v in level.to_page.ravel()),
    )
    return Upright(
        image_sha256=blobs.put_image(picture),
        width_px=width,
        height_px=height,
        turned_deg=turned,
        skew_deg=round(skew, 2),
        to_page=Transform(matrix=matrix),
    )


def measure_skew_deg(picture: Picture) -> float:
    """Measure how far text rows are tilted.

    Args:
        picture: BGR picture, upright to within a quarter turn.

    Returns:
        Angle in degrees, positive if rows rise to the right, within ±6; 0.0 for a page without rows.

    Source:
        Postl's projection profile: rows are level where the squared jumps between neighbouring row sums are largest.
    """
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    scale = _PROFILE_SIDE_PX / max(grey.shape)
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else grey
    paper = cv2.medianBlur(cv2.dilate(small, np.ones((7, 7), np.uint8)), 21)
    ink = np.clip(paper.astype(np.int16) - small - 25, 0, None).astype(np.float32)
    if ink.sum() < 255 * 50:
        return 0.0
    margin = max(4, int(0.03 * min(ink.shape)))
    ink = ink[margin:-margin, margin:-margin]

    def sharpness(angle_deg: float) -> float:
        height, width = ink.shape
        turn = cv2.getRotationMatrix2D((width / 2, height / 2), -angle_deg, 1.0)
        rows = cv2.warpAffine(ink, turn, (width, height), flags=cv2.INTER_LINEAR).sum(axis=1)
        return float(np.square(np.diff(rows)).sum())

    coarse = max(np.arange(-MAX_SKEW_DEG, MAX_SKEW_DEG + 0.01, 0.5), key=lambda a: sharpness(float(a)))
    fine = max(np.arange(coarse - 0.5, coarse + 0.51, 0.1), key=lambda a: sharpness(float(a)))
    # A flat optimum (a figure page) must not be turned: demand a clear gain over the level page.
    return float(fine) if sharpness(float(fine)) > 1.05 * sharpness(0.0) else 0.0


def measure_shading(picture: Picture) -> float:
    """Measure how uneven the paper is: spread of its brightness over full white, in [0, 1]."""
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, (64, 64), interpolation=cv2.INTER_AREA)
    paper = cv2.dilate(small, np.ones((5, 5), np.uint8))[4:-4, 4:-4]
    low, high = np.percentile(paper, (2, 98))
    return float(high - low) / 255.0


def _undo_turn(page: Picture, turned: int) -> _Level:
    height, width = page.shape[:2]
    if turned not in _TURNS:
        return _Level(page, np.eye(3))
    back = {
        90: [[0, -1, width], [1, 0, 0], [0, 0, 1]],
        180: [[-1, 0, width], [0, -1, height], [0, 0, 1]],
        270: [[0, 1, 0], [-1, 0, height], [0, 0, 1]],
    }[turned]
    picture = np.asarray(cv2.rotate(page, _TURNS[turned]), dtype=np.uint8)
    return _Level(picture, np.array(back, dtype=np.float64))


def find_paper(picture: Picture) -> NDArray[np.float32] | None:
    """Find the sheet in a photo that also shows what it lies on.

    Args:
        picture: BGR picture.

    Returns:
        Corners from the top left clockwise, shape ``(4, 2)``, float32, pixels; None if the picture is all paper, or if no
        sheet with four clear edges stands out.
    """
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    scale = _PROFILE_SIDE_PX / max(grey.shape)
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else grey
    scale = min(scale, 1.0)
    small = cv2.GaussianBlur(cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((15, 15), np.uint8)), (0, 0), 2)
    middle, _ = cv2.threshold(small, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    for share in _LEVELS:
        corners = _sheet_above(small, middle * share)
        if corners is not None:
            found: NDArray[np.float32] = _clockwise(corners) / np.float32(scale)
            return found
    return None


def _sheet_above(grey: NDArray[np.uint8], level: float) -> NDArray[np.int32] | None:
    """Return the four corners of the bright area above a level if it looks like a sheet."""
    bright = cv2.threshold(grey, level, 255, cv2.THRESH_BINARY)[1]
    outlines, _ = cv2.findContours(bright, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = max(outlines, key=cv2.contourArea, default=None)
    if outline is None or not _PAPER_SHARE[0] < cv2.contourArea(outline) / grey.size < _PAPER_SHARE[1]:
        return None
    hull = cv2.convexHull(outline)
    corners = cv2.approxPolyDP(hull, 0.02 * cv2.arcLength(hull, closed=True), closed=True).reshape(-1, 2)
    if len(corners) != 4 or cv2.contourArea(outline) < _FULL * cv2.contourArea(corners):
        return None
    inside = cv2.fillConvexPoly(np.zeros_like(grey), corners.astype(np.int32), 255)
    ring = cv2.dilate(inside, np.ones((25, 25), np.uint8)) - inside
    if cv2.mean(grey, inside)[0] - cv2.mean(grey, ring)[0] < _PAPER_STEP:
        return None
    return np.asarray(corners, dtype=np.int32)


def _clockwise(corners: NDArray[np.int32]) -> NDArray[np.float32]:
    """Order four corners from the top left clockwise."""
    order = np.argsort(corners.sum(axis=1))
    right, left = sorted((corners[order[1]], corners[order[2]]), key=lambda corner: float(corner[1] - corner[0]))
    return np.array([corners[order[0]], right, corners[order[3]], left], dtype=np.float32)


def _undo_perspective(level: _Level) -> _Level:
    """Map a sheet that was photographed at an angle to a rectangle of its mean side lengths."""
    corners = find_paper(level.picture)
    if corners is None:
        return level
    top, right, bottom, left = (float(np.linalg.norm(corners[i] - corners[(i + 1) % 4])) for i in range(4))
    width, height = round((top + bottom) / 2), round((left + right) / 2)
    flat = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    to_flat = cv2.getPerspectiveTransform(corners, flat)
    picture = cv2.warpPerspective(level.picture, to_flat, (width, height), flags=cv2.INTER_CUBIC)
    return _Level(np.asarray(picture, dtype=np.uint8), level.to_page @ np.linalg.inv(to_flat))


def _undo_skew(level: _Level, skew_deg: float) -> _Level:
    """Rotate about the centre on a canvas that keeps every corner."""
    height, width = level.picture.shape[:2]
    turn = np.vstack([cv2.getRotationMatrix2D((width / 2, height / 2), -skew_deg, 1.0), [0, 0, 1]])
    cos, sin = abs(turn[0, 0]), abs(turn[0, 1])
    new_width, new_height = int(width * cos + height * sin), int(height * cos + width * sin)
    turn[0, 2] += (new_width - width) / 2
    turn[1, 2] += (new_height - height) / 2
    paper = tuple(float(v) for v in np.percentile(level.picture[::8, ::8].reshape(-1, 3), 90, axis=0))
    picture = cv2.warpAffine(level.picture, turn[:2], (new_width, new_height), flags=cv2.INTER_CUBIC, borderValue=paper)
    return _Level(np.asarray(picture, dtype=np.uint8), level.to_page @ np.linalg.inv(turn))


def _even_paper(picture: Picture) -> Picture:
    """Divide by the paper's brightness, channel by channel, so that paper becomes white."""
    height, width = picture.shape[:2]
    scale = 400 / max(height, width)
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    paper = cv2.dilate(small, np.ones((9, 9), np.uint8))
    paper = cv2.GaussianBlur(cv2.medianBlur(paper, 31), (0, 0), 7)
    paper = cv2.resize(paper, (width, height), interpolation=cv2.INTER_LINEAR)
    level = picture.astype(np.float32) / np.maximum(paper.astype(np.float32), 20.0) * 255.0
    return np.asarray(np.clip(level, 0, 255), dtype=np.uint8)
