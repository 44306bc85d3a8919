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
from physelite_build.stages.straighten.find_paper import find_paper

__all__ = ["Picture", "measure_shading", "measure_skew_deg", "straighten"]

Picture = NDArray[np.uint8]

USUAL_SKEW_DEG, MAX_SKEW_DEG = 6.0, 20.0
"""Feeder and flat-bed skew stays below 3 degrees; beyond 6 a page was laid or held askew, and its rows must show it clearly."""
CLEAR_GAIN = {"usual": 1.05, "large": 1.5}
"""How much sharper rows must be than on the level page, or than at any usual skew: a figure page has a flat optimum."""
SURE_TURN_DEG = 3.0
"""Which way a page was turned is told again on the level picture if it was tilted by more: from 10 degrees on, one page in six is
taken for one that stands on its head."""
LEAST_SKEW_DEG = 0.15
"""Below this a resampled picture is worse than a tilted one: 0.15 degrees move a row by 3 px over an A4 page at 150 dpi."""
SHADING_LIMIT = 0.06
"""Pages whose paper varies by less (share of full white) are left as they are; clean scans measure below 0.02."""
DARK_PAPER = 0.6
"""Paper darker than this share of full white was photographed in poor light; grey recycling paper measures 0.8."""
_PROFILE_SIDE_PX = 900
_TURNS = {90: cv2.ROTATE_90_COUNTERCLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_CLOCKWISE}


@dataclass(frozen=True, slots=True)
class _Level:
    """A picture on its way to the upright one, and what was undone so far."""

    picture: Picture
    to_page: NDArray[np.float64]
    turned_deg: int = 0
    skew_deg: float = 0.0


def straighten(page: Picture, *, find_turn: Callable[[Picture], Literal[0, 90, 180, 270]], blobs: Blobs) -> Upright:
    """Make the upright picture of a page.

    Args:
        page: BGR picture as a viewer shows it, shape ``(h, w, 3)``, uint8.
        find_turn: Returns the clockwise turn of the content in degrees.
        blobs: Where the upright picture is stored.

    Returns:
        The upright picture's digest, size, what was undone and the way back.
    """
    turned = _undo_turn(_Level(page, np.eye(3)), find_turn(page))
    flat = _undo_perspective(turned)
    level = _undo_skew(flat)
    if flat is not turned or abs(level.skew_deg) > SURE_TURN_DEG:
        again = find_turn(level.picture)
        level = _undo_turn(level, again)
        level = _undo_skew(level) if again in (90, 270) else level
    picture = level.picture
    if measure_shading(picture) > SHADING_LIMIT or _paper_level(picture) < DARK_PAPER:
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
        turned_deg=cast("Literal[0, 90, 180, 270]", level.turned_deg),
        skew_deg=round(level.skew_deg, 2),
        to_page=Transform(matrix=matrix),
    )


def measure_skew_deg(picture: Picture) -> float:
    """Measure how far text rows are tilted.

    Args:
        picture: BGR picture, upright to within a quarter turn.

    Returns:
        Angle in degrees, positive if rows rise to the right, within ±20; 0.0 for a page without rows.

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

    def sharpest(start_deg: float, end_deg: float, step_deg: float) -> float:
        return float(max(np.arange(start_deg, end_deg + 0.01, step_deg), key=lambda angle: sharpness(float(angle))))

    coarse = sharpest(-USUAL_SKEW_DEG, USUAL_SKEW_DEG, 0.5)
    wide = max(
        sharpest(-MAX_SKEW_DEG, -USUAL_SKEW_DEG, 0.5), sharpest(USUAL_SKEW_DEG, MAX_SKEW_DEG, 0.5), key=sharpness
    )
    if sharpness(wide) > CLEAR_GAIN["large"] * sharpness(coarse):
        coarse = wide
    fine = sharpest(coarse - 0.5, coarse + 0.5, 0.1)
    return fine if sharpness(fine) > CLEAR_GAIN["usual"] * sharpness(0.0) else 0.0


def measure_shading(picture: Picture) -> float:
    """Measure how uneven the paper is: spread of its brightness over full white, in [0, 1]."""
    low, high = np.percentile(_paper_of(picture), (2, 98))
    return float(high - low) / 255.0


def _paper_level(picture: Picture) -> float:
    """Return the brightness of the paper over full white, in [0, 1]."""
    return float(np.median(_paper_of(picture))) / 255.0


def _paper_of(picture: Picture) -> NDArray[np.uint8]:
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, (64, 64), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.dilate(small, np.ones((5, 5), np.uint8))[4:-4, 4:-4], dtype=np.uint8)


def _undo_turn(level: _Level, turned: int) -> _Level:
    height, width = level.picture.shape[:2]
    if turned not in _TURNS:
        return level
    back = {
        90: [[0, -1, width], [1, 0, 0], [0, 0, 1]],
        180: [[-1, 0, width], [0, -1, height], [0, 0, 1]],
        270: [[0, 1, 0], [-1, 0, height], [0, 0, 1]],
    }[turned]
    picture = np.asarray(cv2.rotate(level.picture, _TURNS[turned]), dtype=np.uint8)
    to_page = level.to_page @ np.array(back, dtype=np.float64)
    return _Level(picture, to_page, (level.turned_deg + turned) % 360, level.skew_deg)


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
    to_page = level.to_page @ np.linalg.inv(to_flat)
    return _Level(np.asarray(picture, dtype=np.uint8), to_page, level.turned_deg, level.skew_deg)


def _undo_skew(level: _Level) -> _Level:
    """Rotate about the centre on a canvas that keeps every corner."""
    skew_deg = measure_skew_deg(level.picture)
    if abs(skew_deg) < LEAST_SKEW_DEG:
        return level
    height, width = level.picture.shape[:2]
    turn = np.vstack([cv2.getRotationMatrix2D((width / 2, height / 2), -skew_deg, 1.0), [0, 0, 1]])
    cos, sin = abs(turn[0, 0]), abs(turn[0, 1])
    new_width, new_height = int(width * cos + height * sin), int(height * cos + width * sin)
    turn[0, 2] += (new_width - width) / 2
    turn[1, 2] += (new_height - height) / 2
    paper = tuple(float(v) for v in np.percentile(level.picture[::8, ::8].reshape(-1, 3), 90, axis=0))
    picture = cv2.warpAffine(level.picture, turn[:2], (new_width, new_height), flags=cv2.INTER_CUBIC, borderValue=paper)
    to_page = level.to_page @ np.linalg.inv(turn)
    return _Level(np.asarray(picture, dtype=np.uint8), to_page, level.turned_deg, level.skew_deg + skew_deg)


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
