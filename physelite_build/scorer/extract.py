"""Finds the final answer in running text: the last box, a marked answer, the last sentence.

The places are tried in a fixed order and the first readable one decides, so that a text which mentions many values is
judged by one of them and not by the luckiest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .clean import trim
from .tokens import FUNCTIONS, GREEK_NAMES
from .units import parse_unit

MAX_RESPONSE_CHARS = 200_000
TAIL_CHARS = 6000
MAX_BOX_NESTING = 12
_BOX = re.compile(r"\\(?:boxed|fbox)\s*(?=\{)")
_MARK = re.compile(
    r"(?:final\s+(?:answer|result)s?|(?:the|my|our)\s+answers?|correct answer|\banswers?(?=\s*[:=(*])|\bans\b\.?(?=\s*[:=])|"
    r"最终的?(?:答案|结果)|正确的?(?:答案|结果)|【答案】|【解答】|答案|(?<![回解])答(?=\s*[:]))"
    r"[^\S\n]*(?:\([^()\n]{1,30}\))?[\s*#]*(?:is|are|will be|should be|would be|为|是|应为|应是|约为)?[\s*]*[:：=]?[\s*]*",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?:[.!?](?=\s|$)|[。！？\n])+")
_COPULA = re.compile(
    r"(?:约为|大约是|大约为|约是|应为|应是|等于|得到|可得|[为是得]|"
    r"(?<![A-Za-z])(?:equals|equal to|is approximately|is about|is|are|was|gives|give|yields|obtain|get|becomes))"
    r"(?![A-Za-z])\s*[:：]?\s*"
)
_RETRACTION = re.compile(
    r"\b(?:wait|actually|correction|instead|sorry|no,|mistake)|更正|纠正|不对|有误|错了|应该是|改为", re.IGNORECASE
)
_LABELLED = re.compile(r"^\s*[\w\s]{2,60}[:：]\s*(\S.*)$", re.DOTALL)
_LEAD = re.compile(
    r"^(?:(?:so|thus|hence|therefore|then|finally|consequently|and|we (?:get|have|find|obtain)|所以|因此|因而|故|则|即|于是)(?![A-Za-z])"
    r"[,，:\s]*)+",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\s*\(([^()]{3,80})\)[\s.。]*$")
_SHORT_WORD = re.compile(r"(?<![A-Za-z\\_{])(?:[Ii]t|is|[Ww]e|[Ss]o|the|The|of|be)\s")
_OPEN_CHOICE = re.compile(r"\b(?:or|between|either|from|neither|not)\b|或|之间|不")
_NUMBER_START = re.compile(r"(?:^|[\s(约达到有为是了])((?:[-+]\s?)?(?:\d|\\frac|\\sqrt)[^,，;；]*)")
_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{3,}(?![A-Za-z])")
_TEXT_COMMAND = re.compile(
    r"\\(?:text|mathrm|textrm|operatorname|mathbf)\s*\{[^{}]*\}|_\s*\{[^{}]*\}|\\[A-Za-z]+|_[A-Za-z]+"
)


@dataclass(frozen=True, slots=True)
class Boxes:
    """The boxed answers of a response, in order."""

    contents: tuple[str, ...]
    """Text inside each outermost box, inner boxes unwrapped."""
    is_open: bool
    """True when the last box never closes: then no box counts."""


def find_boxes(text: str) -> Boxes:
    """Find all boxes in one pass over the text."""
    contents: list[str] = []
    position = 0
    while True:
        match = _BOX.search(text, position)
        if match is None:
            return Boxes(tuple(contents), is_open=False)
        end = _closing_brace(text, match.end())
        if end < 0:
            return Boxes(tuple(contents), is_open=True)
        contents.append(unwrap_boxes(text[match.end() + 1 : end]))
        position = end + 1


def _closing_brace(text: str, opening: int) -> int:
    depth = 0
    index = opening
    while index < len(text):
        character = text[index]
        if character == "\\":
            index += 2
            continue
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return index
        index += 1
    return -1


def unwrap_boxes(text: str) -> str:
    """Return the text with each box replaced by what stands in it."""
    for _ in range(MAX_BOX_NESTING):
        match = _BOX.search(text)
        if match is None:
            return text
        end = _closing_brace(text, match.end())
        if end < 0:
            return text
        text = text[: match.start()] + text[match.end() + 1 : end] + text[end + 1 :]
    return text


def marked_answer(text: str) -> str | None:
    """Return what follows the last answer mark; None when there is no mark or a later sentence takes it back."""
    matches = list(_MARK.finditer(text))
    if not matches:
        return None
    rest = text[matches[-1].end() :]
    if not rest.strip(" \n.*:"):
        return None
    if _RETRACTION.search(rest):
        return None
    return rest


def first_sentence(text: str) -> str:
    """Return the text up to the first full stop or line break that has something before it."""
    text = text.lstrip(" \n*:：#-}")
    for match in _SENTENCE_END.finditer(text):
        head = text[: match.start()]
        if head.strip():
            return head
    return text


def last_sentence(text: str) -> str:
    """Return the last sentence of the last line that has words."""
    pieces = [piece for piece in _SENTENCE_END.split(text[-TAIL_CHARS:]) if re.search(r"\w", piece)]
    return pieces[-1] if pieces else ""


def after_copula(text: str) -> str | None:
    """Return what follows the last "is", "为", "等于"; None when the sentence has none."""
    matches = list(_COPULA.finditer(text))
    for match in reversed(matches):
        rest = text[match.end() :]
        if rest.strip():
            return rest
    return None


def candidates(text: str, *, bare: bool) -> list[str]:
    """List the places where the final answer may stand, best first.

    Args:
        text: The response in plain characters (`clean.plain_characters`).
        bare: True when the response is known to be nothing but the answer.

    Returns:
        Texts to be read in turn; empty when the response holds no answer at all.
    """
    boxes = find_boxes(text)
    if boxes.is_open:
        return []
    if boxes.contents:
        return [_last_boxes(text, boxes.contents)]
    whole = trim(text)
    if not whole:
        return []
    if whole.endswith("?"):
        return []
    found: list[str] = []
    marked = marked_answer(text[-TAIL_CHARS:])
    if marked is not None:
        sentence = first_sentence(marked)
        found.extend([sentence, after_copula(sentence) or ""])
        if len(marked) < TAIL_CHARS // 10:
            found.append(marked)
        found.extend(_clauses(sentence))
        return _distinct(found)
    if len(whole) <= TAIL_CHARS and (bare or not is_prose(whole)):
        found.append(whole)
    if is_prose(whole) or "\n" in whole:
        sentence = last_sentence(text)
        if not is_prose(sentence):
            found.append(sentence)
        found.append(after_copula(sentence) or "")
        if re.search(r"=|≈|\\approx", sentence):
            clause = re.split(r"[,，;；]\s*(?![^()\[\]{}]*[)\]}])", sentence)[-1]
            found.append(re.sub(r"^.*?(?=\\?[A-Za-zα-ωΑ-Ω]\S{0,30}\s*(?:=|≈|\\approx))", "", clause))
        label = _LABELLED.match(sentence)
        found.append(label.group(1) if label else "")
        found.append(_trailing_quantity(sentence))
        found.extend(_clauses(sentence))
        found.append(whole if len(whole) <= 400 else "")
    return _distinct(found)


def _distinct(found: list[str]) -> list[str]:
    """Drop empty and repeated places and the words that only lead over to the answer."""
    return [piece for piece in dict.fromkeys(trim(_LEAD.sub("", trim(piece))) for piece in found) if piece]


def _clauses(sentence: str) -> list[str]:
    """Return the sentence without a remark in brackets, and its last clause that holds a number or an equality."""
    plain = sentence
    remark = _REMARK.search(plain)
    if remark is not None and is_prose(remark.group(1)):
        plain = plain[: remark.start()]
    clauses = [clause for clause in re.split(r"[,，;；]", plain) if re.search(r"\d|=", clause)]
    if not clauses or _OPEN_CHOICE.search(sentence):
        return [plain] if plain != sentence else []
    last = clauses[-1]
    return [plain, after_copula(last) or "", _trailing_quantity(last)]


def _last_boxes(text: str, contents: tuple[str, ...]) -> str:
    """Return the last box, or the last two as a list when only "or" or "and" stands between them."""
    if len(contents) < 2:
        return contents[-1]
    between = text[: text.rindex("\\boxed" if "\\boxed" in text else "\\fbox")]
    joined = re.search(r"\}[\s$]*(?:or|and|或|或者|和|与)[\s$]*(?:[A-Za-z](?:_\{?\w\}?)?\s*=\s*)?$", between)
    return f"{contents[-2]} , {contents[-1]}" if joined else contents[-1]


def _trailing_quantity(sentence: str) -> str:
    """Return the number at the end of a sentence with its unit; empty when the sentence offers several."""
    if _OPEN_CHOICE.search(sentence):
        return ""
    matches = list(_NUMBER_START.finditer(sentence))
    return sentence[matches[-1].start(1) :] if matches else ""


def is_prose(text: str) -> bool:
    """Tell whether a text has words of a sentence besides a formula and its unit."""
    plain = _TEXT_COMMAND.sub(" ", text)
    words = [word for word in _WORD.findall(plain) if not _is_technical(word)]
    long_words = [word for word in words if len(word) >= 4 and word[1:].islower()]
    chinese = re.findall(r"[一-鿿]+", plain)
    sentence = [run for run in chinese if not parse_unit(run) and run not in {"约", "度", "大约", "左右"}]
    if _SHORT_WORD.search(plain):
        return True
    return len(words) >= 2 or bool(long_words) or any(len(run) >= 2 for run in sentence)


def _is_technical(word: str) -> bool:
    return word in FUNCTIONS or word in GREEK_NAMES or bool(parse_unit(word)) or word.lower() in {"and", "per", "infty"}
