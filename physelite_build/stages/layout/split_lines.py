"""Lines that the text engine read across the gutter between two columns become two.

Runs inside ``read``, before any layout is known. Specks, folds and narrow gutters make the detector take two rows side by side for
one; the lines that start at the gutter show where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from physelite_build.geometry import Box
from physelite_build.records import Char, Line
from physelite_build.stages.layout.page_ink import measure_text_height
from physelite_build.stages.layout.tell_prose import is_prose

__all__ = ["split_lines"]

# Lengths are in text heights.
LEAST_GUTTER = 1.2
"""Narrowest gutter; word spaces of justified rows stay below 1."""
ALIGNED = 0.8
"""The lines of a column start, and the full ones end, within this distance of the gutter's edges."""
LEAST_LINES = 3
"""So many other lines of running text start right of a gutter, and end left of it."""


def split_lines(lines: Sequence[Line], *, height_px: int) -> tuple[Line, ...]:
    """Split lines at gutters.

    Args:
        lines: Lines of a page with the places of their characters; lines without them stay whole.
        height_px: Height of the page.

    Returns:
        All lines in the same order; the left part of a divided one comes before the right part.
    """
    height = measure_text_height(lines, height_px)
    prose = [line for line in lines if is_prose(line.text)]
    done: list[Line] = []
    for line in lines:
        others = [other for other in prose if other is not line]
        cut = next((k for k, gap in _gaps(line, height) if _is_gutter(gap, others, height)), None)
        done += [line] if cut is None else [_part(line, line.chars[:cut]), _part(line, line.chars[cut:])]
    return tuple(done)


def _gaps(line: Line, height: float) -> list[tuple[int, tuple[int, int]]]:
    """Return the wide gaps of a line: index of the character behind it, and its edges."""
    if "".join(char.text for char in line.chars).strip() != line.text.strip():
        return []
    seen = [k for k, char in enumerate(line.chars) if char.text.strip()]
    edges = [(b, (line.chars[a].box.right, line.chars[b].box.left)) for a, b in pairwise(seen)]
    return [(k, (left, right)) for k, (left, right) in edges if right - left >= LEAST_GUTTER * height]


def _is_gutter(gap: tuple[int, int], others: Sequence[Line], height: float) -> bool:
    left, right = gap
    reach = ALIGNED * height
    starting = [o for o in others if abs(o.box.left - right) <= reach]
    ending = [o for o in others if o.box.left < left and abs(o.box.right - left) <= reach + height]
    return len(starting) >= LEAST_LINES and len(ending) >= LEAST_LINES


def _part(line: Line, chars: Sequence[Char]) -> Line:
    own = [char for char in chars if char.text.strip()]
    left, right = min(c.box.left for c in own), max(c.box.right for c in own)
    if chars[0] is line.chars[0]:
        left = line.box.left
    if chars[-1] is line.chars[-1]:
        right = line.box.right
    box = Box(left=left, top=line.box.top, right=right, bottom=line.box.bottom)
    return line.model_copy(
        update={"text": "".join(c.text for c in chars).strip(), "box": box, "chars": tuple(chars)},
    )
