"""Which ink belongs to which recognised character, and is it a subscript, a superscript or on the line?

The text engine returns characters with rough places; this module pairs them with the ink of the row. Its neighbours are
``engines/ink.py`` (ink) and ``engines/notation.py`` (LaTeX).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from physelite_build.engines.ink import Blob
from physelite_build.records import Line

__all__ = ["SIGNS", "Glyph", "is_cjk", "line_glyphs", "row_glyphs", "settle_levels"]

FAR_EM = 1.6
"""Characters are placed within about one em by the text engine; ink farther away is another character."""
SKIP_CHARACTER = 0.9
SKIP_BLOB = 0.45
TOUCHING = 0.35
BROKEN = 0.3
"""Costs of the alignment in em; a displacement of one em costs 1."""
SIGNS = {"二": "=", "一": "−", "十": "+", "三": "≡", "丨": "|", "《": "≪", "》": "≫"}
"""Signs that the text engine takes for Chinese characters when they stand alone."""
LOW_EM = -0.10
HIGH_EM = 0.13
"""Centre of a glyph against its place on the line. TeX lowers by 0.15 em and raises by 0.29 to 0.41 em; a glyph of
70 % size therefore moves by -0.2 and by more than +0.19 em."""
SCRIPT_SIZE = 0.9
"""A script glyph is at most this share of its height on the line (TeX: 0.7, blurred pixels add to small glyphs)."""

INTEGRAL_EM = 1.6
"""Integral signs are 1.1 em high in a line and 2.2 em in a display; letters at most 0.95 em."""
FENCE_EM = 1.2
"""Brackets around fractions are higher than those of the line (1.0 em)."""
NEAR_PIECE_EM = 0.8
"""A sign beside a fraction is at most this far from it."""
SURE_GAP_EM = 0.45
"""White space this wide is a blank even if the text engine read none (blanks between words: 0.25 to 0.33 em)."""
AXIS_EM = 0.25
"""Height of fraction bars above the line."""
RAISED_EM = 0.3
"""A bar this much higher belongs to an exponent (TeX: 0.45 em)."""

SMALL_LETTER_EM = 0.52
CAPITAL_EM = 0.62
"""Between the heights of small letters (0.44 em) and capitals (0.68 em), with a gap for blur."""

_X = "iacemnorsuvwxzαεικνοπστυω"
_HIGH = "bdhkltθλδ∂"
_DEEP = "jgpqyγμµρχη"
_BOTH = "fβφψξζϕ|()[]{}/∫"
_AXIS = "+-−–—=<>≤≥≈∼~×→←±∓∝∈·÷≪≫≡"
_SPANS = {
    **dict.fromkeys(_X, (0.44, 0.0)),
    **dict.fromkeys(_HIGH, (0.69, 0.0)),
    **dict.fromkeys(_DEEP, (0.44, -0.2)),
    **dict.fromkeys(_BOTH, (0.72, -0.22)),
    **dict.fromkeys(_AXIS, (0.45, 0.05)),
    "Q": (0.69, -0.19),
    ",": (0.1, -0.19),
    ".": (0.1, 0.0),
    "∞": (0.44, 0.0),
}
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n", strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True))
_FENCE = "\0"
"""A tall bracket whose side is not known yet."""
_TIGHT = ")]}'′*+-−"
"""After these a character may be a script: first those that end an operand, then signs of exponents."""
_THIN = frozenset("-−–—=·.,'′`:;~∼_")


@dataclass(frozen=True, slots=True)
class Glyph:
    """One character of a row, or one finished piece of LaTeX standing in its place."""

    text: str
    """One character, or LaTeX if ``is_latex``."""
    x: float
    """Horizontal centre in pixels of the picture."""
    level: int | None = 0
    """0 on the line, 1 superscript, -1 subscript; None if the ink does not tell."""
    blob: Blob | None = None
    gap_em: float = 0.0
    """Width of the white space before it, in em."""
    is_latex: bool = False

    @property
    def is_symbol(self) -> bool:
        """True for letters and digits of formulas, of any script but Chinese."""
        return not self.is_latex and self.text.isalnum() and not is_cjk(self.text)


def is_cjk(text: str) -> bool:
    """Say whether a character is Chinese, Chinese punctuation, a circled number or a full-width sign."""
    code = ord(text[0])
    return 0x2460 <= code <= 0x24FF or 0x2E80 <= code <= 0xA4CF or 0xF900 <= code <= 0xFAFF or 0xFE30 <= code <= 0xFFEF


def line_glyphs(line: Line, blobs: Sequence[Blob], em: float) -> list[Glyph]:
    """Pair the characters of a line with ink.

    Args:
        line: What the text engine read.
        blobs: Ink of the row in the pixels of the line, strokes joined, without fractions and roots.
        em: Type size in pixels.

    Returns:
        Every character but spaces, from left to right, with measured levels.
    """
    glyphs = _placed(line, em)
    start = 0
    while start < len(glyphs):
        end = start
        while end < len(glyphs) and is_cjk(glyphs[end].text) == is_cjk(glyphs[start].text):
            end += 1
        if not is_cjk(glyphs[start].text):
            left = glyphs[start - 1].x + 0.4 * em if start else line.box.left - 0.5 * em
            right = glyphs[end].x - 0.4 * em if end < len(glyphs) else line.box.right + 0.5 * em
            middle_y = (line.box.top + line.box.bottom) / 2
            near = [b for b in blobs if left < b.x < right and abs(b.y - middle_y) < 0.75 * line.box.height]
            glyphs[start:end] = settle_levels(_align(glyphs[start:end], near, em), em)
        start = end
    return glyphs


def _placed(line: Line, em: float) -> list[Glyph]:
    """Spread the characters over the boxes of their pieces."""
    pieces: list[tuple[str, float, float]] = [(c.text, c.box.left, c.box.right) for c in line.chars]
    if "".join(p[0] for p in pieces).replace(" ", "") != line.text.replace(" ", ""):
        pieces = [(line.text, line.box.left, line.box.right)]
    glyphs: list[Glyph] = []
    spaces = 0
    for text, left, right in pieces:
        weights = [1.0 if is_cjk(c) else 0.5 for c in text]
        place = left
        for char, weight in zip(text, weights, strict=True):
            width = (right - left) * weight / sum(weights)
            if char.isspace():
                spaces += 1
            else:
                plain, level = _plain(char)
                glyphs.append(Glyph(plain, place + width / 2, level, gap_em=0.25 * min(1, spaces)))
                spaces = 0
            place += width
    return glyphs


def _plain(char: str) -> tuple[str, int | None]:
    if char in _SUPERSCRIPTS:
        return _SUPERSCRIPTS[char], 1
    if char in _SUBSCRIPTS:
        return _SUBSCRIPTS[char], -1
    if is_cjk(char):
        return char, 0
    return unicodedata.normalize("NFC", char), None


def _align(glyphs: list[Glyph], blobs: Sequence[Blob], em: float) -> list[Glyph]:
    """Pair characters and ink in order at least cost (dynamic programming)."""
    n, m = len(glyphs), len(blobs)
    best = [[float("inf")] * (m + 1) for _ in range(n + 1)]
    back: list[list[tuple[int, int]]] = [[(0, 0)] * (m + 1) for _ in range(n + 1)]
    best[0][0] = 0.0

    def offer(i: int, j: int, cost: float, di: int, dj: int) -> None:
        if cost < best[i + di][j + dj]:
            best[i + di][j + dj] = cost
            back[i + di][j + dj] = (di, dj)

    for i in range(n + 1):
        for j in range(m + 1):
            cost = best[i][j]
            if cost == float("inf"):
                continue
            if j < m:
                offer(i, j, cost + SKIP_BLOB, 0, 1)
            if i == n:
                continue
            offer(i, j, cost + SKIP_CHARACTER, 1, 0)
            if j == m or abs(blobs[j].x - glyphs[i].x) > FAR_EM * em:
                continue
            offer(i, j, cost + _misfit(glyphs[i], blobs[j], em), 1, 1)
            if j + 1 < m and blobs[j + 1].left - blobs[j].right < 0.12 * em:
                offer(i, j, cost + BROKEN + _misfit(glyphs[i], blobs[j].union(blobs[j + 1]), em), 1, 2)
            if i + 1 < n and blobs[j].width > 0.6 * em:
                middle = (glyphs[i].x + glyphs[i + 1].x) / 2
                offer(i, j, cost + TOUCHING + abs(middle - blobs[j].x) / em, 2, 1)
    return _traced(glyphs, blobs, back, em)


def _traced(
    glyphs: Sequence[Glyph], blobs: Sequence[Blob], back: Sequence[Sequence[tuple[int, int]]], em: float
) -> list[Glyph]:
    out: list[Glyph] = []
    i, j = len(glyphs), len(blobs)
    while i or j:
        di, dj = back[i][j]
        for index in range(i - 1, i - di - 1, -1):
            glyph = glyphs[index]
            if dj and di == 1:
                blob = blobs[j - 1] if dj == 1 else blobs[j - 2].union(blobs[j - 1])
                glyph = replace(glyph, blob=blob, x=blob.x)
            out.append(glyph)
        i, j = i - di, j - dj
    out.reverse()
    for index in range(1, len(out)):
        left, right = out[index - 1].blob, out[index].blob
        if left is not None and right is not None:
            gap = (right.left - left.right) / em
            blank = out[index].gap_em > 0 or gap > SURE_GAP_EM
            out[index] = replace(out[index], gap_em=max(gap, 0.2) if blank else min(gap, 0.17))
    return out


def _misfit(glyph: Glyph, blob: Blob, em: float) -> float:
    """Cost of calling a blob this character: distance, and a size that cannot be."""
    cost = abs(glyph.x - blob.x) / em
    if glyph.text in _THIN:
        cost += 0.6 * (blob.height > 0.45 * em)
        cost += 0.4 * (glyph.text in "-−–—=" and blob.width < 0.25 * em)
        cost += 0.4 * (glyph.text in ".,·'′" and blob.width > 0.3 * em)
    else:
        cost += 0.6 * (blob.height < 0.2 * em) + 0.4 * (blob.width > 1.3 * em)
        cost += 0.3 * (glyph.text in "mwMW+ω" and blob.width < 0.3 * em)
        cost += 0.3 * (glyph.text in "()[]|1ilI" and blob.width > 0.5 * em)
    return cost


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
        if index == 0 and glyph.level:
            out[index] = replace(glyph, level=0)
        elif glyph.text in ".,()/" and not (glyph.level and before == glyph.level == (after or before)):
            inside = before if before and before == after else 0
            out[index] = replace(glyph, level=inside)
        elif glyph.text in _AXIS and glyph.level and not _fits(glyph, before, after):
            out[index] = replace(glyph, level=0)
    return [_cased(glyph, out, em) for glyph in out]


def _cased(glyph: Glyph, row: Sequence[Glyph], em: float) -> Glyph:
    """Tell capitals from small letters of the same shape by their height beside the other letters."""
    if glyph.blob is None or glyph.level or glyph.text.lower() not in "cosuvwxz" or not glyph.is_symbol:
        return glyph
    others = [
        g.blob.height / (_span(g.text)[0] - _span(g.text)[1])
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
        return em, median(b.bottom + _span(g.text)[1] * em for g, b in measured)
    sizes = [b.height / (_span(g.text)[0] - _span(g.text)[1]) for g, b in sure]
    size = min(1.35 * em, max(0.6 * em, median(sizes)))
    return size, median(b.bottom + _span(g.text)[1] * size for g, b in sure)


def _span(text: str) -> tuple[float, float]:
    return _SPANS.get(text, (0.67, 0.0))


def _measured(glyph: Glyph, size: float, baseline: float) -> Glyph:
    if glyph.blob is None or glyph.level is not None:
        return glyph
    if glyph.text in "'′°∘*":
        return replace(glyph, level=1)
    if glyph.text in "JfjS∫" and glyph.blob.height > INTEGRAL_EM * size and glyph.blob.height > 2 * glyph.blob.width:
        return replace(glyph, text="∫", level=0)
    top, bottom = _span(glyph.text)
    shift = (baseline - glyph.blob.y) / size - (top + bottom) / 2
    if glyph.text in "oO" and shift < LOW_EM / 2 and glyph.blob.height < 0.55 * size:
        return replace(glyph, level=-1)  # a small 0
    small = glyph.blob.height <= SCRIPT_SIZE * (top - bottom) * size or not glyph.is_symbol
    level = 0
    if small and shift < LOW_EM:
        level = -1
    elif small and shift > HIGH_EM:
        level = 1
    return replace(glyph, level=level)


def row_glyphs(
    lines: Sequence[Line], blobs: Sequence[Blob], pieces: Sequence[tuple[Blob, str, float | None]], em: float
) -> list[Glyph]:
    """Put the lines of a row and the finished pieces inside it into one sequence.

    Args:
        lines: What the text engine read in the row.
        blobs: Ink of the row without the pieces, strokes joined, in the same pixels.
        pieces: Place, LaTeX and height of the bar (None for a root) of each fraction or root.
        em: Type size in pixels.

    Returns:
        Glyphs from left to right. Characters that the text engine saw inside a piece, or twice, are dropped.
    """
    glyphs: list[Glyph] = []
    used: set[Blob] = set()
    for line in sorted(lines, key=lambda item: item.box.left):
        fresh = [g for g in line_glyphs(line, blobs, em) if g.blob is None or g.blob not in used]
        used.update(g.blob for g in fresh if g.blob is not None)
        glyphs += fresh
    for place, latex, axis in pieces:
        if latex:
            glyphs = [g for g in glyphs if not _is_seen_twice(g, place, em)]
            glyphs.append(Glyph(latex, place.x, _piece_level(glyphs, place, axis, em), place, is_latex=True))
    if pieces:
        glyphs += _bare_signs(glyphs, blobs, em)
    glyphs.sort(key=lambda g: g.x)
    glyphs = [_with_gap(glyphs[i - 1] if i else None, glyph, em) for i, glyph in enumerate(glyphs)]
    for index in range(1, len(glyphs) - 1):
        if glyphs[index].text in SIGNS and not any(is_cjk(glyphs[i].text) for i in (index - 1, index + 1)):
            glyphs[index] = replace(glyphs[index], text=SIGNS[glyphs[index].text])
    return glyphs


def _with_gap(before: Glyph | None, glyph: Glyph, em: float) -> Glyph:
    """Measure the white space where two lines, or a line and a piece, meet."""
    if before is None or before.blob is None or glyph.blob is None:
        return glyph
    gap = (glyph.blob.left - before.blob.right) / em
    return replace(glyph, gap_em=gap) if gap > 1.4 or glyph.is_latex or before.is_latex else glyph


def _is_seen_twice(glyph: Glyph, place: Blob, em: float) -> bool:
    if glyph.is_latex:
        return False
    if glyph.text == "√":
        return place.left - 1.2 * em < glyph.x < place.right
    return glyph.blob is None and place.left < glyph.x < place.right


def _piece_level(glyphs: Sequence[Glyph], place: Blob, axis: float | None, em: float) -> int:
    """Say whether a fraction stands on the line or in an exponent."""
    feet = [
        (abs(g.x - place.x), g.blob.bottom + _span(g.text)[1] * em)
        for g in glyphs
        if g.blob is not None and g.level == 0 and g.is_symbol
    ]
    if axis is None or not feet:
        return 0
    rise = (median(foot for _, foot in sorted(feet)[:5]) - axis) / em - AXIS_EM
    return 1 if rise > RAISED_EM else 0


def _bare_signs(glyphs: Sequence[Glyph], blobs: Sequence[Blob], em: float) -> list[Glyph]:
    """Name the signs that stand alone between fractions, where no text engine finds them."""
    known = [g.blob for g in glyphs if g.blob is not None]
    pieces = [g.blob for g in glyphs if g.is_latex and g.blob is not None]
    chinese = [g.x for g in glyphs if is_cjk(g.text)]
    signs = []
    for blob in blobs:
        near = any(-0.2 * em < max(p.left - blob.right, blob.left - p.right) < NEAR_PIECE_EM * em for p in pieces)
        if not near or any(abs(blob.x - x) < 0.6 * em for x in chinese):
            continue
        text = _sign(blob, em)
        if not text or any(b.left - 2 <= blob.x <= b.right + 2 for b in known):
            continue
        if not any(abs(g.x - blob.x) < 0.6 * em and g.text in "=-−–—+" for g in glyphs):
            signs.append(Glyph(text, blob.x, 0, blob, 0.2))
    ordered = sorted([*glyphs, *signs], key=lambda g: g.x)
    depth, closed = 0, []
    for glyph in ordered:
        text = glyph.text
        if text == _FENCE:
            text = ")" if depth > 0 else "("
            closed.append(replace(glyph, text=text))
        elif glyph in signs:
            closed.append(glyph)
        depth += (text in "([（") - (text in ")]）") if len(text) == 1 else 0
    return closed


def _sign(blob: Blob, em: float) -> str:
    if blob.height > FENCE_EM * em and blob.width < 0.45 * blob.height:
        return "|" if blob.width < 0.15 * em else _FENCE
    if not 0.4 * em <= blob.width <= 1.1 * em:
        return ""
    if blob.height <= 0.18 * em:
        return "−"
    if blob.height <= 0.5 * em and blob.height < 0.75 * blob.width:
        return "="
    plus = 0.8 * blob.width < blob.height < 1.25 * blob.width and blob.ink < 0.4 * blob.width * blob.height
    return "+" if plus and blob.ink else ""
