from __future__ import annotations

import copy
import io
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench_cases import TRUTH, damage, perfect_record, write_truth
from rich.console import Console

from physelite_build.bench import as_dict, as_markdown, as_tables, measure, run_pages_bench
from physelite_build.bench.measures import MEASURES
from physelite_build.errors import FatalError

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "data" / "samples" / "truth"
OTHER_PROGRAM = ROOT.parent / "shared" / "tools" / "score_pages.py"
AGREEMENT = 0.01
"""Both programs share definitions, not code; rare LaTeX spellings may be normalised differently."""


@pytest.fixture
def truth_folder(tmp_path: Path) -> Path:
    chinese = copy.deepcopy(TRUTH) | {"doc_id": "small-zh", "language": "zh"}
    return write_truth(tmp_path / "truth", TRUTH, chinese)


def test_rows_go_from_all_to_languages_to_documents(truth_folder: Path) -> None:
    bench = measure(truth_folder, [perfect_record(TRUTH)], baseline=[])
    assert [(row.group, row.system) for row in bench.rows] == [
        (group, system) for group in ("all", "en", "zh", "small-en", "small-zh") for system in ("ours", "baseline")
    ]


def test_unread_document_counts_as_a_failure(truth_folder: Path) -> None:
    bench = measure(truth_folder, [perfect_record(TRUTH)])
    assert bench.row().tally.failed_documents == 1
    assert bench.row().measure("seg_f1").value == pytest.approx(2 * 2 / (4 + 2))
    assert bench.row(group="en").measure("seg_f1").value == 1


def test_measures_that_the_baseline_wins_are_named(truth_folder: Path) -> None:
    ours = perfect_record(TRUTH)
    ours["problems"][0]["final_answer"] = "none"
    bench = measure(truth_folder, [ours], baseline=[perfect_record(TRUTH)])
    assert bench.worse_than_baseline() == ("answer_em",)
    assert "Worse than the baseline: answer_em." in as_markdown(bench)
    assert measure(truth_folder, [ours]).worse_than_baseline() == ()


def test_records_without_truth_are_named_and_not_measured(truth_folder: Path) -> None:
    bench = measure(truth_folder, [perfect_record(TRUTH), {"doc_id": "elsewhere", "problems": []}])
    assert bench.unknown_documents == ("elsewhere",)
    assert "elsewhere" in as_markdown(bench)


def test_records_of_other_documents_stop_the_run(truth_folder: Path) -> None:
    with pytest.raises(FatalError) as caught:
        measure(truth_folder, [{"doc_id": "elsewhere", "problems": []}])
    assert caught.value.code == "bench.other_documents"


@pytest.mark.parametrize(
    "records",
    [
        [{}],
        [{"doc_id": "a"}, {"doc_id": "a"}],
        [{"doc_id": "a", "problems": [3]}],
        [{"doc_id": "a", "problems": [{"pages": ["x"]}]}],
    ],
)
def test_malformed_records_stop_the_run(truth_folder: Path, records: list[dict[str, Any]]) -> None:
    with pytest.raises(FatalError) as caught:
        measure(truth_folder, records)
    assert caught.value.code == "bench.bad_predictions"


@pytest.mark.parametrize("text", ["{\n", "3\n"])
def test_file_that_holds_no_records_stops_the_run(truth_folder: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FatalError) as caught:
        run_pages_bench(path, truth_folder)
    assert caught.value.code == "bench.bad_predictions"


def test_files_and_records_give_the_same(truth_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(perfect_record(TRUTH)) + "\n\n", encoding="utf-8")
    assert run_pages_bench(path, truth_folder, path) == measure(
        truth_folder, [perfect_record(TRUTH)], baseline=[perfect_record(TRUTH)]
    )


def test_every_measure_is_shown_with_its_number(truth_folder: Path) -> None:
    bench = measure(truth_folder, [perfect_record(TRUTH)], baseline=[])
    console = Console(width=400, record=True, file=io.StringIO())
    for table in as_tables(bench, by_document=True):
        console.print(table)
    shown = console.export_text()
    markdown = as_markdown(bench)
    for definition in MEASURES:
        assert definition.name in shown
        assert f"| {definition.name} |" in markdown
    assert "| seg_f1 | high | 0.667 (4) | 0.000 (4) | problems |" in markdown


def test_json_form_survives_a_round_trip(truth_folder: Path) -> None:
    made = as_dict(measure(truth_folder, [perfect_record(TRUTH)], baseline=[]))
    assert json.loads(json.dumps(made)) == made
    assert made["rows"][0]["measures"]["cer_en"] == {"value": pytest.approx(0.5), "n": 142}


@pytest.mark.shared
def test_another_program_measures_the_same(tmp_path: Path) -> None:
    if not OTHER_PROGRAM.exists():
        pytest.skip("the shared development folder is not beside the checkout")
    records = []
    rng = random.Random(7)
    for path in sorted(SAMPLES.glob("*.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        folder = tmp_path / "truth" / truth["doc_id"]
        folder.mkdir(parents=True)
        (folder / "truth.json").write_text(json.dumps(truth), encoding="utf-8")
        records.append(damage(perfect_record(truth), rng))
    read, out = tmp_path / "read.jsonl", tmp_path / "out.json"
    read.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    command = [sys.executable, str(OTHER_PROGRAM), str(tmp_path / "truth"), str(read), "--json", str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    theirs = json.loads(out.read_text(encoding="utf-8"))
    bench = run_pages_bench(read, SAMPLES)
    for group, key in (("all", "all"), ("zh", "language=zh"), ("en", "language=en")):
        ours = {definition.name: bench.row(group=group).measure(definition.name).value for definition in MEASURES}
        assert ours == pytest.approx({name: theirs[key][name] for name in ours}, abs=AGREEMENT)
    assert 0.2 < theirs["all"]["formula_em"] < 0.95, "the damage should be neither nothing nor everything"
