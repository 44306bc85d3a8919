"""The readable rows of a document, page after page, with what their place on the page says about them.

``segment.py`` starts here: captions, figures, tables and furniture are left out, equation numbers that stand alone are dropped.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import median

from physelite_build.records import Page, Region, RegionKind
from physelite_build.stages.segment.running_rows import PageInput, find_running_rows
from physelite_build.stages.segment.sections import is_grading_box

__all__ = ["PageInput", "PageLabel", "Row", "is_prose", "read_page_labels", "read_rows"]

SHORT_EM = 2.5
"""A row that ends this many text heights before the column does has ended a paragraph; justified text stays within one."""
SHORT_RATIO = 0.06
"""The same as a share of the column width, for photographs whose right edge is bent."""
EQUATION_NUMBER_INDENT = 0.5
"""A lone ``(3)`` that starts in the right half of its column numbers an equation; part labels stand at the left."""
PROSE_LENGTH = {"zh": 14, "en": 40}
"""Characters from which a row counts as running text rather than a title, by script."""
_EQUATION_NUMBER = re.compile(r"^[（(]\s*\d{1,3}[a-z]?\s*[)）]$")
_LABEL_AS_FORMULA = re.compile(r"^[.\s]*\$\s*([A-Za-z]|\d{1,2})\s*\$(?=\s*[.．、:：)）])")
"""A label such as ``A.`` that the transcriber took for a formula."""
_PAGE_NUMBER = re.compile(
    r"^(?:[-—–·\s]*\d{1,3}[-—–·\s]*|第\s*\d+\s*页.{0,8}|\$?\d{1,3}\s*/\s*\d{1,3}\$?(?:\s*©.*)?|page\s+\d+.{0,10}|©.*)$",
    re.IGNORECASE,
)
_PAGE_LABEL = re.compile(r"(?<![A-Za-z\d])(?P<kind>[QTESA])\s?(?P<number>\d{1,2})\s?[-–—]\s?\d{1,2}(?!\d)")
HEAD_RATIO = 0.12
"""Olympiad papers print ``Q1-2`` (problem 1, page 2) in the top eighth of each page."""
MARGIN_RATIO = 0.06
"""Page numbers stand in the outermost 6 % of a page's height; there a bare number is none of the text."""
_LABEL_IN_FORMULA = re.compile(
    r"^(?P<word>Step\s*)?\$\s*(?P<label>(?(word)\d{1,2}\s*[.:]|(?:[（(]\d{1,2}[)）]|[①-⑳])))\s*(?=[^$\s])"
)
"""A label that was drawn into the formula after it: ``$(2)v=1$``, ``Step $3.1v$``."""
_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of text or one display formula."""

    page: Page
    region: Region
    text: str
    is_formula: bool
    indent_em: float
    """Distance from the left edge of the column in text heights."""
    is_short: bool
    """It ends clearly before its column does, so a paragraph may end here."""
    gap_em: float
    """Free height above it in text heights; 0 at the top of a page or column."""
    width_ratio: float
    """Width divided by the width of the column, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class PageLabel:
    """A printed page label that names a problem, such as ``Q1-2``, ``S1-2`` (solution) or ``A1-2`` (answer sheet)."""

    kind: str
    number: int


def read_page_labels(pages: Sequence[PageInput]) -> dict[str, PageLabel]:
    """Return the page labels of a document by page id; pages without one are left out."""
    labels: dict[str, PageLabel] = {}
    for page in pages:
        for region in page.layout.regions:
            match = _PAGE_LABEL.search(region.text) if _is_in_head(region, page) else None
            if match is not None:
                labels[page.page.page_id] = PageLabel(match["kind"], int(match["number"]))
                break
    return labels


def _is_page_number(region: Region, page: PageInput) -> bool:
    middle = region.box.centre[1] / max(1, page.layout.page_height_px)
    return not MARGIN_RATIO < middle < 1 - MARGIN_RATIO and bool(_PAGE_NUMBER.match(region.text.strip()))


def _is_in_head(region: Region, page: PageInput) -> bool:
    return region.box.bottom < HEAD_RATIO * page.layout.page_height_px


def read_rows(pages: Sequence[PageInput]) -> list[Row]:
    """Flatten pages into rows.

    Args:
        pages: Kept pages in document order.

    Returns:
        Rows with text, in reading order; running heads and feet, page numbers and the words over boxes for marks are left out.
    """
    usual = _usual_right_edges(pages)
    running = find_running_rows(pages)
    rows: list[Row] = []
    for index, page in enumerate(pages):
        rows.extend(_rows_of_page(page, usual, running[index]))
    return rows


def _free_label(text: str) -> str:
    """Take a label out of the formula in which the transcriber left it."""
    text = _LABEL_AS_FORMULA.sub(r"\1", text)
    return _LABEL_IN_FORMULA.sub(lambda m: f"{m['word'] or ''}{m['label']} $", text)


def is_prose(row: Row) -> bool:
    """Say whether a row is part of running text: long enough for its script, no formula."""
    if row.is_formula:
        return False
    return len(row.text) >= PROSE_LENGTH["zh" if _HAN.search(row.text) else "en"]


def _usual_right_edges(pages: Sequence[PageInput]) -> dict[tuple[int, int], float]:
    """Right edge of each column, by number of columns, as a share of the page width: a last page may hold short rows only."""
    edges: dict[tuple[int, int], list[float]] = defaultdict(list)
    for page in pages:
        texts = [r for r in page.layout.regions if r.kind is RegionKind.TEXT]
        for column in {r.column for r in texts}:
            right = max(r.box.right for r in texts if r.column == column)
            edges[page.layout.columns, column].append(right / max(1, page.layout.page_width_px))
    return {key: median(values) for key, values in edges.items()}


def _rows_of_page(page: PageInput, usual: dict[tuple[int, int], float], running: Collection[int]) -> list[Row]:
    regions = [r for r in page.layout.regions if r.kind in (RegionKind.TEXT, RegionKind.FORMULA) and r.text.strip()]
    text_rows = [r for r in regions if r.kind is RegionKind.TEXT]
    em = median(r.box.height for r in text_rows) if text_rows else 1.0
    em = max(em, 1.0)
    columns: dict[int, list[Region]] = defaultdict(list)
    for region in regions:
        columns[region.column].append(region)
    rows: list[Row] = []
    before: Region | None = None
    first = min(regions, key=lambda r: r.box.top, default=None)
    last = max(regions, key=lambda r: r.box.bottom, default=None)
    for region in sorted(regions, key=lambda r: r.order):
        mates = [r for r in columns[region.column] if r.kind is RegionKind.TEXT] or columns[region.column]
        left, right = min(r.box.left for r in mates), max(r.box.right for r in mates)
        right = max(right, int(usual.get((page.layout.columns, region.column), 0.0) * page.layout.page_width_px))
        width = max(1, right - left)
        if _EQUATION_NUMBER.match(region.text.strip()) and region.box.left - left > EQUATION_NUMBER_INDENT * width:
            continue
        if region in (first, last) and _is_page_number(region, page):
            continue
        if _is_in_head(region, page) and _PAGE_LABEL.search(region.text):
            continue
        if region.order in running or is_grading_box(region.text):
            continue
        same_column = before is not None and before.column == region.column
        gap = (region.box.top - before.box.bottom) / em if before is not None and same_column else 0.0
        slack = max(SHORT_EM * em, SHORT_RATIO * width)
        rows.append(
            Row(
                page=page.page,
                region=region,
                text=_free_label(region.text.strip()) if region.kind is RegionKind.TEXT else region.text.strip(),
                is_formula=region.kind is RegionKind.FORMULA,
                indent_em=max(region.indent_px, 0) / em,
                is_short=region.box.right < right - slack,
                gap_em=gap,
                width_ratio=min(1.0, region.box.width / width),
            )
        )
        before = region
    return rows
