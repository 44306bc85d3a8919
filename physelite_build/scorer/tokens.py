"""Cuts a formula into tokens; knows LaTeX commands, Greek letters and function names, nothing about meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_FORMULA_CHARS = 3000
MAX_TOKENS = 1200
MAX_DIGITS = 60

FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh coth sech csch arsinh arcosh artanh "
    "ln log lg exp sqrt abs sgn".split()
)
FUNCTION_SPELLINGS = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "arcsinh": "arsinh", "arccosh": "arcosh", "tg": "tan",
    "arctanh": "artanh", "asinh": "arsinh", "acosh": "arcosh", "atanh": "artanh", "cosec": "csc", "ctg": "cot",
    "arctg": "arctan", "sh": "sinh", "ch": "cosh", "th": "tanh", "cth": "coth", "ctan": "cot",
}  # fmt: skip
GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta",
    "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Υ": "Upsilon", "Φ": "Phi", "Ψ": "Psi",
    "Ω": "Omega", "ϕ": "phi", "ϵ": "epsilon", "ħ": "hbar", "ϑ": "theta", "ϱ": "rho",
}  # fmt: skip
SAME_LETTER = {
    "varepsilon": "epsilon", "varphi": "phi", "vartheta": "theta", "varrho": "rho", "varsigma": "sigma",
    "hslash": "hbar", "varkappa": "kappa", "varpi": "pi_letter",
}  # fmt: skip
GREEK_NAMES = frozenset(GREEK.values()) | frozenset(SAME_LETTER)
LETTER_COMMANDS = GREEK_NAMES | {"ell", "nabla", "partial", "infty", "Re", "Im", "aleph", "prime", "imath", "jmath"}

_SHORT_WORDS = frozenset(
    "the and not for are was but out its all any off due low yes has can you our new now who how why is of to by if be "
    "up we or".split()
)

_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,4}(?![\w.]))?)"
    r"|\\(?P<command>[A-Za-z]+)"
    r"|(?P<letters>[A-Za-z]+)"
    r"|(?P<greek>[α-ωΑ-Ωϕϵħϑϱ])"
    r"|(?P<other>.)",
    re.DOTALL,
)


class UnreadableFormulaError(ValueError):
    """The text is no formula of the kind that the scorer reads, or it is too large."""


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a formula."""

    kind: str
    """number, symbol, function, command or a single other character (`op`)."""
    text: str
    """The number, name or character."""
    glued: bool = False
    """True when no space stands before it."""


def tokenize(text: str) -> list[Token]:
    """Cut a cleaned formula into tokens.

    Raises:
        UnreadableFormulaError: If the text is longer than 3000 characters, has more than 1200 tokens, or has a number
            of more than 60 digits.
    """
    if len(text) > MAX_FORMULA_CHARS:
        raise UnreadableFormulaError("the formula is too long")
    tokens: list[Token] = []
    glued = False
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        value = match.group(kind)
        if kind == "space":
            glued = False
            continue
        tokens.extend(_pieces(kind, value, glued=glued))
        glued = True
        if len(tokens) > MAX_TOKENS:
            raise UnreadableFormulaError("the formula has too many symbols")
    return tokens


def _pieces(kind: str, value: str, *, glued: bool) -> list[Token]:
    if kind == "number":
        if len(value) > MAX_DIGITS:
            raise UnreadableFormulaError("a number has too many digits")
        return [Token("number", value, glued)]
    if kind == "greek":
        return [Token("symbol", GREEK.get(value, value), glued)]
    if kind == "command":
        return [_command(value, glued=glued)]
    if kind == "letters":
        return _words(value, glued=glued)
    return [Token("op", value, glued)]


def _command(name: str, *, glued: bool) -> Token:
    name = SAME_LETTER.get(name, name)
    function = FUNCTION_SPELLINGS.get(name, name)
    if function in FUNCTIONS and name != "sqrt":
        return Token("function", function, glued)
    if name in LETTER_COMMANDS:
        return Token("symbol", name, glued)
    return Token("command", name, glued)


def _words(run: str, *, glued: bool) -> list[Token]:
    """Split a run of letters: a whole known name, letters that end in a function name, or single letters."""
    lowered = FUNCTION_SPELLINGS.get(run, run) if len(run) > 2 else run
    if lowered in FUNCTIONS:
        return [Token("function", lowered, glued)]
    if run in GREEK_NAMES:
        return [Token("symbol", SAME_LETTER.get(run, run), glued)]
    if run in {"hbar", "inf", "infty"}:
        return [Token("symbol", "infty" if run.startswith("inf") else run, glued)]
    for length in (6, 5, 4, 3):
        tail = run[-length:]
        if len(run) > length and tail in FUNCTIONS:
            return [*_letters(run[:-length], glued=glued), Token("function", tail, glued=True)]
    if len(run) > 2 and run.startswith("ln") and len(run) <= 4:
        return [Token("function", "ln", glued), *_letters(run[2:], glued=True)]
    if len(run) > 6 or _is_word(run, glued=glued):
        raise UnreadableFormulaError(f"{run[:20]!r} is a word, not a formula")
    return _letters(run, glued=glued)


def _is_word(run: str, *, glued: bool) -> bool:
    """Tell an English word from a product of symbols such as `mgh`."""
    if run.lower() in _SHORT_WORDS:
        return len(run) > 2 or not glued
    return len(run) >= 4 and run[1:].islower() and any(vowel in run.lower() for vowel in "aeiou")


def _letters(run: str, *, glued: bool) -> list[Token]:
    return [Token("symbol", letter, glued or index > 0) for index, letter in enumerate(run)]
