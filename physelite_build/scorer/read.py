"""Decides what kind of answer a text is and reads it.

A reference is read by its declared kind or by its looks; a response is then read as the same kind.
"""

from __future__ import annotations

import re

from .answers import (
    Answer,
    Bound,
    Choice,
    Directed,
    Equation,
    Inequality,
    Many,
    Span,
    Spans,
    Truth,
    Tuple,
    UnreadableAnswerError,
    Value,
    Words,
)
from .clean import is_balanced, split_top, trim
from .extract import is_prose, unwrap_boxes
from .formula import read_formula
from .nodes import Node, has_kind, symbols_of
from .nuclide import read_nuclide
from .quantity import is_number, read_value, spell_numbers, split_members, strip_hedges, unit_tail
from .tokens import UnreadableFormulaError
from .units import Unit
from .vector import read_unit_vectors
from .words import DIRECTION, FORMULA_MARK, is_truth_reference, read_choice_reference, read_truth, undress

KINDS = {
    "number": "number", "numeric": "number", "numerical": "number", "quantity": "number", "value": "number",
    "number+unit": "number", "integer": "integer", "count": "integer", "expression": "expression",
    "formula": "expression", "symbolic": "expression", "equation": "equation", "inequality": "interval",
    "interval": "interval", "range": "interval", "set": "set", "tuple": "tuple", "vector": "tuple", "matrix": "tuple",
    "complex": "number", "ratio": "ratio", "choice": "choice", "mcq": "choice", "mcq_multi": "choice",
    "multiple_choice": "choice", "true_false": "truth", "truefalse": "truth", "boolean": "truth", "text": "text",
    "words": "text", "string": "text", "nuclide": "nuclide", "multi_part": "",
}  # fmt: skip
MAX_ITEMS = 60
_COMPARISON = re.compile(r"\\(?:le|ge|ll|gg|lt|gt)(?![A-Za-z])|<=|>=|<|>")
_ELEMENT_OF = re.compile(r"^(.{0,60}?)\\in(?![A-Za-z])(.*)$", re.DOTALL)
_INTERVAL = re.compile(r"^([(\[])(.+),(.+)([)\]])$", re.DOTALL)
_MATRIX = re.compile(r"\\begin\s*\{([pbvB]?matrix|array)\}(?:\{[lcr|]*\})?(.*?)\\end\s*\{\1\}", re.DOTALL)
_OR = re.compile(
    r"\\(?:text|mathrm)\s*\{\s*(?:or|and|or else|或|和)\s*\}|\\lor(?![A-Za-z])|(?<![A-Za-z\\])(?:or|and)(?![A-Za-z])|或者|或|和|及|与"
)
_MULTIPLE_SIGNS = re.compile(r"\\(?:pm|mp)(?![A-Za-z])")
_MEASURED = re.compile(r"^[(\s]*-?\d*\.\d+\s*\\pm\s*\d*\.?\d+")
_CAPTION = re.compile(
    r"^(?:final answer|answers?|ans\.?|最终答案|参考答案|答案|【答案】|答)\s*[:为是]\s*", re.IGNORECASE
)
_PROSE = re.compile(r"[一-鿿]|[A-Za-z]{3,}")


def kind_of(kind: str | None) -> str:
    """Return the scorer's name of a declared kind; empty when none or an unknown one is declared."""
    return KINDS.get((kind or "").strip().lower().replace(" ", "_").replace("-", "_"), "")


def read_reference(text: str, kind: str | None = None) -> Answer:
    """Read a cleaned reference.

    Args:
        text: One answer, without part labels.
        kind: Its declared kind, or None to judge by its looks.

    Raises:
        UnreadableAnswerError: If the scorer cannot compare anything with it.
    """
    text = trim(_CAPTION.sub("", unwrap_boxes(trim(text))))
    declared = kind_of(kind)
    if not undress(text):
        raise UnreadableAnswerError("the reference is empty")
    special = _special_reference(text, declared)
    if special is not None:
        return special
    if not is_balanced(text):
        raise UnreadableAnswerError("a brace is missing")
    try:
        return read_mathematics(text, declared)
    except UnreadableAnswerError as error:
        directed = read_directed(text)
        if directed is not None:
            return directed
        is_formula = FORMULA_MARK.search(undress(text)) is not None and not is_prose(text)
        if is_formula or not _PROSE.search(text) or declared not in {"", "text"}:
            raise UnreadableAnswerError(f"{error}") from error
        return Words(text)


def _special_reference(text: str, declared: str) -> Answer | None:
    if declared in {"", "choice"}:
        letters = read_choice_reference(text, declared=declared == "choice")
        if letters:
            return Choice(letters)
        if declared == "choice":
            raise UnreadableAnswerError("no choice letter is there")
    if declared == "truth" or (not declared and is_truth_reference(text)):
        is_true = read_truth(text)
        if is_true is not None:
            return Truth(is_true)
    if declared == "text":
        return read_directed(text) or Words(text)
    if declared in {"", "nuclide"}:
        return read_nuclide(text)
    return None


def read_mathematics(text: str, declared: str = "") -> Answer:
    """Read a cleaned text as any kind of mathematical answer.

    Raises:
        UnreadableAnswerError: If no kind fits.
    """
    text = trim(text)
    for reader in (_read_matrix, _read_spans, _read_many, _read_tuple, _read_ratio):
        answer = reader(text, declared)
        if answer is not None:
            return answer
    return read_single(text, declared)


def read_single(text: str, declared: str = "") -> Answer:
    """Read a value or an equation.

    Raises:
        UnreadableAnswerError: If it is neither.
    """
    members = [member for member in split_members(strip_hedges(text)) if member]
    if not members:
        raise UnreadableAnswerError("there is no value")
    last = members[-1]
    name = members[0] if len(members) > 1 else ""
    vector = read_unit_vectors(last)
    if vector is not None:
        return vector
    if len(members) == 1:
        return read_value(last, allow_unit=declared != "expression")
    left, right = _formulas(name), _formulas(last)
    if right and not left and len(members) > 2:
        left = _formulas(members[-2])
    if _is_plain_number(name) and _is_plain_number(last):
        return read_value(last)
    if declared != "equation" and _is_name(name, left, right):
        return read_value(last, name=name, allow_unit=declared != "expression")
    if left and right and _is_name(last, right, left) and len(symbols_of(right[0])) == 1:
        return read_value(name, name=last, allow_unit=declared != "expression")
    value: Value | None
    try:
        value = read_value(last, name=name) if _is_quotient_of_names(left) or not left else None
    except UnreadableAnswerError:
        value = None
    if left and right:
        return Equation(left, right, name, value)
    if value is None:
        raise UnreadableAnswerError("the equation cannot be read")
    return value


def _formulas(text: str) -> tuple[Node, ...]:
    try:
        return read_formula(spell_numbers(text))
    except UnreadableFormulaError:
        return ()


def _is_plain_number(text: str) -> bool:
    """Tell whether a member of a chain is a number, perhaps with a unit."""
    try:
        return is_number(read_value(text))
    except UnreadableAnswerError:
        return False


def _is_name(text: str, left: tuple[Node, ...], right: tuple[Node, ...]) -> bool:
    """Tell whether a left-hand side only names the quantity: one symbol, perhaps with arguments, or words."""
    if not left:
        return len(text) <= 80
    node = left[0]
    if right and symbols_of(node) & symbols_of(right[0]) and node.kind == "sym":
        return False
    if node.kind == "neg":
        return False
    if node.kind == "sym":
        return True
    if re.match(r"(?:\\(?:Delta|delta|mathrm\s*\{d\}|partial)|Δ|δ|d)\s*\\?[A-Za-zα-ωΑ-Ω]", text) and node.kind == "mul":
        names = symbols_of(node)
        return len(names) <= 2 and not _has_number(node) and not (right and names & symbols_of(right[0]))
    match = re.fullmatch(r"([^()+\-*/^=]{1,40})\(([^()]{1,40})\)", text)
    if match is None or "\\frac" in match.group(1):
        return False
    if any(name in match.group(1) for name in ("sin", "cos", "tan", "ln", "log", "exp")):
        return False
    head = _formulas(match.group(1))
    return bool(head) and head[0].kind == "sym"


def _is_quotient_of_names(left: tuple[Node, ...]) -> bool:
    """Tell whether the left side is built from symbols alone, such as I_1/I_2, sin(theta), v_1 v_2."""
    return bool(left) and not _has_number(left[0]) and not has_kind(left[0], "add") and left[0].kind != "neg"


def _has_number(node: Node) -> bool:
    return node.kind == "num" or any(_has_number(child) for child in node.children)


def _read_matrix(text: str, declared: str) -> Answer | None:
    match = _MATRIX.search(text)
    if match is None:
        return None
    rows: list[tuple[Answer, ...]] = []
    for row in match.group(2).split("\\\\"):
        cells = [cell for cell in row.split("&") if cell.strip()]
        if cells:
            rows.append(tuple(read_single(cell, declared) for cell in cells[:MAX_ITEMS]))
        if len(rows) > MAX_ITEMS:
            raise UnreadableAnswerError("the matrix is too large")
    if not rows:
        return None
    units = unit_tail(")" + text[match.end() :])[1] if text[match.end() :].strip() else ()
    if all(len(row) == 1 for row in rows):
        return Tuple(tuple(row[0] for row in rows), "[]", units)
    if len(rows) == 1:
        return Tuple(rows[0], "[]", units)
    return Tuple(tuple(Tuple(row, "[]") for row in rows), "[]", units)


def _read_spans(text: str, declared: str) -> Answer | None:
    match = _ELEMENT_OF.match(text)
    name = ""
    if match is not None:
        name, text = match.group(1).strip(), match.group(2).strip()
    elif _COMPARISON.search(text):
        return _read_inequalities(text)
    if match is None and declared != "interval" and not re.search(r"\\cup|\\infty|^[\[(].*,.*[\])]$", text):
        return None
    pieces = re.split(r"\\cup(?![A-Za-z])", text)
    if match is None and len(pieces) == 1 and declared != "interval" and "\\infty" not in text:
        opening_closing = text[:1] + text[-1:]
        if opening_closing not in {"[)", "(]"}:
            return None
    spans = tuple(_read_span(piece) for piece in pieces)
    if any(span is None for span in spans):
        return None
    return Spans(tuple(span for span in spans if span is not None), name)


def _read_span(text: str) -> Span | None:
    head, units = unit_tail(text.strip())
    match = _INTERVAL.match(head)
    if match is None or len(split_top(head[1:-1], ",")) != 2:
        return None
    low, high = split_top(head[1:-1], ",")
    if ("infty" in low and "-" not in low) or ("infty" in high and "-" in high):
        return None
    try:
        return Span(
            Bound(_end(low, units), is_closed=match.group(1) == "["),
            Bound(_end(high, units), is_closed=match.group(4) == "]"),
        )
    except UnreadableAnswerError:
        return None


def _end(text: str, units: tuple[Unit, ...] = ()) -> Value | None:
    if "infty" in text:
        return None
    value = read_value(text)
    if units and not value.units:
        return Value(value.nodes, units, value.name, value.text)
    return value


def span_from_tuple(answer: Tuple, name: str = "") -> Spans | None:
    """Return the interval that a pair in brackets may stand for; None when it is no pair of values."""
    if len(answer.items) != 2 or not all(isinstance(item, Value) for item in answer.items):
        return None
    low, high = answer.items
    if not isinstance(low, Value) or not isinstance(high, Value):
        return None
    if answer.units:
        low, high = (Value(v.nodes, v.units or answer.units, v.name, v.text) for v in (low, high))
    ends = (Bound(low, is_closed=answer.brackets[0] == "["), Bound(high, is_closed=answer.brackets[1] == "]"))
    return Spans((Span(*ends),), name)


def _read_inequalities(text: str) -> Answer | None:
    spans: list[Span] = []
    name = ""
    pieces = [piece for piece in _OR.split(text) if piece.strip()]
    for piece in pieces:
        answer = _read_chain(piece)
        if isinstance(answer, Spans):
            spans.extend(answer.spans)
            name = name or answer.name
        elif len(pieces) == 1:
            return answer
        else:
            return None
    return Spans(tuple(spans), name) if spans else None


def _read_chain(text: str) -> Answer | None:
    signs = [_direction(match.group()) for match in _COMPARISON.finditer(text)]
    members = [member.strip() for member in _COMPARISON.split(text)]
    if len(members) == 2 and split_top(members[1], ",")[0] != members[1]:
        return None
    upward = all(sign[0] == "<" for sign in signs)
    if not upward and not all(sign[0] == ">" for sign in signs):
        return None
    if not upward:
        members.reverse()
        signs.reverse()
    if len(members) == 3:
        low, middle, high = members
        return Spans((Span(_bound(low, signs[0]), _bound(high, signs[1])),), middle)
    if len(members) != 2:
        return None
    closed = signs[0].endswith("=")
    left, right = _formulas(members[0]), _formulas(members[1])
    if left and left[0].kind == "sym" and not (right and symbols_of(left[0]) & symbols_of(right[0])):
        return Spans((Span(Bound(None, is_closed=False), _bound(members[1], signs[0])),), members[0])
    if right and right[0].kind == "sym":
        return Spans((Span(_bound(members[0], signs[0]), Bound(None, is_closed=False)),), members[1])
    if left and right:
        return Inequality(left, right, is_closed=closed)
    return None


def _direction(sign: str) -> str:
    return {"\\le": "<=", "\\ge": ">=", "\\lt": "<", "\\gt": ">", "\\ll": "<", "\\gg": ">"}.get(sign, sign)


def _bound(text: str, sign: str) -> Bound:
    if "infty" in text:
        return Bound(None, is_closed=False)
    return Bound(read_value(text), is_closed=sign.endswith("="))


def _read_many(text: str, declared: str) -> Answer | None:
    inner = text
    name = ""
    members = split_members(text)
    if len(members) == 2 and _is_name(members[0], _formulas(members[0]), ()):
        name, inner = members
    braced = re.fullmatch(r"\\\{(.*)\\\}", inner.strip(), re.DOTALL) or (
        re.fullmatch(r"\{(.*,.*)\}", inner.strip(), re.DOTALL) if "{" in inner else None
    )
    if braced is not None:
        inner = braced.group(1)
    pieces = split_list(inner if name or braced else text)
    if len(pieces) > 1:
        if len(pieces) > MAX_ITEMS:
            raise UnreadableAnswerError("the list is too long")
        return Many(tuple(read_item(piece, declared) for piece in pieces))
    if braced is not None:
        return Many((read_item(inner, declared),))
    if _MULTIPLE_SIGNS.search(inner) and not _MEASURED.match(inner):
        return _read_plus_minus(inner, name, declared)
    return None


def split_list(text: str) -> list[str]:
    """Split an enumeration at commas, semicolons, "and", "or" and their Chinese counterparts outside brackets."""
    joined = _OR.sub(",", text)
    return [piece for piece in (trim(piece) for piece in split_top(joined, ",，;；、\n")) if piece]


def read_item(text: str, declared: str = "") -> Answer:
    """Read a member of an enumeration, which is no enumeration itself.

    Raises:
        UnreadableAnswerError: If it cannot be read.
    """
    for reader in (_read_matrix, _read_tuple):
        answer = reader(text, declared)
        if answer is not None:
            return answer
    if _MULTIPLE_SIGNS.search(text) and not _MEASURED.match(text):
        raise UnreadableAnswerError("a member with two signs")
    return read_single(text, "" if declared in {"set", "tuple"} else declared)


def _read_plus_minus(text: str, name: str, declared: str) -> Answer:
    items: list[Answer] = []
    for plus, minus in (("+", "-"), ("-", "+")):
        signed = re.sub(r"\\pm(?![A-Za-z])", plus, text)
        signed = re.sub(r"\\mp(?![A-Za-z])", minus, signed)
        items.append(read_value(signed, name=name, allow_unit=declared != "expression"))
    return Many(tuple(items))


def _read_tuple(text: str, declared: str) -> Answer | None:
    members = split_members(text)
    body = members[-1] if len(members) == 2 else text
    body = re.sub(r"^\\langle(.*)\\rangle", r"(\1)", body.strip())
    head, units = unit_tail(body)
    if len(head) < 3 or head[0] not in "([" or head[-1] not in ")]":
        return None
    pieces = split_top(head[1:-1], ",;，")
    if len(pieces) < 2 or len(pieces) > MAX_ITEMS or not _encloses(head):
        return None
    return Tuple(tuple(read_item(piece, declared) for piece in pieces), head[0] + head[-1], units)


def _encloses(text: str) -> bool:
    depth = 0
    for index, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth == 0:
            return index == len(text) - 1
    return False


def _read_ratio(text: str, declared: str) -> Answer | None:
    body = split_members(text)[-1]
    pieces = split_top(body, ":")
    if len(pieces) < 2 or len(pieces) > 12 or not all(piece.strip() for piece in pieces):
        return None
    try:
        return Tuple(tuple(read_value(piece) for piece in pieces), "::")
    except UnreadableAnswerError:
        return None


def symbols_in(text: str) -> bool:
    """Tell whether a text is a formula with symbols, not a number with a unit."""
    try:
        value = read_single(text)
    except UnreadableAnswerError:
        return False
    return isinstance(value, Value) and not is_number(value)


def _directed_formula(pieces: list[str]) -> Directed | None:
    """Read `mg/q, upwards`: a formula, then words."""
    if len(pieces) < 2 or not DIRECTION.search(" ".join(pieces[1:])):
        return None
    try:
        value = read_single(pieces[0])
    except UnreadableAnswerError:
        return None
    return Directed(value, " ".join(pieces[1:])) if isinstance(value, Value) else None


def read_directed(text: str) -> Directed | None:
    """Find one quantity with a direction in words, such as `5 N, to the left`; None when there is none."""
    if len(text) > 200 or not DIRECTION.search(text):
        return None
    plain = undress(text) if "\\" not in undress(text) else text
    start = re.search(r"[-+]?(?:\d|\\frac|\\sqrt)", plain)
    pieces = split_list(text)
    if start is None or symbols_in(pieces[0]):
        return _directed_formula(pieces)
    for end in range(len(plain), start.end() - 1, -1):
        if end < len(plain) and plain[end - 1].isalnum() and plain[end].isalnum() and plain[end].isascii():
            continue
        try:
            value = read_value(plain[start.start() : end])
        except UnreadableAnswerError:
            continue
        rest = re.sub(r"^.*(?:=|\\approx)\s*$", "", plain[: start.start()]) + " " + plain[end:]
        if is_number(value) and DIRECTION.search(rest):
            return Directed(value, rest)
    return None
