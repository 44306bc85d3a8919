"""What Prefect adds to a build: retries, a stop for all batches, and a server that is there only for the build."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fixed_text import draw_page, write_document

SCRIPT = """
import json, sys
from collections import Counter
from pathlib import Path

import fixed_text
from physelite_build.config import FlowSettings, Settings
from physelite_build.errors import FatalError, PhysEliteError, RetryableError
from physelite_build.flows.environment import prepare
from physelite_build.machine.engines import Once

scans, work, how = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
calls = Counter()
real = fixed_text.FixedTextEngine.read_lines


def read_lines(self, picture):
    lines = real(self, picture)
    title = lines[0].text if lines else "nothing"
    calls[title] += 1
    if title == "Problem 2":
        if how == "crash":
            raise KeyError("glyph")
        if how == "passing" and calls[title] == 1 or how == "lasting":
            raise RetryableError("read.busy", "the engine is busy")
        if how == "fatal":
            raise FatalError("engine.gone", "the engine is gone")
    return lines


fixed_text.FixedTextEngine.read_lines = read_lines
settings = Settings(flow=FlowSettings(batch_pages=2, workers=int(sys.argv[4]), retries=2))
engines = fixed_text.FixedEngines(settings)
made = Counter()


def make():
    made["text"] += 1
    return engines.reader


engines.text = Once(make)
told = Counter()
ended = {"error": None, "ends": {}, "status": None}
with prepare(settings):
    from physelite_build.flows import crew
    from physelite_build.flows.build import run_build

    crew.RETRY_DELAYS_S[:] = [0.01]
    for batch in (crew.ingest_batch, crew.screen_batch, crew.read_batch, crew.problems_batch, crew.corpus_batch):
        batch.retry_delay_seconds = [0.01]
    try:
        result = run_build(
            [scans], work, settings, engines=engines,
            progress=lambda stage, news: told.update([(stage, "items" if isinstance(news, int) else "outcome")]),
        )
    except PhysEliteError as error:
        ended["error"] = [type(error).__name__, error.code, error.message]
    else:
        ended["status"] = result.status
        ended["ends"] = {f"{o.stage} {o.item_id}": [o.status, o.code, o.reused] for o in result.outcomes}
ended |= {"calls": calls, "made": made["text"], "told": sorted(" ".join(key) for key in told)}
print(json.dumps(ended))
"""


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_document(tmp_path_factory.mktemp("scans") / "exam", [draw_page(k) for k in range(6)])


@pytest.fixture
def build(scans: Path, environment: dict[str, str], prefect_api: str, tmp_path: Path):
    import json

    def run(how: str, *, workers: int = 2) -> dict:
        command = [sys.executable, "-c", SCRIPT, str(scans), str(tmp_path / "work"), how, str(workers)]
        env = environment | {"PREFECT_API_URL": prefect_api}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return json.loads(done.stdout)

    return run


def test_batches_in_two_threads_share_one_engine_and_tell_every_outcome(build):
    ended = build("well")
    assert (ended["status"], ended["made"]) == ("complete", 1)
    assert len(ended["calls"]) == 6
    assert {"read items", "read outcome", "check items", "check outcome"} <= set(ended["told"])
    assert build("well")["calls"] == {}


def test_an_unforeseen_error_fails_one_item_and_its_batch_goes_on(build):
    ended = build("crash")
    assert ended["status"] == "partial"
    assert ended["ends"]["read exam/p2"] == ["failed", "read.crash", False]
    good = [key for key, end in ended["ends"].items() if key.startswith("read ") and end[0] == "done"]
    assert len(good) == 5
    assert ended["calls"]["Problem 2"] == 1


def test_a_passing_fault_is_tried_again_and_only_what_is_missing_is_done(build):
    ended = build("passing")
    assert ended["status"] == "complete"
    assert ended["calls"] == {f"Problem {k}": 2 if k == 2 else 1 for k in range(1, 7)}
    assert ended["ends"]["read exam/p1"] == ["done", None, False]  # not reused: this build read it


def test_a_lasting_fault_is_tried_three_times_and_then_stops_the_build(build):
    ended = build("lasting")
    assert ended["error"][:2] == ["FatalError", "read.busy"]
    assert "after 3 tries" in ended["error"][2]
    assert ended["calls"]["Problem 2"] == 3


def test_a_fatal_error_is_not_tried_again_and_stops_the_other_batches(build):
    ended = build("fatal", workers=1)
    assert ended["error"] == ["FatalError", "engine.gone", "the engine is gone"]
    assert ended["calls"] == {"Problem 1": 1, "Problem 2": 1}
