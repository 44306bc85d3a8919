"""Puts the lines of a row, and the fractions and roots inside it, into one sequence of glyphs.

Used by ``engines/structure.py`` for formulas and by ``stages/transcribe.py`` for rows of text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from physelite_build.engines.structure.glyphs import Glyph, is_cjk, span_em
from physelite_build.engines.structure.ink import Blob
from physelite_build.engines.structure.pairing import line_glyphs
from physelite_build.records import Line

__all__ = ["SIGNS", "row_glyphs"]

SIGNS = {"二": "=", "一": "−", "十": "+", "三": "≡", "丨": "|", "《": "≪", "》": "≫"}
"""Signs that the text engine takes for Chinese characters when they stand alone."""
FENCE_EM = 1.2
"""Brackets around fractions are higher than those of the line (1.0 em)."""
NEAR_PIECE_EM = 0.8
"""A sign beside a fraction is at most this far from it."""
AXIS_EM = 0.25
"""Height of fraction bars above the line."""
RAISED_EM = 0.3
"""A bar this much higher belongs to an exponent (TeX: 0.45 em)."""
_FENCE = "\0"
"""A tall bracket whose side is not known yet."""


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
        around = (glyphs[index - 1].text, glyphs[index + 1].text)
        numbered = around[0] in "(（" and around[1] in ")）"
        if glyphs[index].text in SIGNS and not numbered and not any(is_cjk(text) for text in around):
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
        (abs(g.x - place.x), g.blob.bottom + span_em(g.text)[1] * em)
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
