"""A build that is killed at any moment goes on where it stopped, and nothing of it is left behind."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

import pytest
from builds import Run, digests
from fixed_text import draw_page, write_document
from processes import interrupt, kill, left_over, rows, start, tree, wait_for_rows

KILLS, FOLDERS = 20, 2
TRIES = 3 * KILLS
"""A build may end before the blow, more often on a busy machine; such a try does not count."""
SEED = 20260701
RUNS = "SELECT run_id FROM run"
NO_GIT = {"GIT_DIR": "/dev/null"}
"""A release names the commit it was made with, and others may commit while this test runs."""


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scans")
    write_document(folder / "first", [draw_page(0), draw_page(1)])
    write_document(folder / "second", [draw_page(2)])
    return folder


@pytest.fixture
def child(environment: dict[str, str], prefect_api: str) -> dict[str, str]:
    return environment | {"PHYSELITE_READ__TEXT_ENGINE": "fixed", "PREFECT_API_URL": prefect_api}


@pytest.fixture(scope="module")
def undisturbed(scans: Path, physelite: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("undisturbed") / "work"
    built = physelite("build", scans, "-o", work)
    assert built.returncode == 0, built.stderr
    return work


def release(physelite: Run, work: Path) -> dict[str, str]:
    made = physelite("release", "build", work, "--version", "0.1.0", "--waive", "test", env=NO_GIT)
    assert made.returncode == 0, made.stderr + made.stdout
    return digests(work / "releases" / "0.1.0")


@pytest.mark.slow
def test_twenty_kills_do_not_change_a_byte_of_the_release(
    scans: Path, child: dict[str, str], undisturbed: Path, physelite: Run, tmp_path: Path
):
    chance = random.Random(SEED)
    timed = start(child, "build", scans, "-o", tmp_path / "timed")
    assert wait_for_rows(timed, tmp_path / "timed", RUNS)
    began = time.monotonic()
    timed.communicate()
    work_s = time.monotonic() - began

    for folder in range(FOLDERS):
        work = tmp_path / f"killed-{folder}"
        hits, reach_s = 0, work_s
        for _ in range(TRIES // FOLDERS):
            known = len(rows(work, RUNS))
            build = start(child, "build", scans, "-o", work)
            if wait_for_rows(build, work, RUNS, more_than=known):
                time.sleep(chance.uniform(0, reach_s))
            hit = build.poll() is None
            kill(build)
            hits += hit
            if not hit:  # it was faster than the blow
                reach_s /= 2
            if hits == KILLS // FOLDERS // 2:  # early kills land in the work itself, later ones in what a rerun does
                reach_s = min(reach_s, work_s / 3)
            if hits == KILLS // FOLDERS:
                break
        assert hits == KILLS // FOLDERS
    expected = release(physelite, undisturbed)
    for folder in range(FOLDERS):
        work = tmp_path / f"killed-{folder}"
        assert physelite("build", scans, "-o", work).returncode == 0
        assert release(physelite, work) == expected


def test_a_killed_build_leaves_no_process_and_says_that_it_was_interrupted(
    scans: Path, child: dict[str, str], physelite: Run, tmp_path: Path
):
    work = tmp_path / "work"
    build = start(child | {"PREFECT_API_URL": ""}, "build", scans, "-o", work)
    assert wait_for_rows(build, work, "SELECT 1 FROM outcome WHERE stage='screen'")
    children = kill(build)
    assert children, "the build has a server of its own"
    assert left_over(children, within_s=10) == []
    shown = physelite("status", work)
    assert shown.returncode == 0
    assert "interrupted" in shown.stdout
    refused = physelite("release", "build", work, "--waive", "test")
    assert refused.returncode == 2
    assert "store.unfinished" in refused.stderr


def test_a_second_build_in_the_same_folder_is_refused_while_reading_goes_on(
    scans: Path, child: dict[str, str], physelite: Run, tmp_path: Path
):
    work = tmp_path / "work"
    build = start(child, "build", scans, "-o", work)
    assert wait_for_rows(build, work, RUNS)
    build.send_signal(19)  # SIGSTOP: it holds its lock for as long as we want
    try:
        second = physelite("build", scans, "-o", work)
        read = [physelite(*command) for command in (("status", work), ("failures", work))]
    finally:
        build.send_signal(18)
    assert (second.returncode, second.stdout) == (2, "")
    assert "store.busy" in second.stderr
    assert [shown.returncode for shown in read] == [0, 0]
    out, err = build.communicate()
    assert build.returncode == 0, err
    assert "complete" in out
    assert len(rows(work, RUNS)) == 1


def test_ctrl_c_stops_soon_and_the_next_build_goes_on(
    scans: Path, child: dict[str, str], physelite: Run, tmp_path: Path
):
    work = tmp_path / "work"
    build = start(child | {"PREFECT_API_URL": ""}, "build", scans, "-o", work)
    assert wait_for_rows(build, work, "SELECT 1 FROM outcome WHERE stage='screen'")
    children = tree(build)[1:]
    code, out, err = interrupt(build)
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert left_over(children, within_s=10) == []
    assert "interrupted" in physelite("status", work).stdout
    assert physelite("build", scans, "-o", work).returncode == 0


def test_ctrl_c_says_what_to_do_next(scans: Path, child: dict[str, str], tmp_path: Path):
    build = start(child, "build", scans, "-o", tmp_path / "work")
    assert wait_for_rows(build, tmp_path / "work", RUNS)
    assert "goes on where it stopped" in " ".join(interrupt(build)[2].split())


def test_a_killed_release_is_whole_or_not_there(
    child: dict[str, str], undisturbed: Path, physelite: Run, tmp_path: Path
):
    expected = release(physelite, undisturbed)
    work = tmp_path / "work"
    shutil.copytree(undisturbed, work, ignore=shutil.ignore_patterns("releases"))
    chance = random.Random(SEED)
    out = work / "releases" / "0.1.0"
    for _ in range(3):
        making = start(child | NO_GIT, "release", "build", work, "--version", "0.1.0", "--waive", "test")
        deadline = time.monotonic() + 120
        while not (work / "releases").exists() and making.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 1))
        children = kill(making)
        assert left_over(children, within_s=60) == []
        assert not out.exists() or digests(out) == expected
    assert release(physelite, work) == expected
