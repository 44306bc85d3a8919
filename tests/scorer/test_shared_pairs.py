"""The development pairs beside the checkout are judged at least as well as stated here."""

import json
from pathlib import Path

import pytest

from physelite_build.scorer import score

PAIRS = Path(__file__).resolve().parents[3] / "shared" / "cases" / "scorer_dev_pairs.jsonl"
LEAST_ACCURACY = 0.98
MOST_FALSE_ACCEPTS = 0.01


@pytest.mark.shared
def test_accuracy_on_the_development_pairs():
    if not PAIRS.exists():
        pytest.skip("the shared development folder is not beside this checkout")
    rows = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    rows = [row for row in rows if not row.get("exclude")]
    verdicts = [score(row["pred"], row["gold"], language=row["lang"]).outcome == "correct" for row in rows]
    right = sum(verdict == row["expected"] for verdict, row in zip(verdicts, rows, strict=True))
    accepted = sum(verdict and not row["expected"] for verdict, row in zip(verdicts, rows, strict=True))
    assert right / len(rows) >= LEAST_ACCURACY
    assert accepted / sum(not row["expected"] for row in rows) <= MOST_FALSE_ACCEPTS
