"""How a build went, in numbers: outcomes by stage, refusals, pairs and findings. Neighbour: ``collect.py`` (content)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from physelite_build.records import Document, DocumentProblems, Finding, Outcome, Page, Pair, Severity, Source, Status
from physelite_build.summary import StageCount, count_stages, refusals

if TYPE_CHECKING:
    from physelite_build.store import Store

__all__ = ["Summary", "Tile", "summarise"]


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
    """What failed, then what was put aside."""
    pairs: tuple[Pair, ...]
    findings: tuple[Finding, ...]
    """Blocking ones first."""


def summarise(store: Store) -> Summary:
    """Read the numbers of the last build from its store."""
    outcomes = store.outcomes()
    run_id, started_at, status = store.last_run() or (None, None, None)
    findings = store.all("finding", Finding).values()
    return Summary(
        run_id=run_id,
        started_at=started_at,
        run_status=status,
        tiles=_tiles(store, outcomes),
        stages=tuple(count_stages(outcomes, fresh=False)) if outcomes else (),
        refusals=tuple(refusals(outcomes)),
        pairs=tuple(store.all("pair", Pair).values()),
        findings=tuple(sorted(findings, key=lambda f: (f.severity is not Severity.BLOCK, f.subject, f.code))),
    )


def _tiles(store: Store, outcomes: Iterable[Outcome]) -> tuple[Tile, ...]:
    pages = store.all("page", Page)
    aside = {o.item_id for o in outcomes if o.stage == "screen" and o.status in (Status.REJECTED, Status.EMPTY)}
    documents = {k: d for k, d in store.all("document", Document).items() if d.page_ids}
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
