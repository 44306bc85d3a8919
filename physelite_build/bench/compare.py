"""One document against its truth: who is who, and how far apart they are. Neighbour of ``measures.py``, which divides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from rapidfuzz.distance import Levenshtein

from physelite_build.bench.matching import align_in_order, best_assignment, box_overlap, pair_greedily, similarities
from physelite_build.bench.measures import Tally, add_up
from physelite_build.bench.normal import flat_text, formulas_of, normal_answer, normal_number, normal_text, pieces_of
from physelite_build.bench.predicted import ReadDocument, ReadFigure, ReadProblem
from physelite_build.bench.truth import FloatBox, TruthDocument, TruthFigure, TruthProblem

__all__ = ["SAME_PROBLEM", "compare_document"]

SAME_PROBLEM = 0.5
"""Least similarity of two flattened statements that are one problem (README of the development scans)."""


@dataclass(frozen=True, slots=True)
class _Matching:
    """Which read problem is which true problem, both by their index in the document."""

    read_of: dict[int, int] = field(default_factory=dict)
    cut_off: int = 0
    """Read problems that answer to a true one without a statement; neither right nor wrong."""


def compare_document(truth: TruthDocument, read: ReadDocument | None) -> Tally:
    """Count what was read well and badly.

    Args:
        truth: The document as it is.
        read: What a program read; None counts as a failure without problems.

    Returns:
        Counts of this document.
    """
    problems = read.problems if read else ()
    matching = _match(truth, problems)
    timed = read.elapsed_s if read else None
    whole = Tally(
        documents=1,
        failed_documents=int(read is None or read.failed),
        pages=len(truth.pages),
        problems_read=len(problems) - matching.cut_off,
        timed_pages=len(truth.pages) if timed else 0,
        elapsed_s=timed or 0.0,
    )
    texts = [
        _compare_problem(problem, problems[matching.read_of[index]] if index in matching.read_of else None)
        for index, problem in enumerate(truth.problems)
        if problem.statement
    ]
    return add_up([whole, *texts, _compare_figures(truth, problems, matching)])


def _match(truth: TruthDocument, problems: Sequence[ReadProblem]) -> _Matching:
    measured = [index for index, problem in enumerate(truth.problems) if problem.statement]
    rows = [flat_text(truth.problems[index].statement or "").lower() for index in measured]
    columns = [flat_text(problem.statement).lower() for problem in problems]
    weights = similarities(rows, columns)
    for column, text in enumerate(columns):
        if not text:
            weights[:, column] = 0.0
    pairs = [pair for pair in best_assignment(weights) if pair.value >= SAME_PROBLEM]
    read_of = {measured[pair.row]: pair.column for pair in pairs}
    free = [normal_number(p.number) for column, p in enumerate(problems) if column not in read_of.values()]
    cut_off = 0
    for problem in truth.problems:
        if not problem.statement and normal_number(problem.number) in free:
            free.remove(normal_number(problem.number))
            cut_off += 1
    return _Matching(read_of, cut_off)


def _compare_problem(truth: TruthProblem, read: ReadProblem | None) -> Tally:
    """Compare texts; a solution that is not in the truth is not compared."""
    true_texts = [truth.statement or "", truth.solution or ""]
    read_texts = [read.statement, read.solution if truth.solution else ""] if read else []
    true_text, read_text = "\n".join(true_texts), "\n".join(read_texts)
    language = truth.language
    plain = [_plain(texts, language) for texts in (true_texts, read_texts)]
    flat = [flat_text(text) for text in (true_text, read_text)]
    by_language = {
        f"chars_{language}": len(plain[0]),
        f"edits_{language}": Levenshtein.distance(*plain),
        f"flat_chars_{language}": len(flat[0]),
        f"flat_edits_{language}": Levenshtein.distance(*flat),
    }
    formulas, formulas_read = formulas_of(true_text), formulas_of(read_text)
    aligned = align_in_order(similarities(formulas, formulas_read))
    answer_right = bool(
        read and truth.final_answer and normal_answer(read.final_answer) == normal_answer(truth.final_answer)
    )
    return Tally(
        problems=1,
        matched=int(read is not None),
        numbers_right=int(read is not None and normal_number(read.number) == normal_number(truth.number)),
        spans_right=int(read is not None and read.pages == truth.pages),
        formulas=len(formulas),
        formulas_read=len(formulas_read),
        formula_similarity=sum(pair.value for pair in aligned),
        formulas_exact=sum(formulas[pair.row] == formulas_read[pair.column] for pair in aligned),
        answers=int(bool(truth.final_answer)),
        answers_exact=int(answer_right),
        **by_language,
    )


def _plain(texts: Sequence[str], language: str) -> str:
    # Text by text: a dollar sign without its partner must not swallow the next text.
    without = [piece.text for text in texts for piece in pieces_of(text) if not piece.is_formula]
    return normal_text(" ".join(without), language=language)


def _compare_figures(truth: TruthDocument, problems: Sequence[ReadProblem], matching: _Matching) -> Tally:
    true = [(index, figure) for index, problem in enumerate(truth.problems) for figure in problem.figures]
    read = [(index, figure) for index, problem in enumerate(problems) for figure in problem.figures]
    places = [_on_true_page(truth, figure) for _, figure in read]
    overlaps = np.array(
        [
            [_overlap(figure, found.page, place) for (_, found), place in zip(read, places, strict=True)]
            for _, figure in true
        ],
        dtype=np.float64,
    ).reshape(len(true), len(read))
    pairs = pair_greedily(overlaps, at_least=0.5)
    links = roles = 0
    for pair in pairs:
        (owner, figure), (reader, found) = true[pair.row], read[pair.column]
        if truth.problems[owner].statement:
            links += matching.read_of.get(owner) == reader
        else:
            links += normal_number(problems[reader].number) == normal_number(truth.problems[owner].number)
        roles += found.role == figure.role
    return Tally(
        figures=len(true),
        figures_read=len(read),
        figures_50=len(pairs),
        figures_75=len(pair_greedily(overlaps, at_least=0.75)),
        links_right=links,
        roles_right=roles,
    )


def _on_true_page(truth: TruthDocument, figure: ReadFigure) -> FloatBox | None:
    """Return the box in pixels of the truth's picture of that page; None if there is no such page or no box."""
    page = truth.page(figure.page)
    if page is None or figure.box is None:
        return None
    width_px, height_px = figure.page_size_px or (page.width_px, page.height_px)
    x, y = page.width_px / width_px, page.height_px / height_px
    left, top, right, bottom = figure.box
    return left * x, top * y, right * x, bottom * y


def _overlap(truth: TruthFigure, page: int | None, place: FloatBox | None) -> float:
    if place is None or page != truth.page:
        return 0.0
    boxes = (truth.box, truth.box_with_caption) if truth.box_with_caption else (truth.box,)
    return max(box_overlap(box, place) for box in boxes)
