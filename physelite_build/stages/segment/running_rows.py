"""Which rows only say where in the paper a page is: running heads and feet that ``layout`` took for text.

A page alone often cannot tell a running head from a title; here all pages of the document are seen. Neighbour of ``rows.py``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from physelite_build.records import Page, PageLayout, Region, RegionKind
from physelite_build.stages.segment.headings import find_heading
from physelite_build.stages.segment.marks import find_answer_marker, find_mark, find_solution_marker
from physelite_build.stages.segment.sections import is_answer_sheet, is_answers_title

__all__ = ["PageInput", "find_running_rows", "is_answer_sheet_page"]

RIM = 0.12
"""Running heads and feet stand in this share of a page's height at its top and bottom; photos show some desk around."""
LEAST_LENGTH = 5
"""Shorter rows repeat by chance: ``m/s``, ``图1``."""
LONGEST = 60
"""Longer rows are sentences."""
ALIKE = 0.85
"""Least similarity of a running head on two pages, digits left out; OCR errs in one character of ten at worst."""
TITLE_ROWS = 4
"""The title of an answer sheet is among so many first rows of its page."""
_READ = (RegionKind.TEXT, RegionKind.FORMULA, RegionKind.CAPTION)
_STATES_PAGE = re.compile(
    r"第\s*\d{1,3}\s*页|[共全]\s*\d{1,3}\s*页|\bpage\s+\d{1,3}(?:\s*(?:of|/)\s*\d{1,3})?\s*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class PageInput:
    """One kept page with its layout; the regions are in reading order."""

    page: Page
    layout: PageLayout


def find_running_rows(pages: Sequence[PageInput]) -> list[set[int]]:
    """Find running heads and feet.

    Args:
        pages: Kept pages in document order.

    Returns:
        For each page the ``order`` of its regions that state a page number or stand at the rim of another page as well.
        Headings, part labels and markers are never among them, nor is a row with text
        between it and the edge of the page.
    """
    found: list[set[int]] = [set() for _ in pages]
    for at_top in (True, False):
        rims = [[r for r in page.layout.regions if _at_rim(r, page, at_top=at_top)] for page in pages]
        for index, page in enumerate(pages):
            others = [r for k, rim in enumerate(rims) if k != index for r in rim]
            runs = {r.order for r in rims[index] if _STATES_PAGE.search(r.text) or any(_same(r, o) for o in others)}
            texts = (r for r in page.layout.regions if r.kind in _READ)
            for region in sorted(texts, key=lambda r: r.box.centre[1], reverse=not at_top):
                if region.order not in runs:
                    break
                found[index].add(region.order)
    return found


def is_answer_sheet_page(page: PageInput) -> bool:
    """Tell whether a page is a form for answers: one of its first rows says so, and no statement is on it."""
    texts = [r for r in sorted(page.layout.regions, key=lambda r: r.order) if r.kind is not RegionKind.FIGURE]
    return any(is_answer_sheet(r.text) for r in texts[:TITLE_ROWS])


def _at_rim(region: Region, page: PageInput, *, at_top: bool) -> bool:
    text = region.text.strip()
    if region.kind is not RegionKind.TEXT or not LEAST_LENGTH <= len(text) <= LONGEST:
        return False
    middle = region.box.centre[1] / max(1, page.layout.page_height_px)
    if not (middle < RIM if at_top else middle > 1 - RIM):
        return False
    if find_heading(text) or find_mark(text) or find_solution_marker(text) or find_answer_marker(text):
        return False
    return not is_answers_title(text)


def _same(one: Region, other: Region) -> bool:
    a, b = (re.sub(r"[\d\s]+", "", region.text) for region in (one, other))
    return len(a) >= LEAST_LENGTH and SequenceMatcher(None, a, b).ratio() >= ALIKE
