"""The command line over several builds: what a user sees of what is done again, left out, kept or tried again."""

from __future__ import annotations

import json
import os
import pty
import re
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

import pytest
from builds import COMMAND, Run
from fixed_text import blank_page, draw_page, write_document, write_picture

COLUMNS = ("done", "empty", "rejected", "failed")


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    folder = write_document(tmp_path / "scans" / "exam", [draw_page(0)])
    write_picture(folder / "2.png", blank_page())
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    return folder


def test_a_rerun_skips_everything_and_ends_with_the_same_code(exam: Path, physelite: Run, tmp_path: Path):
    command = ("build", exam, "-o", tmp_path / "work", "--json")
    first, second = physelite(*command), physelite(*command)
    assert (first.returncode, second.returncode) == (3, 3)
    then, now = json.loads(first.stdout), json.loads(second.stdout)
    assert (then["status"], now["status"]) == ("partial", "partial")
    for before, after in zip(then["stages"], now["stages"], strict=True):
        assert (after["done"], after["empty"]) == (0, 0)
        assert after["skipped"] == before["done"] + before["empty"]
        assert (after["rejected"], after["failed"]) == (before["rejected"], before["failed"])
        assert after["seconds"] == 0
    assert [refused["reused"] for refused in now["refused"]] == [True] * len(then["refused"])


def test_a_page_kept_by_hand_is_read_and_a_mended_file_too(exam: Path, physelite: Run, tmp_path: Path):
    work = tmp_path / "work"
    (exam / "broken.pdf").unlink()
    assert physelite("build", exam, "-o", work).returncode == 0
    assert physelite("keep", work, "exam/p2", "--reason", "faint pencil").returncode == 0
    built = json.loads(physelite("build", exam, "-o", work, "--json").stdout)
    read = next(stage for stage in built["stages"] if stage["stage"] == "read")
    assert (read["skipped"], read["empty"]) == (1, 1)
    unknown = physelite("keep", work, "exam/p9")
    assert (unknown.returncode, "page.unknown" in unknown.stderr) == (2, True)


def test_failed_items_are_tried_again_only_when_asked(exam: Path, physelite: Run, tmp_path: Path):
    work = tmp_path / "work"
    command = ("build", exam, "-o", work, "--json")
    physelite(*command)
    again = json.loads(physelite(*command, "--retry-failed").stdout)
    failed = [refused for refused in again["refused"] if refused["status"] == "failed"]
    assert [refused["reused"] for refused in failed] == [False]
    shown = physelite("failures", work, "--json")
    assert [refused["code"] for refused in json.loads(shown.stdout)] == [failed[0]["code"]]


def test_limit_leaves_pages_out_and_results_alone_go_to_stdout(exam: Path, physelite: Run, tmp_path: Path):
    built = physelite("build", exam, "-o", tmp_path / "work", "--json", "--limit", "1")
    screen = next(stage for stage in json.loads(built.stdout)["stages"] if stage["stage"] == "screen")
    assert screen == {**screen, "done": 1, "skipped": 1}
    lines = built.stderr.splitlines()
    assert "screen: 1 items" in lines
    assert all(re.fullmatch(r"\w+: \d+ items", line) for line in lines)


def test_a_terminal_gets_bars(exam: Path, environment: dict[str, str], prefect_api: str, tmp_path: Path):
    env = environment | {"PHYSELITE_READ__TEXT_ENGINE": "fixed", "PREFECT_API_URL": prefect_api, "TERM": "xterm"}
    env.pop("NO_COLOR", None)
    ours, theirs = pty.openpty()
    command = [*COMMAND, "build", str(exam), "-o", str(tmp_path / "work"), "--json"]
    with Popen(command, env=env, stdin=DEVNULL, stdout=PIPE, stderr=theirs, text=True) as build:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            shown += piece
        assert build.stdout is not None
        json.loads(build.stdout.read())
    os.close(ours)
    assert "━" in shown.decode(errors="replace")
    assert "transcribe" in shown.decode(errors="replace")
