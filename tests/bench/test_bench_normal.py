from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from physelite_build.bench.normal import flat_text, formulas_of, normal_answer, normal_latex, normal_text, pieces_of

CASES = json.loads((Path(__file__).parent / "cases" / "bench_normal.json").read_text(encoding="utf-8"))
LATEX_LIKE = st.lists(
    st.sampled_from(r"\frac \sqrt [ ] { } _ ^ ' a 1 + \alpha \left( \right) & \\ $ 力 .".split())
).map(" ".join)


@pytest.mark.parametrize("case", CASES["latex"], ids=lambda case: case["given"])
def test_latex_has_one_spelling(case: dict[str, str]) -> None:
    assert normal_latex(case["given"]) == case["expected"]


@pytest.mark.parametrize("case", CASES["flat"], ids=lambda case: case["given"])
def test_flat_text_has_bare_letters(case: dict[str, str]) -> None:
    assert flat_text(case["given"]) == case["expected"]


@pytest.mark.parametrize("case", CASES["answer"], ids=lambda case: case["given"])
def test_answers_lose_words_and_punctuation(case: dict[str, str]) -> None:
    assert normal_answer(case["given"]) == case["expected"]


@pytest.mark.parametrize(
    ("left", "right"), [(r"\frac{a}{b}", r"\frac{b}{a}"), ("x_1", "x^1"), ("a-b", "a+b"), ("x'", "x")]
)
def test_different_formulas_stay_different(left: str, right: str) -> None:
    assert normal_latex(left) != normal_latex(right)


def test_english_keeps_single_blanks_and_chinese_none() -> None:
    assert normal_text("a  block,\nat rest", language="en") == "a block, at rest"
    assert normal_text("物块 静止，", language="en") == "物块静止,"


def test_flattening_ignores_where_the_dollar_signs_are() -> None:
    assert flat_text("mass $m_1$ and $m_2$") == flat_text("mass m1 and m2")


def test_display_formulas_are_formulas() -> None:
    assert formulas_of("so $a$ and\n$$b_1$$") == ["a", "b_{1}"]


@given(LATEX_LIKE)
def test_any_latex_is_read_to_its_end(latex: str) -> None:
    assert normal_latex(latex).count("{") == normal_latex(latex).count("}")


@given(st.text(alphabet="ab$\\()[] 力"))
def test_pieces_alternate_between_text_and_formula(text: str) -> None:
    pieces = pieces_of(text)
    assert [piece.is_formula for piece in pieces] == [bool(index % 2) for index in range(len(pieces))]
    assert len(pieces) % 2 == 1
