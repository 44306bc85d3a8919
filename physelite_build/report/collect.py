"""What one document became: its pages with regions and its problems, ready for the template. Neighbour: ``write.py``.

Everything may be missing for a page; a view shows what there is. Text becomes HTML here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from physelite_build.geometry import Box
from physelite_build.latex import render_html
from physelite_build.records import (
    Answer,
    Document,
    DocumentProblems,
    Figure,
    Outcome,
    Page,
    PageLayout,
    PageText,
    Problem,
    Region,
    RegionKind,
    ScreenVerdict,
    Span,
    Status,
    Upright,
)
from physelite_build.report.draw import KIND_COLOURS
from physelite_build.report.pictures import PictureShelf

if TYPE_CHECKING:
    from physelite_build.store import Store

__all__ = ["DocumentView", "DoubtView", "FigureView", "PageView", "ProblemView", "RegionView", "document_view"]

PAGE_WIDTH_PX = 900
FIGURE_WIDTH_PX = 640
DOUBTFUL = 0.85
"""Readings below this confidence are marked; of PaddleOCR's lines about one in twenty lies below on clean scans."""
MAX_DOUBTS = 3
"""Least certain lines shown for each problem."""

_LINKS = {
    "mention": "the text mentions it",
    "caption": "its caption names the problem",
    "position": "it stands inside the problem",
}


@dataclass(frozen=True, slots=True)
class RegionView:
    """One region: its place on the upright page and what was read."""

    number: int
    kind: str
    colour: str
    box: Box
    text: Markup
    confidence: float | None
    is_doubtful: bool


@dataclass(frozen=True, slots=True)
class PageView:
    """One page: a picture, the regions on it, and why it was put aside if it was."""

    page_id: str
    number: int
    src: str
    width_px: int
    height_px: int
    """Size in which the boxes are given, not that of the small picture."""
    regions: tuple[RegionView, ...]
    kinds: tuple[tuple[str, str], ...]
    """Kinds on this page with their colours, for the legend."""
    lines: tuple[RegionView, ...]
    """Bare lines, if the page was read but has no layout."""
    notes: tuple[str, ...]
    troubles: tuple[Outcome, ...]
    is_aside: bool


@dataclass(frozen=True, slots=True)
class FigureView:
    """One figure with the reason why it stands where it stands."""

    figure_id: str
    src: str
    caption: Markup
    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class DoubtView:
    """One of the least certain lines: the paper beside the reading."""

    page_number: int
    src: str
    text: Markup
    confidence: float


@dataclass(frozen=True, slots=True)
class ProblemView:
    """One problem, rendered."""

    anchor: str
    problem: Problem
    statement: Markup
    parts: tuple[tuple[str, Markup], ...]
    solution: Markup
    steps: tuple[tuple[str, Markup], ...]
    final_answer: Markup
    answers: tuple[tuple[Answer, Markup], ...]
    figures: tuple[FigureView, ...]
    doubts: tuple[DoubtView, ...]
    engines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentView:
    """One document with its pages and problems."""

    document: Document
    anchor: str
    pages: tuple[PageView, ...]
    problems: tuple[ProblemView, ...]
    unplaced: tuple[FigureView, ...]
    has_problems_result: bool
    """False if the document never got as far as problems."""


def document_view(store: Store, document: Document, *, anchor: str, shelf: PictureShelf) -> DocumentView:
    """Collect one document from the store; pictures go to the shelf."""
    found = store.load("answers", document.doc_id, DocumentProblems)
    return DocumentView(
        document=document,
        anchor=anchor,
        pages=tuple(_page_views(store, document, shelf)),
        problems=tuple(
            _problem_view(store, problem, f"{anchor}-{number}", shelf)
            for number, problem in enumerate(found.problems if found else (), start=1)
        ),
        unplaced=tuple(_figure_view(store, f, shelf) for f in (found.unplaced_figures if found else ())),
        has_problems_result=found is not None,
    )


def _html(text: str | None) -> Markup:
    return Markup(render_html(text or ""))  # noqa: S704 - render_html escapes all but its own tags


# ---------------------------------------------------------------- pages
def _page_views(store: Store, document: Document, shelf: PictureShelf) -> Iterator[PageView]:
    for page_id in document.page_ids:
        page = store.get("page", page_id, Page)
        if page is not None:
            yield _page_view(store, page, shelf)


def _page_view(store: Store, page: Page, shelf: PictureShelf) -> PageView:
    upright = store.load("straighten", page.page_id, Upright)
    layout = _layout_of(store, page.page_id) if upright else None
    text = store.load("read", page.page_id, PageText) if upright and layout is None else None
    shown: Page | Upright = upright or page
    regions = tuple(_region_view(region) for region in sorted(layout.regions, key=lambda r: r.order)) if layout else ()
    lines = tuple(
        RegionView(
            number,
            "line",
            KIND_COLOURS[RegionKind.TEXT],
            line.box,
            _html(line.text),
            line.confidence,
            _low(line.confidence),
        )
        for number, line in enumerate(text.lines if text else (), start=1)
    )
    screen = store.load("screen", page.page_id, ScreenVerdict)
    troubles = tuple(o for o in store.outcomes(item_id=page.page_id) if o.status is not Status.DONE and o.code)
    return PageView(
        page_id=page.page_id,
        number=page.number,
        src=shelf.src(store.blobs.get_image(shown.image_sha256), max_width_px=PAGE_WIDTH_PX),
        width_px=shown.width_px,
        height_px=shown.height_px,
        regions=regions,
        kinds=tuple(dict.fromkeys((r.kind, r.colour) for r in regions)),
        lines=lines,
        notes=tuple(_page_notes(page, upright, layout)),
        troubles=troubles,
        is_aside=(screen is not None and not screen.keep)
        or any(o.stage == "screen" and o.status in (Status.REJECTED, Status.EMPTY) for o in troubles),
    )


def _layout_of(store: Store, page_id: str) -> PageLayout | None:
    """Return the page's regions with their text, or the bare regions if nothing was transcribed."""
    return store.load("transcribe", page_id, PageLayout) or store.load("layout", page_id, PageLayout)


def _region_view(region: Region) -> RegionView:
    is_formula = region.kind is RegionKind.FORMULA and region.text.strip() and "$" not in region.text
    return RegionView(
        number=region.order + 1,
        kind=str(region.kind),
        colour=KIND_COLOURS[region.kind],
        box=region.box,
        text=_html(f"$${region.text}$$" if is_formula else region.text),
        confidence=region.confidence,
        is_doubtful=_low(region.confidence) and region.kind is not RegionKind.FURNITURE,
    )


def _low(confidence: float | None) -> bool:
    return confidence is not None and confidence < DOUBTFUL


def _page_notes(page: Page, upright: Upright | None, layout: PageLayout | None) -> Iterator[str]:
    yield f"{page.width_px} × {page.height_px} px" + (f" at {page.dpi:.0f} dpi" if page.dpi else "")
    if upright is not None and upright.turned_deg:
        yield f"turned by {upright.turned_deg}°"
    if upright is not None and abs(upright.skew_deg) >= 0.05:
        yield f"{abs(upright.skew_deg):.1f}° of skew removed"
    if layout is not None and layout.columns > 1:
        yield f"{layout.columns} columns"


# ---------------------------------------------------------------- problems
def _problem_view(store: Store, problem: Problem, anchor: str, shelf: PictureShelf) -> ProblemView:
    return ProblemView(
        anchor=anchor,
        problem=problem,
        statement=_html(problem.statement),
        parts=tuple((part.label, _html(part.text)) for part in problem.parts),
        solution=_html(problem.solution),
        steps=tuple((step.label or "", _html(step.text)) for step in problem.steps),
        final_answer=_html(problem.final_answer),
        answers=tuple((answer, _html(answer.printed)) for answer in problem.answers),
        figures=tuple(_figure_view(store, figure, shelf) for figure in problem.figures),
        doubts=tuple(_doubt_views(store, problem, shelf)),
        engines=tuple(sorted({span.engine for span in problem.spans if span.engine})),
    )


def _figure_view(store: Store, figure: Figure, shelf: PictureShelf) -> FigureView:
    place = str(figure.role) + (f", part {figure.part}" if figure.part else "")
    reason = _LINKS.get(figure.link_rule or "", figure.link_rule or "")
    if reason and figure.link_score is not None:
        reason += f" ({figure.link_score:.2f})"
    return FigureView(
        figure_id=figure.figure_id,
        src=shelf.src(store.blobs.get_image(figure.image_sha256), max_width_px=FIGURE_WIDTH_PX),
        caption=_html(figure.caption),
        place=place,
        reason=reason or "linked to no problem",
    )


def _doubt_views(store: Store, problem: Problem, shelf: PictureShelf) -> Iterator[DoubtView]:
    known = [(span.confidence, span) for span in problem.spans if _low(span.confidence) and span.confidence is not None]
    shown: set[tuple[str, Box]] = set()
    for confidence, span in sorted(known, key=lambda entry: entry[0]):
        upright = store.load("straighten", span.page_id, Upright)
        page = store.get("page", span.page_id, Page)
        if upright is None or page is None or (span.page_id, span.box) in shown or not span.box.area:
            continue
        shown.add((span.page_id, span.box))
        layout = _layout_of(store, span.page_id)
        text = _text_at(span, layout.regions if layout else ())
        box = span.box.padded(6, width_px=upright.width_px, height_px=upright.height_px)
        crop = store.blobs.get_image(upright.image_sha256)[box.top : box.bottom, box.left : box.right]
        if crop.size:
            yield DoubtView(page.number, shelf.src(crop, max_width_px=PAGE_WIDTH_PX), text, confidence)
        if len(shown) == MAX_DOUBTS:
            return


def _text_at(span: Span, regions: Sequence[Region]) -> Markup:
    best = max(regions, key=lambda region: region.box.iou(span.box), default=None)
    if best is None or best.box.iou(span.box) == 0:
        return Markup("")
    return _region_view(best).text
