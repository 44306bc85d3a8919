"""Turns the rows of a page into plain text with ``$LaTeX$`` and its display formulas into LaTeX.

Comes after ``stages/layout.py``, which finds rows and formulas, and before ``stages/segment.py``, which cuts pages into
problems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import cv2
import numpy as np

from physelite_build.engines.protocol import FormulaEngine, Picture
from physelite_build.engines.referee import Referee
from physelite_build.engines.structure import crop_lines
from physelite_build.engines.structure.baseline import Bend, flattened, mean_bend, row_bend
from physelite_build.engines.structure.glyphs import is_cjk
from physelite_build.engines.structure.ink import Blob, Stack, em_px, find_blobs, find_stacks, join_strokes
from physelite_build.engines.structure.rows import row_glyphs
from physelite_build.geometry import Box
from physelite_build.records import Formula, Language, Line, PageLayout, PageText, Place, Region, RegionKind
from physelite_build.stages.transcribe.mark_math import Printed, mark_math

__all__ = ["transcribe"]

PADDING_EM = 0.45
"""Tall fractions overflow the boxes of the text engine by this much; other ink out there is of the rows around."""
DISPLAY_PADDING_EM = 0.15
"""Display formulas are boxed by their ink."""
SMALL_EM_PX = 20.0
"""Type size below which the page is enlarged: 110 to 140 dpi."""
MIN_ROW_EM = 12.0
"""Shorter rows do not show how the page bends."""
CJK_SHARE = 0.08
"""A page with more Chinese characters than this is Chinese."""
LOWEST_FRACTION_EM = 0.9
"""An e or a whose stroke came loose looks like a fraction, but is half as high as one."""
STROKE_HEIGHT_EM = 1.15
"""Lower stacks inside a Chinese character are its strokes; the lowest printed fraction is 1.2 em high."""


@dataclass(slots=True)
class _Row:
    """One text region on its way."""

    region: Region
    box: Box
    crop: Picture
    """The row, laid flat."""
    lines: tuple[Line, ...]
    em: float
    blobs: list[Blob]
    stacks: list[Stack]


def transcribe(
    picture: Picture, text: PageText, layout: PageLayout, engine: FormulaEngine, referee: Referee | None = None
) -> PageLayout:
    """Write text regions with ``$LaTeX$`` for their formulas, and formula regions as LaTeX.

    Args:
        picture: The upright page, BGR, shape ``(height_px, width_px, 3)``, uint8.
        text: What the text engine read on it.
        layout: Its regions, with the indexes of their lines.
        engine: Reads display formulas, and fractions and roots inside rows.
        referee: Says of each formula how sure its reading is; None leaves that unknown.

    Returns:
        The same regions in the same order; text, confidence and engine name of text, caption and formula regions are new.

    Raises:
        ItemError: ``read.engine`` if an engine fails on this page.
    """
    language = _language(text)
    em = _page_em(text)
    if em < SMALL_EM_PX:  # thin strokes part better on an enlarged page
        picture = np.asarray(cv2.resize(picture, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
        enlarged = transcribe(picture, _doubled_text(text), _doubled_layout(layout), engine, referee).regions
        regions = [_halved(old, new) for old, new in zip(layout.regions, enlarged, strict=True)]
        return layout.model_copy(update={"regions": tuple(regions)})
    bends = _bends(picture, text, layout, em)
    rows = {
        index: _row(picture, region, text, em, bends)
        for index, region in enumerate(layout.regions)
        if region.kind in (RegionKind.TEXT, RegionKind.CAPTION)
    }
    jobs = [
        (index, *_display_job(picture, region, text, em, bends))
        for index, region in enumerate(layout.regions)
        if region.kind is RegionKind.FORMULA
    ]
    jobs += [(index, *_piece_job(row, stack)) for index, row in rows.items() for stack in row.stacks]
    readings = engine.recognise([crop for _, crop, _ in jobs], [lines for _, _, lines in jobs])
    regions = list(layout.regions)
    pieces: dict[int, list[str]] = {index: [] for index in rows}
    known: dict[int, list[float]] = {index: [] for index in rows}
    for (index, _, _), reading in zip(jobs, readings, strict=True):
        if index in rows:
            pieces[index].append(reading.latex)
            known[index] += [] if reading.confidence is None else [reading.confidence]
        else:
            regions[index] = _formula(regions[index], reading.latex, reading.confidence, engine)
    for index, row in rows.items():
        regions[index] = _text(row, pieces[index], known[index], language, text, engine)
    if referee is not None:
        regions = _judged(picture, regions, referee)
    return layout.model_copy(update={"regions": tuple(regions)})


def _judged(picture: Picture, regions: Sequence[Region], referee: Referee) -> list[Region]:
    """Give every formula the confidence of the referee; that of a display formula is its region's too."""
    height_px, width_px = picture.shape[:2]
    boxes = [f.box.padded(1, width_px=width_px, height_px=height_px) for region in regions for f in region.formulas]
    crops = [picture[box.top : box.bottom, box.left : box.right] for box in boxes]
    judged = iter(referee.judge(crops, [f.latex for region in regions for f in region.formulas]))
    out = []
    for region in regions:
        formulas = []
        for formula in region.formulas:
            given = next(judged)
            formulas.append(formula.model_copy(update={"confidence": given.confidence, "verified": given.verified}))
        region = region.model_copy(update={"formulas": tuple(formulas)})
        if region.kind is RegionKind.FORMULA and formulas and formulas[0].confidence is not None:
            region = region.model_copy(update={"confidence": formulas[0].confidence})
        out.append(region)
    return out


def _doubled(box: Box) -> Box:
    return Box(left=2 * box.left, top=2 * box.top, right=2 * box.right, bottom=2 * box.bottom)


def _doubled_text(text: PageText) -> PageText:
    lines = []
    for line in text.lines:
        chars = tuple(char.model_copy(update={"box": _doubled(char.box)}) for char in line.chars)
        lines.append(line.model_copy(update={"box": _doubled(line.box), "chars": chars}))
    return text.model_copy(update={"lines": tuple(lines)})


def _doubled_layout(layout: PageLayout) -> PageLayout:
    regions = tuple(r.model_copy(update={"box": _doubled(r.box)}) for r in layout.regions)
    return layout.model_copy(update={"regions": regions})


def _halved(old: Region, new: Region) -> Region:
    """Take over what was read on the enlarged page."""

    def half(box: Box) -> Box:
        return Box(left=box.left // 2, top=box.top // 2, right=-(-box.right // 2), bottom=-(-box.bottom // 2))

    places = tuple(place.model_copy(update={"box": half(place.box)}) for place in new.places)
    formulas = tuple(formula.model_copy(update={"box": half(formula.box)}) for formula in new.formulas)
    read = {"text": new.text, "confidence": new.confidence, "engine": new.engine}
    return old.model_copy(update={**read, "places": places, "formulas": formulas})


def _formula(region: Region, latex: str, confidence: float | None, engine: FormulaEngine) -> Region:
    if not latex:  # what layout put there is better than nothing
        return region
    name = engine.fingerprint.name
    formula = Formula(latex=latex, box=region.box, display=True, engine=name)
    place = Place(start=0, end=len(latex), box=region.box)
    read = {"text": latex, "confidence": confidence, "engine": name}
    return region.model_copy(update={**read, "formulas": (formula,), "places": (place,)})


def _text(
    row: _Row,
    pieces: Sequence[str],
    known: Sequence[float],
    language: Language,
    text: PageText,
    engine: FormulaEngine,
) -> Region:
    if not row.lines and not any(pieces):
        return row.region
    places = [(stack.around, latex, stack.axis) for stack, latex in zip(row.stacks, pieces, strict=True)]
    loose = [line for line in row.lines if not _is_part_of_stack(line, row)]
    glyphs = row_glyphs(loose, row.blobs, places, row.em)
    confidences = [*known, *(line.confidence for line in loose if line.confidence is not None)]
    names = (text.engine.name, engine.fingerprint.name) if any(pieces) else (text.engine.name,)
    marked = mark_math(glyphs, language=language)
    boxes = [_printed_box(row, printed) for printed in marked.printed]
    return row.region.model_copy(
        update={
            "text": marked.text,
            "confidence": min(confidences) if confidences else None,
            "engine": "+".join(names),
            "formulas": tuple(
                Formula(latex=p.text, box=box, start=p.start, engine=engine.fingerprint.name)
                for p, box in zip(marked.printed, boxes, strict=True)
                if p.is_formula
            ),
            "places": tuple(
                Place(start=p.start, end=p.start + len(p.text), box=box)
                for p, box in zip(marked.printed, boxes, strict=True)
            ),
        }
    )


def _printed_box(row: _Row, printed: Printed) -> Box:
    """Return where glyphs stand on the page; those without ink of their own are taken to be half an em wide."""
    half = 0.25 * row.em
    top = min((line.box.top for line in row.lines), default=0)
    bottom = max((line.box.bottom for line in row.lines), default=row.box.height)
    sides = [
        (g.x - half, top, g.x + half, bottom)
        if g.blob is None
        else (g.blob.left, g.blob.top, g.blob.right, g.blob.bottom)
        for g in printed.glyphs
    ]
    lefts, tops, rights, bottoms = zip(*sides, strict=True)
    return Box(
        left=row.box.left + round(min(lefts)),
        top=row.box.top + round(min(tops)),
        right=row.box.left + round(max(rights)),
        bottom=row.box.top + round(max(bottoms)),
    )


def _bends(picture: Picture, text: PageText, layout: PageLayout, em: float) -> list[Bend]:
    """Measure how the longer rows of the page bend."""
    bends = []
    for region in layout.regions:
        box = region.box
        if region.kind is RegionKind.TEXT and box.width > MIN_ROW_EM * em and box.height < 2.5 * em:
            blobs = find_blobs(picture[box.top : box.bottom, box.left : box.right])
            bend = row_bend(blobs, em, left=box.left, top=box.top)
            bends += [] if bend is None else [bend]
    return bends


def _row(picture: Picture, region: Region, text: PageText, em: float, bends: Sequence[Bend]) -> _Row:
    lines = [text.lines[index] for index in region.line_indexes]
    box = region.box
    for line in lines:
        box = box.union(line.box)
    inner = box
    box, crop = _flat_crop(picture, box, em, bends)
    cut_above, cut_below = box.top < inner.top, box.bottom > inner.bottom
    blobs = [
        b for b in find_blobs(crop) if not ((cut_above and b.top <= 0) or (cut_below and b.bottom >= box.height))
    ]  # what the edge cuts belongs to the rows around
    own = crop_lines(lines, box)
    size = min(1.6 * em, max(0.5 * em, em_px(blobs))) if not _has_cjk(lines) else _lines_em(lines, em)
    found, _ = find_stacks(blobs, size)
    stacks = [s for s in found if not _is_stroke(s, own, size)]
    taken = {b for s in stacks for b in (s.sign, *(b for part in s.parts for b in part))}
    top, bottom = inner.top - box.top - 0.1 * em, inner.bottom - box.top + 0.1 * em
    stacks = [s for s in stacks if s.around.top < bottom and s.around.bottom > top]
    free = [b for b in blobs if b not in taken and top <= b.y <= bottom]
    return _Row(region, box, crop, own, size, join_strokes(free, size), stacks)


def _flat_crop(
    picture: Picture, box: Box, em: float, bends: Sequence[Bend], padding_em: float = PADDING_EM
) -> tuple[Box, Picture]:
    """Cut out a region with some paper around it and lay it flat."""
    height_px, width_px = picture.shape[:2]
    box = box.padded(round(padding_em * em), width_px=width_px, height_px=height_px)
    bend = mean_bend(bends, box.centre[1])
    return box, flattened(picture[box.top : box.bottom, box.left : box.right], bend, em, left=box.left)


def _display_job(
    picture: Picture, region: Region, text: PageText, em: float, bends: Sequence[Bend]
) -> tuple[Picture, tuple[Line, ...]]:
    box, crop = _flat_crop(picture, region.box, em, bends, padding_em=DISPLAY_PADDING_EM)
    return crop, crop_lines([line for line in text.lines if _touches(line.box, box)], box)


def _piece_job(row: _Row, stack: Stack) -> tuple[Picture, tuple[Line, ...]]:
    """Cut a stack out of its row, with a hair of paper around it."""
    around = stack.around
    box = Box(
        left=max(0, around.left - 1),
        top=max(0, around.top - 1),
        right=min(row.box.width, around.right + 1),
        bottom=min(row.box.height, around.bottom + 1),
    )
    crop = row.crop[box.top : box.bottom, box.left : box.right]
    return crop, crop_lines([line for line in row.lines if _touches(line.box, box)], box)


def _is_stroke(stack: Stack, lines: Sequence[Line], em: float) -> bool:
    """Say whether a stack is a part of a character (三, 言 and 原 look like fractions and roots) or of a word."""
    around = stack.around
    if stack.kind == "fraction" and around.height < LOWEST_FRACTION_EM * em:
        return True
    top = max([around.top, *(line.box.top - 0.2 * em for line in lines)])
    bottom = min([around.bottom, *(line.box.bottom + 0.2 * em for line in lines)])
    slack = -0.15 * em if bottom - top > STROKE_HEIGHT_EM * em else 0.1 * em
    return any(
        char.box.left - slack <= stack.sign.x <= char.box.right + slack
        for line in lines
        for char in line.chars
        if (is_cjk(char.text) and char.text.isalpha()) or (len(char.text) > 3 and char.text.isalpha())
    )


def _is_part_of_stack(line: Line, row: _Row) -> bool:
    x, y = line.box.centre
    for stack in row.stacks:
        around = stack.around
        if around.left <= x <= around.right and line.box.width <= around.width + row.em:
            return True
    return not 0 <= y <= row.box.height


def _touches(line: Box, box: Box) -> bool:
    x, y = line.centre
    return (box.left <= x < box.right and box.top <= y < box.bottom) or line.intersection(box).area > 0.5 * line.area


def _language(text: PageText) -> Language:
    letters = [c for line in text.lines for c in line.text if c.isalpha()]
    return "zh" if sum(is_cjk(c) for c in letters) > CJK_SHARE * len(letters) else "en"


def _has_cjk(lines: Sequence[Line]) -> bool:
    return any(is_cjk(c) and c.isalpha() for line in lines for c in line.text)


def _page_em(text: PageText) -> float:
    """Type size of the page: lines are boxed about 1.3 em high."""
    heights = [line.box.height for line in text.lines if len(line.text) > 8]
    return median(heights) / 1.3 if heights else 20.0


def _lines_em(lines: Sequence[Line], em: float) -> float:
    """Type size of a row with Chinese characters, which are one em wide."""
    widths = [c.box.width for line in lines for c in line.chars if is_cjk(c.text) and c.text.isalpha()]
    return min(1.6 * em, max(0.6 * em, 0.88 * median(widths))) if widths else em
