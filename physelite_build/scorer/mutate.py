"""Makes wrong answers on purpose out of a right one, to test that the scorer rejects them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .answers import Answer, Choice, Directed, Equation, Inequality, Many, Spans, Truth, Tuple, Value, Words
from .clean import trim
from .evaluate import NoValueError, evaluate
from .quantity import is_number, split_members
from .units import NO_DIMENSION, parse_unit

OFF = 1.06
"""6 % off: just outside the default tolerance of 5 %."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A wrong answer."""

    kind: str
    """What was done, for example `sign`."""
    text: str
    """The wrong answer as text."""


def mutations(reference: str, answer: Answer, *, tolerance: float) -> list[Mutation]:
    """Make the wrong answers that apply to a reference.

    Args:
        reference: The cleaned reference.
        answer: The reference as read.
        tolerance: Relative tolerance in force; the value mutation steps outside it.
    """
    text = trim(reference)
    if isinstance(answer, Choice):
        return _choices(answer)
    if isinstance(answer, Truth):
        return [Mutation("opposite", "错误" if answer.is_true else "正确")]
    if isinstance(answer, Value):
        return _numbers(text, answer, tolerance) if is_number(answer) else _formulas(text)
    if isinstance(answer, Equation):
        return _equations(text)
    if isinstance(answer, Tuple):
        return [Mutation("component", _without_last(text))] if "," in text or ":" in text else []
    if isinstance(answer, Many):
        return [Mutation("member missing", _first_member(answer))] if len(answer.items) > 1 else []
    if isinstance(answer, Spans | Inequality):
        return (
            [Mutation("turned round", _turned(text))] if re.search(r"[<>]|\\[lg]e", text) else [Mutation("bare", "0")]
        )
    if isinstance(answer, Directed):
        return [Mutation("no direction", answer.value.text), Mutation("no size", answer.direction)]
    if isinstance(answer, Words):
        return [Mutation("denied", f"不是{text}" if re.search(r"[一-鿿]", text) else f"not {text}")]
    return [Mutation("other", "0")]


def _choices(answer: Choice) -> list[Mutation]:
    other = next(letter for letter in "ABCDEFGHIJK" if letter not in answer.letters)
    kept = "".join(sorted(answer.letters)[1:]) + other
    found = [Mutation("other letter", kept)]
    if len(answer.letters) > 1:
        found.append(Mutation("letter missing", "".join(sorted(answer.letters)[1:])))
    return found


def _numbers(text: str, answer: Value, tolerance: float) -> list[Mutation]:
    try:
        value = evaluate(answer.nodes[0], {"e": complex(2.718281828459045)})
    except NoValueError:
        return []
    if value.imag != 0:
        return [Mutation("sign", f"-({split_members(text)[-1]})")]
    unit = _unit_text(answer)
    size = value.real
    if size == 0:
        return [Mutation("not zero", f"1 {unit}")]
    found = [
        Mutation("sign", f"{_shown(-size)} {unit}"),
        Mutation("power of ten", f"{_shown(10 * size)} {unit}"),
        Mutation("6 % off", f"{_shown(size * max(OFF, 1 + 1.2 * tolerance))} {unit}"),
    ]
    if answer.units and answer.units[0].dimension != NO_DIMENSION:
        found.append(Mutation("other dimension", f"{_shown(size)} {unit}·cd"))
    return found


def _unit_text(answer: Value) -> str:
    """Return the unit as typed: what is left of the value behind its number."""
    if not answer.units:
        return ""
    for start in range(1, len(answer.text)):
        tail = answer.text[start:]
        if _parses_alike(tail, answer):
            return tail.strip()
    return ""


def _parses_alike(tail: str, answer: Value) -> bool:
    return parse_unit(tail) == answer.units


def _shown(value: float) -> str:
    mantissa, exponent = f"{value:.6e}".split("e")
    if -3 <= int(exponent) <= 4:
        return f"{value:.7g}"
    return rf"{mantissa} \times 10^{{{int(exponent)}}}"


def _formulas(text: str) -> list[Mutation]:
    body = split_members(text)[-1]
    return [Mutation("sign", f"-({body})"), Mutation("extra factor", f"2({body})")]


def _equations(text: str) -> list[Mutation]:
    members = split_members(text)
    return [Mutation("extra factor", f"{members[0]} = 2({members[-1]}) + 1")]


def _without_last(text: str) -> str:
    mark = ":" if ":" in text and "," not in text else ","
    head = text.rsplit(mark, 1)[0]
    return head + {"(": ")", "[": "]"}.get(text.strip()[:1], "")


def _first_member(answer: Many) -> str:
    first = answer.items[0]
    return first.text if isinstance(first, Value) else "0"


def _turned(text: str) -> str:
    marks = {"<": ">", ">": "<", "\\le": "\\ge", "\\ge": "\\le"}
    return re.sub(r"<|>|\\le|\\ge", lambda m: marks[m.group()], text)
