"""Is this LaTeX what the picture shows? The formula is typeset, laid over the crop, and judged by its worst symbol."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from physelite_build.engines.protocol import Picture
from physelite_build.engines.referee.match import Match, match
from physelite_build.engines.referee.typeset import FAMILIES, Symbol, typeset
from physelite_build.engines.symbols import SymbolReader, shape_probability
from physelite_build.records import Fingerprint

__all__ = ["VERIFIED", "Judgement", "Referee"]

VERIFIED = 0.9
"""Least confidence of a verified formula (development pages, each document judged by weights fitted to the others: 233 of
357 formulas reach it, 96.6 % of them are right)."""
RISE_EM, STRETCH, SHIFT_EM = 0.12, 0.3, 0.6
"""What fonts and damage do to the place and the height of a right symbol."""
LOW_EM = 0.3
"""Dots, commas and minus signs: blur changes their height by more than ``STRETCH``."""
MISSING = 2.0
"""Misfit of a symbol without ink."""
LARGEST_MISFIT = 4.0
"""Symbols that stand worse are equally wrong."""
LEAST_PROBABILITY = 1e-3
"""Below it the network's probabilities no longer tell wrong symbols apart."""
MISFIT_PRICE = 0.15
"""What one unit of misfit costs in probability when the families are compared."""
WEIGHTS = {"worst": 0.361, "misfit": -0.800, "mean": 2.456, "length": -0.035, "bias": 1.418}
"""Logistic regression on the 357 formulas of the development pages whose LaTeX is known and can be typeset."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the referee holds of one reading."""

    confidence: float | None
    """Probability that the LaTeX is right, in [0, 1]; None if it cannot be typeset or the crop is blank."""

    @property
    def verified(self) -> bool:
        """True if it needs no second look."""
        return self.confidence is not None and self.confidence >= VERIFIED


@dataclass(frozen=True, slots=True)
class _Fit:
    """One way to lay a formula over its crop."""

    probabilities: Sequence[float]
    """Of each symbol, that its ink shows it."""
    misfit: float
    """Of the symbol that stands worst; 1 is what fonts and damage do to a right one."""

    @property
    def rank(self) -> float:
        return min(self.probabilities) - MISFIT_PRICE * self.misfit


class Referee:
    """Judges readings of formulas, whoever made them."""

    def __init__(self, *, threads: int = 1) -> None:
        self._reader = SymbolReader(threads=threads)

    @property
    def fingerprint(self) -> Fingerprint:
        """Changes with the network and the weights of the judgement."""
        return Fingerprint(name="referee", version="1", models=self._reader.fingerprint.models)

    def judge(self, crops: Sequence[Picture], readings: Sequence[str]) -> list[Judgement]:
        """Judge one reading a crop.

        Args:
            crops: BGR, uint8, each fitted to the ink of one formula.
            readings: LaTeX without delimiters.

        Returns:
            One judgement a crop.
        """
        return [self._judge(crop, latex) for crop, latex in zip(crops, readings, strict=True)]

    def _judge(self, crop: Picture, latex: str) -> Judgement:
        settings = [typeset(latex, family) for family in FAMILIES]
        names = settings[0]
        if not names or crop.size == 0:
            return Judgement(None)
        fits = [self._fit(crop, names, symbols) for symbols in settings if symbols and len(symbols) == len(names)]
        found = [fit for fit in fits if fit is not None]
        if not found:
            return Judgement(None)
        best = max(found, key=lambda fit: fit.rank)
        return Judgement(round(_confidence(best), 4))

    def _fit(self, crop: Picture, names: Sequence[Symbol], symbols: Sequence[Symbol]) -> _Fit | None:
        matches = match(crop, symbols)
        if matches is None:
            return None
        rows = iter(
            self._reader.probabilities([m.picture for m in matches if m.picture is not None and not m.symbol.is_bar])
        )
        probabilities = [
            0.0 if m.picture is None else 1.0 if m.symbol.is_bar else shape_probability(next(rows), name.text)
            for m, name in zip(matches, names, strict=True)
        ]
        return _Fit(probabilities, max(_misfit(m) for m in matches))


def _misfit(found: Match) -> float:
    if found.picture is None:
        return MISSING
    stretch = 0.0 if found.symbol.top - found.symbol.bottom < LOW_EM else abs(found.stretch) / STRETCH
    return max(abs(found.rise_em) / RISE_EM, stretch, abs(found.shift_em) / SHIFT_EM)


def _confidence(fit: _Fit) -> float:
    logit = (
        WEIGHTS["worst"] * math.log10(max(min(fit.probabilities), LEAST_PROBABILITY))
        + WEIGHTS["misfit"] * min(fit.misfit, LARGEST_MISFIT)
        + WEIGHTS["mean"] * float(np.mean(fit.probabilities))
        + WEIGHTS["length"] * math.log(len(fit.probabilities))
        + WEIGHTS["bias"]
    )
    return 1 / (1 + math.exp(-logit))
