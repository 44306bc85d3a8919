"""Single rows: what they announce, in the styles of printed papers and with the mistakes that OCR makes."""

from __future__ import annotations

import pytest

from physelite_build.stages.segment.headings import (
    find_heading,
    find_points,
    read_number,
)
from physelite_build.stages.segment.marks import find_answer_marker, find_mark, find_solution_marker
from physelite_build.stages.segment.sections import (
    is_answers_section,
    is_exam_note,
    is_notes_heading,
    is_section_heading,
)


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("7", 7),
        ("12", 12),
        ("l", 1),
        ("1l", 11),
        ("2O", 20),
        ("一", 1),
        ("十", 10),
        ("十二", 12),
        ("二十", 20),
        ("二十三", 23),
        ("IV", 4),
        ("IX", 9),
        ("A", 1),
        ("百", None),
        ("三五", None),
        ("abc", None),
        ("", None),
    ],
)
def test_number_is_read(printed: str, value: int | None) -> None:
    assert read_number(printed) == value


@pytest.mark.parametrize(
    ("row", "style", "number", "points", "rest"),
    [
        ("第1题（20分）斜面与滑轮", "第题", "1", 20, "斜面与滑轮"),
        ("第 2题进退两难的死飞", "第题", "2", None, "进退两难的死飞"),
        ("第l题", "第题", "1", None, ""),
        ("第十二题 (本题20分)", "第题", "12", 20, ""),
        ("第3大题 力学", "第题", "3", None, "力学"),
        ("【第4题】光学", "第题", "4", None, "光学"),
        ("题1 滑块", "题", "1", None, "滑块"),
        ("题目2：滑块", "题", "2", None, "滑块"),
        ("题目1自由落体（8分）", "题", "1", 8, "自由落体"),
        ("题1自由落体", "题", "1", None, "自由落体"),
        ("题目：如图", "题", "", None, "如图"),
        ("例1 如图", "例", "1", None, "如图"),
        ("例题2．如图", "例", "2", None, "如图"),
        ("【例3】如图", "例", "3", None, "如图"),
        ("练习4 如图", "练习", "4", None, "如图"),
        ("习题1-5 如图", "练习", "1-5", None, "如图"),
        ("Problem 1", "problem", "1", None, ""),
        ("PROBLEM 2: Pendulum", "problem", "2", None, "Pendulum"),
        ("Prob1em 3 (10 points)", "problem", "3", 10, ""),
        ("Theoretical Ouestion 1", "question", "1", None, ""),
        ("Theoretical problem 2", "problem", "2", None, ""),
        ("Experimental Problem 1. Lens [20 pts]", "problem", "1", 20, "Lens"),
        ("Question 3", "question", "3", None, ""),
        ("Question A1", "question", "A1", None, ""),
        ("Exercise 2.3 Find the speed.", "exercise", "2.3", None, "Find the speed."),
        ("Example 5", "example", "5", None, ""),
        ("Task 4. Lens", "problem", "4", None, "Lens"),
        ("Q3. Find the speed.", "q", "3", None, "Find the speed."),
        ("Q3．Find the speed.", "q", "3", None, "Find the speed."),
        ("理论第2题 光学", "第题", "2", None, "光学"),
        ("实验题一（20分）", "题", "1", 20, ""),
        ("1.2023年，某卫星", "1.", "1", None, "2023年，某卫星"),
        ("Q1 (20 points) Hohmann transfer", "q", "1", 20, "Hohmann transfer"),
        ("T2: Black hole (10 pts)", "q", "2", 10, "Black hole"),
        ("一、（40分）太阳物理初步", "一、", "1", 40, "太阳物理初步"),
        ("二.(20分)", "一、", "2", 20, ""),
        ("三（25分）", "一、", "3", 25, ""),
        ("-、（15分）", "一、", "1", 15, ""),
        ("（一）如图", "（一）", "1", None, "如图"),
        ("1. A pair of lenses (10 points)", "1.", "1", 10, "A pair of lenses"),
        ("2、如图", "1.", "2", None, "如图"),
        ("3．如图", "1.", "3", None, "如图"),
        ("4.（15分）如图", "1.", "4", 15, "如图"),
        ("l. Lens", "1.", "1", None, "Lens"),
        ("IV. Optics", "I.", "4", None, "Optics"),
        ("2.13 A ball falls.", "1.1", "2.13", None, "A ball falls."),
        ("A. 弗兰克-赫兹实验（40分）", "A.", "1", 40, "弗兰克-赫兹实验"),
    ],
)
def test_heading_is_read(row: str, style: str, number: str, points: float | None, rest: str) -> None:
    heading = find_heading(row)
    assert heading is not None
    assert (heading.style, heading.number, heading.points, heading.rest) == (style, number, points, rest)


@pytest.mark.parametrize(
    "row",
    [
        "2.0 m/s 的速度",
        "2.5 kg",
        "2019年，我国发射了卫星",
        "第1题图",
        "第1题中的小球",
        "题1图",
        "题1中的小球",
        "题目2的条件下",
        "第1题至第8题为单选题",
        "第一次成像",
        "一个小球静止。",
        "Problem solving is hard",
        "Questions of this kind",
        "problem 1 shows that",
        "Q1-1",
        "Q = mc",
        "T1 = 300 K",
        "A. 等于 B. 大于",
        "10 m/s is the speed",
        "3 个小球",
        "例如，小球",
        "题图1",
    ],
)
def test_ordinary_row_is_no_heading(row: str) -> None:
    assert find_heading(row) is None


@pytest.mark.parametrize(
    "row",
    [
        "第1题 解答",
        "第1题 参考答案",
        "第1题 解：由题意",
        "Problem 1 Solution",
        "Solution to Problem 1",
        "Problem 2 — Answer:",
        "第2题（解答）",
    ],
)
def test_heading_that_says_solution(row: str) -> None:
    heading = find_heading(row)
    assert heading is not None
    assert heading.answers


@pytest.mark.parametrize(
    ("row", "family", "label", "rest"),
    [
        ("(1) Find", "(1)", "1", "Find"),
        ("（2）求", "(1)", "2", "求"),
        ("(l)求", "(1)", "1", "求"),
        ("(3）在（2）的条件下", "(1)", "3", "在（2）的条件下"),
        ("（2.1）求", "(1.1)", "2.1", "求"),
        ("(a) Find", "(a)", "a", "Find"),
        ("b) Find", "a)", "b", "Find"),
        ("(ii) Find", "(i)", "ii", "Find"),
        ("①静止时", "①", "1", "静止时"),
        ("A.1 Find", "A.1", "A.1", "Find"),
        (".A.1.2若某", "A.1", "A.1.2", "若某"),
        ("A. 等于", "A.", "A", "等于"),
        ("(B) 2 m/s", "A.", "B", "2 m/s"),
        ("Step 1. First", "step", "1", "First"),
        ("Step l. First", "step", "1", "First"),
        ("步骤一：先", "step", "1", "先"),
        ("1) Find", "1)", "1", "Find"),
        ("Part A. Motion", "part", "A", "Motion"),
        ("⑵求", "(1)", "2", "求"),
        ("第2小题 求", "part", "2", "求"),
    ],
)
def test_mark_is_read(row: str, family: str, label: str, rest: str) -> None:
    mark = find_mark(row)
    assert mark is not None
    assert (mark.family, mark.label, row[mark.end :]) == (family, label, rest)


@pytest.mark.parametrize("row", ["(1999) wrote", "A ball", "a ball", "1.5 m", "（以向上为正）", "Steps are"])
def test_ordinary_row_has_no_mark(row: str) -> None:
    assert find_mark(row) is None


@pytest.mark.parametrize(
    ("row", "rest"),
    [
        ("解：由题意", "由题意"),
        ("【解答】", ""),
        ("【解析】由题意", "由题意"),
        ("解答", ""),
        ("参考解答：", ""),
        ("Solution", ""),
        ("SOLUTION:", ""),
        ("Solution. We have", "We have"),
        ("So1ution", ""),
        ("Sol. We have", "We have"),
        ("解 由题意", "由题意"),
        ("解（1）由", "（1）由"),
        ("证明：由", "由"),
    ],
)
def test_solution_marker_is_read(row: str, rest: str) -> None:
    marker = find_solution_marker(row)
    assert marker is not None
    assert marker.rest == rest


@pytest.mark.parametrize(
    "row", ["解得", "解出", "solution of the equation is", "Solutions are given", "分析小球的受力", "解方程"]
)
def test_ordinary_row_opens_no_solution(row: str) -> None:
    assert find_solution_marker(row) is None


@pytest.mark.parametrize(
    ("row", "rest"),
    [
        ("答案：$x=1$", "$x=1$"),
        ("答案: C", "C"),
        ("【答案】ABD", "ABD"),
        ("Answer: 4", "4"),
        ("Answer：4", "4"),
        ("Answers: (A), (B), (C)", "(A), (B), (C)"),
        ("Ans. 5 m", "5 m"),
        ("Final answer: 3", "3"),
        ("参考答案：3", "3"),
        ("答：3", "3"),
    ],
)
def test_answer_marker_is_read(row: str, rest: str) -> None:
    marker = find_answer_marker(row)
    assert marker is not None
    assert marker.rest == rest


@pytest.mark.parametrize(
    "row", ["Answer the following questions.", "答题时间60分钟", "Answers and solutions", "答案与解析"]
)
def test_ordinary_row_gives_no_answer(row: str) -> None:
    assert find_answer_marker(row) is None


@pytest.mark.parametrize(
    "row",
    [
        "参考答案",
        "答案与解析",
        "理论试题参考答案及评分标准",
        "Answers and solutions",
        "Solutions",
        "Answer Key",
        "【参考答案】",
        "习题答案",
    ],
)
def test_answers_section_is_seen(row: str) -> None:
    assert is_answers_section(row)


@pytest.mark.parametrize(
    "row",
    [
        "Answer the following questions.",
        "参考答案中给出的结果是错误的，请说明理由并改正它们",
        "The solutions of this equation",
    ],
)
def test_sentence_about_answers_is_no_section(row: str) -> None:
    assert not is_answers_section(row)


@pytest.mark.parametrize(
    ("text", "points"),
    [("求速度。（5分）", 5), ("（10分）求", 10), ("[2.5 pts] Find", 2.5), ("Find (1 point)", 1), ("求（2）", None)],
)
def test_points_are_found(text: str, points: float | None) -> None:
    assert find_points(text) == points


def test_notes_and_sections_are_told_apart_from_problems() -> None:
    assert is_notes_heading("考生须知")
    assert is_notes_heading("Instructions")
    assert is_exam_note("请在答题卡上作答")
    assert is_section_heading("一、选择题（每题4分）")
    assert is_section_heading("第Ⅱ卷")
    assert not is_section_heading("一、（15分）")
