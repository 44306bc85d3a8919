"""Cuts a formula that is too wide for the model at gaps between its signs."""

from __future__ import annotations

import cv2
import numpy as np

from physelite_build.engines.protocol import Picture

__all__ = ["cut"]

LEAST_GAP_EM = 0.12
"""Narrowest gap to cut at: the space around a relation is 0.28 em (TeX), letters stand closer."""
EARLIEST = 0.3
"""A piece is at least so full of what would fit, so that few pieces come out."""


def cut(grey: Picture, *, widest_px: float, em_px: float) -> list[Picture]:
    """Cut a formula into pieces from left to right, each at the widest gap in reach.

    A gap is a run of columns without ink, so nothing under a root or a fraction bar is cut.

    Args:
        grey: The formula without margin, shape ``(height_px, width_px)``, uint8, dark on light.
        widest_px: Widest piece wanted. A piece without a gap stays wider.
        em_px: Type size.

    Returns:
        The pieces, each without margin at its sides; the picture itself if it is narrow enough.
    """
    width = grey.shape[1]
    if width <= widest_px:
        return [grey]
    _, mask = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    inked = np.concatenate([[True], mask.any(axis=0), [True]])
    edges = np.flatnonzero(np.diff(inked.astype(np.int8)))
    gaps = [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a >= LEAST_GAP_EM * em_px]
    pieces, start = [], 0
    while width - start > widest_px:
        near = [gap for gap in gaps if start + EARLIEST * widest_px <= gap[0] <= start + widest_px]
        later = [gap for gap in gaps if gap[0] > start + widest_px]
        if not near and not later:
            break
        left, right = max(near, key=lambda gap: gap[1] - gap[0]) if near else later[0]
        pieces.append(grey[:, start:left])
        start = right
    return [*pieces, grey[:, start:]]
