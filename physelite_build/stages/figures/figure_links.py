"""Which problem a figure belongs to: by its caption, by a text that names its number, by its place in the reading order.

``figures.py`` finds and cuts the figures; here they are only linked. What is sure is linked first, so that a doubtful figure
goes to a text that speaks of a figure and has none yet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from physelite_build.geometry import Box
from physelite_build.records import DocumentProblems, FigureRole, Problem, Region
from physelite_build.stages.segment import PageInput, read_number

__all__ = ["Found", "Link", "link_figures", "part_that_names", "read_label"]

SCORE_CAPTION = 0.98
SCORE_MENTION = 0.95
SCORE_INSIDE = 0.9
SCORE_BORDER = 0.7
SCORE_GUESS = 0.6
"""Link scores by rule; ``position`` is sure inside one text and doubtful between two problems."""

_LABEL = r"(?P<label>[A-Z]?[.\-]?\d{1,3}(?:[.\-]\d{1,2})*|[一二三四五六七八九十]{1,2}|[A-Z](?![a-z]))"
_CAPTION_LABEL = re.compile(rf"(?:图|圖|fi[gq](?:ure|s)?\.?|diagram)\s*{_LABEL}", re.IGNORECASE)
_MENTION = re.compile(
    rf"(?:图|圖|fi[gq]ures?|fi[gq]s?\.?|diagrams?)\s*[\-–]?\s*[（(]?{_LABEL}(?:\s*[a-h](?![a-z]))?(?:\s*(?:、|和|与|及|,|and|&|～|~|至|–|-)\s*(?:图|fig(?:ure)?\.?\s*)?(?P<more>\d{{1,3}})(?![\d.]))?",
    re.IGNORECASE,
)
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
class Link:
    """The problem and the text of it that a figure belongs to, and why."""

    problem: int
    role: FigureRole
    rule: str
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """A figure of a page with its caption, before it is linked."""

    page: int
    region: Region
    figure_id: str
    caption: str | None
    label: str | None


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


def link_figures(found: Sequence[Found], document: DocumentProblems, pages: Sequence[PageInput]) -> list[Link | None]:
    """Link the figures of a document.

    Args:
        found: Figures in reading order.
        document: Problems with their spans.
        pages: The pages that the spans point into.

    Returns:
        One link for each figure, None where no problem is near.
    """
    problems, places = document.problems, _places(document, pages)
    links: list[Link | None] = [
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
    links: Sequence[Link | None]


def _by_caption(item: Found, problems: Sequence[Problem], places: Sequence[_Place]) -> Link | None:
    match = _PROBLEM_CAPTION.search(_plain(item.caption)) if item.caption else None
    if match is None:
        return None
    number = read_number(next(g for g in match.groups() if g))
    owners = [i for i, p in enumerate(problems) if p.number == str(number)]
    if not owners:
        return None
    owner = min(owners, key=lambda i: _pages_away(item, i, places))
    return Link(owner, _role_at(item, owner, places), "caption", SCORE_CAPTION)


def _by_mention(item: Found, problems: Sequence[Problem], places: Sequence[_Place]) -> Link | None:
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
        return Link(owner, role, "mention", SCORE_MENTION)
    beside = [(i, r) for i, r in naming if (i, r) in near]
    if len({i for i, _ in beside}) == 1:
        return Link(*beside[0], "mention", SCORE_MENTION)
    owner, role = min(naming, key=lambda n: _pages_away(item, n[0], places))
    return Link(owner, role, "mention", SCORE_GUESS)


def _by_sure_place(item: Found, scene: _Scene) -> Link | None:
    """All text beside the figure is of one problem or, if none is beside it, the text before and after."""
    beside = _beside(item, scene.places)
    if len({p.problem for p in beside}) == 1:
        role = Counter(_role(p.field) for p in beside).most_common(1)[0][0]
        return Link(beside[0].problem, role, "position", SCORE_INSIDE)
    before, after = _neighbours(item, scene.places)
    if not beside and before is not None and after is not None and before.problem == after.problem:
        return Link(before.problem, _role_between(before, after), "position", SCORE_INSIDE)
    return None


def _by_doubtful_place(item: Found, scene: _Scene) -> Link | None:
    """Between two problems: the one whose text waits for a figure, else the one with more text beside it, else the first."""
    beside = _beside(item, scene.places)
    sides = beside or [p for p in _neighbours(item, scene.places) if p is not None]
    if not sides:
        return None
    if len({p.problem for p in sides}) == 1:
        return Link(sides[0].problem, _role(sides[0].field), "position", SCORE_BORDER)
    waiting = [p for p in sides if _waits_for_figure(p, scene)]
    if len({p.problem for p in waiting}) == 1:
        return Link(waiting[0].problem, _role(waiting[0].field), "position", SCORE_BORDER)
    heights = Counter[int]()
    for place in beside:
        heights[place.problem] += _shared_height(place.region.box, item.region.box)
    chosen = next(p for p in sides if not heights or p.problem == heights.most_common(1)[0][0])
    return Link(chosen.problem, _role(chosen.field), "position", SCORE_GUESS)


def _waits_for_figure(place: _Place, scene: _Scene) -> bool:
    """Its text speaks of a figure, by a number that no caption carries or by none, and none has been given to it yet."""
    role = _role(place.field)
    problem = scene.problems[place.problem]
    text = problem.statement if role is FigureRole.STATEMENT else problem.solution or ""
    if any(link is not None and link.problem == place.problem and link.role is role for link in scene.links):
        return False
    return bool(_UNNUMBERED.search(_plain(text)) or _mentions(text) - scene.labels)


def _beside(item: Found, places: Sequence[_Place]) -> list[_Place]:
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


def _stand_together(one: Found, other: Found) -> bool:
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


def _neighbours(item: Found, places: Sequence[_Place]) -> tuple[_Place | None, _Place | None]:
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


def _role_at(item: Found, owner: int, places: Sequence[_Place]) -> FigureRole:
    near = [p for p in _neighbours(item, places) if p is not None and p.problem == owner]
    return _role(near[0].field) if near else FigureRole.STATEMENT


def _pages_away(item: Found, owner: int, places: Sequence[_Place]) -> tuple[int, int]:
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


def part_that_names(problem: Problem, item: Found, role: FigureRole) -> str | None:
    """Return the label of the first part that names the figure, if the text before the parts does not."""
    if item.label is None or role is not FigureRole.STATEMENT:
        return None
    naming = [p.label for p in problem.parts if item.label in _mentions(p.text)]
    lead = problem.statement.split(problem.parts[0].text)[0] if problem.parts and problem.parts[0].text else ""
    return naming[0] if naming and item.label not in _mentions(lead) else None


def read_label(caption: str) -> str | None:
    """Return the figure number printed in a caption, such as ``2`` or ``A.1``; None if there is none."""
    match = _CAPTION_LABEL.search(_plain(caption))
    return _canonical(match["label"]) if match else None
