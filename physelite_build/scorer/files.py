"""Reads the gold file and the prediction file, and names the line when one is broken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_LINE_CHARS = 4_000_000


class BadFileError(Exception):
    """An input file cannot be used; the message names file and line."""


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """The reference for one part of a problem."""

    part: str | None
    """Label as printed; None when the problem has one part or unlabelled parts."""
    answer: str
    """LaTeX or text as printed, with its unit."""
    kind: str | None
    """Declared kind; None when it is to be judged by its looks."""
    tolerance: float | None
    """Relative tolerance; None for the default of 0.05."""

    def as_mapping(self) -> dict[str, Any]:
        """Return the answer in the form in which `score_problem` takes it."""
        return {"part": self.part, "answer": self.answer, "kind": self.kind, "tolerance": self.tolerance}


@dataclass(frozen=True, slots=True)
class GoldRow:
    """The references of one problem."""

    problem_id: str
    """Public id, for example PE-000001."""
    subject: str | None
    """Field of physics; None when not known."""
    difficulty: int | None
    """Band from 1 to 7; None when not known."""
    answers: tuple[GoldAnswer, ...]
    """One entry for each part, at least one."""


def read_gold(path: Path) -> list[GoldRow]:
    """Read a gold file, JSON Lines.

    Raises:
        BadFileError: If the file is missing, has no rows, a line is broken, or an id stands twice.
    """
    rows: dict[str, GoldRow] = {}
    for number, record in _records(path):
        row = _gold_row(record, f"{path}:{number}")
        if row.problem_id in rows:
            raise BadFileError(
                f"{path}:{number}: the id {row.problem_id!r} stands twice; keep one row for each problem."
            )
        rows[row.problem_id] = row
    if not rows:
        raise BadFileError(f"{path}: there are no gold rows in this file.")
    return list(rows.values())


def read_predictions(path: Path) -> dict[str, str]:
    """Read a prediction file, JSON Lines with `id` and `response`.

    Raises:
        BadFileError: If the file is missing, a line is broken, or an id stands twice.
    """
    found: dict[str, str] = {}
    for number, record in _records(path):
        place = f"{path}:{number}"
        problem_id = _text(record, "id", place)
        if "response" not in record:
            raise BadFileError(f"{place}: there is no 'response'; write one, null where the model gave none.")
        response = record["response"]
        if response is not None and not isinstance(response, str):
            raise BadFileError(f"{place}: 'response' is no text; write the model's answer as a string.")
        if problem_id in found:
            raise BadFileError(f"{place}: the id {problem_id!r} stands twice; give one response for each problem.")
        found[problem_id] = response or ""
    return found


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, _record(line, f"{path}:{number}")
    except UnicodeDecodeError as error:
        raise BadFileError(f"{path}: the file is not UTF-8 text ({error.reason}).") from error
    except OSError as error:
        raise BadFileError(f"{path}: the file cannot be read ({error.strerror or error}).") from error


def _record(line: str, place: str) -> dict[str, Any]:
    if len(line) > MAX_LINE_CHARS:
        raise BadFileError(f"{place}: the line is longer than {MAX_LINE_CHARS} characters.")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadFileError(f"{place}: the line is no JSON ({str(error)[:80]}).") from error
    if not isinstance(record, dict):
        raise BadFileError(f"{place}: the line is no JSON object; write one object with braces on each line.")
    return record


def _text(record: dict[str, Any], field: str, place: str) -> str:
    value = record.get(field)
    if not isinstance(value, str) or not value:
        raise BadFileError(f"{place}: the text field {field!r} is missing or empty.")
    return value


def _gold_row(record: dict[str, Any], place: str) -> GoldRow:
    answers = record.get("answers")
    if not isinstance(answers, list) or not answers:
        raise BadFileError(f"{place}: 'answers' is no list with at least one answer.")
    difficulty = record.get("difficulty")
    if difficulty is not None and not isinstance(difficulty, int):
        raise BadFileError(f"{place}: 'difficulty' is no whole number.")
    subject = record.get("subject")
    if subject is not None and not isinstance(subject, str):
        raise BadFileError(f"{place}: 'subject' is no text.")
    parsed = tuple(_gold_answer(answer, place) for answer in answers)
    return GoldRow(_text(record, "id", place), subject, difficulty, parsed)


def _gold_answer(answer: object, place: str) -> GoldAnswer:
    if not isinstance(answer, dict) or not isinstance(answer.get("answer"), str):
        raise BadFileError(f"{place}: an entry of 'answers' has no text field 'answer'.")
    part, kind, tolerance = answer.get("part"), answer.get("kind"), answer.get("tolerance")
    if part is not None and not isinstance(part, str | int):
        raise BadFileError(f"{place}: 'part' is neither text nor null.")
    if kind is not None and not isinstance(kind, str):
        raise BadFileError(f"{place}: 'kind' is neither text nor null.")
    if tolerance is not None and (isinstance(tolerance, bool) or not isinstance(tolerance, int | float)):
        raise BadFileError(f"{place}: 'tolerance' is neither a number nor null.")
    if tolerance is not None and not 0 <= tolerance < 1:
        raise BadFileError(f"{place}: 'tolerance' is {tolerance}; it has to be at least 0 and below 1.")
    return GoldAnswer(None if part is None else str(part), answer["answer"], kind, tolerance)
