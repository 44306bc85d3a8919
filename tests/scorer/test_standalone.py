"""The package runs alone in a release folder, with the standard library only."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import physelite_build.scorer as package

SOURCE = Path(package.__file__).parent
GOLD = [
    {"id": "PE-000001", "subject": "mechanics", "difficulty": 2,
     "answers": [{"part": None, "answer": "3.0 m/s", "kind": "number", "tolerance": None}]},
    {"id": "PE-000002", "subject": "optics", "difficulty": 5,
     "answers": [{"part": "1", "answer": r"\frac{\lambda L}{d}", "kind": "expression", "tolerance": None},
                 {"part": "2", "answer": "0.5 mm", "kind": None, "tolerance": 0.02}]},
    {"id": "PE-000003", "subject": "optics", "difficulty": None, "answers": [{"part": None, "answer": "B", "kind": "choice"}]},
]  # fmt: skip


@pytest.fixture
def release(tmp_path):
    shutil.copytree(SOURCE, tmp_path / "scorer", ignore=shutil.ignore_patterns("__pycache__"))
    write_lines(tmp_path / "answers.jsonl", GOLD)
    return tmp_path


def write_lines(path, records):
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")


def run(folder, *arguments):
    """Run the scorer without site packages and without variables of the caller."""
    command = [sys.executable, "-S", "-W", "error", "-m", "scorer", *arguments]
    return subprocess.run(
        command, cwd=folder, env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip


def test_imports_are_standard_library_or_relative():
    for path in SOURCE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            else:
                continue
            for name in names:
                assert name.split(".")[0] in sys.stdlib_module_names, (path.name, name)


def test_no_text_reaches_an_interpreter():
    for path in SOURCE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec", "compile", "__import__"}, path.name


def test_score_prints_a_table(release):
    write_lines(release / "p.jsonl", [
        {"id": "PE-000001", "response": r"so \boxed{10.8\ \mathrm{km/h}}"},
        {"id": "PE-000002", "response": "(1) $\\lambda L/d$ (2) 0.7 mm"},
        {"id": "PE-999999", "response": "4"},
    ])  # fmt: skip
    result = run(release, "score", "p.jsonl")
    assert result.returncode == 0, result.stderr
    rows = {line.rsplit(maxsplit=3)[0]: line.split()[-3:] for line in result.stdout.splitlines()[1:6]}
    assert rows["all"] == ["3", "33.3%", "50.0%"]
    assert rows["subject mechanics"] == ["1", "100.0%", "100.0%"]
    assert rows["subject optics"] == ["2", "0.0%", "25.0%"]
    assert rows["difficulty 5"] == ["1", "0.0%", "50.0%"]
    assert "PE-000003" in result.stdout
    assert "PE-999999" in result.stdout


def test_score_writes_json_and_details(release):
    write_lines(release / "p.jsonl", [{"id": "PE-000001", "response": "3 m/s"}])
    result = run(release, "score", "p.jsonl", "--json", "-o", "details.jsonl")
    record = json.loads(result.stdout)
    assert record["groups"][0] == {"group": "all", "n": 3, "accuracy": 1 / 3, "mean_credit": 1 / 3}
    assert record["missing"] == ["PE-000002", "PE-000003"]
    details = [json.loads(line) for line in (release / "details.jsonl").read_text("utf-8").splitlines()]
    assert [d["outcome"] for d in details] == ["correct", "incorrect", "incorrect"]
    assert details[1]["reason"] == "prediction.missing"


def test_selfcheck_passes_on_readable_gold(release):
    result = run(release, "selfcheck")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines()[1].split() == ["itself", "3", "correct", "3"]


def test_selfcheck_names_the_row_that_fails(release):
    write_lines(release / "bad.jsonl", [{"id": "PE-000009", "answers": [{"part": None, "answer": "\\frac{1}{"}]}])
    result = run(release, "selfcheck", "--gold", "bad.jsonl")
    assert result.returncode == 4
    assert "PE-000009  itself: \\frac{1}{" in result.stdout
    record = json.loads(run(release, "selfcheck", "--gold", "bad.jsonl", "--json").stdout)
    assert record["ok"] is False
    assert record["failures"][0]["id"] == "PE-000009"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{\n", "p.jsonl:1: the line is no JSON"),
        ('{"id": "a", "response": "1"}\n[1]\n', "p.jsonl:2: the line is no JSON object"),
        ('{"response": "1"}\n', "p.jsonl:1: the text field 'id' is missing"),
        ('{"id": "a", "response": 1}\n', "p.jsonl:1: 'response' is no text"),
        ('{"id": "a", "response": "1"}\n{"id": "a", "response": "1"}\n', "p.jsonl:2: the id 'a' stands twice"),
    ],
)
def test_a_broken_prediction_file_is_one_line_and_exit_2(release, content, message):
    (release / "p.jsonl").write_text(content, encoding="utf-8")
    result = run(release, "score", "p.jsonl")
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "there are no gold rows"),
        ('{"id": "a"}\n', "g.jsonl:1: 'answers' is no list"),
        ('{"id": "a", "answers": [{"part": "1"}]}\n', "g.jsonl:1: an entry of 'answers'"),
        ('{"id": "a", "answers": [{"answer": "1", "tolerance": 7}]}\n', "g.jsonl:1: 'tolerance' is 7"),
    ],
)
def test_a_broken_gold_file_is_one_line_and_exit_2(release, content, message):
    (release / "g.jsonl").write_text(content, encoding="utf-8")
    result = run(release, "selfcheck", "--gold", "g.jsonl")
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_missing_and_binary_files_are_one_line_and_exit_2(release):
    (release / "p.jsonl").write_bytes(b"\xff\xfe\x00")
    for name in ("nowhere.jsonl", "p.jsonl"):
        result = run(release, "score", name)
        assert result.returncode == 2
        assert len(result.stderr.splitlines()) == 1


def test_help_has_examples(release):
    for arguments in (["--help"], ["score", "--help"], ["selfcheck", "--help"]):
        result = run(release, *arguments)
        assert result.returncode == 0
        assert "python -m scorer" in result.stdout
        assert "example" in result.stdout


def test_the_verdicts_do_not_depend_on_the_hash_seed(release):
    write_lines(release / "p.jsonl", [{"id": row["id"], "response": row["answers"][0]["answer"]} for row in GOLD])
    command = [sys.executable, "-S", "-m", "scorer", "score", "p.jsonl", "--json"]
    outputs = {
        subprocess.run(command, cwd=release, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1


def test_the_readme_example_holds():
    assert package.score("So the speed is 72 km/h.", r"20\ \mathrm{m/s}").outcome == "correct"
