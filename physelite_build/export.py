"""Writes what was read in the form that measuring programs take: one JSON line per document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from physelite_build.records import Document, DocumentProblems, Figure, Outcome, Page, Problem, Status, Upright
from physelite_build.stages import order
from physelite_build.store import Store, document_of

__all__ = ["page_records", "to_json_lines"]


def page_records(store: Store) -> Iterator[dict[str, Any]]:
    """Yield one record per document, problems in order of appearance, duplicates too.

    Boxes are pixels of the page as a viewer shows it; ``page_size`` is the size of that picture. A document of the same bytes
    as an earlier one lists the same problems.

    Yields:
        ``{"doc_id", "error", "seconds", "problems": [...]}``; ``error`` names the first failure, None if there is none.
    """
    documents = store.all("document", Document)
    pages = store.all("page", Page)
    outcomes: dict[str, list[Outcome]] = {}
    for outcome in store.outcomes():
        outcomes.setdefault(document_of(outcome.stage, outcome.item_id), []).append(outcome)
    for doc_id, document in documents.items():
        original = document.copy_of or doc_id
        made = store.load(order.ANSWERS.name, original, DocumentProblems)
        mine = outcomes.get(original, [])
        failed = next((f"{o.code}: {o.message}" for o in mine if o.status is Status.FAILED), None)
        yield {
            "doc_id": doc_id,
            "error": failed,
            "seconds": round(sum(outcome.elapsed_s for outcome in mine), 2),
            "problems": [_problem(store, pages, problem) for problem in made.problems] if made else [],
        }


def to_json_lines(records: Iterator[dict[str, Any]]) -> str:
    """Return records as JSON lines, UTF-8, in order."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _problem(store: Store, pages: dict[str, Page], problem: Problem) -> dict[str, Any]:
    return {
        "number": problem.number,
        "language": problem.language,
        "title": problem.title,
        "points": problem.points,
        "statement": problem.statement,
        "solution": problem.solution,
        "steps": [step.text for step in problem.steps],
        "final_answer": problem.final_answer,
        "pages": list(problem.pages),
        "figures": [record for record in (_figure(store, pages, figure) for figure in problem.figures) if record],
    }


def _figure(store: Store, pages: dict[str, Page], figure: Figure) -> dict[str, Any] | None:
    page, upright = pages.get(figure.page_id), store.load(order.STRAIGHTEN.name, figure.page_id, Upright)
    if page is None or upright is None:
        return None
    seen = upright.to_page.box(figure.box)
    return {
        "page": page.number,
        "bbox": [seen.left, seen.top, seen.right, seen.bottom],
        "page_size": [page.width_px, page.height_px],
        "role": figure.role.value,
        "caption": figure.caption,
    }
