"""Cuts out the figures of a document and links each to the problem that it belongs to.

Runs after ``segment``. Three rules, strongest first: a caption that names a problem, a text that names the figure's number, the
place in the reading order. Where the place is doubtful, a text that says *see the figure* and has none yet decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from physelite_build.blobs import Blobs
from physelite_build.geometry import Box
from physelite_build.records import (
    DocumentProblems,
    Figure,
    FigureRole,
    Problem,
    Region,
    RegionKind,
)
from physelite_build.stages.headings import read_number
from physelite_build.stages.rows import PageInput

__all__ = ["place_figures"]

CROP_MARGIN_PX = 4
"""Room around a crop, so that a line at the border of the detected box is not cut."""
CAPTION_REACH = 0.6
"""A caption is at most this share of its figure's height away from it ..."""
CAPTION_REACH_PX = 60
"""... but for flat figures at least so many pixels, two rows of text at 150 dpi."""
SCORE_CAPTION = 0.98
SCORE_MENTION = 0.95
SCORE_INSIDE = 0.9
SCORE_BORDER = 0.7
SCORE_GUESS = 0.6
"""Link scores by rule; ``position`` is sure inside one text and doubtful between two problems."""

_LABEL = r"(?P<label>[A-Z]?[.\-]?\d{1,3}(?:[.\-]\d{1,2})*|[一二三四五六七八九十]{1,2}|[A-Z](?![a-z]))"
_CAPTION_LABEL = re.compile(rf"(?:图|圖|fig(?:ure|s)?\.?|diagram)\s*{_LABEL}", re.IGNORECASE)
_MENTION = re.compile(
    rf"(?:图|圖|figures?|figs?\.?|diagrams?)\s*[\-–]?\s*[（(]?{_LABEL}(?:\s*[a-h](?![a-z]))?(?:\s*(?:、|和|与|及|,|and|&|～|~|至|–|-)\s*(?:图|fig(?:ure)?\.?\s*)?(?P<more>\d{{1,3}})(?![\d.]))?",
    re.IGNORECASE,
)
_TABLE = re.compile(r"^\s*(?:表|table\b)", re.IGNORECASE)
_UNNUMBERED = re.compile(
    r"(?:如|见|上|下|右|左|附|题)图|图示|图中所示|(?:see|in|as|from|on)\s+(?:the\s+)?(?:figure|fig\b|diagram|picture|sketch)"
    r"|(?:the\s+)?(?:figure|diagram|picture)\s+(?:below|above|shows|on\s+the\s+(?:right|left))|(?:as\s+)?shown\b|depicted|illustrated",
    re.IGNORECASE,
)
_PROBLEM_CAPTION = re.compile(
    r"第?\s*(?P<a>\d{1,3}|[一二三四五六七八九十]{1,3})\s*题\s*(?:答案?)?\s*(?:用)?\s*图|题\s*(?P<b>\d{1,3}|[一二三四五六七八九十]{1,3})\s*(?:答案?)?图"
    r"|fig\w*\.?\s*(?:for|of|to)\s+(?:problem|question|exercise|task|q)\s*\.?\s*(?P<c>\d{1,3})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Place:
    """A text region of a problem in the reading order of the document."""

    problem: int
    field: str
    page: int
    order: int
    region: Region


@dataclass(frozen=True, slots=True)
class _Link:
    problem: int
    role: FigureRole
    rule: str
    score: float


@dataclass(frozen=True, slots=True)
class _Found:
    page: int
    region: Region
    figure_id: str
    caption: str | None
    label: str | None


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
    places = _places(problems, pages)
    links = _link_all(found, problems.problems, places)
    attached: dict[int, list[Figure]] = {}
    unplaced: list[Figure] = []
    for item, link in zip(found, links, strict=True):
        picture = picture_of(pages[item.page].page.page_id)
        figure = _cut(item, pages[item.page].page.page_id, picture, blobs)
        if link is None:
            unplaced.append(figure)
            continue
        owner = problems.problems[link.problem]
        figure = figure.model_copy(
            update={
                "role": link.role,
                "problem_key": owner.key,
                "part": _part(owner, item, link.role),
                "link_rule": link.rule,
                "link_score": link.score,
            }
        )
        attached.setdefault(link.problem, []).append(figure)
    done = tuple(p.model_copy(update={"figures": tuple(attached.get(i, ()))}) for i, p in enumerate(problems.problems))
    return problems.model_copy(update={"problems": done, "unplaced_figures": tuple(unplaced)})


# ---------------------------------------------------------------- finding and cutting
def _find(pages: Sequence[PageInput]) -> list[_Found]:
    found: list[_Found] = []
    for index, page in enumerate(pages):
        regions = sorted(page.layout.regions, key=lambda r: r.order)
        captions = [r for r in regions if r.kind is RegionKind.CAPTION and r.text.strip() and not _TABLE.match(r.text)]
        figures = [r for r in regions if r.kind is RegionKind.FIGURE]
        owners = _captions_of(figures, captions)
        for k, region in enumerate(figures, 1):
            caption = owners.get(k - 1)
            label = _CAPTION_LABEL.search(_plain(caption)) if caption else None
            found.append(
                _Found(
                    index, region, f"{page.page.page_id}/f{k}", caption, _canonical(label["label"]) if label else None
                )
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


def _cut(item: _Found, page_id: str, picture: NDArray[np.uint8], blobs: Blobs) -> Figure:
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


# ---------------------------------------------------------------- linking
def _places(problems: DocumentProblems, pages: Sequence[PageInput]) -> list[_Place]:
    numbers = {page.page.page_id: i for i, page in enumerate(pages)}
    lookup: dict[tuple[int, tuple[int, int, int, int]], Region] = {}
    for i, page in enumerate(pages):
        lookup.update({(i, _corners(region.box)): region for region in reversed(page.layout.regions)})
    places: dict[tuple[int, int], _Place] = {}
    for k, problem in enumerate(problems.problems):
        for span in problem.spans:
            page_index = numbers.get(span.page_id)
            if page_index is None:
                continue
            found = lookup.get((page_index, _corners(span.box)))
            if found is not None:
                places.setdefault((page_index, found.order), _Place(k, span.field, page_index, found.order, found))
    return sorted(places.values(), key=lambda p: (p.page, p.order))


def _corners(box: Box) -> tuple[int, int, int, int]:
    return box.left, box.top, box.right, box.bottom


def _link_all(found: Sequence[_Found], problems: Sequence[Problem], places: Sequence[_Place]) -> list[_Link | None]:
    """Link what is sure first, so that the doubtful figures see which problems still wait for one."""
    links: list[_Link | None] = [
        _by_caption(item, problems, places) or _by_mention(item, problems, places) for item in found
    ]
    for i, item in enumerate(found):
        if links[i] is None and item.label is None:
            links[i] = next(
                (links[k] for k, other in enumerate(found) if links[k] and _stand_together(item, other)), None
            )
    labels = {item.label for item in found if item.label is not None}
    for decide in (_by_sure_place, _by_doubtful_place):
        for i, item in enumerate(found):
            if links[i] is None:
                links[i] = decide(item, _Scene(problems, places, labels, links))
    return links


@dataclass(frozen=True, slots=True)
class _Scene:
    """What is known while figures are linked by their place."""

    problems: Sequence[Problem]
    places: Sequence[_Place]
    labels: set[str]
    """Figure numbers that were found in captions."""
    links: Sequence[_Link | None]


def _by_caption(item: _Found, problems: Sequence[Problem], places: Sequence[_Place]) -> _Link | None:
    match = _PROBLEM_CAPTION.search(_plain(item.caption)) if item.caption else None
    if match is None:
        return None
    number = read_number(next(g for g in match.groups() if g))
    owners = [i for i, p in enumerate(problems) if p.number == str(number)]
    if not owners:
        return None
    owner = min(owners, key=lambda i: _pages_away(item, i, places))
    return _Link(owner, _role_at(item, owner, places), "caption", SCORE_CAPTION)


def _by_mention(item: _Found, problems: Sequence[Problem], places: Sequence[_Place]) -> _Link | None:
    """The problem whose text names the label; with several, the one nearest to the figure."""
    if item.label is None:
        return None
    naming: list[tuple[int, FigureRole]] = []
    for i, problem in enumerate(problems):
        for role, text in ((FigureRole.STATEMENT, problem.statement), (FigureRole.SOLUTION, problem.solution or "")):
            if item.label in _mentions(text):
                naming.append((i, role))
    if not naming:
        return None
    here = _neighbours(item, places)
    near = {(p.problem, _role(p.field)) for p in here if p is not None}
    owners = {i for i, _ in naming}
    if len(owners) == 1:
        owner = owners.pop()
        roles = [r for i, r in naming if i == owner]
        role = roles[0] if len(roles) == 1 else _role_at(item, owner, places)
        return _Link(owner, role, "mention", SCORE_MENTION)
    beside = [(i, r) for i, r in naming if (i, r) in near]
    if len({i for i, _ in beside}) == 1:
        return _Link(*beside[0], "mention", SCORE_MENTION)
    owner, role = min(naming, key=lambda n: _pages_away(item, n[0], places))
    return _Link(owner, role, "mention", SCORE_GUESS)


def _by_sure_place(item: _Found, scene: _Scene) -> _Link | None:
    """All text beside the figure is of one problem or, if none is beside it, the text before and after."""
    beside = _beside(item, scene.places)
    if len({p.problem for p in beside}) == 1:
        role = Counter(_role(p.field) for p in beside).most_common(1)[0][0]
        return _Link(beside[0].problem, role, "position", SCORE_INSIDE)
    before, after = _neighbours(item, scene.places)
    if not beside and before is not None and after is not None and before.problem == after.problem:
        return _Link(before.problem, _role_between(before, after), "position", SCORE_INSIDE)
    return None


def _by_doubtful_place(item: _Found, scene: _Scene) -> _Link | None:
    """Between two problems: the one whose text waits for a figure, else the one with more text beside it, else the first."""
    beside = _beside(item, scene.places)
    sides = beside or [p for p in _neighbours(item, scene.places) if p is not None]
    if not sides:
        return None
    if len({p.problem for p in sides}) == 1:
        return _Link(sides[0].problem, _role(sides[0].field), "position", SCORE_BORDER)
    waiting = [p for p in sides if _waits_for_figure(p, scene)]
    if len({p.problem for p in waiting}) == 1:
        return _Link(waiting[0].problem, _role(waiting[0].field), "position", SCORE_BORDER)
    heights = Counter[int]()
    for place in beside:
        heights[place.problem] += _shared_height(place.region.box, item.region.box)
    chosen = next(p for p in sides if not heights or p.problem == heights.most_common(1)[0][0])
    return _Link(chosen.problem, _role(chosen.field), "position", SCORE_GUESS)


def _waits_for_figure(place: _Place, scene: _Scene) -> bool:
    """Its text speaks of a figure, by a number that no caption carries or by none, and none has been given to it yet."""
    role = _role(place.field)
    problem = scene.problems[place.problem]
    text = problem.statement if role is FigureRole.STATEMENT else problem.solution or ""
    if any(link is not None and link.problem == place.problem and link.role is role for link in scene.links):
        return False
    return bool(_UNNUMBERED.search(_plain(text)) or _mentions(text) - scene.labels)


def _beside(item: _Found, places: Sequence[_Place]) -> list[_Place]:
    """Rows of the same column that stand left or right of the figure, as in text that runs around it."""
    figure = item.region.box
    return [
        p
        for p in places
        if p.page == item.page
        and p.region.column == item.region.column
        and 2 * _shared_height(p.region.box, figure) > p.region.box.height
        and min(p.region.box.right, figure.right) - max(p.region.box.left, figure.left) <= 0
    ]


def _stand_together(one: _Found, other: _Found) -> bool:
    """Side by side in one column, as the pictures (a) and (b) of one figure."""
    a, b = one.region.box, other.region.box
    apart = max(a.left - b.right, b.left - a.right)
    return (
        one.page == other.page
        and one.region.column == other.region.column
        and 0 <= apart <= min(a.width, b.width) // 2
        and 2 * _shared_height(a, b) > max(a.height, b.height)
    )


def _shared_height(one: Box, other: Box) -> int:
    return max(0, min(one.bottom, other.bottom) - max(one.top, other.top))


def _neighbours(item: _Found, places: Sequence[_Place]) -> tuple[_Place | None, _Place | None]:
    before: _Place | None = None
    for place in places:
        if (place.page, place.order) < (item.page, item.region.order):
            before = place
        else:
            return before, place
    return before, None


def _role_between(before: _Place, after: _Place) -> FigureRole:
    """Between statement and solution of one problem a figure belongs to the statement."""
    roles = {_role(before.field), _role(after.field)}
    return FigureRole.STATEMENT if FigureRole.STATEMENT in roles else FigureRole.SOLUTION


def _role(field: str) -> FigureRole:
    return FigureRole.SOLUTION if field in ("solution", "answer") else FigureRole.STATEMENT


def _role_at(item: _Found, owner: int, places: Sequence[_Place]) -> FigureRole:
    near = [p for p in _neighbours(item, places) if p is not None and p.problem == owner]
    return _role(near[0].field) if near else FigureRole.STATEMENT


def _pages_away(item: _Found, owner: int, places: Sequence[_Place]) -> tuple[int, int]:
    own = [p for p in places if p.problem == owner]
    if not own:
        return (1000, 0)
    nearest = min(own, key=lambda p: (abs(p.page - item.page), abs(p.order - item.region.order)))
    return abs(nearest.page - item.page), abs(nearest.order - item.region.order)


# ---------------------------------------------------------------- mentions
def _plain(text: str | None) -> str:
    """The text without dollar signs and blanks inside labels, so that ``图$A.1$`` reads ``图A.1``."""
    return re.sub(r"(?<=图)\s+", "", re.sub(r"\\(?:mathrm|text|rm)\s*|[${}]", "", text or ""))


def _canonical(label: str) -> str:
    number = read_number(label) if re.fullmatch(r"[一二三四五六七八九十]+", label) else None
    return str(number) if number is not None else label.replace("-", ".").strip(".")


def _mentions(text: str) -> set[str]:
    labels: set[str] = set()
    for match in _MENTION.finditer(_plain(text)):
        labels.add(_canonical(match["label"]))
        if match["more"]:
            labels.add(match["more"])
    return labels


def _part(problem: Problem, item: _Found, role: FigureRole) -> str | None:
    if item.label is None or role is not FigureRole.STATEMENT:
        return None
    naming = [p.label for p in problem.parts if item.label in _mentions(p.text)]
    lead = problem.statement.split(problem.parts[0].text)[0] if problem.parts and problem.parts[0].text else ""
    return naming[0] if naming and item.label not in _mentions(lead) else None
