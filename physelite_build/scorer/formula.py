"""Reads a formula in LaTeX or plain notation into a small tree; text never reaches an interpreter.

The reader is a recursive descent over `tokens.tokenize` with a bound on depth. What LaTeX leaves open (how far an
argument without parentheses reaches, what a slash divides by) gives several readings, all of which are compared.
"""

from __future__ import annotations

import re

from .nodes import Node, number
from .tokens import FUNCTION_SPELLINGS, FUNCTIONS, Token, UnreadableFormulaError, tokenize

MAX_DEPTH = 40
MAX_READINGS = 4
_WRAPPERS = frozenset(
    "mathrm mathbf boldsymbol bm text textrm textit textbf mathit operatorname mathcal mathsf vec overrightarrow "
    "mathscr mathbb hbox mbox pmb rm bf it".split()
)
_VECTOR_MARKS = frozenset("vec mathbf boldsymbol bm overrightarrow".split())
_DECORATIONS = frozenset("hat bar tilde overline widehat widetilde check underline".split())
_STOPS_ARGUMENT = frozenset("+-=<>/*,;)]}|!:·×")
_DERIVATIVE_TOP = re.compile(r"^(?:d|partial)(?:\^(\d))?(?:\((.+)\)|(.+))$")


def read_formula(text: str) -> tuple[Node, ...]:
    """Read a cleaned formula and return its possible meanings, the likeliest first.

    Raises:
        UnreadableFormulaError: If the text is no complete formula or is too large.
    """
    tokens = tokenize(text)
    if not tokens:
        raise UnreadableFormulaError("there is no formula")
    readings: list[Node] = []
    problem: UnreadableFormulaError | None = None
    for long_argument, tight_product in ((True, False), (True, True), (False, False), (False, True)):
        try:
            node = _FormulaReader(tokens, long_argument=long_argument, tight_product=tight_product).read()
        except UnreadableFormulaError as error:
            problem = error
            continue
        if node not in readings:
            readings.append(node)
    if not readings:
        raise problem or UnreadableFormulaError("the formula has no meaning")
    return tuple(readings[:MAX_READINGS])


class _FormulaReader:
    def __init__(self, tokens: list[Token], *, long_argument: bool, tight_product: bool) -> None:
        self.tokens = tokens
        self.index = 0
        self.depth = 0
        self.long_argument = long_argument
        self.tight_product = tight_product

    # -- positions -------------------------------------------------------------------------------------------------
    def peek(self, ahead: int = 0) -> Token | None:
        position = self.index + ahead
        return self.tokens[position] if position < len(self.tokens) else None

    def at(self, *texts: str) -> bool:
        token = self.peek()
        return token is not None and token.kind in {"op", "command"} and token.text in texts

    def take(self) -> Token:
        token = self.peek()
        if token is None:
            raise UnreadableFormulaError("the formula stops in the middle")
        self.index += 1
        return token

    def expect(self, text: str) -> None:
        if not self.at(text):
            raise UnreadableFormulaError(f"{text!r} is missing")
        self.index += 1

    # -- grammar ---------------------------------------------------------------------------------------------------
    def read(self) -> Node:
        node = self.sum()
        if self.index != len(self.tokens):
            raise UnreadableFormulaError(f"{self.tokens[self.index].text[:20]!r} does not belong there")
        return node

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadableFormulaError("the formula is nested too deeply")
        terms = [self.product()]
        while self.at("+", "-", "pm", "mp"):
            sign = self.take().text
            term = self.product()
            if sign in {"pm", "mp"}:
                rest = Node("add", children=tuple(terms)) if len(terms) > 1 else terms[0]
                terms = [Node("pm", name=sign, children=(rest, term))]
            else:
                terms.append(Node("neg", children=(term,)) if sign == "-" else term)
        self.depth -= 1
        return terms[0] if len(terms) == 1 else Node("add", children=tuple(terms))

    def product(self) -> Node:
        node = self.signed()
        while True:
            if self.at("times", "×") and self.vector_ahead():
                self.take()
                node = _cross(node, self.power())
            elif self.at("*", "·", "×", "cdot", "times"):
                self.take()
                node = Node("mul", children=(node, self.signed()))
            elif self.at("/", "div"):
                self.take()
                node = Node("div", children=(node, self.divisor()))
            elif self.starts_factor():
                node = Node("mul", children=(node, self.power()))
            else:
                return node

    def vector_ahead(self) -> bool:
        following = self.peek(1)
        return following is not None and following.kind == "command" and following.text in _VECTOR_MARKS

    def divisor(self) -> Node:
        node = self.signed()
        while self.tight_product and self.starts_factor():
            node = Node("mul", children=(node, self.power()))
        return node

    def signed(self) -> Node:
        signs = 0
        negative = False
        while self.at("+", "-"):
            negative ^= self.take().text == "-"
            signs += 1
            if signs > 2:
                raise UnreadableFormulaError("too many signs in a row")
        if self.at("pm", "mp"):
            sign = self.take().text
            return Node("pm", name=sign, children=(number(0.0), self.product()))
        node = self.power()
        return Node("neg", children=(node,)) if negative else node

    def starts_factor(self) -> bool:
        token = self.peek()
        if token is None:
            return False
        if token.kind in {"number", "symbol", "function"}:
            return True
        if token.kind == "command":
            return token.text in {"frac", "sqrt", "binom", "dv", "dot", "ddot"} or token.text in (
                _WRAPPERS | _DECORATIONS
            )
        return token.text in {"(", "[", "{", "√"}

    def power(self) -> Node:
        start = self.index
        node = self.postfix(self.atom())
        if self.at("^"):
            self.take()
            exponent = self.argument()
            roman = self.tokens[start].text in {"mathrm", "text", "textrm"}
            node = _power(node, exponent, roman=roman)
            node = self.postfix(node)
        return node

    def postfix(self, node: Node) -> Node:
        while True:
            if self.at("!"):
                self.take()
                node = Node("fact", children=(node,))
            elif self.at("%"):
                self.take()
                node = Node("div", children=(node, number(100.0)))
            elif self.at("°") or self.at_circ():
                self.index += 1 if self.at("°") else 2
                node = Node("deg", children=(node,))
            elif self.at_braced_circ():
                self.index += 4
                node = Node("deg", children=(node,))
            else:
                return node

    def at_circ(self) -> bool:
        following = self.peek(1)
        return self.at("^") and following is not None and following.text == "circ"

    def at_braced_circ(self) -> bool:
        brace, circ, close = self.peek(1), self.peek(2), self.peek(3)
        if not self.at("^") or brace is None or circ is None or close is None:
            return False
        return brace.text == "{" and circ.text == "circ" and close.text == "}"

    def argument(self) -> Node:
        """Read what LaTeX takes as one argument: a group, one digit, one symbol, or a signed number."""
        if self.at("{"):
            return self.group("{", "}")
        token = self.peek()
        if token is not None and token.kind == "number" and self.index > 0:
            return self.digits()
        if self.at("+", "-"):
            sign = self.take().text
            node = self.argument()
            return Node("neg", children=(node,)) if sign == "-" else node
        return self.atom()

    def digits(self) -> Node:
        token = self.take()
        return number(_to_float(token.text), is_decimal="." in token.text)

    def one_digit(self) -> Node:
        r"""Read the argument of \frac or \sqrt, which is a single digit when it has no braces."""
        if self.at("{"):
            return self.group("{", "}")
        token = self.peek()
        if token is not None and token.kind == "number" and token.text[0].isdigit() and len(token.text) > 1:
            self.tokens = [
                *self.tokens[: self.index],
                Token("number", token.text[0]),
                *tokenize(token.text[1:]),
                *self.tokens[self.index + 1 :],
            ]
        if token is not None and token.kind == "symbol":
            self.index += 1
            return Node("sym", name="imaginary") if token.text == "i" else _symbol(token.text)
        return self.digits() if token is not None and token.kind == "number" else self.atom()

    def group(self, opening: str, closing: str) -> Node:
        self.expect(opening)
        node = self.sum()
        self.expect(closing)
        return node

    def atom(self) -> Node:
        token = self.take()
        if token.kind == "number":
            value = _to_float(token.text)
            return number(value, is_decimal=not token.text.isdigit())
        if token.kind == "symbol":
            return self.symbol(token.text)
        if token.kind == "function":
            return self.function(token.text)
        if token.kind == "command":
            return self.command(token.text)
        if token.text in {"(", "[", "{"}:
            self.index -= 1
            return self.group(token.text, {"(": ")", "[": "]", "{": "}"}[token.text])
        if token.text == "|":
            node = self.sum()
            self.expect("|")
            return Node("abs", children=(node,))
        if token.text == "√":
            return _root(self.one_root_argument(), number(2.0))
        raise UnreadableFormulaError(f"{token.text[:20]!r} does not belong there")

    def one_root_argument(self) -> Node:
        token = self.peek()
        return self.digits() if token is not None and token.kind == "number" else self.power()

    def command(self, name: str) -> Node:
        if name == "frac":
            return self.fraction()
        if name == "dv":
            top, bottom = self.plain_group(), self.plain_group()
            return _symbol(f"D1({top})/{bottom}")
        if name in {"dot", "ddot"}:
            return _symbol(f"D{len(name) - 2}({self.plain_group()})/t")
        if name == "sqrt":
            index = self.group("[", "]") if self.at("[") else number(2.0)
            return _root(self.one_digit(), index)
        if name == "binom":
            return Node("fn", name="binom", children=(self.one_digit(), self.one_digit()))
        if name in _WRAPPERS:
            return self.wrapped()
        if name in _DECORATIONS:
            mark = {"overline": "bar", "widehat": "hat", "widetilde": "tilde"}.get(name, name)
            return self.symbol(f"{mark}({self.plain_group()})")
        raise UnreadableFormulaError(f"the scorer does not read \\{name[:20]}")

    def fraction(self) -> Node:
        start = self.index
        derivative = self.derivative()
        if derivative is not None:
            return derivative
        self.index = start
        top = self.one_digit()
        bottom = self.one_digit()
        return Node("div", children=(top, bottom))

    def derivative(self) -> Node | None:
        if not self.at("{"):
            return None
        try:
            top = _DERIVATIVE_TOP.match(self.plain_group())
            if top is None or not self.at("{"):
                return None
            bottom = re.match(r"^(?:d|partial)(.+?)(?:\^(\d))?$", self.plain_group())
        except UnreadableFormulaError:
            return None
        if bottom is None:
            return None
        order = top.group(1) or "1"
        if order != (bottom.group(2) or "1"):
            return None
        return _symbol(f"D{order}({top.group(2) or top.group(3)})/{bottom.group(1)}")

    def plain_group(self) -> str:
        """Read a group or one token as the text of a name, without wrappers, braces and spaces."""
        pieces: list[str] = []
        level = 0
        while True:
            token = self.take()
            if token.text == "{":
                level += 1
            elif token.text == "}":
                level -= 1
            elif not (token.kind == "command" and token.text in _WRAPPERS):
                pieces.append(token.text)
            if level < 0:
                raise UnreadableFormulaError("a closing brace has no opening one")
            if level == 0 and not (token.kind == "command" and token.text in _WRAPPERS):
                return "".join(pieces)

    def wrapped(self) -> Node:
        start = self.index
        name = self.plain_group()
        if len(name) == 1 and name.isalpha():
            return self.symbol(name)
        function = FUNCTION_SPELLINGS.get(name, name)
        if function in FUNCTIONS:
            return self.function(function)
        if re.fullmatch(r"[A-Za-z]{2,24}", name):
            return self.symbol(name)
        self.index = start
        return self.symbol("") if not self.at("{") else self.group("{", "}")

    def symbol(self, name: str) -> Node:
        """Finish a symbol: its subscripts and primes belong to its name, in any order."""
        if not name:
            raise UnreadableFormulaError("a name is missing")
        subscript = ""
        primes = 0
        following = self.peek()
        if (
            following is not None
            and following.kind == "number"
            and following.glued
            and following.text.isdigit()
            and name not in {"pi", "infty"}
        ):
            subscript = self.take().text
        while True:
            if self.at("_"):
                self.take()
                subscript += self.plain_group()
            elif self.at("'", "′"):
                self.take()
                primes += 1
            elif self.at("^") and self.prime_ahead():
                self.take()
                primes += self.plain_group().count("prime") or 1
            else:
                break
        if name == "i" and not subscript and not primes:
            return Node("sym", name="imaginary")
        full = name + (f"_{subscript.replace(',', '')}" if subscript else "") + "'" * primes
        return _symbol(full)

    def prime_ahead(self) -> bool:
        following = self.peek(1)
        if following is None:
            return False
        inner = self.peek(2) if following.text == "{" else following
        return inner is not None and inner.text in {"prime", "*", "'", "dagger"}

    def function(self, name: str) -> Node:
        base: Node | None = None
        exponent: Node | None = None
        while self.at("_", "^"):
            mark = self.take().text
            if mark == "_":
                base = self.argument()
            else:
                exponent = self.argument()
        argument = self.function_argument()
        if name == "exp":
            node = Node("fn", name="exp", children=(argument,))
        elif name == "sqrt":
            node = _root(argument, number(2.0))
        elif name == "abs":
            node = Node("abs", children=(argument,))
        elif base is not None or name == "lg":
            node = _logarithm(argument, base if base is not None else number(10.0))
        else:
            node = Node("fn", name=name, children=(argument,))
        if exponent is None:
            return node
        if exponent == Node("neg", children=(number(1.0),)) and name in {"sin", "cos", "tan", "sinh", "cosh", "tanh"}:
            return Node("fn", name=("ar" if name.endswith("h") else "arc") + name, children=(argument,))
        return Node("pow", children=(node, exponent))

    def function_argument(self) -> Node:
        if self.at("(", "[", "{"):
            return self.postfix(self.atom())
        negative = self.at("-")
        if negative:
            self.take()
        node = self.power()
        while self.long_argument:
            token = self.peek()
            if token is None or token.kind == "function" or token.text in _STOPS_ARGUMENT:
                break
            if token.kind not in {"number", "symbol"} and token.text not in _WRAPPERS | {"sqrt"}:
                break
            node = Node("mul", children=(node, self.power()))
        return Node("neg", children=(node,)) if negative else node


def _to_float(text: str) -> float:
    value = float(text)
    if value in {float("inf"), float("-inf")}:
        raise UnreadableFormulaError("a number is too large")
    return value


def _symbol(name: str) -> Node:
    return Node("sym", name=name)


def _cross(left: Node, right: Node) -> Node:
    """Build a vector product; a factor before it stays outside, so that q v x B is q (v x B)."""
    if left.kind == "mul":
        return Node("mul", children=(left.children[0], _cross(left.children[1], right)))
    return Node("cross", children=(left, right))


def _root(node: Node, index: Node) -> Node:
    return Node("pow", children=(node, Node("div", children=(number(1.0), index))))


def _logarithm(argument: Node, base: Node) -> Node:
    if base.kind == "sym" and base.name == "e":
        return Node("fn", name="ln", children=(argument,))
    return Node("div", children=(Node("fn", name="ln", children=(argument,)), Node("fn", name="ln", children=(base,))))


def _power(base: Node, exponent: Node, *, roman: bool) -> Node:
    """Build a power; `e` with an exponent other than a small whole number is Euler's number."""
    whole = exponent.kind == "num" and exponent.value in {1.0, 2.0, 3.0, 4.0}
    if base.kind == "sym" and base.name == "e" and (roman or not whole):
        return Node("fn", name="exp", children=(exponent,))
    return Node("pow", children=(base, exponent))
