"""What did the machine see on this page? The upright page with its regions drawn, as a PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from physelite_build.blobs import encode_png
from physelite_build.errors import ItemError, shorten
from physelite_build.geometry import Box
from physelite_build.records import Page, PageLayout, Region, RegionKind, Upright

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from physelite_build.store import Store

__all__ = ["KIND_COLOURS", "draw_page"]

KIND_COLOURS: dict[RegionKind, str] = {
    RegionKind.TEXT: "#1f6feb",
    RegionKind.FORMULA: "#8250df",
    RegionKind.FIGURE: "#1a7f37",
    RegionKind.CAPTION: "#bf6a02",
    RegionKind.TABLE: "#0e7c86",
    RegionKind.FURNITURE: "#7d8590",
}
"""Colour of each kind of region, ``#rrggbb``; shared by this picture and the report."""

_TINT = 0.12
"""Share of the colour mixed into a region; the print below stays readable."""


def draw_page(store: Store, page_id: str) -> bytes:
    """Draw the regions of one page with their kinds and reading order.

    Args:
        store: Work folder of a build.
        page_id: For example ``own-pair-zh/p2``.

    Returns:
        PNG of the upright page with its regions and a legend; the bare upright page if it has no layout, the page as
        ingested if it was never straightened.

    Raises:
        ItemError: ``page.unknown`` if the build has no such page.
    """
    page = store.get("page", page_id, Page)
    if page is None:
        raise ItemError(
            "page.unknown", f"there is no page {shorten(page_id)}; physelite explain WORK DOCUMENT lists its pages"
        )
    upright = store.load("straighten", page_id, Upright)
    if upright is None:
        return store.blobs.get(page.image_sha256)
    layout = store.load("transcribe", page_id, PageLayout) or store.load("layout", page_id, PageLayout)
    image = store.blobs.get_image(upright.image_sha256)
    return encode_png(image if layout is None else _drawn(image, layout.regions))


def _drawn(image: NDArray[np.uint8], regions: tuple[Region, ...]) -> NDArray[np.uint8]:
    canvas = image.copy()
    stroke = max(1, image.shape[1] // 700)
    whole = Box(left=0, top=0, right=image.shape[1], bottom=image.shape[0])
    for region in regions:
        box = region.box.intersection(whole)
        part = canvas[box.top : box.bottom, box.left : box.right]
        if part.size:
            tint = np.full_like(part, _bgr(region.kind))
            part[:] = cv2.addWeighted(part, 1 - _TINT, tint, _TINT, 0)
        cv2.rectangle(
            canvas, (region.box.left, region.box.top), (region.box.right, region.box.bottom), _bgr(region.kind), stroke
        )
    for region in regions:
        number = str(region.order + 1)
        _label(canvas, number, (region.box.left - _label_width(canvas, number), region.box.top), region.kind)
    return _with_legend(canvas, regions)


def _bgr(kind: RegionKind) -> tuple[int, int, int]:
    colour = KIND_COLOURS[kind]
    return int(colour[5:7], 16), int(colour[3:5], 16), int(colour[1:3], 16)


def _scale(canvas: NDArray[np.uint8]) -> float:
    return max(0.35, canvas.shape[1] / 2200)


def _label_width(canvas: NDArray[np.uint8], text: str) -> int:
    scale = _scale(canvas)
    (width, _), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, max(1, round(2 * scale)))
    return int(width) + 2 * max(2, round(6 * scale))


def _label(canvas: NDArray[np.uint8], text: str, corner: tuple[int, int], kind: RegionKind) -> int:
    """Write white text on the colour of the kind, with its top left near ``corner``; return the width in pixels."""
    scale = _scale(canvas)
    thickness = max(1, round(2 * scale))
    (width, height), base = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, thickness)
    pad = max(2, round(6 * scale))
    left = max(0, min(corner[0], canvas.shape[1] - width - 2 * pad))
    top = max(0, min(corner[1], canvas.shape[0] - height - base - 2 * pad))
    right, bottom = left + width + 2 * pad, top + height + base + pad
    cv2.rectangle(canvas, (left, top), (right, bottom), _bgr(kind), cv2.FILLED)
    origin = (left + pad, top + pad + height)
    cv2.putText(canvas, text, origin, cv2.FONT_HERSHEY_SIMPLEX, scale, (255, 255, 255), thickness, cv2.LINE_AA)
    return int(right - left)


def _with_legend(canvas: NDArray[np.uint8], regions: tuple[Region, ...]) -> NDArray[np.uint8]:
    """Add a strip below the page that names the colours in use."""
    strip_height = round(70 * _scale(canvas))
    strip = np.full((strip_height, canvas.shape[1], 3), 255, dtype=np.uint8)
    left = strip_height // 4
    for kind in RegionKind:
        count = sum(region.kind is kind for region in regions)
        if count:
            left += _label(strip, f"{count} {kind}", (left, strip_height // 5), kind) + strip_height // 4
    return np.vstack([canvas, strip])
