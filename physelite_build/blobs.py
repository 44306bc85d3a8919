"""Files named by the SHA-256 of their bytes. Neighbour of ``store.py``, which remembers what each of them is."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from physelite_build.errors import FatalError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Blobs", "decode_png", "encode_png", "sha256_of"]


def sha256_of(data: bytes) -> str:
    """Return the hex SHA-256 of bytes, 64 characters."""
    return hashlib.sha256(data).hexdigest()


def encode_png(image: NDArray[np.uint8]) -> bytes:
    """Encode a grey ``(h, w)`` or BGR ``(h, w, 3)`` uint8 picture as PNG; the same pixels give the same bytes.

    Raises:
        ValueError: If OpenCV cannot encode it (wrong shape or dtype).
    """
    ok, data = cv2.imencode(".png", image, [cv2.IMWRITE_PNG_COMPRESSION, 6])
    if not ok:
        raise ValueError(f"cannot encode a picture of shape {image.shape} and type {image.dtype} as PNG")
    return bytes(data)


def decode_png(data: bytes) -> NDArray[np.uint8]:
    """Decode a PNG made by :func:`encode_png` into BGR, shape ``(h, w, 3)``, uint8.

    Raises:
        ValueError: If the bytes are no picture.
    """
    image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise ValueError("not a picture")
    return np.asarray(image, dtype=np.uint8)


class Blobs:
    """A folder ``<root>/ab/<sha256>``. A file that is there is whole: it is written elsewhere and renamed."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str) -> Path:
        """Return where the blob of that digest lies, whether or not it exists."""
        return self.root / sha256[:2] / sha256

    def put(self, data: bytes) -> str:
        """Store bytes and return their digest; storing them again changes nothing."""
        digest = sha256_of(data)
        target = self.path(digest)
        if target.exists():
            return digest
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".tmp-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return digest

    def get(self, sha256: str) -> bytes:
        """Return the bytes of a digest.

        Raises:
            FatalError: ``store.blob_missing`` if the file is gone.
        """
        try:
            return self.path(sha256).read_bytes()
        except FileNotFoundError as error:
            raise FatalError(
                "store.blob_missing",
                f"the store has lost the file {sha256[:12]}…; build again, it will be made anew",
            ) from error

    def put_image(self, image: NDArray[np.uint8]) -> str:
        """Store a picture (uint8, grey or BGR) as PNG and return its digest."""
        return self.put(encode_png(image))

    def get_image(self, sha256: str) -> NDArray[np.uint8]:
        """Return a stored picture as BGR, shape ``(h, w, 3)``, uint8."""
        return decode_png(self.get(sha256))
