r"""Reads vectors written with unit vectors, such as `2\hat{i} - \hat{j} + 3\hat{k}` m, as tuples."""

from __future__ import annotations

import re

from .answers import Tuple, UnreadableAnswerError, Value
from .formula import read_formula
from .nodes import number
from .quantity import read_value, unit_tail
from .tokens import UnreadableFormulaError
from .units import Unit, parse_unit

_LOOK = re.compile(r"\\(?:mathbf|boldsymbol|bm|vec|mathrm|text|textbf)\s*\{?\s*([ijkxyz])\s*\}?")
_HAT = re.compile(
    r"\\(?:hat|widehat)\s*(?:\{\s*(?:\\(?:mathbf|boldsymbol|bm|mathrm|vec)\s*)?\{?\s*([a-zA-Z]|\\imath|\\jmath|\\theta|\\phi|\\varphi|\\rho)\s*\}?\s*\}|([a-zA-Z]))"
)
_UNIT_BASE = re.compile(r"(?:\\(?:vec|mathbf|boldsymbol|bm)\s*\{?\s*e\s*\}?|\be)\s*_\s*\{?\s*([xyz])\s*\}?")
_AXES = {"i": "x", "j": "y", "k": "z", "\\imath": "x", "\\jmath": "y"}
_MARK = re.compile(r"@([xyz])")


def read_unit_vectors(text: str) -> Tuple | None:
    """Read a sum of multiples of Cartesian unit vectors; None when the text has none or has other unit vectors.

    Returns:
        The components in the order x, y, z (two when there is no z and no higher one), with the common unit.
    """
    marked = _UNIT_BASE.sub(r"@\1", _HAT.sub(_axis, text))
    bold = re.search(r"\\(?:mathbf|boldsymbol|bm|vec)\s*\{?\s*[ijk]\s*\}?", marked)
    if bold is not None:
        marked = _LOOK.sub(lambda m: "@" + _AXES[m.group(1)] if m.group(1) in "ijk" else m.group(), marked)
    if not _MARK.search(marked) or re.search(r"@[^xyz]", marked):
        return None
    head, units = unit_tail(marked)
    if not units:
        head, units = _unit_behind(marked)
    head = head.strip()
    if head.startswith("(") and head.endswith(")"):
        head = head[1:-1]
    return _components(head, units)


def _axis(match: re.Match[str]) -> str:
    name = match.group(1) or match.group(2)
    return "@" + _AXES.get(name, name if name in "xyz" else "?" + name)


def _unit_behind(text: str) -> tuple[str, tuple[Unit, ...]]:
    last = max(match.end() for match in _MARK.finditer(text))
    tail = text[last:].strip()
    units = parse_unit(tail) if tail and tail[0] not in "+-)" else ()
    return (text[:last], units) if units else (text, ())


def _components(text: str, units: tuple[Unit, ...]) -> Tuple | None:
    found: dict[str, Value] = {}
    start = 0
    for match in _MARK.finditer(text):
        coefficient = text[start : match.start()].strip()
        start = match.end()
        axis = match.group(1)
        if axis in found:
            return None
        coefficient = re.sub(r"(?:\\cdot|·|\*)\s*$", "", coefficient).strip()
        try:
            found[axis] = _coefficient(coefficient)
        except UnreadableAnswerError:
            return None
    if text[start:].strip():
        return None
    size = 3 if "z" in found else 2
    zero = Value((number(0.0),), text="0")
    items = tuple(found.get(axis, zero) for axis in "xyz"[:size])
    return Tuple(items, "()", units)


def _coefficient(text: str) -> Value:
    if text in {"", "+"}:
        return Value((number(1.0),), text="1")
    if text == "-":
        return Value((number(-1.0),), text="-1")
    text = text.removeprefix("+").strip()
    try:
        return Value(read_formula(text), text=text)
    except UnreadableFormulaError:
        return read_value(text)
