"""Finds part labels such as (1), (a), ii), 第一问, "Part 2" and named quantities such as `T = 2 N`."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

MAX_PARTS = 40
_CHINESE_DIGITS = {c: i + 1 for i, c in enumerate("一二三四五六七八九十")}
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
_BEFORE = r"(?:(?<=^)|(?<=[\s;,.:、。，；}$*]))"
_LABEL = re.compile(
    rf"{_BEFORE}(?:"
    r"\((?P<digit>\d{1,2})\)|\((?P<letter>[a-h])\)|\((?P<roman>i{1,3}|iv|vi{0,3}|ix|x)\)|\((?P<capital>[A-H])\)|"
    r"第\s*(?P<chinese>[一二三四五六七八九十]|\d{1,2})\s*(?:小?[问题空]|部分)|"
    r"\((?P<hanzi>[一二三四五六七八九十])\)|"
    r"(?:Part|Question|Problem|part)\s*\(?(?P<part>\d{1,2}|[A-Ha-h]|i{1,3}|iv|v)\)?(?=\s*[:.,)]|\s|$)|"
    r"(?P<dotted>\d{1,2})(?:\.(?=\s+\S)|[)、](?=\s*\S))|(?P<dotletter>[a-h])(?:\)|\.(?=\s))"
    r")\s*[:.]?\s*",
    re.MULTILINE,
)
_NAME = re.compile(r"^\s*([^=<>]{1,60}?)\s*(?:=|\\approx)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that belongs to one part."""

    label: str
    """Position of the part as a decimal number, or the label itself when it has no position."""
    text: str
    """What follows the label, up to the next one."""
    style: str
    """Family of the label: digit, letter, roman, chinese."""


def position_of(label: str) -> str:
    """Return the position that a label stands for, `2` for `(b)`, `ii`, `二`, `2`; other labels come back plain."""
    plain = re.sub(r"^(?:part|question|problem|第)\s*|[\s().:、]|小?[问题]$", "", label.strip(), flags=re.IGNORECASE)
    if plain.isdigit():
        return str(int(plain))
    if plain.lower() in _ROMAN and plain.lower() not in {"c", "d"}:
        return str(_ROMAN[plain.lower()])
    if plain in _CHINESE_DIGITS:
        return str(_CHINESE_DIGITS[plain])
    if re.fullmatch(r"[A-Ha-h]", plain):
        return str(ord(plain.lower()) - ord("a") + 1)
    return plain.lower()


def find_pieces(text: str) -> list[Piece]:
    """Cut a text at its part labels of one family, the family with most labels (the earlier one when equal).

    Returns:
        The pieces in the order of the text; empty when there are no labels.
    """
    matches = list(_LABEL.finditer(text))[: MAX_PARTS * 8]
    families: dict[str, list[re.Match[str]]] = {}
    for match in matches:
        families.setdefault(_style(match), []).append(match)
    if not families:
        return []
    chosen = max(families.values(), key=lambda found: (len({_label(m) for m in found}), -found[0].start()))
    pieces = []
    for index, match in enumerate(chosen):
        end = chosen[index + 1].start() if index + 1 < len(chosen) else len(text)
        pieces.append(Piece(position_of(_label(match)), text[match.end() : end], _style(match)))
    return pieces


def starts_with_label(text: str) -> bool:
    """Tell whether the first thing in a text is a part label."""
    return _LABEL.match(text.lstrip()) is not None


def find_literal_pieces(text: str, labels: list[str]) -> list[Piece]:
    """Cut a text at labels of the dataset that have no usual form, such as `A.1` or `2a`."""
    found: list[tuple[int, int, str]] = []
    for label in labels:
        plain = re.escape(label.strip(" ().:"))
        pattern = rf"(?:(?<=^)|(?<=[\s;,(。，；*]))(?:Part\s*|Question\s*)?\(?{plain}\)?\s*[:.)、]*\s*(?=\S)"
        found.extend((m.start(), m.end(), label) for m in re.finditer(pattern, text, re.IGNORECASE | re.MULTILINE))
    found.sort()
    pieces = []
    for index, (_, end, label) in enumerate(found[: MAX_PARTS * 4]):
        stop = found[index + 1][0] if index + 1 < len(found) else len(text)
        pieces.append(Piece(position_of(label), text[end:stop], "literal"))
    return pieces


def name_of(text: str) -> str:
    """Return the left-hand side of `T = 2 N` in one spelling; empty when there is none."""
    match = _NAME.match(text)
    if match is None:
        return ""
    name = re.sub(
        r"\\(?:mathrm|text|textrm|mathit|vec|mathbf|boldsymbol|rm)(?![A-Za-z])|[{}\s$\\_]", "", match.group(1)
    )
    return re.sub(r"^(?:and|the|则|故|所以|且|var)", "", "".join(map(_spelled, name)))


def _spelled(char: str) -> str:
    """Write a Greek letter by its name, as LaTeX does: `Δ` is `Delta`."""
    words = unicodedata.name(char, "").split()
    if words[:1] != ["GREEK"] or "LETTER" not in words:
        return char
    letter = words[words.index("LETTER") + 1].lower().replace("lamda", "lambda")
    return letter.capitalize() if "CAPITAL" in words else letter


def _style(match: re.Match[str]) -> str:
    kind = str(match.lastgroup)
    return {"part": "part", "dotted": "dotted", "dotletter": "dotted letter"}.get(kind, kind)


def _label(match: re.Match[str]) -> str:
    return str(match.group(str(match.lastgroup)))
