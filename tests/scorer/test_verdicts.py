"""Reasons, credits, parts and the unreadable."""

import dataclasses
import threading

import pytest

from physelite_build.scorer import Verdict, is_readable, readable_reason, score, score_problem


@pytest.mark.parametrize(
    ("response", "reference", "reason"),
    [
        ("-5 J", "5 J", "sign"),
        ("50 J", "5 J", "power_of_ten"),
        ("5 W", "5 J", "unit.dimension"),
        ("7 J", "5 J", "value"),
        ("", "5 J", "no_answer"),
        (r"\boxed{5", "5 J", "no_answer"),
        ("5 J or 6 J", "5 J", "candidates"),
        ("B", "C", "choice"),
        (r"-\frac{a}{b}", r"\frac{a}{b}", "sign"),
        (r"\frac{a}{c}", r"\frac{a}{b}", "symbols"),
        ("{0,1}", r"\{0,1,2\}", "set.missing"),
        ("(0,1]", r"x\in(0,1)", "interval.ends"),
    ],
)
def test_a_wrong_answer_says_why(response, reference, reason):
    verdict = score(response, reference)
    assert verdict.outcome == "incorrect"
    assert verdict.credit == 0.0
    assert verdict.reason == reason
    assert verdict.explanation.endswith(".")


def test_a_verdict_is_frozen():
    verdict = score("5", "5")
    with pytest.raises(dataclasses.FrozenInstanceError):
        verdict.credit = 0.5
    assert isinstance(verdict, Verdict)


def test_the_extracted_answer_is_shown():
    assert score("So the answer is 5 J.", "5 J").extracted == "5 J"
    assert score("", "5 J").extracted is None


@pytest.mark.parametrize("reference", ["", "   ", r"\frac{1}{", r"\int_0^1 x\,dx", "$$", "5" * 5000])
def test_an_unreadable_reference_is_unscored(reference):
    verdict = score("5", reference)
    assert verdict.outcome == "unscored"
    assert verdict.credit == 0.0
    assert verdict.reason == "unreadable_reference"
    assert not is_readable(reference)
    assert readable_reason(reference).endswith(".")


def test_a_readable_reference_has_no_reason():
    assert is_readable(r"3.0\ \mathrm{m/s}")
    assert readable_reason("ABD", "choice") is None


def test_tolerance_is_taken_from_the_caller():
    assert score("5.2", "5", tolerance=0.05).outcome == "correct"
    assert score("5.2", "5", tolerance=0.01).outcome == "incorrect"
    assert score("5.2", "5", kind="integer").outcome == "incorrect"


def test_parts_have_their_own_verdicts():
    verdict = score("(1) 3 m/s; (2) 7 m; (3) C", "(1) 3 m/s; (2) 6 m; (3) C")
    assert [part.outcome for part in verdict.parts] == ["correct", "incorrect", "correct"]
    assert verdict.credit == pytest.approx(2 / 3)
    assert verdict.reason == "part.wrong"


def test_a_missing_part_is_named():
    verdict = score("(2) 6 m", "(1) 3 m/s; (2) 6 m")
    assert [part.reason for part in verdict.parts] == ["part.missing", "equal"]
    assert verdict.reason == "part.missing"
    assert verdict.credit == 0.5


ROW = [
    {"part": "1", "answer": "3 m/s", "kind": "number", "tolerance": None},
    {"part": "2", "answer": r"\frac{mv^2}{R}", "kind": "expression", "tolerance": None},
]


def test_a_row_is_correct_only_when_every_part_is():
    assert score_problem("(1) 3 m/s\n(2) $mv^2/R$", ROW).outcome == "correct"
    wrong = score_problem("(1) 3 m/s\n(2) $mv/R$", ROW)
    assert wrong.outcome == "incorrect"
    assert wrong.credit == 0.5


def test_a_row_is_read_from_running_text_with_boxes():
    text = r"(1) From energy, \boxed{3\ \mathrm{m/s}}. (2) The force is \boxed{\frac{m v^2}{R}}."
    assert score_problem(text, ROW).outcome == "correct"


def test_unlabelled_answers_of_a_row_are_read_in_order():
    row = [{"part": None, "answer": "2 N"}, {"part": None, "answer": "4 m"}]
    assert score_problem("2 N; 4 m", row).outcome == "correct"
    assert score_problem("4 m; 2 N", row).outcome == "incorrect"


def test_unusual_part_labels_are_found():
    row = [{"part": "A.1", "answer": "2 N"}, {"part": "A.2", "answer": "4 m"}]
    assert score_problem("A.1: 2 N\nA.2: 4 m", row).outcome == "correct"
    assert score_problem("A.2: 2 N\nA.1: 4 m", row).credit == 0.0


def test_a_row_without_answers_or_with_an_unreadable_one_is_unscored():
    assert score_problem("5", []).outcome == "unscored"
    assert score_problem("(1) 3 m/s (2) 5", [ROW[0], {"part": "2", "answer": ""}]).outcome == "unscored"


def test_the_scorer_works_off_the_main_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(score("72 km/h", "20 m/s").outcome))
    thread.start()
    thread.join()
    assert found == ["correct"]


def test_equality_is_symmetric_for_formulas():
    pairs = [(r"\frac{x}{2}", "0.5x"), (r"\sqrt{1/n}", r"1/\sqrt{n}"), ("x^2+y=1", "y=1-x^2")]
    for first, second in pairs:
        assert score(first, second).outcome == score(second, first).outcome == "correct"


TWO_PARTS = [{"part": "1", "answer": r"$v_0=\sqrt{2gL}$"}, {"part": "2", "answer": "2.4 m/s"}]


@pytest.mark.parametrize(
    "response",
    [
        "**Part (1)**\n\nFrom energy, $v_0=\\sqrt{2gL}$.\n\n**Part (2)**\n\nThe speed is v = 2.4 m/s.",
        "### Part 1\n\\boxed{v_0=\\sqrt{2gL}}\n\n### Part 2\n\\boxed{2.4\\ \\mathrm{m/s}}",
        "(1) v0 = gL at first. (2) 3 m/s.\n\nFinal answer: (1) $\\sqrt{2gL}$ (2) 2.4 m/s",
        "解：(1) 由机械能守恒得 $v_0=\\sqrt{2gL}$。\n(2) 速度为2.4 m/s。",
        "\\boxed{(1)\\ \\sqrt{2gL};\\ (2)\\ 2.4\\ \\mathrm{m/s}}",
        "| part | answer |\n|---|---|\n| (1) | $\\sqrt{2gL}$ |\n| (2) | 2.4 m/s |",
        "a. sqrt(2gL)\nb. 2.4 m/s",
    ],
)
def test_parts_are_found_in_running_text(response):
    assert score_problem(response, TWO_PARTS).outcome == "correct"


@pytest.mark.parametrize(
    "response",
    [
        "So, $v = \\sqrt{2 \\cdot 7.2 \\cdot 10} = 12$ m/s.",
        "Answer: 12 m/s (to two significant figures)",
        "答：小球的速度大小为12 m/s，方向向下。",
        "<answer>12 m/s</answer>",
        "The final answer is $\\boxed{v = 12\\ \\mathrm{m/s}}$. I hope it is right.",
        "**Final answer:** v = 12 m/s ✅",
    ],
)
def test_one_answer_is_found_in_running_text(response):
    assert score(response, "12 m/s").outcome == "correct"


@pytest.mark.parametrize(
    "response",
    ["What is the speed, 12 m/s?", r"\boxed{12} or \boxed{13}", "12 m/s (wrong), actually it is 15 m/s", "11, 12, 13"],
)
def test_an_undecided_text_earns_nothing(response):
    assert score(response, "12 m/s").outcome == "incorrect"


TWO_IN_PART_3 = [
    {"answer": r"$u(t)=8.0(1-e^{-t/\tau})$", "part": "3", "kind": "expression"},
    {"answer": r"$\tau=4.0\,\mathrm{ms}$", "part": "3", "kind": "number"},
]
"""Two gold answers of one labelled part, as papers print them: `(3) u(t) = ..., tau = ...`."""


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (r"(3) $u(t)=8.0(1-e^{-t/\tau})$; $\tau=4.0$ ms", (1.0, 1.0)),
        (r"(3) u=8.0(1-e^{-t/\tau}), \tau = 4.0 ms", (1.0, 1.0)),
        (r"$\tau = 4$ ms, $u(t)=8(1-e^{-t/\tau})$", (1.0, 1.0)),
        (r"(1) 6 mA (2) 8 V (3) $u(t)=8.0(1-e^{-t/\tau})$; $\tau=4.1$ ms", (1.0, 1.0)),
        (r"\boxed{u=8.0(1-e^{-t/\tau}),\ \tau=4.0\,\mathrm{ms}}", (1.0, 1.0)),
        (r"(3) \tau = 8 ms; u = 8.0(1-e^{-t/\tau})", (1.0, 0.0)),
        (r"(3) \tau = 4.0 ms", (0.0, 1.0)),
        (r"(1) u(t)=8.0(1-e^{-t/\tau}), \tau=4.0 ms (3) nothing", (0.0, 0.0)),
    ],
)
def test_two_answers_may_share_one_part_label(response, expected):
    verdict = score_problem(response, TWO_IN_PART_3)
    assert tuple(part.credit for part in verdict.parts) == expected
    assert (verdict.outcome == "correct") == (expected == (1.0, 1.0))


def test_an_answer_without_label_takes_the_lowest_free_one():
    gold = [
        {"answer": "$h=6.6$", "part": "2"},
        {"answer": r"$W=1.9\,\mathrm{eV}$", "part": "2"},
        {"answer": r"$5\,\mathrm{Hz}$", "part": None},
    ]
    assert score_problem("(1) 5 Hz (2) h=6.6; W=1.9 eV", gold).outcome == "correct"
    assert score_problem("(2) h=6.6; W=1.9 eV", gold).parts[2].reason == "part.missing"


@pytest.mark.parametrize(
    "response",
    [
        r"(1) $\theta_0\approx60.7^{\circ}$" "\n" r"(2) $\Omega\approx8.7\,\mathrm{rad/s}$",
        r"$\theta_0\approx60.7^{\circ}$, $\Omega\approx8.7\,\mathrm{rad/s}$",
        r"1. \Omega = 8.7 rad/s; 2. \theta_0 = 60.7°",
    ],
)
def test_named_values_may_be_numbered_in_the_response(response):
    gold = [
        {"answer": r"$\theta_0\approx60.7^{\circ}$", "kind": "number"},
        {"answer": r"$\Omega\approx8.7\,\mathrm{rad/s}$", "kind": "number"},
    ]
    assert score_problem(response, gold).outcome == "correct"


MIXED_LABELS = [
    {"answer": r"$h=6.61\times10^{-34}\,\mathrm{J\cdot s}$", "part": "2", "kind": "number"},
    {"answer": r"$W=1.89\,\mathrm{eV}$", "part": "2", "kind": "number"},
    {"answer": r"$\nu_0=4.57\times10^{14}\,\mathrm{Hz}$", "part": "3", "kind": "number"},
]


@pytest.mark.parametrize(
    "response",
    [
        r"$h=6.61\times10^{-34}\,\mathrm{J\cdot s}$, $W=1.89\,\mathrm{eV}$, $\nu_0=4.57\times10^{14}\,\mathrm{Hz}$",
        r"Answer: $h=6.61\times10^{-34}\,\mathrm{J\cdot s}$, $W=1.89$ eV, $\nu_0=4.57\times10^{14}$ Hz",
        r"\boxed{h=6.61e-34 J s, W=1.89 eV, \nu_0=4.57e14 Hz}",
        "- h = 6.61e-34 J s\n- W = 1.89 eV\n- ν_0 = 4.57e14 Hz",
        "h = 6.61e-34 J s and W = 1.89 eV, so ν_0 = 4.57e14 Hz",
        "(1) eU = hν - W (2) h = 6.6e-34 J·s; W = 1.9 eV (3) ν0 = 4.6e14 Hz",
    ],
)
def test_answers_of_several_labels_may_be_given_without_labels(response):
    assert score_problem(response, MIXED_LABELS).outcome == "correct"


def test_greek_letters_and_their_names_are_one_name():
    gold = [
        {"answer": r"$\Delta v\approx0.449v_1$", "part": "1", "kind": "expression"},
        {"answer": r"$t\approx1.98T_1$", "part": "2", "kind": "expression"},
    ]
    assert score_problem("Δv = 0.449 v_1, t = 1.98 T_1", gold).outcome == "correct"


def test_words_among_the_answers_are_matched_in_order():
    gold = [
        {"answer": r"$60\,\mathrm{cm}$ to the right of $L_2$", "kind": "text"},
        {"answer": "$m=-1.5$", "kind": "number"},
        {"answer": "real and inverted", "kind": "text"},
    ]
    response = r"$60\,\mathrm{cm}$ to the right of $L_2$, $m=-1.5$, real and inverted"
    assert score_problem(response, gold).outcome == "correct"


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        ("(1) v = 3.0 m/s (2) x = 0.15 m (3) s = 0.40 m", "correct"),
        ("s = 0.4 m", "correct"),
        ("(3) s = 0.40 m", "correct"),
        ("(3) s = 0.50 m", "incorrect"),
        (r"(1) v = 3 (2) x = 0.15 \boxed{0.40\,m}", "correct"),
        ("(1) v = 3.0 m/s (2) x = 0.15 m (3) s = 0.50 m", "incorrect"),
        ("(1) v = 0.40 m/s (2) x = 0.40 m (3) s = 0.50 m", "incorrect"),
    ],
)
def test_a_full_answer_is_judged_by_the_part_that_has_a_reference(response, outcome):
    gold = [{"answer": r"$s=0.40\,\mathrm{m}$", "part": "3", "kind": "number"}]
    assert score_problem(response, gold).outcome == outcome
