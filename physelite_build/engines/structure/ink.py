"""Where is the ink of a small picture, and which parts of it are fraction bars and roots?

Used by the structural formula reader (``engines/structure.py``) and by ``stages/transcribe.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from physelite_build.engines.protocol import Picture
from physelite_build.geometry import Box

__all__ = ["Blob", "Stack", "em_px", "find_blobs", "find_stacks", "join_strokes", "surround"]

MIN_CONTRAST = 40
"""Grey levels between ink and paper; below it a crop is blank (faintest print of the development scans: 70)."""
SPECK_PX = 3
"""Smaller components are dust at every resolution we accept."""
BAR_HEIGHT_EM = 0.14
"""Fraction bars are 0.04 em thick; blur and 110 dpi triple that."""
BAR_WIDTH_EM = 0.3
"""The narrowest printed fraction, 1/2 in script size, is 0.4 em wide."""
BAR_ASPECT = 2.8
STACK_GAP_EM = 0.7
"""Distance between a bar and its numerator or denominator; rows of text are farther apart."""
INNER_GAP_EM = 0.2
"""Distance between the parts of one numerator, for example a letter and the bar of a fraction inside it."""
DOT_EM = 0.2
"""Dots are 0.12 em wide; blur adds to them."""
PART_HEIGHT_EM = 0.22
"""A numerator or denominator lower than this is a stroke of a Chinese character or of an equals sign."""
TILT = 0.03
"""Slope of a bar on a bent page that is left after flattening."""
FUSED_EM = 1.0
"""Height of a small fraction whose parts touch its bar; no letter with a stroke across its middle is as high."""
BAR_FILL = 0.85
"""Share of a row of pixels that is ink where a bar runs through a component."""
ROOT_EM = 0.7
"""Lower shapes with a tick and a roof are arrows and touching letters; the lowest root sign is 1 em high."""
ROOT_TOP_SHARE = 0.35
"""The right half of a root sign has its ink in this top share of its box."""


@dataclass(frozen=True, slots=True)
class Blob:
    """One connected piece of ink (or several of one character), half-open box in pixels of its picture."""

    left: int
    top: int
    right: int
    bottom: int
    root: bool = False
    """True if it has the shape of a root sign with its roof."""
    ink: int = 0
    """Dark pixels; 0 if not counted."""
    dots: int = 0
    """Dots above it: time derivatives, and the dot of i and j; the box leaves them out."""

    @property
    def width(self) -> int:
        """Width in pixels."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Height in pixels."""
        return self.bottom - self.top

    @property
    def x(self) -> float:
        """Horizontal centre in pixels."""
        return (self.left + self.right) / 2

    @property
    def y(self) -> float:
        """Vertical centre in pixels."""
        return (self.top + self.bottom) / 2

    @property
    def box(self) -> Box:
        """The same rectangle as a record."""
        return Box(left=self.left, top=self.top, right=self.right, bottom=self.bottom)

    def union(self, other: Blob) -> Blob:
        """Return the smallest blob around both."""
        return Blob(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
            ink=self.ink + other.ink,
        )


@dataclass(frozen=True, slots=True)
class Stack:
    """A fraction or a root: a piece of a row that is not a simple sequence of characters."""

    kind: Literal["fraction", "root"]
    sign: Blob
    """The bar or the root sign."""
    parts: tuple[tuple[Blob, ...], ...]
    """Numerator and denominator, or the radicand."""

    @property
    def around(self) -> Blob:
        """Everything the stack covers."""
        return surround([self.sign, *(blob for part in self.parts for blob in part)])

    @property
    def axis(self) -> float | None:
        """Height of the fraction bar in pixels; None for a root."""
        return self.sign.y if self.kind == "fraction" else None


def surround(blobs: Sequence[Blob]) -> Blob:
    """Return the smallest blob around all of at least one."""
    return Blob(
        min(b.left for b in blobs), min(b.top for b in blobs), max(b.right for b in blobs), max(b.bottom for b in blobs)
    )


def find_blobs(picture: Picture) -> list[Blob]:
    """Find the connected pieces of dark ink.

    Args:
        picture: BGR, shape ``(height_px, width_px, 3)``, uint8, dark on light.

    Returns:
        Pieces from left to right; empty for a blank or empty picture.
    """
    if picture.size == 0:
        return []
    grey = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    if int(grey.max()) - int(grey.min()) < MIN_CONTRAST:
        return []
    _, mask = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    blobs = _components(np.asarray(mask, dtype=np.uint8))
    em = em_px(blobs)
    if _cut_bars(mask, blobs, em):
        blobs = _components(np.asarray(mask, dtype=np.uint8))
    return sorted(blobs, key=lambda b: (b.left, b.top))


def _components(mask: NDArray[np.uint8]) -> list[Blob]:
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    blobs = []
    for index in range(1, count):
        x, y, width, height, area = (int(v) for v in stats[index])
        if area >= SPECK_PX:
            own = np.asarray(labels[y : y + height, x : x + width] == index)
            blobs.append(Blob(x, y, x + width, y + height, ink=area, root=_is_root(own)))
    return blobs


def _cut_bars(mask: NDArray[np.uint8], blobs: Sequence[Blob], em: float) -> bool:
    """Cut fraction bars loose from the characters that touch them; says whether there were any."""
    found = False
    for blob in blobs:
        if blob.root or blob.width < BAR_WIDTH_EM * em or blob.height <= BAR_HEIGHT_EM * em + 1:
            continue
        part = mask[blob.top : blob.bottom, blob.left : blob.right]
        full = np.flatnonzero((part > 0).mean(axis=1) > BAR_FILL)
        if not len(full) or full[-1] - full[0] > max(2.0, BAR_HEIGHT_EM * em):
            continue
        if blob.width < 1.5 * em and not _is_fused(blob, float(full.mean()), blobs, em):
            continue
        found = True
        for edge in (blob.top + int(full[0]) - 1, blob.top + int(full[-1]) + 1):
            if 0 <= edge < mask.shape[0]:
                mask[edge, blob.left : blob.right] = 0
    return found


def _is_fused(blob: Blob, stroke_y: float, blobs: Sequence[Blob], em: float) -> bool:
    """Say whether a stroke of a narrow blob is the bar of a small fraction."""
    share = stroke_y / blob.height
    if blob.height >= FUSED_EM * em:
        return 0.3 < share < 0.7
    if 0.25 < share < 0.7 or blob.height < 0.3 * em:
        return False
    for other in blobs:
        gap = other.top - blob.bottom if share >= 0.7 else blob.top - other.bottom
        overlap = min(blob.right, other.right) - max(blob.left, other.left)
        if 0 < gap < 0.25 * em and overlap > 0.6 * other.width and 0.25 * em < other.height < 0.8 * em:
            return True
    return False


def _is_root(own: NDArray[np.bool_]) -> bool:
    """Recognise the tick and the roof of a root sign."""
    height, width = own.shape
    if height < 6 or width < 0.75 * height:
        return False
    roof = max(2, int(ROOT_TOP_SHARE * height))
    right, left = own[:, int(0.62 * width) :], own[:, : max(1, width // 2)]
    covered = right[:roof].any(axis=0).mean()
    below = right[roof + 1 :].any(axis=0).mean() if height > roof + 1 else 1.0
    starts = np.flatnonzero(own[: max(1, height // 6)].any(axis=0))
    ticked = len(starts) > 0 and starts[0] > 0.15 * min(height, width)
    return bool(covered > 0.9 and below < 0.15 and ticked and left[int(0.8 * height) :].any())


def em_px(blobs: Sequence[Blob]) -> float:
    """Estimate the type size of a formula in pixels.

    Args:
        blobs: Ink of a formula.

    Returns:
        Size of an em, at least 6: letters and digits on the line are 0.43 to 0.68 em high, scripts smaller.
    """
    heights = [b.height for b in blobs if b.height > 4 and b.width < 4 * b.height and not b.root]
    if not heights:
        return 20.0
    letters = [h for h in heights if h <= 2.2 * float(np.median(heights))]  # the rest are brackets of several rows
    return max(6.0, 1.6 * float(np.percentile(letters, 70)))


def find_stacks(blobs: Sequence[Blob], em: float) -> tuple[list[Stack], list[Blob]]:
    """Find the outermost fractions and roots.

    Args:
        blobs: Ink of one row or one formula.
        em: Type size in pixels.

    Returns:
        Stacks from left to right and the ink that belongs to none of them.
    """
    free = list(blobs)
    stacks: list[Stack] = []
    signs = [b for b in blobs if (b.root and b.height > ROOT_EM * em) or _is_bar(b, em)]
    for sign in sorted(signs, key=lambda b: -b.width):
        if sign not in free:
            continue
        others = [b for b in free if b is not sign]
        stack = _root(sign, others) if sign.root else _fraction(sign, others, em)
        if stack is not None:
            stacks.append(stack)
            used = {id(b) for part in stack.parts for b in part} | {id(sign)}
            free = [b for b in free if id(b) not in used]
    return sorted(stacks, key=lambda s: s.sign.left), free


def _is_bar(blob: Blob, em: float) -> bool:
    thickness = blob.ink / blob.width if blob.ink else blob.height
    tilt = TILT * blob.width if thickness <= max(2.0, BAR_HEIGHT_EM * em) else 0
    return (
        blob.height <= max(2.0, BAR_HEIGHT_EM * em) + tilt
        and blob.width >= BAR_WIDTH_EM * em
        and blob.width >= BAR_ASPECT * blob.height
    )


def _root(sign: Blob, others: Sequence[Blob]) -> Stack | None:
    inside = tuple(b for b in others if sign.left < b.x < sign.right and sign.top <= b.y < sign.bottom + 2)
    return Stack("root", sign, (inside,)) if inside else None


def _fraction(bar: Blob, others: Sequence[Blob], em: float) -> Stack | None:
    slack = 0.12 * em
    column = [b for b in others if bar.left - slack <= b.x <= bar.right + slack]
    above = _cluster([b for b in column if b.y < bar.top], bar, em, up=True)
    below = _cluster([b for b in column if b.y > bar.bottom], bar, em, up=False)
    if not above or not below:
        return None
    for part in (above, below):
        whole = surround(part)
        if whole.height < PART_HEIGHT_EM * em or whole.width > bar.width + em:
            return None
    return Stack("fraction", bar, (tuple(above), tuple(below)))


def _cluster(blobs: Sequence[Blob], bar: Blob, em: float, *, up: bool) -> list[Blob]:
    """Take what stands on (or hangs from) a bar, up to the first empty gap."""
    ordered = sorted(blobs, key=lambda b: -b.bottom if up else b.top)
    taken: list[Blob] = []
    edge = bar.top if up else bar.bottom
    for blob in ordered:
        gap = edge - blob.bottom if up else blob.top - edge
        if gap > (INNER_GAP_EM if taken else STACK_GAP_EM) * em:
            break
        taken.append(blob)
        edge = min(edge, blob.top) if up else max(edge, blob.bottom)
    return taken


def join_strokes(blobs: Sequence[Blob], em: float) -> list[Blob]:
    """Join strokes that stand above one another: ``=``, ``i``, ``:``, the parts of ``≤``.

    Args:
        blobs: Ink of one row without fractions.
        em: Type size in pixels.

    Returns:
        Blobs from left to right; a subscript under a superscript stays apart, both being higher than a stroke.
    """
    dots, strokes = _parted(blobs, em)
    joined: list[Blob] = []
    for blob in sorted(strokes, key=lambda b: b.x):
        for index in range(len(joined) - 1, max(-1, len(joined) - 5), -1):
            other = joined[index]
            overlap = min(blob.right, other.right) - max(blob.left, other.left)
            gap = max(blob.top, other.top) - min(blob.bottom, other.bottom)
            if (
                overlap >= 0.6 * min(blob.width, other.width)
                and -0.1 * em <= gap <= 0.4 * em
                and min(blob.height, other.height) <= 0.22 * em
                and not (blob.root or other.root)
            ):
                joined[index] = blob.union(other)
                break
        else:
            joined.append(blob)
    for dot in dots:
        index = min(range(len(joined)), key=lambda i: (not _is_under(joined[i], dot, em), abs(joined[i].x - dot.x)))
        if _is_under(joined[index], dot, em):
            joined[index] = replace(joined[index], dots=joined[index].dots + 1)
        else:
            joined.append(dot)
    return sorted(joined, key=lambda b: b.x)


def _parted(blobs: Sequence[Blob], em: float) -> tuple[list[Blob], list[Blob]]:
    """Tell dots that stand above a letter from the rest."""
    dots: list[Blob] = []
    strokes: list[Blob] = []
    for blob in blobs:
        is_dot = blob.height <= DOT_EM * em and blob.width <= DOT_EM * em
        over = is_dot and any(_is_under(other, blob, em) for other in blobs if other is not blob)
        (dots if over else strokes).append(blob)
    return dots, strokes


def _is_under(letter: Blob, dot: Blob, em: float) -> bool:
    near = letter.left - 0.1 * em <= dot.x <= letter.right + 0.15 * em
    above = 0 <= letter.top - dot.bottom <= 0.4 * em
    return near and above and letter.height > 0.3 * em and letter.width <= 1.2 * em and not letter.root
