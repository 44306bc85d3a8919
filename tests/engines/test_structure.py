"""Formulas are read by their structure."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from physelite_build.engines.protocol import FormulaEngine
from physelite_build.engines.structure.baseline import Bend, flattened, row_bend
from physelite_build.engines.structure.clusters import find_scripts
from physelite_build.engines.structure.engine import StructureEngine, crop_lines
from physelite_build.engines.structure.glyphs import Glyph
from physelite_build.engines.structure.ink import Blob, em_px, find_blobs, find_stacks, join_strokes
from physelite_build.engines.structure.levels import settle_levels
from physelite_build.engines.structure.notation import latex_of
from physelite_build.engines.structure.pairing import line_glyphs
from physelite_build.geometry import Box
from physelite_build.latex import structure_errors
from physelite_build.records import Char, Fingerprint, Line

BIG, SMALL = 40, 27
"""Type sizes of the drawn formulas: on the line and in scripts, in pixels."""


class Drawing:
    """A formula drawn by code; knows the line that a perfect text engine would read."""

    def __init__(self, width: int = 600, height: int = 160) -> None:
        self.image = Image.new("RGB", (width, height), "white")
        self.draw = ImageDraw.Draw(self.image)
        self.chars: list[Char] = []

    def put(self, text: str, x: int, foot: int, size: int = BIG) -> int:
        """Draw text with its baseline at ``foot``; returns where it ends."""
        font = ImageFont.truetype("DejaVuSerif.ttf", size)
        for char in text:
            self.draw.text((x, foot), char, font=font, fill=0, anchor="ls")
            width = round(font.getlength(char))
            box = Box(left=x, top=foot - size, right=x + width, bottom=foot + size // 4)
            if not char.isspace():
                self.chars.append(Char(text=char, box=box))
            x += width
        return x

    @property
    def picture(self) -> np.ndarray:
        return np.asarray(self.image)

    def line(self, start: int = 0, end: int | None = None) -> Line:
        chars = tuple(self.chars[start:end])
        box = chars[0].box
        for char in chars:
            box = box.union(char.box)
        return Line(text="".join(c.text for c in chars), box=box, confidence=0.99, chars=chars)


def scripts(base: str, script: str, shift: int, tail: str = "") -> tuple[np.ndarray, Line]:
    drawing = Drawing()
    x = drawing.put(base, 30, 90)
    x = drawing.put(script, x + 1, 90 + shift, SMALL)
    if tail:
        drawing.put(tail, x + 3, 90)
    return drawing.picture, drawing.line()


SCRIPTS = [
    ("v", "2", -18, "=2ah", "v^2=2ah"),
    ("m", "1", 9, "a", "m_1a"),
    ("x", "0", 9, "+x", "x_0+x"),
    ("v", "max", 9, "=g", r"v_{\mathrm{max}}=g"),
    ("10", "-3", -18, "m", r"10^{-3}\,\mathrm{m}"),
]


@pytest.mark.parametrize(("base", "script", "shift", "tail", "expected"), SCRIPTS)
def test_height_of_the_ink_decides_about_scripts(base, script, shift, tail, expected):
    picture, line = scripts(base, script, shift, tail)
    reading = StructureEngine().recognise([picture], [[line]])[0]
    assert (reading.latex, reading.confidence) == (expected, 0.99)


def test_digits_on_the_line_stay_there():
    drawing = Drawing()
    drawing.put("3+25=28", 30, 90)
    assert StructureEngine().recognise([drawing.picture], [[drawing.line()]])[0].latex == "3+25=28"


def fraction() -> tuple[Drawing, list[Line]]:
    drawing = Drawing()
    drawing.put("a=", 30, 95)
    first = len(drawing.chars)
    drawing.put("F+G", 130, 68)
    second = len(drawing.chars)
    drawing.put("mt", 150, 130)
    drawing.draw.rectangle((124, 80, 240, 82), fill=0)
    return drawing, [drawing.line(0, first), drawing.line(first, second), drawing.line(second)]


def test_bar_with_ink_on_both_sides_is_a_fraction():
    drawing, lines = fraction()
    assert StructureEngine().recognise([drawing.picture], [lines])[0].latex == r"a=\frac{F+G}{mt}"


def test_minus_is_no_fraction():
    drawing = Drawing()
    drawing.put("a−b", 30, 95)
    blobs = find_blobs(drawing.picture)
    assert find_stacks(blobs, em_px(blobs))[0] == []


def test_equals_sign_is_no_fraction():
    drawing = Drawing()
    drawing.put("a=b", 30, 95)
    blobs = find_blobs(drawing.picture)
    assert find_stacks(blobs, em_px(blobs))[0] == []


def test_root_sign_covers_what_stands_under_its_roof():
    drawing = Drawing()
    drawing.put("2gh", 80, 100)
    drawing.draw.line([(40, 82), (52, 108), (66, 56), (170, 56)], fill=0, width=3)
    reading = StructureEngine().recognise([drawing.picture], [[drawing.line()]])[0]
    assert reading.latex == r"\sqrt{2gh}"


def test_rows_are_joined_by_a_line_break():
    drawing = Drawing(height=240)
    drawing.put("a=b", 30, 70)
    first = len(drawing.chars)
    drawing.put("c=d", 30, 190)
    lines = [drawing.line(0, first), drawing.line(first)]
    assert StructureEngine().recognise([drawing.picture], [lines])[0].latex == r"a=b \\ c=d"


def test_number_of_an_equation_is_dropped():
    drawing = Drawing()
    drawing.put("a=b", 30, 90)
    first = len(drawing.chars)
    drawing.put("(3)", 480, 90)
    lines = [drawing.line(0, first), drawing.line(first)]
    assert StructureEngine().recognise([drawing.picture], [lines])[0].latex == "a=b"


def test_missing_numerator_is_read_from_a_sheet():
    drawing, lines = fraction()
    seen: list[tuple[int, ...]] = []

    def read(sheet: np.ndarray) -> tuple[Line, ...]:
        seen.append(sheet.shape)
        blobs = find_blobs(sheet)
        left, right = min(b.left for b in blobs), max(b.right for b in blobs)
        top, bottom = min(b.top for b in blobs), max(b.bottom for b in blobs)
        return (Line(text="F+G", box=Box(left=left, top=top, right=right, bottom=bottom), confidence=0.7),)

    reading = StructureEngine(read_lines=read).recognise([drawing.picture], [[lines[0], lines[2]]])[0]
    assert len(seen) == 1
    assert (reading.latex, reading.confidence) == (r"a=\frac{F+G}{mt}", 0.7)


def test_blank_and_empty_crops_give_empty_readings():
    crops = [np.full((40, 80, 3), 255, np.uint8), np.zeros((0, 0, 3), np.uint8)]
    readings = StructureEngine().recognise(crops, [[], []])
    assert [(r.latex, r.confidence) for r in readings] == [("", None), ("", None)]


def test_engine_keeps_the_contract():
    engine = StructureEngine()
    assert isinstance(engine, FormulaEngine)
    assert engine.fingerprint.name == "structure"
    assert engine.fingerprint != StructureEngine(read_lines=lambda picture: ()).fingerprint


def test_fingerprint_names_the_text_engine():
    class Reader:
        fingerprint = Fingerprint(name="typed", version="7")

        def read_lines(self, picture):
            return ()

    assert "typed 7" in StructureEngine(read_lines=Reader().read_lines).fingerprint.key


def test_subscript_under_a_superscript_is_cut_loose():
    drawing = Drawing()
    end = drawing.put("R", 30, 90)
    drawing.put("2", end + 1, 70, SMALL)
    drawing.put("s", end + 1, 100, SMALL)
    drawing.put("=a", end + 24, 90)
    blobs = join_strokes(find_blobs(drawing.picture), BIG)
    scripts_found, rest = find_scripts(blobs, BIG)
    assert [(len(s.high), len(s.low), s.prime) for s in scripts_found] == [(1, 1, False)]
    assert len(rest) == 3


def test_brace_with_two_rows_is_a_case_distinction():
    drawing = Drawing(height=200)
    drawing.draw.rectangle((40, 20, 45, 170), fill=0)
    drawing.put("x=a", 70, 70)
    first = len(drawing.chars)
    drawing.put("y=b", 70, 150)
    lines = [drawing.line(0, first), drawing.line(first)]
    latex = StructureEngine().recognise([drawing.picture], [lines])[0].latex
    assert latex == r"\begin{cases}x=a\\y=b\end{cases}"


def test_square_brackets_around_columns_are_a_matrix():
    drawing = Drawing(height=200)
    for x in (40, 260):
        drawing.draw.rectangle((x, 20, x + 5, 170), fill=0)
    chars = [("a", 70, 70), ("b", 190, 70), ("c", 70, 150), ("d", 190, 150)]
    for text, x, foot in chars:
        drawing.put(text, x, foot)
    lines = [drawing.line(i, i + 1) for i in range(4)]
    latex = StructureEngine().recognise([drawing.picture], [lines])[0].latex
    assert latex == r"\left[\begin{matrix}a&b\\c&d\end{matrix}\right]"


def test_bar_touching_its_numerator_is_cut_loose():
    drawing = Drawing()
    drawing.put("mh", 60, 68)
    drawing.put("xz", 66, 112)
    drawing.draw.rectangle((52, 66, 140, 69), fill=0)
    blobs = find_blobs(drawing.picture)
    assert [s.kind for s in find_stacks(blobs, BIG)[0]] == ["fraction"]


def test_same_input_gives_the_same_output():
    drawing, lines = fraction()
    first, second = (StructureEngine().recognise([drawing.picture], [lines]) for _ in range(2))
    assert first == second


def test_noise_gives_whole_latex_or_nothing():
    noise = np.random.default_rng(2).integers(0, 255, (120, 300, 3), dtype=np.uint8)
    line = Line(text="√(a_b^c{二}$%", box=Box(left=0, top=0, right=300, bottom=120), confidence=0.3)
    latex = StructureEngine().recognise([noise], [[line]])[0].latex
    assert not latex or not structure_errors(latex)


NOTATION = [
    ("sinθ+μcosθ", r"\sin\theta+\mu\cos\theta"),
    ("a≤b≥c≈d≠e", r"a\le b\ge c\approx d\ne e"),
    ("2.0kΩ", r"2.0\,\mathrm{k\Omega}"),
    ("9.8m/s2", r"9.8\,\mathrm{m/s^2}"),
    ("1.60×10-19C", r"1.60\times10^{-19}\,\mathrm{C}"),
    ("A→B→C", r"A\to B\to C"),
    ("θ=30°", r"\theta=30^{\circ}"),
    ("26.7%", r"26.7\%"),
    ("x:=2", r"x\coloneqq2"),
    ("√2h", r"\sqrt{2}h"),
    ("∆v", r"\Delta v"),
    ("{a}", r"\{a\}"),
]


@pytest.mark.parametrize(("text", "expected"), NOTATION)
def test_characters_become_latex(text, expected):
    glyphs = [Glyph(char, 10.0 * x, None) for x, char in enumerate(text)]
    assert latex_of(glyphs) == expected


def test_script_after_script_stays_readable():
    glyphs = [Glyph("x", 0, 0), Glyph("1", 1, -1), Glyph("2", 2, 1), Glyph("3", 3, -1)]
    assert not structure_errors(latex_of(glyphs))


def test_finished_scripts_do_not_meet_other_scripts():
    piece = Glyph("_{1}^{2}", 1, 0, is_latex=True)
    for glyphs in ([Glyph("x", 0, 0), Glyph("2", 0, 1), piece], [Glyph("x", 0, 0), piece, Glyph("2", 2, 1)]):
        assert not structure_errors(latex_of(glyphs))


def test_dots_above_a_letter_are_a_time_derivative():
    drawing = Drawing()
    end = drawing.put("x", 40, 90)
    for x in (46, 56):
        drawing.draw.ellipse((x - 2, 55, x + 2, 59), fill=0)
    drawing.put("=a", end + 6, 90)
    assert StructureEngine().recognise([drawing.picture], [[drawing.line()]])[0].latex == r"\ddot{x}=a"


def test_strokes_of_one_character_are_joined():
    drawing = Drawing()
    drawing.put("i=j", 40, 90)
    blobs = find_blobs(drawing.picture)
    joined = join_strokes(blobs, em_px(blobs))
    assert [b.dots for b in joined] == [1, 0, 1]


def test_every_character_is_paired_with_its_ink():
    drawing = Drawing()
    drawing.put("F=ma+Q", 30, 90)
    blobs = join_strokes(find_blobs(drawing.picture), BIG)
    glyphs = line_glyphs(drawing.line(), blobs, BIG)
    assert [g.blob for g in glyphs] == blobs
    assert {g.level for g in glyphs} == {0}


def test_slanted_row_is_laid_flat():
    drawing = Drawing(width=1000)
    drawing.put("hmmnhmxnhmmnhxmnhmxnhmmn", 30, 90)
    picture = flattened(drawing.picture, Bend(-0.03, 0.0, 80), BIG, left=0)
    bend = row_bend(find_blobs(picture), BIG, left=0, top=0)
    assert bend is not None
    assert bend.start == pytest.approx(0.03, abs=0.006)  # pixels are whole: a quarter pixel on 40
    again = flattened(picture, bend, BIG, left=0)
    after = row_bend(find_blobs(again), BIG, left=0, top=0)
    assert after is not None
    assert abs(after.start) < 0.006


def test_lines_move_into_a_crop():
    line = Line(
        text="a",
        box=Box(left=20, top=30, right=40, bottom=50),
        confidence=None,
        chars=(Char(text="a", box=Box(left=21, top=31, right=39, bottom=49)),),
    )
    moved = crop_lines([line], Box(left=10, top=20, right=100, bottom=90))[0]
    assert moved.box == Box(left=10, top=10, right=30, bottom=30)
    assert moved.chars[0].box == Box(left=11, top=11, right=29, bottom=29)


@pytest.mark.engine
@pytest.mark.skipif(importlib.util.find_spec("paddleocr") is None, reason="the [ocr] extra is not installed")
@pytest.mark.filterwarnings("ignore")
def test_real_text_engine_reads_a_drawn_fraction(tmp_path: Path):
    from physelite_build.engines.paddle import PaddleEngine

    drawing, lines = fraction()
    engine = StructureEngine(read_lines=PaddleEngine(cache=tmp_path, threads=1).read_lines)
    reading = engine.recognise([drawing.picture], [[lines[0]]])[0]
    assert reading.latex == r"a=\frac{F+G}{mt}"
    assert reading.confidence is not None


@pytest.mark.parametrize("mark", [";", ":", "；"])
def test_a_mark_that_hangs_low_is_no_subscript(mark):
    letter = Glyph("F", 10.0, None, Blob(left=4, top=4, right=16, bottom=20))
    hanging = Glyph(mark, 20.0, None, Blob(left=18, top=15, right=21, bottom=25))
    assert [glyph.level for glyph in settle_levels([letter, hanging], 24.0)] == [0, 0]
