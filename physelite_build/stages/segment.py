"""Cuts the rows of a document into problems: number, statement, parts, solution, steps, final answer.

Runs after ``layout`` and ``transcribe``; ``figures.py`` and ``answers.py`` complete what is made here.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from physelite_build.records import Document, DocumentProblems, Problem, Span
from physelite_build.stages.headings import (
    POINTS,
    STRONG_STYLES,
    Heading,
    find_heading,
    find_points,
    is_answers_section,
    is_aside,
    is_continuation,
    is_section_heading,
)
from physelite_build.stages.marks import find_answer_marker, find_mark, find_solution_marker
from physelite_build.stages.numbering import Start, find_starts
from physelite_build.stages.paragraphs import (
    Piece,
    guess_language,
    join_paragraphs,
    join_rows,
    split_parts,
    split_steps,
)
from physelite_build.stages.rows import PageInput, Row, read_page_labels, read_rows

__all__ = ["PageInput", "segment"]

FieldName = Literal["number", "statement", "solution", "answer"]

TITLE_LENGTH = {"zh": 26, "en": 70}
"""Characters of the longest title in the collected papers, by language."""
TITLE_WIDTH = 0.72
"""A title leaves more than a quarter of its column free; a first sentence that wraps does not."""
LONE_ANSWER_LENGTH = 60
"""An entry of an answers section that is one paragraph of at most so many characters is the answer itself."""
SECTION_INTRO_ROWS = 4
"""A heading such as *二、填空题* is followed by at most so many rows of rules before its first problem."""
_INLINE_SOLUTION = re.compile(
    r"[【\[〖]\s*(?:解析|详解|解答|分析)\s*[】\]〗]\s*[:：]?|(?<=[\s。；;,，])(?:解析|详解|解答)\s*[:：]"
)
_CHOICE_THEN_TEXT = re.compile(r"^[（(]?([A-H]{1,6})[)）]?\s*[.。．,，;；]?\s+(\S.*)$", re.DOTALL)
"""An entry such as ``C 解析：...`` of an answers section."""
_AUTHOR = re.compile(r"\s+[—–-]+\s+[A-Z][\w.]+(?:\s+[A-Z][\w.]+){1,3}$")
_REASONING = re.compile(
    r"由|得|因为|所以|根据|设|从而|可知|\b(?:hence|therefore|thus|since|because|we|using|so)\b", re.IGNORECASE
)
"""Words of an argument; an answer alone has none."""
_PART_HEADING = re.compile(r"^(?:part|section)\s+(?:[A-Z]|[IVX]+|\d)\b(?!.*\?)", re.IGNORECASE)
_CHOICE_ENTRY = re.compile(r"(\d{1,3})\s*[.．、:：]?\s*[（(]?([A-H]{1,8})[)）]?(?![A-Za-z])")
_RANGE_OF_CHOICES = re.compile(
    r"(?P<first>\d{1,3})\s*[-~～–—]+\s*(?P<last>\d{1,3})\s*[.．、:：]?\s*(?P<letters>(?:[A-H]\s*[,，、]?\s*){2,})(?![A-Za-z])"
)
_SENTENCE_SIGNS = "。，；？！?；,"


@dataclass(slots=True)
class _Draft:
    """A problem while its rows are collected."""

    number: str
    title: str | None = None
    points: float | None = None
    has_bare_answer: bool = False
    """Its entry in an answers section has neither title nor the word *solution*, so it may be the answer itself."""
    pieces: dict[FieldName, list[Piece]] = field(
        default_factory=lambda: {"number": [], "statement": [], "solution": [], "answer": []}
    )

    def add(self, name: FieldName, row: Row, text: str, *, starts: bool = False) -> None:
        self.pieces[name].append(Piece(row, text, starts))


def segment(document: Document, pages: Sequence[PageInput]) -> DocumentProblems:
    """Cut a document into its problems.

    Args:
        document: The document; only its id is used.
        pages: Kept pages in order, regions in reading order, boxes in upright pixels.

    Returns:
        Problems in order of appearance, without figures and typed answers. None if there is no text. A text without any
        heading is one problem with number 1.
    """
    rows = read_rows(pages)
    starts = find_starts(rows, read_page_labels(pages))
    drafts: list[_Draft] = []
    if not starts:
        return DocumentProblems(doc_id=document.doc_id, problems=())
    for start, end in zip(starts, [*(s.row for s in starts[1:]), len(rows)], strict=True):
        block = rows[start.row : end]
        if start.is_answer:
            _collect_answer(drafts, start, block)
        else:
            drafts.append(_Draft(start.number))
            _collect_problem(drafts[-1], start, block)
    used = Counter[str]()
    problems: list[Problem] = []
    for draft in drafts:
        if not any(draft.pieces[name] for name in ("statement", "solution", "answer")):
            continue
        used[draft.number] += 1
        problems.append(_finish(draft, document.doc_id, used[draft.number]))
    return DocumentProblems(doc_id=document.doc_id, problems=tuple(problems))


# ---------------------------------------------------------------- collecting rows
def _collect_problem(draft: _Draft, start: Start, block: Sequence[Row]) -> None:
    body = list(block)
    first: tuple[Row, str] | None = None
    if start.heading is not None:
        first = _take_heading(draft, start.heading, block)
        body = body[1:]
    state: FieldName = "statement"
    if first is not None:
        state = _place(draft, state, first[0], first[1], starts=True)
    _collect_rows(draft, state, _without_section_tail(body))


def _collect_answer(drafts: list[_Draft], start: Start, block: Sequence[Row]) -> None:
    if _collect_compact(drafts, block) or not start.number:
        return
    draft = next(
        (d for d in drafts if d.number == start.number and not d.pieces["solution"] and not d.pieces["answer"]), None
    )
    draft = draft or next((d for d in drafts if d.number == start.number), None)
    if draft is None:
        draft = _Draft(start.number)
        drafts.append(draft)
    body = list(block)
    if start.heading is None:
        body = body[1:] if body and is_answers_section(body[0].text) else body
    else:
        row, rest = body[0], start.heading.rest
        draft.has_bare_answer = not start.heading.answers
        body = body[1:]
        draft.add("number", row, row.text)
        draft.points = draft.points if draft.points is not None else start.heading.points
        if rest and _is_title(start.heading, row, body[0] if body else None, has_text=bool(body)):
            rest, draft.has_bare_answer = "", False
        chosen = _CHOICE_THEN_TEXT.match(rest)
        if chosen is not None:
            draft.add("answer", row, chosen[1], starts=True)
            rest = chosen[2]
        if rest:
            state = _place(draft, "solution", row, rest, starts=True)
            _collect_rows(draft, state, body)
            return
    _collect_rows(draft, "solution", body)


def _collect_compact(drafts: list[_Draft], block: Sequence[Row]) -> bool:
    """Read rows such as ``1. C 2. AB 3. D`` or ``1-5 CBDAC``; True if the block held nothing else."""
    others = 0
    for row in block:
        found = _compact_answers(row.text)
        others += not found and not is_answers_section(row.text)
        for number, letters in found.items():
            draft = next((d for d in drafts if d.number == number and not d.pieces["answer"]), None)
            if draft is not None:
                draft.add("answer", row, letters, starts=True)
    return others == 0 and len(block) > 0


def _compact_answers(text: str) -> dict[str, str]:
    ranges = list(_RANGE_OF_CHOICES.finditer(text))
    if ranges:
        return {
            str(int(m["first"]) + i): letter
            for m in ranges
            for i, letter in enumerate(re.findall(r"[A-H]", m["letters"]))
            if int(m["first"]) + i <= int(m["last"])
        }
    single = list(_CHOICE_ENTRY.finditer(text))
    return (
        {m[1]: m[2] for m in single} if len(single) > 1 and not _CHOICE_ENTRY.sub("", text).strip(" ,，;；.。") else {}
    )


def _take_heading(draft: _Draft, heading: Heading, block: Sequence[Row]) -> tuple[Row, str] | None:
    """Keep number, title and points; return what remains of the heading's row as statement."""
    row = block[0]
    draft.add("number", row, row.text)
    draft.points = heading.points
    if not heading.rest:
        return None
    if _is_title(heading, row, block[1] if len(block) > 1 else None, has_text=len(block) > 1):
        draft.title = re.sub(r"\s{2,}", " ", _AUTHOR.sub("", heading.rest)).strip("。.:： ")
        return None
    return row, heading.rest


def _is_title(heading: Heading, row: Row, following: Row | None, *, has_text: bool) -> bool:
    rest = heading.rest
    if (
        not has_text
        or following is None
        or rest.count("$") > 2
        or rest.endswith("$")
        or (rest.endswith(("）", ")")) and not re.search(r"[(（]\s*[^\s)）]+[)）]$", rest))
    ):
        return False
    language = guess_language(rest)
    if (
        len(rest) > TITLE_LENGTH[language]
        or rest.rstrip().endswith((".", "。", "?", "？", ":", "："))
        or find_solution_marker(rest)
    ):
        return False
    if language == "zh" and any(sign in rest for sign in _SENTENCE_SIGNS):
        return False
    if row.width_ratio > TITLE_WIDTH and not (heading.points is not None and len(rest) < TITLE_LENGTH[language] // 2):
        return False
    return not following.text[:1].islower()


def _collect_rows(draft: _Draft, state: FieldName, body: Sequence[Row]) -> None:
    aside = False
    returns = _returns_to_statement(body)
    for index, row in enumerate(body):
        if index in returns:
            state = "statement"
        if state == "solution" and not row.is_formula and is_aside(row.text):
            aside = True
        if aside or (not row.is_formula and _repeats_heading(draft, row)):
            continue
        if index == 0 and draft.points is None and not row.is_formula and POINTS.fullmatch(row.text.strip("。.")):
            draft.points = find_points(row.text)
            draft.add("number", row, row.text)
            continue
        state = _place(draft, state, row, row.text)


def _repeats_heading(draft: _Draft, row: Row) -> bool:
    """A heading that ``numbering`` took for the running one: *continued*, or the bare number again on a new page."""
    if is_continuation(row.text):
        return True
    heading = find_heading(row.text)
    if heading is None or heading.style not in STRONG_STYLES or heading.rest or heading.answers:
        return False
    return heading.number == draft.number != ""


def _returns_to_statement(body: Sequence[Row]) -> set[int]:
    """Rows where the next part is asked after the solution of the one before: ``a. ... Solution ... b. ... Solution``.

    Such a row carries the next label of the statement and is followed by a marker of its own.
    """
    texts = [row.text if not row.is_formula else "" for row in body]
    opens = [
        i
        for i, text in enumerate(texts)
        if (word := find_solution_marker(text)) is not None and (word.formal or word.alone)
    ]
    if len(opens) < 2:
        return set()
    asked = [m for text in texts[: opens[0]] if (m := find_mark(text)) is not None]
    if not asked:
        return set()
    last, found = asked[-1], set()
    for begin, end in itertools.pairwise(opens):
        for i in range(begin + 1, end):
            mark = find_mark(texts[i])
            if mark is not None and mark.family == last.family and mark.order == (*last.order[:-1], last.order[-1] + 1):
                last = mark
                found.add(i)
                break
    return found


def _place(draft: _Draft, state: FieldName, row: Row, text: str, *, starts: bool = False) -> FieldName:
    """Put one row where it belongs and return what its successor belongs to."""
    if row.is_formula:
        state = "solution" if state == "answer" and draft.pieces["answer"] else state
        draft.add(state, row, text)
        return state
    answer = find_answer_marker(text)
    if answer is not None and not (answer.alone and state == "statement"):
        inline = _INLINE_SOLUTION.search(answer.rest)
        if inline is not None and inline.start() > 0:
            draft.add("answer", row, answer.rest[: inline.start()], starts=True)
            draft.add("solution", row, answer.rest[inline.end() :], starts=True)
            return "solution"
        draft.add("answer", row, answer.rest, starts=True)
        return "answer"
    solution = find_solution_marker(text)
    if solution is not None and (state != "solution" or solution.formal or solution.alone):
        if solution.formal or solution.alone or state == "statement":
            draft.add("solution", row, solution.rest, starts=True)
            return "solution"
    elif answer is not None or (state == "statement" and is_answers_section(text)):
        draft.add("solution", row, "", starts=True)
        return "solution"
    if state == "answer" and _ends_answer(draft, row, text):
        state, starts = "solution", True
    draft.add(state, row, text, starts=starts)
    return state


def _ends_answer(draft: _Draft, row: Row, text: str) -> bool:
    pieces = [p for p in draft.pieces["answer"] if p.text]
    if not pieces:
        return False
    joined = join_paragraphs([*pieces, Piece(row, text)], language=guess_language(text))
    return len(joined) > len(join_paragraphs(pieces, language=guess_language(text)))


def _without_section_tail(body: list[Row]) -> list[Row]:
    """Drop a section heading and its rules at the end of a problem: they belong to the problems that follow."""
    if body and not body[-1].is_formula and len(body) > 1 and _PART_HEADING.match(body[-1].text):
        return body[:-1]
    for index in range(max(0, len(body) - SECTION_INTRO_ROWS), len(body)):
        row = body[index]
        if index and not row.is_formula and is_section_heading(row.text):
            return body[:index]
    return body


# ---------------------------------------------------------------- finishing a record
def _finish(draft: _Draft, doc_id: str, occurrence: int) -> Problem:
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
        key=f"{doc_id}#{draft.number}" + (f".{occurrence}" if occurrence > 1 else ""),
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


def _is_lone_answer(draft: _Draft, solution: Sequence[str]) -> bool:
    """The only paragraph of an answers-section entry, short and without a marker, is the answer."""
    pieces = draft.pieces["solution"]
    if len(solution) != 1 or len(solution[0]) > LONE_ANSWER_LENGTH or not pieces or _REASONING.search(solution[0]):
        return False
    marked = pieces[0].text != pieces[0].row.text and find_heading(pieces[0].row.text) is None
    return not marked and draft.has_bare_answer


def _spans(draft: _Draft) -> Iterable[Span]:
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
