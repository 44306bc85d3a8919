"""Facts about drawings, their labels and captions, and tables."""

from __future__ import annotations

import itertools

import cv2
import numpy as np
from drawn_page import DrawnPage, of_kind, texts

from physelite_build.engines.protocol import LayoutBox
from physelite_build.geometry import Box
from physelite_build.records import RegionKind
from physelite_build.stages.figures.figure_links import read_label

CHINESE = "质量为的小球沿光滑斜面由静止开始下滑求小球到达底端的速度大小"
TRIANGLE = Box(left=400, top=300, right=702, bottom=502)


def page_with_triangle() -> DrawnPage:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    page.stroke((401, 501), (701, 501), (701, 301), (401, 501))
    page.paragraph(CHINESE, 80, 620, 4)
    return page


def figure_boxes(page: DrawnPage) -> list[Box]:
    return [r.box for r in of_kind(page.layout(), RegionKind.FIGURE)]


def test_figure_is_fitted_to_its_ink() -> None:
    boxes = figure_boxes(page_with_triangle())
    assert len(boxes) == 1
    assert boxes[0].iou(TRIANGLE) > 0.97


def test_labels_belong_to_the_figure_and_are_not_text() -> None:
    page = page_with_triangle()
    label = page.write("B", 712, 290)
    page.write("30", 440, 470)
    found = page.layout()
    figure = of_kind(found, RegionKind.FIGURE)[0]
    assert label.covered_by(figure.box) > 0.6
    assert figure.line_indexes == (8, 9)
    assert texts(found) == [CHINESE] * 8


def test_caption_is_kept_out_of_the_figure() -> None:
    page = page_with_triangle()
    caption = page.write("图1", 530, 512)
    found = page.layout()
    assert [r.text for r in of_kind(found, RegionKind.CAPTION)] == ["图1"]
    assert of_kind(found, RegionKind.FIGURE)[0].box.intersection(caption).height <= 2
    kinds = [r.kind for r in found.regions]
    assert kinds.index(RegionKind.FIGURE) + 1 == kinds.index(RegionKind.CAPTION)


def test_sentence_about_a_figure_is_no_caption() -> None:
    page = page_with_triangle()
    page.write("图1是一个光滑的斜面其质量为", 80, 540)
    assert of_kind(page.layout(), RegionKind.CAPTION) == []


def test_heading_below_a_figure_stays_text() -> None:
    page = page_with_triangle()
    page.write("二、(20分)", 80, 530)
    assert "二、(20分)" in texts(page.layout())


def test_drawings_side_by_side_with_own_captions_are_two_figures() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    for left, caption in ((200, "(a)"), (480, "(b)")):
        page.stroke((left, 500), (left + 200, 500), (left + 200, 320), (left, 500))
        page.write(caption, left + 80, 520)
    assert len(figure_boxes(page)) == 2


def test_drawings_side_by_side_without_captions_are_one_figure() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    for left in (300, 580):
        page.stroke((left, 500), (left + 200, 500), (left + 200, 320), (left, 500))
    assert len(figure_boxes(page)) == 1


def test_frame_around_text_is_no_figure() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    page.stroke((70, 300), (1000, 300), (1000, 420), (70, 420), (70, 300))
    page.paragraph(CHINESE, 90, 320, 2)
    assert figure_boxes(page) == []


def test_ruled_table_is_a_table_and_keeps_its_cells() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    for y in (300, 344, 388):
        page.stroke((200, y), (800, y))
    for x in range(200, 801, 150):
        page.stroke((x, 300), (x, 388))
    for row in range(2):
        for column in range(4):
            page.write(f"{row}.{column}5", 230 + 150 * column, 310 + 44 * row)
    found = page.layout()
    assert of_kind(found, RegionKind.FIGURE) == []
    assert [r.text for r in of_kind(found, RegionKind.TABLE)] == [
        "0.05 | 0.15 | 0.25 | 0.35\n1.05 | 1.15 | 1.25 | 1.35"
    ]


def test_circuit_is_a_figure_although_it_has_many_straight_lines() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    for y in (300, 400, 500):
        page.stroke((300, y), (800, y))
    for x in (300, 550, 800):
        page.stroke((x, 300), (x, 500))
    page.write("R", 420, 260)
    found = page.layout()
    assert len(of_kind(found, RegionKind.FIGURE)) == 1
    assert of_kind(found, RegionKind.TABLE) == []


def test_rule_across_the_page_is_no_figure() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    page.stroke((80, 300), (1100, 300))
    page.paragraph(CHINESE, 80, 340, 4)
    assert figure_boxes(page) == []


def test_loose_lines_are_a_figure_where_the_model_sees_one() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    for y in (320, 380, 440):
        page.stroke((400, y), (700, y), thickness=3)
    page.areas.append(LayoutBox("figure", Box(left=380, top=300, right=720, bottom=460), 0.8))
    assert len(figure_boxes(page)) == 1


def test_row_that_was_not_read_stays_out_of_the_figure() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    page.write(CHINESE, 80, 262, read=False)
    page.stroke((401, 501), (701, 501), (701, 301), (401, 501))
    page.paragraph(CHINESE, 80, 620, 4)
    assert figure_boxes(page)[0].iou(TRIANGLE) > 0.97


def test_edge_of_the_paper_is_no_figure() -> None:
    page = page_with_triangle()
    cv2.rectangle(page.picture, (12, 12), (1188, 1588), (0, 0, 0), 3)
    assert len(figure_boxes(page)) == 1


def test_red_seal_is_no_figure_and_its_words_are_furniture() -> None:
    page = page_with_triangle()
    cv2.circle(page.picture, (950, 1000), 90, (40, 40, 220), 5)
    words = page.write("考试专用章", 890, 990)
    area = page.picture[words.top : words.bottom, words.left : words.right]
    area[area[:, :, 0] == 0] = (40, 40, 220)
    found = page.layout()
    assert len(of_kind(found, RegionKind.FIGURE)) == 1
    assert [r.text for r in of_kind(found, RegionKind.FURNITURE)] == ["考试专用章"]


RED = (40, 40, 220)


def test_seal_over_a_figure_leaves_the_figure() -> None:
    page = page_with_triangle()
    over = np.full_like(page.picture, 255)
    cv2.circle(over, (680, 380), 110, RED, 6)
    page.picture = np.minimum(page.picture, over)
    assert figure_boxes(page)[0].iou(TRIANGLE) > 0.97


def test_marks_of_a_red_pen_are_no_figures_and_widen_none() -> None:
    page = page_with_triangle()
    plain = figure_boxes(page)
    cv2.polylines(page.picture, [np.array([[900, 1000], [960, 1060], [1080, 880]], np.int32)], False, RED, 6)
    cv2.ellipse(page.picture, (400, 120), (120, 40), 0, 0, 360, RED, 4)
    cv2.line(page.picture, (380, 280), (720, 520), RED, 4)
    assert figure_boxes(page) == plain


def test_coloured_figure_is_kept_where_the_model_sees_one() -> None:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 4)
    cv2.polylines(page.picture, [np.array([[400, 500], [700, 500], [700, 300], [400, 500]], np.int32)], True, RED, 3)
    page.areas.append(LayoutBox("figure", Box(left=380, top=290, right=720, bottom=510), 0.8))
    assert figure_boxes(page)[0].iou(TRIANGLE) > 0.97


def test_specks_of_a_poor_copy_widen_no_figure() -> None:
    page = page_with_triangle()
    rows = [line.box for line in page.lines]
    for x, y in itertools.product(range(60, 1180, 90), range(60, 1560, 90)):
        if not any(b.left - 20 < x < b.right + 20 and b.top - 20 < y < b.bottom + 20 for b in (*rows, TRIANGLE)):
            cv2.circle(page.picture, (x, y), 3, (0, 0, 0), -1)
    cv2.circle(page.picture, (380, 410), 3, (0, 0, 0), -1)
    assert figure_boxes(page)[0].iou(TRIANGLE) > 0.97


def test_dotted_line_belongs_to_its_figure_on_a_clean_page() -> None:
    page = page_with_triangle()
    for x in range(712, 900, 10):
        cv2.circle(page.picture, (x, 300), 3, (0, 0, 0), -1)
    assert figure_boxes(page)[0].right > 880


def test_caption_with_a_misread_letter_is_a_caption() -> None:
    page = page_with_triangle()
    page.write("Fiqure 1. A block", 460, 520)
    assert [r.text for r in of_kind(page.layout(), RegionKind.CAPTION)] == ["Fiqure 1. A block"]
    assert read_label("Fiqure 1. A block") == "1"
