"""What people see in the terminal: progress on stderr, tables and JSON on stdout."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from physelite_build.records import Finding, Outcome
from physelite_build.stages.order import STAGES
from physelite_build.summary import StageCount, refusals

__all__ = [
    "StageProgress",
    "err",
    "out",
    "print_json",
    "print_refusals",
    "print_stages",
    "print_table",
    "stage_progress",
]

out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 160)
err = Console(stderr=True, highlight=False, soft_wrap=True)

_SHOWN_REFUSALS = 12


class StageProgress:
    """A bar per stage on a terminal; a line per stage elsewhere. Each item counts once."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._bars: dict[str, TaskID] = {}
        self._seen: set[tuple[str, str]] = set()
        self._counts: Counter[str] = Counter()
        self._totals: dict[str, int] = {}
        self._lock = threading.Lock()

    def __call__(self, stage: str, news: Outcome | int) -> None:
        """Take the number of items of a stage, or one outcome."""
        with self._lock:
            if isinstance(news, int):
                self._totals[stage] = news
                if self._progress is not None:
                    self._progress.update(self._bar(stage), total=news)
            elif (stage, news.item_id) not in self._seen:
                self._seen.add((stage, news.item_id))
                self._counts[stage] += 1
                if self._progress is not None:
                    total = max(self._totals.get(stage, 0), self._counts[stage])
                    self._progress.update(self._bar(stage), advance=1, total=total)
                elif self._counts[stage] == self._totals.get(stage):
                    err.print(f"{stage}: {self._counts[stage]} items")

    def finish(self) -> None:
        """Close the bars of stages that had fewer items than expected, because items had failed before."""
        for stage, total in self._totals.items():
            if self._progress is not None:
                self._progress.update(self._bar(stage), total=self._counts[stage])
            elif self._counts[stage] < total:
                err.print(f"{stage}: {self._counts[stage]} of {total} items")

    def _bar(self, stage: str) -> TaskID:
        if self._progress is not None and stage not in self._bars:
            self._bars[stage] = self._progress.add_task(stage, total=None)
        return self._bars[stage]


@contextmanager
def stage_progress() -> Iterator[StageProgress]:
    """Show progress while the body runs; bars only if stderr is a terminal."""
    if not err.is_terminal:
        lines = StageProgress(None)
        yield lines
        lines.finish()
        return
    columns = (TextColumn("{task.description:<11}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress:
        shown = StageProgress(progress)
        for stage in STAGES:
            shown(stage.name, 0)
        yield shown
        shown.finish()


def print_json(value: Any) -> None:
    """Write one JSON document to stdout, UTF-8, indented."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_table(title: str | None, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a plain table to stdout; numbers are right-aligned."""
    table = Table(title=title, title_justify="left")
    for index, column in enumerate(columns):
        numeric = all(isinstance(row[index], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric and rows else "left", overflow="fold")
    for row in rows:
        table.add_row(
            *("" if cell is None else f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in row)
        )
    out.print(table)


def print_stages(counts: Sequence[StageCount]) -> None:
    """Write the table of stages."""
    rows = [tuple(count.row().values()) for count in counts]
    print_table(None, ("stage", "done", "empty", "rejected", "failed", "skipped", "seconds"), rows)


def print_refusals(outcomes: Sequence[Outcome], *, work: str) -> None:
    """Write the first refusals and the command that lists the rest."""
    refused = refusals(outcomes)
    for outcome in refused[:_SHOWN_REFUSALS]:
        out.print(f"{outcome.status.value}: {outcome.item_id}: {outcome.code}: {outcome.message}", markup=False)
    if len(refused) > _SHOWN_REFUSALS:
        out.print(f"… and {len(refused) - _SHOWN_REFUSALS} more: physelite failures {work} --all", markup=False)


def print_findings(findings: Sequence[Finding], *, limit: int = _SHOWN_REFUSALS) -> None:
    """Write findings, one a line."""
    for finding in findings[:limit]:
        out.print(f"{finding.severity.value}: {finding.code}: {finding.message}", markup=False)
    if len(findings) > limit:
        out.print(f"… and {len(findings) - limit} more", markup=False)
