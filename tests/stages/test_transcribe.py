"""Rows become plain text with formulas in dollar signs."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from physelite_build.engines.protocol import FormulaReading
from physelite_build.engines.referee import Judgement, Referee
from physelite_build.engines.structure.glyphs import Glyph, is_cjk
from physelite_build.geometry import Box
from physelite_build.latex import structure_errors
from physelite_build.records import Char, Fingerprint, Line, PageLayout, PageText, Region, RegionKind
from physelite_build.stages.transcribe.mark_math import mark_math
from physelite_build.stages.transcribe.rewrite import transcribe

TEXT_ENGINE = Fingerprint(name="typed", version="1")


class FixedEngine:
    """Formula engine with one answer; remembers what it was shown."""

    def __init__(self, latex: str = r"\frac{a}{b}") -> None:
        self.latex = latex
        self.sizes: list[tuple[int, int]] = []

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(name="fixed", version="1")

    def recognise(self, crops, lines):
        self.sizes += [(crop.shape[1], crop.shape[0]) for crop in crops]
        return [FormulaReading(self.latex, 0.8) for _ in crops]


def glyphs_of(text: str) -> list[Glyph]:
    """Characters without ink; blanks become gaps."""
    found: list[Glyph] = []
    gap = 0.0
    for x, char in enumerate(text):
        if char == " ":
            gap = 0.25
        else:
            found.append(Glyph(char, 10.0 * x, 0 if is_cjk(char) else None, gap_em=gap))
            gap = 0.0
    return found


def blank(width: int = 900, height: int = 120) -> np.ndarray:
    return np.full((height, width, 3), 255, np.uint8)


def page_of(text: str, box: Box, kind: RegionKind = RegionKind.TEXT, confidence: float = 0.9):
    line = Line(text=text, box=box, confidence=confidence)
    layout = PageLayout(
        page_width_px=900,
        page_height_px=120,
        regions=(Region(kind=kind, box=box, order=0, text=text, line_indexes=(0,)),),
    )
    return PageText(lines=(line,), engine=TEXT_ENGINE), layout


ROWS = [
    ("倾角为θ的固定斜面上放有质量为m1的物块", r"倾角为 $\theta$ 的固定斜面上放有质量为 $m_1$ 的物块"),
    ("若 m2 > m1(sin θ + μ cos θ)，系统", r"若 $m_2>m_1(\sin\theta+\mu\cos\theta)$，系统"),
    ("电阻R1 = 2.0 kΩ，电压为", r"电阻 $R_1=2.0\,\mathrm{k\Omega}$，电压为"),
    ("(1)求加速度a的大小", "(1)求加速度 $a$ 的大小"),
    ("（2）在（1）的条件下", "（2）在（1）的条件下"),
    ("如图1所示，小球从A点", "如图1所示，小球从 $A$ 点"),
    ("第1题（20分）斜面与滑轮", "第1题（20分）斜面与滑轮"),
    ("①静止时绳中张力T = m2g。", "①静止时绳中张力 $T=m_2g$。"),
    ("已知e = 1.60×10-19 C", r"已知 $e=1.60\times10^{-19}\,\mathrm{C}$"),
    ("令θ = 0，得mgsinθ", r"令 $\theta=0$，得 $mg\sin\theta$"),
    ("已知A(p0, V0)、B(3p0, V0)", "已知 $A(p_0,V_0)$、$B(3p_0,V_0)$"),
    ("共3页，时间60分钟", "共3页，时间60分钟"),
    ("A.1.2若某一时刻增大IA", "A.1.2若某一时刻增大 $IA$"),
    ("A.减小数值B.增大数值", "A.减小数值B.增大数值"),
    ("图A.1装置更好", "图A.1装置更好"),
    ("答案：(1) 2.0 s (2) 20 m/s", r"答案：(1) $2.0\,\mathrm{s}$ (2) $20\,\mathrm{m/s}$"),
    ("答案：(1) v = 10 m/s；(2) H = 3.2 m", r"答案：(1) $v=10\,\mathrm{m/s}$；(2) $H=3.2\,\mathrm{m}$"),
    ("位于左侧60 cm处", r"位于左侧 $60\,\mathrm{cm}$ 处"),
]
ENGLISH_ROWS = [
    ("A block of mass m1 rests on a plane.", "A block of mass $m_1$ rests on a plane."),
    ("the angle is θ and µ < tan θ.", r"the angle is $\theta$ and $\mu<\tan\theta$."),
    ("find the acceleration a and the tension T in it", "find the acceleration $a$ and the tension $T$ in it"),
    ("(2) If m2 > m1 then stop", "(2) If $m_2>m_1$ then stop"),
    ("Answers: (A), (B), (C)", "Answers: (A), (B), (C)"),
    ("Step 1. At rest the tension is T = m2g.", "Step 1. At rest the tension is $T=m_2g$."),
    ("a well-known and/or non-conducting disc", "a well-known and/or non-conducting disc"),
    ("They are 10 cm apart.", r"They are $10\,\mathrm{cm}$ apart."),
    ("Newton's second law for 2 bodies", "Newton's second law for 2 bodies"),
    ("Problem 1. (20 points) Incline", "Problem 1. (20 points) Incline"),
    ("Figure 2 shows it", "Figure 2 shows it"),
    ("Answer: (a) F = 6.0 kN; (b) t = 2.5 s", r"Answer: (a) $F=6.0\,\mathrm{kN}$; (b) $t=2.5\,\mathrm{s}$"),
    ("Answer: (a) 2.0 s (b) 20 m/s", r"Answer: (a) $2.0\,\mathrm{s}$ (b) $20\,\mathrm{m/s}$"),
    ("the product (2)(3) x = 6 x", "the product $(2)(3)x=6x$"),
    ("hence (R+r)I = E and so on", "hence $(R+r)I=E$ and so on"),
]


@pytest.mark.parametrize(("row", "expected"), ROWS)
def test_chinese_row_gets_its_formulas_marked(row, expected):
    assert mark_math(glyphs_of(row), language="zh").text == expected


@pytest.mark.parametrize(("row", "expected"), ENGLISH_ROWS)
def test_english_row_gets_its_formulas_marked(row, expected):
    assert mark_math(glyphs_of(row), language="en").text == expected


@given(st.text(alphabet="质量为，。（）①m1vR2 =+-/()[]{}θμ√×.,$_^\\%二", max_size=40), st.sampled_from(["zh", "en"]))
@settings(max_examples=300, deadline=None)
def test_marking_loses_no_chinese_and_balances_signs(row, language):
    text = mark_math(glyphs_of(row), language=language).text
    assert [c for c in text if is_cjk(c) and c.isalpha()] == [c for c in row if is_cjk(c) and c.isalpha()]
    bare = text.replace(r"\$", "")
    assert bare.count("$") % 2 == 0
    braces = bare.replace(r"\{", "").replace(r"\}", "")
    formulas = braces.split("$")[1::2]
    assert all(f.count("{") == f.count("}") for f in formulas)


def test_plain_row_is_kept_word_for_word():
    text, layout = page_of("物块静止在斜面上", Box(left=10, top=40, right=250, bottom=70))
    region = transcribe(blank(), text, layout, FixedEngine()).regions[0]
    assert (region.text, region.confidence, region.engine) == ("物块静止在斜面上", 0.9, "typed")


def test_formula_region_takes_the_reading_of_the_engine():
    text, layout = page_of("a b", Box(left=10, top=20, right=250, bottom=90), RegionKind.FORMULA)
    region = transcribe(blank(), text, layout, FixedEngine()).regions[0]
    assert (region.text, region.confidence, region.engine) == (r"\frac{a}{b}", 0.8, "fixed")


def test_referee_says_how_sure_each_formula_is():
    class StrictReferee(Referee):
        def __init__(self) -> None:
            self.shown: list[tuple[tuple[int, ...], str]] = []

        def judge(self, crops, readings):
            self.shown += [(crop.shape, latex) for crop, latex in zip(crops, readings, strict=True)]
            return [Judgement(0.95 if latex == r"\frac{a}{b}" else None) for latex in readings]

    text, layout = page_of("质量为m1", Box(left=10, top=20, right=120, bottom=50))
    formula = Region(kind=RegionKind.FORMULA, box=Box(left=10, top=60, right=250, bottom=90), order=1)
    layout = layout.model_copy(update={"regions": (*layout.regions, formula)})
    referee = StrictReferee()
    row, display = transcribe(blank(), text, layout, FixedEngine(), referee).regions
    assert [latex for _, latex in referee.shown] == ["m_1", r"\frac{a}{b}"]
    assert referee.shown[1][0] == (32, 242, 3)  # the box and a pixel of paper
    assert [(f.confidence, f.verified) for f in (*row.formulas, *display.formulas)] == [(None, False), (0.95, True)]
    assert (row.confidence, display.confidence) == (0.9, 0.95)


def test_unread_formula_keeps_the_text_of_the_layout():
    text, layout = page_of("a b", Box(left=10, top=20, right=250, bottom=90), RegionKind.FORMULA)
    assert transcribe(blank(), text, layout, FixedEngine("")).regions[0].text == "a b"


def test_figures_and_furniture_are_left_alone():
    for kind in (RegionKind.FIGURE, RegionKind.FURNITURE, RegionKind.TABLE):
        text, layout = page_of("θ", Box(left=10, top=20, right=250, bottom=90), kind)
        assert transcribe(blank(), text, layout, FixedEngine()) == layout


def test_fraction_inside_a_row_is_shown_to_the_engine_and_put_in_its_place():
    page = Image.fromarray(blank())
    draw = ImageDraw.Draw(page)
    font = ImageFont.truetype("DejaVuSerif.ttf", 28)
    draw.text((20, 44), "speed v =", font=font, fill=0)
    draw.text((182, 20), "s", font=font, fill=0)
    draw.rectangle((176, 62, 204, 63), fill=0)
    draw.text((184, 62), "t", font=font, fill=0)
    words = (("speed", 20, 108), (" ", 108, 117), ("v", 117, 133), (" ", 133, 142), ("=", 142, 165))
    box = Box(left=18, top=44, right=168, bottom=82)
    line = Line(
        text="speed v =",
        box=box,
        confidence=0.95,
        chars=tuple(Char(text=t, box=Box(left=a, top=44, right=b, bottom=82)) for t, a, b in words),
    )
    region = Region(kind=RegionKind.TEXT, box=Box(left=18, top=24, right=206, bottom=98), order=0, line_indexes=(0,))
    layout = PageLayout(page_width_px=900, page_height_px=120, regions=(region,))
    engine = FixedEngine(r"\frac{s}{t}")
    made = transcribe(np.asarray(page), PageText(lines=(line,), engine=TEXT_ENGINE), layout, engine).regions[0]
    assert len(engine.sizes) == 1
    assert made.text == r"speed $v=\frac{s}{t}$"
    (formula,) = made.formulas
    assert formula.latex == made.text[formula.start : formula.start + len(formula.latex)] == r"v=\frac{s}{t}"
    assert (formula.box.left, formula.box.right) == pytest.approx((112, 205), abs=1)  # the ink of v and of the bar
    assert [made.text[p.start : p.end] for p in made.places] == [*"speed", r"v=\frac{s}{t}"]
    assert [p.box.left for p in made.places] == sorted(p.box.left for p in made.places)
    assert (made.confidence, made.engine) == (0.8, "typed+fixed")


def test_broken_picture_gives_a_row_all_the_same():
    text, layout = page_of("质量为m1", Box(left=10, top=40, right=120, bottom=70))
    noise = np.random.default_rng(1).integers(0, 255, (120, 900, 3), dtype=np.uint8)
    assert transcribe(noise, text, layout, FixedEngine()).regions[0].text.startswith("质量为 $m")


def test_every_formula_of_a_drawn_row_is_whole():
    page = blank()
    cv2.putText(page, "v2=2ah", (20, 70), cv2.FONT_HERSHEY_SIMPLEX, 1, (0, 0, 0), 2)
    text, layout = page_of("v2=2ah", Box(left=15, top=40, right=160, bottom=80))
    made = transcribe(page, text, layout, FixedEngine()).regions[0].text
    assert not structure_errors(made.strip("$"))
