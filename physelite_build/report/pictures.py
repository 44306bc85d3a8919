"""Small copies of scans for a web page, either inside the page or beside it."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from physelite_build.blobs import sha256_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PictureShelf", "shrink"]

JPEG_QUALITIES = (72, 55, 40)
"""Tried in turn until a picture fits; print stays readable down to the last."""
LARGE_BYTES = 260_000
"""Above this size a picture is tried again at lower quality; twenty such pages stay below 10 MB as text."""
SMALL_PIXELS = 400_000
"""Above this area PNG is not tried: half a second for a scanned page, and JPEG is smaller anyway."""
_OURS = re.compile(r"[0-9a-f]{16}\.(jpg|png)")


def shrink(image: NDArray[np.uint8], *, max_width_px: int) -> NDArray[np.uint8]:
    """Return the picture, shape ``(h, w, 3)`` or ``(h, w)``, uint8, no wider than ``max_width_px``."""
    height, width = image.shape[:2]
    if width <= max_width_px:
        return image
    size = (max_width_px, max(1, round(height * max_width_px / width)))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


class PictureShelf:
    """Turns pictures into ``src`` values. With a folder they become files in it, without one data URIs."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._names: set[str] = set()

    def src(self, image: NDArray[np.uint8], *, max_width_px: int) -> str:
        """Encode a picture (BGR or grey, uint8) at no more than the given width and return its ``src``."""
        data, suffix = _encode(shrink(image, max_width_px=max_width_px))
        if self.folder is None:
            media = "jpeg" if suffix == "jpg" else suffix
            return f"data:image/{media};base64,{base64.b64encode(data).decode()}"
        name = f"{sha256_of(data)[:16]}.{suffix}"
        if name not in self._names:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(data)
            self._names.add(name)
        return f"{self.folder.name}/{name}"

    def tidy(self, folder: Path) -> None:
        """Remove pictures of earlier reports from a folder; files that we did not name stay."""
        if not folder.is_dir():
            return
        for path in folder.iterdir():
            if _OURS.fullmatch(path.name) and path.name not in self._names:
                path.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()


def _encode(image: NDArray[np.uint8]) -> tuple[bytes, str]:
    """Encode as JPEG, or as PNG where that is smaller and quick: figures and single lines."""
    if (
        image.ndim == 3
        and np.array_equal(image[..., 0], image[..., 1])
        and np.array_equal(image[..., 1], image[..., 2])
    ):
        image = np.ascontiguousarray(image[..., 0])
    for quality in JPEG_QUALITIES:
        jpeg = _bytes(image, ".jpg", [cv2.IMWRITE_JPEG_QUALITY, quality])
        if len(jpeg) <= LARGE_BYTES:
            break
    if image.shape[0] * image.shape[1] <= SMALL_PIXELS:
        png = _bytes(image, ".png", [cv2.IMWRITE_PNG_COMPRESSION, 9])
        if len(png) <= len(jpeg):
            return png, "png"
    return jpeg, "jpg"


def _bytes(image: NDArray[np.uint8], suffix: str, options: list[int]) -> bytes:
    ok, data = cv2.imencode(suffix, image, options)
    if not ok:
        raise ValueError(f"cannot encode a picture of shape {image.shape} as {suffix}")
    return bytes(data)
