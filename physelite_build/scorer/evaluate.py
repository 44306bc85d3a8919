"""Gives formulas values: plain complex arithmetic at chosen values of the symbols, and logarithms of huge numbers.

Every operation is one bounded floating-point step, so no formula can run long or fill the memory.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping

from .nodes import Node

MAX_FACTORIAL = 170.0
_REAL_SLACK = 1e-12


class NoValueError(ArithmeticError):
    """The formula has no finite value there (division by zero, overflow, an unknown symbol)."""


def evaluate(node: Node, values: Mapping[str, complex], *, real_only: bool = False) -> complex:
    """Compute a formula.

    Args:
        node: The formula.
        values: A value for each free symbol.
        real_only: Refuse values that pass through complex numbers, where roots have no agreed sign.

    Returns:
        The value; real numbers have a zero imaginary part.

    Raises:
        NoValueError: If the value is not finite or a symbol has none.
    """
    try:
        result = _value(node, values, real_only=real_only)
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise NoValueError(str(error)) from error
    if not (math.isfinite(result.real) and math.isfinite(result.imag)):
        raise NoValueError("the value is not finite")
    return result


def log_magnitude(node: Node) -> tuple[float, int]:
    """Compute ln|x| and the sign of a number too large or too small for floating point.

    Raises:
        NoValueError: If the number is zero, has symbols, or even its logarithm is out of range.
    """
    try:
        return _log(node)
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise NoValueError(str(error)) from error


def _value(node: Node, values: Mapping[str, complex], *, real_only: bool) -> complex:
    if node.kind == "num":
        return complex(node.value)
    if node.kind == "sym":
        return _symbol_value(node.name, values)
    result = _combine(node, [_value(child, values, real_only=real_only) for child in node.children])
    if real_only and result.imag != 0:
        raise NoValueError("the value is not real")
    return result


def _combine(node: Node, operands: list[complex]) -> complex:
    kind = node.kind
    if kind == "add":
        return sum(operands, 0j)
    if kind == "mul":
        return operands[0] * operands[1]
    if kind == "div":
        return operands[0] / operands[1]
    if kind == "neg":
        return -operands[0]
    if kind == "pow":
        return _power(operands[0], operands[1])
    if kind == "deg":
        return operands[0] * (math.pi / 180)
    if kind == "abs":
        return complex(abs(operands[0]))
    if kind == "fact":
        return _gamma(operands[0] + 1)
    if kind == "cross":
        return operands[0] * operands[1] * (operands[0] - operands[1])
    if kind == "fn":
        if node.name == "binom":
            n, k = operands
            return _gamma(n + 1) / (_gamma(k + 1) * _gamma(n - k + 1))
        return _FUNCTIONS[node.name](operands[0])
    raise NoValueError(f"{kind} has no single value")


def _symbol_value(name: str, values: Mapping[str, complex]) -> complex:
    if name == "pi":
        return complex(math.pi)
    if name == "imaginary":
        return values.get("imaginary", 1j)
    if name == "infty":
        raise NoValueError("infinity is not a number")
    if name not in values:
        raise NoValueError(f"{name[:20]!r} has no value")
    return values[name]


def _power(base: complex, exponent: complex) -> complex:
    if base == 0:
        if exponent.real > 0:
            return 0j
        raise ZeroDivisionError("a power of zero")
    if base.imag == 0 and exponent.imag == 0:
        if base.real > 0:
            return complex(base.real**exponent.real)
        if abs(exponent.real - round(exponent.real)) < _REAL_SLACK and abs(exponent.real) < 1e6:
            return complex(base.real ** round(exponent.real))
        reciprocal = 1 / exponent.real if exponent.real else 0.0
        if abs(reciprocal - round(reciprocal)) < _REAL_SLACK and round(reciprocal) % 2:
            return complex(-((-base.real) ** exponent.real))
    return cmath.exp(exponent * cmath.log(base))


def _gamma(value: complex) -> complex:
    if abs(value.imag) > _REAL_SLACK or value.real > MAX_FACTORIAL + 1:
        raise OverflowError("the factorial is out of range")
    return complex(math.gamma(value.real))


def _real_or_complex(real: Callable[[float], float], general: Callable[[complex], complex]) -> Callable[..., complex]:
    def function(value: complex) -> complex:
        if value.imag == 0:
            try:
                return complex(real(value.real))
            except ValueError:
                pass
        return general(value)

    return function


_FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sin": _real_or_complex(math.sin, cmath.sin),
    "cos": _real_or_complex(math.cos, cmath.cos),
    "tan": _real_or_complex(math.tan, cmath.tan),
    "cot": lambda x: 1 / cmath.tan(x),
    "sec": lambda x: 1 / cmath.cos(x),
    "csc": lambda x: 1 / cmath.sin(x),
    "arcsin": _real_or_complex(math.asin, cmath.asin),
    "arccos": _real_or_complex(math.acos, cmath.acos),
    "arctan": _real_or_complex(math.atan, cmath.atan),
    "arccot": lambda x: math.pi / 2 - cmath.atan(x),
    "sinh": _real_or_complex(math.sinh, cmath.sinh),
    "cosh": _real_or_complex(math.cosh, cmath.cosh),
    "tanh": _real_or_complex(math.tanh, cmath.tanh),
    "coth": lambda x: 1 / cmath.tanh(x),
    "sech": lambda x: 1 / cmath.cosh(x),
    "csch": lambda x: 1 / cmath.sinh(x),
    "arsinh": _real_or_complex(math.asinh, cmath.asinh),
    "arcosh": _real_or_complex(math.acosh, cmath.acosh),
    "artanh": _real_or_complex(math.atanh, cmath.atanh),
    "arcsinh": _real_or_complex(math.asinh, cmath.asinh),
    "ln": _real_or_complex(math.log, cmath.log),
    "log": _real_or_complex(math.log, cmath.log),
    "exp": _real_or_complex(math.exp, cmath.exp),
    "sgn": lambda x: complex((x.real > 0) - (x.real < 0)),
}


def _log(node: Node) -> tuple[float, int]:
    """Return ln|x| and the sign of a number without symbols."""
    kind = node.kind
    if kind == "neg":
        size, sign = _log(node.children[0])
        return size, -sign
    if kind in {"mul", "div"}:
        (first, sign), (second, other) = _log(node.children[0]), _log(node.children[1])
        return (first + second if kind == "mul" else first - second), sign * other
    if kind == "pow":
        size, sign = _log(node.children[0])
        exponent = evaluate(node.children[1], {"e": math.e}).real
        whole = exponent == round(exponent) if abs(exponent) < 1e15 else False
        if sign < 0 and not whole:
            raise NoValueError("a root of a negative number")
        return _finite(size * exponent), sign if sign > 0 or round(exponent) % 2 else 1
    if kind == "fact":
        return _finite(math.lgamma(evaluate(node.children[0], {}).real + 1)), 1
    if kind == "fn" and node.name == "exp":
        return _finite(evaluate(node.children[0], {}).real), 1
    value = evaluate(node, {"e": math.e}).real
    if value == 0:
        raise NoValueError("zero has no logarithm")
    return math.log(abs(value)), 1 if value > 0 else -1


def _finite(size: float) -> float:
    """Keep only logarithms whose rounding error stays far below the tolerance."""
    if not abs(size) < 1e11:
        raise NoValueError("the number is out of range")
    return size
