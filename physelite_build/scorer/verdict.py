"""What the scorer says about one answer: outcome, credit, reason, evidence."""

from __future__ import annotations

from dataclasses import dataclass

CORRECT = "correct"
INCORRECT = "incorrect"
UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one response; credit is 1 exactly when the outcome is correct."""

    outcome: str
    """`correct`, `incorrect`, or `unscored` (the reference itself could not be read)."""
    credit: float
    """Share of the parts that are right, in [0, 1]."""
    reason: str
    """Short stable code, for example `value` or `unit.dimension`."""
    explanation: str
    """One sentence for people."""
    extracted: str | None = None
    """The final answer found in the response; None when none was found."""
    parts: tuple[Verdict, ...] = ()
    """One verdict for each part of a reference with several parts, in its order."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of one comparison before it becomes a verdict."""

    equal: bool
    """Whether both sides mean the same."""
    reason: str
    """Short stable code; `equal` when they do."""
    explanation: str
    """One sentence for people."""


EQUAL = Judgement(equal=True, reason="equal", explanation="The answer agrees with the reference.")


def differ(reason: str, explanation: str) -> Judgement:
    """Say that two answers differ, with a code and a sentence."""
    return Judgement(equal=False, reason=reason, explanation=explanation)
