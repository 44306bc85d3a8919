"""Lines that were read across a gutter."""

from __future__ import annotations

from physelite_build.geometry import Box
from physelite_build.records import Char, Line
from physelite_build.stages.layout import split_lines

WORDS = ("A", "small", "block", "slides", "down", "the", "plane")
STEP, HEIGHT = 60, 24


def line(words: tuple[str, ...], left: int, top: int, *, gap_before: int | None = None, gap: int = 0) -> Line:
    """Words of one width with spaces; before word ``gap_before`` stands a gap of so many pixels more."""
    chars: list[Char] = []
    x = left
    for k, word in enumerate(words):
        x += gap if k == gap_before else 0
        if k:
            chars.append(Char(text=" ", box=Box(left=x - 8, top=top, right=x - 4, bottom=top + HEIGHT)))
        chars.append(Char(text=word, box=Box(left=x, top=top, right=x + STEP - 10, bottom=top + HEIGHT)))
        x += STEP
    box = Box(left=left, top=top, right=x - 10, bottom=top + HEIGHT)
    return Line(text=" ".join(words), box=box, confidence=0.9, chars=tuple(chars))


def two_columns(rows: int) -> list[Line]:
    right = 100 + len(WORDS) * STEP + 50
    return [line(WORDS, left, 100 + 40 * k) for left in (100, right) for k in range(rows)]


def test_line_across_the_gutter_becomes_two() -> None:
    merged = line((*WORDS, "(a)", "Find", "it."), 100, 400, gap_before=len(WORDS), gap=50)
    *_, left, right = split_lines([*two_columns(4), merged], height_px=1000)
    assert (left.text, right.text) == (" ".join(WORDS), "(a) Find it.")
    assert (left.box.left, right.box.right) == (merged.box.left, merged.box.right)
    assert right.box.left - left.box.right >= 50


def test_wide_gap_without_columns_stays() -> None:
    lines = [line(("A.", "two", "B.", "three"), 100, 100 + 40 * k, gap_before=2, gap=80) for k in range(6)]
    assert split_lines(lines, height_px=1000) == tuple(lines)


def test_word_space_at_the_edge_of_columns_stays() -> None:
    title = line((*WORDS, *WORDS), 100, 40)
    lines = [title, *two_columns(4)]
    assert split_lines(lines, height_px=1000) == tuple(lines)


def test_line_without_places_of_characters_stays() -> None:
    merged = line((*WORDS, "(a)", "Find", "it."), 100, 400, gap_before=len(WORDS), gap=50)
    lines = [*two_columns(4), merged.model_copy(update={"chars": ()})]
    assert split_lines(lines, height_px=1000) == tuple(lines)
