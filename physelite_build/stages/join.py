"""Solutions printed in a file of their own join the problems that they solve. Part of ``answers``, after ``figures``.

A document without a single statement holds solutions. Its problems are looked for in a document of the same language that lies
beside it: one whose name is the same but for words such as *solutions* or 答案, or the only one there with these numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from physelite_build.records import Document, DocumentProblems, FigureRole, Problem

__all__ = ["find_partners", "join_solutions"]

LEAST_SHARE = 0.5
"""Share of the solved numbers that the paper must have; the rest are numbers misread in one of the two."""
_ROLE_WORDS = re.compile(
    r"参考答案|参考解答|答案|解答|解析|试题|试卷|题目"
    r"|solutions?|answers?|answer[ _-]?key|marking[ _-]?scheme|problems?|questions?|papers?|exams?|tests?"
    r"|(?<![a-z])(?:sol|ans|key|tasks?)(?![a-z])",
    re.IGNORECASE,
)


def find_partners(found: Mapping[str, DocumentProblems], documents: Sequence[Document]) -> dict[str, str]:
    """Find the paper that each document of solutions belongs to.

    Args:
        found: Problems by document id.
        documents: All documents.

    Returns:
        Id of the paper by id of the document of solutions, one to one: a document with no paper, with several, or whose paper
        another one (first by id) has joined is left out.
    """
    by_id = {document.doc_id: document for document in documents if document.doc_id in found}
    papers = [by_id[key] for key in by_id if any(p.statement.strip() for p in found[key].problems)]
    partners: dict[str, str] = {}
    for key, document in sorted(by_id.items()):
        if not _holds_only_solutions(found[key]):
            continue
        near = [p for p in papers if _may_belong(found[key], found[p.doc_id]) and _is_beside(document, p)]
        named = [paper for paper in near if _stem(paper) == _stem(document)]
        chosen = named or [paper for paper in near if _folder(paper) == _folder(document)]
        if len(chosen) == 1 and chosen[0].doc_id not in partners.values():
            partners[key] = chosen[0].doc_id
    return partners


def join_solutions(paper: DocumentProblems, solutions: DocumentProblems) -> DocumentProblems:
    """Give each problem of a paper what the other document says about its number; what the paper has itself stays.

    Args:
        paper: Problems with statements.
        solutions: Problems without statements.

    Returns:
        The paper's problems in their order, then solutions of numbers that the paper does not have.
    """
    wanted = {problem.number: problem for problem in reversed(solutions.problems)}
    joined = [_joined(problem, wanted.pop(problem.number, None)) for problem in paper.problems]
    taken = {problem.number for problem in paper.problems}
    rest = [problem for problem in solutions.problems if problem.number not in taken]
    unplaced = (*paper.unplaced_figures, *solutions.unplaced_figures)
    return paper.model_copy(update={"problems": (*joined, *rest), "unplaced_figures": unplaced})


def _joined(problem: Problem, solved: Problem | None) -> Problem:
    if solved is None or problem.solution:
        return problem
    figures = tuple(
        figure.model_copy(update={"problem_key": problem.key, "role": FigureRole.SOLUTION}) for figure in solved.figures
    )
    confidences = [c for c in (problem.confidence, solved.confidence) if c is not None]
    return problem.model_copy(
        update={
            "solution": solved.solution,
            "steps": solved.steps,
            "final_answer": problem.final_answer or solved.final_answer,
            "figures": (*problem.figures, *figures),
            "spans": (*problem.spans, *(span for span in solved.spans if span.field in ("solution", "answer"))),
            "confidence": min(confidences, default=None),
        }
    )


def _holds_only_solutions(made: DocumentProblems) -> bool:
    return bool(made.problems) and all(
        not problem.statement.strip() and (problem.solution or problem.final_answer) for problem in made.problems
    )


def _may_belong(solutions: DocumentProblems, paper: DocumentProblems) -> bool:
    numbers = {problem.number for problem in solutions.problems}
    open_ones = {p.number for p in paper.problems if not p.solution and not p.final_answer}
    languages = {p.language for p in solutions.problems} & {p.language for p in paper.problems}
    # Solutions of formulas alone look English; a Chinese paper may have them.
    formulas_only = not any(
        re.search(r"[A-Za-z]{4}", re.sub(r"\$[^$]*\$", "", p.solution or "")) for p in solutions.problems
    )
    return (bool(languages) or formulas_only) and len(numbers & open_ones) >= LEAST_SHARE * len(numbers)


def _is_beside(left: Document, right: Document) -> bool:
    """Same folder, or two folders next to each other."""
    return left.root == right.root and (
        _folder(left) == _folder(right) or _folder(left).parent == _folder(right).parent
    )


def _folder(document: Document) -> PurePosixPath:
    return PurePosixPath(document.files[0]).parent if document.files else PurePosixPath()


def _stem(document: Document) -> str:
    """Name of a document without the words that say what part of an exam it is."""
    return re.sub(r"[\W_]+", "", _ROLE_WORDS.sub("", document.doc_id)).lower()
