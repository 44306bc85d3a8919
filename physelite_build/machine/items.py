"""Runs one stage on one item of one build: the narrow door to the store that all stages go through."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from physelite_build.attempt import Aside, Stage, StageRun
from physelite_build.errors import FatalError, ItemError
from physelite_build.records import Outcome, Page, Record
from physelite_build.store import Store

__all__ = ["ItemRunner", "Listener"]

Listener = Callable[[Outcome], None]


class ItemRunner:
    """Does items of one build over one store and tells a listener of each; may be used by several threads."""

    def __init__(self, store: Store, *, run_id: str, listener: Listener | None = None) -> None:
        self.store = store
        self._run_id = run_id
        self._listener = listener
        self._stopped = threading.Event()
        self._cause: FatalError | None = None

    def stop(self) -> None:
        """Let no further item begin; the one in work comes to its end."""
        self._stopped.set()

    def run(
        self,
        stage: Stage,
        item_id: str,
        inputs: Sequence[str],
        work: Callable[[], Record | Aside],
        *,
        options: str = "",
        engine: str = "",
        blobs_of: Callable[[str], Sequence[str]] | None = None,
    ) -> StageRun:
        """Do one item of one stage, or take its result from memory; see ``Store.run``.

        Raises:
            FatalError: As raised by the work or the store. From then on every item, in whatever batch, ends with the same
                error, and after :meth:`stop` with ``run.stopped``.
        """
        if self._cause is not None:
            raise FatalError(self._cause.code, self._cause.message) from self._cause
        if self._stopped.is_set():
            raise FatalError("run.stopped", f"the build was stopped before {item_id}; build again, it goes on there")
        try:
            done = self.store.run(
                stage,
                item_id,
                run_id=self._run_id,
                inputs=inputs,
                work=work,
                options=options,
                engine=engine,
                blobs_of=blobs_of,
            )
        except FatalError as error:
            self._cause = self._cause or error
            raise
        if self._listener is not None:
            self._listener(done.outcome)
        return done

    def refuse(self, stage: Stage, item_id: str, inputs: Sequence[str], error: ItemError) -> StageRun:
        """Record an item as failed by an error that is already known."""

        def fail() -> Record:
            raise error

        return self.run(stage, item_id, [*inputs, error.code, error.message], fail)

    def page(self, page_id: str) -> Page:
        """Return a page of the store.

        Raises:
            ItemError: ``page.unknown`` if there is none of that id.
        """
        page = self.store.get("page", page_id, Page)
        if page is None:
            raise ItemError("page.unknown", f"there is no page {page_id!r}; physelite status lists the documents")
        return page
