"""The build flow: scans in, candidate problems out.

Prefect gives retries, concurrency, states and artifacts; that nothing is done twice is the store's business. One task is a
batch of pages or documents, because a task run costs about 10 CPU-ms and a page must not be lost with its batch. Tasks take
paths and ids, so that they also run on Dask or Ray workers that see the work folder.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.futures import wait
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from physelite_build.config import Settings
from physelite_build.errors import FatalError, RetryableError
from physelite_build.machine import Machine
from physelite_build.records import Document, Outcome, Status
from physelite_build.stages import order
from physelite_build.stages.discover import FoundDocument, discover
from physelite_build.store import Store
from physelite_build.summary import count_stages, refusals, run_status

__all__ = ["BuildResult", "Progress", "run_build"]

Progress = Callable[[str, Outcome | int], None]
"""Called with a stage and either the number of its items, when known, or one outcome."""


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


def run_build(
    paths: Sequence[Path], work: Path, settings: Settings, *, limit: int | None = None, progress: Progress | None = None
) -> BuildResult:
    """Run the build flow and wait for it.

    Args:
        paths: Files and folders of scans.
        work: Work folder, made if missing.
        settings: Settings in force.
        limit: Read at most so many pages; the others count as skipped.
        progress: Told about every outcome.

    Returns:
        Outcomes of all items of the corpus, documents of earlier builds included.

    Raises:
        FatalError: If the run as a whole cannot go on.
    """
    run_id = datetime.now(UTC).strftime("%Y%m%dT%H%M%S-") + uuid4().hex[:6]
    _listeners[run_id] = progress or _silent
    try:
        chosen = build.with_options(task_runner=_task_runner(settings))
        result: BuildResult = chosen([str(p) for p in paths], str(work), settings.model_dump_json(), run_id, limit)
    finally:
        _listeners.pop(run_id, None)
        _machines.clear()
    return result


def _silent(stage: str, news: Outcome | int) -> None:
    """Progress of a run that nobody watches."""


RETRY_DELAYS_S = [1.0, 5.0]
"""Waits before a batch is tried again; the last one repeats."""

_listeners: dict[str, Progress] = {}
"""Progress of runs in this process; a worker elsewhere has none."""
_machines: OrderedDict[str, Machine] = OrderedDict()
_machines_lock = threading.Lock()


def _machine(work: str, settings_json: str, run_id: str) -> Machine:
    """One machine per run and process, so that engines are loaded once."""
    with _machines_lock:
        if run_id not in _machines:
            listener = _listeners.get(run_id)
            _machines[run_id] = Machine(
                Store(Path(work)),
                Settings.model_validate_json(settings_json),
                run_id=run_id,
                listener=None if listener is None else lambda outcome: listener(outcome.stage, outcome),
            )
        return _machines[run_id]


def _task_runner(settings: Settings) -> TaskRunner[Any]:
    """The one place that chooses where tasks run."""
    chosen = settings.flow
    if chosen.runner == "threads":
        return ThreadPoolTaskRunner(max_workers=chosen.workers)
    try:
        if chosen.runner == "dask":
            from prefect_dask import DaskTaskRunner

            local = {"n_workers": chosen.workers, "threads_per_worker": 1}
            runner: TaskRunner[Any] = (
                DaskTaskRunner(address=chosen.address) if chosen.address else DaskTaskRunner(cluster_kwargs=local)
            )
        else:
            from prefect_ray import RayTaskRunner

            runner = RayTaskRunner(address=chosen.address) if chosen.address else RayTaskRunner()
    except ImportError as error:
        raise FatalError(
            "config.runner",
            f"flow.runner = {chosen.runner!r} needs the package {error.name}; install it or use 'threads'",
        ) from error
    return runner


def _passing(_task: Any, _run: Any, state: Any) -> bool:
    """Try a batch again only where that can help: a locked database, a share that was away for a moment."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, RetryableError | sqlite3.OperationalError | TimeoutError | ConnectionError)


_batch = task(
    retries=2, retry_delay_seconds=[1, 5], retry_condition_fn=_passing, cache_policy=NO_CACHE, log_prints=False
)


@task(name="screen", retry_delay_seconds=RETRY_DELAYS_S, retry_condition_fn=_passing, cache_policy=NO_CACHE)
def screen_batch(work: str, settings_json: str, run_id: str, documents: list[list[str]]) -> list[Outcome]:
    """Screen the pages of some documents."""
    machine = _machine(work, settings_json, run_id)
    return [outcome for page_ids in documents for outcome in machine.screen_document(page_ids)]


@task(name="read", retry_delay_seconds=RETRY_DELAYS_S, retry_condition_fn=_passing, cache_policy=NO_CACHE)
def read_batch(work: str, settings_json: str, run_id: str, page_ids: list[str]) -> list[Outcome]:
    """Read a batch of pages."""
    machine = _machine(work, settings_json, run_id)
    return [outcome for page_id in page_ids for outcome in machine.read_page(page_id)]


@task(name="problems", retry_delay_seconds=RETRY_DELAYS_S, retry_condition_fn=_passing, cache_policy=NO_CACHE)
def problems_batch(work: str, settings_json: str, run_id: str, documents: list[Document]) -> list[Outcome]:
    """Make the problems of some documents."""
    machine = _machine(work, settings_json, run_id)
    return [outcome for document in documents for outcome in machine.process_document(document)]


@task(name="corpus", retry_delay_seconds=RETRY_DELAYS_S, retry_condition_fn=_passing, cache_policy=NO_CACHE)
def corpus_batch(work: str, settings_json: str, run_id: str, documents: list[Document]) -> list[Outcome]:
    """Align, deduplicate and check all problems."""
    return _machine(work, settings_json, run_id).process_corpus(documents)


@task(name="ingest", retry_delay_seconds=RETRY_DELAYS_S, retry_condition_fn=_passing, cache_policy=NO_CACHE)
def ingest_batch(
    work: str, settings_json: str, run_id: str, found: list[tuple[FoundDocument, str]]
) -> tuple[list[Document], list[Outcome]]:
    """Decode the files of some documents."""
    machine = _machine(work, settings_json, run_id)
    documents: list[Document] = []
    outcomes: list[Outcome] = []
    for document, root in found:
        made, ends = machine.ingest(document, root=root)
        documents.append(made)
        outcomes += ends
    return documents, outcomes


@flow(name="build", validate_parameters=False)
def build(paths: list[str], work: str, settings_json: str, run_id: str, limit: int | None) -> BuildResult:
    """Bring the corpus in a work folder up to date with the scans."""
    machine = _machine(work, settings_json, run_id)
    settings, store = machine.settings, machine.store
    tell: Progress = _listeners.get(run_id, _silent)
    store.start_run(run_id, started_at=datetime.now(UTC).isoformat(timespec="seconds"), config=settings_json)
    context = _Context(work, settings_json, run_id, settings.flow.retries, settings.flow.batch_pages)

    outcomes, fresh = _discover(machine, paths)
    tell(order.INGEST.name, sum(len(document.files) for document, _ in fresh))
    made: list[Document] = []
    for documents, ends in _all(ingest_batch, context, fresh):
        made += documents
        outcomes += ends
    documents = _register(store, made)

    pages = [page_id for document in documents for page_id in document.page_ids if document.copy_of is None]
    chosen = set(pages if limit is None else pages[:limit])
    skipped = [page_id for page_id in pages if page_id not in chosen]
    outcomes += [_left_out(page_id) for page_id in skipped]
    tell(order.SCREEN.name, len(chosen))
    to_screen = [[p for p in d.page_ids if p in chosen] for d in documents if d.copy_of is None]
    screened = [o for ends in _all(screen_batch, context, to_screen) for o in ends]
    outcomes += screened
    kept = [o.item_id for o in screened if o.status is Status.DONE]
    for stage in order.PAGE_STAGES[1:]:
        tell(stage.name, len(kept))
    for ends in _all(read_batch, context, kept):
        outcomes += ends

    originals = [document for document in documents if document.copy_of is None and document.page_ids]
    for stage in order.DOCUMENT_STAGES:
        tell(stage.name, len(originals))
    for ends in _all(problems_batch, context, originals):
        outcomes += ends
    for stage in order.CORPUS_STAGES:
        tell(stage.name, 1)
    outcomes += corpus_batch(work, settings_json, run_id, originals)
    result = BuildResult(
        run_id=run_id,
        status=run_status(outcomes),
        outcomes=tuple(outcomes),
        documents=len([document for document in documents if document.page_ids]),
        pages=len(pages),
        problems=len(machine.problems(originals)),
    )
    store.end_run(run_id, status=result.status)
    _leave_artifacts(result)
    return result


@dataclass(frozen=True, slots=True)
class _Context:
    """What every task of one run gets."""

    work: str
    settings_json: str
    run_id: str
    retries: int
    batch: int


def _all(work: Any, context: _Context, items: Sequence[Any]) -> list[Any]:
    """Submit one task per batch and return their results in order; the first error that is left after retries is raised."""
    chosen = work.with_options(retries=context.retries)
    futures = [
        chosen.submit(context.work, context.settings_json, context.run_id, list(items[start : start + context.batch]))
        for start in range(0, len(items), context.batch)
    ]
    wait(futures)
    return [future.result() for future in futures]


def _discover(machine: Machine, paths: Sequence[str]) -> tuple[list[Outcome], list[tuple[FoundDocument, str]]]:
    """Find documents under each root, give them ids that no other root uses, and forget what is gone."""
    store = machine.store
    known = store.all("document", Document)
    roots = [Path(path).resolve() for path in paths]
    discoveries = [discover([root], options=machine.ingest_options) for root in roots]
    here = {file.path for found in discoveries for document in found.documents for file in document.files}
    names = {str(root) for root in roots}
    others = {
        doc_id: document
        for doc_id, document in known.items()
        if document.root not in names and Path(document.root).exists() and here.isdisjoint(_paths_of(document))
    }
    store.reset_state(keep_documents=others)
    outcomes: list[Outcome] = []
    fresh: list[tuple[FoundDocument, str]] = []
    taken = set(others)
    for root, discovery in zip(roots, discoveries, strict=True):
        outcomes += [machine.note_problem(problem) for problem in discovery.problems]
        for document in discovery.documents:
            doc_id, copy = document.doc_id, 1
            while doc_id in taken:
                copy += 1
                doc_id = f"{document.doc_id}-{copy}"
            taken.add(doc_id)
            fresh.append((FoundDocument(doc_id=doc_id, files=document.files, notes=document.notes), str(root)))
    return outcomes, fresh


def _paths_of(document: Document) -> set[Path]:
    root = Path(document.root)
    if root.is_file():
        return {root}
    return {root / name.partition("!/")[0] for name in document.files}


def _register(store: Store, made: Sequence[Document]) -> list[Document]:
    """Store the documents of this build behind those of other roots; a copy of an earlier one only points to it."""
    documents = {**store.all("document", Document), **{document.doc_id: document for document in made}}
    first: dict[tuple[str, ...], str] = {}
    marked: dict[str, Document] = {}
    for doc_id, document in documents.items():
        content = store.page_digests(document.page_ids)
        original = first.setdefault(content, doc_id) if content else doc_id
        marked[doc_id] = document.model_copy(update={"copy_of": None if original == doc_id else original})
    store.put("document", dict(marked), replace_kind=True)
    return list(marked.values())


def _left_out(page_id: str) -> Outcome:
    return Outcome(
        stage=order.SCREEN.name,
        item_id=page_id,
        status=Status.SKIPPED,
        code="run.limit",
        message=f"{page_id} was left out by --limit",
    )


def _leave_artifacts(result: BuildResult) -> None:
    """Leave the run table, the figures of the run and the refusals in Prefect's UI."""
    rows = [count.row() for count in count_stages(result.outcomes)]
    create_table_artifact(key="build-stages", table=rows, description="Items of each stage by how they ended")
    refused = refusals(result.outcomes)
    lines = [f"* `{o.item_id}` {o.code}: {o.message}" for o in refused[:50]]
    figures = (
        f"{result.documents} documents, {result.pages} pages, {result.problems} problems; the run is {result.status}."
    )
    text = "\n".join([f"# Build {result.run_id}", "", figures, "", f"{len(refused)} refused:", "", *lines])
    create_markdown_artifact(key="build-summary", markdown=text, description="What the build read and what it refused")
