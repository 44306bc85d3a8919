from __future__ import annotations

import numpy as np

from physelite_build.bench.plain import PlainPage, plain_records
from physelite_build.geometry import Box, Transform
from physelite_build.records import Fingerprint, Line, PageText

HEIGHT_PX = 30


def _page(number: int, *texts: tuple[int, int, str], **more: object) -> PlainPage:
    lines = tuple(
        Line(text=text, box=Box(left=x, top=y, right=x + 20 * len(text), bottom=y + HEIGHT_PX), confidence=0.9)
        for x, y, text in texts
    )
    text = PageText(lines=lines, engine=Fingerprint(name="none", version="0"))
    return PlainPage(number, 1000, 1400, text, **more)  # type: ignore[arg-type]


def test_headings_cut_the_text_and_a_repeated_number_is_a_solution() -> None:
    record = plain_records(
        "paper",
        [
            _page(1, (50, 50, "Exam"), (50, 100, "1. A block slides."), (50, 200, "2. A lens."), (50, 250, "Where?")),
            _page(2, (50, 50, "1."), (50, 100, "It falls."), (50, 150, "Answer: 3 m")),
        ],
    )
    assert [
        (p["number"], p["statement"], p["solution"], p["final_answer"], p["pages"]) for p in record["problems"]
    ] == [
        ("1", "A block slides.\n", "\nIt falls.\n", "3 m", [1, 2]),
        ("2", "A lens.\nWhere?\n", "", None, [1]),
    ]
    assert record["problems"][0]["language"] == "en"


def test_chinese_headings_and_solutions_are_found() -> None:
    record = plain_records(
        "卷", [_page(1, (50, 50, "第二题（20分）"), (50, 100, "物块静止。"), (50, 150, "解：受力平衡。"))]
    )
    (problem,) = record["problems"]
    assert (problem["number"], problem["language"], problem["solution"]) == ("2", "zh", "受力平衡。\n")


def test_pieces_of_one_row_are_read_from_left_to_right() -> None:
    record = plain_records("p", [_page(1, (300, 98, "block"), (50, 100, "1. A"), (50, 150, "slides"))])
    assert record["problems"][0]["statement"] == "A\nblock\nslides\n"


def test_decimal_number_is_no_heading() -> None:
    assert plain_records("p", [_page(1, (50, 50, "1.5 m is the length"))])["problems"] == []


def test_big_blob_is_a_figure_of_the_open_problem() -> None:
    picture = np.full((1400, 1000), 255, dtype=np.uint8)
    picture[300:500, 200:500] = 0
    picture[100:130, 50:250] = 0  # the ink of the first line
    record = plain_records(
        "p",
        [
            _page(
                1,
                (50, 100, "1. A frame."),
                (50, 700, "2. Other."),
                picture=picture,
                to_page=Transform(matrix=(1, 0, 10, 0, 1, 0, 0, 0, 1)),
            )
        ],
    )
    (figure,) = record["problems"][0]["figures"]
    assert figure["page_size"] == [1000, 1400]
    # The map shifts by 10 px.
    assert figure["bbox"] == [210, 300, 510, 500]
    assert record["problems"][1]["figures"] == []


def test_page_without_lines_gives_no_problem() -> None:
    assert plain_records("p", [_page(1)]) == {"doc_id": "p", "error": None, "problems": []}
