from __future__ import annotations

import pytest
from release_rows import bilingual_row, english_row

from physelite_build.publish import ReleaseRow, gate
from physelite_build.publish.schema import RowAnswer
from physelite_build.records import AnswerKind, Severity


def codes(row: ReleaseRow, *, readable: bool = True, waiver: str | None = "demo") -> dict[str, Severity]:
    return {f.code: f.severity for f in gate([row], lambda _: readable, waiver=waiver)}


def test_complete_row_passes() -> None:
    assert codes(bilingual_row()) == {}


def test_row_without_rights_is_blocked() -> None:
    row = bilingual_row()
    bare = row.model_copy(update={"sources": tuple(s.model_copy(update={"rights": None}) for s in row.sources)})
    assert codes(bare) == {"release.no_rights": Severity.BLOCK}


def test_row_without_source_is_blocked() -> None:
    assert codes(bilingual_row(sources=())) == {"release.no_rights": Severity.BLOCK}


def test_row_without_answer_and_translation_is_a_warning() -> None:
    assert codes(english_row(2)) == {"release.no_answer": Severity.WARN, "release.one_language": Severity.WARN}


def test_unreadable_gold_answer_is_blocked() -> None:
    assert codes(bilingual_row(), readable=False) == {"release.unreadable_answer": Severity.BLOCK}


def test_answer_for_an_unknown_part_is_a_warning() -> None:
    answer = RowAnswer(kind=AnswerKind.NUMBER, answer="3 m", part="7")
    assert codes(bilingual_row(answers=(answer,))) == {"release.unknown_part": Severity.WARN}


@pytest.mark.parametrize(
    ("state", "waiver", "blocked"), [("machine", None, True), ("machine", "demo", False), ("accepted", None, False)]
)
def test_unreviewed_row_needs_a_waiver(state: str, waiver: str | None, blocked: bool) -> None:
    assert ("release.unreviewed" in codes(bilingual_row(review_state=state), waiver=waiver)) is blocked


def test_broken_latex_is_a_warning() -> None:
    row = bilingual_row()
    assert row.zh is not None
    broken = row.model_copy(update={"zh": row.zh.model_copy(update={"solution": r"$\frac{a}{$"})})
    assert codes(broken) == {"release.bad_latex": Severity.WARN}


def test_row_without_any_text_is_blocked() -> None:
    row = english_row(2, en=None)
    assert codes(row)["release.no_statement"] is Severity.BLOCK


def test_repeated_id_is_blocked() -> None:
    found = gate([bilingual_row(), bilingual_row()], lambda _: True, waiver="demo")
    assert [f.code for f in found] == ["release.repeated_id"]
