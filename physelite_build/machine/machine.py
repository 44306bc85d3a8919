"""All stages over one store, by batches of items.

All state lies in the store, so that a batch may run in any thread, process or machine that sees the work folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from physelite_build.config import Settings
from physelite_build.machine.corpus import problems_of, process_corpus
from physelite_build.machine.documents import answer_documents, process_document
from physelite_build.machine.engines import Engines
from physelite_build.machine.files import Ingested, RootedDocument, ingest, ingest_options, refuse_file
from physelite_build.machine.items import ItemRunner, Listener
from physelite_build.machine.pages import read_page, screen_document
from physelite_build.records import Document, Outcome, Problem
from physelite_build.stages.discover import DiscoveryProblem
from physelite_build.stages.ingest import IngestOptions
from physelite_build.store import Store

__all__ = ["Machine"]


class Machine:
    """All stages over one store; does batches one after the other, and so is the simplest ``Crew``."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        run_id: str,
        listener: Listener | None = None,
        engines: Engines | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self.run_id = run_id
        self.engines = engines or Engines(settings)
        self._runner = ItemRunner(store, run_id=run_id, listener=listener)

    def stop(self) -> None:
        """Let no further item begin, in whatever thread; batches in work end with ``run.stopped``."""
        self._runner.stop()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def fingerprints(self) -> tuple[str, ...]:
        """Return what the engines in force are, for the release manifest."""
        return self.engines.fingerprints()

    @property
    def ingest_options(self) -> IngestOptions:
        """Limits for files, from the settings."""
        return ingest_options(self.settings.ingest)

    def ingest(self, documents: Sequence[RootedDocument]) -> list[Ingested]:
        """Decode the files of documents."""
        return [ingest(self._runner, document, self.settings.ingest) for document in documents]

    def screen(self, documents: Sequence[Sequence[str]]) -> list[Outcome]:
        """Screen pages, given by document."""
        return [outcome for page_ids in documents for outcome in screen_document(self._runner, page_ids)]

    def read(self, page_ids: Sequence[str]) -> list[Outcome]:
        """Straighten, read, lay out and transcribe pages."""
        return [outcome for page_id in page_ids for outcome in read_page(self._runner, self.engines, page_id)]

    def process(self, documents: Sequence[Document]) -> list[Outcome]:
        """Make the problems of documents, with figures."""
        return [outcome for document in documents for outcome in process_document(self._runner, document)]

    def finish(self, documents: Sequence[Document]) -> list[Outcome]:
        """Type the answers of all documents, then align, deduplicate and check their problems."""
        answered = answer_documents(self._runner, documents)
        return [*answered, *process_corpus(self._runner, documents, self.settings)]

    def refuse_file(self, item_id: str, problem: DiscoveryProblem) -> Outcome:
        """Record a file that belongs to no document as a failed item of the ingest stage."""
        return refuse_file(self._runner, item_id, name=problem.name, code=problem.code, message=problem.message)

    def problems(self, documents: Iterable[Document]) -> list[Problem]:
        """Return all problems of the documents in order."""
        return problems_of(self.store, documents)
