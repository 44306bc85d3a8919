"""Which ink belongs to which recognised character?

The text engine returns characters with rough places; this module pairs them with the ink of the row. Comes after
``engines/ink.py`` and before ``engines/levels.py``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from physelite_build.engines.structure.glyphs import Glyph, is_cjk
from physelite_build.engines.structure.ink import Blob
from physelite_build.engines.structure.levels import settle_levels
from physelite_build.records import Line

__all__ = ["line_glyphs"]

FAR_EM = 1.6
"""Characters are placed within about one em by the text engine; ink farther away is another character."""
SKIP_CHARACTER = 0.9
SKIP_BLOB = 0.45
TOUCHING = 0.35
BROKEN = 0.3
"""Costs of the alignment in em; a displacement of one em costs 1."""
SURE_GAP_EM = 0.45
"""White space this wide is a blank even if the text engine read none (blanks between words: 0.25 to 0.33 em)."""
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n", strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True))
_THIN = frozenset("-−–—=·.,'′`:;~∼_")


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
