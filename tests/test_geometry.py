"""Boxes and maps: what must always hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from physelite_build.geometry import Box, Transform

SIDE_PX = 500


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    left, top = draw(st.integers(0, SIDE_PX)), draw(st.integers(0, SIDE_PX))
    width, height = draw(st.integers(0, SIDE_PX)), draw(st.integers(0, SIDE_PX))
    return Box(left=left, top=top, right=left + width, bottom=top + height)


@given(boxes(), boxes())
def test_union_holds_both_and_intersection_lies_in_both(a: Box, b: Box):
    assert a.union(b) == b.union(a)
    assert a.intersection(b) == b.intersection(a)
    assert a.union(b).area >= max(a.area, b.area)
    assert a.intersection(b).area <= min(a.area, b.area)


@given(boxes(), boxes())
def test_shares_are_ratios_and_iou_is_symmetric(a: Box, b: Box):
    assert a.iou(b) == b.iou(a)
    assert 0 <= a.iou(b) <= 1
    assert 0 <= a.covered_by(b) <= 1


@given(boxes())
def test_a_box_is_all_of_itself_unless_it_is_empty(a: Box):
    assert a.iou(a) == a.covered_by(a) == (1.0 if a.area else 0.0)


@given(boxes(), boxes())
def test_area_of_the_intersection_is_counted_pixel_by_pixel(a: Box, b: Box):
    columns = len(set(range(a.left, a.right)) & set(range(b.left, b.right)))
    lines = len(set(range(a.top, a.bottom)) & set(range(b.top, b.bottom)))
    assert a.intersection(b).area == columns * lines


@given(boxes(), st.integers(0, 50))
def test_a_padded_box_stays_in_its_picture(a: Box, pixels: int):
    padded = a.padded(pixels, width_px=2 * SIDE_PX, height_px=2 * SIDE_PX)
    assert padded.intersection(a) == a
    assert padded.left >= 0
    assert padded.top >= 0
    assert max(padded.right, padded.bottom) <= 2 * SIDE_PX


def test_a_box_around_points_rounds_outwards():
    assert Box.around([(0.5, 1.0), (2.1, 3.0)]) == Box(left=0, top=1, right=3, bottom=3)
    with pytest.raises(ValueError, match="unpack"):
        Box.around([])


@given(boxes())
def test_the_identity_moves_nothing(a: Box):
    assert Transform().box(a) == a


@given(boxes(), st.integers(0, 100), st.integers(0, 100))
def test_a_shift_and_its_inverse_give_the_box_back(a: Box, dx: int, dy: int):
    there = Transform(matrix=(1, 0, dx, 0, 1, dy, 0, 0, 1))
    back = Transform(matrix=(1, 0, -dx, 0, 1, -dy, 0, 0, 1))
    assert back.box(there.box(a)) == a


def test_a_quarter_turn_swaps_the_sides():
    turned = Transform(matrix=(0, -1, 100, 1, 0, 0, 0, 0, 1)).box(Box(left=0, top=0, right=10, bottom=40))
    assert (turned.width, turned.height) == (40, 10)


def test_a_point_that_is_sent_to_infinity_is_an_error():
    with pytest.raises(ValueError, match="no image"):
        Transform(matrix=(1, 0, 0, 0, 1, 0, 1, 0, 0)).point(0, 5)
