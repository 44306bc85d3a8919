"""Which text stands on the page? After ``straighten``, before ``layout``.

The text engine sees the whole page without the marks of a red pen. Rows of print that it passed over are then cut out and read one
by one, since the detector sometimes loses a row that it finds at once when it sees that row alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from physelite_build.engines.protocol import LayoutBox, TextEngine
from physelite_build.geometry import Box
from physelite_build.records import Line, PageText
from physelite_build.stages.layout import find_layout, find_unread, split_lines, without_red_pen

__all__ = ["read_gaps", "read_text"]

LEAST_CONFIDENCE = 0.6
"""What is read less surely in a cut-out is more likely a piece of a drawing than a row."""
_BORDER_PX = 24
"""White around a cut-out: the detector needs a margin of about a text height."""


def read_text(
    picture: NDArray[np.uint8], engine: TextEngine, find_areas: Callable[[NDArray[np.uint8]], Sequence[LayoutBox]]
) -> PageText:
    """Read all lines of a page.

    Args:
        picture: Upright page, BGR, shape ``(h, w, 3)``, uint8.
        engine: Text engine.
        find_areas: The layout engine; it hints where text may stand.

    Returns:
        Lines in the engine's order, then those of rows that it had passed over; none for a page without text.

    Raises:
        ItemError: ``read.engine`` if the engine fails.
    """
    clean = without_red_pen(picture)
    lines = split_lines(engine.read_lines(clean), height_px=picture.shape[0])
    text = PageText(lines=lines, engine=engine.fingerprint)
    return read_gaps(clean, text, find_areas(picture), engine.read_lines) if text.lines else text


def read_gaps(
    picture: NDArray[np.uint8],
    text: PageText,
    areas: Sequence[LayoutBox],
    read_lines: Callable[[NDArray[np.uint8]], tuple[Line, ...]],
) -> PageText:
    """Add the rows that were missed on the whole page.

    Args:
        picture: Upright page, BGR, shape ``(h, w, 3)``, uint8.
        text: What the engine read on the whole page.
        areas: What the layout engine found, as hints where text may stand.
        read_lines: The text engine.

    Returns:
        The text with further lines at its end, in order of the gaps; the same text if there are none.
    """
    found: list[Line] = []
    for gap in find_unread(picture, text, find_layout(picture, text, areas)):
        crop = picture[gap.top : gap.bottom, gap.left : gap.right]
        framed = cv2.copyMakeBorder(crop, *(4 * (_BORDER_PX,)), cv2.BORDER_CONSTANT, value=(255, 255, 255))
        lines = read_lines(np.asarray(framed, dtype=np.uint8))
        moved = (_moved(line, gap.left - _BORDER_PX, gap.top - _BORDER_PX) for line in lines)
        found += [line for line in moved if (line.confidence or 0.0) >= LEAST_CONFIDENCE]
    return text.model_copy(update={"lines": (*text.lines, *found)}) if found else text


def _moved(line: Line, right: int, down: int) -> Line:
    def move(box: Box) -> Box:
        return Box(left=box.left + right, top=box.top + down, right=box.right + right, bottom=box.bottom + down)

    chars = tuple(char.model_copy(update={"box": move(char.box)}) for char in line.chars)
    return line.model_copy(update={"box": move(line.box), "chars": chars})
