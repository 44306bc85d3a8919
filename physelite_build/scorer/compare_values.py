"""Compares numbers with units, and formulas by their values at fixed points."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .answers import Value
from .evaluate import NoValueError, evaluate, log_magnitude
from .nodes import Node, has_coefficient_decimal, has_kind, symbols_of
from .probes import PROBE_COUNT, WIDE_PROBE_COUNT, probe
from .quantity import is_number
from .units import PURE, Unit
from .verdict import EQUAL, Judgement, differ

DEFAULT_TOLERANCE = 0.05
"""Relative; the convention of the dataset for measured numbers (README, Numbers)."""
COEFFICIENT_TOLERANCE = 0.03
"""Relative; how far a decimal coefficient of a formula may be rounded."""
EXACT_TOLERANCE = 1e-9
FORMULA_TOLERANCE = 1e-7
EDGE_SLACK = 1e-9
TEMPERATURE_SLACK_K = 0.5
"""Kelvin; a zero of a temperature scale is often rounded to 273."""
ROUNDING_SLACK = 1e-14
"""Absolute; what floating point leaves of a zero such as cos 90 degrees."""
MAX_WIDE_MISSES = 1
_ENOUGH_PROBES = 8


@dataclass(frozen=True, slots=True)
class Rules:
    """How strictly two answers are compared."""

    tolerance: float = DEFAULT_TOLERANCE
    """Relative tolerance of numbers, 0 or more."""
    is_exact: bool = False
    """True for counts: no tolerance at all."""
    is_expression: bool = False
    """True when letters behind a number are symbols, not units."""

    @property
    def number_tolerance(self) -> float:
        """The tolerance in force for numbers."""
        return EXACT_TOLERANCE if self.is_exact else self.tolerance


def compare_values(reference: Value, response: Value, rules: Rules) -> Judgement:
    """Compare two values: as quantities when the reference is a number, else as formulas."""
    if is_number(reference) and reference.units:
        judgement = _compare_quantities(reference, response, rules)
    elif is_number(reference):
        judgement = _compare_plain_number(reference, response, rules)
    else:
        judgement = compare_formulas(reference.nodes, response.as_formula or response.nodes, rules)
        if judgement.equal and reference.units and response.units and not _shared(reference.units, response.units):
            return differ("unit.dimension", "The unit measures another kind of quantity.")
    if judgement.equal or not reference.as_formula or not symbols_of(reference.as_formula[0]):
        return judgement
    if response.units and response.units[0].factor != 1.0 and not response.as_formula:
        return judgement
    letters = compare_formulas(reference.as_formula, response.as_formula or response.nodes, rules)
    return letters if letters.equal else judgement


def compare_formulas(reference: tuple[Node, ...], response: tuple[Node, ...], rules: Rules) -> Judgement:
    """Compare formulas in all their readings by value at fixed points."""
    verdict = differ("value", "The formula takes other values than the reference.")
    for wanted in reference:
        for given in response:
            if wanted == given or same_function(wanted, given, rules):
                return EQUAL
    missing = symbols_of(reference[0]) - symbols_of(response[0])
    extra = symbols_of(response[0]) - symbols_of(reference[0])
    if missing and not symbols_of(response[0]):
        return differ("symbols.missing", "The reference is a formula, the answer a number.")
    if missing or extra:
        return differ("symbols", f"The symbols differ: {_listed(missing)} missing, {_listed(extra)} added.")
    flipped = Node("neg", children=(response[0],))
    if same_function(reference[0], flipped, rules):
        return differ("sign", "The formula has the opposite sign.")
    return verdict


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)[:4]) or "none"


def same_function(wanted: Node, given: Node, rules: Rules) -> bool:
    """Tell whether two formulas have equal values at the fixed points; `e` is tried as charge and as Euler's number."""
    names = symbols_of(wanted) | symbols_of(given)
    if "e" not in names:
        return _agree(wanted, given, names, {}, rules)
    euler = {"e": complex(math.e)}
    if names == {"e"}:
        return _agree(wanted, given, names, euler, rules)
    return _agree(wanted, given, names, {}, rules) or _agree(wanted, given, names, euler, rules)


def _agree(wanted: Node, given: Node, names: frozenset[str], fixed: dict[str, complex], rules: Rules) -> bool:
    is_rounded = has_coefficient_decimal(wanted) or has_coefficient_decimal(given)
    is_real = not (_has_imaginary(wanted) or _has_imaginary(given))
    if is_rounded:
        return _agree_rounded(wanted, given, names, fixed, rules, is_real=is_real)
    checked = 0
    for real_only in (True, False) if is_real else (False,):
        for index in range(3 * PROBE_COUNT):
            pair = _pair(wanted, given, _values(names, index, fixed), real_only=real_only)
            if pair is None:
                continue
            first, second = pair
            if abs(first - second) > FORMULA_TOLERANCE * max(abs(first), abs(second)) + 1e-300:
                return False
            checked += 1
            if checked >= _ENOUGH_PROBES:
                return True
        if checked >= 3:
            return True
    return False


def _agree_rounded(
    wanted: Node, given: Node, names: frozenset[str], fixed: dict[str, complex], rules: Rules, *, is_real: bool
) -> bool:
    """Compare formulas with decimals: one common factor near 1, or near values over many decades."""
    tolerance = EXACT_TOLERANCE if rules.is_exact else COEFFICIENT_TOLERANCE
    ratios: list[complex] = []
    checked = missed = 0
    for index in range(2 * WIDE_PROBE_COUNT):
        values = probe(names, index, decades=0.4 + 2.2 * (index % 4) / 3) | fixed
        pair = _pair(wanted, given, values, real_only=is_real)
        if pair is None or abs(pair[0]) < 1e-290:
            continue
        checked += 1
        ratios.append(pair[1] / pair[0])
        missed += abs(pair[1] / pair[0] - 1) > tolerance
        if missed > MAX_WIDE_MISSES:
            return False
        if checked >= WIDE_PROBE_COUNT:
            break
    if checked < 3:
        return False
    return missed == 0 or checked >= WIDE_PROBE_COUNT // 2


def _values(names: frozenset[str], index: int, fixed: dict[str, complex]) -> dict[str, complex]:
    """Take values below 1 and values around 1 in turn: fractions such as v/c exist only below 1."""
    values = probe(names, index, decades=0.9)
    if index % 2:
        values = {name: value / (1 + abs(value)) for name, value in values.items()}
        if "h" in values and "hbar" in values:
            values["h"] = values["hbar"] * (2 * math.pi)
    return values | fixed


def _pair(wanted: Node, given: Node, values: dict[str, complex], *, real_only: bool) -> tuple[complex, complex] | None:
    """Return both values at a point; None where the reference has none, infinity where only the response fails."""
    try:
        first = evaluate(wanted, values, real_only=real_only)
    except NoValueError:
        return None
    try:
        return first, evaluate(given, values, real_only=real_only)
    except NoValueError:
        return None


def _has_imaginary(node: Node) -> bool:
    return (node.kind == "sym" and node.name == "imaginary") or any(_has_imaginary(c) for c in node.children)


def _compare_plain_number(reference: Value, response: Value, rules: Rules) -> Judgement:
    judgement = _compare_numbers(reference.nodes, response, rules, 1.0, 0.0)
    if judgement.equal:
        return judgement
    if response.units and response.units[0].is_degree and response.units[0].dimension == PURE.dimension:
        return _compare_numbers(reference.nodes, response, rules, response.units[0].factor, 0.0)
    if response.as_formula and symbols_of(response.as_formula[0]) and rules.is_expression:
        return differ("symbols", "The reference is a number, the answer a formula.")
    return judgement


def _compare_quantities(reference: Value, response: Value, rules: Rules) -> Judgement:
    wanted = reference.units[0]
    if not response.units:
        judgement = _compare_numbers(reference.nodes, response, rules, 1.0, 0.0)
        if judgement.equal or not wanted.is_degree:
            return judgement
        return _compare_numbers(reference.nodes, response, rules, 1 / wanted.factor, 0.0)
    pair = _shared(reference.units, response.units)
    if pair is None:
        return differ("unit.dimension", "The unit measures another kind of quantity.")
    wanted, given = pair
    is_difference = reference.name.lstrip().startswith(("\\Delta", "Δ", "\\delta", "δ"))
    shift = 0.0 if is_difference else (given.offset - wanted.offset) / wanted.factor
    slack = TEMPERATURE_SLACK_K / wanted.factor if shift else 0.0
    judgement = _compare_numbers(reference.nodes, response, rules, given.factor / wanted.factor, shift, slack)
    if not judgement.equal and judgement.reason == "power_of_ten" and given.factor != wanted.factor:
        return differ("unit.size", "The number fits, but the unit is larger or smaller than it has to be.")
    return judgement


def _shared(reference: tuple[Unit, ...], response: tuple[Unit, ...]) -> tuple[Unit, Unit] | None:
    """Find readings of the two units that measure the same kind of quantity."""
    for wanted in reference:
        for given in response:
            if all(abs(a - b) < 1e-9 for a, b in zip(wanted.dimension, given.dimension, strict=True)):
                return wanted, given
    return None


def _compare_numbers(
    reference: tuple[Node, ...], response: Value, rules: Rules, scale: float, shift: float, slack: float = 0.0
) -> Judgement:
    """Compare `response * scale + shift` with the reference, in all readings."""
    if not is_number(response):
        return differ("symbols", "The reference is a number, the answer a formula.")
    best: Judgement | None = None
    for wanted in reference:
        for given in response.nodes:
            judgement = _compare_two(wanted, given, rules, scale, shift, slack)
            if judgement.equal:
                return judgement
            best = best or judgement
    return best or differ("value", "The number differs.")


def _compare_two(wanted: Node, given: Node, rules: Rules, scale: float, shift: float, slack: float) -> Judgement:
    wanted, given = _centre(wanted), _centre(given)
    if wanted == given and scale == 1.0 and shift == 0.0:
        return EQUAL
    try:
        first = evaluate(wanted, {"e": complex(math.e)})
        second = evaluate(given, {"e": complex(math.e)}) * scale + shift
        if first == 0 and wanted.kind != "num" and not _is_true_zero(wanted):
            raise NoValueError("underflow")
    except NoValueError:
        return _compare_by_logarithm(wanted, given, rules, scale)
    if first == 0 and slack == 0.0:
        slack = ROUNDING_SLACK if has_kind(given, "fn") or has_kind(given, "pow") else 0.0
    return judge_numbers(first, second, rules.number_tolerance, slack)


def judge_numbers(first: complex, second: complex, tolerance: float, slack: float = 0.0) -> Judgement:
    """Compare a number with its reference `first` within a relative tolerance and an absolute slack."""
    if first == 0:
        return EQUAL if abs(second) <= slack else differ("value", "The reference is zero.")
    distance = abs(second - first)
    if distance <= tolerance * abs(first) * (1 + EDGE_SLACK) + slack:
        return EQUAL
    if abs(second + first) <= tolerance * abs(first):
        return differ("sign", "The sign is wrong.")
    if second != 0:
        decades = math.log10(abs(second / first))
        if round(decades) != 0 and abs(decades - round(decades)) < 0.02 and abs(second / first).real > 0:
            return differ("power_of_ten", "The power of ten is wrong.")
    return differ("value", f"The number is off by more than {tolerance:.3g} of the reference.")


def _centre(node: Node) -> Node:
    """Take the middle of a measured value such as 9.8 +- 0.1."""
    if node.kind == "pm" and node.children[0].kind != "num":
        return node.children[0]
    if node.kind == "pm" and node.children[0].value:
        return node.children[0]
    if has_kind(node, "pm"):
        children = tuple(_centre(child) for child in node.children)
        return Node(node.kind, node.name, node.value, children, node.is_decimal)
    return node


def _is_true_zero(node: Node) -> bool:
    """Tell a zero that was computed (1 - 1) from a number too small for floating point."""
    try:
        log_magnitude(node)
    except NoValueError:
        return True
    return False


def _compare_by_logarithm(wanted: Node, given: Node, rules: Rules, scale: float) -> Judgement:
    try:
        first, sign = log_magnitude(wanted)
        second, other = log_magnitude(given)
    except NoValueError:
        return differ("no_value", "The answer has no finite value that could be compared.")
    if sign != other:
        return differ("sign", "The sign is wrong.")
    if abs(second + math.log(scale) - first) <= math.log1p(rules.number_tolerance):
        return EQUAL
    return differ("power_of_ten", "The order of magnitude is wrong.")
