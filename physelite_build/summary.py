"""Counts outcomes: the table at the end of a build, and what ``status`` and ``failures`` show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from physelite_build.records import Outcome, Status
from physelite_build.stages.order import STAGES

__all__ = ["StageCount", "count_stages", "refusals", "run_status"]

_COLUMNS = {Status.DONE: "done", Status.EMPTY: "empty", Status.REJECTED: "rejected", Status.FAILED: "failed"}


@dataclass(slots=True)
class StageCount:
    """How many items of one stage ended in which way."""

    stage: str
    done: int = 0
    empty: int = 0
    rejected: int = 0
    failed: int = 0
    skipped: int = 0
    """Nothing to do: the result was already in the store, or the item was left out by ``--limit``."""
    seconds: float = 0.0

    def row(self) -> dict[str, object]:
        """The counts as one table row."""
        return asdict(self)


def count_stages(outcomes: Iterable[Outcome], *, fresh: bool = True) -> list[StageCount]:
    """Count outcomes by stage, in running order.

    Args:
        outcomes: At most one per stage and item counts: the last.
        fresh: True for the table of a run, in which a good result that was already known counts as skipped; false for the
            state of the store. Refusals keep their column either way: they still need a person.

    Returns:
        One row per stage of the pipeline, with seconds really spent.
    """
    counts = {stage.name: StageCount(stage.name) for stage in STAGES}
    last = {(outcome.stage, outcome.item_id): outcome for outcome in outcomes}
    for outcome in last.values():
        count = counts.setdefault(outcome.stage, StageCount(outcome.stage))  # a folder may be older than the program
        known = fresh and outcome.reused and outcome.status in (Status.DONE, Status.EMPTY)
        column = "skipped" if known else _COLUMNS.get(outcome.status, "skipped")
        setattr(count, column, getattr(count, column) + 1)
        if not (fresh and outcome.reused):
            count.seconds = round(count.seconds + outcome.elapsed_s, 3)
    return list(counts.values())


def refusals(outcomes: Iterable[Outcome], *, failed_only: bool = False) -> list[Outcome]:
    """Return what failed, then what was put aside, each in running order of stages and by item."""
    position = {stage.name: index for index, stage in enumerate(STAGES)}
    wanted = (Status.FAILED,) if failed_only else (Status.FAILED, Status.REJECTED)
    chosen = [outcome for outcome in outcomes if outcome.status in wanted]
    return sorted(chosen, key=lambda o: (o.status is not Status.FAILED, position.get(o.stage, -1), o.item_id))


def run_status(outcomes: Iterable[Outcome]) -> str:
    """Return ``partial`` if an item failed, else ``complete``."""
    return "partial" if any(outcome.status is Status.FAILED for outcome in outcomes) else "complete"
