"""Fresh test pages: the halves share nothing, a seed gives one plan, boxes follow the pixels, the truth can be scored."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image, ImageDraw

from physelite_build.bench.truth import load_truth

DATA = Path(__file__).resolve().parents[1] / "data"
EDGE_PX = 2
"""Resampling and blur move an edge by a pixel; a wrong map is off by far more."""
BOX = [150.0, 200.0, 420.0, 330.0]


class Modules(NamedTuple):
    plan: ModuleType
    damage: ModuleType
    compose: ModuleType
    make: ModuleType
    typeset: ModuleType


@pytest.fixture(scope="module")
def pages() -> Iterator[Modules]:
    """The scripts of ``data``, which find each other by standing in one folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DATA))
        before = set(sys.modules)
        import make_pages
        import typeset
        from pages import compose, damage, plan

        yield Modules(plan, damage, compose, make_pages, typeset)
        for name in set(sys.modules) - before:
            if str(DATA) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


@pytest.fixture(scope="module")
def items(pages) -> dict[str, Any]:
    return pages.make.read_sources()[0]


@pytest.fixture(scope="module")
def plans(pages, items) -> list[Any]:
    return pages.plan.plan_documents(list(items), seed=pages.make.SEED)


def of_half(plans, half):
    return [plan for plan in plans if plan.half == half]


@pytest.mark.parametrize("seed", range(6))
def test_halves_share_no_problem_no_set_of_typefaces_and_no_combination(pages, items, seed):
    tune, held_out = (of_half(pages.plan.plan_documents(list(items), seed=seed), half) for half in pages.plan.HALVES)
    assert not {i for p in tune for i in p.items} & {i for p in held_out for i in p.items}
    assert not {p.face for p in tune} & {p.face for p in held_out}
    assert not {(p.face.words, p.kind) for p in tune} & {(p.face.words, p.kind) for p in held_out}


def test_same_seed_gives_the_same_plan_and_another_seed_another(pages, items, plans):
    assert pages.plan.plan_documents(list(reversed(items)), seed=pages.make.SEED) == plans
    assert pages.plan.plan_documents(list(items), seed=pages.make.SEED + 1) != plans


def test_every_kind_is_made_and_has_a_recipe(pages, plans):
    assert {plan.kind for plan in plans} == set(pages.plan.KINDS) == set(pages.damage.RECIPES)
    for half in pages.plan.HALVES:
        assert {plan.kind for plan in of_half(plans, half)} >= set(pages.plan.KINDS_OF_BOTH)


def test_each_half_uses_all_its_problems_in_both_languages_with_a_table_and_choices(pages, items, plans):
    for half in pages.plan.HALVES:
        used = {(item, plan.language) for plan in of_half(plans, half) for item in plan.items}
        assert len(used) == len(items)
        for part in ("table", "choices"):
            assert any(
                part in entry for item, _ in used for entry in items[item]["en"]["statement"] if entry != str(entry)
            )


def test_too_few_problems_are_refused(pages):
    with pytest.raises(ValueError, match="give at least 6"):
        pages.plan.plan_documents(["a", "b", "c", "d", "e"], seed=1)


def test_both_languages_of_a_problem_hold_the_same_formulas_to_display_figures_and_tables(items):
    for item in items.values():
        zh, en = (
            [
                {k: v for k, v in e.items() if k in ("eq", "fig")}
                for e in [*t["statement"], *t["solution"]]
                if isinstance(e, dict)
            ]
            for t in (item["zh"], item["en"])
        )
        assert zh == en


@pytest.mark.parametrize("kind", ["flatbed", "photocopy", "photo", "fax", "two-up", "sideways", "low-res", "halftone"])
def test_boxes_follow_the_pixels(pages, kind):
    recipe = pages.damage.RECIPES[kind]
    page = Image.new("RGB", (620, 877), "white")
    ImageDraw.Draw(page).rectangle((BOX[0], BOX[1], BOX[2] - 1, BOX[3] - 1), fill="black")
    capture = recipe.capture([page, page], np.random.default_rng(5))
    assert len(capture.places) == 2
    for place in capture.places:
        box, _ = pages.make.moved_box(BOX, place.move)
        around = [box[0] - 12, box[1] - 12, box[2] + 12, box[3] + 12]
        cut = np.asarray(capture.pictures[place.picture].convert("L").crop(tuple(round(v) for v in around)))
        dark = cut < (int(cut.min()) + int(np.median(cut[:6]))) / 2
        rows, columns = np.flatnonzero(dark.mean(axis=1) > 0.03), np.flatnonzero(dark.mean(axis=0) > 0.03)
        left, top = round(around[0]), round(around[1])
        found = [left + columns[0], top + rows[0], left + columns[-1] + 1, top + rows[-1] + 1]
        assert np.abs(np.array(found) - box).max() <= EDGE_PX


def laid_out(pages, plan, items):
    """A paper and places as the page script reports them, one block below the other, without a browser."""
    paper = pages.compose.compose(plan, items)
    places = [
        {
            "page": 1,
            "column": 1,
            "rect": [80, 20 + 8 * i, 700, 27 + 8 * i],
            "svg": [100, 20 + 8 * i, 300, 27 + 8 * i] if block.figure else None,
            "formulas": [{"latex": block.text, "rect": [80, 20 + 8 * i, 90, 27 + 8 * i]}] if block.kind == "eq" else [],
        }
        for i, block in enumerate(paper.blocks)
    ]
    return paper, pages.typeset.Sheet(b"", tuple(places))


def test_truth_of_a_spread_can_be_scored_and_names_pictures_not_sheets(pages, items, plans, tmp_path):
    plan = replace(next(p for p in plans if p.kind == "two-up"), items=tuple(items)[:2])
    paper, sheet = laid_out(pages, plan, items)
    clean = [Image.new("RGB", (1240, 1754), "black")] * 2
    capture = pages.damage.RECIPES["two-up"].capture(clean, np.random.default_rng(1))
    truth = pages.make.truth_of(plan, paper, sheet, clean, capture, ["page-01.jpg"])
    (tmp_path / f"{plan.doc_id}.json").write_text(json.dumps(truth), encoding="utf-8")

    (document,) = load_truth(tmp_path)
    assert [(page.number, page.width_px) for page in document.pages] == [(1, 2480)]
    assert [problem.pages for problem in document.problems] == [frozenset({1})] * 2
    assert all(figure.box[2] <= 1240 for problem in document.problems for figure in problem.figures)
    assert truth["problems"][0]["figures"]


def test_truth_keeps_labels_in_the_text_and_headings_and_answer_labels_out(pages, items, plans):
    plan = next(p for p in plans if p.language == "en" and p.look.answers == "in place")
    paper, sheet = laid_out(pages, plan, items)
    truths = pages.typeset.problem_truths(paper.entries, plan.language, paper.blocks, sheet)
    for item_id, problem in zip(plan.items, truths, strict=True):
        text = items[item_id]["en"]
        first_part = next(entry["part"] for entry in text["statement"] if isinstance(entry, dict) and "part" in entry)
        assert problem["final_answer"] == text["final_answer"]
        assert problem["statement"].startswith(text["statement"][0])
        assert plan.look.part_mark.format(n=1, a="a") + first_part in problem["statement"].splitlines()
        assert len(problem["steps"]) == sum("step" in entry for entry in text["solution"])


def test_a_paper_without_solutions_leaves_them_unknown(pages, items, plans):
    plan = next(p for p in plans if p.look.answers == "none")
    paper, sheet = laid_out(pages, plan, items)
    for problem in pages.typeset.problem_truths(paper.entries, plan.language, paper.blocks, sheet):
        assert (problem["solution"], problem["final_answer"]) == (None, None)
