"""How a build went, in numbers: outcomes by stage, refusals, pairs and findings. Neighbour: ``collect.py`` (content)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from physelite_build.records import Document, DocumentProblems, Finding, Outcome, Page, Pair, Severity, Source, Status

if TYPE_CHECKING:
    from physelite_build.store import Store

__all__ = ["STAGE_ORDER", "StageCount", "Summary", "Tile", "stage_counts", "summarise"]

STAGE_ORDER = (
    "ingest",
    "screen",
    "straighten",
    "read",
    "layout",
    "transcribe",
    "segment",
    "figures",
    "answers",
    "align",
    "dedup",
    "check",
)
"""Running order for tables; unknown stages follow by name."""


@dataclass(frozen=True, slots=True)
class StageCount:
    """How many items of one stage ended in which way."""

    stage: str
    done: int
    empty: int
    rejected: int
    failed: int
    skipped: int
    reused: int
    """Items whose result was already known; they are also counted under their ending."""
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Tile:
    """One number at the top of the report."""

    number: int
    label: str
    """Plural; its last letter is dropped for one."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything the head of the report shows."""

    run_id: str | None
    started_at: str | None
    run_status: str | None
    tiles: tuple[Tile, ...]
    stages: tuple[StageCount, ...]
    refusals: tuple[Outcome, ...]
    """Rejected and failed items in running order."""
    pairs: tuple[Pair, ...]
    findings: tuple[Finding, ...]
    """Blocking ones first."""


def summarise(store: Store) -> Summary:
    """Read the numbers of the last build from its store."""
    outcomes = sorted(store.outcomes(), key=lambda outcome: (_rank(outcome.stage), outcome.item_id))
    run_id, started_at, status = store.last_run() or (None, None, None)
    findings = store.all("finding", Finding).values()
    return Summary(
        run_id=run_id,
        started_at=started_at,
        run_status=status,
        tiles=_tiles(store, outcomes),
        stages=stage_counts(outcomes),
        refusals=tuple(o for o in outcomes if o.status in (Status.FAILED, Status.REJECTED)),
        pairs=tuple(store.all("pair", Pair).values()),
        findings=tuple(sorted(findings, key=lambda f: (f.severity is not Severity.BLOCK, f.subject, f.code))),
    )


def stage_counts(outcomes: Iterable[Outcome]) -> tuple[StageCount, ...]:
    """Count outcomes by stage, in running order."""
    by_stage: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_stage.setdefault(outcome.stage, []).append(outcome)
    return tuple(
        StageCount(
            stage=stage,
            **{str(status): sum(o.status is status for o in items) for status in Status},
            reused=sum(o.reused for o in items),
            elapsed_s=sum(o.elapsed_s for o in items),
        )
        for stage, items in sorted(by_stage.items(), key=lambda entry: _rank(entry[0]))
    )


def _rank(stage: str) -> tuple[int, str]:
    return (STAGE_ORDER.index(stage), "") if stage in STAGE_ORDER else (len(STAGE_ORDER), stage)


def _tiles(store: Store, outcomes: Iterable[Outcome]) -> tuple[Tile, ...]:
    pages = store.all("page", Page)
    aside = {o.item_id for o in outcomes if o.stage == "screen" and o.status in (Status.REJECTED, Status.EMPTY)}
    documents = store.all("document", Document)
    problems = [
        problem
        for doc_id in documents
        if (found := store.load("answers", doc_id, DocumentProblems)) is not None
        for problem in found.problems
    ]
    languages = {tag: sum(p.language == tag for p in problems) for tag in ("zh", "en")}
    named = {"zh": "Chinese", "en": "English"}
    figures = sum(len(problem.figures) for problem in problems)
    answers = sum(len(problem.answers) for problem in problems)
    kept_aside = len(aside & pages.keys())
    return (
        Tile(len(store.all("source", Source)), "files"),
        Tile(len(documents), "documents"),
        Tile(len(pages), "pages", f"{kept_aside} put aside" if kept_aside else ""),
        Tile(
            len(problems), "problems", ", ".join(f"{count} {named[tag]}" for tag, count in languages.items() if count)
        ),
        Tile(figures, "figures"),
        Tile(answers, "typed answers"),
    )
