"""Rows joined into paragraphs, and paragraphs split into parts and steps. Used by ``segment.py``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from physelite_build.records import Language, Part, Step
from physelite_build.stages.segment.headings import find_points
from physelite_build.stages.segment.marks import Mark, find_mark
from physelite_build.stages.segment.rows import Row

__all__ = ["Piece", "guess_language", "join_paragraphs", "join_rows", "split_parts", "split_steps"]

INDENT_EM = 1.2
"""A first-line indent is two characters in Chinese and at least one text height in English."""
HAN_SHARE = 0.1
"""Han characters divided by all letters from which a text is Chinese; OCR finds single ones (``十``, ``二``) in formulas."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
_MATH = re.compile(r"\$\$.*?\$\$|\$.*?\$", re.DOTALL)
_WIDE = re.compile(r"[\u2e80-\u9fff\uff00-\uffef\u3000-\u303f“”‘’…①-⑳]")
_OPERATOR = r"(?:[=+\-−<>≈≤≥]|\\(?:approx|times|cdot|leq?|geq?|pm|mp|simeq|propto|to|rightarrow)(?![A-Za-z]))"
_OPEN_FORMULA = re.compile(rf"(?<![\\$]){_OPERATOR}\s*\$$")
"""A formula that ends with an operator goes on in the next row."""
_OPEN_START = re.compile(r"^\$\s*(?:[=≈≤≥<>]|\\(?:approx|leq?|geq?|simeq|times|cdot)(?![A-Za-z]))")
_PLAIN_MARKS = ("①", "step", "A.1")
"""Marks that seldom refer back: the next one starts a paragraph even if the row above has no full stop."""
_SENTENCE_END = tuple("。．.！？!?；;：:）)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A row, or what is left of it after a heading or a marker was taken off."""

    row: Row
    text: str
    starts: bool = False
    """It must start a paragraph: it stood after a heading or a marker."""


def guess_language(text: str) -> Language:
    """Return ``zh`` if at least a tenth of the letters outside formulas are Han characters, else ``en``."""
    plain = _MATH.sub(" ", text)
    han, latin = len(_HAN.findall(plain)), len(_LATIN.findall(plain))
    return "zh" if han and han >= HAN_SHARE * (han + latin) else "en"


def join_rows(left: str, right: str, *, language: Language) -> str:
    """Join the end of one row with the start of the next.

    Args:
        left: Text so far.
        right: Next row.
        language: Chinese is joined without a space, unless two Latin words meet; English with one, and a word divided by a
            hyphen before a small letter is put together.
    """
    if not left or not right:
        return left or right
    if left[-1] == right[0] == "$":
        divided = _OPEN_FORMULA.search(left) or _OPEN_START.match(right)
        return _one_formula(left, right) if divided else f"{left} {right}"
    if _WIDE.match(left[-1]) or _WIDE.match(right[0]):
        return left + right
    if re.search(r"[a-z]-$", left) and right[0].islower():
        return left[:-1] + right
    if language == "zh" and not (
        left[-1].isascii() and right[0].isascii() and (left[-1].isalnum() or left[-1] in ",.;:)")
    ):
        return left + right
    return f"{left} {right}"


def _one_formula(left: str, right: str) -> str:
    start, rest = left[:-1].rstrip(), right[1:].lstrip()
    needs_space = bool(re.search(r"\\[A-Za-z]+$", start)) and rest[:1].isalpha()
    return start + (" " if needs_space else "") + rest


def join_paragraphs(pieces: Sequence[Piece], *, language: Language) -> list[str]:
    """Join rows into paragraphs.

    Args:
        pieces: Rows of one field in reading order.
        language: Language of the text.

    Returns:
        Paragraphs; a display formula is one by itself, ``$$...$$``. Printed part labels and step marks stay.
    """
    paragraphs: list[str] = []
    previous: Piece | None = None
    label: Mark | None = None
    for piece in pieces:
        text = piece.text.strip()
        if not text:
            continue
        if piece.row.is_formula:
            paragraphs.append(f"$${text}$$")
        else:
            mark = _next_mark(piece, label)
            if previous is None or _breaks(previous, piece, mark, label):
                paragraphs.append(text)
            else:
                paragraphs[-1] = join_rows(paragraphs[-1], text, language=language)
                mark = None
            label = mark or label
        previous = piece
    return paragraphs


def _next_mark(piece: Piece, last: Mark | None) -> Mark | None:
    """The mark of a row, unless it is a reference such as ``(2)`` that happened to come first on a row."""
    mark = find_mark(piece.text)
    if mark is None:
        return None
    if last is None or mark.family != last.family:
        return mark
    if piece.starts or mark.order > last.order or mark.order == (1,):
        return mark
    return None


def _breaks(previous: Piece, piece: Piece, mark: Mark | None, label: Mark | None) -> bool:
    if piece.starts or previous.row.is_formula:
        return True
    row, before = piece.row, previous.row
    new_place = row.page is not before.page or row.region.column != before.region.column
    if mark is not None and (before.is_short or previous.text.rstrip().endswith(_SENTENCE_END) or mark.order == (1,)):
        return True
    if mark is not None and label is not None and mark.family == label.family and mark.family in _PLAIN_MARKS:
        return True
    if before.is_short and not new_place:
        return not _continues(previous.text, piece.text)
    indented = row.indent_em - before.indent_em >= INDENT_EM
    if indented and previous.text.rstrip().endswith(_SENTENCE_END):
        return find_mark(previous.text) is None or before.is_short
    return before.is_short and previous.text.rstrip().endswith(_SENTENCE_END)


def _continues(before: str, after: str) -> bool:
    """True if a short row cannot be the end of a paragraph: an open sentence goes on in lower case or with punctuation."""
    return after[:1] in "，。、；：,;)）" or (not before.rstrip().endswith(_SENTENCE_END) and after[:1].islower())


# ---------------------------------------------------------------- parts and steps
_OPTION_FAMILY = "A."
"""Answer options are printed like parts but ask nothing, so they are no parts."""
_DIVIDED = {"(1)": ("(1)", "(1.1)"), "part": ("part",)}


def split_parts(statement: str) -> tuple[Part, ...]:
    """Split a statement into its sub-questions.

    Args:
        statement: Paragraphs, one a line, with their labels.

    Returns:
        Parts in order; labels that do not count up are left in the text. Empty if there is no first label.
    """
    parts: list[Part] = []
    for mark, lines in _split(statement.split("\n"), skip=_OPTION_FAMILY):
        if mark is not None:
            text = "\n".join([lines[0][mark.end :], *lines[1:]]).strip()
            parts.append(Part(label=mark.label, text=text, points=find_points(text)))
    return tuple(parts)


def split_steps(solution: str) -> tuple[Step, ...]:
    """Split a solution at its step marks; a solution without marks has no steps.

    Args:
        solution: Paragraphs, one a line, with their marks.
    """
    steps: list[Step] = []
    for mark, lines in _split(solution.split("\n"), skip=_OPTION_FAMILY):
        if mark is not None:
            steps.append(Step(label=mark.label, text="\n".join([lines[0][mark.end :], *lines[1:]]).strip()))
    return tuple(steps)


def _split(lines: Sequence[str], *, skip: str) -> list[tuple[Mark | None, list[str]]]:
    """Group lines under the marks of one family."""
    family = _choose_family([m for m in map(find_mark, lines) if m is not None and m.family != skip])
    last: tuple[int, ...] = ()
    groups: list[tuple[Mark | None, list[str]]] = [(None, [])]
    for line in lines:
        mark = find_mark(line)
        if mark is not None and family is not None:
            allowed = _DIVIDED.get(family, (family,))
            if mark.family in allowed and _is_next(last, mark.order):
                groups.append((mark, [line]))
                last = mark.order
                continue
        groups[-1][1].append(line)
    return groups


def _choose_family(marks: Sequence[Mark]) -> str | None:
    """The family that begins first; if it has one mark only, the first one that goes on counting."""
    if any(m.family == "A.1" for m in marks):
        marks = [m for m in marks if m.family != "part"]
    families = [m.family for m in marks if m.order[-1] == 1]
    counting = [f for f in families if any(m.family == f and m.order[-1] == 2 for m in marks)]
    if families and families[0] not in counting and counting:
        return counting[0]
    return families[0] if families else None


def _is_next(last: tuple[int, ...], order: tuple[int, ...]) -> bool:
    """``(2)`` follows ``(1)``; ``(2.1)`` follows ``(2)``; one missing label is forgiven."""
    if not last:
        return order[-1] == 1
    return last < order and order[0] - last[0] <= 2
