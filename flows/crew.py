"""Batches as Prefect tasks: retries, concurrency and states; that nothing is done twice is the store's business.

One task is a batch of pages or documents, because a task run costs about 10 CPU-ms and a page must not be lost with its
batch. Tasks take paths and ids, so that they also run on Dask or Ray workers that see the work folder.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from physelite_build.config import FlowSettings, Settings
from physelite_build.errors import FatalError, RetryableError
from physelite_build.machine import Ingested, Machine, RootedDocument
from physelite_build.records import Document, Outcome
from physelite_build.store import Store

__all__ = ["Job", "PrefectCrew", "enlist", "machine_for", "release_machine", "task_runner"]

RETRY_DELAYS_S = [1.0, 5.0]
"""Waits before a batch is tried again; the last one repeats."""
_MACHINES_KEPT = 2
"""A worker that lives long sees many runs, and each machine holds engines of several hundred MB."""


@dataclass(frozen=True, slots=True)
class Job:
    """What every task of one run gets."""

    work: str
    settings_json: str
    run_id: str


_enlisted: dict[str, Machine] = {}
"""Machines of builds that were started in this process."""
_machines: OrderedDict[str, Machine] = OrderedDict()
"""Machines of builds that were started elsewhere, for which this process is a worker."""
_machines_lock = threading.Lock()


def enlist(machine: Machine) -> None:
    """Let the batches of a run in this process use this machine, so that engines are loaded once."""
    with _machines_lock:
        _enlisted[machine.run_id] = machine


def release_machine(run_id: str) -> None:
    """Forget the machine of a run that has ended."""
    with _machines_lock:
        _enlisted.pop(run_id, None)


def machine_for(job: Job) -> Machine:
    """Return the one machine of a run in this process."""
    with _machines_lock:
        if job.run_id in _enlisted:
            return _enlisted[job.run_id]
        if job.run_id not in _machines:
            settings = Settings.model_validate_json(job.settings_json)
            _machines[job.run_id] = Machine(Store(Path(job.work), create=False), settings, run_id=job.run_id)
            while len(_machines) > _MACHINES_KEPT:
                _machines.popitem(last=False)[1].close()
        return _machines[job.run_id]


def _passing(_task: Any, _run: Any, state: Any) -> bool:
    """Try a batch again only where that can help: a locked database, an engine that asks for it."""
    return isinstance(state.result(raise_on_failure=False), RetryableError)


@task(name="ingest", retry_delay_seconds=RETRY_DELAYS_S, retry_condition_fn=_passing, cache_policy=NO_CACHE)
def ingest_batch(job: Job, documents: list[RootedDocument]) -> list[Ingested]:
    """Decode the files of some documents."""
    return machine_for(job).ingest(documents)


@task(name="screen", retry_delay_seconds=RETRY_DELAYS_S, retry_condition_fn=_passing, cache_policy=NO_CACHE)
def screen_batch(job: Job, documents: list[list[str]]) -> list[Outcome]:
    """Screen the pages of some documents."""
    return machine_for(job).screen(documents)


@task(name="read", retry_delay_seconds=RETRY_DELAYS_S, retry_condition_fn=_passing, cache_policy=NO_CACHE)
def read_batch(job: Job, page_ids: list[str]) -> list[Outcome]:
    """Read a batch of pages."""
    return machine_for(job).read(page_ids)


@task(name="problems", retry_delay_seconds=RETRY_DELAYS_S, retry_condition_fn=_passing, cache_policy=NO_CACHE)
def problems_batch(job: Job, documents: list[Document]) -> list[Outcome]:
    """Make the problems of some documents."""
    return machine_for(job).process(documents)


@task(name="corpus", retry_delay_seconds=RETRY_DELAYS_S, retry_condition_fn=_passing, cache_policy=NO_CACHE)
def corpus_batch(job: Job, documents: list[Document]) -> list[Outcome]:
    """Align, deduplicate and check all problems."""
    return machine_for(job).finish(documents)


class PrefectCrew:
    """Does the batches of one build as Prefect tasks; satisfies ``machine.Crew`` inside a flow."""

    def __init__(self, job: Job, settings: FlowSettings, *, stop: Callable[[], None]) -> None:
        """Make the crew.

        Args:
            job: What tasks need to know.
            settings: Batches and retries.
            stop: Called when the build cannot go on, so that batches that are still at work do not begin another item.
        """
        self._job = job
        self._settings = settings
        self._stop = stop

    def ingest(self, documents: Sequence[RootedDocument]) -> list[Ingested]:
        """Decode the files of documents, in order."""
        return self._spread(ingest_batch, documents)

    def screen(self, documents: Sequence[Sequence[str]]) -> list[Outcome]:
        """Screen pages, given by document."""
        return self._spread(screen_batch, documents)

    def read(self, page_ids: Sequence[str]) -> list[Outcome]:
        """Read pages."""
        return self._spread(read_batch, page_ids)

    def process(self, documents: Sequence[Document]) -> list[Outcome]:
        """Make the problems of documents."""
        return self._spread(problems_batch, documents)

    def finish(self, documents: Sequence[Document]) -> list[Outcome]:
        """Align, deduplicate and check the problems of all documents, in one task."""
        return self._results(corpus_batch, [list(documents)])

    def _spread(self, work: Any, items: Sequence[Any]) -> list[Any]:
        fair = -(-len(items) // self._settings.workers)  # few items are shared out, so that no worker is idle
        size = max(1, min(self._settings.batch_pages, fair))
        return self._results(work, [list(items[start : start + size]) for start in range(0, len(items), size)])

    def _results(self, work: Any, batches: Sequence[list[Any]]) -> list[Any]:
        """Submit one task per batch and return their results in order."""
        chosen = work.with_options(retries=self._settings.retries)
        try:
            futures = [chosen.submit(self._job, batch) for batch in batches]
            return [one for future in futures for one in future.result()]
        except RetryableError as error:
            self._stop()
            tries = f"after {self._settings.retries + 1} tries; build again, it goes on there"
            raise FatalError(error.code, f"{error.message} ({tries})") from error
        except BaseException:
            self._stop()
            raise


def task_runner(chosen: FlowSettings) -> TaskRunner[Any]:
    """Return what runs the tasks: the one place that chooses where they run.

    Raises:
        FatalError: ``config.runner`` if its package is not installed.
    """
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
