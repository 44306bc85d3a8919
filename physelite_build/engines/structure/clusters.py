"""Which pieces of ink stand above one another without a bar: rows, cases, matrices, and double scripts.

Used by the structural formula reader after ``engines/ink.py`` has found fractions and roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from physelite_build.engines.protocol import Picture
from physelite_build.engines.structure.ink import Blob, find_stacks, surround

__all__ = ["Grid", "Scripts", "find_grids", "find_scripts", "row_places"]

ROW_GAP_EM = 0.22
"""White space between rows of one display; scripts and accents are nearer to their letters."""
ROW_HEIGHT_EM = 0.5
"""What is lower than this is a script, a limit or dirt, not a row."""
GRID_ROW_EM = 0.38
"""Lowest row of a matrix: a lone small letter is 0.43 em high."""
FENCE_EM = 1.7
"""Brackets around two rows are at least this high."""
COLUMN_GAP_EM = 0.7
"""White space between the columns of a matrix (TeX: 1 em)."""
SCRIPT_EM = (0.15, 0.64)
"""Lowest and highest letter of a script: 70 % of the heights on the line."""
BOTH_EM = (0.75, 1.6)
"""Height of a subscript and a superscript together."""
NEXT_EM = 0.2
"""White space between letters of one script."""
PRIME_EM = (0.2, 0.4)
"""Widest and highest prime."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells between tall brackets, or behind a brace."""

    left: Blob
    right: Blob | None
    straight: bool
    """True for square brackets."""
    rows: tuple[tuple[tuple[Blob, ...], ...], ...]

    @property
    def around(self) -> Blob:
        """Everything the grid covers."""
        cells = [blob for row in self.rows for cell in row for blob in cell]
        return surround([self.left, *cells, *([self.right] if self.right else [])])


@dataclass(frozen=True, slots=True)
class Scripts:
    """A superscript right above a subscript."""

    high: tuple[Blob, ...]
    low: tuple[Blob, ...]
    prime: bool
    """True if the superscript is a prime."""

    @property
    def around(self) -> Blob:
        """Everything both scripts cover."""
        return surround([*self.high, *self.low])


def row_places(things: Sequence[Blob], em: float, *, lowest_em: float = ROW_HEIGHT_EM) -> list[Blob]:
    """Find rows as bands of ink with white space between them.

    Args:
        things: Ink, fractions and roots as one blob each.
        em: Type size in pixels.
        lowest_em: Height of the lowest row, in em.

    Returns:
        Bands from top to bottom; what is too low for a row joins its nearest neighbour.
    """
    bands: list[Blob] = []
    for thing in sorted(things, key=lambda b: b.top):
        if bands and thing.top - bands[-1].bottom < ROW_GAP_EM * em:
            bands[-1] = bands[-1].union(thing)
        else:
            bands.append(thing)
    while len(bands) > 1:
        low = min(range(len(bands)), key=lambda i: bands[i].height)
        if bands[low].height >= lowest_em * em:
            break
        near = [i for i in (low - 1, low + 1) if 0 <= i < len(bands)]
        other = min(near, key=lambda i: max(bands[i].top, bands[low].top) - min(bands[i].bottom, bands[low].bottom))
        bands[other] = bands[other].union(bands[low])
        del bands[low]
    return bands


def find_grids(picture: Picture, blobs: Sequence[Blob], em: float) -> tuple[list[Grid], list[Blob]]:
    """Find cases and matrices.

    Args:
        picture: BGR uint8, the picture of the blobs.
        blobs: Ink of a formula.
        em: Type size in pixels.

    Returns:
        Grids from left to right, and the ink that belongs to none of them.
    """
    free = list(blobs)
    grids: list[Grid] = []
    fences = [b for b in blobs if b.height > FENCE_EM * em and b.width < 0.35 * b.height and not b.root]
    for fence in sorted(fences, key=lambda b: b.left):
        if fence not in free:
            continue
        behind = [b for b in free if b.left >= fence.right - 1 and fence.top - em < b.y < fence.bottom + em]
        close = next((b for b in fences if b in behind and abs(b.height - fence.height) < 0.15 * fence.height), None)
        inside = [b for b in behind if close is None or b.right <= close.left + 1]
        rows = _grid_rows(inside, em)
        if len(rows) > 1 and surround(inside).height > 0.6 * fence.height:
            grid = Grid(fence, close, _is_straight(picture, fence), rows if close else _joined(rows))
            grids.append(grid)
            used = {id(b) for b in [fence, close, *inside]}
            free = [b for b in free if id(b) not in used]
    return grids, free


def _grid_rows(inside: Sequence[Blob], em: float) -> tuple[tuple[tuple[Blob, ...], ...], ...]:
    if not inside:
        return ()
    stacks, loose = find_stacks(inside, em)
    rows = []
    for place in row_places([*(s.around for s in stacks), *loose], em, lowest_em=GRID_ROW_EM):
        ordered = sorted((b for b in inside if place.top <= b.y < place.bottom), key=lambda b: b.left)
        cells: list[list[Blob]] = []
        edge = -np.inf
        for blob in ordered:
            if not cells or blob.left - edge > COLUMN_GAP_EM * em:
                cells.append([])
            cells[-1].append(blob)
            edge = max(edge, blob.right)
        if cells:
            rows.append(tuple(tuple(cell) for cell in cells))
    return tuple(rows) if len({len(row) for row in rows}) == 1 else _joined(tuple(rows))


def _joined(rows: tuple[tuple[tuple[Blob, ...], ...], ...]) -> tuple[tuple[tuple[Blob, ...], ...], ...]:
    """Make one cell of each row."""
    return tuple((tuple(blob for cell in row for blob in cell),) for row in rows)


def _is_straight(picture: Picture, fence: Blob) -> bool:
    """Tell a square bracket, whose stem is a full column of ink, from a round one or a brace."""
    part = cv2.cvtColor(picture[fence.top : fence.bottom, fence.left : fence.right], cv2.COLOR_BGR2GRAY)
    dark = part <= (int(part.max()) + int(part.min())) / 2
    return bool(dark.mean(axis=0).max() > 0.9)


def find_scripts(blobs: Sequence[Blob], em: float) -> tuple[list[Scripts], list[Blob]]:
    """Find superscripts that stand right above subscripts, which a text engine reads as one character.

    Args:
        blobs: Ink of one row, strokes joined.
        em: Type size in pixels.

    Returns:
        Scripts from left to right, and the ink that belongs to none of them.
    """
    free = sorted(blobs, key=lambda b: b.left)
    found: list[Scripts] = []
    for high in list(free):
        low = next((b for b in free if _are_scripts(high, b, em)), None)
        if high not in free or low is None or not _has_base(high, low, free, em):
            continue
        others = [b for b in free if b is not high and b is not low]
        upper, lower = _grown(high, others, em), _grown(low, others, em)
        prime = len(upper) == 1 and high.width <= PRIME_EM[0] * em and high.height <= PRIME_EM[1] * em
        found.append(Scripts(tuple(upper), tuple(lower), prime))
        used = {id(b) for b in (*upper, *lower)}
        free = [b for b in free if id(b) not in used]
    return found, free


def _are_scripts(high: Blob, low: Blob, em: float) -> bool:
    overlap = min(high.right, low.right) - max(high.left, low.left)
    small = all(SCRIPT_EM[0] * em <= b.height <= SCRIPT_EM[1] * em and b.width < em for b in (high, low))
    apart = low.top - high.bottom
    both = low.bottom - high.top
    return (
        small
        and overlap > 0.35 * min(high.width, low.width)
        and -0.1 * em <= apart <= 0.7 * em
        and BOTH_EM[0] * em <= both <= BOTH_EM[1] * em
    )


def _has_base(high: Blob, low: Blob, blobs: Sequence[Blob], em: float) -> bool:
    left = min(high.left, low.left)
    return any(
        -0.3 * em < left - b.right < 0.3 * em and b.height > 0.38 * em and high.y < b.y < low.y and b.x < left
        for b in blobs
    )


def _grown(first: Blob, others: Sequence[Blob], em: float) -> list[Blob]:
    """Take the letters that continue a script to the right."""
    script = [first]
    for blob in others:
        near = -0.1 * em < blob.left - script[-1].right < NEXT_EM * em
        level = abs(blob.y - first.y) < 0.18 * em and blob.height <= SCRIPT_EM[1] * em
        if near and level and blob.left >= script[-1].left:
            script.append(blob)
    return script
