"""Where the drawings and tables of a page are, from the strokes that no text explains.

Runs inside ``layout``. Strokes give the geometry; the layout model's areas only add what the strokes leave open (a drawing of
loose lines, an unruled table). Captions stay outside, labels belong to their drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from physelite_build.engines.protocol import LayoutBox
from physelite_build.geometry import Box
from physelite_build.stages.layout.find_tables import Table, find_tables
from physelite_build.stages.layout.find_unread import unread_rows
from physelite_build.stages.layout.grow_drawings import Cluster, grow_drawings, join_side_by_side
from physelite_build.stages.layout.page_ink import InkPart, PageInk, gap_px, is_frame
from physelite_build.stages.layout.stack_pieces import Piece
from physelite_build.stages.layout.tell_prose import is_caption, is_table_caption

__all__ = ["Drawing", "Findings", "find_figures"]

# All lengths are in text heights.
SEED_LENGTH = 3.0
"""A drawing has a connected stroke at least this long; no character and few brackets are."""
SEED_BREADTH = 1.3
"""... and this broad across: fraction bars, underlines and tall brackets are not."""
TEXT_COVER = 0.4
"""A stroke whose box is covered by lines of text to more than this share frames or underlines them (roots, boxed results)."""
FORMULA_HEIGHT = 4.5
"""Roots and boxed results stay lower than this; for strokes so low less text counts as explanation."""
FORMULA_COVER = 0.2
"""Text cover that makes a low stroke part of a formula; low drawings (carts, springs) measure below 0.1."""
FRAME_COVER = 0.15
"""A frame with less text in it is drawn (a block with its label), one with more is set around text."""
LEAST_SIDE = 2.2
"""Smaller drawings are logos, bullets or stray marks."""
RULE_SHARE = 0.35
"""A straight lone stroke longer than this share of the page's width or height is a rule."""
RULE_THICKNESS = 0.9
"""Box height of a rule, photo curl included."""
MODEL_CONFIDENCE = 0.4
"""Least confidence with which the layout model may point at a drawing without a seed."""
PAPER_BRIGHTNESS = 0.85
"""Away from the text, drawings are looked for only where the paper is this bright, text paper being 1."""
LONG_SHARE = 0.6
"""Longer strokes away from the text, as a share of the page, are edges of the paper."""
UNREAD_WIDTH, UNREAD_PARTS = 7.0, 6
"""Runs of characters at least this long that were not read are running text all the same."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure."""

    box: Box
    """Fitted to its ink, upright pixels."""
    indexes: tuple[int, ...]
    """Lines of the page that are its labels."""
    confidence: float | None
    """Of the layout model's figure area at the same place; None if it saw none."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What on the page is not text."""

    drawings: tuple[Drawing, ...]
    tables: tuple[Table, ...]
    rules: tuple[Box, ...]
    """Long straight lines: under a running head, between columns."""


def find_figures(ink: PageInk, pieces: Sequence[Piece], areas: Sequence[LayoutBox]) -> Findings:
    """Find drawings, tables and page rules.

    Args:
        ink: Ink of the upright page.
        pieces: Lines of text on it.
        areas: Areas of the layout model, weak ones included.

    Returns:
        Drawings and tables from top to bottom; captions and running text are in neither.
    """
    strokes = _strokes(ink, pieces)
    rules = [part for part in strokes if _is_rule(part, strokes, ink)]
    strokes = [part for part in strokes if part not in rules]
    tables = find_tables(ink, pieces, areas, [part.box for part in strokes])
    strokes = [p for p in strokes if not any(p.box.covered_by(t.box) > 0.6 for t in tables)]
    free = [p for p in pieces if not any(p.box.covered_by(t.box) > 0.6 for t in tables)]
    strokes = [p for p in strokes if not p.red or _in_figure(p.box, areas)]
    seeds = [p for p in strokes if _is_seed(p, strokes, free, ink)]
    clusters = [Cluster(part.box, [part], []) for part in seeds]
    clusters += _model_clusters(ink, strokes, free, areas, clusters)
    under = ink.share_under([p.box for p in free])
    unread = unread_rows(ink, [p.box for p in pieces], least_width=UNREAD_WIDTH, least_parts=UNREAD_PARTS)
    unread = [row for row in unread if not any(s.box.intersection(row).area for s in seeds)]
    loose = [s for s in strokes if under[s.number] < 0.6 and not any(s.box.covered_by(row) > 0.9 for row in unread)]
    clusters = grow_drawings(clusters, loose, free, unread, ink)
    clusters = join_side_by_side(clusters, free, ink)
    drawings = [_finish(c, free, areas) for c in clusters if _is_drawing(c, free, ink)]
    return Findings(
        drawings=tuple(sorted(drawings, key=lambda d: (d.box.top, d.box.left))),
        tables=tuple(tables),
        rules=tuple(sorted((r.box for r in rules), key=lambda b: (b.top, b.left))),
    )


def _strokes(ink: PageInk, pieces: Sequence[Piece]) -> list[InkPart]:
    """Return the parts that are no text: outside running text and captions, inside the page's own ground."""
    text = [p.box for p in pieces if p.prose or is_caption(p.text) or is_table_caption(p.text)]
    under = ink.share_under(text)
    is_print = _print_test([p.box for p in pieces], ink)
    return [
        part
        for part in ink.parts
        if under[part.number] < 0.5 and is_print(part.box) and not (part.red and ink.is_stamp(part.box))
    ]


def _in_figure(box: Box, areas: Sequence[LayoutBox]) -> bool:
    """Tell whether the layout model sees a figure around a red stroke; elsewhere it is a pen's."""
    return any(a.label == "figure" and a.confidence >= MODEL_CONFIDENCE and box.covered_by(a.box) > 0.8 for a in areas)


def _print_test(boxes: Sequence[Box], ink: PageInk) -> Callable[[Box], bool]:
    """Return a test that keeps the edge of the paper and the table around it out of a photo's drawings."""
    page = Box(left=0, top=0, right=ink.width_px, bottom=ink.height_px)
    text = page
    if len(boxes) >= 3:
        text = boxes[0]
        for box in boxes[1:]:
            text = text.union(box)
    ground = text.padded(round(4 * ink.text_height), width_px=ink.width_px, height_px=ink.height_px)
    white = ink.brightness_of(text)

    def is_print(box: Box) -> bool:
        if box.left <= 0 or box.top <= 0 or box.right >= page.right or box.bottom >= page.bottom:
            return False
        if box.width > 0.9 * ground.width and box.height > 0.6 * ground.height:
            return False
        if box.covered_by(ground) > 0.5:
            return True
        long = box.width > LONG_SHARE * page.width or box.height > LONG_SHARE * page.height
        return not long and ink.brightness_of(box) >= PAPER_BRIGHTNESS * white

    return is_print


def _is_rule(part: InkPart, strokes: Sequence[InkPart], ink: PageInk) -> bool:
    """Tell whether a stroke is a lone straight line over much of the page."""
    thickness = RULE_THICKNESS * ink.text_height
    box = part.box
    level = box.height <= thickness and box.width >= RULE_SHARE * ink.width_px
    upright = box.width <= thickness and box.height >= RULE_SHARE * ink.height_px
    if not (level or upright):
        return False
    reach = 1.2 * ink.text_height
    near = [
        other
        for other in strokes
        if other is not part
        and max(other.box.width, other.box.height) > 1.5 * ink.text_height
        and gap_px(other.box, box) < reach
    ]
    return upright or not near


def _is_seed(part: InkPart, strokes: Sequence[InkPart], pieces: Sequence[Piece], ink: PageInk) -> bool:
    height = ink.text_height
    box = part.box
    if max(box.width, box.height) < SEED_LENGTH * height or min(box.width, box.height) < SEED_BREADTH * height:
        return False
    cover = _cover(box, [p.box for p in pieces])
    low = min(box.width, box.height) < FORMULA_HEIGHT * height
    if cover > (FORMULA_COVER if low else TEXT_COVER):
        return False
    if not is_frame(part, ink):
        return True
    marked = any(p.box.covered_by(box) > 0.9 for p in pieces) or any(
        other is not part and other.box.covered_by(box) > 0.9 for other in ink.parts
    )
    if cover < FRAME_COVER and marked:
        return True
    inner = [
        s
        for s in strokes
        if s is not part and s.box.covered_by(box) > 0.9 and max(s.box.width, s.box.height) > 2 * height
    ]
    return bool(inner) and not any(p.prose and p.box.covered_by(box) > 0.9 for p in pieces)


def _cover(box: Box, others: Sequence[Box]) -> float:
    """Return which share of a box the others cover together."""
    if not box.area:
        return 0.0
    k = max(1, min(box.width, box.height) // 64)
    grid = np.zeros((box.height // k + 1, box.width // k + 1), dtype=bool)
    for other in others:
        common = other.intersection(box)
        if common.area:
            top, left = (common.top - box.top) // k, (common.left - box.left) // k
            grid[top : (common.bottom - box.top) // k, left : (common.right - box.left) // k] = True
    return float(grid.mean())


def _model_clusters(
    ink: PageInk,
    strokes: Sequence[InkPart],
    pieces: Sequence[Piece],
    areas: Sequence[LayoutBox],
    known: Sequence[Cluster],
) -> list[Cluster]:
    """Return drawings of loose strokes where the model sees a figure and no seed is."""
    height = ink.text_height
    found: list[Cluster] = []
    for area in areas:
        if area.label != "figure" or area.confidence < MODEL_CONFIDENCE:
            continue
        if any(c.box.intersection(area.box).area > 0.1 * min(c.box.area, area.box.area) for c in [*known, *found]):
            continue
        if (
            _cover(area.box, [p.box for p in pieces]) > FORMULA_COVER
            or _cover(area.box, [p.box for p in pieces if p.prose]) > 0.15
        ):
            continue
        parts = [
            s for s in strokes if s.box.covered_by(area.box) > 0.8 and max(s.box.width, s.box.height) > 0.6 * height
        ]
        if not any(max(s.box.width, s.box.height) > 2 * height for s in parts):
            continue
        box = parts[0].box
        for part in parts[1:]:
            box = box.union(part.box)
        found.append(Cluster(box, parts, []))
    return found


def _is_drawing(cluster: Cluster, pieces: Sequence[Piece], ink: PageInk) -> bool:
    height = ink.text_height
    box = cluster.box
    if min(box.width, box.height) < LEAST_SIDE * height or max(box.width, box.height) < 1.3 * LEAST_SIDE * height:
        return False
    prose = [p.box for p in pieces if p.prose]
    return _cover(box, prose) < 0.2 and _cover(box, [p.box for p in pieces]) < TEXT_COVER + 0.1


def _finish(cluster: Cluster, pieces: Sequence[Piece], areas: Sequence[LayoutBox]) -> Drawing:
    box = cluster.box
    inside = [p for p in pieces if not p.prose and (p in cluster.labels or p.box.covered_by(box) > 0.6)]
    overlaps = [(a.box.iou(box), a.confidence) for a in areas if a.label == "figure"]
    best = max(overlaps, default=(0.0, 0.0))
    return Drawing(box, tuple(sorted(p.index for p in inside)), best[1] if best[0] > 0.3 else None)
