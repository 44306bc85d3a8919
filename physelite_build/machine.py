"""Runs stages on items: the plain pipeline without an orchestrator. ``flows/build.py`` calls it in batches through Prefect.

Each method takes ids, does what is missing, and returns the outcomes. All state lies in the store, so that a batch may run in
any thread, process or machine that sees the work folder.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from physelite_build.blobs import sha256_of
from physelite_build.config import Settings
from physelite_build.engines.protocol import FormulaEngine, TextEngine
from physelite_build.engines.rapid import RapidLayoutEngine, RapidOrientationEngine
from physelite_build.engines.registry import formula_engine, text_engine
from physelite_build.errors import ItemError
from physelite_build.records import (
    Document,
    DocumentProblems,
    Entries,
    Findings,
    Outcome,
    Page,
    PageLayout,
    PageText,
    Pairs,
    Problem,
    Record,
    ScreenVerdict,
    Source,
    Status,
    Upright,
)
from physelite_build.stages import order
from physelite_build.stages.align import find_translations, make_entries
from physelite_build.stages.answers import type_answers
from physelite_build.stages.check import check_corpus
from physelite_build.stages.dedup import find_duplicates
from physelite_build.stages.discover import DiscoveryProblem, FoundDocument, ScanFile
from physelite_build.stages.figures import place_figures
from physelite_build.stages.ingest import Decoded, IngestOptions, read_source
from physelite_build.stages.layout import find_layout
from physelite_build.stages.repeat import PageHash, page_hash, repeated
from physelite_build.stages.screen import screen
from physelite_build.stages.segment import PageInput, segment
from physelite_build.stages.straighten import straighten
from physelite_build.stages.transcribe import transcribe
from physelite_build.store import Aside, Stage, StageRun, Store

__all__ = ["CORPUS", "KEEP_FIELD", "Machine"]

log = logging.getLogger(__name__)

CORPUS = "corpus"
"""Item id of stages that look at all problems at once."""
KEEP_FIELD = "keep"
"""Field of the correction by which a person keeps a page that screening put aside."""

Listener = Callable[[Outcome], None]


class Machine:
    """All stages over one store. Engines are made when first needed and shared by threads."""

    def __init__(self, store: Store, settings: Settings, *, run_id: str, listener: Listener | None = None) -> None:
        self.store = store
        self.settings = settings
        self.run_id = run_id
        self._listener = listener
        self._lock = threading.Lock()

    # ------------------------------------------------------------ engines
    @cached_property
    def _text_engine(self) -> TextEngine:
        threads = self.settings.flow.engine_threads
        return text_engine(self.settings.read.text_engine, cache=self.settings.cache, threads=threads)

    @cached_property
    def _formula_engine(self) -> FormulaEngine:
        return formula_engine(self.settings.read.formula_engine, reader=self._text_engine)

    @cached_property
    def _layout_engine(self) -> RapidLayoutEngine:
        return RapidLayoutEngine()

    @cached_property
    def _orientation_engine(self) -> RapidOrientationEngine:
        return RapidOrientationEngine()

    @cached_property
    def ingest_options(self) -> IngestOptions:
        """Limits of the ingest stage, from the settings."""
        chosen = self.settings.ingest
        return IngestOptions(
            pdf_dpi=chosen.pdf_dpi,
            max_pixels=chosen.max_pixels,
            max_pages=chosen.max_pages,
            max_file_bytes=chosen.max_file_mb * 1_000_000,
        )

    def fingerprints(self) -> tuple[str, ...]:
        """Return what the engines in force are, for the release manifest."""
        engines = (self._text_engine, self._layout_engine, self._orientation_engine, self._formula_engine)
        return tuple(engine.fingerprint.key for engine in engines)

    # ------------------------------------------------------------ one item of one stage
    def _run(
        self,
        stage: Stage,
        item_id: str,
        inputs: Sequence[str],
        work: Callable[[], Record | Aside],
        *,
        options: str = "",
        engine: str = "",
    ) -> StageRun:
        done = self.store.run(
            stage, item_id, run_id=self.run_id, inputs=inputs, work=work, options=options, engine=engine
        )
        if self._listener is not None:
            self._listener(done.outcome)
        return done

    # ------------------------------------------------------------ files
    def note_problem(self, problem: DiscoveryProblem) -> Outcome:
        """Record a file that cannot be read as a failed item of the ingest stage."""

        def refuse() -> Record:
            raise ItemError(problem.code, problem.message)

        return self._run(order.INGEST, problem.name, [problem.name, problem.code, problem.message], refuse).outcome

    def ingest(self, document: FoundDocument, *, root: str) -> tuple[Document, list[Outcome]]:
        """Decode the files of one document and note its pages.

        Returns:
            The document with the ids of the pages that could be decoded, and one outcome per file and per lost page.
        """
        outcomes: list[Outcome] = []
        pages: dict[str, Record] = {}
        sources: dict[str, Record] = {}
        number = 0
        for file in document.files:
            run, digest, size = self._ingest_file(document.doc_id, file)
            outcomes.append(run.outcome)
            if run.output is None:
                number += 1  # the place of a lost page stays empty, so that its neighbours keep their numbers
                continue
            decoded = run.load(Decoded)
            sources[digest] = Source(
                sha256=digest, name=file.name, media_type=decoded.pages.media_type, size_bytes=size
            )
            frames = [image.frame for image in decoded.pages.images]
            for failure in decoded.failures:
                outcomes.append(
                    self._lost_page(run, document.doc_id, file.name, failure.frame, failure.code, failure.message)
                )
            for image in decoded.pages.images:
                page_id = f"{document.doc_id}/p{number + image.frame}"
                pages[page_id] = Page(
                    page_id=page_id,
                    doc_id=document.doc_id,
                    number=number + image.frame,
                    source_sha256=digest,
                    source_frame=image.frame,
                    image_sha256=image.sha256,
                    width_px=image.width_px,
                    height_px=image.height_px,
                    dpi=image.dpi,
                )
            number += max([*frames, *(failure.frame for failure in decoded.failures)], default=0)
        made = Document(
            doc_id=document.doc_id,
            notes=document.notes,
            root=root,
            files=tuple(file.name for file in document.files),
            page_ids=tuple(pages),
        )
        self.store.put("source", sources)
        self.store.put("page", pages)
        return made, outcomes

    def _ingest_file(self, doc_id: str, file: ScanFile) -> tuple[StageRun, str, int]:
        item = f"{doc_id}/{file.name.rpartition('/')[2]}"
        options = self.ingest_options
        try:
            data = file.read(options)
        except ItemError as error:
            unreadable = error

            def refuse() -> Record:
                raise unreadable

            return self._run(order.INGEST, item, [item, error.code, error.message], refuse), "", 0
        digest = sha256_of(data)

        def decode() -> Record:
            return read_source(data, name=file.name, blobs=self.store.blobs, options=options)

        key = self.settings.ingest.key
        return self._run(order.INGEST, item, [digest], decode, options=key), digest, len(data)

    def _lost_page(self, run: StageRun, doc_id: str, name: str, frame: int, code: str, message: str) -> Outcome:
        def refuse() -> Record:
            raise ItemError(code, message)

        item = f"{doc_id}/{name.rpartition('/')[2]} page {frame}"
        return self._run(order.INGEST, item, [run.outcome.output_sha256 or "", str(frame)], refuse).outcome

    # ------------------------------------------------------------ pages
    def page(self, page_id: str) -> Page:
        """Return a page of the store.

        Raises:
            ItemError: ``page.unknown`` if there is none of that id.
        """
        page = self.store.get("page", page_id, Page)
        if page is None:
            raise ItemError("page.unknown", f"there is no page {page_id!r}; physelite status lists the documents")
        return page

    def screen_document(self, page_ids: Sequence[str]) -> list[Outcome]:
        """Screen the pages of one document in order; a page that shows what an earlier one shows is put aside."""
        pages = {page_id: self.page(page_id) for page_id in page_ids}
        runs = {page_id: self._screen_page(page) for page_id, page in pages.items()}
        looks = [
            PageHash(page_id=page_id, fingerprint=run.load(ScreenVerdict).look)
            for page_id, run in runs.items()
            if run.output is not None and run.outcome.status is Status.DONE
        ]
        twins = repeated(looks, lambda page_id: self.store.blobs.get_image(pages[page_id].image_sha256))
        for page_id, earlier in twins.items():
            if not self._is_kept(pages[page_id]):
                runs[page_id] = self._repeated_page(pages[page_id], pages[earlier])
        return [run.outcome for run in runs.values()]

    def _screen_page(self, page: Page) -> StageRun:
        kept = self._is_kept(page)

        def judge() -> Record | Aside:
            picture = self.store.blobs.get_image(page.image_sha256)
            verdict = screen(picture, dpi=page.dpi).model_copy(update={"look": page_hash(picture)})
            if verdict.keep or kept:
                return verdict.model_copy(update={"keep": True})
            return Aside(Status.REJECTED, verdict.code or "page.rejected", verdict.message or "put aside", verdict)

        inputs = [page.image_sha256, str(page.dpi), *(["kept by hand"] if kept else [])]
        return self._run(order.SCREEN, page.page_id, inputs, judge)

    def _repeated_page(self, page: Page, twin: Page) -> StageRun:
        def judge() -> Aside:
            message = f"{page.page_id} shows the same as {twin.page_id}; keep it with: physelite keep {page.page_id}"
            return Aside(Status.REJECTED, "page.repeated", message, ScreenVerdict(keep=False, code="page.repeated"))

        inputs = [page.image_sha256, twin.image_sha256, page.page_id, twin.page_id]
        return self._run(order.SCREEN, page.page_id, inputs, judge)

    def _is_kept(self, page: Page) -> bool:
        decisions = self.store.corrections(subject=page.page_id, field=KEEP_FIELD)
        return any(decision.value == page.image_sha256 for decision in decisions)

    def read_page(self, page_id: str) -> list[Outcome]:
        """Take one screened page through straighten, read, layout and transcribe; stop at the first stage that fails."""
        page = self.page(page_id)
        upright_run = self._run(order.STRAIGHTEN, page_id, [page.image_sha256], lambda: self._straighten(page))
        if upright_run.output is None:
            return [upright_run.outcome]
        upright = upright_run.load(Upright)
        read = self._run(
            order.READ,
            page_id,
            [upright.image_sha256],
            lambda: self._read(page_id, upright),
            engine=self._text_engine.fingerprint.key,
        )
        if read.output is None:
            return [upright_run.outcome, read.outcome]
        text = read.load(PageText)
        layout = self._run(
            order.LAYOUT,
            page_id,
            [upright.image_sha256, read.outcome.output_sha256 or ""],
            lambda: self._layout(upright, text),
            engine=self._layout_engine.fingerprint.key,
        )
        if layout.output is None:
            return [upright_run.outcome, read.outcome, layout.outcome]
        found = layout.load(PageLayout)
        written = self._run(
            order.TRANSCRIBE,
            page_id,
            [upright.image_sha256, read.outcome.output_sha256 or "", layout.outcome.output_sha256 or ""],
            lambda: transcribe(self._picture(upright), text, found, self._formula_engine),
            engine=f"{self._formula_engine.fingerprint.key} {self._text_engine.fingerprint.key}",
        )
        return [upright_run.outcome, read.outcome, layout.outcome, written.outcome]

    def _picture(self, upright: Upright) -> NDArray[np.uint8]:
        return self.store.blobs.get_image(upright.image_sha256)

    def _straighten(self, page: Page) -> Upright:
        picture = self.store.blobs.get_image(page.image_sha256)
        return straighten(picture, find_turn=self._orientation_engine.turned_deg, blobs=self.store.blobs)

    def _read(self, page_id: str, upright: Upright) -> Record | Aside:
        text = PageText(
            lines=self._text_engine.read_lines(self._picture(upright)), engine=self._text_engine.fingerprint
        )
        if text.lines:
            return text
        return Aside(Status.EMPTY, "page.no_text", f"{page_id} has ink but no text that could be read", text)

    def _layout(self, upright: Upright, text: PageText) -> PageLayout:
        picture = self._picture(upright)
        return find_layout(picture, text, self._layout_engine.find_areas(picture))

    # ------------------------------------------------------------ documents
    def process_document(self, document: Document) -> list[Outcome]:
        """Turn the pages of one document that were read into problems with figures and typed answers."""
        pages, digests = self._inputs_of(document)
        segmented = self._run(
            order.SEGMENT,
            document.doc_id,
            [document.doc_id, document.notes.model_dump_json(), *digests],
            lambda: _or_empty(segment(document, pages), document, pages),
        )
        if segmented.output is None:
            return [segmented.outcome]
        problems = segmented.load(DocumentProblems)
        uprights = {p.page.page_id: self._upright_of(p.page.page_id) for p in pages}
        placed = self._run(
            order.FIGURES,
            document.doc_id,
            [segmented.outcome.output_sha256 or "", *digests, *(u.image_sha256 for u in uprights.values())],
            lambda: place_figures(
                problems, pages, picture_of=lambda page_id: self._picture(uprights[page_id]), blobs=self.store.blobs
            ),
        )
        if placed.output is None:
            return [segmented.outcome, placed.outcome]
        with_figures = placed.load(DocumentProblems)
        typed = self._run(
            order.ANSWERS,
            document.doc_id,
            [placed.outcome.output_sha256 or ""],
            lambda: type_answers(with_figures),
        )
        return [segmented.outcome, placed.outcome, typed.outcome]

    def _inputs_of(self, document: Document) -> tuple[list[PageInput], list[str]]:
        """Pages of a document that were transcribed, and the digests of everything that describes them."""
        pages: list[PageInput] = []
        digests: list[str] = []
        for page_id in document.page_ids:
            outcome = next(iter(self.store.outcomes(stage=order.SCREEN.name, item_id=page_id)), None)
            layout = self.store.load(order.TRANSCRIBE.name, page_id, PageLayout)
            if outcome is None or outcome.status is not Status.DONE or layout is None:
                continue
            page = self.page(page_id)
            pages.append(PageInput(page=page, layout=layout))
            digests += [sha256_of(page.model_dump_json().encode()), sha256_of(layout.model_dump_json().encode())]
        return pages, digests

    def _upright_of(self, page_id: str) -> Upright:
        upright = self.store.load(order.STRAIGHTEN.name, page_id, Upright)
        if upright is None:
            raise ItemError("page.not_read", f"{page_id} was not straightened; run the build again")
        return upright

    # ------------------------------------------------------------ corpus
    def problems(self, documents: Iterable[Document]) -> list[Problem]:
        """Return all problems of the documents in order."""
        found: list[Problem] = []
        for document in documents:
            made = self.store.load(order.ANSWERS.name, document.doc_id, DocumentProblems)
            found += made.problems if made else ()
        return found

    def process_corpus(self, documents: Sequence[Document]) -> list[Outcome]:
        """Pair translations, remove duplicates and check: over all problems at once."""
        problems = self.problems(documents)
        digest = sha256_of("\n".join(p.model_dump_json() for p in problems).encode())
        aligned = self._run(order.ALIGN, CORPUS, [digest], lambda: Pairs(pairs=find_translations(problems)))
        outcomes = [aligned.outcome]
        if aligned.output is None:
            return outcomes
        translations = aligned.load(Pairs).pairs
        rules = self.settings.dedup
        merged = self._run(
            order.DEDUP,
            CORPUS,
            [digest, aligned.outcome.output_sha256 or ""],
            lambda: make_entries(
                problems,
                translations,
                find_duplicates(problems, same=rules.same, ask=rules.ask),
                max_removal=rules.max_removal,
            ),
            options=rules.key,
        )
        outcomes.append(merged.outcome)
        if merged.output is None:
            return outcomes
        entries = merged.load(Entries)
        outcomes += self._note_duplicates(entries)
        rights = {d.doc_id: d for d in documents}
        notes = sha256_of("\n".join(d.notes.model_dump_json() for d in documents).encode())
        checked = self._run(
            order.CHECK,
            CORPUS,
            [digest, merged.outcome.output_sha256 or "", notes],
            lambda: check_corpus(
                entries,
                {p.key: p for p in problems},
                rights,
                least_confidence=self.settings.check.least_confidence,
            ),
            options=self.settings.check.key,
        )
        outcomes.append(checked.outcome)
        self._publish_corpus(entries, checked)
        return outcomes

    def _note_duplicates(self, entries: Entries) -> list[Outcome]:
        outcomes = []
        for entry in entries.entries:
            for key in entry.duplicates:

                def refuse(key: str = key, kept: str = entry.key) -> Aside:
                    return Aside(
                        Status.REJECTED, "problem.duplicate", f"{key} is the same problem as {kept}, which is kept"
                    )

                outcomes.append(self._run(order.DEDUP, key, [key, entry.key], refuse).outcome)
        return outcomes

    def _publish_corpus(self, entries: Entries, checked: StageRun) -> None:
        findings = checked.load(Findings).findings if checked.output else ()
        with self.store.transaction():
            self.store.put("entry", {entry.key: entry for entry in entries.entries}, replace_kind=True)
            pairs = {f"{pair.left} {pair.right}": pair for pair in entries.pairs}
            self.store.put("pair", dict(pairs), replace_kind=True)
            self.store.put("finding", {f"{k:06d}": finding for k, finding in enumerate(findings)}, replace_kind=True)


def _or_empty(made: DocumentProblems, document: Document, pages: Sequence[PageInput]) -> Record | Aside:
    if made.problems:
        return made
    why = "no page of it could be read" if not pages else "no problem was found on its pages"
    return Aside(Status.EMPTY, "document.empty", f"{document.doc_id}: {why}", made)
