"""Which rows of a document really start a problem, and which start its answer further back.

``headings.py`` names candidates row by row; here the whole stream decides: one form of number that counts up wins, numbers that
start again after *参考答案* are answers, and lists of notes, quantities and options fall out because they break the count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from physelite_build.stages.segment.chains import Candidate, Chain, best_chain
from physelite_build.stages.segment.headings import (
    STRONG_STYLES,
    Heading,
    find_heading,
    find_points,
    is_continuation,
    split_points,
)
from physelite_build.stages.segment.lost_numbers import restore_numbers
from physelite_build.stages.segment.marks import find_answer_marker, find_solution_marker
from physelite_build.stages.segment.notes import find_note_rows
from physelite_build.stages.segment.rows import PageLabel, Row, is_prose
from physelite_build.stages.segment.sections import (
    is_answers_section,
    is_answers_title,
    is_exercises_heading,
    is_section_heading,
)

__all__ = ["Start", "find_starts"]

PREFACE_ROWS = 5
"""So many rows of prose before the first weak number mean that it numbers parts of an unnumbered problem."""
LEAST_BRACKETED = 3
"""``1)`` mostly labels parts; three of them from the first row on, without anything before, are problems."""
CUT_ROWS = 2
"""So many rows of prose before number 2 are the rest of problem 1, whose heading was cut off or not read."""


@dataclass(frozen=True, slots=True)
class Start:
    """A row from which the text belongs to another problem, or to the answer of one."""

    row: int
    """Index of the row; the text of an answers section without headings starts here as well."""
    heading: Heading | None
    """None if the text starts without a heading."""
    number: str
    is_answer: bool
    """The text up to the next start is the answer to the problem of that number; without a number it belongs to nothing."""


@dataclass(frozen=True, slots=True)
class _Choice:
    problems: tuple[Candidate, ...]
    groups: tuple[Candidate, ...] = ()
    """Headings of groups of problems: their text belongs to no problem."""


def find_starts(rows: Sequence[Row], page_labels: Mapping[str, PageLabel] | None = None) -> list[Start]:
    """Find where problems and their answers start.

    Args:
        rows: All rows of a document in reading order.
        page_labels: Printed labels such as ``Q1-2`` by page id; they decide where no heading names a problem by a word.

    Returns:
        Starts in reading order. Empty if there is no text besides titles and notes.
    """
    notes = find_note_rows(rows)
    candidates = [
        Candidate(i, heading)
        for i, row in enumerate(rows)
        if i not in notes and not row.is_formula and (heading := find_heading(row.text)) is not None
    ]
    candidates = restore_numbers(rows, candidates)
    sections = [i for i, row in enumerate(rows) if i not in notes and is_answers_section(row.text)]
    choice = _choose(rows, candidates, sections, notes)
    named = any(c.heading.style in STRONG_STYLES for c in choice.problems)
    if page_labels and not named:
        return _from_page_labels(rows, page_labels)
    if not choice.problems:
        return _without_headings(rows, notes, sections)
    starts = _label(rows, choice.problems, sections)
    if _holds_answers_only(rows, starts):
        return [replace(s, is_answer=True) for s in starts]
    starts = _with_exercises(rows, starts, candidates)
    starts = _with_own_numbering(rows, starts, candidates, sections)
    starts = _with_cut_start(rows, starts, notes)
    taken = {s.row for s in starts}
    groups = [
        Start(c.row, None, "", is_answer=True) for c in choice.groups if c.row not in taken and c.row > starts[0].row
    ]
    return sorted([*starts, *groups], key=lambda s: s.row)


def _from_page_labels(rows: Sequence[Row], labels: Mapping[str, PageLabel]) -> list[Start]:
    """A new problem starts on each page whose label names another one than the page before."""
    starts: list[Start] = []
    current: PageLabel | None = None
    for i, row in enumerate(rows):
        label = labels.get(row.page.page_id, current)
        if label is None or label == current:
            continue
        current = label
        if label.kind == "A":
            starts.append(Start(i, None, "", is_answer=True))
            continue
        first = next((k for k in range(i, min(i + 3, len(rows))) if find_points(rows[k].text) is not None), i)
        points, title = split_points(rows[first].text)
        heading = Heading("page", str(label.number), (label.number,), points, title) if points is not None else None
        starts.append(Start(first, heading, str(label.number), is_answer=label.kind == "S"))
    return starts


def _holds_answers_only(rows: Sequence[Row], starts: Sequence[Start]) -> bool:
    """True if the title says so and nothing in the text marks where a statement ends and its answer begins."""
    first = starts[0].row
    if any(s.is_answer for s in starts) or not any(is_answers_title(row.text) for row in rows[:first]):
        return False
    return not any(find_solution_marker(r.text) or find_answer_marker(r.text) for r in rows[first:] if not r.is_formula)


def _prose_rows(rows: Sequence[Row], notes: set[int], first: int, last: int) -> int:
    return sum(1 for i in range(first, last) if i not in notes and is_prose(rows[i]))


# ---------------------------------------------------------------- choosing the form of number
def _choose(rows: Sequence[Row], candidates: list[Candidate], sections: list[int], notes: set[int]) -> _Choice:
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.heading.style, []).append(candidate)
    chains = {style: best_chain(rows, group, sections) for style, group in groups.items()}
    named = tuple(c for c in candidates if is_section_heading(rows[c.row].text))
    strong = [s for s in chains if s in STRONG_STYLES and _is_sound(rows, chains[s])]
    if strong:
        if len(strong) > 1 and {"problem", "第题"} & set(strong):
            strong = [s for s in strong if s not in ("question", "q", "题")]
        return _Choice(tuple(sorted((c for s in strong for c in chains[s].items), key=lambda c: c.row)), named)
    weak = sorted((s for s in chains if chains[s].items), key=lambda s: chains[s].items[0].row)
    outer: list[Candidate] = list(named)
    for position, style in enumerate(weak):
        chain = chains[style]
        if _is_section_chain(rows, chain) or any(_counts_across(chain, chains[i]) for i in weak[position + 1 :]):
            outer.extend(chain.items)
        elif _carries_document(rows, chain, notes):
            return _Choice(chain.items, tuple(outer))
    return _Choice(())


def _is_sound(rows: Sequence[Row], chain: Chain) -> bool:
    """A form with a word needs one heading that looks like one: nothing, points, a title or a full stop after the number."""
    return any(c.heading.points is not None or c.heading.firm for c in chain.items) and chain.score > 0


def _is_section_chain(rows: Sequence[Row], chain: Chain) -> bool:
    named = sum(1 for c in chain.items if is_section_heading(rows[c.row].text) or is_answers_section(c.heading.rest))
    return named * 2 >= len(chain.items)


def _counts_across(outer: Chain, inner: Chain) -> bool:
    """True if ``inner`` goes on counting past headings of ``outer``, which then only group the problems."""
    heads = [c.row for c in outer.items]
    if len(heads) < 2 or len(inner.items) <= len(heads):
        return False
    crossed = 0
    for before, after in zip(inner.items, inner.items[1:], strict=False):
        between = [h for h in heads if before.row < h < after.row]
        if between and after.heading.order[0] == before.heading.order[0] + 1:
            crossed += 1
    return crossed >= 1


def _carries_document(rows: Sequence[Row], chain: Chain, notes: set[int]) -> bool:
    first = chain.items[0]
    if first.heading.style == "1)":
        return len(chain.items) >= LEAST_BRACKETED and not _prose_rows(rows, notes, 0, first.row)
    if first.heading.points is not None and first.heading.style == "A.":
        return True
    if first.heading.order[0] > 1:
        return len(chain.items) >= 2
    return _prose_rows(rows, notes, 0, first.row) < PREFACE_ROWS


# ---------------------------------------------------------------- problem or answer
def _label(rows: Sequence[Row], chosen: Sequence[Candidate], sections: list[int]) -> list[Start]:
    starts: list[Start] = []
    seen: list[tuple[int, ...]] = []
    titles: dict[tuple[int, ...], str] = {}
    in_answers = False
    for k, candidate in enumerate(chosen):
        heading = candidate.heading
        last_row = chosen[k - 1].row if k else -1
        section = next((s for s in sections if last_row < s <= candidate.row), None)
        if section is not None and seen and heading.order <= max(seen):
            in_answers = True
            if section < candidate.row - 1 and len(seen) > 1 and heading.order in (seen[1], (seen[0][0] + 1,)):
                # The entry of the first problem lost its number; its text stands between the heading and number two.
                starts.append(Start(section, None, _number(seen[0]), is_answer=True))
            else:
                starts.append(Start(section, None, "", is_answer=True))
        repeats = heading.order in seen and heading.number != ""
        if repeats and not in_answers and _runs_on(rows, candidate, seen):
            continue
        answer = in_answers or heading.answers or (repeats and _opens_answer(rows, chosen, k, titles))
        number = heading.number or str(len([s for s in starts if not s.is_answer]) + (0 if answer else 1))
        starts.append(Start(candidate.row, heading, number, is_answer=answer))
        if not answer:
            seen.append(heading.order)
            titles.setdefault(heading.order, heading.rest)
    return starts


def _runs_on(rows: Sequence[Row], candidate: Candidate, seen: Sequence[tuple[int, ...]]) -> bool:
    """True if the heading only repeats that of the running problem: *continued*, or bare at the top of a page."""
    row = rows[candidate.row]
    if is_continuation(row.text):
        return True
    heading = candidate.heading
    if heading.order != seen[-1] or heading.rest or heading.answers or candidate.row == 0:
        return False
    after = rows[candidate.row + 1].text if candidate.row + 1 < len(rows) else ""
    opens = find_solution_marker(after) or find_answer_marker(after)
    return rows[candidate.row - 1].page is not row.page and heading.style in STRONG_STYLES and not opens


def _number(order: tuple[int, ...]) -> str:
    return ".".join(map(str, order))


def _opens_answer(rows: Sequence[Row], chosen: Sequence[Candidate], k: int, titles: dict[tuple[int, ...], str]) -> bool:
    """A repeated number opens an answer if its title repeats as well or its text starts with *解*."""
    heading = chosen[k].heading
    if heading.rest and heading.rest.replace(" ", "") == titles.get(heading.order, "").replace(" ", ""):
        return True
    if find_solution_marker(heading.rest) or find_answer_marker(heading.rest):
        return True
    after = chosen[k].row + 1
    return after < len(rows) and bool(find_solution_marker(rows[after].text) or find_answer_marker(rows[after].text))


def _with_exercises(rows: Sequence[Row], starts: list[Start], candidates: list[Candidate]) -> list[Start]:
    """Add the exercises of a chapter, which are numbered in another form than its worked examples."""
    last = starts[-1].row
    head = next((i for i in range(last + 1, len(rows)) if is_exercises_heading(rows[i].text)), None)
    if head is None or (starts[-1].heading is not None and starts[-1].heading.style not in STRONG_STYLES):
        return starts
    chains = _chains_after(rows, candidates, head)
    if not chains:
        return starts
    entries = max(chains, key=lambda c: c.score).items
    added = [Start(c.row, c.heading, c.heading.number, is_answer=False) for c in entries]
    return [*starts, Start(head, None, "", is_answer=True), *added]


def _chains_after(rows: Sequence[Row], candidates: list[Candidate], first: int) -> list[Chain]:
    """Counts from 1 to at least 2 in any form, behind a row."""
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.row > first:
            groups.setdefault(candidate.heading.style, []).append(candidate)
    chains = [best_chain(rows, group, []) for group in groups.values()]
    return [c for c in chains if len(c.items) >= 2 and c.items[0].heading.order[-1] == 1]


def _with_own_numbering(
    rows: Sequence[Row], starts: list[Start], candidates: list[Candidate], sections: list[int]
) -> list[Start]:
    """Join an answers section that numbers its entries in another form than the problems (``Problem 1`` but ``1.``)."""
    if any(s.is_answer for s in starts):
        return starts
    problems = [s for s in starts if not s.is_answer]
    section = next((s for s in sections if s > problems[-1].row), None)
    if section is None or len(problems) < 2:
        return starts
    chains = _chains_after(rows, candidates, section)
    if not chains:
        return starts
    entries = max(chains, key=lambda c: c.score).items
    added = [Start(c.row, c.heading, c.heading.number, is_answer=True) for c in entries]
    return [*starts, Start(section, None, "", is_answer=True), *added]


def _with_cut_start(rows: Sequence[Row], starts: list[Start], notes: set[int]) -> list[Start]:
    """Give the text before number 2 to problem 1, if there is enough of it."""
    first = starts[0]
    order = first.heading.order if first.heading else ()
    if len(order) != 1 or order[0] < 2 or first.is_answer:
        return starts
    if _prose_rows(rows, notes, 0, first.row) < CUT_ROWS:
        return starts
    return [Start(_body_start(rows, notes, first.row), None, str(order[0] - 1), is_answer=False), *starts]


def _body_start(rows: Sequence[Row], notes: set[int], end: int) -> int:
    """First row that is neither note nor title; a title stands apart, is short, and ends without a full stop."""
    last_note = max((i for i in notes if i < end), default=-1)
    for i in range(last_note + 1, end):
        if is_prose(rows[i]) or rows[i].is_formula:
            return i
    return min(last_note + 1, end)


def _without_headings(rows: Sequence[Row], notes: set[int], sections: list[int]) -> list[Start]:
    if not any(i not in notes for i in range(len(rows))):
        return []
    first = _body_start(rows, {i for i in notes if i < len(rows) // 2}, len(rows))
    first = min(first, len(rows) - 1)
    starts = [Start(first, None, "1", is_answer=False)]
    section = next((s for s in sections if s > first), None)
    if section is not None:
        starts.append(Start(section, None, "1", is_answer=True))
    return starts
