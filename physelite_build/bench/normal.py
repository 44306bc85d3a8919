r"""When are two texts, two formulas or two answers written the same? Normal forms that forgive only how it was typed.

``\frac12`` and ``\dfrac{1}{2}`` are one formula, ``x^2_1`` and ``x_{1}^{2}`` too; ``，`` and ``,`` are one mark. What a reader
would see differently stays different.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

__all__ = [
    "Piece",
    "flat_text",
    "formulas_of",
    "normal_answer",
    "normal_latex",
    "normal_number",
    "normal_text",
    "pieces_of",
]

_FORMULA = re.compile(r"(\$\$.+?\$\$|\\\[.+?\\\]|\\\(.+?\\\)|(?<!\\)\$.+?(?<!\\)\$)", re.DOTALL)
_HAN = re.compile(r"[\u4e00-\u9fff]")

# NFKC already turns full-width marks into ASCII; these are left over.
_MARKS = str.maketrans(dict(zip("。、【】「」“”‘’—–～·", '.,[]""""\'\'--~.', strict=True)))
_SYMBOLS = str.maketrans(
    {
        sign: rf"\{name} "
        for sign, name in zip("×⋅·πμΩ≤≥≈∞", "times cdot cdot pi mu Omega leq geq approx infty".split(), strict=True)
    }
    | {"−": "-", "′": "'", "°": r"^{\circ}"}
)
_MARKUP = re.compile(r"_{2,}|\\underline\{[^}]*\}|!\[[^\]]*\]\([^)]*\)|[*#>`]+")

_UNPRINTED = re.compile(
    r"\\(?:label|ref|eqno|tag\*?)\s*\{[^{}]*\}"
    r"|\\(?:begin|end)\{(?:aligned|align\*?|split|gathered|gather\*?|equation\*?)\}"
    r"|\\begin\{array\}\s*(?:\{[^{}]*\})?|\\end\{array\}"
    r"|\\\\(?:\[[^\]]*\])?"
)
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\S", re.DOTALL)


def _commands(names: str) -> frozenset[str]:
    return frozenset(rf"\{name}" for name in names.split())


_SPACES = _commands(", ; : ! > quad qquad hfill strut thinspace") | {"\\ ", "~", "&"}
_SIZES = _commands(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr displaystyle textstyle scriptstyle limits "
    "nolimits notag nonumber boxed phantom hphantom vphantom"
)
_FONTS = _commands(
    "mathrm mathit mathsf mathtt mathbf mathnormal boldsymbol bm pmb text textrm textit textbf textnormal mbox hbox rm it bf "
    "operatorname operatorname* mathop mathbin mathrel"
)
_SILENT = _SPACES | _SIZES | _FONTS
_SAME = {
    rf"\{name}": normal
    for names, normal in (
        ("dfrac tfrac cfrac", r"\frac"),
        ("le leqslant", r"\leq"),
        ("ge geqslant", r"\geq"),
        ("ne", r"\neq"),
        ("to", r"\rightarrow"),
        ("gets", r"\leftarrow"),
        ("implies Longrightarrow", r"\Rightarrow"),
        ("iff", r"\Leftrightarrow"),
        ("varepsilon", r"\epsilon"),
        ("varphi", r"\phi"),
        ("uppi", r"\pi"),
        ("overrightarrow", r"\vec"),
        ("overline", r"\bar"),
        ("lbrace", r"\{"),
        ("rbrace", r"\}"),
        ("lvert rvert vert mid", "|"),
        ("|", r"\Vert"),
        ("ldots cdots", r"\dots"),
        ("prime", "'"),
        ("ast", "*"),
        ("land", r"\wedge"),
        ("lor", r"\vee"),
        ("infin", r"\infty"),
    )
    for name in names.split()
}
_ARGUMENTS = dict.fromkeys(_commands("frac binom stackrel overset underset"), 2) | dict.fromkeys(
    _commands(
        "sqrt vec bar dot ddot hat tilde widehat widetilde underline underbrace overbrace xrightarrow cancel mathcal mathbb "
        "begin end"
    ),
    1,
)
_LETTERS = {
    rf"\{name}": letters
    for name, letters in (
        ("times", "x"),
        ("cdot", "."),
        ("leq", "<="),
        ("geq", ">="),
        ("approx", "~"),
        ("rightarrow", "->"),
        ("infty", "inf"),
        ("circ", "o"),
        ("frac", ""),
    )
}
_ANSWER_WORD = re.compile(r"^(?:final answer|finalanswer|answer|ans|答案|答|解得):?")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of plain text, or one formula without its delimiters."""

    text: str
    is_formula: bool


def pieces_of(text: str) -> list[Piece]:
    r"""Cut a text at its formulas.

    Args:
        text: Plain text with ``$...$``, ``$$...$$``, ``\(...\)`` or ``\[...\]``; a delimiter without a partner is text.

    Returns:
        Text and formula in turn, beginning and ending with text, which may be empty.
    """
    pieces = []
    for index, part in enumerate(_FORMULA.split(text)):
        if index % 2:
            wide = part.startswith("\\") or (part.startswith("$$") and part.endswith("$$"))
            part = part[2:-2] if wide else part[1:-1]
        pieces.append(Piece(part, bool(index % 2)))
    return pieces


def formulas_of(text: str) -> list[str]:
    """Return the normal forms of the formulas in a text, in order."""
    return [normal_latex(piece.text) for piece in pieces_of(text) if piece.is_formula]


def normal_text(text: str, *, language: str) -> str:
    """Return plain text with one form of every mark and blank.

    Args:
        text: Plain text; dollar signs are read as signs.
        language: ``zh`` drops all blanks; so does any text with Chinese characters.

    Returns:
        NFKC, Chinese punctuation as ASCII, without fill-in lines and Markdown signs.
    """
    text = _MARKUP.sub("", unicodedata.normalize("NFKC", text).translate(_MARKS))
    return ("" if language == "zh" or _HAN.search(text) else " ").join(text.split())


def normal_latex(latex: str) -> str:
    r"""Return one spelling of a formula: arguments in braces, subscript first, no fonts, sizes, spaces or labels.

    Args:
        latex: One formula without delimiters; broken ones are read as far as they go.

    Returns:
        The tokens joined without blanks; punctuation at the end is dropped. Doing it twice changes nothing that matters to a
        comparison, but the result is made for comparing, not for typesetting.
    """
    return "".join(_canonical(latex)).rstrip(",.;")


def flat_text(text: str) -> str:
    r"""Return a text with its formulas as bare letters, so that the place of ``$`` does not matter.

    Args:
        text: Plain text with formulas.

    Returns:
        No blanks, no ``$``, no braces, ``_``, ``^`` or backslashes inside formulas; ``\alpha`` reads ``alpha``.
    """
    flat = [_letters(piece.text) if piece.is_formula else piece.text for piece in pieces_of(text)]
    return normal_text("".join(flat), language="zh").replace("$", "")


def normal_answer(text: str) -> str:
    """Return a final answer for exact comparison: lower case, without ``Answer:``, blanks, brackets and punctuation.

    Warning:
        Decimal points are punctuation too: 2.0 and 20 come out alike. It measures reading, the project's scorer judges answers.
    """
    shown = [
        normal_latex(piece.text) if piece.is_formula else normal_text(piece.text, language="zh")
        for piece in pieces_of(text)
    ]
    return re.sub(r"[\s(){}$.,;]", "", _ANSWER_WORD.sub("", "".join(shown).lower()))


def normal_number(number: str) -> str:
    """Return a problem number without dots, brackets and blanks."""
    return re.sub(r"\W", "", number)


def _letters(latex: str) -> str:
    # Cut anew, not token by token: a command that touches a letter (\to B is \rightarrowB) keeps its whole name. The development
    # measure does so too, and problems near the matching threshold would otherwise be matched differently.
    return re.sub(r"[{}\\_^]", "", "".join(_LETTERS.get(token, token) for token in _TOKEN.findall(normal_latex(latex))))


def _canonical(latex: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", latex).translate(_SYMBOLS).translate(_MARKS)
    tokens: list[str] = []
    for token in _TOKEN.findall(_UNPRINTED.sub(" ", plain)):
        if token in _SILENT:
            continue
        tokens += ["^", "{", r"\circ", "}"] if token == r"\degree" else [_SAME.get(token, token)]
    return _Reader(tokens).read()


class _Reader:
    """Reads tokens once from left to right; every method returns canonical tokens."""

    def __init__(self, tokens: list[str]) -> None:
        self._waiting = tokens[::-1]

    def read(self) -> list[str]:
        made: list[str] = []
        while self._waiting:
            made += self._group()
        return made

    def _next(self) -> str:
        return self._waiting[-1] if self._waiting else ""

    def _group(self) -> list[str]:
        """Read up to the closing brace that belongs to us, or to the end."""
        made: list[str] = []
        while self._waiting:
            if self._next() in {"_", "^", "'"}:
                made += self._scripts()
                continue
            token = self._waiting.pop()
            if token == "}":
                break
            made += self._after(token)
        return made

    def _after(self, token: str) -> list[str]:
        if token == "{":
            return self._group()
        made = [token]
        if token == r"\sqrt" and self._next() == "[":
            while self._waiting and made[-1] != "]":
                made += [token for token in [self._waiting.pop()] if token not in "{}"]
        for _ in range(_ARGUMENTS.get(token, 0)):
            made += ["{", *self._argument(), "}"]
        return made

    def _argument(self) -> list[str]:
        return self._after(self._waiting.pop()) if self._next() not in {"", "}"} else []

    def _scripts(self) -> list[str]:
        """Read all scripts of one symbol: subscript, then primes, then superscript."""
        below: list[str] = []
        above: list[str] = []
        primes: list[str] = []
        while self._next() in {"_", "^", "'"}:
            mark = self._waiting.pop()
            read = ["'"] if mark == "'" else self._argument()
            if mark == "_":
                below += read
            elif all(token == "'" for token in read):
                primes += read
            else:
                above += read
        made = ["_", "{", *below, "}"] if below else []
        return made + primes + (["^", "{", *above, "}"] if above else [])
