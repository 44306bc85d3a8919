from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from physelite_build.errors import ItemError
from physelite_build.latex import (
    MathStyle,
    Piece,
    normalise_arguments,
    render_html,
    split_math,
    structure_errors,
    to_mathml,
)

WHOLE = [
    r"v=\sqrt{2gh}",
    r"\frac12 mv^2",
    r"\frac\sqrt2x",
    r"\sqrt[3]{x}",
    r"\left\{a\right.",
    r"\left(\frac{a}{b}\right)_0^2",
    r"\begin{cases}a&b\\c&d\end{cases}",
    r"{}_{92}^{238}\mathrm{U}",
    r"50\,\%",
    r"\{x\}",
    r"x_1^2+y_1^2",
    "中文",
]
BROKEN = {
    "": "empty",
    r"\frac{a}{b": "never closed",
    "a}": "no an opening brace",
    r"\left(x": r"\left is never closed",
    r"x\right)": r"\right has no",
    r"\left(\frac{a\right)}{b}": r"\right has no",
    r"\begin{array}{c}a\end{matrix}": "ends under another name",
    r"\frac{}{b}": r"\frac is empty",
    r"\frac{a}": r"\frac is empty or lacks",
    r"\sqrt{ }": r"\sqrt is empty",
    "x^": "superscript is empty",
    "{a_}": "subscript is empty",
    r"\frac{x^{}}{2}": "superscript is empty",
    "a^b^c": "second superscript",
    "a&b": "alignment mark",
    "5%": "% is not escaped",
    "a$b": "$ is not escaped",
    "x\\": "backslash stands alone",
    "{" * 61 + "x" + "}" * 61: "nested deeper",
    "x" * 20_001: "20001 characters",
}
SHORT_LATEX = st.text(alphabet="ab12{}^_\\&%$ []<>\"'fracsqtlei()\n文", max_size=40)


@pytest.mark.parametrize("latex", WHOLE)
def test_whole_formula_has_no_structure_error(latex: str) -> None:
    assert structure_errors(latex) == []


@pytest.mark.parametrize("latex", WHOLE)
def test_whole_formula_becomes_mathml(latex: str) -> None:
    assert to_mathml(latex, display=False).startswith("<math ")


@pytest.mark.parametrize(("latex", "fault"), BROKEN.items())
def test_broken_formula_is_named(latex: str, fault: str) -> None:
    assert fault in "; ".join(structure_errors(latex))


@pytest.mark.parametrize("latex", [*BROKEN, r"\nosuchcommand x"])
def test_broken_formula_has_no_mathml(latex: str) -> None:
    with pytest.raises(ItemError, match=r"latex\.unreadable"):
        to_mathml(latex, display=False)


@pytest.mark.parametrize("latex", [r"\mathbf B", r"\mathbf{B}", r"\mathbf  {B}"])
def test_bold_survives_with_and_without_braces(latex: str) -> None:
    assert "<mi>𝐁</mi>" in to_mathml(latex, display=False)


def test_bold_greek_letter_stays_bold() -> None:
    assert "𝛚" in to_mathml(r"\mathbf\omega", display=False)


def test_single_roman_letter_stays_upright() -> None:
    assert '<mi mathvariant="normal">C</mi>' in to_mathml(r"30\,\mathrm{C}", display=False)


def test_aligned_equations_become_a_table_without_stray_marks() -> None:
    mathml = to_mathml(r"\begin{aligned}a&=b\\c&=d\end{aligned}", display=True)
    assert mathml.count("<mtr>") == 2
    assert "&amp;" not in mathml


def test_bare_arguments_get_braces() -> None:
    assert normalise_arguments(r"\mathbf B\cdot d\vec S") == r"\mathbf{B}\cdot d\vec{S}"


@given(SHORT_LATEX)
def test_normalising_twice_changes_nothing(latex: str) -> None:
    once = normalise_arguments(latex)
    assert normalise_arguments(once) == once


@pytest.mark.parametrize(
    "latex",
    [
        r'\text{<img src="x" onerror="alert(1)"/>}',
        r"\href{javascript:alert(1)}{x}",
        r'\color{red"onload="alert(1)}x',
        r"\style{position:fixed}{x}",
        r"\class{evil}{x}",
    ],
)
def test_hostile_formula_brings_no_foreign_markup(latex: str) -> None:
    tags = re.findall(r"<[^>]*>", render_html(f"${latex}$"))
    shown = [tag for tag in tags if not tag.startswith(("<code", "</code"))]
    assert not [tag for tag in shown if re.search(r"img|href|onload|style=|class=|javascript", tag)]


@given(st.text(max_size=60))
def test_pieces_join_to_the_text(text: str) -> None:
    assert "".join(piece.source for piece in split_math(text)) == text


@given(SHORT_LATEX)
def test_any_formula_ends_as_mathml_or_item_error(latex: str) -> None:
    with suppress(ItemError):
        assert to_mathml(latex, display=True).endswith("</math>")


def test_text_is_cut_at_dollar_signs() -> None:
    assert split_math(r"cost \$5, $x$ and $$y$$") == [
        Piece(r"cost \$5, ", MathStyle.TEXT),
        Piece("x", MathStyle.INLINE),
        Piece(" and ", MathStyle.TEXT),
        Piece("y", MathStyle.DISPLAY),
    ]


def test_lone_dollar_sign_is_plain_text() -> None:
    assert split_math("5 $ a day") == [Piece("5 $ a day", MathStyle.TEXT)]


def test_escaped_dollar_sign_is_shown_bare() -> None:
    assert render_html(r"\$5") == "$5"


def test_plain_text_is_escaped() -> None:
    assert render_html("<b>&\n") == "&lt;b&gt;&amp;<br>\n"


def test_unreadable_formula_is_shown_as_written() -> None:
    assert ">$\\frac{a}{&lt;$</code>" in render_html(r"$\frac{a}{<$")


def test_line_breaks_around_a_display_formula_are_not_doubled() -> None:
    assert "<br>" not in render_html("a\n$$x$$\nb")
