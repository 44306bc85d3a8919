"""How a drawing grows from its first strokes: loose strokes and labels are added, neighbours are joined.

Part of ``find_figures``. Running text and captions are never drawn in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from physelite_build.geometry import Box
from physelite_build.stages.layout.page_ink import InkPart, PageInk, gap_px
from physelite_build.stages.layout.stack_pieces import Piece
from physelite_build.stages.layout.tell_prose import is_caption, is_part_caption, is_table_caption, starts_item

__all__ = ["Cluster", "grow_drawings", "join_side_by_side"]

# All lengths are in text heights.
STROKE_JOIN = 1.0
"""Loose strokes this near to a drawing belong to it (dashes, arrow heads)."""
LABEL_JOIN = 0.7
"""Labels this near to a drawing belong to it; rows of text keep at least 0.8 clear of a drawing."""
LABEL_WIDTH = 8.0
"""Longest label."""
DRAWING_JOIN = 0.8
"""Drawings nearer than this are one."""
SIDE_BY_SIDE = 9.0
"""Drawings on one row nearer than this are one figure unless both have a caption of their own."""
CAPTION_REACH = 3.0
"""A caption stands this near to its drawing."""
_ROUNDS = 12


@dataclass(slots=True)
class Cluster:
    """A drawing that is still growing."""

    box: Box
    parts: list[InkPart]
    labels: list[Piece]


def grow_drawings(
    clusters: list[Cluster],
    strokes: Sequence[InkPart],
    pieces: Sequence[Piece],
    unread: Sequence[Box],
    ink: PageInk,
) -> list[Cluster]:
    """Add near strokes and labels and join what meets, until nothing changes.

    Args:
        clusters: First strokes of each drawing; they are changed in place.
        strokes: Parts that no text explains.
        pieces: Lines that may be labels, running text among them.
        unread: Rows of running text without a line.
        ink: Ink of the page.

    Returns:
        The drawings, none nearer to another than ``DRAWING_JOIN`` unless text stands between.
    """
    height = ink.text_height
    taken = {part.number for c in clusters for part in c.parts}
    loose = [s for s in strokes if s.number not in taken]
    labels = [p for p in pieces if _may_label(p, height)]
    barred = [p.box for p in pieces if p.prose or is_caption(p.text) or is_table_caption(p.text)] + list(unread)
    for _ in range(_ROUNDS):
        before = (len(clusters), sum(len(c.parts) + len(c.labels) for c in clusters))
        clusters = _join_near(clusters, height, barred)
        for cluster in clusters:
            for part in [s for s in loose if gap_px(s.box, cluster.box) <= STROKE_JOIN * height]:
                if _may_extend(cluster.box, part.box, barred, height):
                    cluster.box = cluster.box.union(part.box)
                    cluster.parts.append(part)
                    loose.remove(part)
            for piece in [p for p in labels if gap_px(p.box, cluster.box) <= LABEL_JOIN * height]:
                tight = ink.tighten(piece.box) or piece.box
                if _may_extend(cluster.box, tight, barred, height) and _is_label_of(piece, cluster.box, pieces, height):
                    cluster.box = cluster.box.union(tight)
                    cluster.labels.append(piece)
                    labels.remove(piece)
        if before == (len(clusters), sum(len(c.parts) + len(c.labels) for c in clusters)):
            break
    return clusters


def _may_label(piece: Piece, height: float) -> bool:
    return (
        not piece.prose
        and piece.box.width <= LABEL_WIDTH * height
        and not is_caption(piece.text)
        and not is_table_caption(piece.text)
    )


def _is_label_of(piece: Piece, box: Box, pieces: Sequence[Piece], height: float) -> bool:
    """Tell a label at the rim of a drawing from a short row of text beside or below it."""
    if piece.box.covered_by(box) > 0.5:
        return True
    outside = piece.box.top >= box.bottom - 0.3 * height or piece.box.bottom <= box.top + 0.3 * height
    if starts_item(piece.text) or is_part_caption(piece.text):
        return False
    # A bit of a text row: something else of that row goes on beside it, away from the drawing.
    beside = [
        p
        for p in pieces
        if p is not piece
        and min(p.box.bottom, piece.box.bottom) - max(p.box.top, piece.box.top)
        > 0.5 * min(p.box.height, piece.box.height)
        and gap_px(p.box, piece.box) < 1.0 * height
        and p.box.covered_by(box) < 0.5
    ]
    return not (outside and beside) and not any(p.prose for p in beside)


def _may_extend(box: Box, other: Box, barred: Sequence[Box], height: float) -> bool:
    """Refuse what would draw running text or a caption into the drawing."""
    wider = box.union(other)
    for text in barred:
        common = text.intersection(wider)
        if (
            common.area
            and common.area > text.intersection(box).area
            and min(common.width, common.height) > 0.35 * height
        ):
            return False
    return True


def _join_near(clusters: list[Cluster], height: float, barred: Sequence[Box]) -> list[Cluster]:
    reach = DRAWING_JOIN * height
    joined: list[Cluster] = []
    for cluster in sorted(clusters, key=lambda c: (c.box.top, c.box.left)):
        home = next(
            (
                c
                for c in joined
                if gap_px(c.box, cluster.box) <= reach and _may_extend(c.box, cluster.box, barred, height)
            ),
            None,
        )
        if home is None:
            joined.append(cluster)
        else:
            _absorb(home, cluster)
    return joined


def _absorb(home: Cluster, other: Cluster) -> None:
    home.box = home.box.union(other.box)
    home.parts += other.parts
    home.labels += other.labels


def join_side_by_side(clusters: list[Cluster], pieces: Sequence[Piece], ink: PageInk) -> list[Cluster]:
    """Join drawings on one row that share a caption or have none; two drawings with two captions stay two.

    Args:
        clusters: Grown drawings; they are changed in place.
        pieces: Lines of the page.
        ink: Ink of the page.

    Returns:
        Figures.
    """
    height = ink.text_height
    barred = [p.box for p in pieces if p.prose]
    joined: list[Cluster] = []
    for cluster in sorted(clusters, key=lambda c: (c.box.left, c.box.top)):
        home = None
        for c in joined:
            shared = min(c.box.bottom, cluster.box.bottom) - max(c.box.top, cluster.box.top)
            gap = max(0, cluster.box.left - c.box.right)
            if shared < 0.5 * min(c.box.height, cluster.box.height) or gap > SIDE_BY_SIDE * height:
                continue
            if _has_caption(c.box, pieces, height) and _has_caption(cluster.box, pieces, height):
                continue
            if _may_extend(c.box, cluster.box, barred, height):
                home = c
                break
        if home is None:
            joined.append(cluster)
        else:
            _absorb(home, cluster)
    return joined


def _has_caption(box: Box, pieces: Sequence[Piece], height: float) -> bool:
    """Tell whether a caption is centred under (or over) just this drawing."""
    for piece in pieces:
        if not (is_caption(piece.text) or is_part_caption(piece.text)):
            continue
        middle = piece.box.centre[0]
        below = -0.5 * height <= piece.box.top - box.bottom <= CAPTION_REACH * height
        above = -0.5 * height <= box.top - piece.box.bottom <= CAPTION_REACH * height
        if (below or above) and box.left <= middle <= box.right:
            return True
    return False
