"""Every stored type. Frozen pydantic models that refuse unknown fields; ``None`` always means *not known*.

Order of the file is the order of the pipeline: Source -> Page -> PageText -> PageLayout -> Problem -> Pair -> Finding.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from physelite_build.geometry import Box, Transform

__all__ = [
    "Answer",
    "AnswerKind",
    "Char",
    "Correction",
    "Document",
    "DocumentProblems",
    "Entries",
    "Entry",
    "Figure",
    "FigureRole",
    "Finding",
    "Findings",
    "Fingerprint",
    "Formula",
    "Language",
    "Line",
    "Outcome",
    "Page",
    "PageLayout",
    "PageText",
    "Pair",
    "PairDecision",
    "Pairs",
    "Part",
    "Place",
    "Problem",
    "Record",
    "Region",
    "RegionKind",
    "ScreenVerdict",
    "Severity",
    "Source",
    "SourceNotes",
    "SourcePages",
    "Span",
    "Status",
    "Step",
    "Upright",
]

Ratio = Annotated[float, Field(ge=0, le=1)]
Language = Literal["en", "zh"]
"""BCP 47 primary tags of the two corpus languages; ``zh`` is simplified unless the text says otherwise."""


class Record(BaseModel):
    """Base of all stored types."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Status(StrEnum):
    """How one item ended in one stage."""

    DONE = "done"
    EMPTY = "empty"
    REJECTED = "rejected"
    FAILED = "failed"
    SKIPPED = "skipped"


class Outcome(Record):
    """How one item ended in one stage, and where its result lies."""

    stage: str
    item_id: str
    status: Status
    code: str | None = None
    """Stable dotted code of what went wrong or why it was put aside."""
    message: str | None = None
    """One sentence for people."""
    output_sha256: str | None = None
    """Digest of the stored result; input of the next stage's key."""
    elapsed_s: float = 0.0
    """Seconds that the work took when it was really done."""
    reused: bool = False
    """True if the result was already in the store."""


class Fingerprint(Record):
    """What an engine is: enough to know whether its results could differ."""

    name: str
    version: str
    models: tuple[str, ...] = ()
    """``name:sha256`` (first 16 hex digits) of every weights file."""
    device: str = "cpu"

    @property
    def key(self) -> str:
        """One line for cache keys and reports."""
        return " ".join((self.name, self.version, self.device, *self.models))


# ---------------------------------------------------------------- ingest
class SourceNotes(Record):
    """What a maintainer wrote into ``source.toml`` beside the scans."""

    title: str | None = None
    event: str | None = None
    year: int | None = None
    language: Language | None = None
    rights: str | None = None
    """SPDX licence or a sentence; a release refuses problems without it."""
    attribution: str | None = None


class Source(Record):
    """One file that was handed in. The same bytes twice are one source."""

    sha256: str
    name: str
    """File name relative to the folder given on the command line, with ``/``; for a zip member ``a.zip!/b.png``."""
    media_type: str
    size_bytes: int


class Page(Record):
    """One page as a viewer shows it: EXIF orientation and ``/Rotate`` applied."""

    page_id: str
    """``<doc_id>/p<number>``, for example ``own-pair-zh/p2``."""
    doc_id: str
    number: int = Field(ge=1)
    """Position in the document, from 1."""
    source_sha256: str
    source_frame: int = Field(ge=1)
    """Page or frame inside the file, from 1."""
    image_sha256: str
    """Blob of the page image, PNG."""
    width_px: int
    height_px: int
    dpi: float | None = None


class SourcePages(Record):
    """The page images of one file, in order; ``page_id`` and numbers are given later by the document."""

    media_type: str
    images: tuple[PageImage, ...]


class PageImage(Record):
    """One decoded page of a file."""

    frame: int = Field(ge=1)
    sha256: str
    width_px: int
    height_px: int
    dpi: float | None = None


class Document(Record):
    """Pages that belong together, in reading order."""

    doc_id: str
    notes: SourceNotes = SourceNotes()
    root: str = ""
    """Folder that was named on the command line; a build of the same folder replaces its documents."""
    files: tuple[str, ...] = ()
    """Names of its sources, relative to the root."""
    page_ids: tuple[str, ...] = ()
    copy_of: str | None = None
    """Id of an earlier document with the same bytes; it is not read again."""


# ---------------------------------------------------------------- screen, straighten, read
class ScreenVerdict(Record):
    """Why a page is kept or put aside."""

    keep: bool
    code: str | None = None
    message: str | None = None
    ink: Ratio = 0.0
    """Share of dark pixels."""
    look: str = ""
    """Perceptual fingerprint, by which a repeated page is found."""


class Upright(Record):
    """The page turned upright, deskewed, with even shading: the picture in which everything is read."""

    image_sha256: str
    width_px: int
    height_px: int
    turned_deg: Literal[0, 90, 180, 270] = 0
    """Clockwise turn that was undone."""
    skew_deg: float = 0.0
    """Rotation that was undone, counter-clockwise positive."""
    to_page: Transform = Transform()
    """Map from upright pixels to page pixels."""


class Char(Record):
    """One recognised character or word piece with its place."""

    text: str
    box: Box


class Line(Record):
    """One line as the text engine returned it, in upright pixels."""

    text: str
    box: Box
    confidence: Ratio | None
    chars: tuple[Char, ...] = ()
    """Characters (Chinese) or words (Latin) with approximate boxes; empty if the engine gives none."""


class PageText(Record):
    """All lines of one page in the engine's order."""

    lines: tuple[Line, ...]
    engine: Fingerprint


# ---------------------------------------------------------------- layout
class RegionKind(StrEnum):
    """What a region of a page holds."""

    TEXT = "text"
    FORMULA = "formula"
    FIGURE = "figure"
    CAPTION = "caption"
    TABLE = "table"
    FURNITURE = "furniture"
    """Running heads, page numbers, watermarks, stamps: kept, never published."""


class Place(Record):
    """Where one stretch of a region's text stands on paper."""

    start: int = Field(ge=0)
    """Offset of its first character in the text of the region."""
    end: int = Field(ge=0)
    """Offset behind its last character."""
    box: Box
    """In upright pixels; of a formula as a whole."""


class Formula(Record):
    """One formula of a region, as read."""

    latex: str
    """Without delimiters."""
    box: Box
    """Its ink, in upright pixels."""
    start: int = Field(ge=0, default=0)
    """Offset of its first character in the text of its region, behind the dollar sign."""
    display: bool = False
    confidence: Ratio | None = None
    """Probability that the LaTeX is right; None if nothing could judge it."""
    verified: bool = False
    """True if, typeset again, it looks like the picture; what is not verified is for a person to look at."""
    engine: str | None = None
    """Name of the engine whose reading was chosen."""
    alternatives: tuple[str, ...] = ()
    """Other readings, best first."""


class Region(Record):
    """One piece of a page: a row of text in one column, a display formula, a figure, ... in upright pixels."""

    kind: RegionKind
    box: Box
    order: int = Field(ge=0)
    """Position in reading order on the page, from 0."""
    column: int = Field(ge=0, default=0)
    """Column of the page, from 0 at the left."""
    text: str = ""
    """Transcription: plain text with ``$...$``; LaTeX without delimiters for formulas; empty for figures."""
    confidence: Ratio | None = None
    """Lowest confidence of what was read; for figures that of the detector; None if not known."""
    engine: str | None = None
    """Name of the engine that read or found it."""
    indent_px: int = 0
    """Distance from the left edge of its column."""
    line_indexes: tuple[int, ...] = ()
    """Which lines of the page's :class:`PageText` it is made of, in reading order."""
    formulas: tuple[Formula, ...] = ()
    """What stands in dollar signs in the text, in order; of a formula region the formula itself."""
    places: tuple[Place, ...] = ()
    """Where the characters of the text stand, in order; stretches without ink (blanks, dollar signs) have none."""


class PageLayout(Record):
    """Everything on one page in reading order."""

    page_width_px: int
    page_height_px: int
    regions: tuple[Region, ...]
    columns: int = 1


# ---------------------------------------------------------------- problems
class Span(Record):
    """Where a piece of a published field stands on paper."""

    field: str
    """``statement``, ``solution``, ``answer``, ``number``."""
    page_id: str
    box: Box
    """In upright pixels of that page."""
    confidence: Ratio | None = None
    engine: str | None = None


class Part(Record):
    """A sub-question, with its label as printed."""

    label: str
    """Canonical label without brackets: ``1``, ``a``."""
    text: str
    points: float | None = None


class Step(Record):
    """One numbered or separated step of a solution."""

    label: str | None
    text: str


class FigureRole(StrEnum):
    """Which text a figure belongs to."""

    STATEMENT = "statement"
    SOLUTION = "solution"


class Figure(Record):
    """A diagram, cut out of its page."""

    figure_id: str
    """``<page_id>/f<k>``, k from 1 in reading order."""
    page_id: str
    box: Box
    """In upright pixels, fitted to the ink, without the caption."""
    image_sha256: str
    """Blob of the crop, PNG."""
    width_px: int
    height_px: int
    caption: str | None = None
    label: str | None = None
    """Printed figure number, for example ``2``."""
    role: FigureRole = FigureRole.STATEMENT
    problem_key: str | None = None
    part: str | None = None
    link_rule: str | None = None
    """``mention`` (the text names it), ``caption``, ``position`` (it stands inside the problem)."""
    link_score: Ratio | None = None


class AnswerKind(StrEnum):
    """What a final answer is."""

    NUMBER = "number"
    EXPRESSION = "expression"
    EQUATION = "equation"
    INTERVAL = "interval"
    CHOICE = "choice"
    TRUE_FALSE = "true_false"
    TEXT = "text"


class Answer(Record):
    """One final answer, typed, beside its printed form."""

    kind: AnswerKind
    printed: str
    """As read from the page; the scorer reads this."""
    part: str | None = None
    """Label of the part it answers; None if the problem has one answer."""
    name: str | None = None
    """Left side, for example ``v``."""
    value: str | None = None
    """Right side without the unit."""
    unit: str | None = None
    tolerance: float | None = None
    """Relative; None means the scorer's default."""
    confidence: Ratio | None = None


class Problem(Record):
    """One problem of one document in one language, as read."""

    key: str
    """``<doc_id>#<number>``; a repeated number gets ``.2``, ``.3``."""
    doc_id: str
    number: str
    """As printed, in Arabic digits: 1 also for 第1题, 一、 or Problem 1."""
    language: Language
    title: str | None = None
    points: float | None = None
    statement: str
    """Everything that is asked, with the printed part labels, one paragraph a line."""
    parts: tuple[Part, ...] = ()
    solution: str | None = None
    steps: tuple[Step, ...] = ()
    final_answer: str | None = None
    """As printed."""
    pages: tuple[int, ...] = ()
    """Page numbers it touches, sorted."""
    spans: tuple[Span, ...] = ()
    figures: tuple[Figure, ...] = ()
    answers: tuple[Answer, ...] = ()
    confidence: Ratio | None = None
    """Lowest of its spans."""


class DocumentProblems(Record):
    """All problems of one document in order of appearance."""

    doc_id: str
    problems: tuple[Problem, ...]
    unplaced_figures: tuple[Figure, ...] = ()
    """Figures that belong to no problem; they go to review."""


# ---------------------------------------------------------------- corpus
class PairDecision(StrEnum):
    """What two problems are to each other."""

    SAME = "same"
    ASK = "ask"
    TRANSLATION = "translation"


class Pair(Record):
    """Two problems that were found alike."""

    left: str
    right: str
    decision: PairDecision
    similarity: Ratio
    rule: str
    """Short reason, for example ``text>=0.95`` or ``numbers differ``."""


class Pairs(Record):
    """Pairs that one stage found."""

    pairs: tuple[Pair, ...]


class Entry(Record):
    """One problem of the corpus: what becomes one row of a release."""

    key: str
    """Key of its leading problem: the Chinese one if there is one."""
    zh: str | None = None
    en: str | None = None
    """Keys of the two texts; None is a slot for a translation."""
    duplicates: tuple[str, ...] = ()
    """Keys of problems that are the same as one of the texts and give way to it."""
    similarity: Ratio | None = None
    """How sure it is that the two texts are one problem; None with one text."""


class Entries(Record):
    """The corpus after alignment and removal of duplicates, in order of documents and numbers."""

    entries: tuple[Entry, ...]
    pairs: tuple[Pair, ...] = ()


class Findings(Record):
    """What the checks noticed, in order of entries."""

    findings: tuple[Finding, ...]


class Severity(StrEnum):
    """Whether a finding stops a release."""

    BLOCK = "block"
    WARN = "warn"


class Finding(Record):
    """Something a check noticed."""

    subject: str
    code: str
    severity: Severity
    message: str


class Correction(Record):
    """A human decision; appended, never overwritten."""

    subject: str
    """Id of the page or problem."""
    field: str
    value: str
    author: str
    reason: str
    at: str
    """ISO 8601 UTC; given by the caller."""


SourcePages.model_rebuild()
Findings.model_rebuild()
