"""What is in this file, and how do its pictures look to a viewer?

Helper of ``ingest.py``: options, content types and the raster formats. PDF is in ``decode_pdf.py``, zip in ``archive.py``.
"""

from __future__ import annotations

import io
import json
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from PIL import (
    BmpImagePlugin,
    Image,
    ImageFile,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from physelite_build.errors import ItemError, shorten
from physelite_build.records import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Frame",
    "IngestOptions",
    "MediaType",
    "PageFailure",
    "believable_dpi",
    "grey_if_colourless",
    "has_several_pages",
    "media_type_of",
    "picture_pages",
]

HEAD_BYTES = 1024
"""Bytes at the start of a file that decide its type; PDF readers accept the signature anywhere in them."""

_LOWEST_DPI, _HIGHEST_DPI = 50.0, 2400.0
_SHORTEST_SHEET_IN, _LONGEST_SHEET_IN = 2.0, 17.5
"""Inches of the long side: a cut-out problem, and A3 or ledger paper. Software writes 72 or 96 DPI into large photos."""

_SQUARE = 1.2
"""Ratio of horizontal to vertical DPI above which pixels are stretched to squares (fax: 204 x 98 or 204 x 196)."""

_ORIENTATION_TAG, _PHOTOMETRIC_TAG, _SUBFILE_TAG = 0x0112, 262, 254
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What undoes each EXIF orientation (EXIF 2.32, tag 274)."""

_BROKEN = (
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    ZeroDivisionError,
    struct.error,
    zlib.error,
)
"""What Pillow raises on bytes that are not what their header says."""


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """Settings of ingest. Each of them can change the result, so all of them belong to the key of stored work."""

    pdf_dpi: int = 200
    """Resolution at which PDF pages are drawn."""
    max_pixels: int = 80_000_000
    """Largest page; A2 at 300 DPI has 35 million."""
    max_pages: int = 2000
    """Most pages in one file."""
    max_file_bytes: int = 500_000_000
    """Largest file or zip member."""
    max_zip_members: int = 5000
    """Most members of one zip."""
    max_zip_bytes: int = 2_000_000_000
    """Largest sum of unpacked members of one zip."""
    max_zip_ratio: int = 250
    """Most unpacked bytes for each packed byte in members above 50 MB; text pages as BMP reach about 50."""

    @property
    def key(self) -> str:
        """One stable line for the key of stored work."""
        return json.dumps(asdict(self), sort_keys=True)


class MediaType(StrEnum):
    """The file types that are read, by content."""

    PDF = "application/pdf"
    TIFF = "image/tiff"
    PNG = "image/png"
    JPEG = "image/jpeg"
    WEBP = "image/webp"
    BMP = "image/bmp"
    ZIP = "application/zip"


@dataclass(frozen=True, slots=True)
class Frame:
    """One decoded page: grey ``(h, w)`` or BGR ``(h, w, 3)``, uint8."""

    number: int
    """Page or frame inside the file, from 1."""
    image: NDArray[np.uint8]
    dpi: float | None


class PageFailure(Record):
    """A page that could not be decoded while others of its file could."""

    frame: int
    """Page or frame inside the file, from 1."""
    code: str
    message: str


_OPENERS: dict[MediaType, type[ImageFile.ImageFile]] = {
    MediaType.TIFF: TiffImagePlugin.TiffImageFile,
    MediaType.PNG: PngImagePlugin.PngImageFile,
    MediaType.JPEG: JpegImagePlugin.JpegImageFile,
    MediaType.WEBP: WebPImagePlugin.WebPImageFile,
    MediaType.BMP: BmpImagePlugin.BmpImageFile,
}
# Image.open would refuse or warn by a global pixel limit; ours is an option, checked before anything is decoded.

_warnings_lock = threading.Lock()


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Silence Pillow's remarks on odd metadata. The filters are process-wide, hence the lock."""
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def media_type_of(head: bytes) -> MediaType | None:
    """Tell a file's type by its first bytes, whatever its name says.

    Args:
        head: The first ``HEAD_BYTES`` bytes, or all of a shorter file.

    Returns:
        The type, None if it is none of those that are read.
    """
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return MediaType.PNG
    if head.startswith(b"\xff\xd8\xff"):
        return MediaType.JPEG
    if head[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return MediaType.TIFF
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return MediaType.WEBP
    if head[:2] == b"BM" and head[14:18] in [struct.pack("<I", n) for n in (12, 40, 52, 56, 64, 108, 124)]:
        return MediaType.BMP
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return MediaType.ZIP
    if b"%PDF-" in head[:HEAD_BYTES]:
        return MediaType.PDF
    return None


def has_several_pages(data: bytes) -> bool:
    """Tell whether a TIFF holds more than one page; a damaged one counts as a single page."""
    with _without_warnings():
        try:
            picture = TiffImagePlugin.TiffImageFile(io.BytesIO(data))
            frames, _ = _page_frames(picture, name="", limit=8)
        except _BROKEN:
            return False
    return len(frames) > 1


def picture_pages(
    data: bytes, media_type: MediaType, *, name: str, options: IngestOptions
) -> Iterator[Frame | PageFailure]:
    """Decode a raster file page by page, as a viewer shows it.

    EXIF orientation is applied, transparency lies on white, 16-bit values are scaled by their bit depth, and pixels that are
    not square (fax) are stretched. Animations count as their first picture.

    Args:
        data: The file.
        media_type: Its type by content, one of the raster types.
        name: Name for messages.
        options: Limits.

    Yields:
        Pages in file order; a page that fails is a :class:`PageFailure`.

    Raises:
        ItemError: ``source.damaged`` if the header cannot be read, ``source.too_many_pages``, ``page.too_large``.
    """
    with _without_warnings():
        try:
            picture = _OPENERS[media_type](io.BytesIO(data))
            frames, broken = _page_frames(picture, name=name, limit=options.max_pages + 1)
        except Image.DecompressionBombError as error:
            raise ItemError("page.too_large", _too_large(name, "more pixels than any scan", options)) from error
        except _BROKEN as error:
            raise ItemError("source.damaged", _damaged(name, error)) from error
    if len(frames) > options.max_pages:
        raise ItemError(
            "source.too_many_pages",
            f"{shorten(name)} has more than {options.max_pages} pages; split it or raise max_pages",
        )
    for index in frames:
        with _without_warnings():
            page = _picture_page(picture, index, name=name, options=options)
        yield page
    if broken is not None:
        yield broken


def _page_frames(picture: ImageFile.ImageFile, *, name: str, limit: int) -> tuple[list[int], PageFailure | None]:
    """List frame indices that are pages, not thumbnails, and the failure at which a damaged chain breaks off."""
    if not isinstance(picture, TiffImagePlugin.TiffImageFile):
        return [0], None
    pages: list[int] = []
    index = 0
    while len(pages) < limit:
        try:
            picture.seek(index)
        except EOFError:
            break
        except _BROKEN as error:
            message = _damaged(f"page {index + 1} of {name}", error)
            return pages, PageFailure(frame=index + 1, code="page.damaged", message=message)
        kind = picture.tag_v2.get(_SUBFILE_TAG, 0)
        if not (isinstance(kind, int) and kind & 1):
            pages.append(index)
        index += 1
    return pages or [0], None


def _picture_page(
    picture: ImageFile.ImageFile, index: int, *, name: str, options: IngestOptions
) -> Frame | PageFailure:
    number = index + 1
    try:
        if isinstance(picture, TiffImagePlugin.TiffImageFile):
            picture.seek(index)
        width, height = picture.size
        if width * height > options.max_pixels:
            message = _too_large(f"page {number} of {name}", f"{width} x {height} pixels", options)
            return PageFailure(frame=number, code="page.too_large", message=message)
        dpi = _written_dpi(picture)
        photometric = _tiff_tag(picture, _PHOTOMETRIC_TAG)
        picture.load()
        turn = _orientation(picture)
        swaps = picture.size != (width, height) or turn in (5, 6, 7, 8)  # Pillow turns TIFF pages by itself
        image = _pixels(picture, white_is_zero=photometric == 0)
    except Image.DecompressionBombError:
        message = _too_large(f"page {number} of {name}", "more pixels than any scan", options)
        return PageFailure(frame=number, code="page.too_large", message=message)
    except _BROKEN as error:
        message = _damaged(f"page {number} of {name}", error)
        return PageFailure(frame=number, code="page.damaged", message=message)
    if turn in _TURNS:
        image = np.asarray(Image.fromarray(image).transpose(_TURNS[turn]))
    return _squared(number, image, dpi[::-1] if swaps else dpi, options)


def _squared(number: int, image: NDArray[np.uint8], dpi: Sequence[float], options: IngestOptions) -> Frame:
    height, width = image.shape[:2]
    across, down = dpi
    finest = max(across, down)
    if min(across, down) >= _LOWEST_DPI and finest > _SQUARE * min(across, down):
        size = (round(width * finest / across), round(height * finest / down))
        if size[0] * size[1] <= options.max_pixels:
            image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_LINEAR), dtype=np.uint8)
            height, width = image.shape[:2]
    return Frame(number, np.ascontiguousarray(image), believable_dpi(finest, width_px=width, height_px=height))


def _pixels(picture: Image.Image, *, white_is_zero: bool) -> NDArray[np.uint8]:
    mode = picture.mode
    if mode.startswith("I") or mode == "F":
        grey = _scaled(np.asarray(picture))
        return np.asarray(255 - grey if white_is_zero else grey, dtype=np.uint8)
    if mode in ("La", "LA", "PA", "RGBa", "RGBA") or "transparency" in picture.info:
        layer = (picture.convert("LA") if mode == "La" else picture).convert("RGBA")
        picture = Image.new("RGB", layer.size, "white")
        picture.paste(layer, mask=layer.getchannel("A"))
    elif mode in ("1", "L"):
        return np.asarray(picture.convert("L"), dtype=np.uint8)
    return grey_if_colourless(np.asarray(picture.convert("RGB"), dtype=np.uint8)[:, :, ::-1])


def _scaled(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Scale deep grey values to 8 bits by the smallest usual bit depth that holds them, so that white stays white."""
    if values.dtype.kind == "f":
        values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
        steps: tuple[float, ...] = (1.0, 255.0, 4095.0, 65535.0)
    else:
        steps = tuple(float(2**bits - 1) for bits in (8, 10, 12, 14, 16, 24, 32))
    highest = float(values.max())
    full = next((step for step in steps if highest <= step), highest)
    return np.asarray(np.clip(values.astype(np.float32) * (255 / full) + 0.5, 0, 255), dtype=np.uint8)


def grey_if_colourless(bgr: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return one channel of a BGR picture if all three are equal, else the picture, contiguous."""
    blue, green, red = (bgr[:, :, channel] for channel in range(3))
    colourless = np.array_equal(blue, green) and np.array_equal(green, red)
    return np.ascontiguousarray(blue if colourless else bgr)


def believable_dpi(dpi: float, *, width_px: int, height_px: int) -> float | None:
    """Return a resolution if the sheet it implies exists, rounded to 0.1, else None.

    Args:
        dpi: What the file says, 0 if it says nothing.
        width_px: Width of the page image.
        height_px: Height of the page image.

    Returns:
        DPI between 50 and 2400 for a sheet whose long side has 2 to 17.5 inches.
    """
    if not _LOWEST_DPI <= dpi <= _HIGHEST_DPI:
        return None
    sheet_in = max(width_px, height_px) / dpi
    return round(dpi, 1) if _SHORTEST_SHEET_IN <= sheet_in <= _LONGEST_SHEET_IN else None


def _written_dpi(picture: Image.Image) -> tuple[float, float]:
    try:
        across, down = picture.info["dpi"]
        pair = (float(across), float(down))
    except _BROKEN:
        return (0.0, 0.0)
    return pair if all(np.isfinite(value) and value > 0 for value in pair) else (0.0, 0.0)


def _orientation(picture: Image.Image) -> int:
    try:
        value = picture.getexif().get(_ORIENTATION_TAG, 1)
    except _BROKEN:  # broken metadata must not cost the page
        return 1
    return value if isinstance(value, int) else 1


def _tiff_tag(picture: Image.Image, tag: int) -> object:
    return picture.tag_v2.get(tag) if isinstance(picture, TiffImagePlugin.TiffImageFile) else None


def _too_large(what: str, size: str, options: IngestOptions) -> str:
    limit = options.max_pixels
    return f"{shorten(what)} has {size}, the limit is {limit}; scan it at a lower resolution or raise max_pixels"


def _damaged(what: str, error: BaseException) -> str:
    return f"{shorten(what)} is damaged ({shorten(error, limit=60)}); scan or download it again"
