"""Papers in the styles of official competitions; they are written like those of ``test_segment.py``."""

from __future__ import annotations

import pytest
from test_segment import LONG_EN, LONG_ZH, paper, problems_of

from physelite_build.records import DocumentProblems
from physelite_build.stages.segment.headings import find_heading
from physelite_build.stages.segment.running_rows import find_running_rows
from physelite_build.stages.segment.sections import is_answer_sheet, is_answers_section, is_grading_box


def numbers(found: DocumentProblems) -> list[str]:
    return [problem.number for problem in found.problems]


def test_title_with_points_below_a_bare_heading_is_no_statement() -> None:
    found = problems_of(
        f"Theoretical Question 1\nSliding on an incline (10 points)\n{LONG_EN}\nPart A. Smooth motion (4.0 points)\n"
        f"A.1 Find the speed. (1.5 pt)\nPart B. Friction (6.0 points)\nB.1 Find the distance. (6.0 pt)\n---\n"
        f"Theoretical Question 2\nA thin lens\n{LONG_EN}\nA.1 Find the image."
    )
    assert [(p.number, p.title, p.points) for p in found.problems] == [
        ("1", "Sliding on an incline", 10),
        ("2", "A thin lens", None),
    ]
    assert found.problems[1].statement == f"{LONG_EN}\nA.1 Find the image."
    assert [part.label for part in found.problems[0].parts] == ["A.1", "B.1"]


def test_first_question_below_a_bare_heading_is_no_title() -> None:
    found = problems_of(f"Theoretical Question 1\n(a) Find the speed\n{LONG_EN}\nTheoretical Question 2\n{LONG_EN}")
    assert found.problems[0].title is None
    assert found.problems[0].statement.startswith("(a)")


@pytest.mark.parametrize(
    "form", ["一、本题满分{}分。", "一、（本题{}分）", "一（{}分）", "第一题（{}分）", "一、({}分)"]
)
def test_points_of_chinese_papers(form: str) -> None:
    second = form.replace("一", "二")
    found = problems_of(f"{form.format(40)}{LONG_ZH}\n{second.format(20)}{LONG_ZH}")
    assert [(p.number, p.points, p.statement) for p in found.problems] == [("1", 40, LONG_ZH), ("2", 20, LONG_ZH)]


@pytest.mark.parametrize(
    "heads",
    [
        ("（40分）", "、（40分）", "（40分）"),
        ("一、（40分）", "、（40分）", "三、（40分）"),
        ("一、（40分）", "二、（40分）", "（40分）"),
        ("（40分）", "二、（40分）", "三、（40分）"),
        ("-（40分）", "=、（40分）", "≡、（40分）"),
    ],
)
def test_lost_numbers_follow_from_their_neighbours(heads: tuple[str, str, str]) -> None:
    found = problems_of("\n".join(f"{head}{LONG_ZH}\n（1）求速度。" for head in heads))
    assert numbers(found) == ["1", "2", "3"]
    assert [p.points for p in found.problems] == [40, 40, 40]
    assert found.problems[1].statement == f"{LONG_ZH}\n（1）求速度。"


@pytest.mark.parametrize(
    "text",
    [
        f"一、（40分）{LONG_ZH}\n（10分）求速度。\n（30分）求距离。\n二、（40分）{LONG_ZH}",
        f"一、（40分）{LONG_ZH}\n二、（40分）{LONG_ZH}\n（10分）求速度。\n（10分）求距离。",
        f"第1题（40分）{LONG_ZH}\n（20分）求速度。\n第2题（40分）{LONG_ZH}\n（20分）求速度。",
        f"1．（40分）{LONG_ZH}\n（20分）求速度。\n2．（40分）{LONG_ZH}\n（20分）求速度。",
    ],
)
def test_points_of_parts_open_no_problem(text: str) -> None:
    assert numbers(problems_of(text)) == ["1", "2"]


def test_words_over_boxes_for_marks_are_left_out() -> None:
    found = problems_of(f"得分 阅卷 复核\n一、（20分）{LONG_ZH}\n得分\n阅卷人\n二、（20分）{LONG_ZH}")
    assert [p.statement for p in found.problems] == [LONG_ZH, LONG_ZH]


def test_answer_sheets_make_no_problems() -> None:
    found = problems_of(
        f"Theoretical Question 1\n{LONG_EN}\n---\nTheoretical Question 2\n{LONG_EN}\n---\n"
        "Answer Sheet\nTheoretical Question 1\nA.1 (1.0 pt)\nv =\n---\nTheory\nAnswer Sheet Question 2\nA.1 (1.0 pt)\nf ="
    )
    assert numbers(found) == ["1", "2"]
    assert "=" not in found.problems[1].statement


def test_document_of_answer_sheets_alone_is_kept() -> None:
    assert numbers(problems_of("Answer Sheet\nTheoretical Question 1\nA.1 The speed is 3 m/s.")) == ["1"]


def test_answers_after_the_title_of_a_competition_join_their_problems() -> None:
    found = problems_of(
        f"一、（40分）{LONG_ZH}\n二、（40分）{LONG_ZH}\n---\n> 第38届全国中学生物理竞赛复赛参考解答\n"
        "一、（40分）\n（1）由能量守恒得 $v=1$ 。\n二、（40分）\n由欧姆定律得 $I=2$ 。"
    )
    assert numbers(found) == ["1", "2"]
    assert found.problems[1].statement == LONG_ZH
    assert found.problems[1].solution == "由欧姆定律得 $I=2$ 。"


def test_running_head_with_a_page_number_is_left_out() -> None:
    found = problems_of(
        f"一、（40分）{LONG_ZH}\n---\n第38届全国中学生物理竞赛复赛试题 第2页（共4页）\n（1）求速度。\n二、（40分）{LONG_ZH}"
    )
    assert found.problems[0].statement == f"{LONG_ZH}\n（1）求速度。"


def test_running_head_is_known_by_its_return() -> None:
    pages = paper(
        f"Physics Education 12 (2021)\n1. {LONG_EN}\n---\nPhysics Educaton 13 (2021)\n2. {LONG_EN}\n---\n3. {LONG_EN}"
    )
    first = {page.page.number: {page.layout.regions[0].order} for page in pages[:2]}
    assert find_running_rows(pages) == [first[1], first[2], set()]


def test_headings_and_parts_at_the_top_of_pages_are_no_running_heads() -> None:
    pages = paper(
        f"Theoretical Question 1\n{LONG_EN}\n---\nTheoretical Question 2\n{LONG_EN}\n---\n(1) Find it.\n---\n(2) Find it."
    )
    assert find_running_rows(pages) == [set(), set(), set(), set()]


@pytest.mark.parametrize("label", ["Qu 1.", "Qu. 1", "Q1."])
def test_short_word_for_question(label: str) -> None:
    assert numbers(problems_of(f"{label} Gravity\n{LONG_EN}\n{label.replace('1', '2')} Heat\n{LONG_EN}")) == ["1", "2"]


def test_parts_numbered_like_sections_are_split() -> None:
    found = problems_of(f"Theory Problem 2: Light\n{LONG_EN}\n2.1 Find the angle.\n2.2 Find the distance.")
    assert [part.label for part in found.problems[0].parts] == ["2.1", "2.2"]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("Answer Sheet", True),
        ("IPhO 2019 Theory Answer sheets", True),
        ("答题纸", True),
        ("Write the results into the answer sheet.", False),
        ("请将答案写在答题纸上", False),
    ],
)
def test_title_of_an_answer_sheet(row: str, *, expected: bool) -> None:
    assert is_answer_sheet(row) is expected


@pytest.mark.parametrize(
    ("row", "expected"), [("得分", True), ("得 分 评卷人", True), ("得分电路", False), ("", False)]
)
def test_words_of_a_grading_box(row: str, *, expected: bool) -> None:
    assert is_grading_box(row) is expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [("第38届全国中学生物理竞赛复赛参考解答", True), ("2021年预赛试卷答案", True), ("这道题没有解答", False)],
)
def test_title_of_the_answers_of_a_competition(row: str, *, expected: bool) -> None:
    assert is_answers_section(row) is expected


@pytest.mark.parametrize(
    "heads",
    [
        ("T1 Gravity (10 points)", "T2 Light (10 points)"),
        ("E1. Gravity (10.0 pts)", "E2. Light (10.0 pts)"),
        ("T-1: Gravity", "T-2: Light"),
        ("Theory 1: Gravity", "Theory 2: Light"),
        ("Theory, T1: Gravity (10 pts)", "Theory, T2: Light (10 pts)"),
    ],
)
def test_short_headings_of_english_papers(heads: tuple[str, str]) -> None:
    found = problems_of(f"{heads[0]}\n{LONG_EN}\n{heads[1]}\n{LONG_EN}")
    assert [(p.number, p.title) for p in found.problems] == [("1", "Gravity"), ("2", "Light")]


@pytest.mark.parametrize("row", ["T1 = 300 K", "E1 is the first level", "P2 V2 Find it.", "T1 Gravity"])
def test_symbols_are_no_headings(row: str) -> None:
    assert find_heading(row) is None


@pytest.mark.parametrize("form", ["（15分）{}．", "【{}】", "{}．（15分）", "第{}题（15分）"])
def test_numbers_of_chinese_exams(form: str) -> None:
    found = problems_of(f"{form.format(16)}{LONG_ZH}\n{form.format(17)}{LONG_ZH}")
    assert [(p.number, p.statement) for p in found.problems] == [("16", LONG_ZH), ("17", LONG_ZH)]


def test_short_headings_of_solutions_join_their_problems() -> None:
    found = problems_of(
        f"T1. Gravity (10 pts)\n{LONG_EN}\nT2. Light (10 pts)\n{LONG_EN}\n---\nSolution T1\nWe have $v=1$.\nSolution T2\nWe have $f=2$."
    )
    assert [(p.number, p.solution) for p in found.problems] == [("1", "We have $v=1$."), ("2", "We have $f=2$.")]


def test_title_of_the_official_solutions_opens_them() -> None:
    found = problems_of(
        f"Problem 1\n{LONG_EN}\nProblem 2\n{LONG_EN}\n---\n> IPhO 2022 Theory: Official Solutions\n"
        "Problem 1\nWe have $v=1$.\nProblem 2\nWe have $f=2$."
    )
    assert [(p.number, p.solution) for p in found.problems] == [("1", "We have $v=1$."), ("2", "We have $f=2$.")]


def test_heading_of_the_experimental_part_belongs_to_no_problem() -> None:
    found = problems_of(f"理论部分\n第一题 单摆（30分）\n{LONG_ZH}\n实验部分\n第二题 测量（40分）\n{LONG_ZH}")
    assert [p.statement for p in found.problems] == [LONG_ZH, LONG_ZH]
