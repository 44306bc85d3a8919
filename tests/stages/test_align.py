"""Translations are paired by facts, and each problem becomes exactly one entry or gives way to one."""

from __future__ import annotations

import pytest
from problem_records import problem

from physelite_build.errors import FatalError
from physelite_build.records import Entries, Pair, PairDecision, Problem
from physelite_build.stages.align import facts_of, find_translations, make_entries

ZH = problem("z#1", "质量 $m=0.50$ kg 的小球从高 $h=0.80$ m 处落下，求速度 $v$。", language="zh", parts=("1", "2"))
EN = problem("e#1", "A ball of mass $m=0.50$ kg falls from $h=0.80$ m. Find the speed $v$.", parts=("1", "2"))
OTHER = problem("e#2", "A coil of $N=200$ turns in a field $B=0.10$ T. Find the flux $\\Phi$.", parts=("1",))


def same(left: str, right: str) -> Pair:
    return Pair(left=left, right=right, decision=PairDecision.SAME, similarity=1.0, rule="test")


def entries(problems: list[Problem], duplicates: list[Pair], *, limit: float = 1.0) -> Entries:
    return make_entries(problems, find_translations(problems), duplicates, max_removal=limit)


def test_facts_are_what_a_translator_leaves_alone() -> None:
    assert {"n:0.5", "n:0.8", "s:m", "s:h", "s:v", "p:1", "p:2"} <= set(facts_of(ZH))


def test_a_problem_meets_its_translation_in_any_order() -> None:
    expected = [("z#1", "e#1")]
    assert [(p.left, p.right) for p in find_translations([ZH, EN, OTHER])] == expected
    assert [(p.left, p.right) for p in find_translations([OTHER, EN, ZH])] == expected


def test_a_problem_without_enough_facts_is_never_aligned() -> None:
    short = problem("z#2", "求 $v$。", language="zh")
    assert find_translations([short, problem("e#3", "Find $v$.")]) == ()


def test_a_translation_makes_one_entry_led_by_the_chinese_text() -> None:
    made = entries([EN, ZH, OTHER], []).entries
    assert [(e.key, e.zh, e.en) for e in made] == [("z#1", "z#1", "e#1"), ("e#2", None, "e#2")]


def test_the_most_complete_of_a_group_is_kept_and_the_others_point_to_it() -> None:
    bare = problem("a#1", "text", answer=None)
    full = problem("b#1", "text", solution="because", figures=1)
    made = entries([bare, full], [same("a#1", "b#1")]).entries
    assert [(e.key, e.duplicates) for e in made] == [("b#1", ("a#1",))]


def test_nothing_is_merged_through_a_middle() -> None:
    first, middle, last = (problem(f"{k}#1", "text", solution=s) for k, s in (("a", "s"), ("b", None), ("c", None)))
    made = entries([first, middle, last], [same("a#1", "b#1"), same("b#1", "c#1")]).entries
    assert [(e.key, e.duplicates) for e in made] == [("a#1", ("b#1",)), ("c#1", ())]


def test_a_duplicate_hands_its_translation_to_the_keeper() -> None:
    copy = ZH.model_copy(update={"key": "y#1", "doc_id": "y", "solution": "证明"})
    pair = Pair(left="z#1", right="e#1", decision=PairDecision.TRANSLATION, similarity=0.9, rule="test")
    made = make_entries([ZH, EN, copy], [pair], [same("y#1", "z#1")], max_removal=1.0).entries
    assert [(e.zh, e.en, e.duplicates) for e in made] == [("y#1", "e#1", ("z#1",))]


def test_every_problem_is_in_exactly_one_entry() -> None:
    problems = [ZH, EN, OTHER, problem("a#1", "text"), problem("b#1", "text")]
    made = entries(problems, [same("a#1", "b#1")]).entries
    named = [key for e in made for key in (e.zh, e.en, *e.duplicates) if key]
    assert sorted(named) == sorted(p.key for p in problems)


def test_a_removal_rate_above_the_limit_stops_the_run() -> None:
    problems = [problem("a#1", "text"), problem("b#1", "text")]
    with pytest.raises(FatalError, match=r"dedup\.too_many"):
        entries(problems, [same("a#1", "b#1")], limit=0.4)
