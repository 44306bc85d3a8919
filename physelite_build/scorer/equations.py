"""Compares equations and inequalities by where they hold.

Two equations agree when one is a constant multiple of the other, or when each holds at the points where the other
does; such points are found by bisection along one symbol with the others fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from .answers import Inequality
from .compare_values import FORMULA_TOLERANCE
from .evaluate import NoValueError, evaluate
from .nodes import Node, has_coefficient_decimal, has_function, symbols_of
from .probes import probe

POINTS_PER_LINE = 48
BISECTIONS = 60
LINES = 5
PERIODIC = frozenset("sin cos tan cot sec csc".split())
ROOT_TOLERANCE = 1e-6
ROUNDED_ROOT_TOLERANCE = 0.03
SIGN_PROBES = 40


def same_equation(
    reference: tuple[tuple[Node, ...], tuple[Node, ...]], response: tuple[tuple[Node, ...], tuple[Node, ...]]
) -> bool:
    """Tell whether two equations, each given as readings of its two sides, hold at the same points."""
    for first in _pairs(*reference):
        for second in _pairs(*response):
            if _same(first, second):
                return True
    return False


def same_inequality(reference: Inequality, response: Inequality) -> bool:
    """Tell whether two inequalities `left < right` hold at the same points."""
    if reference.is_closed != response.is_closed:
        return False
    for first in _pairs(reference.left, reference.right):
        for second in _pairs(response.left, response.right):
            if _same_signs(first, second) and _same(first, second):
                return True
    return False


def _pairs(left: tuple[Node, ...], right: tuple[Node, ...]) -> list[tuple[Node, Node]]:
    paired = list(zip(left, right, strict=False))
    return paired or [(left[0], right[0])]


def _same(first: tuple[Node, Node], second: tuple[Node, Node]) -> bool:
    names = symbols_of(first[0]) | symbols_of(first[1])
    others = symbols_of(second[0]) | symbols_of(second[1])
    if names != others or not names:
        return False
    if _is_multiple(first, second, names):
        return True
    is_rounded = any(has_coefficient_decimal(node) for node in (*first, *second))
    tolerance = ROUNDED_ROOT_TOLERANCE if is_rounded else ROOT_TOLERANCE
    if not _holds_on_roots(second, first, names, tolerance):
        return False
    if any(has_function(node, PERIODIC) for node in first):
        return _shares_a_root(first, second, names, tolerance)
    return _holds_on_roots(first, second, names, tolerance)


def _difference(pair: tuple[Node, Node], values: dict[str, complex]) -> float:
    value = evaluate(pair[0], values, real_only=True) - evaluate(pair[1], values, real_only=True)
    return value.real


def _is_multiple(first: tuple[Node, Node], second: tuple[Node, Node], names: frozenset[str]) -> bool:
    ratios: list[float] = []
    for index in range(30):
        values = _values(names, index)
        try:
            ratios.append(_difference(second, values) / _difference(first, values))
        except (NoValueError, ZeroDivisionError):
            continue
        if len(ratios) > 1 and not math.isclose(ratios[0], ratios[-1], rel_tol=FORMULA_TOLERANCE):
            return False
    return len(ratios) >= 3 and ratios[0] != 0


def _values(names: frozenset[str], index: int) -> dict[str, complex]:
    values = probe(names, index, decades=0.8)
    if index % 2:
        return {name: value / (1 + abs(value)) for name, value in values.items()}
    return values


def _holds_on_roots(
    first: tuple[Node, Node], second: tuple[Node, Node], names: frozenset[str], tolerance: float
) -> bool:
    """Tell whether the second equation holds at every solution found for the first one, and there is one."""
    found = 0
    for name in sorted(names)[:6]:
        for index in range(LINES):
            values = _values(names, index)
            for root in _roots(lambda x, values=values, name=name: _difference(first, values | {name: complex(x)})):  # type: ignore[misc]
                holds = _nearly_holds(second, values | {name: complex(root)}, name, tolerance)
                if holds is False:
                    return False
                found += holds is True
    return found > 0


def _shares_a_root(
    first: tuple[Node, Node], second: tuple[Node, Node], names: frozenset[str], tolerance: float
) -> bool:
    """Tell whether on most lines some solution of a periodic equation solves the second one as well."""
    lines = shared = 0
    for name in sorted(names)[:6]:
        for index in range(LINES):
            values = _values(names, index)
            roots = _roots(lambda x, values=values, name=name: _difference(first, values | {name: complex(x)}))  # type: ignore[misc]
            lines += bool(roots)
            shared += any(_nearly_holds(second, values | {name: complex(x)}, name, tolerance) for x in roots)
    return shared > 0 and 2 * shared > lines


def _nearly_holds(pair: tuple[Node, Node], values: dict[str, complex], name: str, tolerance: float) -> bool | None:
    try:
        left = evaluate(pair[0], values, real_only=True).real
        right = evaluate(pair[1], values, real_only=True).real
    except NoValueError:
        return None
    size = max(abs(left), abs(right))
    if abs(left - right) <= tolerance * size:
        return True
    step = 1e-6 * max(abs(values[name]), 1e-9)
    try:
        below = _difference(pair, values | {name: values[name] - step * 10})
        above = _difference(pair, values | {name: values[name] + step * 10})
    except NoValueError:
        return False
    return below * above <= 0 and abs(left - right) <= max(abs(below), abs(above)) * 1.01 and size < 1e-4


def _roots(function: Callable[[float], float]) -> list[float]:
    """Find the three sign changes of a function nearest to zero on a logarithmic grid and close in on them."""
    grid = [10 ** (-2.5 + 5 * step / POINTS_PER_LINE) for step in range(POINTS_PER_LINE + 1)]
    grid = [-x for x in reversed(grid)] + grid
    samples: list[tuple[float, float]] = []
    for x in grid:
        try:
            samples.append((x, function(x)))
        except NoValueError:
            continue
    roots: list[float] = []
    for (low, at_low), (high, at_high) in sorted(pairwise(samples), key=lambda pair: abs(pair[0][0])):
        if at_low * at_high < 0:
            root = _bisect(function, low, high, at_low)
            if root is not None:
                roots.append(root)
        if len(roots) >= 3:
            break
    return roots


def _bisect(function: Callable[[float], float], low: float, high: float, at_low: float) -> float | None:
    try:
        reference = max(abs(at_low), abs(function(high)))
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            at_middle = function(middle)
            if at_middle * at_low > 0:
                low = middle
            else:
                high = middle
        middle = (low + high) / 2
        return middle if abs(function(middle)) <= 1e-6 * reference else None
    except NoValueError:
        return None


def _same_signs(first: tuple[Node, Node], second: tuple[Node, Node]) -> bool:
    names = symbols_of(first[0]) | symbols_of(first[1]) | symbols_of(second[0]) | symbols_of(second[1])
    checked = 0
    for index in range(SIGN_PROBES):
        values = _values(names, index)
        try:
            if (_difference(first, values) > 0) != (_difference(second, values) > 0):
                return False
        except NoValueError:
            continue
        checked += 1
    return checked >= 5
