"""Runs the yardstick of ``plain.py`` over the pages of a work folder, so that both systems start from the same text lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from physelite_build.bench.plain import PlainPage, plain_records
from physelite_build.records import Document, Page, PageText, Upright
from physelite_build.stages import order
from physelite_build.store import Store

__all__ = ["baseline_records"]


def baseline_records(store: Store) -> Iterator[dict[str, Any]]:
    """Yield what the plain script makes of every document, in the form of :func:`physelite_build.export.page_records`."""
    pages = store.all("page", Page)
    for doc_id, document in store.all("document", Document).items():
        kept = (_plain_page(store, pages[page_id]) for page_id in document.page_ids if page_id in pages)
        yield plain_records(doc_id, [page for page in kept if page is not None])


def _plain_page(store: Store, page: Page) -> PlainPage | None:
    text = store.load(order.READ.name, page.page_id, PageText)
    upright = store.load(order.STRAIGHTEN.name, page.page_id, Upright)
    if text is None or upright is None:
        return None
    return PlainPage(
        number=page.number,
        width_px=page.width_px,
        height_px=page.height_px,
        text=text,
        to_page=upright.to_page,
        picture=store.blobs.get_image(upright.image_sha256),
    )
