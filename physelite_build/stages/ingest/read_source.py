"""Which page images does one file hold?

After ``discover.py``, before ``screen.py``. Files become PNG blobs, page by page; what cannot be decoded is said, not lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from physelite_build.blobs import Blobs
from physelite_build.errors import ItemError, shorten
from physelite_build.records import PageImage, Record, SourcePages
from physelite_build.stages.ingest.decode import (
    HEAD_BYTES,
    Frame,
    IngestOptions,
    MediaType,
    PageFailure,
    media_type_of,
    picture_pages,
)
from physelite_build.stages.ingest.decode_pdf import pdf_pages

__all__ = ["Decoded", "IngestOptions", "PageFailure", "read_source"]


class Decoded(Record):
    """The pages of one file that could be decoded, and those that could not; at least one could."""

    pages: SourcePages
    failures: tuple[PageFailure, ...] = ()


def read_source(data: bytes, *, name: str, blobs: Blobs, options: IngestOptions) -> Decoded:
    """Decode one file to page images as a viewer shows them and store each as a PNG blob.

    The type is told by content, not by name. The same bytes and options give the same blobs. One page at a time is in memory.

    Args:
        data: Bytes of a PDF, TIFF, PNG, JPEG, WebP or BMP.
        name: Name for messages, for example ``a.zip!/b.png``.
        blobs: Where page images go: uint8, BGR, or grey where the page has no colour.
        options: Resolution and limits.

    Returns:
        Page images in file order, and a failure for each page that could not be decoded.

    Raises:
        ItemError: ``source.empty``, ``source.too_large``, ``source.unknown_type``, ``source.nested_zip``, ``source.encrypted``,
            ``source.damaged``, ``source.too_many_pages``; ``page.too_large`` if no page is small enough.
    """
    media_type = _checked_type(data, name, options)
    frames: Iterator[Frame | PageFailure]
    if media_type is MediaType.PDF:
        frames = pdf_pages(data, name=name, options=options)
    else:
        frames = picture_pages(data, media_type, name=name, options=options)
    images: list[PageImage] = []
    failures: list[PageFailure] = []
    for frame in frames:
        if isinstance(frame, PageFailure):
            failures.append(frame)
        else:
            images.append(_stored(frame, blobs))
    if not images:
        first = failures[0]
        code = "source.damaged" if first.code == "page.damaged" else first.code
        raise ItemError(code, first.message)
    return Decoded(pages=SourcePages(media_type=media_type, images=tuple(images)), failures=tuple(failures))


def _checked_type(data: bytes, name: str, options: IngestOptions) -> MediaType:
    if not data:
        raise ItemError("source.empty", f"{shorten(name)} is empty; scan or copy it again")
    if len(data) > options.max_file_bytes:
        raise ItemError(
            "source.too_large",
            f"{shorten(name)} has {len(data)} bytes, the limit is {options.max_file_bytes}; split it or raise the setting ingest.max_file_mb",
        )
    media_type = media_type_of(data[:HEAD_BYTES])
    if media_type is None:
        raise ItemError(
            "source.unknown_type",
            f"{shorten(name)} is no PDF, TIFF, PNG, JPEG, WebP or BMP whatever its name says; convert it to one of them",
        )
    if media_type is MediaType.ZIP:
        raise ItemError(
            "source.nested_zip", f"{shorten(name)} is a zip where a page was expected; unpack it beside the scans"
        )
    return media_type


def _stored(frame: Frame, blobs: Blobs) -> PageImage:
    height, width = frame.image.shape[:2]
    digest = blobs.put_image(frame.image)
    return PageImage(frame=frame.number, sha256=digest, width_px=width, height_px=height, dpi=frame.dpi)
