"""Which rows of a document speak to the candidates and not about physics? Part of ``segment``, before problems are counted."""

from __future__ import annotations

from collections.abc import Sequence

from physelite_build.stages.segment.headings import STRONG_STYLES, find_heading
from physelite_build.stages.segment.rows import Row
from physelite_build.stages.segment.sections import is_exam_note, is_notes_heading, is_section_heading

__all__ = ["find_note_rows"]

NOTES_GAP_EM = 1.6
"""Free height, in text heights, that ends the notes to the candidates."""


def find_note_rows(rows: Sequence[Row]) -> set[int]:
    """Find the rows that speak to the candidates.

    Args:
        rows: All rows of a document in reading order.

    Returns:
        Indexes of the rows under a notes heading up to a gap, and of those whose words speak of the exam.
    """
    notes: set[int] = set()
    inside = False
    counted: tuple[int, ...] = (0,)
    for i, row in enumerate(rows):
        if is_notes_heading(row.text):
            inside, counted = True, (0,)
            notes.add(i)
            continue
        if inside:
            heading = find_heading(row.text)
            first = len(notes) and (i - 1) in notes and is_notes_heading(rows[i - 1].text)
            ended = (row.gap_em > NOTES_GAP_EM and not first and (heading is None or heading.style != "1.")) or (
                heading is not None
                and (heading.style in STRONG_STYLES or heading.points is not None or heading.style == "一、")
            )
            if heading is not None and heading.style == "1.":
                ended = ended or heading.order <= counted
                counted = max(counted, heading.order)
            if ended or is_section_heading(row.text):
                inside = False
            else:
                notes.add(i)
                continue
        if is_exam_note(row.text) and not _is_strong(row.text):
            notes.add(i)
    return notes


def _is_strong(text: str) -> bool:
    heading = find_heading(text)
    return heading is not None and (heading.style in STRONG_STYLES or heading.points is not None)
