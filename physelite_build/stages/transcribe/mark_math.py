"""Which characters of a row are formulas?

Input is a row of glyphs as ``engines/glyphs.py`` makes them, output plain text with ``$...$``. Called by
``stages/transcribe.py``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from physelite_build.engines.structure.glyphs import Glyph, is_cjk
from physelite_build.engines.structure.notation import FUNCTIONS, SYMBOLS, UNIT, latex_of
from physelite_build.records import Language

__all__ = ["MarkedRow", "Printed", "mark_math"]

_SHORT_WORDS = frozenset(
    "a A i an as at be by do go he if in is it me my no of on or so to up us we am vs ie eg pm "
    "Fig Eq Eqs No Ans MM DD XX YY HH www cn".split()
)
"""English words of two letters, and abbreviations, that are not products of quantities."""
_FIRST_WORDS = frozenset("an as at by do he if in is it my no of on or so to we".split())
"""Short words that begin sentences; ``Us`` is a voltage."""
_AFTER_VARIABLE = frozenset(
    "and of is are was in for from to at as with on by or the when if which that so must can".split()
)
"""Words that follow the quantity a, but not the article a."""
_OPERATORS = frozenset("+-−–=<>≤≥⩽⩾≪≫≈≃∼~≠≡×·÷±∓/→←⇒⇔↔∝∈∞√∂∇∫∮∑∏⊥∥∠△∆°′|*^⋅%:：＝＋＜＞∘")
_RELATIONS = frozenset("=<>≤≥⩽⩾≪≫≈≃∼≠≡→⇒⇔∝∈＝＜＞")
_WEAK = frozenset(":：%*|~")
"""Signs that do not begin or end a formula by themselves."""
_OPEN = "([{（"
_CLOSE = ")]}）"
_MIDDLE_LABEL = re.compile(r"\d{1,2}|[a-h]|[ivx]{1,4}")
_LABEL = re.compile(
    r"^\s*(?:[(（]\s*(?:\d+(?:\.\d+)?|[a-zA-Z]|[ivx]+)\s*[)）]|[A-Da-d][)）.．、](?:\d+(?:\.\d+)*)?|[1-9][)）.．、](?!\d)|\d{1,2}[.．、](?!\d)|Q\d+)"
)
_REFERENCE = re.compile(r"[(（]\s*(?:\d+(?:\.\d+)?|[A-Za-z])\s*[)）]$")
_LETTERS = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Printed:
    """A stretch of the text of a row, and the glyphs that it was read from."""

    start: int
    """Offset of its first character in the text; for a formula that of the first one inside the dollar signs."""
    text: str
    glyphs: tuple[Glyph, ...]
    is_formula: bool = False


@dataclass(frozen=True, slots=True)
class MarkedRow:
    """A row as plain text with ``$...$``."""

    text: str
    printed: tuple[Printed, ...] = ()
    """Every character that stands on paper, in order: single glyphs of plain text, whole formulas."""


@dataclass(slots=True)
class _Token:
    kind: str
    """``text``, ``word``, ``number``, ``symbol`` (certainly maths), ``operator``, ``open``, ``close``, ``comma``."""
    glyphs: list[Glyph] = field(default_factory=list)
    spaced: bool = False

    @property
    def text(self) -> str:
        return "".join(g.text for g in self.glyphs)


def mark_math(glyphs: Sequence[Glyph], *, language: Language) -> MarkedRow:
    """Write a row as plain text with its formulas in dollar signs.

    Args:
        glyphs: The row from left to right, levels settled, finished LaTeX pieces in their places.
        language: Of the row; decides about spaces and articles.

    Returns:
        Text with ``$...$``; every Chinese character of the row is in it.
    """
    if not glyphs:
        return MarkedRow("")
    glyphs = _with_level_words(glyphs)
    label = _label_length(glyphs)
    tokens = _tokens(glyphs[label:])
    _judge_words(tokens, language)
    row = _Writer(language)
    row.add_plain(glyphs[:label])
    position = 0
    for start, end in [*_runs(tokens), (len(tokens), len(tokens))]:
        row.add_plain([g for t in tokens[position:start] for g in t.glyphs])
        if start < end:
            row.add_formula([g for t in tokens[start:end] for g in t.glyphs], spaced=tokens[start].spaced)
        position = end
    return MarkedRow(row.text, tuple(row.printed))


class _Writer:
    """Writes the text of one row and remembers which glyphs each stretch came from."""

    def __init__(self, language: Language) -> None:
        self.text = ""
        self.printed: list[Printed] = []
        self._language = language

    def add_plain(self, glyphs: Sequence[Glyph]) -> None:
        for index, glyph in enumerate(glyphs):
            text = f"${glyph.text}$" if glyph.is_latex else glyph.text.replace("\\", "∖").replace("$", r"\$")
            starts_apart = index == 0 and _is_apart(self.text, text, self._language)
            if starts_apart or _is_blank(self.text, text, glyph, self._language):
                self.text += " "
            inset = 1 if glyph.is_latex else 0
            self.printed.append(
                Printed(len(self.text) + inset, text[inset : len(text) - inset], (glyph,), glyph.is_latex)
            )
            self.text += text

    def add_formula(self, glyphs: Sequence[Glyph], *, spaced: bool) -> None:
        latex = latex_of(glyphs)
        spaced = spaced or self._language == "zh" or not self.text
        if spaced and _is_apart(self.text, "$", self._language):
            self.text += " "
        self.printed.append(Printed(len(self.text) + 1, latex, tuple(glyphs), is_formula=True))
        self.text += f"${latex}$"


def _is_apart(left: str, right: str, language: Language) -> bool:
    """Say whether typesetters put a blank between text and formula: yes, but not at Chinese punctuation or brackets."""
    if not left or not right:
        return False
    a, b = left[-1], right[0]
    if "$" not in (a, b) or a.isspace() or b.isspace():
        return False
    other = b if a == "$" else a
    if (a == "$" and other in ",.;:!?)]%'，。；：！？）】、") or (
        b == "$" and other in "([“，。；：！？（【、①②③④⑤⑥⑦⑧⑨"
    ):
        return False
    return not (language == "en" and other == "-")


def _is_blank(before: str, text: str, glyph: Glyph, language: Language) -> bool:
    last = before[-1:]
    blank = glyph.gap_em >= 0.18 and last != "" and not is_cjk(text) and not is_cjk(last)
    if language == "zh" or text in ",.;:)]!?" or last in "([":
        blank = blank and last.isalnum() and text.isalnum()
    return blank


def _label_length(glyphs: Sequence[Glyph]) -> int:
    """Count the glyphs of a part label at the start of the row."""
    text = "".join("\0" if g.is_latex else g.text[0] for g in glyphs[:12])
    match = _LABEL.match(text)
    return match.end() if match else 0


def _with_level_words(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Put the letters of ordinary words back on the line."""
    out = list(glyphs)
    start = 0
    while start < len(out):
        end = start
        while end < len(out) and _LETTERS.fullmatch(out[end].text) and (end == start or out[end].gap_em < 0.18):
            end += 1
        if end - start > 2 and end + 1 < len(out) and out[end].text in "'’" and out[end + 1].text in "st":
            out[end] = replace(out[end], level=0)
        word = "".join(g.text for g in out[start:end])
        levels = {g.level for g in out[start + 1 : end]}
        if len(word) > 1 and _is_word(word) and not (levels == {-1} and len(word) > 2):
            out[start:end] = [replace(g, level=0) for g in out[start:end]]
        start = max(end, start + 1)
    return out


def _tokens(glyphs: Sequence[Glyph]) -> list[_Token]:
    tokens: list[_Token] = []
    index = 0
    while index < len(glyphs):
        glyph = glyphs[index]
        kind = _kind(glyph)
        end = index + 1
        if kind in ("word", "number"):
            while end < len(glyphs) and _continues(glyphs, end, kind):
                end += 1
        spaced = glyph.gap_em >= 0.18
        if kind == "word":
            tokens += _split_functions(list(glyphs[index:end]), spaced=spaced)
        else:
            tokens.append(_Token(kind, list(glyphs[index:end]), spaced))
        index = end
        while index < len(glyphs) and glyphs[index].level and not is_cjk(glyphs[index].text):
            tokens[-1].glyphs.append(glyphs[index])
            tokens[-1].kind = _scripted(tokens[-1])
            index += 1
    return tokens


def _scripted(token: _Token) -> str:
    base = "".join(g.text for g in token.glyphs if not g.level)
    return token.kind if token.kind == "text" or (token.kind == "word" and len(base) > 3) else "symbol"


def _kind(glyph: Glyph) -> str:
    text = glyph.text
    if glyph.is_latex or (text in SYMBOLS and (text.isalpha() or text in "∞ℏ")):
        return "symbol"
    if text in _OPEN:
        return "open"
    if text in _CLOSE:
        return "close"
    if text in _OPERATORS:
        return "operator"
    if text in ",，":
        return "comma"
    if is_cjk(text):
        return "text"
    if text.isdigit():
        return "number"
    return "word" if _LETTERS.fullmatch(text) else "text"


def _continues(glyphs: Sequence[Glyph], index: int, kind: str) -> bool:
    glyph = glyphs[index]
    if glyph.is_latex or glyph.level or (glyph.gap_em >= 0.18 and not (kind == "number" and glyph.text == ".")):
        return False
    if kind == "word":
        return bool(_LETTERS.fullmatch(glyph.text)) or (
            glyph.text in "'’"
            and index + 1 < len(glyphs)
            and glyphs[index + 1].text in "st"
            and glyphs[index - 1].gap_em < 9
            and _word_before(glyphs, index)
        )
    follows = index + 1 < len(glyphs) and glyphs[index + 1].text.isdigit() and not glyphs[index + 1].level
    return glyph.text.isdigit() or (glyph.text == "." and follows)


def _word_before(glyphs: Sequence[Glyph], index: int) -> bool:
    letters = 0
    while index - letters > 0 and _LETTERS.fullmatch(glyphs[index - letters - 1].text):
        letters += 1
    return letters >= 3


def _split_functions(glyphs: list[Glyph], *, spaced: bool) -> list[_Token]:
    """Cut function names out of letters that stand together: ``mgsin`` is ``mg`` and ``sin``."""
    text = "".join(g.text for g in glyphs)
    for name in FUNCTIONS:
        at = text.find(name)
        if at >= 0 and (text == name or _is_product(text[:at], text[at + len(name) :])):
            tokens = [
                _Token("word", glyphs[:at], spaced),
                _Token("symbol", glyphs[at : at + len(name)], spaced and not at),
                _Token("word", glyphs[at + len(name) :]),
            ]
            return [t for t in tokens if t.glyphs]
    return [_Token("word", glyphs, spaced)]


def _is_product(before: str, after: str) -> bool:
    """Say whether what stands around a function name are quantities: mg and sin, but not ba and sin."""
    return len(before) <= 3 and len(after) <= 1 and not re.search(r"[aeiou]", before)


def _is_word(text: str) -> bool:
    """Say whether letters are a word of a language rather than a product of quantities."""
    if len(text) <= 2:
        return text in _SHORT_WORDS or (text.lower() in _FIRST_WORDS and text.istitle())
    if not re.search(r"[aeiouyAEIOUY]", text):
        return len(text) > 4
    return len(text) > 3 or text.islower() or text.istitle() or "'" in text or "’" in text


def _judge_words(tokens: list[_Token], language: Language) -> None:
    """Turn letters that are quantities into symbols."""
    for index, token in enumerate(tokens):
        if token.kind != "word":
            continue
        before = tokens[index - 1] if index else None
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        text = token.text
        if before is not None and before.text in ("图", "表", "Figure", "Table", "Problem"):
            continue  # the label of a figure
        if (
            text in "ABCDEF"
            and language == "zh"
            and after is not None
            and after.text in ".．、"
            and _is_option(tokens, index)
        ):
            continue
        if _is_unit_after(before, text):
            token.kind = "unit"
        elif _is_word(text) and not (len(text) == 1 and _is_quantity(text, before, after, language)):
            continue
        else:
            token.kind = "symbol"


def _is_option(tokens: Sequence[_Token], index: int) -> bool:
    """Say whether a letter with a full stop names a choice: what follows is Chinese."""
    return index + 2 < len(tokens) and is_cjk(tokens[index + 2].text) and not tokens[index].glyphs[0].level


def _is_unit_after(before: _Token | None, text: str) -> bool:
    return before is not None and before.kind == "number" and re.fullmatch(UNIT, text) is not None


def _is_quantity(text: str, before: _Token | None, after: _Token | None, language: Language) -> bool:
    if language == "zh" or text not in "aAI" or (before is not None and before.kind in ("operator", "open")):
        return True
    if after is None or after.kind in ("operator", "comma", "symbol") or not after.spaced:
        return not (text == "A" and after is not None and after.spaced and after.kind == "symbol")
    return after.text in _AFTER_VARIABLE or (after.kind == "text" and after.text in ".,;")


def _runs(tokens: Sequence[_Token]) -> list[tuple[int, int]]:
    """Find the maximal runs of tokens that are formulas."""
    runs: list[tuple[int, int]] = []
    index = 0
    while index < len(tokens):
        if not _may_belong(tokens, index, 0):
            index += 1
            continue
        end, depth = index, 0
        while end < len(tokens) and _may_belong(tokens, end, depth):
            depth += (tokens[end].kind == "open") - (tokens[end].kind == "close")
            end += 1
        for first, last in _between_labels(tokens, index, end):
            start, stop = _trimmed(tokens, first, last)
            start = _after_label(tokens, start, stop)
            if start < stop and _is_formula(tokens[start:stop]):
                runs.append((start, stop))
        index = end
    return runs


def _between_labels(tokens: Sequence[_Token], start: int, end: int) -> list[tuple[int, int]]:
    """Cut a run at part labels that count up, as in ``(1) 2.0 s (2) 20 m/s``; one label alone may be a factor."""
    found = [
        (index, label)
        for index in range(start, end - 2)
        if [tokens[index].kind, tokens[index + 2].kind] == ["open", "close"]
        and _MIDDLE_LABEL.fullmatch(label := tokens[index + 1].text)
    ]
    if len(found) < 2 or any(token.text not in _WEAK for token in tokens[start : found[0][0]]):
        return [(start, end)]
    first = _position(found[0][1])
    pieces = [(at + 3, after) for (at, _), after in zip(found, [*(at for at, _ in found[1:]), end], strict=True)]
    counted = all(_position(label) == first + step for step, (_, label) in enumerate(found))
    return pieces if counted and all(a < b for a, b in pieces) else [(start, end)]


def _position(label: str) -> int:
    return int(label) if label.isdigit() else ord(label[0]) - ord("a") + 1


def _after_label(tokens: Sequence[_Token], start: int, stop: int) -> int:
    """Step over a part label that leads an equation in the middle of a row: ``答案：(1) v = 10 m/s; (2) H = 3.2 m``."""
    before = tokens[start - 1] if start else None
    if stop - start < 6 or (before and before.kind in ("symbol", "number", "unit") and before.text not in _WEAK):
        return start
    opening, label, closing, first = tokens[start : start + 4]
    if opening.kind != "open" or closing.kind != "close" or not _MIDDLE_LABEL.fullmatch(label.text):
        return start
    rest = tokens[start + 3 : stop]
    equates = any(token.kind == "operator" and token.text in _RELATIONS for token in rest)
    return start + 3 if equates and first.kind == "symbol" else start


def _may_belong(tokens: Sequence[_Token], index: int, depth: int) -> bool:
    token = tokens[index]
    if token.kind == "comma":
        return depth > 0 and index + 1 < len(tokens) and tokens[index + 1].kind in ("symbol", "number", "operator")
    if token.kind == "operator" and token.text in "-–/" and not token.spaced:
        # A hyphen between words, a slash between alternatives.
        left = tokens[index - 1].kind if index else ""
        right = tokens[index + 1].kind if index + 1 < len(tokens) else ""
        return not (left == "word" or right == "word")
    return token.kind in ("symbol", "number", "operator", "open", "close", "unit")


def _trimmed(tokens: Sequence[_Token], start: int, end: int) -> tuple[int, int]:
    """Drop brackets without a partner and weak signs at both ends."""
    at_row_start, at_row_end = start == 0, end == len(tokens)
    changed = True
    while changed and start < end:
        changed = False
        kinds = [t.kind for t in tokens[start:end]]
        opened, closed = kinds.count("open"), kinds.count("close")
        first, last = tokens[start], tokens[end - 1]
        if (first.kind == "close" and not (at_row_start and opened < closed and len(kinds) > 2)) or (
            first.kind == "open" and opened > closed and not at_row_end
        ):
            start, changed = start + 1, True
        elif (last.kind == "open" and not at_row_end) or (
            last.kind == "close" and closed > opened and not at_row_start
        ):
            end, changed = end - 1, True
        elif (first.kind == "operator" and first.text in _WEAK) or first.kind == "comma":
            start, changed = start + 1, True
        elif (
            (last.kind == "operator" and last.text in ":：~")
            or last.kind == "comma"
            or (last.kind == "operator" and not at_row_end and last.text in "-–/·")
        ):
            end, changed = end - 1, True
        elif first.kind == "open" and last.kind == "close" and len(kinds) > 3 and _one_pair(kinds):
            start, end, changed = start + 1, end - 1, True
    return start, end


def _one_pair(kinds: Sequence[str]) -> bool:
    """Say whether the first bracket is closed by the last one."""
    depth = 0
    for index, kind in enumerate(kinds):
        depth += (kind == "open") - (kind == "close")
        if depth == 0:
            return index == len(kinds) - 1
    return False


def _is_formula(tokens: Sequence[_Token]) -> bool:
    kinds = {t.kind for t in tokens}
    text = "".join(t.text for t in tokens)
    if _REFERENCE.match(text) and not tokens[0].glyphs[0].is_latex and len(tokens) <= 3:
        return False
    if "symbol" in kinds or "unit" in kinds:
        return True
    operands = [i for i, t in enumerate(tokens) if t.kind == "number"]
    signs = [t.text for t in tokens if t.kind == "operator" and t.text not in _WEAK]
    if any(s in _RELATIONS or s in "×°∞∠" for s in signs):
        return True
    if len(tokens) == 2 and tokens[0].text in "-−" and operands and not tokens[1].spaced:
        return True
    if "%" in text and operands:
        return False
    return len(operands) >= 2 and any(s in "+−×/·" for s in signs) and tokens[0].kind == "number"
