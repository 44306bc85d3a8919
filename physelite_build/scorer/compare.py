"""Compares a response with a reference of any kind; the reference decides how the response is read."""

from __future__ import annotations

from .answers import (
    Answer,
    Bound,
    Choice,
    Directed,
    Equation,
    Inequality,
    Many,
    Nuclide,
    Span,
    Spans,
    Truth,
    Tuple,
    UnreadableAnswerError,
    Value,
    Words,
)
from .compare_values import Rules, compare_values
from .equations import same_equation, same_inequality
from .nodes import Node, symbols_of
from .nuclide import read_nuclide, same_nuclide
from .read import read_directed, read_item, read_mathematics, read_single, span_from_tuple, split_list
from .verdict import EQUAL, Judgement, differ
from .words import DIRECTION, read_choice_response, read_truth, same_direction, same_words

UNREADABLE = "unreadable"


def compare_text(reference: Answer, response: str, rules: Rules, declared: str = "") -> Judgement:
    """Read a cleaned response as the reference's kind and compare; anything unreadable differs."""
    try:
        return _compare_text(reference, response, rules, declared)
    except UnreadableAnswerError as error:
        return differ(UNREADABLE, f"The answer cannot be read: {error}.")
    except RecursionError:
        return differ(UNREADABLE, "The answer cannot be read: it is nested too deeply.")


def _compare_text(reference: Answer, response: str, rules: Rules, declared: str) -> Judgement:
    if isinstance(reference, Choice):
        letters = read_choice_response(response)
        if not letters:
            return differ("no_answer", "No choice letter is given.")
        return EQUAL if letters == reference.letters else differ("choice", "Another choice is given.")
    if isinstance(reference, Truth):
        is_true = read_truth(response)
        if is_true is None:
            return differ("no_answer", "The answer is neither yes nor no.")
        return EQUAL if is_true == reference.is_true else differ("truth", "The opposite is claimed.")
    if isinstance(reference, Words):
        same = same_words(reference.text, response) or (
            DIRECTION.search(reference.text) is not None and same_direction(reference.text, response)
        )
        return EQUAL if same else differ("text", "The words differ.")
    if isinstance(reference, Nuclide):
        nuclide = read_nuclide(response)
        if nuclide is None:
            return differ(UNREADABLE, "The answer is no isotope.")
        return EQUAL if same_nuclide(reference, nuclide) else differ("nuclide", "Another isotope is given.")
    if isinstance(reference, Directed):
        return _compare_directed(reference, response, rules)
    return compare(reference, read_like(reference, response, declared), rules)


def read_like(reference: Answer, response: str, declared: str) -> Answer:
    """Read a cleaned response, preferring the kind of the reference.

    Raises:
        UnreadableAnswerError: If it cannot be read at all.
    """
    if isinstance(reference, Many):
        pieces = split_list(response)
        if len(pieces) > 1 and len(pieces) <= 60 and "\\pm" not in response:
            return (
                Many(tuple(read_item(piece) for piece in pieces))
                if not response.startswith("\\{")
                else (read_mathematics(response, "set"))
            )
    if isinstance(reference, Tuple) and reference.brackets != "::":
        pieces = split_list(response)
        if len(pieces) == len(reference.items) and all("=" in piece for piece in pieces):
            return Tuple(tuple(read_item(piece) for piece in pieces))
    if isinstance(reference, Value | Equation):
        answer = read_mathematics(response, declared)
        return _single_of_tuple(answer)
    return read_mathematics(response, "interval" if isinstance(reference, Spans) and "\\in" in response else "")


def _single_of_tuple(answer: Answer) -> Answer:
    """Read a ratio of two as a quotient when one value is wanted."""
    if isinstance(answer, Tuple) and answer.brackets == "::" and len(answer.items) == 2:
        quotient = _quotient(answer)
        return quotient if quotient is not None else answer
    return answer


def _quotient(ratio: Tuple) -> Value | None:
    top, bottom = ratio.items
    if not isinstance(top, Value) or not isinstance(bottom, Value):
        return None
    return Value((Node("div", children=(top.nodes[0], bottom.nodes[0])),), text="ratio")


def compare(reference: Answer, response: Answer, rules: Rules) -> Judgement:
    """Compare two answers that have been read."""
    if isinstance(reference, Many):
        return _compare_many(reference, response, rules)
    if isinstance(response, Many):
        return differ("candidates", "Several values are given where one is wanted.")
    if isinstance(reference, Value):
        return _compare_with_value(reference, response, rules)
    if isinstance(reference, Equation):
        return _compare_with_equation(reference, response, rules)
    if isinstance(reference, Tuple):
        return _compare_tuples(reference, response, rules)
    if isinstance(reference, Spans):
        return _compare_spans(reference, response, rules)
    if isinstance(reference, Inequality):
        if isinstance(response, Spans):
            response = _inequality_of(response) or response
        same = isinstance(response, Inequality) and same_inequality(reference, response)
        return EQUAL if same else differ("inequality", "The inequality holds elsewhere.")
    return differ("kind", "The answer is of another kind than the reference.")


def _compare_with_value(reference: Value, response: Answer, rules: Rules) -> Judgement:
    if isinstance(response, Value):
        judgement = compare_values(reference, response, rules)
        if not judgement.equal and reference.name and response.name and _is_swapped(reference, response):
            return EQUAL
        return judgement
    if isinstance(response, Equation):
        if response.value is not None:
            judgement = compare_values(reference, response.value, rules)
            if judgement.equal:
                return judgement
        if reference.name and _is_rearranged(reference, response):
            return EQUAL
        return differ("kind", "The answer is an equation, the reference a value.")
    if isinstance(response, Tuple) and len(response.items) == 1:
        return compare(reference, response.items[0], rules)
    return differ("kind", "The answer is of another kind than the reference.")


def _is_swapped(reference: Value, response: Value) -> bool:
    """Tell whether `b = a` answers a reference `a = b` in which both sides are symbols."""
    if reference.nodes[0].kind != "sym":
        return False
    name = read_single(response.name)
    return isinstance(name, Value) and _is_rearranged(reference, Equation(name.nodes, response.nodes))


def _is_rearranged(reference: Value, response: Equation) -> bool:
    """Tell whether an unsolved equation says the same as a reference that is solved for its name."""
    name = read_single(reference.name)
    if not isinstance(name, Value) or name.name:
        return False
    return same_equation((name.nodes, reference.nodes), (response.left, response.right))


def _compare_with_equation(reference: Equation, response: Answer, rules: Rules) -> Judgement:
    wanted = (reference.left, reference.right)
    if isinstance(response, Equation):
        if same_equation(wanted, (response.left, response.right)):
            return EQUAL
        if reference.value is not None and response.value is not None and reference.left == response.left:
            return compare_values(reference.value, response.value, rules)
    if isinstance(response, Value):
        if response.name:
            left = read_single(response.name)
            if isinstance(left, Value) and same_equation(wanted, (left.nodes, response.nodes)):
                return EQUAL
        if reference.value is not None:
            judgement = compare_values(reference.value, response, rules)
            if judgement.equal and (not response.name or symbols_of(reference.left[0])):
                return judgement
    return differ("equation", "The equation holds elsewhere than the reference.")


def _compare_many(reference: Many, response: Answer, rules: Rules) -> Judgement:
    given = response.items if isinstance(response, Many | Tuple) else (response,)
    if isinstance(response, Tuple) and response.brackets not in {"()", "[]"}:
        given = (response,)
    wanted = list(reference.items)
    if len(given) != len(wanted):
        code = "set.missing" if len(given) < len(wanted) else "set.extra"
        return differ(code, f"{len(wanted)} values are wanted, {len(given)} are given.")
    left = list(given)
    for item in wanted:
        match = next((other for other in left if compare(item, other, rules).equal), None)
        if match is None:
            return differ("set.value", "A value of the reference is not among the given ones.")
        left.remove(match)
    return EQUAL


def _compare_tuples(reference: Tuple, response: Answer, rules: Rules) -> Judgement:
    if reference.brackets == "::":
        return _compare_ratios(reference, response, rules)
    if isinstance(response, Spans):
        spans = span_from_tuple(reference)
        return _compare_spans(spans, response, rules) if spans else differ("kind", "The answer is an interval.")
    if not isinstance(response, Tuple) or response.brackets == "::":
        return differ("kind", "Components are wanted.")
    if len(response.items) != len(reference.items):
        wanted = len(reference.items)
        return differ("tuple.size", f"{wanted} components are wanted, {len(response.items)} are given.")
    if _is_interval_clash(reference, response):
        return differ("interval.ends", "The ends of the interval are of another kind.")
    for index, (first, second) in enumerate(zip(reference.items, response.items, strict=True)):
        judgement = compare(_with_units(first, reference), _with_units(second, response), rules)
        if not judgement.equal:
            return differ(judgement.reason, f"Component {index + 1}: {judgement.explanation}")
    return EQUAL


def _is_interval_clash(reference: Tuple, response: Tuple) -> bool:
    """Tell whether (a, b) meets [a, b] and both read as intervals."""
    if reference.brackets == response.brackets or reference.brackets[0] != "[" or len(reference.items) != 2:
        return False
    return span_from_tuple(reference) is not None and span_from_tuple(response) is not None


def _with_units(item: Answer, whole: Tuple) -> Answer:
    if isinstance(item, Value) and whole.units and not item.units:
        return Value(item.nodes, whole.units, item.name, item.text)
    return item


def _compare_ratios(reference: Tuple, response: Answer, rules: Rules) -> Judgement:
    if isinstance(response, Value) and len(reference.items) == 2:
        quotient = _quotient(reference)
        return compare_values(quotient, response, rules) if quotient else differ("kind", "A ratio is wanted.")
    if isinstance(response, Equation) and response.value is not None:
        return _compare_ratios(reference, response.value, rules)
    if not isinstance(response, Tuple) or response.brackets != "::":
        return differ("kind", "A ratio is wanted.")
    if len(response.items) != len(reference.items):
        return differ("tuple.size", "The ratio has another number of members.")
    last = len(reference.items) - 1
    for index in range(last):
        pair = [Tuple((whole.items[index], whole.items[last]), "::") for whole in (reference, response)]
        first, second = _quotient(pair[0]), _quotient(pair[1])
        if first is None or second is None:
            return differ("kind", "A ratio of values is wanted.")
        judgement = compare_values(first, second, rules)
        if not judgement.equal:
            return judgement
    return EQUAL


def _compare_spans(reference: Spans, response: Answer, rules: Rules) -> Judgement:
    if isinstance(response, Tuple):
        response = span_from_tuple(response) or response
    if isinstance(response, Inequality):
        inequality = _inequality_of(reference)
        same = inequality is not None and same_inequality(inequality, response)
        return EQUAL if same else differ("inequality", "The inequality holds elsewhere.")
    if not isinstance(response, Spans):
        return differ("kind", "An interval is wanted.")
    if len(reference.spans) != len(response.spans):
        return differ("interval.count", "The number of intervals differs.")
    left = list(response.spans)
    for span in reference.spans:
        judgements = [(_compare_span(span, other, rules), other) for other in left]
        match = next((other for judgement, other in judgements if judgement.equal), None)
        if match is None:
            return judgements[0][0]
        left.remove(match)
    return EQUAL


def _compare_span(reference: Span, response: Span, rules: Rules) -> Judgement:
    for first, second in ((reference.low, response.low), (reference.high, response.high)):
        judgement = _compare_bounds(first, second, rules)
        if not judgement.equal:
            return judgement
    return EQUAL


def _compare_bounds(reference: Bound, response: Bound, rules: Rules) -> Judgement:
    if reference.value is None or response.value is None:
        same = reference.value is response.value
        return EQUAL if same else differ("interval.unbounded", "One end is infinite, the other is not.")
    if reference.is_closed != response.is_closed:
        return differ("interval.ends", "The ends of the interval are of another kind.")
    return compare_values(reference.value, response.value, rules)


def _inequality_of(spans: Spans) -> Inequality | None:
    """Write an interval with one finite end as an inequality again."""
    if len(spans.spans) != 1 or not spans.name:
        return None
    span = spans.spans[0]
    name = read_single(spans.name)
    if not isinstance(name, Value):
        return None
    if span.low.value is not None and span.high.value is None:
        return Inequality(span.low.value.nodes, name.nodes, span.low.is_closed)
    if span.high.value is not None and span.low.value is None:
        return Inequality(name.nodes, span.high.value.nodes, span.high.is_closed)
    return None


def _compare_directed(reference: Directed, response: str, rules: Rules) -> Judgement:
    given = read_directed(response)
    if given is None:
        return differ("direction", "A size and a direction are wanted.")
    judgement = compare_values(reference.value, given.value, rules)
    if not judgement.equal:
        return judgement
    same = same_direction(reference.direction, given.direction)
    return EQUAL if same else differ("direction", "The direction differs.")
