"""What a program read from the pages, in the form that ``physelite export`` and the baseline share."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from physelite_build.bench.truth import FloatBox
from physelite_build.errors import FatalError, shorten

__all__ = ["ReadDocument", "ReadFigure", "ReadProblem", "parse_records", "read_records"]


@dataclass(frozen=True, slots=True)
class ReadFigure:
    """A diagram as found. Without a usable place it counts as found wrongly, it is never left out."""

    page: int | None
    box: FloatBox | None
    """In pixels of a picture of ``page_size_px``; None if the record holds no proper box."""
    page_size_px: tuple[float, float] | None
    """Width and height; None means the size that the truth states."""
    role: str


@dataclass(frozen=True, slots=True)
class ReadProblem:
    """A problem as read; a missing text is an empty one."""

    number: str
    statement: str
    solution: str
    final_answer: str
    pages: frozenset[int]
    figures: tuple[ReadFigure, ...]


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """All that was read from one document."""

    doc_id: str
    failed: bool
    """True if the record names an error."""
    elapsed_s: float | None
    problems: tuple[ReadProblem, ...]


def read_records(path: Path) -> list[dict[str, Any]]:
    """Read a file of records, one JSON object a line, UTF-8; empty lines are passed over.

    Raises:
        FatalError: ``bench.bad_predictions`` if the file cannot be opened or a line is no JSON object.
    """
    records: list[dict[str, Any]] = []
    try:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if line.strip():
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError(f"line {number} is no object")
                records.append(record)
    except (OSError, ValueError) as error:
        raise FatalError(
            "bench.bad_predictions",
            f"{shorten(path)} is no file of JSON lines: {shorten(error)}; export the records again",
        ) from error
    return records


def parse_records(records: Sequence[Mapping[str, Any]]) -> dict[str, ReadDocument]:
    """Turn records into typed documents by id.

    Args:
        records: ``{"doc_id", "error", "seconds", "problems": [{"number", "statement", "solution", "final_answer", "pages",
            "figures": [{"page", "bbox", "page_size", "role"}]}]}``; everything but ``doc_id`` may be missing.

    Returns:
        Documents in the order given.

    Raises:
        FatalError: ``bench.bad_predictions`` if a record has no ``doc_id``, repeats one or is built differently.

    Source:
        Record form: ``physelite_build/export.py``.
    """
    found: dict[str, ReadDocument] = {}
    for record in records:
        doc_id = record.get("doc_id")
        if not isinstance(doc_id, str) or doc_id in found:
            raise FatalError(
                "bench.bad_predictions",
                f"doc_id {shorten(repr(doc_id))} is missing or repeated; give one record a document",
            )
        try:
            found[doc_id] = _document(doc_id, record)
        except (AttributeError, TypeError, ValueError) as error:
            raise FatalError(
                "bench.bad_predictions",
                f"the record of {shorten(doc_id)} is malformed: {shorten(error)}; export it again",
            ) from error
    return found


def _document(doc_id: str, record: Mapping[str, Any]) -> ReadDocument:
    seconds = record.get("seconds")
    return ReadDocument(
        doc_id=doc_id,
        failed=bool(record.get("error")),
        elapsed_s=float(seconds) if seconds else None,
        problems=tuple(_problem(problem) for problem in record.get("problems") or ()),
    )


def _problem(record: Mapping[str, Any]) -> ReadProblem:
    number = record.get("number")
    return ReadProblem(
        number="" if number is None else str(number),
        statement=str(record.get("statement") or ""),
        solution=str(record.get("solution") or ""),
        final_answer=str(record.get("final_answer") or ""),
        pages=frozenset(int(page) for page in record.get("pages") or ()),
        figures=tuple(_figure(figure) for figure in record.get("figures") or ()),
    )


def _figure(record: Mapping[str, Any]) -> ReadFigure:
    page, size = record.get("page"), _numbers(record.get("page_size"), 2)
    box = _numbers(record.get("bbox"), 4)
    return ReadFigure(
        page=page if isinstance(page, int) else None,
        box=(box[0], box[1], box[2], box[3]) if box else None,
        page_size_px=(size[0], size[1]) if size and min(size) > 0 else None,
        role=str(record.get("role") or "statement"),
    )


def _numbers(values: object, count: int) -> list[float] | None:
    if not isinstance(values, list | tuple) or len(values) != count:
        return None
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in values):
        return None
    return [float(value) for value in values]
