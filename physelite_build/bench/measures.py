"""How well were the pages read? Counts that add up over documents, and the measures made from them.

All measures are micro-averages: counts are added over documents first and divided once, so a long document weighs more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Literal

__all__ = ["MEASURES", "Definition", "Measure", "Tally", "add_up", "measure_of"]


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted in some documents. All counts are at least 0; tallies are added field by field."""

    documents: int = 0
    failed_documents: int = 0
    """Without a record, or with one that names an error."""
    pages: int = 0
    problems: int = 0
    """True problems with a statement."""
    problems_read: int = 0
    """Problems in the records, without those that answer to a true problem whose statement is not on the pages."""
    matched: int = 0
    numbers_right: int = 0
    spans_right: int = 0
    chars_zh: int = 0
    """Characters of true statements and solutions without formulas, by language of the problem."""
    edits_zh: int = 0
    chars_en: int = 0
    edits_en: int = 0
    flat_chars_zh: int = 0
    """The same with formulas flattened to letters."""
    flat_edits_zh: int = 0
    flat_chars_en: int = 0
    flat_edits_en: int = 0
    formulas: int = 0
    formulas_read: int = 0
    """Formulas in the matched problems of the records."""
    formula_similarity: float = 0.0
    """Sum over true formulas, each in [0, 1]."""
    formulas_exact: int = 0
    answers: int = 0
    answers_exact: int = 0
    figures: int = 0
    figures_read: int = 0
    figures_50: int = 0
    """Figures found with an overlap of at least 0.5."""
    figures_75: int = 0
    links_right: int = 0
    """Of the figures found at 0.5, those attached to the right problem."""
    roles_right: int = 0
    timed_pages: int = 0
    elapsed_s: float = 0.0
    """Seconds for the timed pages."""


def add_up(tallies: Iterable[Tally]) -> Tally:
    """Add tallies field by field; nothing gives a tally of zeros."""
    kept = list(tallies)
    return Tally(**{field.name: sum(getattr(tally, field.name) for tally in kept) for field in fields(Tally)})


@dataclass(frozen=True, slots=True)
class Measure:
    """A number and how many things stand behind it."""

    value: float | None
    """None if there is nothing to measure."""
    n: int


@dataclass(frozen=True, slots=True)
class Definition:
    """What a measure means and how it is made from a tally."""

    name: str
    meaning: str
    """One line for readers of a report."""
    better: Literal["high", "low"]
    counted: str
    """What ``n`` counts."""
    total: Callable[[Tally], int]
    """Gives ``n``."""
    make: Callable[[Tally], tuple[float, float]]
    """Gives numerator and denominator; a denominator of 0 means that there is nothing to measure."""


def measure_of(definition: Definition, tally: Tally) -> Measure:
    """Work out one measure.

    Args:
        definition: One of :data:`MEASURES`.
        tally: Counts of any group of documents.

    Returns:
        Rates, F1 and similarities in [0, 1]; error rates from 0 upwards (invented text can exceed 1); seconds from 0 upwards.
    """
    above, below = definition.make(tally)
    return Measure(above / below if below else None, definition.total(tally))


MEASURES: tuple[Definition, ...] = (
    Definition(
        "seg_f1",
        "problems found, F1; matched one to one at a similarity of flattened statements of at least 0.5",
        "high",
        "problems",
        lambda t: t.problems,
        lambda t: (2 * t.matched, t.problems + t.problems_read),
    ),
    Definition(
        "number_acc",
        "printed number right, of matched problems",
        "high",
        "matched problems",
        lambda t: t.matched,
        lambda t: (t.numbers_right, t.matched),
    ),
    Definition(
        "span_acc",
        "set of pages right, of matched problems",
        "high",
        "matched problems",
        lambda t: t.matched,
        lambda t: (t.spans_right, t.matched),
    ),
    Definition(
        "cer_zh",
        "character error rate of Chinese statements and solutions without formulas; a missed problem is all deleted",
        "low",
        "characters",
        lambda t: t.chars_zh,
        lambda t: (t.edits_zh, t.chars_zh),
    ),
    Definition(
        "cer_en",
        "the same for English",
        "low",
        "characters",
        lambda t: t.chars_en,
        lambda t: (t.edits_en, t.chars_en),
    ),
    Definition(
        "cer_flat_zh",
        "character error rate, Chinese, with formulas flattened to letters: blind to where the $ signs are",
        "low",
        "characters",
        lambda t: t.flat_chars_zh,
        lambda t: (t.flat_edits_zh, t.flat_chars_zh),
    ),
    Definition(
        "cer_flat_en",
        "the same for English",
        "low",
        "characters",
        lambda t: t.flat_chars_en,
        lambda t: (t.flat_edits_en, t.flat_chars_en),
    ),
    Definition(
        "formula_sim",
        "mean similarity of true formulas to what was read, after normalisation; a missing one is 0",
        "high",
        "formulas",
        lambda t: t.formulas,
        lambda t: (t.formula_similarity, t.formulas),
    ),
    Definition(
        "formula_em",
        "formulas read exactly, after normalisation",
        "high",
        "formulas",
        lambda t: t.formulas,
        lambda t: (t.formulas_exact, t.formulas),
    ),
    Definition(
        "fig_f1@.5",
        "figures found, F1, at an intersection over union of at least 0.5",
        "high",
        "figures",
        lambda t: t.figures,
        lambda t: (2 * t.figures_50, t.figures + t.figures_read),
    ),
    Definition(
        "fig_f1@.75",
        "the same at 0.75",
        "high",
        "figures",
        lambda t: t.figures,
        lambda t: (2 * t.figures_75, t.figures + t.figures_read),
    ),
    Definition(
        "link_acc",
        "figure attached to the right problem, of figures found at 0.5",
        "high",
        "found figures",
        lambda t: t.figures_50,
        lambda t: (t.links_right, t.figures_50),
    ),
    Definition(
        "role_acc",
        "figure put into the right text (statement or solution), of figures found at 0.5",
        "high",
        "found figures",
        lambda t: t.figures_50,
        lambda t: (t.roles_right, t.figures_50),
    ),
    Definition(
        "answer_em",
        "final answer exact after normalisation, of problems that print one",
        "high",
        "answers",
        lambda t: t.answers,
        lambda t: (t.answers_exact, t.answers),
    ),
    Definition(
        "seconds_per_page",
        "time stated by the records; not comparable between machines",
        "low",
        "timed pages",
        lambda t: t.timed_pages,
        lambda t: (t.elapsed_s, t.timed_pages),
    ),
)
"""Every measure, in the order of reports.

Source:
    The definitions follow the README of the development scans. Text: edits over reference characters (CER). Figures: greedy pairs by
    intersection over union, as in COCO.
"""
