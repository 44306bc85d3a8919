"""Reads one value: an optional name, a number or formula, an optional unit."""

from __future__ import annotations

import re
from itertools import pairwise

from .answers import UnreadableAnswerError, Value
from .clean import trim
from .formula import read_formula
from .nodes import Node, has_kind, symbols_of
from .tokens import UnreadableFormulaError
from .units import THINGS, Unit, parse_unit

MAX_VALUE_CHARS = 3000
MAX_SPLIT_CHARS = 400
_BEFORE = re.compile(
    r"^(?:\\approx|=|:|约等于|therefore|thus|hence|then|only|just|exactly|approximately|大约是|大约为|大约|约为|约是|约|大小为|大小是|等于|应为|应是|就是|共|为|是|得|"
    r"(?:is|are|be|about|approximately|approx\.?|roughly|around|nearly|equals?|equal to|ca\.)(?![A-Za-z]))\s*"
)
_AFTER = re.compile(r"\s*(?:左右|or so|approximately|approx\.?|\(approx\.?\)|\((?:精确|近似)?值?\))$")
_COUNT_WORDS = (
    (re.compile(r"(\d+(?:\.\d+)?)\s*(?:万亿|trillion)"), 12), (re.compile(r"(\d+(?:\.\d+)?)\s*(?:billion)"), 9),
    (re.compile(r"(\d+(?:\.\d+)?)\s*亿"), 8), (re.compile(r"(\d+(?:\.\d+)?)\s*千万"), 7),
    (re.compile(r"(\d+(?:\.\d+)?)\s*(?:百万|million)"), 6), (re.compile(r"(\d+(?:\.\d+)?)\s*万"), 4),
)  # fmt: skip
_NUMBER_WORDS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "half": "0.5", "one half": "0.5", "零": "0", "一": "1", "二": "2",
    "两": "2", "三": "3", "四": "4", "五": "5", "六": "6", "七": "7", "八": "8", "九": "9", "十": "10", "一半": "0.5",
    "none": "", "不变": "",
}  # fmt: skip
_CHINESE_COUNT = re.compile(r"^([一二两三四五六七八九十])(?=[个倍次米秒牛焦伏安种条])")
_CHINESE_FRACTION = re.compile(r"([一二两三四五六七八九十]|\d+)分之([一二两三四五六七八九十]|\d+)")
_PERCENT = re.compile(
    r"\\?%|\\(?:text|mathrm)\s*\{\s*(?:percent|pct|%|\\%)\.?\s*\}|(?:percent|per cent|pct)\.?(?![A-Za-z])"
)
_PERCENT_ZH = re.compile(r"百分之\s*(\d+(?:\.\d+)?)")
_STEP = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(\^\s*\\circ|[^\d.+\-*/^=]{1,24})\s*")
_BRACKETED_UNIT = re.compile(r"(.+\S)\s+\(([^()]{1,24})\)")
_COUNTED = re.compile(r"(.*\d)\s*((?:[A-Za-z]{4,20}\s?){1,3}|[一-鿿]{1,6})")
_NUMBER_END = re.compile(r"[\d})\]%!]$|\\pi$|π$|(?<![A-Za-z])pi$")
_UNIT_START = re.compile(r"[A-Za-zμΩÅ°′″'\"\\/({^一-鿿]")
_ROMAN = re.compile(r"\\(?:mathrm|text|textrm|rm|operatorname|unit|si)(?![A-Za-z])")
_LONG_NUMBER = re.compile(r"\d{61}")
_SYMBOL_LIKE = frozenset("hgcdutlrm")
_RELATION = re.compile(r"\\(?:approx|Rightarrow|propto)(?![A-Za-z])|=")


def split_members(text: str) -> list[str]:
    r"""Split a chain such as `v = a t \approx 3 m/s` at its equality signs outside braces."""
    members: list[str] = []
    depth = 0
    start = 0
    index = 0
    while index < len(text):
        character = text[index]
        if character in "{([":
            depth += 1
        elif character in "})]":
            depth = max(0, depth - 1)
        elif depth == 0:
            match = _RELATION.match(text, index)
            if match is not None:
                members.append(text[start:index])
                start = index = match.end()
                continue
        index += 1
    members.append(text[start:])
    return [member.strip() for member in members]


def spell_numbers(text: str) -> str:
    """Replace counting words, per cent words and Chinese myriads by digits."""
    if _LONG_NUMBER.search(text):
        return text
    text = _PERCENT_ZH.sub(r"\1%", _PERCENT.sub("%", text))
    for pattern, power in _COUNT_WORDS:
        text = pattern.sub(rf"\1\\times 10^{{{power}}}", text)
    text = re.sub(r"零下\s*(?=\d)", "-", text)
    text = re.sub(r"负\s*(?=[\d一二三四五六七八九十])", "-", text)
    text = _CHINESE_FRACTION.sub(_chinese_fraction, text)
    text = _CHINESE_COUNT.sub(lambda m: _NUMBER_WORDS[m.group(1)], text)
    return _NUMBER_WORDS.get(text.lower(), text)


def strip_hedges(text: str) -> str:
    """Remove words such as "about" before a value and "左右" behind it."""
    text = trim(text)
    for _ in range(4):
        shorter = _AFTER.sub("", _BEFORE.sub("", text)).strip()
        if shorter == text or not shorter:
            break
        text = shorter
    return text


def read_value(text: str, *, name: str = "", allow_unit: bool = True) -> Value:
    r"""Read a cleaned text without equality signs as a number or formula with a unit.

    Args:
        text: For example `3.0\times 10^{4} \mathrm{K}`, `5牛·米`, `\frac{1}{2}mv^2`.
        name: The left-hand side that stood before it.
        allow_unit: False when letters behind a number are symbols in any case (expressions).

    Raises:
        UnreadableAnswerError: If it is neither.
    """
    if len(text) > MAX_VALUE_CHARS or _LONG_NUMBER.search(text):
        raise UnreadableAnswerError("the value is too long")
    text = spell_numbers(strip_hedges(text))
    if not text:
        raise UnreadableAnswerError("there is no value")
    value = _with_unit(text, name=name, allow_plain=allow_unit) or _in_steps(text, name=name)
    value = value or _with_unit_in_brackets(text, name=name)
    try:
        nodes = read_formula(text)
    except UnreadableFormulaError as error:
        value = value or _counted(text, name=name)
        if value is not None:
            return value
        raise UnreadableAnswerError(str(error)) from error
    nodes = _with_both_logarithms(nodes)
    if symbols_of(nodes[0]) == {"j"} and has_kind(nodes[0], "num"):
        nodes = tuple(_with_imaginary_j(node) for node in nodes)
    if value is None:
        return Value(nodes, name=name, text=text)
    if has_kind(nodes[0], "deg") and not symbols_of(nodes[0]):
        return Value(nodes, name=name, text=text) if _has_angle_inside(nodes[0]) else value
    if _is_symbol_like(text, value):
        return Value(nodes, name=name, text=text, as_formula=nodes)
    return Value(value.nodes, value.units, name, text, as_formula=nodes)


def is_number(value: Value) -> bool:
    """Tell whether a value has no free symbols."""
    return not symbols_of(value.nodes[0]) - {"e"}


def _with_unit(text: str, *, name: str, allow_plain: bool) -> Value | None:
    """Find the earliest place where a number ends and a unit fills the rest."""
    if len(text) > MAX_SPLIT_CHARS:
        return None
    for match in _UNIT_START.finditer(text):
        head = text[: match.start()].rstrip()
        tail = text[match.start() :]
        if not head or not (_NUMBER_END.search(head) or _ROMAN.match(tail)):
            continue
        units = parse_unit(tail)
        if not units:
            continue
        is_roman = _ROMAN.search(tail) is not None
        if not (allow_plain or is_roman or not tail.isascii() or "circ" in tail):
            continue
        nodes = _number_nodes(head, allow_symbols=is_roman)
        if nodes is not None:
            return Value(nodes, units, name, text)
    return None


def _in_steps(text: str, *, name: str) -> Value | None:
    """Read a size given in falling units of one kind: `1 h 30 min`, `12°30′`, `1小时20分`."""
    pieces = _STEP.findall(text)
    if len(pieces) < 2 or _STEP.sub("", text).strip() or len(pieces) > 4:
        return None
    units = [parse_unit(unit)[:1] for _, unit in pieces]
    if not all(units) or len({unit[0].dimension for unit in units}) != 1:
        return None
    factors = [unit[0].factor for unit in units]
    if any(first <= second for first, second in pairwise(factors)):
        return None
    total = sum(float(size) * factor for (size, _), factor in zip(pieces, factors, strict=True)) / factors[0]
    return Value((Node("num", value=total, is_decimal=True),), units[0], name, text)


def _with_unit_in_brackets(text: str, *, name: str) -> Value | None:
    """Read `3t - 5t^2 (m)`."""
    match = _BRACKETED_UNIT.fullmatch(text)
    units = parse_unit(match.group(2)) if match is not None else ()
    nodes = _number_nodes(match.group(1), allow_symbols=True) if match is not None and units else None
    return Value(nodes, units, name, text) if nodes is not None else None


def _counted(text: str, *, name: str) -> Value | None:
    """Read a number of things that are no unit, such as `20 pages`."""
    match = _COUNTED.fullmatch(text)
    nodes = _number_nodes(match.group(1), allow_symbols=False) if match is not None else None
    return Value(nodes, (THINGS,), name, text) if nodes is not None else None


def _number_nodes(text: str, *, allow_symbols: bool) -> tuple[Node, ...] | None:
    try:
        nodes = read_formula(text)
    except UnreadableFormulaError:
        return None
    free = symbols_of(nodes[0]) - {"e"}
    return None if free and not allow_symbols else nodes


def _is_symbol_like(text: str, value: Value) -> bool:
    """Tell whether `2g` or `3h` glued to a small whole number is rather a formula than a quantity."""
    match = re.fullmatch(r"(-?\d|-?\\frac\s*\{?\d\}?\s*\{?\d\}?)([A-Za-z])", text)
    return match is not None and match.group(2) in _SYMBOL_LIKE and bool(value.units) and match.group(2) not in "mg"


def _has_angle_inside(node: Node) -> bool:
    r"""Tell whether degrees stand inside a function, as in `\sin 45^\circ`, and not behind the whole number."""
    if node.kind == "fn" and has_kind(node, "deg"):
        return True
    return any(_has_angle_inside(child) for child in node.children)


def _with_imaginary_j(node: Node) -> Node:
    """Read `3+4j` as a complex number when j is the only letter."""
    children = tuple(_with_imaginary_j(child) for child in node.children)
    name = "imaginary" if node.name == "j" else node.name
    return Node(node.kind, name, node.value, children, node.is_decimal)


def _with_both_logarithms(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Add the reading of `log` as decimal logarithm to the natural one."""
    extra = tuple(_decimal_logarithm(node) for node in nodes if _has_log(node))
    return (nodes + extra)[:6]


def _has_log(node: Node) -> bool:
    return (node.kind == "fn" and node.name == "log") or any(_has_log(child) for child in node.children)


def _decimal_logarithm(node: Node) -> Node:
    children = tuple(_decimal_logarithm(child) for child in node.children)
    if node.kind == "fn" and node.name == "log":
        ten = Node("fn", name="ln", children=(Node("num", value=10.0),))
        return Node("div", children=(Node("fn", name="ln", children=children), ten))
    return Node(node.kind, node.name, node.value, children, node.is_decimal)


def _chinese_fraction(match: re.Match[str]) -> str:
    bottom, top = (_NUMBER_WORDS.get(group, group) for group in match.groups())
    return rf"\frac{{{top}}}{{{bottom}}}"


def unit_tail(text: str) -> tuple[str, tuple[Unit, ...]]:
    """Split `(1, 2, 3) m` into the bracket and its unit; the unit is empty when there is none."""
    for match in _UNIT_START.finditer(text):
        head = text[: match.start()].rstrip()
        if head and head[-1] in ")]}" and head.count("(") == head.count(")") and head.count("{") == head.count("}"):
            units = parse_unit(text[match.start() :])
            if units:
                return head, units
    return text, ()
