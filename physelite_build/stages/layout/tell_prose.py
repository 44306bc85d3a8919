"""Tells what a short string from the text engine is: prose, mathematics, a caption, a page number, a heading.

Knows nothing about places on the page; ``find_figures`` and ``label_rows`` combine it with geometry.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = [
    "count_chinese",
    "count_words",
    "is_caption",
    "is_equation_number",
    "is_part_caption",
    "is_prose",
    "is_table_caption",
    "join_texts",
    "starts_item",
    "states_page_number",
]

_HAN = r"[\u3400-\u9fff\uf900-\ufaff]"
# Engines read + and = as 十 and 二: between other signs these are no words.
_CHINESE = re.compile(rf"(?![一二十丨]){_HAN}|[一二十丨](?={_HAN})|(?<={_HAN})[一二十丨]")
_WORD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2,}(?![0-9²³])|[A-Za-z]{3,}")
_READS_AS_WORD = re.compile(r"[a-z]{2}[a-z]|[A-Z][a-z]{2}|[A-Z]{5}")
_VOWEL = re.compile(r"[aeiouAEIOU]")
_NOT_WORDS = re.compile(
    r"arc(?:sin|cos|tan)|sin|cos|tan|cot|sec|csc|sinh|cosh|tanh|ln|log|exp|lim|max|min|det|const|"
    r"mol|rad|deg|kHz|MHz|eV|kg|cm|mm|km|ms|kPa|Pa|min"
)
_SHORT_WORDS = frozenset(
    "an and as at be by for get in is it of on or so the then to we where with if but hence now".split()
)
_NUMERAL = r"[0-9０-９]+(?:[.．\-–][0-9]+)*|[A-Z](?:[.．][0-9]+)?|[一二三四五六七八九十]+"
_MARK = r"(?:\s*[（(]?[a-zA-Z甲乙丙丁][)）]?)?"
_CAPTION = re.compile(
    rf"^\s*(?:[图圖囝]\s*(?:{_NUMERAL}){_MARK}|(?:第?\s*(?:{_NUMERAL})\s*)?题\s*(?:{_NUMERAL})?\s*[图圖]|"
    rf"第\s*(?:{_NUMERAL})\s*题\s*(?:答)?\s*[图圖]|(?:Fi[gq]ure|Fi[gq]\.?|FIG\.?|FIGURE)\s*(?:{_NUMERAL}){_MARK}|[图圖]\s*[（(]?[a-z甲乙丙丁][)）]?\s*$)"
)
_AFTER_CAPTION = re.compile(r"^\s*(?:$|[:：.．。)）]|[\u3400-\u9fffA-Za-z(（])")
_SENTENCE_AFTER = re.compile(
    r"^\s*(?:是|为|所示|中|和|与|及|的|给出|表示|shows|is |are |and |depicts|illustrates|,|，)"
)
_TABLE_CAPTION = re.compile(rf"^\s*(?:表\s*(?:{_NUMERAL})|(?:Table|TABLE)\s*(?:{_NUMERAL}))")
_PART_CAPTION = re.compile(r"^\s*(?:[（(]\s*[a-h甲乙丙丁]\s*[)）]|[甲乙丙丁]\s*$)")
_EQUATION_NUMBER = re.compile(r"^[\s.·…⋯]*[（(\[]\s*\d{1,3}(?:[.\-–]\d{1,3})?\s*[a-z']?\s*[)）\]]\s*$|^\s*[①-⑳]\s*$")
_PAGE_NUMBER = re.compile(
    r"^[\s\-–—_·~=]*\d{1,3}[\s\-–—_·~=]*$|^\s*[（(]?\s*\d{1,3}\s*[/／]\s*\d{1,3}\s*[)）]?\s*$|"
    r"第\s*[0-9一二三四五六七八九十]+\s*页|[共全]\s*[0-9一二三四五六七八九十]+\s*页|^\s*[ivxIVX]{1,5}\s*$|"
    r"(?:^|\s)[Pp]age\s*:?\s*\d+(?:\s*(?:of|/)\s*\d+)?\s*$|^\s*[Pp]\.\s*\d+\s*$"
)
_ITEM = re.compile(
    r"^\s*(?:[（(]\s*(?:\d{1,2}(?:\.\d)?|[a-h]|[ivx]+|[一二三四五六七八九十]+)\s*[)）]|\d{1,2}\s*[.．、)）]|"
    r"[一二三四五六七八九十]+\s*[、.．]|[A-Ha-h]\s*[.．、)）]|第\s*[\d一二三四五六七八九十]+\s*[题问步]|[①-⑳]|[【\[]|解|答|Step\b|Answer|Solution|Problem|Question)"
)


def count_chinese(text: str) -> int:
    """Count Chinese characters; a lone 一, 二 or 十 between other signs is a misread operator."""
    return len(_CHINESE.findall(text))


def count_words(text: str) -> int:
    """Count English words; function names, units, products like ``mgsin`` and a lone ``at`` or ``we`` are none."""
    found = short = 0
    for token in _WORD.findall(text):
        if token.lower() in _SHORT_WORDS:
            short += 1
            continue
        rest = _NOT_WORDS.sub(" ", token)
        found += any(_READS_AS_WORD.search(piece) and _VOWEL.search(piece) for piece in rest.split())
    return found + short if found or short > 1 else 0


def is_prose(text: str) -> bool:
    """Tell whether a line is running text: at least 4 Chinese characters or 3 English words."""
    return count_chinese(text) >= 4 or count_words(text) >= 3


def is_caption(text: str) -> bool:
    """Tell whether a line reads like a figure caption, for example ``图1``, ``题2图`` or ``Fig. 3: setup``."""
    found = _CAPTION.match(text)
    if found is None:
        return False
    rest = text[found.end() :]
    return _AFTER_CAPTION.match(rest) is not None and _SENTENCE_AFTER.match(rest) is None


def is_part_caption(text: str) -> bool:
    """Tell whether a line names a part of a figure, for example ``(a) open`` or ``甲``."""
    return _PART_CAPTION.match(text) is not None


def is_table_caption(text: str) -> bool:
    """Tell whether a line reads like a table caption, for example ``表 1`` or ``Table 2``."""
    found = _TABLE_CAPTION.match(text)
    return found is not None and _SENTENCE_AFTER.match(text[found.end() :]) is None


def is_equation_number(text: str) -> bool:
    """Tell whether a line is nothing but an equation number such as ``(3)`` or ``①``."""
    return _EQUATION_NUMBER.match(text) is not None


def states_page_number(text: str) -> bool:
    """Tell whether a line is or holds a page number, for example ``第 3 页 共 5 页``, ``- 3 -`` or ``page 1 of 3``."""
    return _PAGE_NUMBER.search(text) is not None


def starts_item(text: str) -> bool:
    """Tell whether a line starts a problem, a part, a choice, a step or an answer."""
    return _ITEM.match(text) is not None


def join_texts(texts: Sequence[str], gaps: Sequence[bool] = ()) -> str:
    """Join pieces of one row: a space between Latin pieces, none where Chinese meets Chinese or punctuation.

    Args:
        texts: The pieces from left to right.
        gaps: For each pair of neighbours, whether a wide gap stands between them, which is a space in any script; empty
            means no wide gap.

    Returns:
        One line without leading or trailing blanks.
    """
    row = ""
    for k, text in enumerate(t.strip() for t in texts):
        if not text:
            continue
        if row and (any(gaps[k - 1 : k]) or not (_is_wide(row[-1]) or _is_wide(text[0]))):
            row += " "
        row += text
    return row


def _is_wide(character: str) -> bool:
    return "\u2e80" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff" or "\uff00" <= character <= "\uffef"
