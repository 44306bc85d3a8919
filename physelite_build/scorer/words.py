"""Answers in letters and words: multiple choice, true or false, short text, directions."""

from __future__ import annotations

import re
from collections import Counter

_DRESS = re.compile(r"\\(?:text|mathrm|textbf|mathbf|textrm|rm|bf|mbox|hbox|boxed)(?![A-Za-z])|[${}]")
_LETTERS = r"[A-J](?:(?:\s*(?:,|、|;|/|&|and|和|与|及|以及)\s*|\s+)?\(?[A-J]\)?)*"
_LETTER_LIST = re.compile(
    rf"[\s(\[<\"'*]*(?:(?i:options?|choices?|answers?|ans|选项?|答案)\s*(?i:is|[:是为])?\s*)?\(?({_LETTERS})[\s)\]>\"'*.。,]*$"
)
_BRACKETED_LIST = re.compile(r"\(?\(([A-Ja-j])\)(?:\s*(?:,|、|and|和|&)?\s*\(([A-Ja-j])\))*\)?[.。]?$")
_SMALL_LETTER = re.compile(r"[\s(\[]*([a-j])\s*[)\].]?$")
_LEADING = re.compile(r"^[\s(\[]*([A-J])[\s]*(?:[)\]]\s*[:.,、]?|[:.,、。;])(?:\s|(?=[^A-Za-z]))")
_MARKED = re.compile(
    rf"(?:(?i:answers?|options?|choices?|correct (?:one|statement|answer)s?)|答案|故选|应选|选择|选|正确的是|正确选项|说法正确的有)\s*"
    rf"(?:is|are|must be|should be|would be|为|是|:|应为|应是|有)*\s*:?\s*[(\[*\"']*({_LETTERS})(?![A-Za-z'])"
)
_TRAILING = re.compile(
    rf"(?:\b(?:so|thus|therefore|hence|is|be|choose|pick|select|namely)|[,:,，：])\s+[(\[*]*({_LETTERS})[)\]*]*\s*[.。!]?\s*$"
)
_JUDGED = re.compile(r"(?<![A-Za-z])\(?([A-J])\)?\s+is\s+(?:the\s+)?(?:right|correct|true|answer)")
_REJECTED = re.compile(r"(?:not|isn't|is not|cannot be|不是|不选)\s*\(?$")

_TRUE_WORDS = "true|yes|correct|right|正确|对的?|成立|能够?|可以|会|可能|是的?|真|t|y|√|valid"
_FALSE_WORDS = "false|no|incorrect|wrong|错误|错的?|假|否|f|n|×|✗|cannot|can't|invalid|impossible"
_NEGATIONS = "不太|不|没有|没|并非|非|无|未|not |n't |never |isn't "
_TRUTH = re.compile(rf"({_NEGATIONS})?\s*(?:(?<![a-z])(?:({_FALSE_WORDS})|({_TRUE_WORDS}))(?![a-z]))", re.IGNORECASE)
_UNDECIDED = re.compile(
    r"\b(?:grader|scorer|grading|instructions?|ignore|system|mark this)\b|判定|评分|规则|忽略|判分|无法|不确定|不一定|不知道|unknown|uncertain|undetermined|cannot be determined|maybe|perhaps|可能对"
)

_STOP_WORDS = frozenset(
    "the a an it is are was were be that this to in at of its towards toward directed direction pointing points point "
    "and answer will move moves along magnitude with which".split()
)
_SAME_WORD = {
    "leftward": "left", "leftwards": "left", "rightward": "right", "rightwards": "right", "upward": "up",
    "upwards": "up", "downward": "down", "downwards": "down", "anticlockwise": "counterclockwise",
    "inwards": "inward", "outwards": "outward", "increases": "increase", "decreases": "decrease",
    "increasing": "increase", "decreasing": "decrease", "vertically": "vertical", "horizontally": "horizontal",
    "unchanged": "unchanged", "larger": "greater", "bigger": "greater", "eastward": "east", "westward": "west",
    "northward": "north", "southward": "south",
}  # fmt: skip
_SAME_TEXT = (
    ("counter-clockwise", "counterclockwise"), ("anti-clockwise", "counterclockwise"),
    ("counter clockwise", "counterclockwise"), ("counterclockwise", "counterclockwise"),
    ("逆时针", " counterclockwise "), ("顺时针", " clockwise "), ("向内", "向里"), ("朝", "向"), ("增加", "增大"),
    ("减少", "减小"), ("变大", "增大"), ("变小", "减小"), ("保持不变", "不变"), ("大小为", ""), ("大小是", ""), ("大小", ""),
)  # fmt: skip
_STOP_CHARACTERS = frozenset(
    "的于了是为着其该此在沿处方向从而将会它们, ，。、;；:：.!！?？()（）[]{}\"'“”‘’《》-—\t\n "
)
_DENIALS = re.compile(r"不|没|非|无|未|\b(?:not|no|never|neither|nor|or|opposite|except|rather)\b|n't|或|相反")
DIRECTION = re.compile(
    r"left|right|\bup|down|north|south|east|west|inward|outward|clockwise|\binto\b|out of|toward|vertical|horizontal|"
    r"along|above|below|forward|backward|opposite|parallel|perpendicular|"
    r"[左右上下里外内东南西北]|时针|竖直|水平|垂直|沿|正方向|负方向|正向|反向|相反|相同",
    re.IGNORECASE,
)
FORMULA_MARK = re.compile(r"\\[A-Za-z]|[_^=<>]")
MAX_WORDS_CHARS = 600
MAX_EXTRA_WORDS = 6
MAX_EXTRA_CHARACTERS = 9


def undress(text: str) -> str:
    """Return the text without font commands, dollar signs and braces."""
    return re.sub(r"\s+", " ", _DRESS.sub(" ", text)).strip()


def read_choice_reference(text: str, *, declared: bool) -> frozenset[str] | None:
    """Read the letters of a reference such as `D`, `(B)`, `A, C` or `ABD`; None when it is no choice."""
    plain = undress(text).strip(" .。()[]")
    top = "J" if declared else "H"
    compact = re.sub(r"\s|,|、|;|，|；|\(|\)|and|和|与", "", plain)
    if re.fullmatch(rf"[A-{top}]{{1,10}}", compact) and len(set(compact)) == len(compact):
        return frozenset(compact)
    if declared:
        return read_choice_response(text)
    return None


def read_choice_response(text: str) -> frozenset[str] | None:
    """Find the chosen letters in a response; a letter that is only a word of the sentence does not count."""
    plain = undress(text)[-MAX_WORDS_CHARS * 4 :]
    for pattern in (_LETTER_LIST, _BRACKETED_LIST):
        match = pattern.match(plain)
        if match is not None:
            return _letters_in(match)
    match = _SMALL_LETTER.match(plain)
    if match is not None:
        return frozenset(match.group(1).upper())
    marked = [match for match in _MARKED.finditer(plain) if not _REJECTED.search(plain[: match.start(1)])]
    if marked:
        return _letters(marked[-1].group(1))
    for pattern in (_JUDGED, _TRAILING):
        found = list(pattern.finditer(plain))
        if found:
            return _letters(found[-1].group(1))
    match = _LEADING.match(plain)
    if match is not None:
        return frozenset(match.group(1))
    found = list(re.finditer(r"\(([A-J])\)", plain))
    return frozenset(found[-1].group(1)) if found else None


def _letters_in(match: re.Match[str]) -> frozenset[str]:
    text = re.sub(r"options?|choices?|answers?|ans|and", " ", match.group(), flags=re.IGNORECASE)
    return _letters(text.upper())


def _letters(text: str) -> frozenset[str]:
    return frozenset(character for character in text.replace("and", " ") if "A" <= character <= "J")


def read_truth(text: str) -> bool | None:
    """Read yes or no, in English or Chinese; None when the text says neither or is undecided."""
    plain = undress(text).strip().lower().strip(" .。!！\"'()（）")
    if not plain or len(plain) > MAX_WORDS_CHARS or _UNDECIDED.search(plain):
        return None
    plain = re.sub(r"^.*(?:答案|answer)\s*(?:是|为|is)?\s*[:：]?\s*(?=.)", "", plain)
    verdicts: list[bool] = []
    for match in _TRUTH.finditer(plain):
        is_false = match.group(2) is not None
        if match.group(3) in {"是", "会", "能", "对", "可能"} and verdicts:
            continue
        verdicts.append(is_false if match.group(1) else not is_false)
    if not verdicts:
        return None
    if re.match(r"^[\u4e00-\u9fff]*是.+(?:的|误|确)$", plain) and len(verdicts) > 1:
        return verdicts[-1]
    return verdicts[-1] if not plain.isascii() else verdicts[0]


def is_truth_reference(text: str) -> bool:
    """Tell whether a reference is nothing but a yes or a no."""
    plain = undress(text).strip().lower().strip(" .。")
    pattern = rf"(?:不|没有)?(?:{_TRUE_WORDS}|{_FALSE_WORDS})"
    return (len(plain) > 1 and re.fullmatch(pattern, plain) is not None) or plain in set("对错是否真假√×能会")


def _english(text: str) -> list[str]:
    words = re.findall(r"[a-z0-9+]+", text)
    return [_SAME_WORD.get(word, word) for word in words if word not in _STOP_WORDS]


def _chinese(text: str) -> str:
    return "".join(c for c in text if not c.isascii() and c not in _STOP_CHARACTERS)


def _plain_words(text: str) -> str:
    plain = re.sub(r"(?<=\S )([A-Z])(?![A-Za-z])", r"letter\1", undress(text)).lower()
    for spelling, common in _SAME_TEXT:
        plain = plain.replace(spelling, common)
    return plain


def same_words(reference: str, response: str) -> bool:
    """Tell whether two short texts say the same in the same words.

    Case, articles, punctuation and a short carrier sentence do not matter; an extra negation does.
    """
    if len(response) > MAX_WORDS_CHARS or len(reference) > MAX_WORDS_CHARS:
        return False
    wanted, given = _plain_words(reference), _plain_words(response)
    if len(_DENIALS.findall(wanted)) != len(_DENIALS.findall(given)):
        return False
    if FORMULA_MARK.search(undress(reference)):
        return _letters_only(wanted) == _letters_only(given)
    wanted_zh, given_zh = _chinese(wanted), _chinese(given)
    wanted_en, given_en = _english(wanted), _english(given)
    if wanted_zh:
        extra = len(given_zh) - len(wanted_zh)
        inside = wanted_zh in given_zh and 0 <= extra <= MAX_EXTRA_CHARACTERS
        return inside and all(word in given_en for word in wanted_en)
    if not wanted_en:
        return undress(reference) == undress(response)
    size = len(wanted_en)
    places = range(len(given_en) - size + 1)
    found = any(given_en[start : start + size] == wanted_en for start in places)
    return found and len(given_en) - size <= MAX_EXTRA_WORDS


def _letters_only(text: str) -> str:
    return "".join(c for c in text if not c.isspace() and c not in ",，。.;；:：{}$")


def same_direction(reference: str, response: str) -> bool:
    """Tell whether two direction phrases name the same directions, in any order."""
    wanted, given = _plain_words(reference), _plain_words(response)
    if len(_DENIALS.findall(wanted)) != len(_DENIALS.findall(given)):
        return False
    return Counter(_chinese(wanted)) == Counter(_chinese(given)) and set(_english(wanted)) == set(_english(given))
