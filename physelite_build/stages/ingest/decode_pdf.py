"""How does each page of a PDF look to a viewer?

Helper of ``ingest.py``. PDFium is not thread safe: every call holds ``PDFIUM_LOCK``, one page at a time.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium

from physelite_build.errors import ItemError, shorten
from physelite_build.stages.ingest.decode import Frame, IngestOptions, PageFailure, grey_if_colourless

__all__ = ["PDFIUM_LOCK", "pdf_pages"]

log = logging.getLogger(__name__)

PDFIUM_LOCK = threading.RLock()
"""Hold it around any call of pypdfium2. Reentrant, because a forgotten generator may be closed at any moment."""

_POINTS_PER_INCH = 72.0
_LONGEST_PAGE_IN = 24.0
"""Pages longer than A2 are scans whose pixels were written as points; they are drawn with as many pixels as this length."""

_COUNTS_NO_PAGES, _HAS_PAGE = re.compile(rb"/Count\s+0\b"), re.compile(rb"/Type\s*/Page\b")


def pdf_pages(data: bytes, *, name: str, options: IngestOptions) -> Iterator[Frame | PageFailure]:
    """Draw a PDF page by page with ``/Rotate``, annotations and form fields, at ``options.pdf_dpi``.

    Args:
        data: The file.
        name: Name for messages.
        options: Resolution and limits. A page longer than 24 inches, or one that would have more than ``max_pixels``, is
            drawn at a lower resolution.

    Yields:
        Pages in order; a page that fails is a :class:`PageFailure`.

    Raises:
        ItemError: ``source.encrypted``, ``source.damaged``, ``source.empty``, ``source.too_many_pages``.

    Source:
        ISO 32000-1, 7.5.5 (a file ends with a trailer); pypdfium2, "Thread incompatibility".
    """
    if _is_cut_off(data):
        raise ItemError("source.damaged", f"{shorten(name)} ends before its trailer; download or export it again")
    with PDFIUM_LOCK:
        document = _open(data, name)
    try:
        with PDFIUM_LOCK:
            count = _page_count(document, name, options)
        for number in range(1, count + 1):
            with PDFIUM_LOCK:
                page = _draw(document, number, name=name, options=options)
            yield page
    finally:
        with PDFIUM_LOCK:
            document.close()


def _is_cut_off(data: bytes) -> bool:
    """Tell whether nothing that ends a PDF follows the last object; PDFium would repair it and lose pages silently."""
    last_object = max(data.rfind(b"endobj"), data.rfind(b"endstream"), data.rfind(b" obj"))
    return max(data.rfind(mark) for mark in (b"%%EOF", b"startxref", b"trailer")) < last_object


def _open(data: bytes, name: str) -> Any:
    # PDFium keeps the reason of an earlier failure when a file has no pages; a failure of a known kind goes first.
    pdfium.FPDF_LoadMemDocument(b"-", 1, None)
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            message = f"{shorten(name)} is protected by a password; save it without one and build again"
            raise ItemError("source.encrypted", message) from error
        if _COUNTS_NO_PAGES.search(data) and not _HAS_PAGE.search(data):
            raise ItemError("source.empty", _without_pages(name)) from error
        message = f"{shorten(name)} is not a readable PDF ({shorten(error)}); download or export it again"
        raise ItemError("source.damaged", message) from error
    try:
        document.init_forms()
    except pypdfium2.PdfiumError:
        log.warning("form fields of %s cannot be drawn", shorten(name))
    return document


def _page_count(document: Any, name: str, options: IngestOptions) -> int:
    count = len(document)
    if count == 0:
        raise ItemError("source.empty", _without_pages(name))
    if count > options.max_pages:
        raise ItemError(
            "source.too_many_pages",
            f"{shorten(name)} has {count} pages, the limit is {options.max_pages}; split it or raise max_pages",
        )
    return count


def _draw(document: Any, number: int, *, name: str, options: IngestOptions) -> Frame | PageFailure:
    try:
        page = document[number - 1]
    except (pypdfium2.PdfiumError, IndexError) as error:
        return _failure(number, name, error)
    try:
        width_in, height_in = (side / _POINTS_PER_INCH for side in page.get_size())
        dpi = _drawing_dpi(width_in, height_in, options)
        bitmap = page.render(scale=dpi / _POINTS_PER_INCH)
        try:
            image = grey_if_colourless(np.asarray(bitmap.to_numpy(), dtype=np.uint8)[:, :, :3]).copy()
        finally:
            bitmap.close()
    except (pypdfium2.PdfiumError, ValueError, MemoryError) as error:
        return _failure(number, name, error)
    finally:
        page.close()
    return Frame(number, image, round(dpi, 1) if dpi == options.pdf_dpi else None)


def _drawing_dpi(width_in: float, height_in: float, options: IngestOptions) -> float:
    """Return the resolution at which a page fits the limits; at most ``options.pdf_dpi``."""
    if not (width_in > 0 and height_in > 0):
        raise ValueError("the page has no area")
    dpi = min(float(options.pdf_dpi), options.pdf_dpi * _LONGEST_PAGE_IN / max(width_in, height_in))
    pixels = (width_in * dpi + 1) * (height_in * dpi + 1)  # sides are rounded up
    return dpi if pixels <= options.max_pixels else dpi * (options.max_pixels / pixels) ** 0.5


def _without_pages(name: str) -> str:
    return f"{shorten(name)} has no pages; remove it or export it again"


def _failure(number: int, name: str, error: object) -> PageFailure:
    message = f"page {number} of {shorten(name)} cannot be drawn ({shorten(error)}); export the file again"
    return PageFailure(frame=number, code="page.damaged", message=message)
