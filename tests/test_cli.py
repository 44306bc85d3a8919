"""Each command prints what it should, as a table and as JSON, and ends with the code it promises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builds import PlainBuilds
from fixed_text import blank_page, draw_page, write_document
from typer.testing import CliRunner, Result

from physelite_build.cli import app
from physelite_build.errors import FatalError, ItemError


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished build: three problems, a blank page, a broken file."""
    scans = tmp_path_factory.mktemp("scans")
    write_document(scans / "exam", [draw_page(0), draw_page(1), blank_page(), draw_page(2)])
    write_document(scans / "loose", [draw_page(4)], rights="")
    (scans / "exam-2.pdf").write_bytes(b"%PDF-1.7 nothing")
    folder = tmp_path_factory.mktemp("corpus") / "work"
    PlainBuilds(folder)(scans)
    return folder


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def run_json(*arguments: str | Path, code: int = 0) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_status_counts_documents_pages_and_problems(work: Path) -> None:
    found = run_json("status", work)
    rows = {row["document"]: (row["pages"], row["kept"], row["problems"]) for row in found["documents"]}
    assert rows["exam"] == (4, 3, 3)
    assert found["status"] == "partial"
    assert "exam" in run("status", work).stdout


def test_failures_lists_what_failed_and_with_all_what_was_put_aside(work: Path) -> None:
    assert [row["code"] for row in run_json("failures", work)] == ["source.damaged"]
    assert {row["code"] for row in run_json("failures", work, "--all")} == {"source.damaged", "page.blank"}


def test_explain_gives_page_box_engine_and_confidence_of_every_field(work: Path) -> None:
    found = run_json("explain", work, "exam#1")
    assert {field["field"] for field in found["fields"]} >= {"number", "statement", "solution", "answer"}
    for field in found["fields"]:
        assert field["page"] == "exam/p1"
        assert len(field["box"]) == 4
        assert field["engine"]
        assert 0 <= field["confidence"] <= 1
    assert "exam/p1" in run("explain", work, "exam#1").stdout


def test_explain_knows_pages_and_documents(work: Path) -> None:
    assert run_json("explain", work, "exam/p1")["kind"] == "page"
    assert run_json("explain", work, "exam")["problems"] == ["exam#1", "exam#2", "exam#3"]


def test_explain_knows_the_items_that_failures_names(work: Path) -> None:
    (failed,) = run_json("failures", work)
    assert run_json("explain", work, failed["item_id"])["outcomes"][0]["code"] == "source.damaged"


def test_explain_of_an_unknown_id_says_what_to_give(work: Path) -> None:
    error = run("explain", work, "nowhere#9").exception
    assert isinstance(error, ItemError)
    assert error.code == "explain.unknown"


def test_page_draws_a_picture(work: Path, tmp_path: Path) -> None:
    assert run("page", work, "exam/p1", "-o", tmp_path / "p.png").exit_code == 0
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_export_writes_a_line_per_document(work: Path, tmp_path: Path) -> None:
    assert run("export", work, "-o", tmp_path / "pages.jsonl").exit_code == 0
    records = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text(encoding="utf-8").splitlines()]
    exam = next(record for record in records if record["doc_id"] == "exam")
    assert [problem["number"] for problem in exam["problems"]] == ["1", "2", "3"]
    assert [problem["pages"] for problem in exam["problems"]] == [[1], [2], [4]]


def test_release_check_names_what_is_held_back_and_writes_nothing(work: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in work.rglob("*.sqlite")}
    found = run_json("release", "check", work, "--waive", "test", code=4)
    assert {row["subject"] for row in found if row["severity"] == "block"} == {"loose#5"}
    assert "rights" in next(row["message"] for row in found if row["subject"] == "loose#5")
    assert {path: path.stat().st_mtime_ns for path in work.rglob("*.sqlite")} == before


def test_a_release_without_review_needs_a_waiver(work: Path) -> None:
    found = run_json("release", "check", work, code=4)
    assert {row["subject"] for row in found if row["severity"] == "block"} >= {"exam#1", "exam#2", "exam#3"}


def test_an_unknown_page_or_folder_is_one_sentence(work: Path, tmp_path: Path) -> None:
    for arguments, code in (
        (("keep", work, "exam/p99"), "page.unknown"),
        (("status", tmp_path), "store.missing"),
        (("export", work, "--format", "xml", "-o", tmp_path / "x"), "export.format"),
    ):
        error = run(*arguments).exception
        assert isinstance(error, FatalError)
        assert error.code == code


def test_build_dry_run_lists_documents_and_writes_nothing(work: Path, tmp_path: Path) -> None:
    write_document(tmp_path / "scans" / "a", [draw_page(0)])
    target = tmp_path / "W"
    found = run_json("build", tmp_path / "scans", "-o", target, "--dry-run")
    assert [(d["doc_id"], d["files"]) for d in found["documents"]] == [("a", ["a/1.png"])]
    assert not target.exists()


def test_config_prints_the_settings_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHYSELITE_DEDUP__SAME", "0.97")
    assert json.loads(run("config").stdout)["dedup"]["same"] == 0.97


def test_version_is_printed() -> None:
    assert run("--version").stdout.strip() == "0.1.0"
