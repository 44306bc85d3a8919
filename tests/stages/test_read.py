"""Rows that the text engine passes over on the whole page are read alone."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from physelite_build.geometry import Box
from physelite_build.records import Char, Fingerprint, Line, PageText
from physelite_build.stages.read import LEAST_CONFIDENCE, read_gaps

ENGINE = Fingerprint(name="fake", version="1")
ROWS = [
    "A block of mass m rests on a rough plane.",
    "It is pushed by a constant force F and",
    "comes to rest after some time t.",
]


def drawn_page() -> tuple[NDArray[np.uint8], list[Line]]:
    picture = np.full((900, 1200, 3), 255, np.uint8)
    lines = []
    for index, row in enumerate(ROWS * 2):
        bottom = 150 + index * 60
        cv2.putText(picture, row, (100, bottom), cv2.FONT_HERSHEY_SIMPLEX, 1.0, (0, 0, 0), 2, cv2.LINE_AA)
        width = cv2.getTextSize(row, cv2.FONT_HERSHEY_SIMPLEX, 1.0, 2)[0][0]
        box = Box(left=98, top=bottom - 28, right=104 + width, bottom=bottom + 10)
        lines.append(Line(text=row, box=box, confidence=0.99))
    return picture, lines


def test_a_missed_row_is_read_alone_and_put_in_its_place() -> None:
    picture, lines = drawn_page()
    missed = lines.pop(2)

    def read(crop: NDArray[np.uint8]) -> tuple[Line, ...]:
        ys, xs = np.nonzero(crop[:, :, 0] < 128)
        box = Box(left=int(xs.min()), top=int(ys.min()), right=int(xs.max()) + 1, bottom=int(ys.max()) + 1)
        return (Line(text=missed.text, box=box, confidence=0.9, chars=(Char(text="c", box=box),)),)

    text = read_gaps(picture, PageText(lines=tuple(lines), engine=ENGINE), (), read)
    assert [line.text for line in text.lines[5:]] == [missed.text]
    assert text.lines[5].box.iou(missed.box) > 0.6
    assert text.lines[5].chars[0].box == text.lines[5].box


def test_a_page_without_gaps_is_left_as_it_is() -> None:
    picture, lines = drawn_page()
    text = PageText(lines=tuple(lines), engine=ENGINE)
    assert read_gaps(picture, text, (), lambda crop: ()) is text


def test_what_is_read_unsurely_in_a_gap_is_dropped() -> None:
    picture, lines = drawn_page()
    del lines[2]
    text = PageText(lines=tuple(lines), engine=ENGINE)
    weak = Line(text="~", box=Box(left=0, top=0, right=9, bottom=9), confidence=LEAST_CONFIDENCE - 0.01)
    assert read_gaps(picture, text, (), lambda crop: (weak,)) is text
