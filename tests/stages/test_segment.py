"""Small papers, written as text, and the problems that must come out of them.

A paper is a string: one paragraph a line, wrapped here into rows as a printer would. ``---`` turns the page, ``|||`` changes the
column, two leading blanks indent a first line, ``>`` centres a row, ``$$...$$`` is a display formula, ``[figure]`` and
``[caption] ...`` are regions without text for the problem.
"""

from __future__ import annotations

import re
import unicodedata

import pytest

from physelite_build.geometry import Box
from physelite_build.records import Document, DocumentProblems, Page, PageLayout, Region, RegionKind
from physelite_build.stages.segment.cut import PageInput, segment

EM = 20
COLUMN_EM = 40
LEFT = 100


def _width_em(text: str) -> float:
    plain = re.sub(r"\\[a-zA-Z]+|[{}$]", "", text)
    return sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.5 for c in plain)


def _wrap(paragraph: str) -> list[tuple[float, str]]:
    indent = 2.0 if paragraph.startswith("  ") else 0.0
    words = re.findall(r"\$[^$]*\$\S?|[A-Za-z0-9.,:;()'+=/\-]+ ?|.", paragraph.strip())
    rows: list[tuple[float, str]] = []
    current = ""
    for word in words:
        if current and indent + _width_em(current + word.rstrip()) > COLUMN_EM:
            rows.append((indent, current.strip()))
            indent, current = 0.0, ""
        current += word
    return [*rows, (indent, current.strip())]


def _region(kind: RegionKind, order: int, column: int, top: int, indent_em: float, text: str) -> Region:
    left = LEFT + int(column * (COLUMN_EM + 4) * EM + indent_em * EM)
    width = max(EM, int(_width_em(text) * EM))
    height = 200 if kind is RegionKind.FIGURE else EM
    return Region(
        kind=kind,
        box=Box(left=left, top=top, right=left + width, bottom=top + height),
        order=order,
        column=column,
        text=text,
        confidence=0.9,
        engine="fake",
        indent_px=int(indent_em * EM),
    )


def paper(text: str) -> list[PageInput]:
    """Set a paper as described at the top of this file."""
    pages: list[PageInput] = []
    for number, source in enumerate(re.split(r"\n---\n", text.strip("\n")), 1):
        regions: list[Region] = []
        top, column = 100, 0
        for line in source.split("\n"):
            if line == "|||":
                top, column = 100, column + 1
                continue
            if line == "":
                top += 3 * EM
                continue
            kind, rows = RegionKind.TEXT, _wrap(line)
            if line.startswith("$$"):
                kind, rows = RegionKind.FORMULA, [(10.0, line.strip("$"))]
            elif line == "[figure]":
                kind, rows = RegionKind.FIGURE, [(5.0, "")]
            elif line.startswith("[caption]"):
                kind, rows = RegionKind.CAPTION, [(15.0, line.removeprefix("[caption] "))]
            elif line.startswith(">"):
                rows = [((COLUMN_EM - _width_em(line[1:].strip())) / 2, line[1:].strip())]
            for indent, row in rows:
                regions.append(_region(kind, len(regions), column, top, indent, row))
                top += (200 if kind is RegionKind.FIGURE else EM) + EM // 2
        page = Page(
            page_id=f"doc/p{number}",
            doc_id="doc",
            number=number,
            source_sha256="0" * 64,
            source_frame=number,
            image_sha256="0" * 64,
            width_px=1000,
            height_px=4000,
        )
        layout = PageLayout(page_width_px=1000, page_height_px=4000, regions=tuple(regions), columns=column + 1)
        pages.append(PageInput(page, layout))
    return pages


def problems_of(text: str) -> DocumentProblems:
    pages = paper(text)
    return segment(Document(doc_id="doc", page_ids=tuple(p.page.page_id for p in pages)), pages)


LONG_ZH = "如图所示，质量为$m$的小球用长为$l$的轻绳悬挂于固定点，今将小球拉至水平位置由静止释放，不计空气阻力，重力加速度为$g$，求小球在最低点的速度大小。"
LONG_EN = (
    "A small ball of mass $m$ hangs on a light string of length $l$. It is pulled aside until the string is horizontal "
    "and released from rest. Find its speed at the lowest point of the path."
)

CASES = [
    pytest.param(
        "第1题（20分）斜面与滑轮\n  第一段。\n（1）求加速度。\n（2）求张力。\n第2题（25分）圆环\n  第二段。",
        [
            {
                "number": "1",
                "title": "斜面与滑轮",
                "points": 20,
                "statement": "第一段。\n（1）求加速度。\n（2）求张力。",
            },
            {"number": "2", "title": "圆环", "points": 25, "statement": "第二段。"},
        ],
        id="di_n_ti_with_points_and_title",
    ),
    pytest.param(
        f"第l题门外有坏人\n  {LONG_ZH}\n第 2题 进退两难\n  {LONG_ZH}",
        [{"number": "1", "title": "门外有坏人"}, {"number": "2", "title": "进退两难"}],
        id="letter_l_read_for_1_and_stray_blanks",
    ),
    pytest.param(
        f"第一题（40分）\n  {LONG_ZH}\n第二题（40分）\n  {LONG_ZH}\n第十一题（40分）\n  {LONG_ZH}",
        [{"number": "1"}, {"number": "2"}, {"number": "11"}],
        id="chinese_numerals_become_arabic",
    ),
    pytest.param(
        f"一、（15分）\n  {LONG_ZH}\n二、（20分）\n  {LONG_ZH}\n三、(25分)\n  {LONG_ZH}",
        [{"number": "1", "points": 15, "statement": LONG_ZH}, {"number": "2"}, {"number": "3", "points": 25}],
        id="cn_list_numbers_problems_when_no_sections",
    ),
    pytest.param(
        f"-、（15分）{LONG_ZH}\n二、（20分）{LONG_ZH}",
        [{"number": "1", "points": 15, "statement": LONG_ZH}, {"number": "2", "statement": LONG_ZH}],
        id="statement_on_the_heading_row_and_dash_read_for_one",
    ),
    pytest.param(
        f"一、选择题（每题4分）\n1. {LONG_ZH}\n2. {LONG_ZH}\n二、计算题\n3. {LONG_ZH}\n4．{LONG_ZH}",
        [
            {"number": "1", "statement": LONG_ZH},
            {"number": "2", "statement": LONG_ZH},
            {"number": "3"},
            {"number": "4"},
        ],
        id="cn_list_numbers_sections_when_named_so",
    ),
    pytest.param(
        f"一、力学\n1. {LONG_ZH}\n2. {LONG_ZH}\n二、电学\n3. {LONG_ZH}\n4. {LONG_ZH}",
        [{"number": "1"}, {"number": "2", "statement": LONG_ZH}, {"number": "3"}, {"number": "4"}],
        id="cn_list_numbers_sections_when_arabic_numbers_run_on",
    ),
    pytest.param(
        f"一、（20分）{LONG_ZH}\n1. 求速度。\n2. 求时间。\n二、（20分）{LONG_ZH}\n1. 求力。\n2. 求功。",
        [
            {"number": "1", "statement": f"{LONG_ZH}\n1. 求速度。\n2. 求时间。", "parts": ["1", "2"]},
            {"number": "2", "parts": ["1", "2"]},
        ],
        id="arabic_numbers_that_restart_are_parts",
    ),
    pytest.param(
        f"第1题\n{LONG_ZH}\n1. 求速度。\n2. 求时间。\n第2题\n{LONG_ZH}",
        [{"number": "1", "parts": ["1", "2"]}, {"number": "2"}],
        id="arabic_numbers_inside_di_ti_are_parts",
    ),
    pytest.param(
        f"1、（15分）{LONG_ZH}\n2、（10分）{LONG_ZH}",
        [{"number": "1", "points": 15, "statement": LONG_ZH}, {"number": "2", "points": 10}],
        id="arabic_with_ideographic_comma",
    ),
    pytest.param(
        f"例1 {LONG_ZH}\n解：由机械能守恒得\n$$v=\\sqrt{{2gl}}$$\n例2 {LONG_ZH}\n【解析】略。",
        [
            {"number": "1", "statement": LONG_ZH, "solution": "由机械能守恒得\n$$v=\\sqrt{2gl}$$"},
            {"number": "2", "solution": "略。"},
        ],
        id="textbook_examples_with_inline_solutions",
    ),
    pytest.param(
        f"【例3】{LONG_ZH}\n【答案】C\n【解析】略。",
        [{"number": "3", "statement": LONG_ZH, "solution": "略。", "final_answer": "C"}],
        id="bracketed_example_with_answer_before_solution",
    ),
    pytest.param(
        f"题目：{LONG_ZH}\n解答：略。",
        [{"number": "1", "statement": LONG_ZH, "solution": "略。"}],
        id="unnumbered_ti_mu",
    ),
    pytest.param(
        f"> Physics Olympiad 2021\nProblem 1\n{LONG_EN}\nSolution\nUse energy conservation.\nAnswer: $v=\\sqrt{{2gl}}$.\nProb1em 2\n{LONG_EN}",
        [
            {
                "number": "1",
                "title": None,
                "statement": LONG_EN,
                "solution": "Use energy conservation.",
                "final_answer": "$v=\\sqrt{2gl}$",
                "language": "en",
            },
            {"number": "2", "statement": LONG_EN},
        ],
        id="problem_word_solution_and_answer",
    ),
    pytest.param(
        f"Theoretical Problem 1. Pendulum (10 points)\n{LONG_EN}\nTheoretical Problem 2. Lens (8 pts)\n{LONG_EN}",
        [{"number": "1", "title": "Pendulum", "points": 10}, {"number": "2", "title": "Lens", "points": 8}],
        id="theoretical_problem_with_title_and_points",
    ),
    pytest.param(
        f"Q1 (20 points) Hohmann transfer\n{LONG_EN}\nQ2 (20 points) Photoelectric data\n{LONG_EN}",
        [{"number": "1", "title": "Hohmann transfer", "points": 20}, {"number": "2", "title": "Photoelectric data"}],
        id="q_style",
    ),
    pytest.param(
        f"Question 3. {LONG_EN}\nQuestion 4. {LONG_EN}",
        [{"number": "3", "statement": LONG_EN}, {"number": "4", "statement": LONG_EN}],
        id="question_word_starting_at_three",
    ),
    pytest.param(
        f"Question A1\n{LONG_EN}\nQuestion A2\n{LONG_EN}\nQuestion B1\n{LONG_EN}",
        [{"number": "A1"}, {"number": "A2"}, {"number": "B1"}],
        id="lettered_questions_keep_their_letter",
    ),
    pytest.param(
        f"1. A pair of lenses (10 points)\n{LONG_EN}\n2. A triangular cycle (15 points)\n{LONG_EN}",
        [{"number": "1", "title": "A pair of lenses", "points": 10}, {"number": "2", "title": "A triangular cycle"}],
        id="dotted_numbers_with_titles",
    ),
    pytest.param(
        f"1.1 {LONG_EN}\n1.2 {LONG_EN}\n1.3 {LONG_EN}\n2.1 {LONG_EN}",
        [{"number": "1.1", "statement": LONG_EN}, {"number": "1.2"}, {"number": "1.3"}, {"number": "2.1"}],
        id="chapter_numbers_of_a_textbook",
    ),
    pytest.param(
        f"1. {LONG_EN}\n(A) 1 m/s\n(B) 2 m/s\n(C) 3 m/s\n(D) 4 m/s\n2. {LONG_EN}\nA. 5 N\nB. 6 N\nC. 7 N\nD. 8 N",
        [
            {"number": "1", "statement": f"{LONG_EN}\n(A) 1 m/s\n(B) 2 m/s\n(C) 3 m/s\n(D) 4 m/s", "parts": []},
            {"number": "2", "statement": f"{LONG_EN}\nA. 5 N\nB. 6 N\nC. 7 N\nD. 8 N", "parts": []},
        ],
        id="options_stay_in_the_statement_and_are_no_parts",
    ),
    pytest.param(
        f"> A. 弗兰克-赫兹实验（40分）\n{LONG_ZH}\n1. 测定电位（26分）\nA.1.1 求$U$。\nA.1.2 求$I$。",
        [{"number": "1", "title": "弗兰克-赫兹实验", "points": 40, "parts": ["A.1.1", "A.1.2"]}],
        id="lettered_heading_with_points_counts_from_one",
    ),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_heading_style(text: str, expected: list[dict[str, object]]) -> None:
    check(text, expected)


def check(text: str, expected: list[dict[str, object]]) -> None:
    found = problems_of(text).problems
    assert [p.number for p in found] == [e["number"] for e in expected]
    for problem, wanted in zip(found, expected, strict=True):
        for name, value in wanted.items():
            actual = getattr(problem, name)
            if name in ("parts", "steps"):
                actual = [x.label for x in actual]
            elif name in ("pages",):
                actual = list(actual)
            assert actual == value, f"{problem.key} {name}"


PITFALLS = [
    pytest.param(
        "1. 一物体的速度为\n2.0 m/s 的物体与墙相碰，求冲量。\n2. 求力。",
        [{"number": "1"}, {"number": "2", "statement": "求力。"}],
        id="decimal_at_the_start_of_a_row",
    ),
    pytest.param(
        "1. A car of mass 1000 kg moves with a speed of exactly\n10. Its acceleration is zero.\n2. Find the force.",
        [{"number": "1"}, {"number": "2"}],
        id="number_ending_a_sentence_is_no_heading",
    ),
    pytest.param(
        f"1. {LONG_ZH}\n2019年，我国发射了卫星，求其周期。\n2. {LONG_ZH}",
        [{"number": "1"}, {"number": "2"}],
        id="year_is_no_heading",
    ),
    pytest.param(
        f"1. {LONG_ZH}\n1. 小球视为质点\n2. 绳不可伸长\n2. {LONG_ZH}\n3. {LONG_ZH}",
        [{"number": "1"}, {"number": "2", "statement": LONG_ZH}, {"number": "3"}],
        id="list_inside_a_statement",
    ),
    pytest.param(
        f"> 考生须知\n1. 考试时间180分钟。\n2. 请用黑色签字笔作答。\n3. 本卷共2题。\n\n1. {LONG_ZH}\n2. {LONG_ZH}",
        [{"number": "1", "statement": LONG_ZH}, {"number": "2"}],
        id="notes_to_candidates_are_no_problems",
    ),
    pytest.param(
        f"> Instructions\n1. Write your name on each answer sheet.\n2. You have five hours.\n3. Calculators are allowed.\n\nProblem 1\n{LONG_EN}\nProblem 2\n{LONG_EN}",
        [{"number": "1", "statement": LONG_EN}, {"number": "2", "statement": LONG_EN}],
        id="english_instructions_are_dropped",
    ),
    pytest.param(
        "> 全国物理竞赛试卷\n考试时间：180分钟 满分：100分。\n一、（50分）\n  甲。\n二、（50分）\n  乙。",
        [{"number": "1", "statement": "甲。"}, {"number": "2", "statement": "乙。"}],
        id="title_and_exam_remarks_are_dropped",
    ),
    pytest.param(
        "第1题\n  甲。\n（3）在\n（2）的条件下求速度。",
        [{"number": "1", "parts": []}],
        id="reference_to_a_part_at_the_start_of_a_row",
    ),
    pytest.param(
        f"1. {LONG_ZH}\n（1）求速度。\n（2）求时间。\n解：（1）由题意\n$$v=1$$\n（2）同理可得。\n答案：$t=2\\,\\mathrm{{s}}$。",
        [
            {
                "number": "1",
                "parts": ["1", "2"],
                "steps": ["1", "2"],
                "solution": "（1）由题意\n$$v=1$$\n（2）同理可得。",
                "final_answer": "$t=2\\,\\mathrm{s}$",
            }
        ],
        id="part_labels_in_statement_and_in_solution",
    ),
    pytest.param(
        "第1题（10分）\n  甲。\n第2题（10分）\n---\n  乙。\n（1）丙。",
        [{"number": "1", "pages": [1]}, {"number": "2", "pages": [1, 2], "statement": "乙。\n（1）丙。"}],
        id="heading_at_the_bottom_of_a_page",
    ),
    pytest.param(
        f"Problem 1\n{LONG_EN}\nSolution\nFirst we write down\n---\nthe energy of the ball.\nProblem 2\n{LONG_EN}",
        [{"number": "1", "solution": "First we write down the energy of the ball.", "pages": [1, 2]}, {"number": "2"}],
        id="solution_runs_over_a_page_break",
    ),
    pytest.param(
        f"1. {LONG_EN}\n2. {LONG_EN}\n|||\n3. {LONG_EN}",
        [{"number": "1"}, {"number": "2"}, {"number": "3", "statement": LONG_EN}],
        id="two_columns",
    ),
    pytest.param(
        f"{LONG_ZH}{LONG_ZH}\n（1）求速度。\n（2）求时间。",
        [{"number": "1", "parts": ["1", "2"]}],
        id="no_heading_is_one_problem",
    ),
    pytest.param("[figure]\n[caption] 图1", [], id="no_text_is_no_problem"),
    pytest.param("", [], id="empty_document"),
    pytest.param(
        f"  {LONG_ZH}\n（1）求速度。\n  {LONG_ZH}\n二、（20分）\n  {LONG_ZH}\n三、（20分）\n  {LONG_ZH}",
        [{"number": "1"}, {"number": "2"}, {"number": "3"}],
        id="text_before_number_two_is_problem_one",
    ),
    pytest.param(
        f"1. {LONG_ZH}\n2. {LONG_ZH}\n二、填空题：请把答案填在横线上。\n3. {LONG_ZH}",
        [{"number": "1"}, {"number": "2", "statement": LONG_ZH}, {"number": "3"}],
        id="section_heading_belongs_to_no_problem",
    ),
    pytest.param(
        f"例1 {LONG_ZH}\n练习1 {LONG_ZH}\n例2 {LONG_ZH}\n练习2 {LONG_ZH}",
        [{"number": "1", "key": "doc#1"}, {"number": "1", "key": "doc#1.2"}, {"number": "2"}, {"number": "2"}],
        id="repeated_numbers_get_distinct_keys",
    ),
    pytest.param(
        f"一、（40分）太阳物理初步\n  {LONG_ZH}\n解：\n（1）略。\n评分标准：本题满分40分。\n第（1）问10分。\n附录\n本题考查很多概念。",
        [{"number": "1", "solution": "（1）略。"}],
        id="marking_scheme_is_no_solution",
    ),
    pytest.param(
        f"第1题 {LONG_ZH}\n由第1题图可知，小球静止。\n第2题 {LONG_ZH}",
        [{"number": "1"}, {"number": "2"}],
        id="mention_of_a_problem_inside_text",
    ),
    pytest.param(
        f"Problem 1\n{LONG_EN}\nPart A. Motion (3.0 points)\nA.1 Find $v$.\nA.2 Find $t$.\nPart B. Energy (2.0 points)\nB.1 Find $E$.\nProblem 2\n{LONG_EN}",
        [{"number": "1", "parts": ["A.1", "A.2", "B.1"]}, {"number": "2"}],
        id="olympiad_parts_with_letters",
    ),
]


PITFALLS += [
    pytest.param(
        f"1. {LONG_ZH}\n2\n{LONG_ZH}\n3．{LONG_ZH}",
        [{"number": "1"}, {"number": "2", "statement": LONG_ZH}, {"number": "3"}],
        id="number_alone_fills_a_gap_in_the_count",
    ),
    pytest.param(
        "1. 一个质量很大的小球从静止开始沿着光滑的斜面下滑，测得它的加速度的大小约等于\n2. 5米每二次方秒，求倾角。\n2. 求力的大小。\n3. 求功。",
        [{"number": "1"}, {"number": "2", "statement": "求力的大小。"}, {"number": "3"}],
        id="number_inside_a_wrapped_sentence",
    ),
    pytest.param(
        f"I.\n{LONG_EN}\nII.\n{LONG_EN}\nIII.\n{LONG_EN}",
        [{"number": "1", "statement": LONG_EN}, {"number": "2"}, {"number": "3"}],
        id="roman_numbers_alone",
    ),
    pytest.param(
        f"> Theory\n> Q1-1\nThe hidden disk (10 points)\n{LONG_EN}\nA.1 Find $d$.\n---\n> Q1-2\nA.2 Find $I$.\n---\n"
        f"> Q2-1\nCircuits (9 points)\n{LONG_EN}\n---\n> A2-1\nA.1 (0.4pt)",
        [
            {"number": "1", "title": "The hidden disk", "points": 10, "parts": ["A.1", "A.2"], "pages": [1, 2]},
            {"number": "2", "title": "Circuits", "points": 9, "statement": LONG_EN},
        ],
        id="page_labels_of_an_olympiad",
    ),
    pytest.param(
        f"Problem 1 (10 points)\n{LONG_EN}\n---\nProblem 1\n(b) Find $t$.\n---\nProblem 1 (continued)\n(c) Find $x$.\nProblem 2\n{LONG_EN}",
        [{"number": "1", "statement": f"{LONG_EN}\n(b) Find $t$.\n(c) Find $x$."}, {"number": "2"}],
        id="heading_repeated_on_the_next_page",
    ),
    pytest.param(
        f"例题1 {LONG_ZH}\n解：略。\n例题2 {LONG_ZH}\n解：略。\n> 习题\n1. 求位移。\n2. 求时间。\n3. 求高度。",
        [
            {"number": "1", "solution": "略。"},
            {"number": "2", "solution": "略。"},
            {"number": "1", "key": "doc#1.2", "statement": "求位移。"},
            {"number": "2"},
            {"number": "3"},
        ],
        id="exercises_after_worked_examples",
    ),
    pytest.param(
        f"Question A1\n{LONG_EN}\na. Find the mass.\nSolution\nEasy.\nb. Find the force.\nSolution\nEasy too.",
        [
            {
                "number": "A1",
                "statement": f"{LONG_EN}\na. Find the mass.\nb. Find the force.",
                "solution": "Easy.\nEasy too.",
                "parts": ["a", "b"],
            }
        ],
        id="each_part_followed_by_its_solution",
    ),
    pytest.param(
        "> 第38届全国中学生物理竞赛复赛理论考试试题解答\n一、（40分）\n（1）由机械能守恒得$v=1$。\n评分标准：本题40分。\n二、（40分）\n（1）由角动量守恒得$L=1$。",
        [
            {"number": "1", "points": 40, "statement": "", "solution": "（1）由机械能守恒得$v=1$。"},
            {"number": "2", "statement": "", "solution": "（1）由角动量守恒得$L=1$。"},
        ],
        id="document_of_solutions_only",
    ),
    pytest.param(
        f"1. Cylinder (8 points) — Jaan Kalda\n{LONG_EN}\n2. Lens (6 points) — Mihkel Heidelberg\n{LONG_EN}",
        [{"number": "1", "title": "Cylinder", "points": 8}, {"number": "2", "title": "Lens", "points": 6}],
        id="author_after_the_points",
    ),
    pytest.param(
        f"1．2023年4月，{LONG_ZH}\n2.2022年5月，{LONG_ZH}\n3．{LONG_ZH}",
        [{"number": "1"}, {"number": "2", "statement": f"2022年5月，{LONG_ZH}"}, {"number": "3"}],
        id="number_directly_before_a_year",
    ),
    pytest.param(
        f"1 {LONG_ZH}\n2 {LONG_ZH}\n3 {LONG_ZH}",
        [{"number": "1", "statement": LONG_ZH}, {"number": "2"}, {"number": "3"}],
        id="numbers_without_a_dot",
    ),
    pytest.param(
        f"一、选择题\n1. {LONG_ZH}\n2. {LONG_ZH}\n二、计算题\n11.（20分）{LONG_ZH}\n参考答案\n一、选择题\n1. A 2. B\n二、计算题\n11. 解：略。",
        [
            {"number": "1", "final_answer": "A"},
            {"number": "2", "final_answer": "B"},
            {"number": "11", "points": 20, "statement": LONG_ZH, "solution": "略。"},
        ],
        id="sections_in_the_questions_and_in_the_answers",
    ),
    pytest.param(
        f"1. {LONG_ZH}\n【答案】C 【解析】由题意可知。\n2. {LONG_ZH}\n答案：D 解析：同理。",
        [
            {"number": "1", "final_answer": "C", "solution": "由题意可知。"},
            {"number": "2", "final_answer": "D", "solution": "同理。"},
        ],
        id="answer_and_explanation_on_one_row",
    ),
]


@pytest.mark.parametrize(("text", "expected"), PITFALLS)
def test_pitfall(text: str, expected: list[dict[str, object]]) -> None:
    check(text, expected)


ANSWERS_AT_THE_END = [
    pytest.param(
        "一、（10分）\n  甲。\n二、（10分）\n  乙。\n> 参考答案\n一、\n①甲解。\n答案：$1$\n二、\n①乙解。\n②乙完。\n答案：$2$",
        [
            {"number": "1", "statement": "甲。", "solution": "①甲解。", "final_answer": "$1$", "steps": ["1"]},
            {
                "number": "2",
                "statement": "乙。",
                "solution": "①乙解。\n②乙完。",
                "final_answer": "$2$",
                "steps": ["1", "2"],
            },
        ],
        id="same_form_of_number",
    ),
    pytest.param(
        "一、（10分）\n  甲。\n二、（10分）\n  乙。\n> 参考答案\n①甲解。\n答案：$1$\n二、\n①乙解。\n答案：$2$",
        [{"number": "1", "solution": "①甲解。", "final_answer": "$1$"}, {"number": "2", "final_answer": "$2$"}],
        id="first_entry_lost_its_number",
    ),
    pytest.param(
        f"1. {LONG_EN}\n2. {LONG_EN}\n> Answers and solutions\n1.\nStep 1. First.\nStep 2. Second.\nAnswer: $3$\n2.\nStep 1. Only.\nAnswer: $4$",
        [
            {"number": "1", "steps": ["1", "2"], "final_answer": "$3$"},
            {"number": "2", "steps": ["1"], "final_answer": "$4$", "statement": LONG_EN},
        ],
        id="bare_numbers",
    ),
    pytest.param(
        f"Problem 1\n{LONG_EN}\nProblem 2\n{LONG_EN}\n> Answers\n1. 3.0 m/s\n2. 5 N",
        [{"number": "1", "final_answer": "3.0 m/s"}, {"number": "2", "final_answer": "5 N", "solution": None}],
        id="numbered_in_another_form",
    ),
    pytest.param(
        f"第1题 门\n  {LONG_ZH}\n第2题 车\n  {LONG_ZH}\n---\n> 参考答案\n第1题 门\n(1) 甲。\n---\n(2) 乙。\n第2题 车\n丙。",
        [
            {"number": "1", "statement": LONG_ZH, "solution": "(1) 甲。\n(2) 乙。", "pages": [1, 2, 3]},
            {"number": "2", "solution": "丙。", "pages": [1, 3]},
        ],
        id="headings_with_titles_repeated_on_later_pages",
    ),
    pytest.param(
        f"第1题\n  {LONG_ZH}\n第2题\n  {LONG_ZH}\n---\n第1题 解答\n甲。\n第2题 解答\n乙。",
        [{"number": "1", "solution": "甲。", "statement": LONG_ZH}, {"number": "2", "solution": "乙。"}],
        id="headings_that_say_solution_without_a_section",
    ),
    pytest.param(
        f"Problem 1\n{LONG_EN}\nProblem 2\n{LONG_EN}\n---\nSolution to Problem 1\nEasy.\nSolution to Problem 2\nEasy too.",
        [{"number": "1", "solution": "Easy."}, {"number": "2", "solution": "Easy too."}],
        id="solution_to_problem_n",
    ),
    pytest.param(
        f"1. {LONG_ZH}\n2. {LONG_ZH}\n3. {LONG_ZH}\n> 参考答案\n1. C 2. AB 3. D",
        [
            {"number": "1", "final_answer": "C"},
            {"number": "2", "final_answer": "AB"},
            {"number": "3", "final_answer": "D"},
        ],
        id="several_entries_on_one_row",
    ),
    pytest.param(
        f"1. {LONG_ZH}\n参考答案：$v=1$\n2. {LONG_ZH}\n参考答案：$v=2$",
        [{"number": "1", "final_answer": "$v=1$"}, {"number": "2", "final_answer": "$v=2$"}],
        id="inline_reference_answers_open_no_section",
    ),
    pytest.param(
        f"1. {LONG_EN}\nSolution\nEasy.\n2. {LONG_EN}\nSolution\nEasy too.",
        [{"number": "1", "solution": "Easy."}, {"number": "2", "solution": "Easy too."}],
        id="solution_after_each_problem_opens_no_section",
    ),
    pytest.param(
        f"{LONG_EN}\n(a) Find $v$.\n(b) Find $t$.\n> Solution\n(a) Easy.\n(b) Easy too.",
        [{"number": "1", "parts": ["a", "b"], "steps": ["a", "b"], "solution": "(a) Easy.\n(b) Easy too."}],
        id="one_problem_without_heading_and_its_solution",
    ),
]


@pytest.mark.parametrize(("text", "expected"), ANSWERS_AT_THE_END)
def test_answers_are_joined_to_their_problems(text: str, expected: list[dict[str, object]]) -> None:
    check(text, expected)


def test_chinese_rows_are_joined_without_a_space() -> None:
    assert problems_of(f"第1题\n  {LONG_ZH}").problems[0].statement == LONG_ZH


def test_english_rows_are_joined_with_a_space() -> None:
    assert problems_of(f"Problem 1\n{LONG_EN}").problems[0].statement == LONG_EN


def test_divided_word_is_put_together() -> None:
    text = "Problem 1\nThe sphere of radius one metre rolls down a rough incline of large but con-\nstant slope."
    assert problems_of(text).problems[0].statement.endswith("large but constant slope.")


def test_indented_row_starts_a_paragraph() -> None:
    text = f"第1题\n  {LONG_ZH}\n  另有一球静止。"
    assert problems_of(text).problems[0].statement.split("\n") == [LONG_ZH, "另有一球静止。"]


def test_formulas_side_by_side_keep_their_own_dollars() -> None:
    text = "第1题\n甲乙丙丁甲乙丙丁甲乙丙丁甲乙丙丁甲乙丙丁甲乙丙丁甲乙丙丁甲乙丙丁甲乙丙丁为$a=1$\n$b=2$。"
    assert "$a=1$ $b=2$" in problems_of(text).problems[0].statement


@pytest.mark.parametrize(
    ("rows", "joined"),
    [
        (("为$\\nu=$", "$4\\,\\mathrm{Hz}$。"), "$\\nu=4\\,\\mathrm{Hz}$"),
        (("为$\\nu$", "$=4$。"), "$\\nu=4$"),
        (("为$a\\cdot$", "$b$。"), "$a\\cdotb$"),
    ],
)
def test_formula_divided_after_an_operator_is_put_together(rows: tuple[str, str], joined: str) -> None:
    filler = "甲乙丙丁甲乙丙丁甲乙丙丁甲乙丙丁甲乙丙丁甲乙丙丁甲乙丙丁甲乙丙丁甲乙丙"
    joined = joined.replace("\\cdotb", "\\cdot b")
    assert joined in problems_of(f"第1题\n{filler}{rows[0]}\n{rows[1]}").problems[0].statement


def test_label_inside_a_formula_is_freed() -> None:
    problem = problems_of("第1题\n  甲。\n$(1)v$是多少？\n$(2)t$是多少？\n$A$.是").problems[0]
    assert [p.text for p in problem.parts] == ["$v$是多少？", "$t$是多少？\nA.是"]


def test_key_of_a_repeated_number_avoids_a_dotted_number() -> None:
    text = f"例1 {LONG_ZH}\n例1.2 {LONG_ZH}\n练习1 {LONG_ZH}"
    keys = [p.key for p in problems_of(text).problems]
    assert keys[0] == "doc#1"
    assert len(set(keys)) == len(keys) == 3


def test_language_follows_the_letters_and_not_single_misread_signs() -> None:
    assert problems_of(f"Problem 1\n{LONG_EN}\n十").problems[0].language == "en"
    assert problems_of(f"1. {LONG_ZH}\n2. {LONG_ZH}").problems[0].language == "zh"


def test_equation_numbers_are_no_text() -> None:
    pages = paper("第1题\n  甲得\n$$v=1$$\n> (1)\n乙。")
    layout = pages[0].layout
    moved = [
        r.model_copy(update={"box": Box(left=850, top=200, right=890, bottom=220)}) if r.text == "(1)" else r
        for r in layout.regions
    ]
    wide = Region(kind=RegionKind.TEXT, box=Box(left=100, top=900, right=900, bottom=920), order=99, text="丙丁。")
    page = PageInput(pages[0].page, layout.model_copy(update={"regions": (*moved, wide)}))
    assert "(1)" not in segment(Document(doc_id="doc"), [page]).problems[0].statement


def test_spans_name_field_page_and_lowest_confidence() -> None:
    problem = problems_of("第1题\n  甲。\n解：乙。\n答案：丙").problems[0]
    assert [s.field for s in problem.spans] == ["number", "statement", "solution", "answer"]
    assert {s.page_id for s in problem.spans} == {"doc/p1"}
    assert problem.confidence == 0.9


def test_part_points_are_read() -> None:
    problem = problems_of("第1题\n  甲。\n（1）求速度。（5分）\n（2）（10分）求时间。").problems[0]
    assert [p.points for p in problem.parts] == [5, 10]


def test_same_input_gives_same_output() -> None:
    text = f"1. {LONG_ZH}\n2. {LONG_ZH}\n> 参考答案\n1. 甲。\n2. 乙。"
    assert problems_of(text) == problems_of(text)
