"""Is a character a subscript, a superscript or on the line?

The ink decides where it can be measured; comes after ``engines/pairing.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from physelite_build.engines.structure.glyphs import AXIS, Glyph, span_em
from physelite_build.engines.structure.ink import Blob

__all__ = ["settle_levels"]

LOW_EM = -0.10
HIGH_EM = 0.13
"""Centre of a glyph against its place on the line. TeX lowers by 0.15 em and raises by 0.29 to 0.41 em; a glyph of
70 % size therefore moves by -0.2 and by more than +0.19 em."""
SCRIPT_SIZE = 0.9
"""A script glyph is at most this share of its height on the line (TeX: 0.7, blurred pixels add to small glyphs)."""
INTEGRAL_EM = 1.6
"""Integral signs are 1.1 em high in a line and 2.2 em in a display; letters at most 0.95 em."""
SMALL_LETTER_EM = 0.52
CAPITAL_EM = 0.62
"""Between the heights of small letters (0.44 em) and capitals (0.68 em), with a gap for blur."""
_ON_THE_LINE = frozenset(";:!?；：，。、！？")
"""Marks that hang low but never are a script; stops and commas may be, between indices."""
_TIGHT = ")]}'′*+-−"
"""After these a character may be a script: first those that end an operand, then signs of exponents."""


def settle_levels(glyphs: Sequence[Glyph], em: float) -> list[Glyph]:
    """Decide which glyphs stand low or high.

    Args:
        glyphs: A run without Chinese, from left to right, paired with ink where possible.
        em: Type size of the row in pixels.

    Returns:
        The same glyphs; level None is left only where there is no ink to measure.
    """
    if not any(g.blob for g in glyphs):
        return list(glyphs)
    size, baseline = _baseline(glyphs, em)
    out = [_measured(glyph, size, baseline) for glyph in glyphs]
    for index, glyph in enumerate(out):
        low = glyph.blob is not None and baseline - glyph.blob.y < 0.3 * size
        if glyph.text in "°∘" and low and not (index and out[index - 1].text.isdigit()):
            out[index] = replace(glyph, text="。", level=0)
            continue
        before = out[index - 1].level if index else 0
        after = out[index + 1].level if index + 1 < len(out) else 0
        if (index == 0 and glyph.level) or glyph.text in _ON_THE_LINE:
            out[index] = replace(glyph, level=0)
        elif glyph.text in ".,()/" and not (glyph.level and before == glyph.level == (after or before)):
            inside = before if before and before == after else 0
            out[index] = replace(glyph, level=inside)
        elif glyph.text in AXIS and glyph.level and not _fits(glyph, before, after):
            out[index] = replace(glyph, level=0)
    return [_cased(glyph, out, em) if _stands_alone(out, i) else glyph for i, glyph in enumerate(out)]


def _stands_alone(glyphs: Sequence[Glyph], index: int) -> bool:
    """Say whether no letter touches this one: letters of words keep their case."""
    before, after = glyphs[max(0, index - 1) : index], glyphs[index + 1 : index + 2]
    left = any(g.text.isalpha() and glyphs[index].gap_em < 0.2 for g in before)
    right = any(g.text.isalpha() and g.gap_em < 0.2 for g in after)
    return not left and not right


def _cased(glyph: Glyph, row: Sequence[Glyph], em: float) -> Glyph:
    """Tell capitals from small letters of the same shape by their height beside the other letters."""
    if glyph.blob is None or glyph.level or glyph.text.lower() not in "cosuvwxz" or not glyph.is_symbol:
        return glyph
    others = [
        g.blob.height / (span_em(g.text)[0] - span_em(g.text)[1])
        for g in row
        if g is not glyph and g.blob is not None and g.is_symbol and not g.level
    ]
    share = glyph.blob.height / (median(others) if len(others) > 1 else em)
    if share < SMALL_LETTER_EM and glyph.text.isupper():
        return replace(glyph, text=glyph.text.lower())
    if len(others) > 1 and share > CAPITAL_EM and glyph.text.islower():
        return replace(glyph, text=glyph.text.upper())
    return glyph


def _fits(sign: Glyph, before: int | None, after: int | None) -> bool:
    """Say whether a sign may stand low or high between such neighbours: only a raised + or - needs just one of them."""
    if sign.text in "+-−–" and sign.level == 1:
        return after == 1 or before in (1, -1) or after is None
    return before == sign.level == after


def _baseline(glyphs: Sequence[Glyph], em: float) -> tuple[float, float]:
    """Measure type size and baseline on characters that can only stand on the line."""
    sure: list[tuple[Glyph, Blob]] = []
    likely: list[tuple[Glyph, Blob]] = []
    for index, glyph in enumerate(glyphs):
        before = glyphs[index - 1].text if index else " "
        if glyph.blob is None or not glyph.is_symbol or glyph.text in "f":
            continue
        if not index or before not in _TIGHT or glyph.gap_em >= 0.2:
            if not before.isalnum() or glyph.gap_em >= 0.2:
                sure.append((glyph, glyph.blob))
        elif before in _TIGHT[5:]:
            likely.append((glyph, glyph.blob))
    sure = sure or likely
    if not sure:
        measured = [(g, g.blob) for g in glyphs if g.blob is not None]
        return em, median(b.bottom + span_em(g.text)[1] * em for g, b in measured)
    sizes = [b.height / (span_em(g.text)[0] - span_em(g.text)[1]) for g, b in sure]
    size = min(1.35 * em, max(0.6 * em, median(sizes)))
    return size, median(b.bottom + span_em(g.text)[1] * size for g, b in sure)


def _measured(glyph: Glyph, size: float, baseline: float) -> Glyph:
    if glyph.blob is None or glyph.level is not None:
        return glyph
    if glyph.text in "'′°∘*":
        return replace(glyph, level=1)
    if glyph.text in "JfjS∫" and glyph.blob.height > INTEGRAL_EM * size and glyph.blob.height > 2 * glyph.blob.width:
        return replace(glyph, text="∫", level=0)
    blob = glyph.blob
    glyph = replace(glyph, text=_wide_sign(glyph.text, blob))
    top, bottom = span_em(glyph.text)
    shift = (baseline - blob.y) / size - (top + bottom) / 2
    if glyph.text in "oO" and shift < LOW_EM / 2 and blob.height < 0.55 * size:
        return replace(glyph, level=-1)  # a small 0
    small = blob.height <= SCRIPT_SIZE * (top - bottom) * size or not glyph.is_symbol
    level = 0
    if small and shift < LOW_EM:
        level = -1
    elif small and shift > HIGH_EM:
        level = 1
    return replace(glyph, level=level)


def _wide_sign(text: str, blob: Blob) -> str:
    """Return the sign that was taken for a digit: no digit is as wide as it is high."""
    if text not in "48" or blob.width <= 0.85 * blob.height:
        return text
    if blob.width > 1.3 * blob.height:
        return "∞" if text == "8" else text
    return "+" if 0 < blob.ink < 0.4 * blob.width * blob.height else text
