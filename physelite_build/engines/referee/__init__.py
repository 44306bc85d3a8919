"""Judges readings of formulas by typesetting them again: the confidence that a formula carries."""

from physelite_build.engines.referee.judge import Judgement, Referee

__all__ = ["Judgement", "Referee"]
