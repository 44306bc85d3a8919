"""Gives each row behind a heading its field: number, statement, solution or answer.

``numbering.py`` says where problems start; ``segment.py`` turns what is collected here into records.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from physelite_build.stages.segment.headings import (
    POINTS,
    STRONG_STYLES,
    Heading,
    find_heading,
    find_points,
    is_continuation,
    split_points,
)
from physelite_build.stages.segment.marks import find_answer_marker, find_mark, find_solution_marker
from physelite_build.stages.segment.numbering import Start
from physelite_build.stages.segment.paragraphs import Piece, guess_language, join_paragraphs
from physelite_build.stages.segment.rows import Row, is_prose
from physelite_build.stages.segment.sections import (
    is_answers_section,
    is_aside,
    is_section_heading,
)

__all__ = ["Draft", "FieldName", "collect_answer", "collect_problem"]

FieldName = Literal["number", "statement", "solution", "answer"]

TITLE_LENGTH = {"zh": 26, "en": 70}
"""Characters of the longest title in the collected papers, by language."""
TITLE_WIDTH = 0.72
"""A title leaves more than a quarter of its column free; a first sentence that wraps does not."""
LONE_TITLE_WIDTH = 0.6
"""A title without points on a row of its own is shorter still."""
SECTION_INTRO_ROWS = 4
"""A heading such as *二、填空题* is followed by at most so many rows of rules before its first problem."""
_INLINE_SOLUTION = re.compile(
    r"[【\[〖]\s*(?:解析|详解|解答|分析)\s*[】\]〗]\s*[:：]?|(?<=[\s。；;,，])(?:解析|详解|解答)\s*[:：]"
)
_CHOICE_THEN_TEXT = re.compile(r"^[（(]?([A-H]{1,6})[)）]?\s*[.。．,，;；]?\s+(\S.*)$", re.DOTALL)
"""An entry such as ``C 解析：...`` of an answers section."""
_AUTHOR = re.compile(r"\s+[—–-]+\s+[A-Z][\w.]+(?:\s+[A-Z][\w.]+){1,3}$")
_PART_HEADING = re.compile(r"^(?:part|section)\s+(?:[A-Z]|[IVX]+|\d)\b(?!.*\?)", re.IGNORECASE)
_CHOICE_ENTRY = re.compile(r"(\d{1,3})\s*[.．、:：]?\s*[（(]?([A-H]{1,8})[)）]?(?![A-Za-z])")
_RANGE_OF_CHOICES = re.compile(
    r"(?P<first>\d{1,3})\s*[-~～–—]+\s*(?P<last>\d{1,3})\s*[.．、:：]?\s*(?P<letters>(?:[A-H]\s*[,，、]?\s*){2,})(?![A-Za-z])"
)
_SENTENCE_SIGNS = "。，；？！?；,"


@dataclass(slots=True)
class Draft:
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
        """Append a row, or what is left of it, to a field."""
        self.pieces[name].append(Piece(row, text, starts))


def collect_problem(draft: Draft, start: Start, block: Sequence[Row]) -> None:
    """Fill a draft from the rows between its heading and the next start.

    Args:
        draft: An empty draft with the problem's number.
        start: Where it starts; without a heading the first row is text.
        block: Its rows, the heading first.
    """
    body = list(block)
    first: tuple[Row, str] | None = None
    if start.heading is not None:
        first = _take_heading(draft, start.heading, block)
        body = body[1:]
        if _take_title(draft, start.heading, body):
            body = body[1:]
    state: FieldName = "statement"
    if first is not None:
        state = _place(draft, state, first[0], first[1], starts=True)
    _collect_rows(draft, state, _without_section_tail(body))


def collect_answer(drafts: list[Draft], start: Start, block: Sequence[Row]) -> None:
    """Join an entry of the answers to its problem, or make a draft without a statement if there is none.

    Args:
        drafts: Problems so far; changed in place.
        start: Where the entry starts; without a number its text belongs to nothing.
        block: Its rows, the heading first.
    """
    if _collect_compact(drafts, block) or not start.number:
        return
    draft = next(
        (d for d in drafts if d.number == start.number and not d.pieces["solution"] and not d.pieces["answer"]), None
    )
    draft = draft or next((d for d in drafts if d.number == start.number), None)
    if draft is None:
        draft = Draft(start.number)
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


def _collect_compact(drafts: list[Draft], block: Sequence[Row]) -> bool:
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


def _take_heading(draft: Draft, heading: Heading, block: Sequence[Row]) -> tuple[Row, str] | None:
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


def _take_title(draft: Draft, heading: Heading, body: Sequence[Row]) -> bool:
    """Keep title and points if they stand alone on the row below a bare *Theoretical Question 1*; True if they do."""
    if heading.rest or heading.style not in STRONG_STYLES or len(body) < 2 or body[0].is_formula:
        return False
    row = body[0]
    points, title = split_points(row.text)
    if not title or find_mark(row.text) or find_heading(row.text) or _PART_HEADING.match(row.text):
        return False
    if points is None and not (row.width_ratio < LONE_TITLE_WIDTH and is_prose(body[1])):
        return False
    if not _is_title(replace(heading, rest=title), row, body[1], has_text=True):
        return False
    draft.title, draft.points = title, points if draft.points is None else draft.points
    draft.add("number", row, row.text)
    return True


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


def _collect_rows(draft: Draft, state: FieldName, body: Sequence[Row]) -> None:
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


def _repeats_heading(draft: Draft, row: Row) -> bool:
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


def _place(draft: Draft, state: FieldName, row: Row, text: str, *, starts: bool = False) -> FieldName:
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


def _ends_answer(draft: Draft, row: Row, text: str) -> bool:
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
