"""What a row of text announces by its first characters: a problem, a part, a step, a solution, an answer.

Everything here looks at one row alone and only names *candidates*; ``numbering.py`` decides which of them count in a document.
OCR mistakes in numbers and words (``第l题``, ``(l)``, ``Prob1em``, full-width signs) are tolerated here and nowhere else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

__all__ = [
    "CHINESE_NUMBER",
    "POINTS",
    "PRINTED_NUMBER",
    "STRONG_STYLES",
    "Heading",
    "find_heading",
    "find_points",
    "is_continuation",
    "read_number",
    "split_points",
]

Style = Literal[
    "第题",
    "题",
    "例",
    "练习",
    "problem",
    "question",
    "example",
    "exercise",
    "q",
    "一、",
    "（一）",
    "1.",
    "A.",
    "I.",
    "1.1",
    "1)",
    "page",
]
"""Form of a problem number; one document keeps to one or two of them."""

STRONG_STYLES: frozenset[str] = frozenset(
    {"第题", "题", "例", "练习", "problem", "question", "example", "exercise", "q"}
)
"""Forms that name a problem by a word; the others may as well number parts or sections."""

_CN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "壹": 1, "贰": 2}
CHINESE_NUMBER = r"[零〇一二三四五六七八九十百]{1,4}"
PRINTED_NUMBER = r"(?:\d{1,3}|[lI|]\d?|\d[lIOo|])"
_DOTTED = r"\d{1,2}\s?[.\-–．]\s?\d{1,3}"
_ROMAN = r"[IVX]{1,5}"
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10}
_HAN = r"\u4e00-\u9fff"

POINTS = re.compile(
    r"[（(\[【]\s*(?:本题|本小题|该题|每题|总?共|满分|total:?|max\.?|worth)*\s*(?:计|为)?\s*(\d{1,3}(?:\.\d+)?)\s*"
    r"(?:分|points?|pts?\.?|marks?|pkt)\s*[)）\]】]",
    re.IGNORECASE,
)
POINTS_REACH = 40
"""Characters of a title before its points, and of a remark after them; in a longer row the brackets belong to the text."""
_OPEN_POINTS = re.compile(
    r"^本(?:大|小)?题\s*(?:满分|共|计|总分)?\s*(?:为)?\s*(\d{1,3})\s*分\s*[。．.，,、；;:：]?\s*(?=\S)"
)
"""Points that open a statement without brackets: ``一、本题满分20分。``"""
_BARE_POINTS = re.compile(r"^(\d{1,3})\s*(?:分|points?|pts?\.?|marks?)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Heading:
    """A row that may open a problem, or the answer to one."""

    style: Style
    number: str
    """In Arabic digits; empty if the form has none (``题目：``)."""
    order: tuple[int, ...]
    """The number as integers, for comparing: ``(2, 5)`` for 2.5; a letter counts from A = 1."""
    points: float | None
    rest: str
    """What follows the number and the points on the same row: a title or the first words."""
    answers: bool = False
    """The heading itself says that a solution follows: ``第1题 解答``, ``Solution to Problem 1``."""
    firm: bool = True
    """False if the separator after the number is missing."""


def read_number(text: str) -> int | None:
    """Read a printed number: Arabic, Chinese (to 199), Roman in capitals, or a single capital letter.

    Args:
        text: Number without brackets; ``l``, ``I``, ``|`` beside digits count as 1, ``O`` as 0.

    Returns:
        The number, or None if it is none.
    """
    text = text.strip()
    if re.fullmatch(CHINESE_NUMBER, text):
        return _read_chinese(text)
    if re.fullmatch(r"[\dlIOo|]+", text) and not re.fullmatch(_ROMAN, text):
        return int(text.translate(str.maketrans("lI|Oo", "11100")))
    if re.fullmatch(_ROMAN, text):
        values = [_ROMAN_VALUES[c] for c in text]
        return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))
    if re.fullmatch(r"[A-Z]", text):
        return ord(text) - ord("A") + 1
    return None


def _read_chinese(text: str) -> int | None:
    if text == "十":
        return 10
    if "百" in text or text.count("十") > 1:
        return None
    if "十" in text:
        tens, ones = text.split("十")
        return (_CN_DIGITS[tens] if tens else 1) * 10 + (_CN_DIGITS[ones] if ones else 0)
    if len(text) > 1 and not all(c in "零〇" for c in text[1:]):
        return None
    return _CN_DIGITS[text[0]] if len(text) == 1 else None


# ---------------------------------------------------------------- problem headings
_AFTER_WORD = r"(?=\s*$|\s*[.:：、．,，)）\]】—–\-(（\[【]|\s+(?-i:[A-Z“\"$\d])|\s*[" + _HAN + r"])"
_LAST_POINTS = r"[(（\[]\s*\d{1,2}(?:\.\d)?\s*(?:points?|pts?\.?|marks?)\s*[)）\]]\s*$"
_ENGLISH = r"pr[o0]b[l1i]ems?|[qo0]uesti[o0]n|examp[l1i]e|exercise|task"
_PATTERNS: tuple[tuple[Style | None, re.Pattern[str]], ...] = (
    (
        "第题",
        re.compile(
            rf"^[【\[〖]?\s*(?:理论|实验)?\s*第\s*(?P<n>{PRINTED_NUMBER}|{CHINESE_NUMBER})\s*大?[题題](?![图圖]|[组至到~～—–\-]|目?[中的里所与和及给]|号)[】\]]?"
        ),
    ),
    (
        "题",
        re.compile(
            rf"^[【\[]?\s*(?:理论|实验)?(?:试题|問題|题目|题|題)\s*(?P<n>{_DOTTED}|{PRINTED_NUMBER}|{CHINESE_NUMBER})(?![\d图圖中的里所与和及给至到组])(?=\s|[.．、:：,（(【\]】]|$|[{_HAN}])[】\]]?"
        ),
    ),
    ("题", re.compile(r"^[【\[]?\s*(?:题\s*目|试题)\s*(?P<n>)[】\]:：]")),
    (
        "例",
        re.compile(
            rf"^[【\[]?\s*例\s*题?\s*(?P<n>{_DOTTED}|{PRINTED_NUMBER}|{CHINESE_NUMBER})(?![\d图个外])(?=\s|[.．、:：,（(【\]】]|$|[{_HAN}])[】\]]?"
        ),
    ),
    (
        "练习",
        re.compile(
            rf"^[【\[]?\s*(?:练习题?|习题|思考题|补充题|变式)\s*(?P<n>{_DOTTED}|{PRINTED_NUMBER}|{CHINESE_NUMBER})(?![\d图])(?=\s|[.．、:：,（(【\]】]|$)[】\]]?"
        ),
    ),
    (
        None,
        re.compile(
            r"^(?P<pre>(?:solutions?|answers?)\s+(?:to|of|for)\s+)?(?:the\s+)?(?:theor\w*\s+|experim\w*\s+|practical\s+)?"
            rf"(?P<word>{_ENGLISH})\s*(?:no\.?|#|№)?\s*"
            rf"(?P<n>{_DOTTED}|[A-Z]\d{{1,2}}|{PRINTED_NUMBER}|{_ROMAN}|[A-Z](?![a-z]))\b" + _AFTER_WORD,
            re.IGNORECASE,
        ),
    ),
    ("q", re.compile(r"^Qu?\s?[.]?\s?(?P<n>\d{1,2}|[lI])(?![\d\-–.]\d?)(?=\s*$|\s*[.．:：、)]|\s*[(（\[]|\s+\S)")),
    ("q", re.compile(r"^Qu?\s?(?P<n>\d{1,2})\s?[.．](?=\s|$)")),
    ("q", re.compile(r"^(?:Theory,?\s+)?[TP]\s?-?(?P<n>\d{1,2})(?=\s*[:：.]\s|\s*[(（\[]\d+\s*p)")),
    ("q", re.compile(rf"^[TPE]\s?-?(?P<n>\d{{1,2}})[.:：]?(?=\s+[A-Z][^=]{{2,60}}{_LAST_POINTS})")),
    ("q", re.compile(r"^(?:Theory|Experiment)\s+(?P<n>\d{1,2})(?=\s*[:：.—–]|\s*[(（\[]|\s*$)")),
    (
        "q",
        re.compile(
            r"^(?P<pre>(?:solutions?|answers?)\s+(?:(?:to|of|for)\s+)?)[TPE]\s?-?(?P<n>\d{1,2})(?=\s*$|\s*[.:：(（\[])",
            re.IGNORECASE,
        ),
    ),
    ("一、", re.compile(rf"^(?P<n>{CHINESE_NUMBER})\s*(?:[、．.,，:：]|(?=[（(]\s*(?:本题)?\s*\d+\s*分))")),
    ("一、", re.compile(r"^(?P<n>[-—－–ー])\s*、")),
    ("（一）", re.compile(rf"^[（(]\s*(?P<n>{CHINESE_NUMBER})\s*[)）]")),
    (
        "1.1",
        re.compile(
            rf"^(?P<n>\d{{1,2}}[.\-–]\d{{1,3}})(?:[.．、]\s*|\s+|(?=[（(]))(?=[{_HAN}A-Z“(（\[$])(?!\$?\\?(?:mathrm|times|math))"
        ),
    ),
    ("1.", re.compile(r"^(?P<n>\d{1,3}|l)\s*(?:[、．]|[.](?!\d)|[.](?=(?:19|20)\d\d年)|[,，](?=\s*[（(]\d+\s*分))\s*")),
    ("1.", re.compile(rf"^【\s*(?P<n>\d{{1,2}})\s*】\s*(?=[{_HAN}A-Z$])")),
    ("1.", re.compile(r"^(?P<n>\d{1,2})\s*(?=[（(]\s*(?:本题)?\s*\d+\s*(?:分|points?|pts|marks?))")),
    ("1)", re.compile(r"^(?P<n>\d{1,2}|l)\s*[)）]\s*(?=\S)")),
    ("I.", re.compile(rf"^(?P<n>{_ROMAN})\s*[.．、]\s*")),
    ("A.", re.compile(r"^(?P<n>[A-H])\s*[.．、]\s*(?=\S)")),
)
_LOOSE = re.compile(
    rf"^(?P<n>\d{{1,2}})\s+(?=[{_HAN}](?<![个只根块秒米次倍分条种台节年月日颗枚页题点组])|[A-Z][a-z]*\s)"
)
_LONE_NUMBER = re.compile(r"^(?P<n>\d{1,2})$")
_WORD_STYLES: dict[str, Style] = {"p": "problem", "q": "question", "o": "question", "0": "question", "t": "problem"}
_SAYS_SOLUTION = re.compile(
    r"^[\s.．、:：—–\-]*(?:的)?(?:[（(【\[]\s*)?(?:参考答案(?:与解析)?|参考解答|解答|解析|答案|(?:解|solutions?|answers?)(?=\s*[:：)\]）】]|\s*$))"
    r"\s*(?:[)）】\]])?\s*[:：.]?\s*",
    re.IGNORECASE,
)


def find_heading(text: str) -> Heading | None:
    """Read the start of a row as a problem heading, whatever the document's style is.

    Args:
        text: One row, plain text with ``$...$``.

    Returns:
        The candidate, or None. Years, decimals and quantities (``2.0 m/s``) give None.
    """
    text = text.strip()
    first = POINTS.match(text)
    if first is not None:  # the points stand before the number: （15分）16．
        behind = find_heading(text[first.end() :])
        return replace(behind, points=float(first[1])) if behind is not None and behind.firm else None
    for style, pattern in _PATTERNS:
        match = pattern.match(text)
        if match:
            return _heading(style, match, text)
    match = _LOOSE.match(text) or _LONE_NUMBER.match(text)
    return _heading("1.", match, text, firm=False) if match else None


def _heading(style: Style | None, match: re.Match[str], text: str, *, firm: bool = True) -> Heading | None:
    printed = match["n"].replace(" ", "").replace("．", ".").replace("–", "-")
    if style is None:
        word = match["word"].lower()
        style = ("exercise" if word[2] == "e" else "example") if word[0] == "e" else _WORD_STYLES[word[0]]
    if style == "一、" and printed in "-—－–ー":
        printed = "一"
    order = _order(printed)
    if order is None or (printed and order[0] == 0):
        return None
    number = "" if not printed else printed if re.search(r"[.\-]|^[A-Za-z]\d", printed) else str(order[0])
    rest = text[match.end() :].lstrip(" .．、:：,，—–-)）")
    points, rest = split_points(rest)
    answers = bool(match.groupdict().get("pre"))
    said = _SAYS_SOLUTION.match(rest)
    if said and style != "A.":
        answers, rest = True, rest[said.end() :]
    if style == "A." and points is None:
        return None
    if style in ("problem", "question", "example", "exercise") and re.fullmatch(r"[A-Z]", printed):
        number = printed
    return Heading(style, number, order, points, rest.strip(), answers, firm)


def _order(printed: str) -> tuple[int, ...] | None:
    if not printed:
        return (0,)
    pieces = re.split(r"[.\-]", printed)
    letter = re.fullmatch(r"([A-Za-z])(\d+)", printed)
    if letter and letter[1] not in "lI":
        pieces = [letter[1].upper(), letter[2]]
    numbers = [read_number(p) for p in pieces]
    known = tuple(n for n in numbers if n is not None)
    return known if len(known) == len(numbers) else None


def split_points(rest: str) -> tuple[float | None, str]:
    """Take the points off a heading: at its start, at its end, or between a title and a remark such as the author.

    Returns:
        The points or None, and the text without them.
    """
    match = (
        POINTS.match(rest)
        or _OPEN_POINTS.match(rest)
        or next((m for m in POINTS.finditer(rest) if m.end() == len(rest.rstrip(" .:：。"))), None)
    )
    match = match or next(
        (m for m in POINTS.finditer(rest) if m.start() < POINTS_REACH and len(rest) < 2 * POINTS_REACH), None
    )
    if match:
        return float(match[1]), (rest[: match.start()] + rest[match.end() :]).strip(" :：.")
    bare = _BARE_POINTS.match(rest.strip())
    return (float(bare[1]), "") if bare else (None, rest)


def find_points(text: str) -> float | None:
    """Return the points printed at the start or the end of a text, or None."""
    return split_points(text.strip())[0]


_CONTINUED = re.compile(r"[（(\[]\s*(?:续|接上页|continued|cont\.?(?:\s*d|')?)\s*[)）\]]\s*$", re.IGNORECASE)


def is_continuation(text: str) -> bool:
    """Say whether a row repeats a heading on a new page: ``Problem 1 (continued)``, ``第1题（续）``."""
    return bool(_CONTINUED.search(text.strip())) and find_heading(text) is not None
