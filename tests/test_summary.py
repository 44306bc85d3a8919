"""Counts and lists of outcomes."""

from __future__ import annotations

import pytest

from physelite_build.records import Outcome, Status
from physelite_build.stages.order import STAGES
from physelite_build.summary import StageCount, count_stages, refusals, run_status


def outcome(stage: str, item: str, status: Status, *, reused: bool = False, elapsed_s: float = 1.0) -> Outcome:
    return Outcome(stage=stage, item_id=item, status=status, reused=reused, elapsed_s=elapsed_s)


def count_of(counts: list[StageCount], stage: str) -> StageCount:
    return next(count for count in counts if count.stage == stage)


def test_every_stage_has_a_row_in_running_order():
    assert [count.stage for count in count_stages([])] == [stage.name for stage in STAGES]


def test_an_item_counts_once_as_it_ended_last():
    done, put_aside = outcome("screen", "a/p1", Status.DONE), outcome("screen", "a/p1", Status.REJECTED)
    count = count_of(count_stages([done, put_aside]), "screen")
    assert (count.done, count.rejected) == (0, 1)


@pytest.mark.parametrize("status", [Status.DONE, Status.EMPTY])
def test_known_results_count_as_skipped_in_a_run_and_as_what_they_are_in_the_state(status: Status):
    known = outcome("read", "a/p1", status, reused=True)
    assert count_of(count_stages([known]), "read").skipped == 1
    assert getattr(count_of(count_stages([known], fresh=False), "read"), status.value) == 1


@pytest.mark.parametrize("status", [Status.FAILED, Status.REJECTED])
def test_refusals_keep_their_column_in_a_rerun(status: Status):
    known = outcome("read", "a/p1", status, reused=True)
    assert getattr(count_of(count_stages([known]), "read"), status.value) == 1


def test_seconds_are_those_really_spent():
    outcomes = [outcome("read", "a/p1", Status.DONE), outcome("read", "a/p2", Status.DONE, reused=True)]
    assert count_of(count_stages(outcomes), "read").seconds == 1
    assert count_of(count_stages(outcomes, fresh=False), "read").seconds == 2


def test_an_outcome_of_a_stage_that_is_no_more_is_counted_too():
    assert count_stages([outcome("translate", "a", Status.DONE)])[-1].stage == "translate"


def test_failures_come_before_what_was_put_aside_in_running_order():
    outcomes = [
        outcome("read", "b", Status.REJECTED),
        outcome("screen", "c", Status.REJECTED),
        outcome("read", "a", Status.FAILED),
        outcome("ingest", "z", Status.FAILED),
        outcome("ingest", "y", Status.DONE),
    ]
    assert [o.item_id for o in refusals(outcomes)] == ["z", "a", "c", "b"]
    assert [o.item_id for o in refusals(outcomes, failed_only=True)] == ["z", "a"]


def test_a_run_is_partial_only_if_something_failed():
    assert run_status([outcome("screen", "a", Status.REJECTED)]) == "complete"
    assert run_status([outcome("screen", "a", Status.FAILED)]) == "partial"
