"""Pages that were drawn level, then tilted, turned or photographed with a known map."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import cv2
import numpy as np
import pytest
from drawn_page import DrawnPage
from numpy.typing import NDArray

from physelite_build.blobs import Blobs
from physelite_build.stages.straighten import find_paper, measure_skew_deg, straighten

Picture = NDArray[np.uint8]


def printed() -> Picture:
    page = DrawnPage(width=1000, height=1400)
    for k in range(4):
        top = page.paragraph("物块沿斜面下滑然后在水平面上滑行一段距离后停止求", 120, 120 + 280 * k, 4)
        page.write("求物块的速度大小", 120, top)
    return page.picture


def tilted(page: Picture, deg: float) -> Picture:
    height, width = page.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), deg, 1.0)
    cos, sin = abs(turn[0, 0]), abs(turn[0, 1])
    size = int(width * cos + height * sin), int(height * cos + width * sin)
    turn[:, 2] += (size[0] - width) / 2, (size[1] - height) / 2
    return np.asarray(cv2.warpAffine(page, turn, size, borderValue=(255, 255, 255)), dtype=np.uint8)


@pytest.mark.parametrize("deg", [0.0, 0.8, -4.0, 9.0, -13.0, 18.0])
def test_skew_is_measured_up_to_twenty_degrees(deg: float) -> None:
    assert measure_skew_deg(tilted(printed(), deg)) == pytest.approx(deg, abs=0.15)


def test_drawing_alone_is_not_turned() -> None:
    page = DrawnPage(width=1000, height=1400)
    page.stroke((200, 900), (800, 700), (800, 900), (200, 900), thickness=4)
    assert measure_skew_deg(page.picture) == 0.0


def test_turn_is_told_again_once_the_rows_are_level(tmp_path: Path) -> None:
    asked: list[float] = []

    def find_turn(picture: Picture) -> Literal[0, 90, 180, 270]:
        asked.append(measure_skew_deg(picture))
        return 180 if len(asked) == 2 else 0

    upright = straighten(tilted(printed(), 11.0), find_turn=find_turn, blobs=Blobs(tmp_path))
    assert asked == [pytest.approx(11.0, abs=0.15), pytest.approx(0.0, abs=0.15)]
    assert upright.turned_deg == 180
    matrix = np.array(upright.to_page.matrix).reshape(3, 3)
    corner = cv2.perspectiveTransform(np.array([[[0.0, 0.0]]]), matrix)[0, 0]
    assert corner[0] > 1000
    assert corner[1] > 1200


def test_level_page_is_asked_once(tmp_path: Path) -> None:
    asked: list[int] = []

    def find_turn(picture: Picture) -> Literal[0, 90, 180, 270]:
        asked.append(picture.shape[0])
        return 0

    straighten(printed(), find_turn=find_turn, blobs=Blobs(tmp_path))
    assert asked == [1400]


def photographed(corners: NDArray[np.float32], *, shadow: bool) -> Picture:
    """Lay a page on a brown desk; a shadow with a sharp edge falls across its lower right part."""
    page = printed()
    height, width = page.shape[:2]
    sheet = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    desk = np.full((1700, 1300, 3), (60, 80, 110), dtype=np.uint8)
    onto = cv2.getPerspectiveTransform(sheet, corners)
    photo = cv2.warpPerspective(page, onto, (1300, 1700), dst=desk, borderMode=cv2.BORDER_TRANSPARENT).astype(
        np.float32
    )
    if shadow:
        y, x = np.mgrid[0:1700, 0:1300].astype(np.float32)
        photo *= (1 - 0.55 / (1 + np.exp(-((x - 900) + 0.4 * (y - 700)) / 20)))[..., None]
    return np.asarray(photo, dtype=np.uint8)


@pytest.mark.parametrize("shadow", [False, True])
def test_sheet_is_found_whole_though_a_shadow_crosses_it(*, shadow: bool) -> None:
    corners = np.array([[150, 120], [1130, 160], [1090, 1560], [110, 1500]], dtype=np.float32)
    found = find_paper(photographed(corners, shadow=shadow))
    assert found is not None
    assert np.abs(found - corners).max() < 25


def test_picture_that_is_all_paper_has_no_sheet() -> None:
    assert find_paper(printed()) is None


def test_paper_of_a_dark_photo_becomes_white(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    upright = straighten((printed() * 0.3).astype(np.uint8), find_turn=lambda _: 0, blobs=blobs)
    assert np.median(blobs.get_image(upright.image_sha256)) > 240
