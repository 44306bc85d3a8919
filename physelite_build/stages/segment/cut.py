"""Cuts the rows of a document into problems: number, statement, parts, solution, steps, final answer.

Runs after ``layout`` and ``transcribe``; ``figures.py`` and ``answers.py`` complete what is made here.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from physelite_build.records import Document, DocumentProblems, Problem, Span
from physelite_build.stages.segment.collect import Draft, collect_answer, collect_problem
from physelite_build.stages.segment.headings import find_heading
from physelite_build.stages.segment.numbering import find_starts
from physelite_build.stages.segment.paragraphs import (
    guess_language,
    join_paragraphs,
    join_rows,
    split_parts,
    split_steps,
)
from physelite_build.stages.segment.rows import read_page_labels, read_rows
from physelite_build.stages.segment.running_rows import PageInput, is_answer_sheet_page

__all__ = ["PageInput", "segment"]

LONE_ANSWER_LENGTH = 60
"""An entry of an answers section that is one paragraph of at most so many characters is the answer itself."""
_REASONING = re.compile(
    r"由|得|因为|所以|根据|设|从而|可知|\b(?:hence|therefore|thus|since|because|we|using|so)\b", re.IGNORECASE
)
"""Words of an argument; an answer alone has none."""


def segment(document: Document, pages: Sequence[PageInput]) -> DocumentProblems:
    """Cut a document into its problems.

    Args:
        document: The document; only its id is used.
        pages: Kept pages in order, regions in reading order, boxes in upright pixels.

    Returns:
        Problems in order of appearance, without figures and typed answers. None if there is no text. A text without any
        heading is one problem with number 1.
    """
    pages = [page for page in pages if not is_answer_sheet_page(page)] or pages
    rows = read_rows(pages)
    starts = find_starts(rows, read_page_labels(pages))
    drafts: list[Draft] = []
    if not starts:
        return DocumentProblems(doc_id=document.doc_id, problems=())
    for start, end in zip(starts, [*(s.row for s in starts[1:]), len(rows)], strict=True):
        block = rows[start.row : end]
        if start.is_answer:
            collect_answer(drafts, start, block)
        else:
            drafts.append(Draft(start.number))
            collect_problem(drafts[-1], start, block)
    keys: set[str] = set()
    problems: list[Problem] = []
    for draft in drafts:
        if any(draft.pieces[name] for name in ("statement", "solution", "answer")):
            problems.append(_finish(draft, document.doc_id, keys))
    return DocumentProblems(doc_id=document.doc_id, problems=tuple(problems))


def _new_key(doc_id: str, number: str, taken: set[str]) -> str:
    """``<doc_id>#<number>``, with ``.2``, ``.3``, ... if that is taken; the new key is added to ``taken``."""
    key = f"{doc_id}#{number}"
    candidates = itertools.chain([key], (f"{key}.{k}" for k in itertools.count(2)))
    free = next(c for c in candidates if c not in taken)
    taken.add(free)
    return free


# ---------------------------------------------------------------- finishing a record
def _finish(draft: Draft, doc_id: str, keys: set[str]) -> Problem:
    everything = [p for name in ("statement", "solution", "answer") for p in draft.pieces[name]]
    language = guess_language(
        "\n".join(p.text for p in draft.pieces["statement"] or everything if not p.row.is_formula)
    )
    statement = "\n".join(join_paragraphs(draft.pieces["statement"], language=language))
    solution_lines = join_paragraphs(draft.pieces["solution"], language=language)
    answer = ""
    for line in join_paragraphs(draft.pieces["answer"], language=language):
        answer = join_rows(answer, line, language=language)
    if not answer and _is_lone_answer(draft, solution_lines):
        answer, solution_lines = solution_lines[0], []
    solution = "\n".join(solution_lines)
    spans = tuple(_spans(draft))
    known = [s.confidence for s in spans if s.confidence is not None]
    return Problem(
        key=_new_key(doc_id, draft.number, keys),
        doc_id=doc_id,
        number=draft.number,
        language=language,
        title=draft.title or None,
        points=draft.points,
        statement=statement,
        parts=split_parts(statement),
        solution=solution or None,
        steps=split_steps(solution) if solution else (),
        final_answer=answer.strip().rstrip("。．.；;").strip() or None,
        pages=tuple(sorted({p.row.page.number for name in draft.pieces for p in draft.pieces[name]})),
        spans=spans,
        confidence=min(known) if known else None,
    )


def _is_lone_answer(draft: Draft, solution: Sequence[str]) -> bool:
    """The only paragraph of an answers-section entry, short and without a marker, is the answer."""
    pieces = draft.pieces["solution"]
    if len(solution) != 1 or len(solution[0]) > LONE_ANSWER_LENGTH or not pieces or _REASONING.search(solution[0]):
        return False
    marked = pieces[0].text != pieces[0].row.text and find_heading(pieces[0].row.text) is None
    return not marked and draft.has_bare_answer


def _spans(draft: Draft) -> Iterable[Span]:
    for name in draft.pieces:
        for piece in draft.pieces[name]:
            region = piece.row.region
            yield Span(
                field=name,
                page_id=piece.row.page.page_id,
                box=region.box,
                confidence=region.confidence,
                engine=region.engine,
            )
