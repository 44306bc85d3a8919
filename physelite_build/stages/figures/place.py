"""Cuts out the figures of a document and links each to the problem that it belongs to.

Runs after ``segment``. Three rules, strongest first: a caption that names a problem, a text that names the figure's number, the
place in the reading order. Where the place is doubtful, a text that says *see the figure* and has none yet decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from physelite_build.blobs import Blobs
from physelite_build.geometry import Box
from physelite_build.records import (
    DocumentProblems,
    Figure,
    Region,
    RegionKind,
)
from physelite_build.stages.figures.figure_links import Found, link_figures, part_that_names, read_label
from physelite_build.stages.segment import PageInput

__all__ = ["place_figures"]

CROP_MARGIN_PX = 4
"""Room around a crop, so that a line at the border of the detected box is not cut."""
CAPTION_REACH = 0.6
"""A caption is at most this share of its figure's height away from it ..."""
CAPTION_REACH_PX = 60
"""... but for flat figures at least so many pixels, two rows of text at 150 dpi."""
_TABLE = re.compile(r"^\s*(?:表|table\b)", re.IGNORECASE)


def place_figures(
    problems: DocumentProblems,
    pages: Sequence[PageInput],
    *,
    picture_of: Callable[[str], NDArray[np.uint8]],
    blobs: Blobs,
) -> DocumentProblems:
    """Cut out figures and attach them to problems.

    Args:
        problems: The document's problems with their spans.
        pages: The pages that ``segment`` was given.
        picture_of: Returns the upright picture of a page id, BGR, shape ``(h, w, 3)``, uint8.
        blobs: Where the crops are stored as PNG.

    Returns:
        The same problems with their figures; figures without a problem in ``unplaced_figures``. Order is reading order.
    """
    found = _find(pages)
    links = link_figures(found, problems, pages)
    attached: dict[int, list[Figure]] = {}
    unplaced: list[Figure] = []
    pictures = {index: picture_of(pages[index].page.page_id) for index in sorted({item.page for item in found})}
    for item, link in zip(found, links, strict=True):
        picture = pictures[item.page]
        figure = _cut(item, pages[item.page].page.page_id, picture, blobs)
        if link is None:
            unplaced.append(figure)
            continue
        owner = problems.problems[link.problem]
        figure = figure.model_copy(
            update={
                "role": link.role,
                "problem_key": owner.key,
                "part": part_that_names(owner, item, link.role),
                "link_rule": link.rule,
                "link_score": link.score,
            }
        )
        attached.setdefault(link.problem, []).append(figure)
    done = tuple(p.model_copy(update={"figures": tuple(attached.get(i, ()))}) for i, p in enumerate(problems.problems))
    return problems.model_copy(update={"problems": done, "unplaced_figures": tuple(unplaced)})


# ---------------------------------------------------------------- finding and cutting
def _find(pages: Sequence[PageInput]) -> list[Found]:
    found: list[Found] = []
    for index, page in enumerate(pages):
        regions = sorted(page.layout.regions, key=lambda r: r.order)
        captions = [r for r in regions if r.kind is RegionKind.CAPTION and r.text.strip() and not _TABLE.match(r.text)]
        figures = [r for r in regions if r.kind is RegionKind.FIGURE]
        owners = _captions_of(figures, captions)
        for k, region in enumerate(figures, 1):
            caption = owners.get(k - 1)
            found.append(
                Found(index, region, f"{page.page.page_id}/f{k}", caption, read_label(caption) if caption else None)
            )
    return found


def _captions_of(figures: Sequence[Region], captions: Sequence[Region]) -> dict[int, str]:
    """Give each caption to its nearest figure; several rows of one caption are joined, a shared caption goes to all."""
    texts: dict[int, list[str]] = {}
    for caption in captions:
        distances = sorted((d, i) for i, f in enumerate(figures) if (d := _distance(f.box, caption.box)) is not None)
        if not distances:
            continue
        best = distances[0][1]
        texts.setdefault(best, []).append(caption.text.strip())
    for i, figure in enumerate(figures):
        if i in texts:
            continue
        shared = [c for c in captions if _spans_both(c.box, figure.box) and _distance(figure.box, c.box) is not None]
        if shared:
            texts[i] = [shared[0].text.strip()]
    return {i: " ".join(rows) for i, rows in texts.items()}


def _distance(figure: Box, caption: Box) -> float | None:
    """Distance of a caption from its figure: below counts once, beside twice, above three times; None if out of reach."""
    reach = max(CAPTION_REACH_PX, CAPTION_REACH * figure.height)
    overlap_x = min(figure.right, caption.right) - max(figure.left, caption.left)
    overlap_y = min(figure.bottom, caption.bottom) - max(figure.top, caption.top)
    if overlap_x > 0:
        below, above = caption.top - figure.bottom, figure.top - caption.bottom
        gap = max(0, below) if below >= above else 3 * max(0, above)
        return gap if max(below, above) <= reach else None
    if overlap_y > 0:
        gap = max(caption.left - figure.right, figure.left - caption.right)
        return 2 * gap if gap <= reach else None
    return None


def _spans_both(caption: Box, figure: Box) -> bool:
    return (
        min(figure.right, caption.right) - max(figure.left, caption.left) > 0
        and caption.top >= figure.bottom - figure.height // 4
    )


def _cut(item: Found, page_id: str, picture: NDArray[np.uint8], blobs: Blobs) -> Figure:
    height, width = picture.shape[:2]
    box = item.region.box.padded(CROP_MARGIN_PX, width_px=width, height_px=height)
    crop = np.ascontiguousarray(picture[box.top : box.bottom, box.left : box.right])
    return Figure(
        figure_id=item.figure_id,
        page_id=page_id,
        box=item.region.box,
        image_sha256=blobs.put_image(crop),
        width_px=crop.shape[1],
        height_px=crop.shape[0],
        caption=item.caption,
        label=item.label,
    )
