r"""How characters with levels are written in LaTeX: symbols, function names, scripts and units.

Works on :class:`physelite_build.engines.glyphs.Glyph`; used for formulas in lines and on their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from physelite_build.engines.structure.glyphs import Glyph, is_cjk

__all__ = ["FUNCTIONS", "SYMBOLS", "UNIT", "latex_of"]

FUNCTIONS = (
    *("arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "sin", "cos", "tan", "cot", "sec", "csc"),
    *("ln", "lg", "log", "exp", "max", "min", "lim"),
)
"""Names set upright, longest first where one begins another."""

SYMBOLS = {
    **dict(
        zip(
            "αβγδεζηθικλμνξπρστυφχψωϕϵϑ",
            "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon "
            "varphi chi psi omega phi epsilon vartheta".split(),
            strict=True,
        )
    ),
    **dict(zip("ΓΔΘΛΞΠΣΥΦΨΩ", "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split(), strict=True)),
    **dict(
        zip(
            "×·÷±∓≤≥⩽⩾≪≫≈≃∼≠≡∝∞→←⇒⇔↔∂∇∫∮∑∏√∈⊥∥∠△∆ℏℓ⋅∙•⊙☉º",
            "times cdot div pm mp le ge le ge ll gg approx simeq sim ne equiv propto infty to leftarrow Rightarrow "
            "Leftrightarrow leftrightarrow partial nabla int oint sum prod surd in perp parallel angle triangle Delta "
            "hbar ell cdot cdot cdot odot odot circ".split(),
            strict=True,
        )
    ),
    **dict(zip("µΩ…⋯°′∘～~", "mu Omega dots cdots circ prime circ sim sim".split(), strict=True)),
}
_PLAIN = {"−": "-", "–": "-", "—": "-", "＝": "=", "＋": "+", "％": r"\%", "%": r"\%", "｜": "|", "∣": "|", "∗": "*"}
_PLAIN |= {"（": "(", "）": ")", "，": ",", "：": ":", "；": ";", "。": ".", "、": ",", "＜": "<", "＞": ">", "．": "."}
_PLAIN |= {
    "{": r"\{",
    "}": r"\}",
    "#": r"\#",
    "&": r"\&",
    "_": r"\_",
    "$": r"\$",
    "\\": r"\backslash ",
    "^": r"\wedge ",
}
_PLAIN |= {"ﬁ": "fi", "²": "^{2}", "【": "[", "】": "]", "”": "''", "“": "''", "’": "'", "‘": "'", '"': "''", "`": "'"}
_LOW_LOOKALIKES = {"o": "0", "O": "0", "ρ": "p", "。": "0", "l": "1"}
"""What the text engine makes of small digits (measured: ``V0`` is read as ``Vo``)."""

_ACCENTS = {1: "dot", 2: "ddot"}

_PREFIX = r"(?:[kMGTmnpcdf]|\\mu ?)?"
_ATOM = rf"(?:{_PREFIX}(?:Hz|eV|Pa|Wb|mol|rad|\\Omega|[msgAVKNJCTWFHL])|kg|cm|mm|min|sr|cd)"
_POWER = r"(?:\^\{?-?\d\}?)?"
UNIT = rf"(?:{_ATOM}{_POWER}(?: ?(?:\\cdot ?|/|\.) ?{_ATOM}{_POWER})*)"
_NUMBER = r"(?<![A-Za-z\d_^.{])(?P<number>\d+(?:\.\d+)?(?: ?\\times ?10\^\{?-?\d+\}?|(?<=10)\^\{?-?\d+\}?)?)"
_WITH_UNIT = re.compile(rf"{_NUMBER}(?P<space> ?)(?P<unit>{UNIT})(?P<rest>(?![A-Za-z\d_^(\\]| *\\[a-z]))")
_EXPONENT = re.compile(r"(?P<times>[×xX·]?)(?<!\d)10(?P<power>[-−–~]?\d{1,2})(?![\d.])")
_SQUARE = re.compile(r"\d(?:m|cm|km|rad|kg)[/·.](?:s|m|cm|kg)[23](?!\d)")
"""The power of a unit that was read flat: ``m/s2``."""
_TEN = re.compile(r"(?P<ten>\\times ?10) ?(?P<power>-? ?\d{1,2})(?![\d.^])")


def latex_of(glyphs: Sequence[Glyph]) -> str:
    """Write glyphs as LaTeX.

    Args:
        glyphs: One formula, or a simple piece of one, from left to right.

    Returns:
        LaTeX without delimiters with balanced braces; empty for no glyphs.
    """
    out: list[str] = []
    level: int = 0
    group: list[Glyph] = []
    last = {1: False, -1: False}
    for glyph in [*_with_textual_levels(glyphs), None]:
        now = 0 if glyph is None else glyph.level or 0
        if glyph is None or now != level:
            if level and group:
                out.append(_script(group, level, double=last[level]))
                last[level] = True
            elif group:
                run = _plain_run(group)
                again = run[:1] in ("_", "^") and (last[1] or last[-1])
                out.append(("{}" if again else "") + run)
                ends = group[-1].is_latex and group[-1].text[:1] in ("_", "^")
                last = {1: ends, -1: ends}
            level, group = now, []
        if glyph is not None:
            group.append(glyph)
    return _polish("".join(out))


def _script(group: Sequence[Glyph], level: int, *, double: bool) -> str:
    inner = _plain_run(group, low=level < 0).strip()
    if level > 0 and inner.strip("\\prime ") == "":
        return "'" * max(1, inner.count("prime"))
    if level > 0 and set(inner) == {"'"}:
        return inner
    body = f"{{{inner}}}" if len(inner) != 1 else inner
    return ("{}" if double else "") + ("^" if level > 0 else "_") + body


def _plain_run(group: Sequence[Glyph], *, low: bool = False) -> str:
    """Write glyphs of one level one after the other."""
    out: list[str] = []
    index = 0
    while index < len(group):
        glyph = group[index]
        name = _function_at(group, index)
        if glyph.gap_em > 1.4 and out:
            out.append(r"\qquad ")
        elif glyph.gap_em >= 0.2 and out:
            out.append(" ")
        if glyph.is_latex:
            out.append(glyph.text)
        elif glyph.text in ":：" and index + 1 < len(group) and group[index + 1].text == "=":
            out.append(r"\coloneqq ")
            index += 1
        elif glyph.text == "√":
            radicand = _radicand(group, index + 1)
            out.append(rf"\sqrt{{{_plain_run(group[index + 1 : radicand])}}}" if radicand > index + 1 else r"\surd ")
            index = max(index, radicand - 1)
        elif name and not low:
            out.append(f"\\{name} ")
            index += len(name) - 1
        elif name:
            out.append(rf"\mathrm{{{name}}}")
            index += len(name) - 1
        elif glyph.blob is not None and _is_accented(glyph):
            out.append(f"{chr(92)}{_ACCENTS[min(2, glyph.blob.dots)]}{{{_symbol(glyph.text).strip()}}}")
        else:
            text = _LOW_LOOKALIKES.get(glyph.text, glyph.text) if low and len(group) == 1 else glyph.text
            out.append(_symbol(text))
        index += 1
    return "".join(out)


def _is_accented(glyph: Glyph) -> bool:
    """Say whether dots stand above a letter; a single one above a capital is dirt."""
    dots = glyph.blob.dots if glyph.blob is not None else 0
    return (
        glyph.text.isalpha()
        and glyph.text not in "ij"
        and (dots > 1 or (dots == 1 and glyph.text.islower() and not glyph.level))
    )


def _radicand(group: Sequence[Glyph], start: int) -> int:
    """Return where the number or the letter under a root sign without a visible roof ends."""
    end = start
    while end < len(group) and group[end].text.isdigit():
        end += 1
    return end if end > start or end >= len(group) or not group[end].is_symbol else end + 1


def _function_at(group: Sequence[Glyph], index: int) -> str:
    text = "".join(g.text if len(g.text) == 1 else "\0" for g in group[index : index + 6])
    return next((name for name in FUNCTIONS if text.startswith(name)), "")


def _symbol(text: str) -> str:
    if text in SYMBOLS:
        return f"\\{SYMBOLS[text]} "
    if text in _PLAIN:
        return _PLAIN[text]
    return rf"\text{{{text}}}" if is_cjk(text) else text


def _with_textual_levels(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Decide what the ink could not tell: a digit right after a letter is its subscript, 10 carries an exponent."""
    out: list[Glyph] = []
    for index, glyph in enumerate(glyphs):
        level = 1 if glyph.text in "°′∘" else glyph.level
        before = out[index - 1] if index else None
        if glyph.text == "*" and level is None and before is not None and before.is_symbol:
            level = 1
        if not level and before is not None and glyph.text.isdigit() and glyph.gap_em < 0.2:
            letter = before.is_symbol and not before.text.isdigit() and not before.level
            continues = before.text.isdigit() and before.level == -1 and glyph.level is None
            level = -1 if (letter and not _ends_function(out)) or continues else 0
        out.append(replace(glyph, level=level or 0))
    text = "".join(g.text if len(g.text) == 1 else "\0" for g in out)
    for match in _SQUARE.finditer(text):
        out[match.end() - 1] = replace(out[match.end() - 1], level=1)
    for match in _EXPONENT.finditer(text):
        start, end = match.span("power")
        if match["times"] or any(g.level == 1 for g in out[start:end]):
            out[start:end] = [replace(g, level=1) for g in out[start:end]]
    return out


def _ends_function(glyphs: Sequence[Glyph]) -> bool:
    text = "".join(g.text for g in glyphs[-6:])
    return text.endswith(FUNCTIONS)


def _polish(latex: str) -> str:
    text = re.sub(r" {2,}", " ", latex).strip()
    text = _TEN.sub(lambda m: f"{m['ten']}^{{{m['power'].replace(' ', '')}}}", text)
    text = re.sub(r"(\\times ?10)\\sim ?(\d+)", r"\1^{-\2}", text)
    text = _WITH_UNIT.sub(_unit, text)
    text = re.sub(r"(\\[a-zA-Z]+) (?=[A-Za-z])", "\\1\0", text).replace(" ", "").replace("\0", " ")
    return re.sub(r"\^\{?\\circ\}? ?C\b", r"^{\\circ}\\mathrm{C}", text)


def _unit(match: re.Match[str]) -> str:
    number, unit, space = match["number"], match["unit"], match["space"]
    simple = len(unit) == 1
    if simple and not space and len(number) == 1:
        before = match.string[: match.start()].rstrip()
        if not before.endswith(("=", "approx", "<", ">", "le", "ge")) or match.string[match.end() :].strip():
            return match[0]
    unit = re.sub(r" ?\. ?", r"\\cdot ", unit.replace(" ", "") if "\\" not in unit else unit)
    return rf"{number}\,\mathrm{{{unit.strip()}}}"
