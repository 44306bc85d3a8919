"""The kinds of answers that the scorer tells apart; each is a small frozen record."""

from __future__ import annotations

from dataclasses import dataclass

from .nodes import Node
from .units import Unit


class UnreadableAnswerError(ValueError):
    """The text is no answer of the kind that was asked for."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number or formula with an optional unit and an optional left-hand side."""

    nodes: tuple[Node, ...]
    """The readings of the formula, the likeliest first."""
    units: tuple[Unit, ...] = ()
    """The readings of the unit; empty when none is given."""
    name: str = ""
    """Left-hand side as typed, empty when there is none."""
    text: str = ""
    """The value as typed, without its left-hand side."""
    as_formula: tuple[Node, ...] = ()
    """For a short unit such as `2g`: the readings in which the letters are symbols."""


@dataclass(frozen=True, slots=True)
class Equation:
    """A relation between quantities that is not solved for one symbol."""

    left: tuple[Node, ...]
    """Readings of the first member."""
    right: tuple[Node, ...]
    """Readings of the last member."""
    name: str = ""
    """Left-hand side as typed."""
    value: Value | None = None
    """The last member as a value."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of an interval."""

    value: Value | None
    """None for an infinite end."""
    is_closed: bool
    """True when the end belongs to the interval."""


@dataclass(frozen=True, slots=True)
class Span:
    """An interval between two ends."""

    low: Bound
    """Lower end."""
    high: Bound
    """Upper end."""


@dataclass(frozen=True, slots=True)
class Spans:
    """A union of intervals, or an inequality solved for one symbol."""

    spans: tuple[Span, ...]
    """The intervals as typed."""
    name: str = ""
    """The symbol that they bound, empty when none is given."""


@dataclass(frozen=True, slots=True)
class Inequality:
    """`left < right` or `left <= right`, in readings."""

    left: tuple[Node, ...]
    """Readings of the smaller side."""
    right: tuple[Node, ...]
    """Readings of the larger side."""
    is_closed: bool
    """True when equality is allowed."""


@dataclass(frozen=True, slots=True)
class Tuple:
    """An ordered list: a tuple, a vector, a matrix by rows, a ratio."""

    items: tuple[Answer, ...]
    """The members in order."""
    brackets: str = "()"
    """Opening and closing character as typed; `::` for a ratio."""
    units: tuple[Unit, ...] = ()
    """A common unit behind the brackets."""


@dataclass(frozen=True, slots=True)
class Many:
    """Several values that are all wanted, in any order."""

    items: tuple[Answer, ...]
    """The members as typed."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The letters of a multiple-choice answer."""

    letters: frozenset[str]
    """Upper-case letters."""


@dataclass(frozen=True, slots=True)
class Truth:
    """A yes or a no."""

    is_true: bool
    """True for yes, true, correct."""


@dataclass(frozen=True, slots=True)
class Words:
    """Free text."""

    text: str
    """The text as typed."""


@dataclass(frozen=True, slots=True)
class Directed:
    """A quantity with a direction in words."""

    value: Value
    """Its size."""
    direction: str
    """The words around it."""


@dataclass(frozen=True, slots=True)
class Nuclide:
    """An isotope."""

    element: str
    """Symbol of the element."""
    mass: int | None
    """Mass number; None when not given."""
    charge: int | None
    """Atomic number; None when not given."""


Answer = Value | Equation | Spans | Inequality | Tuple | Many | Choice | Truth | Words | Directed | Nuclide
