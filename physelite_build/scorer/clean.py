"""Makes one plain spelling out of the many ways in which the same answer is typed.

First step for reference and response alike: invisible characters go, full-width and superscript characters become
ASCII and LaTeX, and commands that only change the look are dropped. Nothing here judges an answer.
"""

from __future__ import annotations

import re
import unicodedata

from .units import parse_unit

MAX_GROUPING_CHARS = 20_000
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱ", "0123456789+-()ni", strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ", "0123456789+-aeoxhklmnpstijruv", strict=True))
_SUPERSCRIPT_RUN = re.compile("[" + "".join(_SUPERSCRIPTS) + "]+")
_SUBSCRIPT_RUN = re.compile("[" + "".join(_SUBSCRIPTS) + "]+")

_CHARACTERS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "⁄": "/", "∕": "/", "÷": "/", "∶": ":",
    "⋅": "·", "∙": "·", "•": "·", "・": "·", "‧": "·", "▪": "·", "✕": "×", "✖": "×", "㎡": "m^2",
    "≤": r"\le ", "⩽": r"\le ", "≦": r"\le ", "≥": r"\ge ", "⩾": r"\ge ", "≧": r"\ge ", "≠": r"\ne ",
    "≈": r"\approx ", "≃": r"\approx ", "≅": r"\approx ", "≒": r"\approx ", "∼": r"\approx ", "∞": r"\infty ",
    "±": r"\pm ", "∓": r"\mp ", "∈": r"\in ", "∪": r"\cup ", "∨": r"\lor ", "∂": r"\partial ", "∆": "Δ", "ℓ": r"\ell ",
    "⇒": r"\Rightarrow ", "→": r"\to ", "‘": "'", "’": "'", "“": '"', "”": '"', "✓": "√", "✔": "√", "⟨": r"\langle ",
}  # fmt: skip
_CHARACTER_TABLE = str.maketrans(_CHARACTERS)

_MARKDOWN_BOLD = re.compile(r"(^|[\s:(>_])\*\*(?=\S)(.{1,400}?)\*\*", re.DOTALL)
_PYTHON_POWER = re.compile(r"(?<=[\w)\]}])\s?\*\*\s?(?=[-+]?[\w(\\{])")
_HTML_SCRIPT = re.compile(r"<sup>([^<>]{1,20})</sup>")
_HTML_TAG = re.compile(r"</?(?:answer|final|think|solution|b|i|p|br|strong|em|div|span)\s?/?>", re.IGNORECASE)
_LETTER_TIMES = re.compile(r"(?<=[\d.}])\s*[xX]\s*(?=10\s*\^)")
_LOOK_ONLY = re.compile(
    r"\\(?:left|right|bigl|bigr|Bigl|Bigr|biggl|biggr|big|Big|bigg|Bigg|displaystyle|textstyle|scriptstyle|limits|"
    r"nolimits|ensuremath|mathstrut|middle|hfill|noindent|centering|bfseries|rm|bf|it)(?![A-Za-z])\s?\.?(?<!\d\.)"
)
_SPACES = re.compile(r"(?<!\\)\\(?:quad|qquad|enspace|thinspace|space|hspace\*?\{[^{}]*\}|[,;:!> ])(?![A-Za-z]{99})|~")
_GROUPED_DIGITS = re.compile(r"(?<![\d.,\\])[1-9]\d{0,2}(?:,\d{3})+(?![\d,]|\.\d*,)")
_SPACED_DIGITS = re.compile(r"(?<![\d.])[1-9]\d{0,2}(?: \d{3})+(?![\d])")
_THIN_DIGITS = re.compile(r"(?<=\d)(?:\\,|\{,\}|\\!)(?=\d{3}(?!\d))")
_REPEATING = re.compile(r"\\(?:overline|dot|bar)\{(\d{1,6})\}")
_ONE_ARGUMENT_NUMBER = re.compile(r"\\num\{([^{}]*)\}")
_TWO_ARGUMENT_QUANTITY = re.compile(r"\\(?:SI|qty)\{([^{}]*)\}\{([^{}]*)\}")
_SI_UNIT = re.compile(r"\\(?:si|unit)\{([^{}]*)\}")
_RENAMED = {
    "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "dbinom": "binom", "tbinom": "binom", "leq": "le", "geq": "ge",
    "leqslant": "le", "geqslant": "ge", "neq": "ne", "simeq": "approx", "sim": "approx", "cong": "approx",
    "approxeq": "approx", "doteq": "approx", "equiv": "approx", "lbrace": "{", "rbrace": "}", "lbrack": "[",
    "rbrack": "]", "vee": "lor", "implies": "Rightarrow", "colon": ":", "lvert": "|", "rvert": "|", "vert": "|",
    "mid": "|", "ast": "*", "star": "*", "degree": "circ", "textdegree": "circ", "langle": "(", "rangle": ")",
}  # fmt: skip
_UNIT_BEHIND_MATH = re.compile(r"(?<=[^$\s])\$\s*([A-Za-zμΩ°][^$;,，；、。]{0,23})(?=$|[;,，；。])")
_COMMAND = re.compile(r"\\([A-Za-z]+)")


def strip_invisible(text: str) -> str:
    """Return the text without format and control characters; line breaks stay."""
    kept = []
    for character in text:
        if character in "\n\r":
            kept.append("\n")
        elif unicodedata.category(character) == "Cf" or _is_emoji(character):
            continue
        elif unicodedata.category(character) in {"Cc", "Zs", "Zl", "Zp"}:
            kept.append(" ")
        else:
            kept.append(character)
    return "".join(kept)


def _is_emoji(character: str) -> bool:
    return character >= "\u2600" and character not in "✓✔✕✖✗✘" and unicodedata.category(character) == "So"


def plain_characters(text: str) -> str:
    """Return the text with one spelling per character: full width, superscripts, dashes, relation signs."""
    text = strip_invisible(text)
    text = _SUPERSCRIPT_RUN.sub(lambda m: "^{" + "".join(_SUPERSCRIPTS[c] for c in m.group()) + "}", text)
    text = _SUBSCRIPT_RUN.sub(lambda m: "_{" + "".join(_SUBSCRIPTS[c] for c in m.group()) + "}", text)
    text = re.sub("[①-⑳]", lambda m: f" ({ord(m.group()) - ord('①') + 1}) ", text)
    text = re.sub("[½⅓⅔¼¾⅕⅛]", _vulgar_fraction, text)
    text = unicodedata.normalize("NFKC", text).translate(_CHARACTER_TABLE)
    text = _MARKDOWN_BOLD.sub(r"\1\2", text)
    text = _PYTHON_POWER.sub("^", text)
    text = _HTML_SCRIPT.sub(r"^{\1}", text)
    return _HTML_TAG.sub(" ", text).replace("**", "").replace("`", "")


def plain_latex(text: str) -> str:
    """Return the text without dollar signs, sizes, thin spaces and digit grouping; commands get one name each."""
    text = _TWO_ARGUMENT_QUANTITY.sub(r"\1 \\mathrm{\2}", text)
    text = _SI_UNIT.sub(r"\\mathrm{\1}", _ONE_ARGUMENT_NUMBER.sub(r"\1", text))
    text = _UNIT_BEHIND_MATH.sub(_roman_unit, text.replace("\\$", "")).replace("$", " ")
    text = re.sub(r"\\[()\[\]](?!\d+(?:pt|em|ex)\])", " ", text)
    text = _COMMAND.sub(_rename, text)
    text = text.replace("^{\\circ}", "^\\circ ").replace("\\circ", "\\circ ")
    text = _THIN_DIGITS.sub("", text)
    text = _LOOK_ONLY.sub(" ", text)
    text = _SPACES.sub(" ", text).replace("{,}", ",")
    text = _REPEATING.sub(lambda m: (m.group(1) * 12)[:12], text)
    text = _LETTER_TIMES.sub(r"\\times ", text)
    if len(text) <= MAX_GROUPING_CHARS:
        text = _join_grouped_digits(text)
    return re.sub(r"[ \t]+", " ", text).strip()


def clean(text: str) -> str:
    """Return the plain spelling of an answer; the length grows at most by a small factor."""
    return plain_latex(plain_characters(text))


def trim(text: str) -> str:
    """Return the text without the spaces and closing punctuation around it."""
    text = text.strip()
    while text and text[-1] in ".。,，;；:：、!！ \n" and not (text[-1] == "!" and text[-2:-1].isalnum()):
        text = text[:-1]
    return text.lstrip(",，;；:：、。 \n")


def is_balanced(text: str) -> bool:
    """Tell whether every brace that opens in the text also closes, in order."""
    depth = 0
    escaped = False
    for character in text:
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


def split_top(text: str, separators: str) -> list[str]:
    """Split at the given characters outside all brackets; a missing bracket never hides the rest of the text."""
    pieces: list[str] = []
    depth = 0
    start = 0
    for index, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth = max(0, depth - 1)
        elif depth == 0 and character in separators:
            pieces.append(text[start:index])
            start = index + 1
    pieces.append(text[start:])
    return pieces


def _vulgar_fraction(match: re.Match[str]) -> str:
    top, bottom = unicodedata.normalize("NFKC", match.group()).split("⁄")
    return rf"\frac{{{top}}}{{{bottom}}}"


def _roman_unit(match: re.Match[str]) -> str:
    """Mark a unit that stands behind the closing dollar sign as upright, so that it is not read as symbols."""
    unit = match.group(1)
    return rf" \mathrm{{{unit}}}" if parse_unit(unit) and "{" not in unit else match.group()


def _rename(match: re.Match[str]) -> str:
    name = _RENAMED.get(match.group(1))
    if name is None:
        return match.group()
    if name.isalpha():
        return "\\" + name
    return "\\" + name if name in "{}" else name


def _join_grouped_digits(text: str) -> str:
    """Join 1,234,567 and 1 234 567, but not the members of a tuple such as (1,234)."""

    def join(match: re.Match[str]) -> str:
        before = text[: match.start()]
        inside = "," in match.group() and any(before.count(o) > before.count(c) for o, c in ("()", "[]"))
        inside = inside or before.rstrip().endswith(("\\{", ","))
        return match.group() if inside else match.group().replace(",", "").replace(" ", "")

    text = _GROUPED_DIGITS.sub(join, text)
    return _SPACED_DIGITS.sub(join, text)
