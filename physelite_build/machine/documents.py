"""Work on documents: turn pages that were read into problems with figures and typed answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from physelite_build.attempt import Aside
from physelite_build.blobs import sha256_of
from physelite_build.errors import ItemError
from physelite_build.machine.engines import Once
from physelite_build.machine.items import ItemRunner
from physelite_build.records import Document, DocumentProblems, Outcome, PageLayout, Record, Status, Upright
from physelite_build.stages import order
from physelite_build.stages.answers import type_answers
from physelite_build.stages.figures import place_figures
from physelite_build.stages.join import find_partners, join_solutions
from physelite_build.stages.segment import PageInput, segment
from physelite_build.store import Store

__all__ = ["answer_documents", "process_document"]


def process_document(runner: ItemRunner, document: Document) -> list[Outcome]:
    """Take one document through segment and figures; stop at the first stage that gives nothing to go on with."""
    store = runner.store
    digests = _digests_of(store, document)
    pages = Once(lambda: [_input_of(runner, page_id) for page_id in digests])
    flat = [digest for of_page in digests.values() for digest in of_page]
    segmented = runner.run(
        order.SEGMENT,
        document.doc_id,
        [document.doc_id, document.notes.model_dump_json(), *flat],
        lambda: _or_empty(segment(document, pages()), document, pages()),
    )
    if segmented.output is None:
        return [segmented.outcome]
    uprights = {page_id: _upright_of(store, page_id) for page_id in digests}
    placed = runner.run(
        order.FIGURES,
        document.doc_id,
        [segmented.outcome.output_sha256 or "", *flat, *(upright.image_sha256 for upright in uprights.values())],
        lambda: place_figures(
            segmented.load(DocumentProblems),
            pages(),
            picture_of=lambda page_id: store.blobs.get_image(uprights[page_id].image_sha256),
            blobs=store.blobs,
        ),
        blobs_of=_crops_of,
    )
    return [segmented.outcome, placed.outcome]


def answer_documents(runner: ItemRunner, documents: Sequence[Document]) -> list[Outcome]:
    """Join solutions from other documents, then type the answers of all documents; quick, so it is one piece of work."""
    found = {
        document.doc_id: made
        for document in documents
        if (made := runner.store.load(order.FIGURES.name, document.doc_id, DocumentProblems)) is not None
    }
    paper_of = find_partners(found, documents)
    solutions_of = {paper: solutions for solutions, paper in paper_of.items()}
    outcomes = []
    for doc_id, made in found.items():
        paper, other = paper_of.get(doc_id), found.get(solutions_of.get(doc_id, ""))
        inputs = [made.model_dump_json(), other.model_dump_json() if other else "", paper or ""]
        work = partial(_answers, made, other, paper)
        outcomes.append(runner.run(order.ANSWERS, doc_id, [sha256_of(text.encode()) for text in inputs], work).outcome)
    return outcomes


def _answers(made: DocumentProblems, other: DocumentProblems | None, paper: str | None) -> Record | Aside:
    if paper is not None:
        message = f"{made.doc_id} holds solutions; they stand with the problems of {paper}"
        return Aside(Status.EMPTY, "document.joined", message, made.model_copy(update={"problems": ()}))
    return type_answers(join_solutions(made, other) if other else made)


def _digests_of(store: Store, document: Document) -> dict[str, tuple[str, str]]:
    """Return, for each page that was transcribed in this build, the digests of its record and of its transcription."""
    found: dict[str, tuple[str, str]] = {}
    for page_id in document.page_ids:
        screened = store.outcomes(stage=order.SCREEN.name, item_id=page_id)
        written = store.outcomes(stage=order.TRANSCRIBE.name, item_id=page_id)
        if [outcome.status for outcome in screened] == [Status.DONE] and written and written[0].output_sha256:
            body = store.body("page", page_id) or ""
            found[page_id] = (sha256_of(body.encode()), written[0].output_sha256)
    return found


def _input_of(runner: ItemRunner, page_id: str) -> PageInput:
    layout = runner.store.load(order.TRANSCRIBE.name, page_id, PageLayout)
    if layout is None:
        raise ItemError("page.not_read", f"{page_id} was not transcribed; run the build again")
    return PageInput(page=runner.page(page_id), layout=layout)


def _upright_of(store: Store, page_id: str) -> Upright:
    upright = store.load(order.STRAIGHTEN.name, page_id, Upright)
    if upright is None:
        raise ItemError("page.not_read", f"{page_id} was not straightened; run the build again")
    return upright


def _crops_of(output: str) -> list[str]:
    made = DocumentProblems.model_validate_json(output)
    placed = (figure for problem in made.problems for figure in problem.figures)
    return [figure.image_sha256 for figure in (*placed, *made.unplaced_figures)]


def _or_empty(made: DocumentProblems, document: Document, pages: Sequence[PageInput]) -> Record | Aside:
    if made.problems:
        return made
    why = "no page of it could be read" if not pages else "no problem was found on its pages"
    return Aside(Status.EMPTY, "document.empty", f"{document.doc_id}: {why}", made)
