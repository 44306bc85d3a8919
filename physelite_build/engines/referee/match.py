"""Does the ink of a crop stand where the symbols of a typeset formula would, and does each piece look like its symbol?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from physelite_build.engines.protocol import Picture
from physelite_build.engines.referee.typeset import Symbol

__all__ = ["Match", "match"]

SPECK_SHARE = 0.002
"""Components with fewer pixels than this share of the squared height of the crop are dust."""
LEAST_PIXELS = 3
"""Smaller components are dust at every resolution."""
ROUNDS = 3
"""Fonts differ in their widths; so often the places of the symbols are fitted to the ink again."""
NEIGHBOURS = 5
"""So many symbols of a row, the nearest ones, say by how much it is shifted there."""
CENTRE_PRICE, SIZE_PRICE_EM = 0.35, 0.08
"""What a pixel between the centres, and a factor e between the heights, cost beside a pixel outside the box."""


@dataclass(frozen=True, slots=True)
class Match:
    """One symbol beside the ink that was given to it."""

    symbol: Symbol
    picture: NDArray[np.uint8] | None
    """Grey, cropped to the ink; None if no ink is left for it."""
    rise_em: float = 0.0
    """By how much the ink stands higher than it should."""
    stretch: float = 0.0
    """Logarithm of its height by the height it should have; for a bar, of its width."""
    shift_em: float = 0.0
    """By how much it stands to the right of where its neighbours would have it."""


def _ink_of(crop: Picture) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32]]:
    """Find the connected ink of a crop.

    Returns:
        The grey crop, labels of the pixels, and per component ``left, top, right, bottom, pixels`` (row 0 is paper).
    """
    grey = cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY)
    _, mask = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY_INV + cv2.THRESH_OTSU)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    boxes = stats.copy()
    boxes[:, 2] += boxes[:, 0]
    boxes[:, 3] += boxes[:, 1]
    return np.asarray(grey, np.uint8), labels, boxes


def match(crop: Picture, symbols: Sequence[Symbol]) -> list[Match] | None:
    """Give every component of a crop to the nearest symbol.

    Args:
        crop: BGR, uint8: the formula and nothing else.
        symbols: Where they would stand.

    Returns:
        One match per symbol; None if the crop is blank.
    """
    grey, labels, boxes = _ink_of(crop)
    least = max(LEAST_PIXELS, SPECK_SHARE * crop.shape[0] ** 2)
    kept = [i for i in range(1, len(boxes)) if boxes[i, 4] >= least]
    if not kept:
        return None
    ink = boxes[kept].astype(float)
    places = np.array([(s.left, -s.top, s.right, -s.bottom) for s in symbols])
    low, high = places[:, :2].min(0), places[:, 2:].max(0)
    start, end = ink[:, :2].min(0), ink[:, 2:4].max(0)
    em = (end[1] - start[1]) / max(high[1] - low[1], 1e-6)
    wide = (end[0] - start[0]) / max(high[0] - low[0], 1e-6)
    if len(symbols) == 1 and symbols[0].is_bar:
        em = wide
    places = places * np.array([wide, em, wide, em]) + np.tile(start - low * np.array([wide, em]), 2)
    given = _assign(ink, places, em)
    for _ in range(ROUNDS - 1):
        shifts = _shifts(ink, places, given)
        places[:, [0, 2]] += shifts[:, None]
        given = _assign(ink, places, em)
    shifts = _residuals(ink, places, given)
    out = []
    for index, symbol in enumerate(symbols):
        own = [kept[k] for k, owner in enumerate(given) if owner == index]
        if not own:
            out.append(Match(symbol, None))
            continue
        left, top = boxes[own, :2].min(0)
        right, bottom = boxes[own, 2:4].max(0)
        picture = grey[top:bottom, left:right].copy()
        picture[~np.isin(labels[top:bottom, left:right], own)] = 255
        x0, y0, x1, y1 = places[index]
        size = (right - left) / max(x1 - x0, 1) if symbol.is_bar else (bottom - top) / max(y1 - y0, 1)
        rise = ((y0 + y1) - (top + bottom)) / 2 / em
        out.append(Match(symbol, picture, float(rise), float(np.log(max(size, 1e-3))), float(shifts[index] / em)))
    return out


def _assign(ink: NDArray[np.float64], places: NDArray[np.float64], em: float) -> NDArray[np.int64]:
    """Give each component to the symbol whose box it leaves the least, its centre being nearest where several hold it."""
    middle = (ink[:, None, :2] + ink[:, None, 2:4]) / 2
    centre = (places[None, :, :2] + places[None, :, 2:]) / 2
    outside = np.maximum(places[None, :, :2] - ink[:, None, :2], 0) + np.maximum(
        ink[:, None, 2:4] - places[None, :, 2:], 0
    )
    size = np.abs(np.log((ink[:, None, 3] - ink[:, None, 1] + 1) / (places[None, :, 3] - places[None, :, 1] + 1)))
    cost = outside.sum(2) + CENTRE_PRICE * np.abs(middle - centre).sum(2) + SIZE_PRICE_EM * em * size
    return np.asarray(cost.argmin(1), np.int64)


def _residuals(ink: NDArray[np.float64], places: NDArray[np.float64], given: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return by how much the ink of each symbol stands to the right of its place; 0 without ink."""
    out = np.zeros(len(places))
    for index in range(len(places)):
        own = ink[given == index]
        if len(own):
            out[index] = (own[:, 0].min() + own[:, 2].max()) / 2 - (places[index, 0] + places[index, 2]) / 2
    return out


def _shifts(ink: NDArray[np.float64], places: NDArray[np.float64], given: NDArray[np.int64]) -> NDArray[np.float64]:
    """Smooth the residuals over the neighbours in a row: fonts stretch and squeeze, they do not jump."""
    raw = _residuals(ink, places, given)
    filled = np.isin(np.arange(len(places)), given)
    x = (places[:, 0] + places[:, 2]) / 2
    out = np.zeros(len(places))
    for index in range(len(places)):
        near = np.argsort(np.abs(x - x[index]))[:NEIGHBOURS]
        near = near[filled[near]]
        out[index] = float(np.median(raw[near])) if len(near) else 0.0
    return out
