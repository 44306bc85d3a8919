"""Which test pages are made: problems, typefaces and kinds of input dealt to two halves, and the look of each document.

One half is for tuning, the other is held out. They share no problem and no set of typefaces, so no such
set with the same kind; a single family may occur in both. Everything follows from the seed; compose.py and damage.py carry a plan out.
"""

from __future__ import annotations

import itertools
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

__all__ = ["FACES", "HALVES", "HEADINGS", "KINDS", "DocumentPlan", "Face", "Half", "Heading", "Look", "plan_documents"]

Half = Literal["tune", "held-out"]
Language = Literal["zh", "en"]
Answers = Literal["in place", "at the end", "none"]

HALVES: tuple[Half, ...] = ("tune", "held-out")
KINDS_OF_BOTH = ("pdf", "flatbed", "photocopy", "photo", "fax", "low-res")
"""What is met most often; both halves have it, in other sets of typefaces."""
KINDS = (
    *KINDS_OF_BOTH,
    "png-150",
    "png-200",
    "png-300",
    "bleed-through",
    "two-up",
    "sideways",
    "stamped",
    "watermark",
    "marked",
    "cmyk",
    "halftone",
    "grey-600",
)
"""Kinds of input; damage.py has one recipe for each. Those not of both halves are dealt."""
PROBLEMS_OF_KIND = {"two-up": 3, "grey-600": 1}
"""A spread needs two full pages; one page at 600 dpi is slow enough."""


@dataclass(frozen=True, slots=True)
class Face:
    """Typefaces of a document: for words, and for formulas."""

    language: Language
    words: str
    """CSS families, the Latin one first, so that it sets the digits of a Chinese text too."""
    formulas: str
    """A family with OpenType MATH table for MathML, or ``KaTeX``: KaTeX's own Computer Modern."""


FACES = (
    Face("zh", '"Liberation Serif", "Noto Serif CJK SC"', "KaTeX"),
    Face("zh", '"Liberation Sans", "Noto Sans CJK SC"', "TeX Gyre Termes Math"),
    Face("zh", '"TeX Gyre Termes", "AR PL SungtiL GB"', "STIX Math"),
    Face("zh", '"LM Roman 10", "AR PL KaitiM GB"', "Latin Modern Math"),
    Face("zh", '"TeX Gyre Bonum", "AR PL UMing CN"', "TeX Gyre Bonum Math"),
    Face("zh", '"TeX Gyre Pagella", "AR PL UKai CN"', "TeX Gyre Pagella Math"),
    Face("zh", '"DejaVu Serif", "WenQuanYi Zen Hei"', "KaTeX"),
    Face("zh", '"TeX Gyre Schola", "WenQuanYi Micro Hei"', "TeX Gyre Schola Math"),
    Face("en", '"LM Roman 10"', "Latin Modern Math"),
    Face("en", '"Liberation Serif"', "KaTeX"),
    Face("en", '"TeX Gyre Termes"', "TeX Gyre Termes Math"),
    Face("en", '"TeX Gyre Pagella"', "TeX Gyre Pagella Math"),
    Face("en", '"Linux Libertine O"', "STIX Math"),
    Face("en", '"DejaVu Serif"', "TeX Gyre DejaVu Math"),
    Face("en", '"TeX Gyre Schola"', "TeX Gyre Schola Math"),
    Face("en", '"STIXGeneral"', "STIX Math"),
    Face("en", '"EB Garamond"', "KaTeX"),
    Face("en", '"TeX Gyre Bonum"', "TeX Gyre Bonum Math"),
)


@dataclass(frozen=True, slots=True)
class Heading:
    """How an event prints the number of a problem: fields ``{n}``, ``{han}``, ``{points}`` and ``{title}``."""

    full: str
    short: str
    """Before a solution at the end of the paper."""
    number: str = "{n}"
    run_in: bool = False
    """The statement goes on in the same row."""


HEADINGS: dict[Language, tuple[Heading, ...]] = {
    "zh": (
        Heading("第{n}题（{points}分）{title}", "第{n}题"),
        Heading("{han}、（{points}分）", "{han}、", run_in=True),
        Heading("【例{n}】", "【例{n}】", run_in=True),
        Heading("{n}．（{points}分）", "{n}．", run_in=True),
        Heading("第{han}题　{title}（本题{points}分）", "第{han}题"),
        Heading("题{n}　{title}（{points}分）", "题{n}"),
    ),
    "en": (
        Heading("Problem {n}. {title} ({points} points)", "Problem {n}"),
        Heading("Question {n} [{points} marks]", "Question {n}"),
        Heading("Theoretical Problem T{n}: {title} [{points} points]", "Problem T{n}", number="T{n}"),
        Heading("Q{n}. {title} ({points} pts)", "Q{n}."),
        Heading("A{n}. ({points} points) ", "A{n}.", number="A{n}", run_in=True),
        Heading("{n}. ", "{n}.", run_in=True),
    ),
}
PART_MARKS: dict[Language, tuple[str, ...]] = {"zh": ("（{n}）", "({n}) "), "en": ("({n}) ", "({a}) ", "{a}) ")}
STEP_MARKS: dict[Language, tuple[str, ...]] = {"zh": ("{circled}", "第{n}步：", ""), "en": ("Step {n}. ", "")}
FEET: dict[Language, tuple[str, ...]] = {
    "zh": ("第 {page} 页　共 {pages} 页", "— {page} —", "物理训练题　{page}/{pages}"),
    "en": ("Page {page} of {pages}", "{page}", "Physics training paper – {page}"),
}
HEADS: dict[Language, tuple[str, ...]] = {
    "zh": ("", "高中物理竞赛训练　理论部分", "物理集训队　内部资料"),
    "en": ("", "Physics Olympiad Training – Theory", "National Selection Camp"),
}


@dataclass(frozen=True, slots=True)
class Look:
    """Everything about a document's appearance but its typefaces."""

    heading: Heading
    part_mark: str
    step_mark: str
    head: str
    """Running head; empty for none."""
    foot: str
    columns: Literal[1, 2]
    floating_figures: bool
    """Figures stand at the right and text wraps around them."""
    answers: Answers
    front_matter: bool
    """Fields for the candidate and rules of the exam come first."""
    font_px: float
    """Size of words in CSS pixels."""


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """One document to be made."""

    doc_id: str
    half: Half
    kind: str
    language: Language
    face: Face
    items: tuple[str, ...]
    """Ids of its problems, in printed order."""
    look: Look
    seed: int
    """Of its damage."""


T = TypeVar("T")


def _deck(rng: random.Random, cards: Sequence[T]) -> Iterator[T]:
    """Deal shuffled cards over and over, so that none is left out for long."""
    return itertools.cycle(rng.sample(cards, len(cards)))


def plan_documents(problem_ids: Sequence[str], *, seed: int) -> list[DocumentPlan]:
    """Deal problems, typefaces and kinds to both halves and give each document a look.

    Args:
        problem_ids: At least six; each has both languages.
        seed: Of all draws.

    Returns:
        Twelve documents of ``tune``, then twelve of ``held-out``.

    Raises:
        ValueError: If a half would not have the three problems that its longest document needs.
    """
    middle = len(problem_ids) // 2
    if middle < 3:
        raise ValueError(f"{len(problem_ids)} problems are too few for two halves; give at least 6.")
    rng = random.Random(seed)  # noqa: S311
    problems = rng.sample(sorted(problem_ids), len(problem_ids))
    rare = rng.sample([kind for kind in KINDS if kind not in KINDS_OF_BOTH], len(KINDS) - len(KINDS_OF_BOTH))
    faces = rng.sample(FACES, len(FACES))
    documents: list[DocumentPlan] = []
    for half in HALVES:
        first = half == "tune"
        mine = problems[:middle] if first else problems[middle:]
        own_rare = rare[: len(rare) // 2] if first else rare[len(rare) // 2 :]
        own_kinds = rng.sample([*KINDS_OF_BOTH, *own_rare], len(KINDS_OF_BOTH) + len(own_rare))
        own_faces: list[Face] = []
        for language in HEADINGS:
            of_language = [face for face in faces if face.language == language]
            cut = len(of_language) // 2
            own_faces += of_language[:cut] if first else of_language[cut:]
        documents += _half(half, mine, own_kinds, own_faces, rng, seed)
    return documents


def _half(
    half: Half, problems: Sequence[str], kinds: Sequence[str], faces: Sequence[Face], rng: random.Random, seed: int
) -> Iterator[DocumentPlan]:
    items: dict[Language, Iterator[str]] = {language: _deck(rng, problems) for language in HEADINGS}
    face = {language: _deck(rng, [f for f in faces if f.language == language]) for language in HEADINGS}
    looks = {language: _looks(language, rng) for language in HEADINGS}
    languages: Iterator[Language] = itertools.cycle(("zh", "en"))
    for index, (kind, language) in enumerate(zip(kinds, languages, strict=False), start=1):
        look = next(looks[language])
        count = PROBLEMS_OF_KIND.get(kind, 3 if look.answers == "none" else 2)
        doc_id = f"{half}-{index:02d}-{kind}-{language}"
        yield DocumentPlan(
            doc_id=doc_id,
            half=half,
            kind=kind,
            language=language,
            face=next(face[language]),
            items=tuple(itertools.islice(items[language], count)),
            look=look,
            seed=zlib.crc32(f"{seed} {doc_id}".encode()),
        )


def _looks(language: Language, rng: random.Random) -> Iterator[Look]:
    heading, head, foot = (_deck(rng, cards[language]) for cards in (HEADINGS, HEADS, FEET))
    part_mark, step_mark = _deck(rng, PART_MARKS[language]), _deck(rng, STEP_MARKS[language])
    columns: Iterator[Literal[1, 2]] = _deck(rng, (1, 1, 2))
    answers: Iterator[Answers] = _deck(rng, ("in place", "at the end", "in place", "none"))
    floating, front_matter = _deck(rng, (True, False)), _deck(rng, (True, False, False))
    font_px = _deck(rng, (13.5, 14.5, 15.5, 16.5))
    while True:
        columns_now = next(columns)
        floats = next(floating)
        yield Look(
            heading=next(heading),
            part_mark=next(part_mark),
            step_mark=next(step_mark),
            head=next(head),
            foot=next(foot),
            columns=columns_now,
            floating_figures=floats and columns_now == 1,
            answers=next(answers),
            front_matter=next(front_matter),
            font_px=next(font_px),
        )
