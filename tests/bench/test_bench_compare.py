from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bench_cases import TRUTH, perfect_record, write_truth

from physelite_build.bench.compare import compare_document
from physelite_build.bench.measures import MEASURES, Tally, add_up, measure_of
from physelite_build.bench.predicted import parse_records
from physelite_build.bench.truth import load_truth


@pytest.fixture
def record() -> dict[str, Any]:
    return perfect_record(TRUTH)


def _tally(tmp_path: Path, record: dict[str, Any] | None) -> Tally:
    (truth,) = load_truth(write_truth(tmp_path, TRUTH))
    return compare_document(truth, parse_records([record])[truth.doc_id] if record else None)


def _values(tally: Tally) -> dict[str, float | None]:
    return {definition.name: measure_of(definition, tally).value for definition in MEASURES}


def test_perfect_record_has_best_values(tmp_path: Path, record: dict[str, Any]) -> None:
    values = _values(_tally(tmp_path, record))
    assert values == {
        "seg_f1": 1,
        "number_acc": 1,
        "span_acc": 1,
        "cer_zh": None,
        "cer_en": 0,
        "cer_flat_zh": None,
        "cer_flat_en": 0,
        "formula_sim": 1,
        "formula_em": 1,
        "fig_f1@.5": 1,
        "fig_f1@.75": 1,
        "link_acc": 1,
        "role_acc": 1,
        "answer_em": 1,
        "seconds_per_page": 2,
    }


def test_missing_document_is_all_deleted(tmp_path: Path) -> None:
    tally = _tally(tmp_path, None)
    values = _values(tally)
    assert (tally.failed_documents, tally.problems, tally.formulas, tally.answers) == (1, 2, 2, 1)
    assert (values["seg_f1"], values["cer_en"], values["formula_sim"], values["answer_em"]) == (0, 1, 0, 0)
    assert values["number_acc"] is None


def test_character_errors_leave_formulas_out(tmp_path: Path, record: dict[str, Any]) -> None:
    record["problems"][0]["statement"] = "A black of mass $M$ slides down."
    tally = _tally(tmp_path, record)
    # "A block of mass slides down. Energy gives" and "Find the period of a pendulum."
    assert (tally.chars_en, tally.edits_en) == (41 + 30, 1)
    # "Ablockofmassmslidesdown.Energygivesv=sqrt2gh" and "Findtheperiodofapendulum."
    assert (tally.flat_chars_en, tally.flat_edits_en) == (44 + 25, 2)


def test_wrong_letter_costs_one_of_eleven_in_similarity(tmp_path: Path, record: dict[str, Any]) -> None:
    record["problems"][0]["solution"] = "Energy gives $v=\\sqrt{2gH}$"
    tally = _tally(tmp_path, record)
    assert tally.formula_similarity == pytest.approx(1 + 1 - 1 / len(r"v=\sqrt{2gh}"))
    assert tally.formulas_exact == 1


def test_solution_that_is_not_in_the_truth_is_not_compared(tmp_path: Path, record: dict[str, Any]) -> None:
    record["problems"][1]["solution"] = "Much text that nobody can check, $x$."
    tally = _tally(tmp_path, record)
    assert (tally.edits_en, tally.flat_edits_en, tally.formulas_read) == (0, 0, 2)


def test_cut_off_problem_is_neither_right_nor_wrong(tmp_path: Path, record: dict[str, Any]) -> None:
    assert _tally(tmp_path, record).problems_read == 2
    record["problems"][2]["number"] = "4"
    assert _tally(tmp_path, record).problems_read == 3


def test_invented_problem_lowers_f1(tmp_path: Path, record: dict[str, Any]) -> None:
    record["problems"].append({"number": "8", "statement": "zzzzzzz"})
    assert _values(_tally(tmp_path, record))["seg_f1"] == pytest.approx(2 * 2 / (2 + 3))


def test_swapped_figures_are_found_but_linked_wrongly(tmp_path: Path, record: dict[str, Any]) -> None:
    one, two = record["problems"][:2]
    one["figures"], two["figures"] = two["figures"], one["figures"]
    values = _values(_tally(tmp_path, record))
    assert (values["fig_f1@.75"], values["link_acc"]) == (1, 0)


def test_overlap_of_two_thirds_counts_at_half_only(tmp_path: Path, record: dict[str, Any]) -> None:
    record["problems"][0]["figures"][0]["bbox"] = [140, 100, 340, 200]  # 160 of 240 columns in common
    tally = _tally(tmp_path, record)
    assert (tally.figures_50, tally.figures_75) == (2, 1)


def test_boxes_scale_with_the_page_size(tmp_path: Path, record: dict[str, Any]) -> None:
    record["problems"][0]["figures"][0] |= {"bbox": [200, 200, 600, 400], "page_size": [2000, 2800]}
    assert _tally(tmp_path, record).figures_75 == 2


@pytest.mark.parametrize("broken", [{"bbox": None}, {"page": 9}, {"bbox": [1, 2]}, {"bbox": [0, 0, float("nan"), 1]}])
def test_figure_without_a_place_is_a_false_one(tmp_path: Path, record: dict[str, Any], broken: dict[str, Any]) -> None:
    record["problems"][0]["figures"][0] |= broken
    tally = _tally(tmp_path, record)
    assert (tally.figures_50, tally.figures_read) == (1, 2)


def test_empty_statement_matches_nothing(tmp_path: Path, record: dict[str, Any]) -> None:
    for problem in record["problems"]:
        problem["statement"] = ""
    assert _tally(tmp_path, record).matched == 0


def test_tallies_add_field_by_field() -> None:
    assert add_up([Tally(pages=1, elapsed_s=0.5), Tally(pages=2, figures=3)]) == Tally(
        pages=3, figures=3, elapsed_s=0.5
    )
    assert add_up([]) == Tally()
