from __future__ import annotations

from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from physelite_build.bench.matching import align_in_order, best_assignment, box_overlap, pair_greedily, similarities

ROUNDING = 1e-9
WEIGHTS = st.tuples(st.integers(0, 4), st.integers(0, 4)).flatmap(
    lambda shape: st.lists(
        st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.6, 1.0]), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]
    ).map(lambda values: np.array(values, dtype=np.float64).reshape(shape))
)


def _every_assignment(weights: NDArray[np.float64]) -> float:
    if weights.shape[0] > weights.shape[1]:
        weights = weights.T
    rows, columns = weights.shape
    return max(sum(weights[r, c] for r, c in enumerate(order)) for order in permutations(range(columns), rows))


def _every_alignment(values: NDArray[np.float64]) -> float:
    rows, columns = values.shape
    totals = [
        sum(values[r, c] for r, c in zip(left, right, strict=True))
        for size in range(min(rows, columns) + 1)
        for left in combinations(range(rows), size)
        for right in combinations(range(columns), size)
    ]
    return max(totals)


@settings(max_examples=200)
@given(WEIGHTS)
def test_no_assignment_is_better(weights: NDArray[np.float64]) -> None:
    pairs = best_assignment(weights)
    assert sum(pair.value for pair in pairs) == pytest.approx(_every_assignment(weights), abs=ROUNDING)
    assert len({pair.row for pair in pairs}) == len({pair.column for pair in pairs}) == len(pairs)


@settings(max_examples=200)
@given(WEIGHTS)
def test_no_alignment_is_better(values: NDArray[np.float64]) -> None:
    pairs = align_in_order(values)
    assert sum(pair.value for pair in pairs) == pytest.approx(_every_alignment(values), abs=ROUNDING)
    assert all(a.row < b.row and a.column < b.column for a, b in pairwise(pairs))


def test_greatest_total_beats_greatest_single_pair() -> None:
    pairs = best_assignment(np.array([[1.0, 0.9], [0.9, 0.0]]))
    assert [(pair.row, pair.column) for pair in pairs] == [(0, 1), (1, 0)]


def test_greedy_pairs_take_the_best_first_and_stop_at_the_threshold() -> None:
    pairs = pair_greedily(np.array([[0.9, 0.8], [0.8, 0.4]]), at_least=0.5)
    assert [(pair.row, pair.column) for pair in pairs] == [(0, 0)]


def test_similarity_is_one_minus_edits_over_the_longer_text() -> None:
    assert similarities(["abcd"], ["abxd", "ab", ""]).tolist() == [[0.75, 0.5, 0.0]]
    assert similarities([], ["a"]).shape == (0, 1)


def test_overlap_of_half_shifted_boxes_is_a_third() -> None:
    assert box_overlap((0, 0, 2, 2), (1, 0, 3, 2)) == pytest.approx(1 / 3)
    assert box_overlap((0, 0, 1, 1), (1, 0, 2, 1)) == 0.0
