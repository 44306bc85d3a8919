"""The whole build in order: scans in, candidate problems out. Who does the batches, and where, is the crew's business."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from physelite_build.machine.files import Ingested, RootedDocument
from physelite_build.machine.machine import Machine
from physelite_build.machine.roots import find_documents, register
from physelite_build.records import Document, Outcome, Status
from physelite_build.stages import order
from physelite_build.summary import run_status

__all__ = ["BuildResult", "Crew", "Progress", "build_corpus"]

Progress = Callable[[str, Outcome | int], None]
"""Called with a stage and either the number of its items, when known, or one outcome."""


class Crew(Protocol):
    """Does the batches of a build; :class:`Machine` itself does them one after the other."""

    def ingest(self, documents: Sequence[RootedDocument]) -> list[Ingested]:
        """Decode the files of documents, in order."""
        ...

    def screen(self, documents: Sequence[Sequence[str]]) -> list[Outcome]:
        """Screen pages, given by document."""
        ...

    def read(self, page_ids: Sequence[str]) -> list[Outcome]:
        """Read pages."""
        ...

    def process(self, documents: Sequence[Document]) -> list[Outcome]:
        """Make the problems of documents."""
        ...

    def finish(self, documents: Sequence[Document]) -> list[Outcome]:
        """Type the answers of all documents, then align, deduplicate and check their problems."""
        ...


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did."""

    run_id: str
    status: str
    """``complete`` or ``partial``."""
    outcomes: tuple[Outcome, ...]
    documents: int
    pages: int
    problems: int


def build_corpus(
    machine: Machine, crew: Crew, paths: Sequence[str | Path], *, started_at: str, limit: int | None, tell: Progress
) -> BuildResult:
    """Bring the corpus of a work folder up to date with its scans.

    Args:
        machine: Store and settings. The caller holds ``Store.one_builder``.
        crew: Does the batches.
        paths: Files and folders of scans.
        started_at: ISO 8601 UTC.
        limit: Read at most so many pages; the others count as skipped.
        tell: Told how many items a stage will have.

    Returns:
        Outcomes of all items of the corpus, documents of earlier builds included.

    Raises:
        FatalError: If the run as a whole cannot go on; the run then counts as interrupted.
    """
    store = machine.store
    machine.engines.fingerprints()  # a missing engine must be known before anything is forgotten
    store.start_run(machine.run_id, started_at=started_at, config=machine.settings.model_dump_json())
    found = find_documents(machine, paths)
    outcomes = list(found.outcomes)
    tell(order.INGEST.name, sum(len(document.found.files) for document in found.documents))
    ingested = crew.ingest(found.documents)
    outcomes += [outcome for one in ingested for outcome in one.outcomes]
    documents = register(store, [one.document for one in ingested])

    originals = [document for document in documents if document.copy_of is None and document.page_ids]
    pages = [page_id for document in originals for page_id in document.page_ids]
    chosen = set(pages[:limit])
    outcomes += [_left_out(page_id) for page_id in pages if page_id not in chosen]
    tell(order.SCREEN.name, len(chosen))
    by_document = [[page_id for page_id in document.page_ids if page_id in chosen] for document in originals]
    screened = crew.screen([page_ids for page_ids in by_document if page_ids])
    outcomes += screened
    kept = [o.item_id for o in screened if o.status is Status.DONE]
    for stage in order.PAGE_STAGES[1:]:
        tell(stage.name, len(kept))
    outcomes += crew.read(kept)

    for stage in order.DOCUMENT_STAGES:
        tell(stage.name, len(originals))
    outcomes += crew.process(originals)
    for stage in order.CORPUS_STAGES:
        tell(stage.name, 1)
    outcomes += crew.finish(originals)
    result = BuildResult(
        run_id=machine.run_id,
        status=run_status(outcomes),
        outcomes=tuple(outcomes),
        documents=len([document for document in documents if document.page_ids]),
        pages=len(pages),
        problems=len(machine.problems(originals)),
    )
    store.end_run(machine.run_id, status=result.status)
    return result


def _left_out(page_id: str) -> Outcome:
    return Outcome(
        stage=order.SCREEN.name,
        item_id=page_id,
        status=Status.SKIPPED,
        code="run.limit",
        message=f"{page_id} was left out by --limit",
    )
