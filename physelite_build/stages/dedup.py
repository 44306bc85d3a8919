"""Finds problems that occur more than once in the same language.

Similarity is rapidfuzz's normalised Indel similarity of the statements in a normal form. A pair at or above ``same`` is the
same problem unless its numbers or its figures differ; those, and pairs from ``ask`` on, go to a person. Comes after
``align``, which pairs languages. The arithmetic is in integers, so that a pair on the threshold is never lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from physelite_build.records import Pair, PairDecision, Problem

__all__ = ["find_duplicates", "indel_limit", "normal_form", "numbers_in"]

_SCALE = 10_000
"""Thresholds are taken to four decimals, as integers."""
_BLOCK = 256
"""Rows compared at a time: a block of distances stays below 16 MB at 15,000 problems."""

_COMMANDS = {r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\leq": r"\le", r"\geq": r"\ge", r"\varepsilon": r"\epsilon"}
_DROPPED = re.compile(
    r"\\(?:left|right|displaystyle|mathrm|text|mathbf|boldsymbol|quad|qquad)(?![A-Za-z])|\\[,;:!> ]|[${}\s]"
)
_COMMAND = re.compile(r"\\[A-Za-z]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SUPERSCRIPTS = str.maketrans({c: f"^{unicodedata.normalize('NFKC', c)}" for c in "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"})


def normal_form(text: str) -> str:
    """Fold what does not change a problem's meaning.

    Superscript digits become ``^2`` before folding, so that 10² stays apart from 102; then NFKC, lower case for Latin prose is
    *not* applied (m is not M); LaTeX synonyms, braces, ``$``, white space and spacing commands go.

    Args:
        text: A statement with ``$LaTeX$``.

    Returns:
        The folded text; equal problems printed differently come out equal.
    """
    text = unicodedata.normalize("NFKC", text.translate(_SUPERSCRIPTS))
    text = _COMMAND.sub(lambda match: _COMMANDS.get(match.group(), match.group()), text)
    text = _DROPPED.sub("", text)
    return text.replace(",", "，").replace("、", "，")


def numbers_in(text: str) -> Counter[str]:
    """Count the numbers of a text in normal form, without trailing zeros after a decimal point."""
    return Counter(n.rstrip("0").rstrip(".") if "." in n else n for n in _NUMBER.findall(text))


def indel_limit(left_length: int, right_length: int, threshold: float) -> int:
    """Return the largest Indel distance at which two texts of these lengths still reach the threshold.

    The similarity ``1 - d / (n + m)`` is at least ``t`` exactly if ``d * 10^4 <= (10^4 - t * 10^4) * (n + m)``.
    """
    return (_SCALE - round(threshold * _SCALE)) * (left_length + right_length) // _SCALE


@dataclass(frozen=True, slots=True)
class _Candidate:
    problem: Problem
    text: str


def find_duplicates(problems: Sequence[Problem], *, same: float, ask: float) -> tuple[Pair, ...]:
    """Find every pair of one language whose similarity is at least ``ask``.

    Args:
        problems: All problems; pairs are looked for within each language.
        same: Similarity in (0, 1] from which a pair is the same problem.
        ask: Similarity from which a person is asked, at most ``same``.

    Returns:
        Pairs ordered by their keys; the same whatever the order of the input.
    """
    pairs: list[Pair] = []
    for language in sorted({problem.language for problem in problems}):
        chosen = [_Candidate(p, normal_form(p.statement)) for p in problems if p.language == language]
        chosen = sorted((c for c in chosen if c.text), key=lambda c: (len(c.text), c.problem.key))
        for left, right, distance in _near_pairs(chosen, ask):
            pairs.append(_judge(left, right, distance, same=same))
    return tuple(sorted(pairs, key=lambda pair: (pair.left, pair.right)))


def _near_pairs(chosen: Sequence[_Candidate], threshold: float) -> Iterator[tuple[_Candidate, _Candidate, int]]:
    """Yield pairs within the threshold; texts come sorted by length, so each row meets a window of longer ones only."""
    texts = [c.text for c in chosen]
    lengths = np.array([len(t) for t in texts], dtype=np.int64)
    for start in range(0, len(texts), _BLOCK):
        rows = texts[start : start + _BLOCK]
        longest = int(len(rows[-1]) * (2 - threshold) / threshold) + 1
        stop = int(np.searchsorted(lengths, longest, side="right"))
        farthest = indel_limit(len(rows[-1]), int(lengths[stop - 1]), threshold)
        distances = cdist(
            rows, texts[start:stop], scorer=Indel.distance, dtype=np.int32, workers=-1, score_cutoff=farthest
        )  # beyond the cutoff rapidfuzz stops counting, which saves most of the work
        for i, j in zip(*np.nonzero(distances <= farthest), strict=True):
            if j <= i:
                continue
            left, right, distance = chosen[start + int(i)], chosen[start + int(j)], int(distances[i, j])
            if distance <= indel_limit(len(left.text), len(right.text), threshold):
                yield left, right, distance


def _judge(left: _Candidate, right: _Candidate, distance: int, *, same: float) -> Pair:
    total = len(left.text) + len(right.text)
    if distance > indel_limit(len(left.text), len(right.text), same):
        decision, rule = PairDecision.ASK, "text nearly the same"
    elif numbers_in(left.text) != numbers_in(right.text):
        decision, rule = PairDecision.ASK, "numbers differ"
    elif len(left.problem.figures) != len(right.problem.figures):
        decision, rule = PairDecision.ASK, "figures differ"
    else:
        decision, rule = PairDecision.SAME, f"text at least {same:g} the same"
    first, second = sorted((left.problem.key, right.problem.key))
    return Pair(left=first, right=second, decision=decision, similarity=round(1 - distance / total, 4), rule=rule)
