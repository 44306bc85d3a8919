"""Work on files: decode the files of a document and note its pages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from physelite_build.attempt import StageRun
from physelite_build.blobs import sha256_of
from physelite_build.config import IngestSettings
from physelite_build.errors import ItemError, shorten
from physelite_build.machine.items import ItemRunner
from physelite_build.records import Document, Outcome, Page, Record, Source, Status
from physelite_build.stages import order
from physelite_build.stages.discover import FoundDocument, ScanFile
from physelite_build.stages.ingest import Decoded, IngestOptions, PageFailure, read_source

__all__ = ["Ingested", "RootedDocument", "ingest", "ingest_options", "refuse_file"]


@dataclass(frozen=True, slots=True)
class RootedDocument:
    """A document that was found, and under which root."""

    found: FoundDocument
    root: str
    """File or folder named on the command line."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """A document with the ids of its decoded pages, and one outcome per file and per lost page."""

    document: Document
    outcomes: tuple[Outcome, ...]


@dataclass(slots=True)
class _Pages:
    """Pages of one document as they are found, in order."""

    doc_id: str
    pages: dict[str, Record] = field(default_factory=dict)
    sources: dict[str, Record] = field(default_factory=dict)
    places: int = 0
    """Places taken so far. That of a lost page stays empty, so that its neighbours keep their numbers."""

    def add_file(self, decoded: Decoded, file: ScanFile, digest: str, size_bytes: int) -> None:
        media_type = decoded.pages.media_type
        self.sources[digest] = Source(sha256=digest, name=file.name, media_type=media_type, size_bytes=size_bytes)
        for image in decoded.pages.images:
            number = self.places + image.frame
            page_id = f"{self.doc_id}/p{number}"
            self.pages[page_id] = Page(
                page_id=page_id,
                doc_id=self.doc_id,
                number=number,
                source_sha256=digest,
                source_frame=image.frame,
                image_sha256=image.sha256,
                width_px=image.width_px,
                height_px=image.height_px,
                dpi=image.dpi,
            )
        frames = [image.frame for image in decoded.pages.images] + [lost.frame for lost in decoded.failures]
        self.places += max(frames, default=0)


def ingest_options(chosen: IngestSettings) -> IngestOptions:
    """Return the limits of the ingest stage from the settings."""
    return IngestOptions(
        pdf_dpi=chosen.pdf_dpi,
        max_pixels=chosen.max_pixels,
        max_pages=chosen.max_pages,
        max_file_bytes=chosen.max_file_mb * 1_000_000,
    )


def ingest(runner: ItemRunner, rooted: RootedDocument, settings: IngestSettings) -> Ingested:
    """Decode the files of one document and note its pages in the store.

    Args:
        runner: Items of this build.
        rooted: Document and its root.
        settings: Resolution and limits.

    Returns:
        The document with the ids of the pages that could be decoded, and how its files and lost pages ended.
    """
    found = rooted.found
    outcomes: list[Outcome] = []
    pages = _Pages(found.doc_id)
    for file in found.files:
        item = f"{found.doc_id}/{file.name.rpartition('/')[2]}"
        try:
            data = file.read(ingest_options(settings))
        except ItemError as error:
            outcomes.append(runner.refuse(order.INGEST, item, [item], error).outcome)
            pages.places += 1
            continue
        digest = sha256_of(data)
        run = _decode(runner, item, file, data, digest, settings)
        outcomes.append(run.outcome)
        if run.output is None:
            pages.places += 1
            continue
        decoded = run.load(Decoded)
        outcomes += [_lost_page(runner, run, item, failure) for failure in decoded.failures]
        pages.add_file(decoded, file, digest, len(data))
    made = Document(
        doc_id=found.doc_id,
        notes=found.notes,
        root=rooted.root,
        files=tuple(file.name for file in found.files),
        page_ids=tuple(pages.pages),
    )
    with runner.store.transaction():
        runner.store.put("source", pages.sources)
        runner.store.put("page", pages.pages)
    return Ingested(made, tuple(outcomes))


def _decode(
    runner: ItemRunner, item: str, file: ScanFile, data: bytes, digest: str, settings: IngestSettings
) -> StageRun:
    def decode() -> Record:
        return read_source(data, name=file.name, blobs=runner.store.blobs, options=ingest_options(settings))

    def run(inputs: list[str]) -> StageRun:
        return runner.run(order.INGEST, item, inputs, decode, options=settings.key, blobs_of=_images_of)

    done = run([digest])
    told = [done.outcome.message] if done.outcome.status is Status.FAILED else []
    if done.output is not None:
        told += [failure.message for failure in done.load(Decoded).failures]
    mine = re.compile(rf"(?<![\w.-]){re.escape(shorten(file.name))}(?!\w)")
    if not all(mine.search(message or "") for message in told):
        return run([digest, file.name])  # the same bytes failed under another name, which their message tells
    return done


def _images_of(output: str) -> list[str]:
    return [image.sha256 for image in Decoded.model_validate_json(output).pages.images]


def _lost_page(runner: ItemRunner, run: StageRun, item: str, failure: PageFailure) -> Outcome:
    inputs = [run.outcome.output_sha256 or "", str(failure.frame)]
    error = ItemError(failure.code, failure.message)
    return runner.refuse(order.INGEST, f"{item} page {failure.frame}", inputs, error).outcome


def refuse_file(runner: ItemRunner, item_id: str, *, name: str, code: str, message: str) -> Outcome:
    """Record a file that belongs to no document as a failed item of the ingest stage."""
    return runner.refuse(order.INGEST, item_id, [name], ItemError(code, message)).outcome
