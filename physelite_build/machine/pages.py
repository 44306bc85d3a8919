"""Work on pages: screen those of a document, then take each through straighten, read, layout and transcribe."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from physelite_build.attempt import Aside, StageRun
from physelite_build.machine.engines import Engines, Once
from physelite_build.machine.items import ItemRunner
from physelite_build.records import Outcome, Page, PageLayout, PageText, Record, ScreenVerdict, Status, Upright
from physelite_build.stages import order
from physelite_build.stages.layout import find_layout
from physelite_build.stages.read import read_text
from physelite_build.stages.screen import PageHash, page_hash, repeated, screen
from physelite_build.stages.straighten import straighten
from physelite_build.stages.transcribe import transcribe

__all__ = ["KEEP_FIELD", "read_page", "screen_document"]

KEEP_FIELD = "keep"
"""Field of the correction by which a person keeps a page that screening put aside."""


class _Twins(Record):
    """Which pages of a document repeat an earlier one, by index, so that a renamed document keeps what was found."""

    pairs: tuple[tuple[int, int], ...]
    """``(later, earlier)``."""


# ---------------------------------------------------------------- screen
def screen_document(runner: ItemRunner, page_ids: Sequence[str]) -> list[Outcome]:
    """Screen the pages of one document in order; a page that shows what an earlier one shows is put aside."""
    pages = {page_id: runner.page(page_id) for page_id in page_ids}
    runs = {page_id: _screen_page(runner, page) for page_id, page in pages.items()}
    good = [pages[page_id] for page_id, run in runs.items() if run.output and run.outcome.status is Status.DONE]
    looks = [PageHash(page.page_id, runs[page.page_id].load(ScreenVerdict).look) for page in good]
    inputs = ["repeated", *(page.image_sha256 for page in good), *(look.fingerprint for look in looks)]

    def find_twins() -> Record:
        found = repeated(looks, lambda page_id: runner.store.blobs.get_image(pages[page_id].image_sha256))
        place = {page.page_id: index for index, page in enumerate(good)}
        return _Twins(pairs=tuple((place[later], place[earlier]) for later, earlier in found.items()))

    if not good:
        return [run.outcome for run in runs.values()]
    doc_id = good[0].doc_id
    found = runner.store.recall(order.SCREEN, doc_id, inputs=inputs, work=find_twins)
    if found.output is None:  # in doubt all pages are kept, but the fault must be seen
        return [run.outcome for run in runs.values()] + [
            runner.run(order.SCREEN, doc_id, inputs, find_twins).outcome,
        ]
    for later, earlier in found.load(_Twins).pairs:
        page = good[later]
        if not _is_kept(runner, page):
            runs[page.page_id] = _repeated_page(runner, page, good[earlier])
    return [run.outcome for run in runs.values()]


def _screen_page(runner: ItemRunner, page: Page) -> StageRun:
    kept = _is_kept(runner, page)

    def judge() -> Record | Aside:
        picture = runner.store.blobs.get_image(page.image_sha256)
        verdict = screen(picture, dpi=page.dpi).model_copy(update={"look": page_hash(picture)})
        if verdict.keep or kept:
            return verdict.model_copy(update={"keep": True})
        return Aside(Status.REJECTED, verdict.code or "page.rejected", verdict.message or "put aside", verdict)

    inputs = [page.image_sha256, str(page.dpi), *(["kept by hand"] if kept else [])]
    return runner.run(order.SCREEN, page.page_id, inputs, judge)


def _repeated_page(runner: ItemRunner, page: Page, twin: Page) -> StageRun:
    def judge() -> Aside:
        message = f"{page.page_id} shows the same as {twin.page_id}; keep it with: physelite keep {page.page_id}"
        return Aside(Status.REJECTED, "page.repeated", message, ScreenVerdict(keep=False, code="page.repeated"))

    inputs = [page.image_sha256, twin.image_sha256, page.page_id, twin.page_id]
    return runner.run(order.SCREEN, page.page_id, inputs, judge)


def _is_kept(runner: ItemRunner, page: Page) -> bool:
    decisions = runner.store.corrections(subject=page.page_id, field=KEEP_FIELD)
    return any(decision.value == page.image_sha256 for decision in decisions)


# ---------------------------------------------------------------- straighten, read, layout, transcribe
def read_page(runner: ItemRunner, engines: Engines, page_id: str) -> list[Outcome]:
    """Take one screened page through its stages; stop at the first that gives nothing to go on with."""
    page = runner.page(page_id)
    straightened = runner.run(
        order.STRAIGHTEN,
        page_id,
        [page.image_sha256],
        lambda: straighten(
            runner.store.blobs.get_image(page.image_sha256), find_turn=engines.turned_deg, blobs=runner.store.blobs
        ),
        engine=engines.orientation_key(),
        blobs_of=_images_of,
    )
    if straightened.output is None:
        return [straightened.outcome]
    image = straightened.load(Upright).image_sha256
    picture = Once(lambda: runner.store.blobs.get_image(image))
    read_key = f"{engines.text_key()} {engines.layout_key()}"
    read = runner.run(order.READ, page_id, [image], lambda: _read(engines, picture()), engine=read_key)
    text = Once(lambda: read.load(PageText))
    if read.output is None:
        return [straightened.outcome, read.outcome]
    layout = runner.run(
        order.LAYOUT,
        page_id,
        [image, read.outcome.output_sha256 or ""],
        lambda: find_layout(picture(), text(), engines.layout().find_areas(picture())),
        engine=engines.layout_key(),
    )
    if layout.output is None:
        return [straightened.outcome, read.outcome, layout.outcome]
    written = runner.run(
        order.TRANSCRIBE,
        page_id,
        [image, read.outcome.output_sha256 or "", layout.outcome.output_sha256 or ""],
        lambda: transcribe(picture(), text(), layout.load(PageLayout), engines.formula()),
        engine=engines.formula_key(),
    )
    return [straightened.outcome, read.outcome, layout.outcome, written.outcome]


def _images_of(output: str) -> list[str]:
    return [Upright.model_validate_json(output).image_sha256]


def _read(engines: Engines, picture: NDArray[np.uint8]) -> Record | Aside:
    text = read_text(picture, engines.text(), engines.layout().find_areas)
    if text.lines:
        return text
    return Aside(Status.EMPTY, "page.no_text", "there is ink but no text that could be read", text)
