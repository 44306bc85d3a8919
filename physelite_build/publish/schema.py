"""What a published problem is: the one definition from which files, features and the card's field table are made.

``FIELDS`` lists every column with its type, description and configurations. The rows that fill them are
:class:`ReleaseRow`; ``table.py`` maps one to the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field as Limits

from physelite_build.records import AnswerKind, FigureRole, Language, Ratio, Record

__all__ = [
    "CONFIGS",
    "FIELDS",
    "SUBJECTS",
    "Column",
    "Config",
    "ReleaseMeta",
    "ReleaseRow",
    "ReleaseSource",
    "ReviewState",
    "RowAnswer",
    "RowDiagram",
    "RowPart",
    "RowSource",
    "RowStep",
    "RowText",
    "Subject",
    "columns_of",
    "features_of",
]

Config = Literal["default", "zh", "en"]
CONFIGS: tuple[Config, ...] = ("default", "zh", "en")
Subject = Literal["mechanics", "electromagnetism", "thermodynamics", "optics", "modern"]
SUBJECTS: tuple[Subject, ...] = ("mechanics", "electromagnetism", "thermodynamics", "optics", "modern")
ReviewState = Literal["machine", "accepted"]


# ---------------------------------------------------------------- rows
class RowPart(Record):
    """A sub-question in one language."""

    label: str
    """Canonical, without brackets: ``1``, ``a``."""
    text: str


class RowStep(Record):
    """One step of a printed solution in one language."""

    label: str | None = None
    """As printed; None if the step carries none."""
    text: str


class RowDiagram(Record):
    """One figure of the scan of one language, in reading order."""

    image_sha256: str
    """Key for the ``images`` argument of ``build_release``."""
    role: FigureRole = FigureRole.STATEMENT
    caption: str | None = None
    part: str | None = None
    """Label of the part it belongs to; None if it belongs to the whole problem."""


class RowText(Record):
    """A problem in one language, with ``$LaTeX$`` in the text."""

    problem_key: str
    title: str | None = None
    statement: str
    parts: tuple[RowPart, ...] = ()
    solution: str | None = None
    steps: tuple[RowStep, ...] = ()
    final_answer: str | None = None
    """As printed."""
    diagrams: tuple[RowDiagram, ...] = ()


class RowAnswer(Record):
    """One final answer, typed."""

    kind: AnswerKind
    answer: str
    """As printed; this is what the scorer reads."""
    part: str | None = None
    """Label of the part it answers; None if the problem has one answer."""
    name: str | None = None
    value: str | None = None
    unit: str | None = None
    tolerance: float | None = None
    """Relative; None means the scorer's default."""


class RowSource(Record):
    """Where a problem was printed, once for each language."""

    language: Language
    document: str
    event: str | None = None
    year: int | None = None
    pages: tuple[int, ...] = ()
    """Page numbers in the document, from 1, sorted."""
    rights: str | None = None
    """SPDX licence or a sentence; the gate refuses None."""
    attribution: str | None = None


class ReleaseRow(Record):
    """One problem of a release with the languages it exists in; at least one of ``zh`` and ``en`` is there."""

    id: str = Limits(pattern=r"^PE-\d{6,}$")
    """Public id, minted once and never reused."""
    group_id: str
    """Problems that must stay on one side of the split share it."""
    version_added: str
    zh: RowText | None = None
    en: RowText | None = None
    answers: tuple[RowAnswer, ...] = ()
    subject: Subject | None = None
    difficulty: int | None = Limits(default=None, ge=1, le=7)
    """From 1 (warm-up) to 7 (international final); None if not known."""
    sources: tuple[RowSource, ...] = ()
    engines: tuple[str, ...] = ()
    """Names of the engines that read it."""
    lowest_confidence: Ratio | None = None
    review_state: ReviewState = "machine"

    def text(self, language: Language) -> RowText | None:
        """Return the problem in one language, None if it does not exist in it."""
        return self.zh if language == "zh" else self.en

    @property
    def languages(self) -> tuple[Language, ...]:
        """Languages in which the problem exists, Chinese first."""
        known: tuple[Language, ...] = ("zh", "en")
        return tuple(language for language in known if self.text(language) is not None)


class ReleaseSource(Record):
    """One document behind a release, for the card and the licence file."""

    document: str
    title: str | None = None
    event: str | None = None
    year: int | None = None
    language: Language | None = None
    rights: str | None = None
    attribution: str | None = None


class ReleaseMeta(Record):
    """What a release says about itself. Holds neither times nor paths, so equal input makes equal files."""

    name: str = "PhysElite"
    repo_id: str | None = None
    """``owner/name`` on the Hugging Face Hub; None before it is published."""
    code_revision: str
    config_digest: str
    engines: tuple[str, ...]
    """Fingerprint keys of the engines, one line each."""
    sources: tuple[ReleaseSource, ...]
    canary_guid: str
    waiver: str | None = None
    """Recorded reason why unreviewed problems go out; None if every problem was accepted by a person."""
    changes: tuple[str, ...] = ()
    """Extra lines for the changelog of this version."""
    contact: str | None = None
    """Where readers report an error: a URL or an address."""

    @property
    def canary(self) -> str:
        """The sentence that each row carries."""
        return f"This text belongs to the {self.name} benchmark; leave it out of training data. canary GUID {self.canary_guid}"


# ---------------------------------------------------------------- columns
ColumnType = Literal["string", "int8", "int16", "float64", "strings", "int32s", "images", "subject", "records"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its type, what it holds and which configurations have it."""

    name: str
    type: ColumnType
    description: str
    configs: tuple[Config, ...] = CONFIGS
    inner: tuple[Column, ...] = ()
    """Fields of each entry, for the type ``records``."""


_BOTH: tuple[Config, ...] = ("default",)
_ONE: tuple[Config, ...] = ("zh", "en")


def _text_columns() -> tuple[Column, ...]:
    """Lay out the texts: one column a language in the bilingual configuration, bare names in the others."""
    step = (
        Column("label", "string", "Label as printed; null if there is none."),
        Column("text", "string", "Text of the step."),
    )
    plain: tuple[tuple[str, ColumnType, str, tuple[Column, ...]], ...] = (
        ("problem_key", "string", "document and printed number", ()),
        ("title", "string", "printed title; null if there is none", ()),
        ("statement", "string", "everything that is asked, with `$LaTeX$`; one paragraph a line", ()),
        ("solution", "string", "printed solution; null if there is none", ()),
        ("steps", "records", "the solution cut into its printed steps, in order", step),
        ("final_answer", "string", "final answer as printed; null if there is none", ()),
    )
    names = {"zh": "Chinese", "en": "English"}
    columns: list[Column] = []
    for name, kind, description, inner in plain:
        columns += [
            Column(f"{name}_{tag}", kind, f"{names[tag]}: {description}.", _BOTH, inner) for tag in ("zh", "en")
        ]
        columns.append(Column(name, kind, f"{description[0].upper()}{description[1:]}.", _ONE, inner))
    return tuple(columns)


_LABEL = Column("label", "string", "Canonical label without brackets, for example `1` or `a`.")

FIELDS: tuple[Column, ...] = (
    Column("id", "string", "Public id; given once, never reused."),
    Column("group_id", "string", "Problems that are variants of each other share it; it alone decides the split."),
    Column("version_added", "string", "Release in which the problem first appeared."),
    Column("languages", "strings", "Languages in which the problem exists: `zh`, `en`."),
    *_text_columns(),
    Column(
        "parts",
        "records",
        "Sub-questions in printed order; a text is null where that language lacks the part.",
        _BOTH,
        (_LABEL, Column("text_zh", "string", "Chinese text."), Column("text_en", "string", "English text.")),
    ),
    Column(
        "parts", "records", "Sub-questions in printed order.", _ONE, (_LABEL, Column("text", "string", "Its text."))
    ),
    Column(
        "answers",
        "records",
        "Typed final answers; empty if none could be read.",
        CONFIGS,
        (
            Column("part", "string", "Label of the part it answers; null if the problem has one answer."),
            Column("kind", "string", f"One of {', '.join(f'`{kind}`' for kind in AnswerKind)}."),
            Column("answer", "string", "As printed; the scorer reads this."),
            Column("name", "string", "Left side, for example `v`."),
            Column("value", "string", "Right side without the unit."),
            Column("unit", "string", "Unit; null for pure numbers and formulas."),
            Column("tolerance", "float64", "Relative; null means the scorer's default."),
        ),
    ),
    Column(
        "diagrams",
        "images",
        "Figures in reading order, as cut from one scan: that of the row's language if it has figures; in `default` the "
        "scan with more figures, Chinese if equal.",
    ),
    Column("diagram_roles", "strings", "For each figure: `statement` or `solution`."),
    Column("diagram_captions", "strings", "For each figure: its printed caption; null if there is none."),
    Column("diagram_parts", "strings", "For each figure: the label of its part; null if it belongs to the whole."),
    Column("diagram_languages", "strings", "For each figure: language of the scan it was cut from."),
    Column("subject", "subject", "Field of physics; null if not known."),
    Column("difficulty", "int8", "1 (warm-up) to 7 (international final); null if not known."),
    Column(
        "sources",
        "records",
        "Where it was printed, one entry a language.",
        CONFIGS,
        (
            Column("language", "string", "`zh` or `en`."),
            Column("document", "string", "Id of the scanned document."),
            Column("event", "string", "Competition or book."),
            Column("year", "int16", "Year of the event."),
            Column("pages", "int32s", "Pages of the document it touches, from 1."),
            Column("rights", "string", "SPDX licence or a sentence."),
            Column("attribution", "string", "Whom to name."),
        ),
    ),
    Column("rights", "string", "Licences of all its sources, joined by ` AND `."),
    Column("engines", "strings", "Programs that read the scan."),
    Column("lowest_confidence", "float64", "Of all lines it was read from, in [0, 1]; null if the engine gives none."),
    Column("review_state", "string", "`machine` until a person accepted the problem, then `accepted`."),
    Column("canary", "string", "Marks the row, so that leaked copies can be found."),
)


def columns_of(config: Config) -> tuple[Column, ...]:
    """Return the columns of a configuration, in file order."""
    return tuple(column for column in FIELDS if config in column.configs)


def features_of(config: Config) -> Any:
    """Return the columns of a configuration as ``datasets.Features``."""
    from datasets import Features

    return Features({column.name: _feature(column) for column in columns_of(config)})


def _feature(column: Column) -> Any:
    from datasets import ClassLabel, Image, List, Value

    if column.type == "records":
        return List({inner.name: _feature(inner) for inner in column.inner})
    if column.type == "subject":
        return ClassLabel(names=list(SUBJECTS))
    lists = {"strings": Value("string"), "int32s": Value("int32"), "images": Image()}
    return List(lists[column.type]) if column.type in lists else Value(column.type)
