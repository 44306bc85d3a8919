"""Facts about regions, rows, columns and their order."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_page import EM, ROW, DrawnPage, of_kind, texts

from physelite_build.engines.protocol import LayoutBox
from physelite_build.geometry import Box
from physelite_build.records import Fingerprint, PageText, RegionKind
from physelite_build.stages.layout.find_layout import find_layout
from physelite_build.stages.layout.find_unread import find_unread

CHINESE = "质量为的小球沿光滑斜面由静止开始下滑求小球到达底端的速度大小"
ENGLISH = "a ball slides down a smooth plane"


def furniture(page: DrawnPage) -> list[str]:
    return [region.text for region in of_kind(page.layout(), RegionKind.FURNITURE)]


def two_columns() -> DrawnPage:
    page = DrawnPage()
    page.write("全国中学生物理竞赛试题全国中学生物理竞赛试题", 330, 60, em=32)
    page.paragraph("左" + CHINESE[:19], 80, 160, 10)
    page.paragraph("右" + CHINESE[:19], 640, 160, 10)
    return page


def test_left_column_is_read_before_right_column() -> None:
    found = two_columns().layout()
    assert [text[0] for text in texts(found)] == ["全"] + ["左"] * 10 + ["右"] * 10
    assert found.columns == 2


def test_columns_are_numbered_and_the_title_stands_in_the_first() -> None:
    regions = two_columns().layout().regions
    assert [r.column for r in regions] == [0] * 11 + [1] * 10


def test_full_width_row_below_two_columns_is_read_last() -> None:
    page = two_columns()
    page.write("全宽" + CHINESE, 80, 620)
    assert texts(page.layout())[-1].startswith("全宽")


def test_figure_beside_text_makes_no_column() -> None:
    page = DrawnPage()
    top = page.paragraph(CHINESE[:20], 80, 100, 8)
    page.stroke((700, 120), (1000, 120), (1000, 360), (700, 360), (700, 120), (1000, 360))
    page.paragraph(CHINESE + CHINESE[:8], 80, top, 3)
    found = page.layout()
    assert found.columns == 1
    assert len(of_kind(found, RegionKind.FIGURE)) == 1


def test_choices_in_two_columns_are_read_row_by_row() -> None:
    page = DrawnPage()
    top = page.paragraph(CHINESE, 80, 100, 2)
    for k, pair in enumerate((("A. 一直变大", "B. 一直变小"), ("C. 先变大后变小", "D. 先变小后变大"))):
        page.write(pair[0], 80, top + k * ROW)
        page.write(pair[1], 640, top + k * ROW)
    page.paragraph(CHINESE, 80, top + 2 * ROW, 2)
    assert texts(page.layout())[2:4] == ["A. 一直变大 B. 一直变小", "C. 先变大后变小 D. 先变小后变大"]


def test_boxes_on_one_row_become_one_region() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 3)
    page.write("求小球的速度", 80, 300)
    page.write("和时间", 80 + 7 * EM, 304)
    region = of_kind(page.layout(), RegionKind.TEXT)[-1]
    assert region.text == "求小球的速度和时间"
    assert region.line_indexes == (3, 4)


def test_latin_pieces_are_joined_with_a_space() -> None:
    page = DrawnPage()
    page.paragraph(ENGLISH, 80, 100, 3)
    page.write("find the speed", 80, 300)
    page.write("of the ball", 80 + 8 * EM, 300)
    assert texts(page.layout())[-1] == "find the speed of the ball"


def test_fraction_pieces_join_their_row_upper_before_lower() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 3)
    page.write("由牛顿定律得到", 80, 300)
    page.fraction("dv", "dt", 80 + 7 * EM + 10, 312)
    page.write("再求小球的位移", 80 + 9 * EM, 300)
    page.write("然后求它的动能和势能", 80, 360)
    assert texts(page.layout())[3:] == ["由牛顿定律得到dv dt再求小球的位移", "然后求它的动能和势能"]


def test_curved_rows_stay_whole() -> None:
    page = DrawnPage()
    for k in range(6):
        for piece in range(4):
            drop = round(18 * (piece / 3) ** 2)
            page.write(CHINESE[:9], 80 + piece * 10 * EM, 100 + k * ROW + drop)
    assert [len(r.line_indexes) for r in of_kind(page.layout(), RegionKind.TEXT)] == [4] * 6


def test_display_formula_box_contains_bar_and_brackets() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    page.write("v =", 400, 340)
    bar = page.fraction("mg+F", "2m", 460, 352)
    page.stroke((546, 316), (552, 352), (546, 390))
    page.paragraph(CHINESE, 80, 440, 2)
    formulas = of_kind(page.layout(), RegionKind.FORMULA)
    assert len(formulas) == 1
    assert len(formulas[0].line_indexes) == 3
    assert bar.covered_by(formulas[0].box) == 1.0
    assert formulas[0].box.right >= 552
    assert formulas[0].box.bottom <= 440


def test_equation_number_is_kept_out_of_the_formula() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    page.write("F = ma", 400, 300)
    page.write("(3)", 780, 300)
    found = page.layout()
    assert [r.text for r in of_kind(found, RegionKind.FORMULA)] == ["F = ma"]
    assert [r.text for r in of_kind(found, RegionKind.FURNITURE)] == ["(3)"]


def test_formula_at_the_edge_of_a_paragraph_is_text() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    page.write("v = 4.0", 80, 260)
    page.paragraph(CHINESE, 80, 300, 2)
    assert of_kind(page.layout(), RegionKind.FORMULA) == []


def test_formula_without_any_line_is_kept() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    page.write("x = y", 400, 300, read=False)
    page.areas.append(LayoutBox("formula", Box(left=390, top=290, right=480, bottom=335), 0.8))
    formulas = of_kind(page.layout(), RegionKind.FORMULA)
    assert [(r.text, r.line_indexes) for r in formulas] == [("", ())]


@pytest.mark.parametrize("number", ["第3页 共5页", "- 3 -", "3", "3/5", "page 1 of 3", "物理试卷 第1页"])
def test_page_number_is_furniture(number: str) -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 10)
    page.write(number, 560, 1500)
    assert [r.text for r in of_kind(page.layout(), RegionKind.FURNITURE)] == [number]


def test_running_head_above_a_rule_is_furniture() -> None:
    page = DrawnPage()
    page.write("高中物理竞赛辅导", 500, 40, em=20)
    page.stroke((80, 80), (1120, 80))
    page.paragraph(CHINESE, 80, 120, 6)
    assert [r.text for r in of_kind(page.layout(), RegionKind.FURNITURE)] == ["高中物理竞赛辅导"]


def test_title_that_the_model_calls_header_is_text() -> None:
    page = DrawnPage()
    box = page.write("物理竞赛训练题", 440, 60, em=36)
    page.areas.append(LayoutBox("header", box, 0.9))
    page.paragraph(CHINESE, 80, 160, 6)
    found = page.layout()
    assert texts(found)[0] == "物理竞赛训练题"
    assert of_kind(found, RegionKind.FURNITURE) == []


def test_faint_print_is_furniture() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 6)
    page.write("内部资料严禁外传", 400, 600, shade=225)
    assert [r.text for r in of_kind(page.layout(), RegionKind.FURNITURE)] == ["内部资料严禁外传"]


def test_indent_is_measured_from_the_column_edge() -> None:
    page = DrawnPage()
    page.write(CHINESE[:28], 80 + 2 * EM, 100)
    page.paragraph(CHINESE, 80, 140, 5)
    assert [r.indent_px for r in page.layout().regions][:2] == [2 * EM, 0]


def test_row_has_the_lowest_confidence_of_its_lines() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 3)
    page.lines[1] = page.lines[1].model_copy(update={"confidence": 0.25})
    assert [r.confidence for r in page.layout().regions] == [0.9, 0.25, 0.9]


def test_every_line_is_in_exactly_one_region_and_orders_run_from_zero() -> None:
    page = two_columns()
    page.stroke((100, 700), (400, 700), (400, 900), (100, 700))
    page.write("A", 390, 905)
    page.write("图1", 240, 950)
    page.write("- 1 -", 570, 1500)
    found = page.layout()
    assert sorted(i for r in found.regions for i in r.line_indexes) == list(range(len(page.lines)))
    assert [r.order for r in found.regions] == list(range(len(found.regions)))


def test_blank_page_has_no_region() -> None:
    assert DrawnPage().layout().regions == ()


def test_same_page_twice_gives_the_same_layout() -> None:
    assert two_columns().layout() == two_columns().layout()


def test_grey_picture_is_refused() -> None:
    text = PageText(lines=(), engine=Fingerprint(name="drawn", version="1"))
    with pytest.raises(ValueError, match="BGR"):
        find_layout(np.zeros((10, 10), np.uint8), text, ())


def test_row_that_was_not_read_is_found() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    missed = page.write(CHINESE[:20], 80, 260, read=False)
    page.paragraph(CHINESE, 80, 300, 4)
    text = PageText(lines=tuple(page.lines), engine=Fingerprint(name="drawn", version="1"))
    found = find_unread(page.picture, text, page.layout())
    assert len(found) == 1
    assert missed.iou(found[0]) > 0.6


def test_line_alone_at_the_foot_is_furniture() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 200, 6)
    page.write("1361-6552 2021 IOP Publishing Ltd", 80, 1530)
    assert furniture(page) == ["1361-6552 2021 IOP Publishing Ltd"]


def test_last_part_at_the_foot_stays_text() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 200, 6)
    page.write("(2) 求小球到达底端的速度", 80, 1530)
    assert furniture(page) == []


def test_both_ends_of_a_tilted_running_head_are_furniture() -> None:
    page = DrawnPage()
    page.areas.append(LayoutBox("header", Box(left=60, top=50, right=420, bottom=90), 0.9))
    page.write("Physics Education 56", 80, 60, em=18)
    page.write("A Smith and B Jones", 900, 82, em=18)
    page.paragraph(CHINESE, 80, 200, 6)
    assert sorted(furniture(page)) == ["A Smith and B Jones", "Physics Education 56"]
