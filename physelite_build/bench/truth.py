"""What really stands on the pages of a sample set. Neighbour of ``predicted.py``, which holds what a program read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from physelite_build.errors import FatalError, shorten

__all__ = ["FloatBox", "TruthDocument", "TruthFigure", "TruthPage", "TruthProblem", "load_truth"]

FloatBox = tuple[float, float, float, float]
"""``(left, top, right, bottom)`` in pixels of the page as a viewer shows it; whole pixels would cost precision."""


@dataclass(frozen=True, slots=True)
class TruthPage:
    """One page and the size of the picture in which its boxes are measured."""

    number: int
    """From 1."""
    width_px: float
    height_px: float


@dataclass(frozen=True, slots=True)
class TruthFigure:
    """A diagram and the text it belongs to."""

    page: int
    box: FloatBox
    """Fitted to the ink, without the caption."""
    box_with_caption: FloatBox | None
    """None where only the ink is known; if given, a reader may find either."""
    role: str
    """``statement`` or ``solution``."""


@dataclass(frozen=True, slots=True)
class TruthProblem:
    """A printed problem. ``None`` means that it is not on these pages and must not be measured."""

    number: str
    """In Arabic digits."""
    language: str
    """``zh`` or ``en``."""
    statement: str | None
    """Plain text with ``$...$`` and ``$$...$$``."""
    solution: str | None
    final_answer: str | None
    pages: frozenset[int]
    figures: tuple[TruthFigure, ...]


@dataclass(frozen=True, slots=True)
class TruthDocument:
    """One document; its problems stand in order of first appearance."""

    doc_id: str
    language: str
    pages: tuple[TruthPage, ...]
    problems: tuple[TruthProblem, ...]

    def page(self, number: object) -> TruthPage | None:
        """Return the page of that number, or None."""
        return next((page for page in self.pages if page.number == number), None)


def load_truth(folder: Path) -> tuple[TruthDocument, ...]:
    """Read every truth file of a sample set.

    Args:
        folder: Holds ``<doc_id>/truth.json`` or ``<doc_id>.json``, UTF-8; other JSON files beside them are passed over.

    Returns:
        Documents sorted by id, at least one.

    Raises:
        FatalError: ``bench.no_truth`` if the folder holds none, ``bench.bad_truth`` if a file cannot be read or lacks a field,
            ``bench.repeated_truth`` if two files describe one document.

    Source:
        Field list: ``data/README.md``, Truth.
    """
    found: dict[str, TruthDocument] = {}
    for path, record in _records(folder):
        try:
            document = _document(record)
        except (KeyError, TypeError, ValueError) as error:
            raise FatalError(
                "bench.bad_truth",
                f"{path.name} of {path.parent.name} is no truth file: {shorten(repr(error))}; mend it",
            ) from error
        if document.doc_id in found:
            raise FatalError("bench.repeated_truth", f"{shorten(document.doc_id)} is described twice; remove one file")
        found[document.doc_id] = document
    if not found:
        raise FatalError(
            "bench.no_truth",
            f"{shorten(folder)} holds neither <document>/truth.json nor <document>.json; name a folder like data/samples/truth",
        )
    return tuple(found[doc_id] for doc_id in sorted(found))


def _records(folder: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for path in (*sorted(folder.glob("*/truth.json")), *sorted(folder.glob("*.json"))):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise FatalError(
                "bench.bad_truth", f"{shorten(path)} cannot be read as JSON: {shorten(error)}; mend or remove it"
            ) from error
        if path.name == "truth.json" or (isinstance(record, dict) and {"doc_id", "pages", "problems"} <= record.keys()):
            yield path, record


def _document(record: Mapping[str, Any]) -> TruthDocument:
    language = str(record.get("language") or "zh")
    return TruthDocument(
        doc_id=str(record["doc_id"]),
        language=language,
        pages=tuple(TruthPage(int(p["page"]), float(p["width"]), float(p["height"])) for p in record["pages"]),
        problems=tuple(_problem(problem, language) for problem in record["problems"]),
    )


def _problem(record: Mapping[str, Any], language: str) -> TruthProblem:
    return TruthProblem(
        number=str(record["number"]),
        language=str(record.get("language") or language),
        statement=record["statement"],
        solution=record.get("solution"),
        final_answer=record.get("final_answer"),
        pages=frozenset(int(page) for page in record["pages"]),
        figures=tuple(_figure(figure) for figure in record.get("figures") or ()),
    )


def _figure(record: Mapping[str, Any]) -> TruthFigure:
    wide = record.get("bbox_with_caption")
    return TruthFigure(
        page=int(record["page"]),
        box=_box(record["bbox"]),
        box_with_caption=_box(wide) if wide else None,
        role=str(record.get("role") or "statement"),
    )


def _box(values: Any) -> FloatBox:
    left, top, right, bottom = (float(value) for value in values)
    return left, top, right, bottom
