"""The tree of a formula and simple questions about it; shared by the reader and everything that compares."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a formula: `num`, `sym`, `add`, `mul`, `div`, `pow`, `neg`, `fn`, `fact`, `deg`, `abs`, `pm`, `log`."""

    kind: str
    """What the node does with its children."""
    name: str = ""
    """Symbol or function name."""
    value: float = 0.0
    """The value of a number."""
    children: tuple[Node, ...] = ()
    """The operands, in order."""
    is_decimal: bool = False
    """True for a number with a decimal point or an exponent: it may have been rounded."""


def number(value: float, *, is_decimal: bool = False) -> Node:
    """Build a number node."""
    return Node("num", value=value, is_decimal=is_decimal)


def symbols_of(node: Node) -> frozenset[str]:
    """Return the names of all free symbols; `pi`, `i` and `e` as constants are not among them."""
    found: set[str] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if current.kind == "sym" and current.name not in {"pi", "imaginary", "infty"}:
            found.add(current.name)
        stack.extend(current.children)
    return frozenset(found)


def has_kind(node: Node, kind: str) -> bool:
    """Tell whether a node of the kind occurs in the tree."""
    stack = [node]
    while stack:
        current = stack.pop()
        if current.kind == kind:
            return True
        stack.extend(current.children)
    return False


def has_function(node: Node, names: frozenset[str]) -> bool:
    """Tell whether one of the named functions occurs in the tree."""
    return (node.kind == "fn" and node.name in names) or any(has_function(child, names) for child in node.children)


def has_coefficient_decimal(node: Node) -> bool:
    """Tell whether a rounded number stands in the tree outside exponents."""
    if node.kind == "num":
        return node.is_decimal
    children = node.children[:1] if node.kind == "pow" else node.children
    return any(has_coefficient_decimal(child) for child in children)
