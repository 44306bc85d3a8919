"""The build flow: ``machine.build_corpus`` with its batches as Prefect tasks, and what it leaves in Prefect's pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from prefect import flow
from prefect.artifacts import create_markdown_artifact, create_table_artifact

from physelite_build.config import Settings
from physelite_build.flows.crew import Job, PrefectCrew, enlist, machine_for, release_machine, task_runner
from physelite_build.machine import BuildResult, Engines, Machine, build_corpus
from physelite_build.machine.build import Progress
from physelite_build.records import Outcome
from physelite_build.store import Store
from physelite_build.summary import count_stages, refusals

__all__ = ["BuildResult", "Progress", "run_build"]

_SHOWN_REFUSALS = 50


def run_build(
    paths: Sequence[Path],
    work: Path,
    settings: Settings,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
    engines: Engines | None = None,
) -> BuildResult:
    """Run the build flow and wait for it.

    Args:
        paths: Files and folders of scans.
        work: Work folder, made if missing.
        settings: Settings in force.
        limit: Read at most so many pages; the others count as skipped.
        progress: Told about every outcome.
        engines: Engines to use in this process; None makes those of the settings.

    Returns:
        Outcomes of all items of the corpus, documents of earlier builds included.

    Raises:
        FatalError: If the run as a whole cannot go on; ``store.busy`` if another build is at work in the folder.
    """
    run_id = datetime.now(UTC).strftime("%Y%m%dT%H%M%S-") + uuid4().hex[:6]
    tell = progress or _silent
    store = Store(work)
    try:
        with store.one_builder():
            machine = Machine(
                store, settings, run_id=run_id, listener=lambda outcome: tell(outcome.stage, outcome), engines=engines
            )
            enlist(machine)
            _listeners[run_id] = tell
            chosen = build.with_options(task_runner=task_runner(settings.flow))
            job = Job(str(work.absolute()), settings.model_dump_json(), run_id)
            result: BuildResult = chosen([str(path) for path in paths], job, limit)
    finally:
        _listeners.pop(run_id, None)
        release_machine(run_id)
        store.close()
    return result


_listeners: dict[str, Progress] = {}
"""Progress of the runs of this process: a function is nothing that Prefect could keep as a parameter."""


def _silent(stage: str, news: Outcome | int) -> None:
    """Progress of a run that nobody watches."""


@flow(name="build", validate_parameters=False)
def build(paths: list[str], job: Job, limit: int | None) -> BuildResult:
    """Bring the corpus in a work folder up to date with the scans."""
    machine = machine_for(job)
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    crew = PrefectCrew(job, machine.settings.flow, stop=machine.stop)
    tell = _listeners.get(job.run_id, _silent)
    result = build_corpus(machine, crew, paths, started_at=started_at, limit=limit, tell=tell)
    _leave_artifacts(result)
    return result


def _leave_artifacts(result: BuildResult) -> None:
    """Leave the run table, the figures of the run and the refusals in Prefect's UI."""
    rows = [count.row() for count in count_stages(result.outcomes)]
    create_table_artifact(key="build-stages", table=rows, description="Items of each stage by how they ended")
    refused = refusals(result.outcomes)
    lines = [f"* `{o.item_id}` {o.code}: {o.message}" for o in refused[:_SHOWN_REFUSALS]]
    figures = (
        f"{result.documents} documents, {result.pages} pages, {result.problems} problems; the run is {result.status}."
    )
    text = "\n".join([f"# Build {result.run_id}", "", figures, "", f"{len(refused)} refused:", "", *lines])
    create_markdown_artifact(key="build-summary", markdown=text, description="What the build read and what it refused")
