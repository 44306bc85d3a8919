"""Answers *where does this come from*: page, box, engine and confidence of every field of a problem, page or document."""

from __future__ import annotations

from typing import Any

from physelite_build.errors import ItemError
from physelite_build.geometry import Box
from physelite_build.records import (
    Document,
    DocumentProblems,
    Entry,
    Figure,
    Finding,
    Page,
    PageLayout,
    Pair,
    Problem,
    RegionKind,
    Upright,
)
from physelite_build.stages import order
from physelite_build.store import Store, document_of

__all__ = ["explain"]

_SAME_BOX = 0.5
"""A figure is its region, refitted to the ink."""


def explain(store: Store, wanted: str) -> dict[str, Any]:
    """Explain one id.

    Args:
        store: Work folder.
        wanted: Problem key (``doc#1``), public id (``PE-000001``: both languages), page id (``doc/p2``), document id, or an
            item as ``failures`` names it.

    Returns:
        JSON-like description.

    Raises:
        ItemError: ``explain.unknown`` if nothing has that id.
    """
    documents = store.all("document", Document)
    key = store.key_of_public_id(wanted)
    problem = _find_problem(store, key or wanted)
    if problem is not None:
        return _published(store, problem) if key else _problem(store, problem)
    page = store.get("page", wanted, Page)
    if page is not None:
        return _page(store, page)
    if wanted in documents:
        return _document(store, documents[wanted])
    ended = store.outcomes(item_id=wanted)
    if ended:
        return {"kind": "item", "item": wanted, "outcomes": [o.model_dump(mode="json") for o in ended], "fields": []}
    raise ItemError(
        "explain.unknown",
        f"nothing here is called {wanted!r}; give a problem (doc#1), a public id (PE-000001), a page (doc/p2) or a document",
    )


def _problem(store: Store, problem: Problem) -> dict[str, Any]:
    entries = store.all("entry", Entry).values()
    entry = next((e for e in entries if problem.key in (e.key, e.zh, e.en, *e.duplicates)), None)
    return {
        "kind": "problem",
        "key": problem.key,
        "public_id": store.public_id_of(entry.key) if entry else None,
        "language": problem.language,
        "number": problem.number,
        "title": problem.title,
        "points": problem.points,
        "entry": entry.model_dump(mode="json") if entry else None,
        "fields": [*_fields(problem), *(_figure(store, figure) for figure in problem.figures)],
        "answers": [answer.model_dump(mode="json") for answer in problem.answers],
        "parts": [part.model_dump(mode="json") for part in problem.parts],
        "pairs": [
            p.model_dump(mode="json") for p in store.all("pair", Pair).values() if problem.key in (p.left, p.right)
        ],
        "findings": [
            f.model_dump(mode="json") for f in store.all("finding", Finding).values() if f.subject == problem.key
        ],
        "statement": problem.statement,
        "solution": problem.solution,
        "final_answer": problem.final_answer,
    }


def _published(store: Store, problem: Problem) -> dict[str, Any]:
    """Explain a public id: both languages of its row."""
    found = _problem(store, problem)
    entry = found["entry"] or {}
    other = next((key for key in (entry.get("zh"), entry.get("en")) if key and key != problem.key), None)
    if other is not None and (partner := _find_problem(store, other)) is not None:
        found["fields"] += _problem(store, partner)["fields"]
    return found


def _fields(problem: Problem) -> list[dict[str, Any]]:
    """Rows for the pieces of the texts; title and points stand in the heading, with the number."""
    names = {"number": ["number", *(n for n in ("title", "points") if getattr(problem, n) is not None)]}
    return [
        _row(name, span.page_id, span.box, span.engine, span.confidence) | {"problem": problem.key}
        for span in problem.spans
        for name in names.get(span.field, [span.field])
    ]


def _figure(store: Store, figure: Figure) -> dict[str, Any]:
    layout = store.load(order.LAYOUT.name, figure.page_id, PageLayout)
    regions = layout.regions if layout else ()
    region = next((r for r in regions if r.kind is RegionKind.FIGURE and r.box.iou(figure.box) > _SAME_BOX), None)
    row = _row(
        "figure", figure.page_id, figure.box, region.engine if region else None, region.confidence if region else None
    )
    linked = {"role": figure.role.value, "caption": figure.caption, "link_rule": figure.link_rule}
    return row | {"figure": figure.figure_id, "problem": figure.problem_key, "link_score": figure.link_score} | linked


def _row(field: str, page_id: str, box: Box, engine: str | None, confidence: float | None) -> dict[str, Any]:
    corners = [box.left, box.top, box.right, box.bottom]
    return {"field": field, "page": page_id, "box": corners, "engine": engine, "confidence": confidence}


def _find_problem(store: Store, key: str) -> Problem | None:
    documents = store.all("document", Document)
    doc_id, _, number = key.rpartition("#")
    if doc_id not in documents:
        return None
    original = documents[doc_id].copy_of or doc_id  # a copy lists the problems of its original
    made = store.load(order.ANSWERS.name, original, DocumentProblems)
    return next((p for p in (made.problems if made else ()) if p.key == f"{original}#{number}"), None)


def _page(store: Store, page: Page) -> dict[str, Any]:
    upright = store.load(order.STRAIGHTEN.name, page.page_id, Upright)
    layout = store.load(order.TRANSCRIBE.name, page.page_id, PageLayout)
    return {
        "kind": "page",
        "page": page.model_dump(mode="json"),
        "upright": upright.model_dump(mode="json") if upright else None,
        "outcomes": [outcome.model_dump(mode="json") for outcome in store.outcomes(item_id=page.page_id)],
        "fields": [
            {
                **_row(region.kind.value, page.page_id, region.box, region.engine, region.confidence),
                "text": region.text,
            }
            for region in (layout.regions if layout else ())
        ],
    }


def _document(store: Store, document: Document) -> dict[str, Any]:
    made = store.load(order.ANSWERS.name, document.copy_of or document.doc_id, DocumentProblems)
    mine = [o for o in store.outcomes() if document_of(o.stage, o.item_id) == document.doc_id]
    return {
        "kind": "document",
        "document": document.model_dump(mode="json"),
        "outcomes": [outcome.model_dump(mode="json") for outcome in mine],
        "pages": list(document.page_ids),
        "problems": [problem.key for problem in (made.problems if made else ())],
        "fields": [],
    }
