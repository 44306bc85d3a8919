from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench_cases import TRUTH, write_truth

from physelite_build.bench.truth import load_truth
from physelite_build.errors import FatalError

SAMPLES = Path(__file__).parents[2] / "data" / "samples" / "truth"


def test_sample_truth_has_seven_documents_and_21_problems() -> None:
    truths = load_truth(SAMPLES)
    assert [truth.doc_id for truth in truths] == sorted(truth.doc_id for truth in truths)
    assert (len(truths), sum(len(truth.problems) for truth in truths)) == (7, 21)


def test_both_layouts_give_the_same(tmp_path: Path) -> None:
    flat = write_truth(tmp_path / "flat", TRUTH)
    nested = tmp_path / "nested" / "small-en" / "truth.json"
    nested.parent.mkdir(parents=True)
    nested.write_text(json.dumps(TRUTH), encoding="utf-8")
    assert load_truth(flat) == load_truth(tmp_path / "nested")


def test_missing_statement_stays_unknown(tmp_path: Path) -> None:
    (truth,) = load_truth(write_truth(tmp_path, TRUTH))
    assert truth.problems[2].statement is None


def test_other_json_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "expected.json").write_text("{}", encoding="utf-8")
    assert len(load_truth(write_truth(tmp_path, TRUTH))) == 1


def test_folder_without_truth_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(FatalError) as caught:
        load_truth(tmp_path)
    assert caught.value.code == "bench.no_truth"


@pytest.mark.parametrize(
    "text", ["{", '{"doc_id": "x", "pages": [], "problems": [{}]}', '{"doc_id": "x", "pages": 3, "problems": []}']
)
def test_malformed_truth_stops_the_run(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(FatalError) as caught:
        load_truth(tmp_path)
    assert caught.value.code == "bench.bad_truth"


def test_two_files_of_one_document_stop_the_run(tmp_path: Path) -> None:
    write_truth(tmp_path, TRUTH)
    (tmp_path / "again.json").write_text(json.dumps(TRUTH), encoding="utf-8")
    with pytest.raises(FatalError) as caught:
        load_truth(tmp_path)
    assert caught.value.code == "bench.repeated_truth"
