"""May these rows go out? Findings for the maintainer; ``release.py`` builds what passed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from physelite_build.errors import shorten
from physelite_build.latex import MathStyle, split_math, structure_errors
from physelite_build.publish.schema import ReleaseRow, RowAnswer, RowText
from physelite_build.records import Finding, Severity

__all__ = ["gate"]


def gate(
    rows: Sequence[ReleaseRow], is_readable: Callable[[RowAnswer], bool], *, waiver: str | None = None
) -> list[Finding]:
    """Check rows before they are published.

    Args:
        rows: Rows that are meant to go out.
        is_readable: Tells whether the bundled scorer can read a gold answer.
        waiver: Recorded reason why unreviewed rows may go out; None if there is none.

    Returns:
        Findings in the order of ids. Blocking: no statement, no rights, a gold answer that the scorer cannot read, a
        repeated id, an unreviewed row without waiver. Warnings: no answer, one language only, broken LaTeX, an answer for
        an unknown part.
    """
    repeated = {row_id for row_id, count in Counter(row.id for row in rows).items() if count > 1}
    found = [
        Finding(subject=row_id, code="release.repeated_id", severity=Severity.BLOCK, message=f"{row_id} occurs twice")
        for row_id in sorted(repeated)
    ]
    for row in sorted(rows, key=lambda row: row.id):
        found += [
            Finding(subject=row.id, code=f"release.{code}", severity=severity, message=message)
            for code, severity, message in (
                *_rights(row, waiver=waiver),
                *_texts(row),
                *_answers(row, is_readable),
            )
        ]
    return found


_Raw = tuple[str, Severity, str]


def _rights(row: ReleaseRow, *, waiver: str | None) -> Iterator[_Raw]:
    if not row.sources:
        yield "no_rights", Severity.BLOCK, f"{row.id} names no source, so nobody knows its rights"
    for source in row.sources:
        if not (source.rights or "").strip():
            yield (
                "no_rights",
                Severity.BLOCK,
                f"{row.id} comes from {shorten(source.document)}, whose source.toml states no rights; add a line rights = …",
            )
    if row.review_state != "accepted" and not waiver:
        yield "unreviewed", Severity.BLOCK, f"nobody has accepted {row.id}; review it or record a waiver"


def _texts(row: ReleaseRow) -> Iterator[_Raw]:
    texts = [text for language in row.languages if (text := row.text(language)) is not None]
    if not any(text.statement.strip() for text in texts):
        yield "no_statement", Severity.BLOCK, f"{row.id} has no statement in any language"
    elif len(texts) == 1:
        yield "one_language", Severity.WARN, f"{row.id} exists only in {row.languages[0]}"
    for text in texts:
        for field, latex, fault in _bad_latex(text):
            yield (
                "bad_latex",
                Severity.WARN,
                f"{field} of {shorten(text.problem_key)} ({row.id}): {fault} in {shorten(latex)}",
            )


def _bad_latex(text: RowText) -> Iterator[tuple[str, str, str]]:
    fields = [("statement", text.statement), ("solution", text.solution), ("final answer", text.final_answer)]
    for name, value in fields:
        for piece in split_math(value or ""):
            if piece.style is not MathStyle.TEXT:
                faults = structure_errors(piece.text)
                if faults:
                    yield name, piece.text, faults[0]


def _answers(row: ReleaseRow, is_readable: Callable[[RowAnswer], bool]) -> Iterator[_Raw]:
    if not row.answers:
        yield "no_answer", Severity.WARN, f"{row.id} has no typed answer, so it cannot be scored"
    labels = {
        part.label for language in row.languages if (text := row.text(language)) is not None for part in text.parts
    }
    for answer in row.answers:
        if not is_readable(answer):
            yield (
                "unreadable_answer",
                Severity.BLOCK,
                f"the scorer cannot read the gold answer {shorten(answer.answer)} of {row.id}; correct or drop it",
            )
        if answer.part is not None and answer.part not in labels:
            yield (
                "unknown_part",
                Severity.WARN,
                f"{row.id} has an answer for part {shorten(answer.part)} but no such part",
            )
