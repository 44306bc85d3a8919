"""Every row of cases.jsonl gets the verdict that it states."""

import json
from pathlib import Path

import pytest

from physelite_build.scorer import score

CASES = [json.loads(line) for line in (Path(__file__).parent / "cases.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['reference'][:24]}<-{c['response'][:24]}")
def test_case_has_the_stated_verdict(case):
    verdict = score(case["response"], case["reference"], kind=case.get("kind"))
    assert (verdict.outcome == "correct") == case["expected"], (verdict.reason, verdict.explanation, case["why"])


def test_there_are_enough_cases_of_both_kinds():
    assert len(CASES) >= 120
    assert sum(case["expected"] for case in CASES) >= 60
    assert sum(not case["expected"] for case in CASES) >= 60
    assert sum(any("一" <= c <= "鿿" for c in case["response"] + case["reference"]) for case in CASES) >= 20


def test_every_correct_reference_equals_itself():
    for reference, kind in {(case["reference"], case.get("kind")) for case in CASES}:
        verdict = score(reference, reference, kind=kind)
        assert verdict.outcome == "correct", (reference, verdict)
        assert verdict.credit == 1.0
