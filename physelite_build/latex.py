r"""Is this LaTeX whole, and how does it look? Formulas inside running text, and LaTeX as MathML.

Text in records is plain with ``$...$`` (in the line) and ``$$...$$`` (on its own). Checks ask :func:`structure_errors`; the
report and the annotators' pages ask :func:`render_html`. Recognised formulas are hostile input: only known MathML elements
and attributes leave this module.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from xml.etree import ElementTree

from physelite_build.errors import ItemError, shorten

__all__ = ["MathStyle", "Piece", "normalise_arguments", "render_html", "split_math", "structure_errors", "to_mathml"]

MAX_LENGTH = 20_000
"""Characters of one formula; longer ones are a misread page, not a formula."""
MAX_DEPTH = 60
"""Nested groups; deep enough for any printed formula, shallow enough for recursive converters."""

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.DOTALL)
_ARGUMENTS = {
    **dict.fromkeys((r"\frac", r"\dfrac", r"\tfrac", r"\cfrac", r"\binom", r"\overset", r"\underset", r"\stackrel"), 2),
    **dict.fromkeys(
        (r"\sqrt", r"\vec", r"\hat", r"\bar", r"\dot", r"\ddot", r"\tilde", r"\overline", r"\underline"), 1
    ),
    **dict.fromkeys((r"\overrightarrow", r"\widehat", r"\boxed"), 1),
}
_FONTS = frozenset(
    rf"\{name}"
    for name in "mathbf mathrm mathit mathsf mathtt mathcal mathbb mathfrak mathscr boldsymbol bm vec hat bar dot ddot tilde".split()
)
_NO_ARGUMENT = frozenset({"}", "&", "^", "_", r"\right", r"\end", r"\\"})
_SCRIPT_NAMES = {"^": "superscript", "_": "subscript"}
_CLOSER_NAMES = {"{": "an opening brace", r"\left": r"\left", r"\begin": r"\begin"}

# latex2mathml knows these layouts only under their other names.
_ENVIRONMENTS = {
    "aligned": "align*",
    "alignedat": "align*",
    "eqnarray": "align*",
    "eqnarray*": "align*",
    "gather": "matrix",
    "gather*": "matrix",
    "gathered": "matrix",
}
_LESS, _GREATER = "\ue000", "\ue001"  # stand-ins: the converter copies < and > of \text unescaped into its XML
_MATHML = "http://www.w3.org/1998/Math/MathML"
_ELEMENTS = frozenset(
    "math mrow mi mn mo mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover mtable mtr mtd mstyle "
    "mpadded mphantom menclose".split()
)
_ATTRIBUTES = frozenset(
    "display displaystyle scriptlevel mathvariant stretchy fence form accent accentunder linethickness columnalign "
    "rowspacing columnspacing width height depth lspace rspace minsize maxsize largeop movablelimits notation".split()
)
_RELATIONS = frozenset("⩽⩾⟂∼≲≳<>")
_VARIANT_NAMES = {
    "bold": ("MATHEMATICAL BOLD",),
    "bold-italic": ("MATHEMATICAL BOLD ITALIC",),
    "script": ("MATHEMATICAL SCRIPT", "SCRIPT"),
    "double-struck": ("MATHEMATICAL DOUBLE-STRUCK", "DOUBLE-STRUCK"),
    "fraktur": ("MATHEMATICAL FRAKTUR", "BLACK-LETTER"),
}


class MathStyle(StrEnum):
    """How a piece of text is set."""

    TEXT = "text"
    INLINE = "inline"
    DISPLAY = "display"


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of plain text or one formula without its dollar signs."""

    text: str
    style: MathStyle

    @property
    def source(self) -> str:
        """The piece as it stands in the text, delimiters included."""
        marks = {MathStyle.TEXT: "", MathStyle.INLINE: "$", MathStyle.DISPLAY: "$$"}[self.style]
        return f"{marks}{self.text}{marks}"


_MATH = re.compile(r"(?<!\\)(?:\$\$(?P<display>(?:\\.|[^$\\])+)\$\$|\$(?P<inline>(?:\\.|[^$\\])+)\$)", re.DOTALL)


def split_math(text: str) -> list[Piece]:
    r"""Cut a text at its dollar signs.

    Args:
        text: Plain text with ``$...$`` and ``$$...$$``; ``\$`` is a printed dollar sign.

    Returns:
        Pieces in order, none of them empty; joining their ``source`` gives the text back. A dollar sign without a partner
        stays in the plain text.
    """
    pieces: list[Piece] = []
    end = 0
    for match in _MATH.finditer(text):
        if match.start() > end:
            pieces.append(Piece(text[end : match.start()], MathStyle.TEXT))
        inline = match["inline"]
        pieces.append(Piece(match["display"], MathStyle.DISPLAY) if inline is None else Piece(inline, MathStyle.INLINE))
        end = match.end()
    if end < len(text):
        pieces.append(Piece(text[end:], MathStyle.TEXT))
    return pieces


def render_html(text: str) -> str:
    """Show a text with formulas in a browser.

    Args:
        text: Plain text with ``$...$`` and ``$$...$$``; a line break is kept.

    Returns:
        HTML in which everything but our own tags is escaped. A formula that cannot be read appears as it is written, in
        ``<code class="bad-latex">`` with the reason as its title.
    """
    shown = "".join(_piece_html(piece) for piece in split_math(text))
    # A formula on its own line brings its line breaks along.
    shown = re.sub(r'<br>\n(<math [^>]*display="block")', r"\1", shown)
    return re.sub(r'(<math [^>]*display="block".*?</math>)<br>\n', r"\1", shown)


def _piece_html(piece: Piece) -> str:
    if piece.style is MathStyle.TEXT:
        return html.escape(piece.text.replace(r"\$", "$")).replace("\n", "<br>\n")
    try:
        return to_mathml(piece.text, display=piece.style is MathStyle.DISPLAY)
    except ItemError as error:
        return f'<code class="bad-latex" title="{html.escape(error.message)}">{html.escape(piece.source)}</code>'


def structure_errors(latex: str) -> list[str]:
    r"""Say what is broken in a formula, without knowing what it means.

    Args:
        latex: One formula without dollar signs.

    Returns:
        One short sentence a fault (braces, ``\left``, environments, empty arguments, stray ``& $ % #``), in a fixed order
        without repeats; empty if the formula hangs together.
    """
    if not latex.strip():
        return ["the formula is empty"]
    if len(latex) > MAX_LENGTH:
        return [f"the formula has {len(latex)} characters, more than {MAX_LENGTH}"]
    tokens = _TOKEN.findall(latex)
    found = _nesting_errors(tokens)
    if not found:
        found = _argument_errors(tokens)
    return list(dict.fromkeys(found))


def _nesting_errors(tokens: Sequence[str]) -> list[str]:
    r"""Check braces, ``\left``/``\right`` and environments with one stack, and characters that must not stand alone."""
    found: list[str] = []
    stack: list[tuple[str, str]] = []
    for index, token in enumerate(tokens):
        if token in ("{", r"\left", r"\begin"):
            stack.append((token, _group_text(tokens, index + 1) if token == r"\begin" else ""))
            if len(stack) > MAX_DEPTH:
                return [f"groups are nested deeper than {MAX_DEPTH} levels"]
        elif token in ("}", r"\right", r"\end"):
            opener = {"}": "{", r"\right": r"\left", r"\end": r"\begin"}[token]
            if not stack or stack[-1][0] != opener:
                return [
                    *found,
                    f"{'a closing brace' if token == '}' else token} has no {_CLOSER_NAMES[opener]} before it",
                ]
            name = stack.pop()[1]
            if token == r"\end" and _group_text(tokens, index + 1) != name:
                found.append(rf"\begin{{{shorten(name, limit=20)}}} ends under another name")
        elif token == "&" and not any(opener == r"\begin" for opener, _ in stack):
            found.append("an alignment mark & stands outside an environment")
        elif token in ("$", "%", "#"):
            found.append(f"the character {token} is not escaped")
        elif token == "\\":
            found.append("a backslash stands alone at the end")
    found += [f"{_CLOSER_NAMES[opener]} is never closed" for opener, _ in stack]
    return found


def _group_text(tokens: Sequence[str], start: int) -> str:
    group = _argument(tokens, start)
    return "" if group is None else "".join(group[0])


def _argument(tokens: Sequence[str], start: int) -> tuple[Sequence[str], int] | None:
    """Return the tokens of the argument at ``start`` and the index after it; None if there is no argument."""
    while start < len(tokens) and tokens[start].isspace():
        start += 1
    if start >= len(tokens) or tokens[start] in _NO_ARGUMENT:
        return None
    if tokens[start] != "{":
        return tokens[start : start + 1], start + 1
    depth = 0
    for index in range(start, len(tokens)):
        depth += (tokens[index] == "{") - (tokens[index] == "}")
        if depth == 0:
            return tokens[start + 1 : index], index + 1
    return None


def _argument_errors(tokens: Sequence[str]) -> list[str]:
    """Check that commands and scripts have arguments; the tokens are balanced."""
    found: list[str] = []
    scripts: set[str] = set()
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token in _SCRIPT_NAMES:
            name = _SCRIPT_NAMES[token]
            if token in scripts:
                found.append(f"a second {name} follows the first")
            scripts.add(token)
            index = _check_argument(tokens, index, f"a {name}", found)
            continue
        if not token.isspace():
            scripts.clear()
        if token == r"\sqrt":
            index = _after_option(tokens, index)
        for _ in range(_ARGUMENTS.get(token, 0)):
            index = _check_argument(tokens, index, token, found)
        if token == "{":
            inner = _argument(tokens, index - 1)
            if inner is not None:
                found += _argument_errors(inner[0])
                index = inner[1]
    return found


def _check_argument(tokens: Sequence[str], start: int, owner: str, found: list[str]) -> int:
    argument = _argument(tokens, start)
    if argument is None or not "".join(argument[0]).strip():
        found.append(f"{owner} is empty or lacks its argument")
        return start if argument is None else argument[1]
    if len(argument[0]) > 1:
        found += _argument_errors(argument[0])
        return argument[1]
    # A bare command is its own argument and may bring arguments of its own: \frac\sqrt2x.
    return argument[1] if argument[0][0] not in _ARGUMENTS else argument[1] - 1


def _after_option(tokens: Sequence[str], start: int) -> int:
    if start < len(tokens) and tokens[start] == "[" and "]" in tokens[start:]:
        return start + list(tokens[start:]).index("]") + 1
    return start


def normalise_arguments(latex: str) -> str:
    r"""Put braces around the bare argument of a font or accent command: ``\mathbf B`` becomes ``\mathbf{B}``.

    Args:
        latex: One formula without dollar signs.

    Returns:
        The same formula; doing it twice changes nothing.

    Source:
        latex2mathml 3.81 reads both forms differently and loses the bold of the bare one.
    """
    tokens = _TOKEN.findall(latex)
    made: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        made.append(token)
        index += 1
        if token in _FONTS:
            argument = _argument(tokens, index)
            if argument is not None and tokens[argument[1] - 1] != "}" and argument[0][0] not in _FONTS:
                made += ["{", *argument[0], "}"]
                index = argument[1]
    return "".join(made)


def to_mathml(latex: str, *, display: bool) -> str:
    """Turn one formula into MathML that browsers draw.

    Args:
        latex: One formula without dollar signs.
        display: True for a formula on its own line, False for one inside a line.

    Returns:
        One ``<math>`` element, safe to put into a page. Root signs and tall brackets need a font with mathematics, for
        example STIX Two Math.

    Raises:
        ItemError: ``latex.unreadable`` if the structure is broken or a command is not known.
    """
    faults = structure_errors(latex)
    if faults:
        raise ItemError("latex.unreadable", f"cannot show the formula {shorten(latex)}: {'; '.join(faults)}")
    from latex2mathml.converter import convert

    try:
        xml = convert(_prepared(latex), display="block" if display else "inline")
        root = ElementTree.fromstring(xml)  # noqa: S314 - made by the converter; it cannot declare entities
        for element in root.iter():
            _clean(element)
    except Exception as error:
        raise ItemError("latex.unreadable", f"cannot show the formula {shorten(latex)}: {shorten(error)}") from error
    root.set("xmlns", _MATHML)
    return ElementTree.tostring(root, encoding="unicode")


def _prepared(latex: str) -> str:
    text = normalise_arguments(latex).replace("<", _LESS).replace(">", _GREATER)
    # The converter sets a single roman letter in italics unless it is written in the old way.
    text = re.sub(r"\\mathrm\{\s*([A-Za-z])\s*\}", r"{\\rm \1}", text)
    text = re.sub(r"\\begin\{alignedat\}\s*\{\d+\}", r"\\begin{alignedat}", text)
    return re.sub(r"\\(begin|end)\{([a-z]+\*?)\}", lambda m: rf"\{m[1]}{{{_ENVIRONMENTS.get(m[2], m[2])}}}", text)


def _clean(element: ElementTree.Element) -> None:
    """Keep known elements and attributes only, and write styled letters as Unicode, which is what browsers draw."""
    name = element.tag.removeprefix(f"{{{_MATHML}}}")
    if name not in _ELEMENTS:
        raise ValueError(f"element {shorten(name, limit=20)} is not allowed")
    text = (element.text or "").replace(_LESS, "<").replace(_GREATER, ">")
    if len(text) > 1 and text.startswith("\\") and name != "mtext":
        raise ValueError(f"command {shorten(text, limit=30)} is not known")
    variants = _VARIANT_NAMES.get(element.attrib.get("mathvariant", ""))
    if variants is not None:
        text = "".join(_styled(char, variants) for char in text)
        del element.attrib["mathvariant"]
    if name == "mi" and text == "~":
        text = "∼"
    if name == "mi" and text in _RELATIONS:
        name = "mo"
    element.tag, element.text = name, text
    for key in [key for key in element.attrib if key not in _ATTRIBUTES]:
        del element.attrib[key]


def _styled(char: str, variants: Sequence[str]) -> str:
    """Return the mathematical letter for a plain one: bold A for A; the same character if Unicode has none."""
    name = unicodedata.name(char, "")
    for family in ("LATIN ", "GREEK "):
        name = name.removeprefix(family)
    name = name.replace(" LETTER", "")
    for variant in variants:
        try:
            return unicodedata.lookup(f"{variant} {name}")
        except KeyError:
            continue
    return char
