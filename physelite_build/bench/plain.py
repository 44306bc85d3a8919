"""The yardstick: what a short script makes of the same OCR lines, with no layout, no formulas and no model behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from physelite_build.geometry import Box, Transform
from physelite_build.records import Line, PageText

__all__ = ["PlainPage", "plain_records"]

_CHINESE = "一二三四五六七八九十"
_HEADING = re.compile(
    rf"^(?:第\s*(\d+|[{_CHINESE}])\s*题|([{_CHINESE}])\s*[、,，.]|(?:Problem|Question|Exercise)\s*(\d+)"
    r"|Q(\d+)(?=\s*[:(（])|(\d{1,2})\s*[.．、](?!\d))[\s.:：、]*",
    re.IGNORECASE,
)
_SOLUTION = re.compile(r"^[【\[]?(?:参考)?(?:解答|解析|解|答案与解析|Solution)[】\]]?(?:[:：\s.]|$)", re.IGNORECASE)
_ANSWER = re.compile(r"^[【\[]?(?:答案|Answer)[】\]]?\s*[:：]\s*", re.IGNORECASE)
_LEAST_SIDE = 0.06
"""Least width and height of a figure, as a share of the page width; about 12 mm of A4. A guess, like all of this script."""


@dataclass(frozen=True, slots=True)
class PlainPage:
    """One page, numbered from 1, as the text engine saw it."""

    number: int
    width_px: int
    """Size of the page as a viewer shows it."""
    height_px: int
    text: PageText
    """Lines in upright pixels."""
    to_page: Transform = field(default_factory=Transform)
    """Map from upright to page pixels."""
    picture: NDArray[np.uint8] | None = None
    """Upright, shape (h, w) or (h, w, 3), 0 is black; None finds no figures."""


def plain_records(doc_id: str, pages: Sequence[PlainPage]) -> dict[str, Any]:
    """Read a document the plain way.

    Rows are sorted from top to bottom across the page, a regular expression finds problem headings, a repeated number is taken
    for its solution, and a figure belongs to the problem that is open above it.

    Args:
        doc_id: Id of the document.
        pages: Pages in order.

    Returns:
        One record in the form of ``physelite_build/export.py``; text before the first heading is dropped.
    """
    problems: dict[str, dict[str, Any]] = {}
    current: dict[str, Any] | None = None
    part = "statement"
    text = "".join(line.text for page in pages for line in page.text.lines)
    language = "zh" if sum("\u4e00" <= c <= "\u9fff" for c in text) * 5 > len(text) else "en"
    for page in pages:
        for item in _in_order(page):
            if isinstance(item, Box):
                if current is not None:
                    seen, size = page.to_page.box(item), [page.width_px, page.height_px]
                    box = [seen.left, seen.top, seen.right, seen.bottom]
                    current["figures"].append({"page": page.number, "bbox": box, "page_size": size, "role": part})
                continue
            if heading := _HEADING.match(item):
                number = next(group for group in heading.groups() if group)
                number = str(_CHINESE.index(number) + 1) if number in _CHINESE else number
                part = "solution" if number in problems else "statement"
                empty = {"number": number, "language": language, "statement": "", "solution": "", "final_answer": None}
                current = problems.setdefault(number, {**empty, "pages": [], "figures": []})
                item = item[heading.end() :]
            elif solution := _SOLUTION.match(item):
                part, item = "solution", item[solution.end() :]
            if current is None:
                continue
            if answer := _ANSWER.match(item):
                current["final_answer"] = item[answer.end() :]
            else:
                current[part] += item + "\n"
            current["pages"] = sorted({*current["pages"], page.number})
    return {"doc_id": doc_id, "error": None, "problems": list(problems.values())}


def _in_order(page: PlainPage) -> list[str | Box]:
    """Return texts and figure boxes from top to bottom, then left to right."""
    lines = page.text.lines
    half_row_px = float(np.median([line.box.height for line in lines])) / 2 if lines else 0.0
    items: list[tuple[float, int, str | Box]] = [(line.box.centre[1], line.box.left, line.text) for line in lines]
    boxes = [] if page.picture is None else _figures(page.picture, lines)
    items += [(float(box.top), box.left, box) for box in boxes]
    rows: list[list[tuple[float, int, str | Box]]] = []
    for item in sorted(items, key=lambda item: item[:2]):
        if not rows or item[0] - rows[-1][0][0] > half_row_px:
            rows.append([])
        rows[-1].append(item)
    return [item for row in rows for _, _, item in sorted(row, key=lambda item: item[1])]


def _figures(picture: NDArray[np.uint8], lines: Sequence[Line]) -> list[Box]:
    """Return boxes of big dark blobs outside the text, in upright pixels."""
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY) if picture.ndim == 3 else picture.copy()
    ink = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)[1]
    for line in lines:
        ink[max(0, line.box.top) : line.box.bottom, max(0, line.box.left) : line.box.right] = 0
    reach_px = max(3, grey.shape[1] // 60)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(cv2.dilate(ink, np.ones((reach_px, reach_px), np.uint8)))
    least_px = _LEAST_SIDE * grey.shape[1] + reach_px
    boxes = []
    for index in (i for i in range(1, count) if min(stats[i][2:4]) >= least_px):
        y, x = np.nonzero((labels == index) & (ink > 0))
        boxes.append(Box.around([(x.min(), y.min()), (x.max() + 1, y.max() + 1)]))
    return boxes
