"""Does a page stand twice in a document?

Neighbour of ``screen.py``: the second copy is put aside as ``page.repeated``. Short fingerprints find pages that may be the
same; these are laid over each other and compared letter by letter, because two pages of one exam look alike from afar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PageHash", "page_hash", "repeated", "same_page"]

_GRID = 32
"""Cells on each side of the fingerprint."""
_CANDIDATE_SHARE = 0.32
"""Largest share of differing bits of pages that are compared closely; unrelated pages differ in about 0.4 (measured)."""

_OVERLAY_SIDE_PX, _FINE_SIDE_PX = 1000, 1600
"""Long sides of the pictures that are laid over each other and compared: A4 at 85 and 137 DPI."""
_TILE_PX, _REACH_PX = 32, 5
"""Side of a compared tile, 6 mm or two to three letters, and how far it may lie from where it should be: paper stretches."""
_TILE_CONTRAST = 0.08
"""Standard deviation of darkness in a tile worth comparing; a comma has 0.1, the edge of a shadow less."""
_FEWEST_TILES = 8
"""With less ink a page is nearly blank, and nearly blank pages are not the same page."""
_STROKE_PX = 5
"""Differences are averaged over this square: part of one stroke of one digit."""
_HARMLESS, _OUTLIER = 0.10, 1.75
"""A tile may differ by 0.10, or by 1.75 times what 98 percent of the tiles stay below. Measured on turned, shifted, blurred
and noisy copies of the shared pages: at most 1.57 times. One changed digit of 11 points: 0.22 and more, 2.2 times."""
_TOO_DIFFERENT = 0.35
_ALIKE = 0.6
"""Correlation of the overlaid pages, below which a close look is not worth its time."""
_FEWEST_MATCHES = 25
_LARGEST_TURN_DEG, _LARGEST_SCALE = 8.0, 1.25


@dataclass(frozen=True, slots=True)
class PageHash:
    """A page and its fingerprint."""

    page_id: str
    fingerprint: str


def page_hash(image: NDArray[np.uint8]) -> str:
    """Return a short fingerprint that survives another scan of the same page.

    Args:
        image: Page image, shape ``(h, w)`` or ``(h, w, 3)`` BGR, uint8.

    Returns:
        256 hex digits, 1024 bits: whether ink grows denser from cell to cell, over the part of the page that has ink.

    Source:
        Difference hash (N. Krawetz, "Kind of Like That", 2013) on 32 x 32 cells.
    """
    dark = _ink(image, side_px=_OVERLAY_SIDE_PX)
    rows, columns = (np.flatnonzero(_trimmed(dark.sum(axis=axis))) for axis in (1, 0))
    if rows.size and columns.size:
        dark = dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    cells = cv2.resize(cv2.GaussianBlur(dark, (0, 0), 6), (_GRID + 1, _GRID), interpolation=cv2.INTER_AREA)
    return np.packbits(cells[:, 1:] > cells[:, :-1]).tobytes().hex()


def repeated(pages: Sequence[PageHash], load: Callable[[str], NDArray[np.uint8]]) -> dict[str, str]:
    """Find pages that show the same sheet as an earlier page.

    Args:
        pages: Pages of one document in order.
        load: Returns the image of a page by its id; called only for pages that may be the same.

    Returns:
        Id of the earlier page by id of the later one.
    """
    found: dict[str, str] = {}
    bits = [np.frombuffer(bytes.fromhex(page.fingerprint), dtype=np.uint8) for page in pages]
    for later in range(1, len(pages)):
        for earlier in range(later):
            if pages[earlier].page_id in found:
                continue
            differing = int(np.bitwise_count(bits[later] ^ bits[earlier]).sum())
            if differing > _CANDIDATE_SHARE * _GRID * _GRID:
                continue
            if same_page(load(pages[earlier].page_id), load(pages[later].page_id)):
                found[pages[later].page_id] = pages[earlier].page_id
                break
    return found


def same_page(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> bool:
    """Tell whether two images show the same sheet, scanned or photographed twice.

    The images are laid over each other by turning, shifting and scaling. Then the tiles with ink on either side are
    compared; one that differs far more than the others is a changed number, and makes two pages. In doubt the answer is no.

    Args:
        first: Page image, shape ``(h, w)`` or ``(h, w, 3)`` BGR, uint8.
        second: The other.

    Returns:
        True if every inked tile agrees.

    Source:
        ORB features (Rublee et al., 2011) with RANSAC; thresholds are our own measurements.
    """
    a, b = (_ink(image, side_px=_OVERLAY_SIDE_PX) for image in (first, second))
    if not 0.6 < float(a.sum()) / max(float(b.sum()), 1e-6) < 1.67:
        return False
    onto = _overlay(a, b)
    if onto is None or _correlation(a, _moved(b, onto, a)) < _ALIKE:
        return False
    onto[:, 2] *= _FINE_SIDE_PX / _OVERLAY_SIDE_PX
    a, b = (_ink(image, side_px=_FINE_SIDE_PX) for image in (first, second))
    differences = _tile_differences(a, _moved(b, onto, a))
    if differences.size < _FEWEST_TILES:
        return False
    worst, usual = float(differences.max()), float(np.quantile(differences, 0.98))
    return worst <= min(_TOO_DIFFERENT, max(_HARMLESS, _OUTLIER * usual))


def _ink(image: NDArray[np.uint8], *, side_px: int) -> NDArray[np.float32]:
    """Return darkness relative to the paper, in [0, 1], without what lies around the sheet."""
    grey: NDArray[Any] = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    scale = side_px / max(grey.shape)
    size = (max(1, round(grey.shape[1] * scale)), max(1, round(grey.shape[0] * scale)))
    grey = cv2.resize(grey, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    small = cv2.resize(grey, (max(1, size[0] // 4), max(1, size[1] // 4)), interpolation=cv2.INTER_AREA)
    paper = cv2.blur(cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((11, 11), np.uint8)), (11, 11))
    paper = np.maximum(cv2.resize(paper, size, interpolation=cv2.INTER_LINEAR).astype(np.float32), 1)
    dark = np.clip((1 - grey.astype(np.float32) / paper - 0.1) / 0.5, 0, 1)
    dark[paper < 0.5 * np.median(paper)] = 0  # the table under a photographed sheet
    margin = max(1, side_px // 100)
    dark[:margin] = dark[-margin:] = 0
    dark[:, :margin] = dark[:, -margin:] = 0
    return np.asarray(dark, dtype=np.float32)


def _trimmed(profile: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark where the ink lies, without the outermost half percent of it: specks must not move the frame."""
    total = np.cumsum(profile) / max(float(profile.sum()), 1e-6)
    return np.asarray((total > 0.005) & (total < 0.995))


def _overlay(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[Any] | None:
    """Return the map (2, 3) that lays ``b`` over ``a``, None if there is no plausible one."""
    orb = cv2.ORB.create(nfeatures=1500, nlevels=4, edgeThreshold=15)
    keys_a, marks_a = orb.detectAndCompute(np.asarray(a * 255, dtype=np.uint8), None)
    keys_b, marks_b = orb.detectAndCompute(np.asarray(b * 255, dtype=np.uint8), None)
    if marks_a is None or marks_b is None:
        return None
    matches = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(marks_b, marks_a)
    if len(matches) < _FEWEST_MATCHES:
        return None
    source = np.array([keys_b[match.queryIdx].pt for match in matches], dtype=np.float32)
    target = np.array([keys_a[match.trainIdx].pt for match in matches], dtype=np.float32)
    onto, inliers = cv2.estimateAffine2D(source, target, method=cv2.RANSAC, ransacReprojThreshold=4.0)
    if onto is None or int(inliers.sum()) < _FEWEST_MATCHES:
        return None
    scale = float(np.sqrt(abs(np.linalg.det(onto[:, :2]))))
    turn_deg = float(np.degrees(np.arctan2(onto[1, 0], onto[0, 0])))
    plausible = 1 / _LARGEST_SCALE < scale < _LARGEST_SCALE and abs(turn_deg) < _LARGEST_TURN_DEG
    return np.asarray(onto) if plausible else None


def _moved(picture: NDArray[np.float32], onto: NDArray[Any], frame: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(cv2.warpAffine(picture, onto, (frame.shape[1], frame.shape[0])), dtype=np.float32)


def _correlation(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    a, b = (cv2.GaussianBlur(picture, (0, 0), 2.0) for picture in (a, b))
    return float(cv2.matchTemplate(a, b, cv2.TM_CCOEFF_NORMED)[0, 0])


def _tile_differences(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the largest difference over a stroke, in [0, 1], for each tile with ink, after the best small shift."""
    a, b = (cv2.GaussianBlur(picture, (0, 0), 1.0) for picture in (a, b))
    worst: list[float] = []
    height, width = a.shape
    for top in range(_REACH_PX, height - _TILE_PX - _REACH_PX, _TILE_PX):
        for left in range(_REACH_PX, width - _TILE_PX - _REACH_PX, _TILE_PX):
            tile = a[top : top + _TILE_PX, left : left + _TILE_PX]
            other = b[top : top + _TILE_PX, left : left + _TILE_PX]
            if max(float(tile.std()), float(other.std())) < _TILE_CONTRAST:
                continue
            field = b[top - _REACH_PX : top + _TILE_PX + _REACH_PX, left - _REACH_PX : left + _TILE_PX + _REACH_PX]
            _, _, (x, y), _ = cv2.minMaxLoc(cv2.matchTemplate(field, tile, cv2.TM_SQDIFF))
            difference = tile - field[y : y + _TILE_PX, x : x + _TILE_PX]
            worst.append(float(np.abs(cv2.blur(difference, (_STROKE_PX, _STROKE_PX))).max()))
    return np.array(worst, dtype=np.float32)
