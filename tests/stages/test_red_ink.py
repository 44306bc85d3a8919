"""Red pen and red print on a page of black text."""

from __future__ import annotations

import cv2
import numpy as np
from drawn_page import DrawnPage

from physelite_build.stages.layout import without_red_pen

RED = (40, 40, 220)
CHINESE = "质量为的小球沿光滑斜面由静止开始下滑求小球到达底端的速度大小"


def printed() -> DrawnPage:
    page = DrawnPage()
    page.paragraph(CHINESE, 80, 100, 6)
    return page


def test_page_without_red_is_returned_as_it_is() -> None:
    picture = printed().picture
    assert without_red_pen(picture) is picture


def test_strokes_of_a_pen_go_and_the_print_below_stays() -> None:
    page = printed()
    plain = page.picture.copy()
    pen = np.full_like(plain, 255)
    cv2.ellipse(pen, (400, 150), (150, 40), 0, 0, 360, RED, 4)
    cv2.polylines(pen, [np.array([[900, 600], [940, 660], [1040, 520]], np.int32)], False, RED, 6)
    clean = without_red_pen(np.minimum(plain, pen))
    assert np.abs(clean.astype(int) - plain).max() < 16


def test_small_marks_of_the_pen_go_with_the_large_ones() -> None:
    page = printed()
    plain = page.picture.copy()
    cv2.polylines(page.picture, [np.array([[900, 600], [940, 660], [1040, 520]], np.int32)], False, RED, 6)
    cv2.line(page.picture, (700, 600), (712, 600), RED, 3)
    assert np.abs(without_red_pen(page.picture).astype(int) - plain).max() < 16


def test_red_print_stays() -> None:
    page = printed()
    words = page.write("答案速度为二倍根号", 80, 420)
    area = page.picture[words.top : words.bottom, words.left : words.right]
    area[area[:, :, 0] == 0] = RED
    assert without_red_pen(page.picture) is page.picture


def test_page_printed_in_red_stays() -> None:
    page = printed()
    page.picture[page.picture[:, :, 0] == 0] = RED
    assert without_red_pen(page.picture) is page.picture
