"""Which found thing is which true thing? Three small exact or greedy pairings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from physelite_build.bench.truth import FloatBox

__all__ = ["Pairing", "align_in_order", "best_assignment", "box_overlap", "pair_greedily", "similarities"]

_GAIN = 1e-12
"""Smallest improvement that counts; below it lies rounding of sums of numbers in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Row ``row`` belongs to column ``column``."""

    row: int
    column: int
    value: float
    """Similarity or overlap, in [0, 1]."""


def similarities(rows: Sequence[str], columns: Sequence[str]) -> NDArray[np.float64]:
    """Compare every row with every column.

    Args:
        rows: Texts.
        columns: Texts.

    Returns:
        Shape (rows, columns), float64, in [0, 1]: 1 - edits / length of the longer text; two empty texts are equal.

    Source:
        Levenshtein distance, rapidfuzz ``normalized_similarity``.
    """
    if not rows or not columns:
        return np.zeros((len(rows), len(columns)))
    return np.asarray(cdist(rows, columns, scorer=Levenshtein.normalized_similarity, dtype=np.float64))


def best_assignment(weights: NDArray[np.float64]) -> list[Pairing]:
    """Pair rows with columns one to one so that the total weight is greatest.

    Args:
        weights: Shape (rows, columns), float64, in [0, 1].

    Returns:
        Pairs sorted by row; no other pairing has a greater total. Pairs of weight 0 may be missing.

    Source:
        Maximum-weight bipartite matching by best augmenting paths (Bellman-Ford); dozens of rows, so n**4 does not hurt.
    """
    n_rows, n_columns = weights.shape
    column_of = np.full(n_rows, -1)
    while True:
        gain, came_from, back_to = _longest_paths(weights, column_of)
        taken = column_of[column_of >= 0]
        free = np.setdiff1d(np.arange(n_columns), taken)
        if not free.size or gain[free].max(initial=-np.inf) <= _GAIN:
            break
        column = int(free[np.argmax(gain[free])])
        while column >= 0:
            row = int(came_from[column])
            column_of[row], column = column, int(back_to[row])
    return [Pairing(r, int(c), float(weights[r, c])) for r, c in enumerate(column_of) if c >= 0]


def _longest_paths(
    weights: NDArray[np.float64], column_of: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Return per column the best gain of a path that starts at a free row, and how it came there.

    A path goes from a row to a column along a new pair (+ weight) and back to a row along a present pair (- weight).
    """
    n_rows, n_columns = weights.shape
    row_gain = np.where(column_of < 0, 0.0, -np.inf)
    gain = np.full(n_columns, -np.inf)
    came_from, back_to = np.full(n_columns, -1), np.asarray(column_of.copy())
    owned = [(row, int(column)) for row, column in enumerate(column_of) if column >= 0]
    for _ in range(n_rows):
        through = row_gain[:, None] + weights
        for row, column in owned:
            through[row, column] = -np.inf
        best = through.argmax(axis=0)
        reached = through[best, np.arange(n_columns)]
        better = reached > gain + _GAIN
        if not better.any():
            break
        gain[better], came_from[better] = reached[better], best[better]
        for row, column in owned:
            row_gain[row] = gain[column] - weights[row, column]
    return gain, came_from, back_to


def align_in_order(values: NDArray[np.float64]) -> list[Pairing]:
    """Pair rows with columns without crossings so that the total value is greatest.

    Args:
        values: Shape (rows, columns), float64, in [0, 1].

    Returns:
        Pairs of value above 0, in order. Among equal totals a pair is preferred to leaving both out.

    Source:
        Needleman and Wunsch, J. Mol. Biol. 48 (1970) 443, without gap costs.
    """
    n_rows, n_columns = values.shape
    total = np.zeros((n_rows + 1, n_columns + 1))
    for r in range(n_rows):
        paired = total[r, :-1] + values[r]
        # The best of "leave the row out" and "pair", carried to the right for "leave the column out".
        total[r + 1, 1:] = np.maximum.accumulate(np.maximum(total[r, 1:], paired))
    pairs: list[Pairing] = []
    r, c = n_rows, n_columns
    while r and c:
        value = float(values[r - 1, c - 1])
        if value > 0 and total[r, c] <= total[r - 1, c - 1] + value + _GAIN:
            pairs.append(Pairing(r - 1, c - 1, value))
            r, c = r - 1, c - 1
        elif total[r - 1, c] >= total[r, c - 1]:
            r -= 1
        else:
            c -= 1
    return pairs[::-1]


def box_overlap(left: FloatBox, right: FloatBox) -> float:
    """Return intersection over union of two boxes in the same pixels, in [0, 1]; boxes without area overlap nothing."""
    width = min(left[2], right[2]) - max(left[0], right[0])
    height = min(left[3], right[3]) - max(left[1], right[1])
    if width <= 0 or height <= 0:
        return 0.0
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (left, right))
    return width * height / (areas - width * height)


def pair_greedily(values: NDArray[np.float64], *, at_least: float) -> list[Pairing]:
    """Take the best pair, strike its row and column, and go on.

    Args:
        values: Shape (rows, columns), float64, in [0, 1].
        at_least: Smallest value of a pair, above 0.

    Returns:
        Pairs from best to worst.
    """
    left = values.copy()
    pairs: list[Pairing] = []
    while left.size and left.max() >= at_least:
        row, column = (int(index) for index in np.unravel_index(left.argmax(), left.shape))
        pairs.append(Pairing(row, column, float(left[row, column])))
        left[row, :] = left[:, column] = -1.0
    return pairs
