"""Answers *where does this come from*: page, box, engine and confidence of every field of a problem, page or document."""

from __future__ import annotations

from typing import Any

from physelite_build.errors import ItemError
from physelite_build.records import (
    Document,
    DocumentProblems,
    Entry,
    Finding,
    Page,
    PageLayout,
    Pair,
    Problem,
    Upright,
)
from physelite_build.stages import order
from physelite_build.store import Store

__all__ = ["explain"]


def explain(store: Store, wanted: str) -> dict[str, Any]:
    """Explain one id.

    Args:
        store: Work folder.
        wanted: Problem key (``doc#1``), public id (``PE-000001``), page id (``doc/p2``) or document id.

    Returns:
        JSON-like description.

    Raises:
        ItemError: ``explain.unknown`` if nothing has that id.
    """
    documents = store.all("document", Document)
    key = store.key_of_public_id(wanted) or wanted
    doc_id, _, number = key.rpartition("#")
    if doc_id in documents:
        original = documents[doc_id].copy_of or doc_id  # a copy lists the problems of its original
        key = f"{original}#{number}"
        made = store.load(order.ANSWERS.name, original, DocumentProblems)
        problem = next((p for p in (made.problems if made else ()) if p.key == key), None)
        if problem is not None:
            return _problem(store, problem)
    page = store.get("page", wanted, Page)
    if page is not None:
        return _page(store, page)
    if wanted in documents:
        return _document(store, documents[wanted])
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
        "fields": [
            {
                "field": span.field,
                "page": span.page_id,
                "box": [span.box.left, span.box.top, span.box.right, span.box.bottom],
                "engine": span.engine,
                "confidence": span.confidence,
            }
            for span in problem.spans
        ],
        "answers": [answer.model_dump(mode="json") for answer in problem.answers],
        "figures": [
            {
                "figure": figure.figure_id,
                "page": figure.page_id,
                "box": [figure.box.left, figure.box.top, figure.box.right, figure.box.bottom],
                "role": figure.role.value,
                "caption": figure.caption,
                "link_rule": figure.link_rule,
                "link_score": figure.link_score,
            }
            for figure in problem.figures
        ],
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
                "field": region.kind.value,
                "page": page.page_id,
                "box": [region.box.left, region.box.top, region.box.right, region.box.bottom],
                "engine": region.engine,
                "confidence": region.confidence,
                "text": region.text,
            }
            for region in (layout.regions if layout else ())
        ],
    }


def _document(store: Store, document: Document) -> dict[str, Any]:
    made = store.load(order.ANSWERS.name, document.copy_of or document.doc_id, DocumentProblems)
    return {
        "kind": "document",
        "document": document.model_dump(mode="json"),
        "outcomes": [outcome.model_dump(mode="json") for outcome in store.outcomes(item_id=document.doc_id)],
        "problems": [problem.key for problem in (made.problems if made else ())],
        "fields": [],
    }
