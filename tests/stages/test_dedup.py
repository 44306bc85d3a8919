"""Duplicates are all found, and nothing that a physicist would keep apart is merged."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problem_records import problem
from rapidfuzz.distance import Indel

from physelite_build.records import PairDecision
from physelite_build.stages.dedup import find_duplicates, indel_limit, normal_form, numbers_in

LONG = (
    "A block of mass $m$ slides down a smooth plane of angle $\\theta$ and length $L$ from rest; find its final speed. "
)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (r"$\dfrac{a}{b}$", r"$\frac{a}{b}$"),
        ("质量为 $m$ 的物块，", "质量为$m$的物块,"),
        ("ｖ＝３ｍ", "v=3m"),
        (r"$x \leq 3\,\mathrm{m}$", r"$x\le3 m$"),
        ("10²", "10^2"),
    ],
)
def test_print_differences_fold_away(left: str, right: str) -> None:
    assert normal_form(left) == normal_form(right)


@pytest.mark.parametrize(("left", "right"), [("10²", "102"), ("$m$", "$M$"), ("$x_1$", "$x_2$"), ("a-b", "a+b")])
def test_meaning_does_not_fold_away(left: str, right: str) -> None:
    assert normal_form(left) != normal_form(right)


def test_numbers_are_compared_without_trailing_zeros() -> None:
    assert numbers_in("2.50 m and 10 s, 2.0") == {"2.5": 1, "10": 1, "2": 1}


def decision(left: str, right: str, **changes: int) -> PairDecision | None:
    pairs = find_duplicates([problem("a#1", left), problem("b#1", right, **changes)], same=0.95, ask=0.85)  # type: ignore[arg-type]
    return pairs[0].decision if pairs else None


def test_the_same_text_is_the_same_problem() -> None:
    assert decision(LONG, LONG) is PairDecision.SAME


def test_another_number_in_the_same_text_is_asked() -> None:
    assert decision(LONG + "Take 3.0 kg.", LONG + "Take 4.0 kg.") is PairDecision.ASK


def test_another_figure_beside_the_same_text_is_asked() -> None:
    assert decision(LONG, LONG, figures=1) is PairDecision.ASK


def test_nearly_the_same_text_is_asked_and_other_text_is_not() -> None:
    assert decision(LONG, LONG.replace("smooth plane", "rough old plane")) is PairDecision.ASK
    assert decision(LONG, "A rod of length $l$ turns about its end in a field $B$; find the voltage.") is None


def test_languages_are_not_compared_with_each_other() -> None:
    assert find_duplicates([problem("a#1", LONG), problem("b#1", LONG, language="zh")], same=0.95, ask=0.85) == ()


def test_a_pair_exactly_on_the_threshold_counts() -> None:
    assert indel_limit(20, 20, 0.95) == 2
    left, right = "abcdefghijklmnopqrst", "abcdefghijklmnopqrsu"
    assert Indel.distance(left, right) == 2
    assert decision(left, right) is PairDecision.SAME


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="ab电 1", max_size=24), max_size=12), st.sampled_from([0.6, 0.8, 0.85, 0.9, 0.95]))
def test_every_pair_that_brute_force_finds_is_found_in_any_order(texts: list[str], threshold: float) -> None:
    problems = [problem(f"d#{index}", text) for index, text in enumerate(texts)]
    forms = {p.key: normal_form(p.statement) for p in problems}
    wanted = {
        tuple(sorted((a.key, b.key)))
        for a, b in combinations([p for p in problems if forms[p.key]], 2)
        if Indel.distance(forms[a.key], forms[b.key]) <= indel_limit(len(forms[a.key]), len(forms[b.key]), threshold)
    }
    found = find_duplicates(problems, same=1.0, ask=threshold)
    assert {(pair.left, pair.right) for pair in found} == wanted
    assert find_duplicates(problems[::-1], same=1.0, ask=threshold) == found
