"""Printed final answers and what they are typed as."""

from __future__ import annotations

import pytest

from physelite_build.geometry import Box
from physelite_build.records import AnswerKind, DocumentProblems, Part, Problem, Span
from physelite_build.stages.answers import read_answers, type_answers

K = AnswerKind


@pytest.mark.parametrize(
    ("printed", "kind", "name", "value", "unit"),
    [
        (r"$v=3.0\,\mathrm{m/s}$", K.NUMBER, "v", "3.0", "m/s"),
        (r"$\theta_0\approx60.7^\circ$", K.NUMBER, r"\theta_0", "60.7", "°"),
        (r"$h=6.61\times10^{-34}\,\mathrm{J\cdot s}$", K.NUMBER, "h", r"6.61\times10^{-34}", "J·s"),
        (r"$\eta=\frac{4}{15}$", K.NUMBER, r"\eta", r"\frac{4}{15}", None),
        (r"$\frac{I_\infty}{I_0}=4$", K.NUMBER, r"\frac{I_\infty}{I_0}", "4", None),
        (r"$v=\sqrt{2gh}=3.1\,\mathrm{m/s}$", K.NUMBER, "v", "3.1", "m/s"),
        (r"$\eta=25\%$", K.NUMBER, r"\eta", "25", "%"),
        ("4", K.NUMBER, None, "4", None),
        ("20 ℃", K.NUMBER, None, "20", "℃"),
        ("12 牛", K.NUMBER, None, "12", "牛"),
        ("Ω≈8.7rad/s", K.NUMBER, "Ω", "8.7", "rad/s"),
        (
            r"$u(t)=8.0\left(1-e^{-t/\tau}\right)\,\mathrm{V}$",
            K.EXPRESSION,
            "u(t)",
            r"8.0\left(1-e^{-t/\tau}\right)",
            "V",
        ),
        (r"$x=\frac{mFR^2}{B^4L^4}$", K.EXPRESSION, "x", r"\frac{mFR^2}{B^4L^4}", None),
        (r"$\frac{1}{2}mv^2$", K.EXPRESSION, None, r"\frac{1}{2}mv^2", None),
        (r"$t\approx1.98T_1$", K.EXPRESSION, "t", "1.98T_1", None),
        (r"$x^2+y^2=R^2$", K.EQUATION, None, "x^2+y^2=R^2", None),
        (r"$2<x<5$", K.INTERVAL, None, "2<x<5", None),
        (r"$\mu\ge0.5$", K.INTERVAL, r"\mu", r"\mu\ge0.5", None),
        (r"$\frac hl\in\left[\frac12,1\right)$", K.INTERVAL, r"\frac hl", r"\frac hl\in\left[\frac12,1\right)", None),
        ("(A), (B), (C)", K.CHOICE, None, "ABC", None),
        ("ABD", K.CHOICE, None, "ABD", None),
        ("(D)", K.CHOICE, None, "D", None),
        ("正确", K.TRUE_FALSE, None, "true", None),
        ("False", K.TRUE_FALSE, None, "false", None),
        ("物体做匀加速直线运动", K.TEXT, None, None, None),
        ("real and inverted", K.TEXT, None, None, None),
        ("3.0 m/s，方向水平向右", K.NUMBER, None, "3.0", "m/s"),
    ],
)
def test_single_answer_is_typed(
    printed: str, kind: AnswerKind, name: str | None, value: str | None, unit: str | None
) -> None:
    answers = read_answers(printed)
    assert len(answers) == 1
    answer = answers[0]
    assert (answer.kind, answer.name, answer.value, answer.unit) == (kind, name, value, unit)
    assert answer.part is None


@pytest.mark.parametrize(
    ("printed", "pieces"),
    [
        (
            r"$\theta_0\approx60.7^\circ$，$\Omega\approx8.7\,\mathrm{rad/s}$",
            [r"$\theta_0\approx60.7^\circ$", r"$\Omega\approx8.7\,\mathrm{rad/s}$"],
        ),
        (r"$a=1\,\mathrm{m}, b=2\,\mathrm{m}$", [r"$a=1\,\mathrm{m}$", r"$b=2\,\mathrm{m}$"]),
        (r"$a=1,\qquad b=2$", ["$a=1$", "$b=2$"]),
        (r"$W=1$ and $h=2$", ["$W=1$", "$h=2$"]),
        ("$a=1$, $b=2$ and $c=3$", ["$a=1$", "$b=2$", "$c=3$"]),
        (r"$60\,\mathrm{cm}$ to the right, $m=-1.5$, real", [r"$60\,\mathrm{cm}$ to the right", "$m=-1.5$", "real"]),
        ("$f(x,y)=1$", ["$f(x,y)=1$"]),
        ("3 m；5 m", ["3 m", "5 m"]),
        ("$1,000$", ["$1,000$"]),
        ("v=3 m/s, directed upward", ["v=3 m/s, directed upward"]),
    ],
)
def test_values_are_split(printed: str, pieces: list[str]) -> None:
    assert [a.printed for a in read_answers(printed)] == pieces


def test_labels_give_parts() -> None:
    parts = (Part(label="1", text="求速度"), Part(label="2", text="选择"))
    answers = read_answers(r"（1）$v=3\,\mathrm{m/s}$；（2）C", parts=parts)
    assert [(a.part, a.kind, a.printed) for a in answers] == [
        ("1", K.NUMBER, r"$v=3\,\mathrm{m/s}$"),
        ("2", K.CHOICE, "C"),
    ]


def test_label_that_no_part_has_is_not_kept() -> None:
    assert [a.part for a in read_answers("(1) 3 m; (2) 4 m", parts=(Part(label="a", text=""),))] == [None, None]


def test_circled_and_lettered_labels_give_parts() -> None:
    assert [a.part for a in read_answers("① 5 m ② 6 m")] == ["1", "2"]
    assert [a.part for a in read_answers("(a) 3 s (b) 4 s")] == ["a", "b"]


def test_unlabelled_value_goes_to_the_only_part_that_asks_for_its_name() -> None:
    parts = (Part(label="1", text="求 $a$ 的大小"), Part(label="2", text="求距离 $s$"))
    assert [a.part for a in read_answers("$s=3$", parts=parts)] == ["2"]


def test_name_asked_for_twice_gives_no_part() -> None:
    parts = (Part(label="1", text="求 $s$"), Part(label="2", text="求 $s$ 的最大值"))
    assert [a.part for a in read_answers("$s=3$", parts=parts)] == [None]


def test_no_answer_is_none() -> None:
    assert read_answers(None) == ()
    assert read_answers("  ") == ()


def test_bare_latex_gets_dollar_signs() -> None:
    assert read_answers(r"\frac{1}{2}")[0].printed == r"$\frac{1}{2}$"


def problem(**fields: object) -> DocumentProblems:
    record = Problem.model_validate(
        {"key": "d#1", "doc_id": "d", "number": "1", "language": "zh", "statement": "x", **fields}
    )
    return DocumentProblems(doc_id="d", problems=(record,))


@pytest.mark.parametrize(
    ("solution", "printed"),
    [
        (r"$$\boxed{a=1}$$" + "\n" + r"$$\boxed{\implies N=\frac{1}{2}}$$", [r"$N=\frac{1}{2}$"]),
        ("略。\nAnswer : 4", ["4"]),
        ("故选 C。", ["C"]),
        ("选：AB", ["AB"]),
        ("故 $v=3$。", []),
        ("", []),
    ],
)
def test_only_marked_answers_are_taken_from_a_solution(solution: str, printed: list[str]) -> None:
    typed = type_answers(problem(solution=solution)).problems[0]
    assert [a.printed for a in typed.answers] == printed
    assert typed.final_answer is None


def test_confidence_is_that_of_the_printed_answer() -> None:
    box = Box(left=0, top=0, right=1, bottom=1)
    spans = [
        Span(field="statement", page_id="d/p1", box=box, confidence=0.2),
        Span(field="answer", page_id="d/p1", box=box, confidence=0.7),
    ]
    assert type_answers(problem(final_answer="4", spans=spans)).problems[0].answers[0].confidence == 0.7


def test_printed_answer_is_never_changed() -> None:
    assert type_answers(problem(final_answer="$a=1$，$b=2$")).problems[0].final_answer == "$a=1$，$b=2$"
