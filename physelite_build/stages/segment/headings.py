"""What a row of text announces by its first characters: a problem, a part, a step, a solution, an answer.

Everything here looks at one row alone and only names *candidates*; ``numbering.py`` decides which of them count in a document.
OCR mistakes in numbers and words (``第l题``, ``(l)``, ``Prob1em``, full-width signs) are tolerated here and nowhere else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "CHINESE_NUMBER",
    "POINTS",
    "PRINTED_NUMBER",
    "STRONG_STYLES",
    "Heading",
    "find_heading",
    "find_points",
    "is_answers_section",
    "is_answers_title",
    "is_aside",
    "is_continuation",
    "is_exam_note",
    "is_exercises_heading",
    "is_notes_heading",
    "is_section_heading",
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
_ENGLISH = r"pr[o0]b[l1i]ems?|questi[o0]n|examp[l1i]e|exercise|task"
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
            rf"^[【\[]?\s*(?:理论|实验)?(?:试题|問題|题目|题|題)\s*(?P<n>{_DOTTED}|{PRINTED_NUMBER}|{CHINESE_NUMBER})(?![\d图])(?=\s|[.．、:：,（(【\]】]|$)[】\]]?"
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
    ("q", re.compile(r"^Q\s?[.]?\s?(?P<n>\d{1,2}|[lI])(?![\d\-–.]\d?)(?=\s*$|\s*[.．:：、)]|\s*[(（\[]|\s+\S)")),
    ("q", re.compile(r"^Q\s?(?P<n>\d{1,2})\s?[.．](?=\s|$)")),
    ("q", re.compile(r"^[TP](?P<n>\d{1,2})(?=\s*[:：.]\s|\s*[(（\[]\d+\s*p)")),
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
    ("1.", re.compile(r"^(?P<n>\d{1,2})\s*(?=[（(]\s*(?:本题)?\s*\d+\s*(?:分|points?|pts|marks?))")),
    ("1)", re.compile(r"^(?P<n>\d{1,2}|l)\s*[)）]\s*(?=\S)")),
    ("I.", re.compile(rf"^(?P<n>{_ROMAN})\s*[.．、]\s*")),
    ("A.", re.compile(r"^(?P<n>[A-H])\s*[.．、]\s*(?=\S)")),
)
_LOOSE = re.compile(
    rf"^(?P<n>\d{{1,2}})\s+(?=[{_HAN}](?<![个只根块秒米次倍分条种台节年月日颗枚页题点组])|[A-Z][a-z]*\s)"
)
_LONE_NUMBER = re.compile(r"^(?P<n>\d{1,2})$")
_WORD_STYLES: dict[str, Style] = {"p": "problem", "q": "question", "t": "problem"}
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
    match = POINTS.match(rest) or next(
        (m for m in POINTS.finditer(rest) if m.end() == len(rest.rstrip(" .:：。"))), None
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


# ---------------------------------------------------------------- headings of groups
_ANSWERS_SECTION = re.compile(
    r"^(?:.{0,12}?(?:参考答案|参考解答|试题答案|答案与解析|答案及解析|答案和解析|答案与提示|答案及评分|解答与提示|习题答案|习题解答|答案部分)(?:.{0,12})?"
    r"|(?:答\s*案|解\s*答|解\s*析|详\s*解)"
    r"|(?:answers?|solutions?|hints?)(?:\s*(?:and|&|,)\s*(?:answers?|solutions?|hints?|marking scheme))*(?:\s+(?:to|for)\s+.{0,40})?"
    r"|answer\s+key|(?:official|model|sample)\s+(?:answers?|solutions?))\s*[:：]?\s*$",
    re.IGNORECASE,
)
_ANSWERS_TITLE = re.compile(r"(?:解答|参考答案|答案|评分标准|(?:^|\s)(?:solutions?|answers?))\s*[)）]?$", re.IGNORECASE)
_ASIDE = re.compile(
    r"^[【\[]?(?:评分(?:标准|细则|参考|说明)|附录|点评|命题意图|考点|marking\s+scheme|grading\s+scheme|appendix)",
    re.IGNORECASE,
)
_NOTES_HEADING = re.compile(
    r"^[【\[]?(?:考生须知|考生注意|注意事项|答题须知|须知|说明|温馨提示|考试说明|(?:general\s+)?instructions?(?:\s+(?:to|for)\s+.*)?|general\s+information|please\s+read.*|rules)\s*[】\]:：]?\s*$",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"试卷|试题共|答题卡|答题纸|考试时间|本卷|满分|签字笔|铅笔|准考证|密封线|计算器|草稿纸|领队|监考|"
    r"answer\s+(?:sheet|booklet)|calculators?\b|candidates?\b|invigilator|time\s+allowed|writing\s+paper|your\s+name",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"^(?:第\s*[IVⅠⅡⅢ一二三\d]+\s*(?:卷|部分)|(?:[一二三四五六七八九十]|\d|[IVX]+|[A-H])?\s*[、.．]?\s*"
    r"(?:本题)?(?:单项|多项|不定项|非)?(?:选择|填空|实验|计算|解答|简答|论述|判断|作图|综合|必做|选做|证明)题"
    r"|section\s+(?:[A-Z]|[IVX]+|\d+)\b.{0,60}$|(?:multiple[\s-]choice|short[\s-]answer|free[\s-]response|theoretical|experimental)\s+(?:questions?|problems?|part|section)\s*$)",
    re.IGNORECASE,
)
_EXERCISES = re.compile(
    r"^(?:第.{1,3}章)?\s*(?:习\s*题|练习题?|思考题|课[后外](?:习题|练习|作业)|巩固练习|针对训练|exercises|problems|questions)\s*[:：]?$",
    re.IGNORECASE,
)
_CONTINUED = re.compile(r"[（(\[]\s*(?:续|接上页|continued|cont\.?(?:\s*d|')?)\s*[)）\]]\s*$", re.IGNORECASE)
_SECTION_LENGTH = 30
"""Characters of an answers heading; a longer row is a sentence that mentions answers."""


def is_answers_section(text: str) -> bool:
    """Say whether a row could head the answers at the end of a document (it may also head one solution)."""
    text = text.strip().strip("【】[]")
    return len(text) <= _SECTION_LENGTH and bool(_ANSWERS_SECTION.match(text))


def is_answers_title(text: str) -> bool:
    """Say whether a row could be the title of a document that holds answers only (``... 试题解答``, ``... Solutions``)."""
    text = text.strip()
    return len(text) <= 2 * _SECTION_LENGTH and (bool(_ANSWERS_TITLE.search(text)) or is_answers_section(text))


def is_aside(text: str) -> bool:
    """Say whether a row starts something that is neither statement nor solution, such as a marking scheme."""
    return bool(_ASIDE.match(text.strip()))


def is_notes_heading(text: str) -> bool:
    """Say whether a row heads the notes to the candidates."""
    return bool(_NOTES_HEADING.match(text.strip()))


def is_exam_note(text: str) -> bool:
    """Say whether a row speaks about the exam (time, pens, answer sheets) and not about physics."""
    return bool(_NOTE.search(text))


def is_section_heading(text: str) -> bool:
    """Say whether a row heads a group of problems (``一、选择题``, ``Section B``)."""
    return bool(_SECTION.match(text.strip()))


def is_exercises_heading(text: str) -> bool:
    """Say whether a row heads the exercises after the worked examples of a chapter."""
    return bool(_EXERCISES.match(text.strip()))


def is_continuation(text: str) -> bool:
    """Say whether a row repeats a heading on a new page: ``Problem 1 (continued)``, ``第1题（续）``."""
    return bool(_CONTINUED.search(text.strip())) and find_heading(text) is not None
