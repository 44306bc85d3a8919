"""Figures of small papers: which problem each is given to, by which rule, with which crop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from physelite_build.blobs import Blobs
from physelite_build.geometry import Box
from physelite_build.records import (
    Document,
    DocumentProblems,
    Figure,
    FigureRole,
    Page,
    PageLayout,
    Region,
    RegionKind,
)
from physelite_build.stages.figures.place import place_figures
from physelite_build.stages.segment.cut import PageInput, segment

WIDTH, HEIGHT = 1000, 2000


def page(number: int, *items: str) -> PageInput:
    """A page of rows from top to bottom; ``[F]`` is a figure, ``[C] text`` a caption, ``[R] text`` a caption to its right."""
    regions: list[Region] = []
    top = 100
    for order, item in enumerate(items):
        if item == "[F]":
            kind, text, box = RegionKind.FIGURE, "", Box(left=200, top=top, right=500, bottom=top + 150)
            top += 160
        elif item.startswith("[R]"):
            kind, text, box = RegionKind.CAPTION, item[4:], Box(left=520, top=top - 100, right=600, bottom=top - 80)
        else:
            kind = RegionKind.CAPTION if item.startswith("[C]") else RegionKind.TEXT
            text = item.removeprefix("[C] ")
            left = 320 if kind is RegionKind.CAPTION else 100
            box = Box(left=left, top=top, right=min(900, left + 20 * len(text)), bottom=top + 20)
            top += 35
        regions.append(Region(kind=kind, box=box, order=order, text=text))
    return PageInput(
        Page(
            page_id=f"doc/p{number}",
            doc_id="doc",
            number=number,
            source_sha256="0" * 64,
            source_frame=number,
            image_sha256="0" * 64,
            width_px=WIDTH,
            height_px=HEIGHT,
        ),
        PageLayout(page_width_px=WIDTH, page_height_px=HEIGHT, regions=tuple(regions)),
    )


def picture(page_id: str) -> NDArray[np.uint8]:
    del page_id
    return np.full((HEIGHT, WIDTH, 3), 255, dtype=np.uint8)


def placed(tmp_path: Path, *pages: PageInput) -> DocumentProblems:
    problems = segment(Document(doc_id="doc"), pages)
    return place_figures(problems, pages, picture_of=picture, blobs=Blobs(tmp_path))


def owners(result: DocumentProblems) -> dict[str, str]:
    return {f.figure_id: p.number for p in result.problems for f in p.figures}


def only(result: DocumentProblems) -> Figure:
    figures = [f for p in result.problems for f in p.figures]
    assert len(figures) == 1
    return figures[0]


LINKS = [
    pytest.param(
        [("第1题", "甲如图所示。", "[F]", "[C] 图1", "求力。", "第2题", "乙。")],
        {"doc/p1/f1": "1"},
        "position",
        id="inside_a_statement",
    ),
    pytest.param(
        [("第1题", "甲如图1。", "第2题", "乙。", "[F]", "[C] 图1")],
        {"doc/p1/f1": "1"},
        "mention",
        id="mention_beats_position",
    ),
    pytest.param(
        [("第1题", "甲。", "[F]", "[C] 第2题图", "第2题", "乙。")],
        {"doc/p1/f1": "2"},
        "caption",
        id="caption_that_names_a_problem",
    ),
    pytest.param(
        [("第1题", "甲。", "[F]", "[C] 题2图", "第2题", "乙。")],
        {"doc/p1/f1": "2"},
        "caption",
        id="caption_in_short_form",
    ),
    pytest.param(
        [("Problem 1", "A ball.", "[F]", "[C] Figure for problem 2", "Problem 2", "A car.")],
        {"doc/p1/f1": "2"},
        "caption",
        id="english_caption_that_names_a_problem",
    ),
    pytest.param(
        [("第1题", "甲静止。", "[F]", "第2题", "乙如图所示。")],
        {"doc/p1/f1": "2"},
        "position",
        id="above_the_heading_of_the_text_that_waits_for_it",
    ),
    pytest.param(
        [("第1题", "甲如图。", "[F]", "第2题", "乙静止。")],
        {"doc/p1/f1": "1"},
        "position",
        id="below_the_text_that_waits_for_it",
    ),
    pytest.param(
        [("第1题", "甲如图所示。"), ("[F]", "第2题", "乙静止。")],
        {"doc/p2/f1": "1"},
        "position",
        id="on_the_next_page_above_another_heading",
    ),
    pytest.param(
        [("第1题", "甲如图。", "[F]", "求力。", "第2题", "乙静止。", "[F]", "第3题", "丙如图。")],
        {"doc/p1/f1": "1", "doc/p1/f2": "3"},
        "position",
        id="a_text_that_has_its_figure_waits_no_more",
    ),
    pytest.param(
        [("Problem 1", "See Fig. 2.", "Problem 2", "See Figure 1.", "[F]", "[C] Figure 1", "[F]", "[C] Fig. 2: a car")],
        {"doc/p1/f1": "2", "doc/p1/f2": "1"},
        "mention",
        id="english_labels",
    ),
    pytest.param(
        [("第1题", "见图1、2。", "第2题", "见图3。", "[F]", "[C] 图2", "[F]", "[C] 图3")],
        {"doc/p1/f1": "1", "doc/p1/f2": "2"},
        "mention",
        id="two_labels_in_one_mention",
    ),
    pytest.param(
        [("第1题", "如图$A.1$所示。", "第2题", "乙。", "[F]", "[C] 图 $A$.1:装置")],
        {"doc/p1/f1": "1"},
        "mention",
        id="label_set_as_a_formula",
    ),
    pytest.param(
        [("第1题", "见图1。", "[F]", "[C] 图1", "求力。", "第2题", "见图1。", "[F]", "[C] 图1", "求功。")],
        {"doc/p1/f1": "1", "doc/p1/f2": "2"},
        "mention",
        id="labels_that_restart_in_each_problem",
    ),
]


@pytest.mark.parametrize(("pages", "expected", "rule"), LINKS)
def test_link(tmp_path: Path, pages: list[tuple[str, ...]], expected: dict[str, str], rule: str) -> None:
    result = placed(tmp_path, *(page(k, *items) for k, items in enumerate(pages, 1)))
    assert owners(result) == expected
    assert result.unplaced_figures == ()
    assert {f.link_rule for p in result.problems for f in p.figures} == {rule}


def beside(number: int, top: int, *items: str) -> PageInput:
    """A page whose rows stand at the left and whose one figure, 150 px high, stands at the right from ``top``."""
    source = page(number, *items)
    box = Box(left=700, top=top, right=950, bottom=top + 150)
    rows = [r for r in source.layout.regions if r.kind is not RegionKind.FIGURE]
    order = sum(1 for r in rows if r.box.top < top)
    figure = Region(kind=RegionKind.FIGURE, box=box, order=order)
    moved = [r.model_copy(update={"order": r.order + (r.order >= order)}) for r in rows]
    return PageInput(source.page, source.layout.model_copy(update={"regions": (*moved, figure)}))


def test_text_that_runs_around_a_figure_owns_it(tmp_path: Path) -> None:
    rows = ("第1题", "甲静止。", "甲很重。", "第2题", "乙静止。", "乙很轻。", "乙很小。", "求力。")
    assert owners(placed(tmp_path, beside(1, 195, *rows))) == {"doc/p1/f1": "2"}


def test_figure_beside_two_problems_goes_to_the_one_that_speaks_of_it(tmp_path: Path) -> None:
    rows = ("第1题", "甲如图。", "甲很重。", "第2题", "乙静止。", "乙很轻。", "乙很小。", "求力。")
    assert owners(placed(tmp_path, beside(1, 130, *rows))) == {"doc/p1/f1": "1"}


def test_picture_b_goes_where_picture_a_is_named(tmp_path: Path) -> None:
    source = page(1, "第1题", "甲静止。", "第2题", "见图1。", "[F]", "[C] 图1", "第3题", "丙。")
    first = next(r for r in source.layout.regions if r.kind is RegionKind.FIGURE)
    other = first.model_copy(update={"box": Box(left=520, top=first.box.top, right=800, bottom=first.box.bottom)})
    regions = tuple(r.model_copy(update={"order": r.order + (r.order > first.order)}) for r in source.layout.regions)
    moved = (*regions, other.model_copy(update={"order": first.order + 1}))
    result = placed(tmp_path, PageInput(source.page, source.layout.model_copy(update={"regions": moved})))
    assert owners(result) == {"doc/p1/f1": "2", "doc/p1/f2": "2"}


def test_number_that_no_caption_carries_counts_as_waiting(tmp_path: Path) -> None:
    rows = ("第1题", "甲静止。", "[F]", "第2题", "乙如图2所示。")
    assert owners(placed(tmp_path, page(1, *rows))) == {"doc/p1/f1": "2"}


def test_figure_in_a_solution_has_that_role(tmp_path: Path) -> None:
    figure = only(placed(tmp_path, page(1, "第1题", "甲。", "解：受力如图2。", "[F]", "[C] 图2", "得证。")))
    assert (figure.role, figure.problem_key, figure.label) == (FigureRole.SOLUTION, "doc#1", "2")


def test_figure_in_the_answers_section_belongs_to_that_solution(tmp_path: Path) -> None:
    rows = (
        "第1题",
        "甲。",
        "第2题",
        "乙。",
        "参考答案",
        "第1题",
        "受力分析如下。",
        "[F]",
        "由此得证。",
        "第2题",
        "略去不写。",
    )
    figure = only(placed(tmp_path, page(1, *rows)))
    assert (figure.role, figure.problem_key) == (FigureRole.SOLUTION, "doc#1")


def test_part_that_names_the_figure_is_kept(tmp_path: Path) -> None:
    figure = only(
        placed(
            tmp_path, page(1, "第1题", "甲。", "（1）求力。", "（2）如图1，求功。", "[F]", "[C] 图1", "第2题", "乙。")
        )
    )
    assert figure.part == "2"


def test_figure_without_any_problem_is_kept_aside(tmp_path: Path) -> None:
    result = placed(tmp_path, page(1, "[F]"))
    assert result.problems == ()
    assert [f.figure_id for f in result.unplaced_figures] == ["doc/p1/f1"]


def test_crop_has_a_margin_and_the_box_has_none(tmp_path: Path) -> None:
    figure = only(placed(tmp_path, page(1, "第1题", "甲如图。", "[F]", "求力。")))
    assert (figure.box.width, figure.box.height) == (300, 150)
    assert (figure.width_px, figure.height_px) == (308, 158)
    assert Blobs(tmp_path).get_image(figure.image_sha256).shape == (158, 308, 3)


def test_crop_is_cut_at_the_border_of_the_page(tmp_path: Path) -> None:
    source = page(1, "第1题", "甲如图。", "[F]", "求力。")
    regions = tuple(
        r.model_copy(update={"box": Box(left=0, top=170, right=WIDTH, bottom=300)})
        if r.kind is RegionKind.FIGURE
        else r
        for r in source.layout.regions
    )
    figure = only(placed(tmp_path, PageInput(source.page, source.layout.model_copy(update={"regions": regions}))))
    assert (figure.width_px, figure.height_px) == (WIDTH, 138)


def test_caption_beside_the_figure_is_found(tmp_path: Path) -> None:
    figure = only(placed(tmp_path, page(1, "第1题", "甲如图。", "[F]", "[R] 图7", "求力。")))
    assert (figure.caption, figure.label) == ("图7", "7")


def test_caption_of_a_table_is_not_taken(tmp_path: Path) -> None:
    figure = only(placed(tmp_path, page(1, "第1题", "甲如图。", "[F]", "[C] 表1 数据", "求力。")))
    assert figure.caption is None


def test_scores_fall_from_caption_to_doubtful_place(tmp_path: Path) -> None:
    scores = []
    for rows in (
        ("第1题", "甲。", "[F]", "[C] 第1题图", "求力。"),
        ("第1题", "甲如图1。", "[F]", "[C] 图1", "求力。"),
        ("第1题", "甲。", "[F]", "求力。"),
        ("第1题", "甲。", "[F]", "第2题", "乙。"),
    ):
        scores.append(only(placed(tmp_path, page(1, *rows))).link_score or 0)
    assert scores == sorted(scores, reverse=True)
    assert all(0 < s < 1 for s in scores)
