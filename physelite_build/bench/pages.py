"""Measures a set of records against a folder of truths, and shows the result: overall, by language, by document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from physelite_build.bench.compare import compare_document
from physelite_build.bench.measures import MEASURES, Definition, Measure, Tally, add_up, measure_of
from physelite_build.bench.predicted import parse_records, read_records
from physelite_build.bench.truth import TruthDocument, load_truth
from physelite_build.errors import FatalError, shorten

__all__ = ["BenchRow", "PageBench", "as_dict", "as_markdown", "as_tables", "measure", "run_pages_bench"]

OURS, BASELINE = "ours", "baseline"
Records = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class BenchRow:
    """The counts of one system on one group of documents."""

    scope: str
    """``all``, ``language`` or ``document``."""
    group: str
    """``all``, a language tag or a document id."""
    system: str
    """``ours`` or ``baseline``."""
    tally: Tally

    def measure(self, name: str) -> Measure:
        """Work out a measure by its name.

        Raises:
            KeyError: If there is no measure of that name.
        """
        return measure_of(_DEFINITIONS[name], self.tally)


@dataclass(frozen=True, slots=True)
class PageBench:
    """All rows: groups in order all, languages, documents; in each group ours, then the baseline if there is one."""

    rows: tuple[BenchRow, ...]
    unknown_documents: tuple[str, ...]
    """Ids in the records that have no truth; they are not measured."""

    def row(self, *, group: str = "all", system: str = OURS) -> BenchRow:
        """Return one row.

        Raises:
            KeyError: If there is no such row.
        """
        for row in self.rows:
            if (row.group, row.system) == (group, system):
                return row
        raise KeyError(f"no row of {system} for {shorten(group)}")

    def worse_than_baseline(self) -> tuple[str, ...]:
        """Name the measures in which the baseline is better overall, time left out; empty without a baseline."""
        if not any(row.system == BASELINE for row in self.rows):
            return ()
        ours, other = self.row(), self.row(system=BASELINE)
        return tuple(
            d.name
            for d in MEASURES
            if d.name != "seconds_per_page" and _is_worse(d, ours.measure(d.name), other.measure(d.name))
        )


_DEFINITIONS = {definition.name: definition for definition in MEASURES}


def _is_worse(definition: Definition, ours: Measure, other: Measure) -> bool:
    if ours.value is None or other.value is None:
        return False
    return ours.value < other.value if definition.better == "high" else ours.value > other.value


def run_pages_bench(predictions: Path | Records, truth: Path, baseline: Path | Records | None = None) -> PageBench:
    """Measure records that lie in files or in memory.

    Args:
        predictions: Our records, or a file with one JSON record a line.
        truth: Folder of truth files.
        baseline: The baseline's records on the same documents, or their file; None measures ours alone.

    Returns:
        All rows.

    Raises:
        FatalError: If truth or records are missing or malformed (``bench.*``).
    """
    loaded = [read_records(given) if isinstance(given, Path) else given for given in (predictions, baseline or ())]
    return measure(truth, loaded[0], baseline=None if baseline is None else loaded[1])


def measure(truth_folder: Path, predictions: Records, *, baseline: Records | None = None) -> PageBench:
    """Measure records against the truth.

    Args:
        truth_folder: Holds ``<doc_id>/truth.json`` or ``<doc_id>.json``.
        predictions: One record a document; a document without one counts as read empty.
        baseline: Records of the yardstick on the same documents.

    Returns:
        Rows for all documents, each language and each document.

    Raises:
        FatalError: If the truth is missing or malformed, a record is malformed, or no record belongs to the truth
            (``bench.*``).
    """
    truths = load_truth(truth_folder)
    systems = {OURS: parse_records(predictions)}
    if baseline is not None:
        systems[BASELINE] = parse_records(baseline)
    known = {truth.doc_id for truth in truths}
    unknown = sorted({doc_id for read in systems.values() for doc_id in read} - known)
    for name, read in systems.items():
        if read and not known & read.keys():
            raise FatalError(
                "bench.other_documents",
                f"none of the {len(read)} records of {name} has a truth, for example {shorten(unknown[0])}; name the truth of these documents",
            )
    tallies = {
        name: {t.doc_id: compare_document(t, read.get(t.doc_id)) for t in truths} for name, read in systems.items()
    }
    rows = tuple(
        BenchRow(scope, group, name, add_up(tallies[name][doc_id] for doc_id in members))
        for scope, group, members in _groups(truths)
        for name in systems
    )
    return PageBench(rows, tuple(unknown))


def _groups(truths: Sequence[TruthDocument]) -> Iterator[tuple[str, str, list[str]]]:
    yield "all", "all", [truth.doc_id for truth in truths]
    for language in sorted({truth.language for truth in truths}):
        yield "language", language, [truth.doc_id for truth in truths if truth.language == language]
    for truth in truths:
        yield "document", truth.doc_id, [truth.doc_id]


# ---------------------------------------------------------------- showing
def as_dict(bench: PageBench) -> dict[str, Any]:
    """Return the result for JSON: definitions, rows with counts and ``{"value", "n"}`` per measure, unknown documents."""
    return {
        "measures": {d.name: {"meaning": d.meaning, "better": d.better, "n_counts": d.counted} for d in MEASURES},
        "rows": [
            {
                "scope": row.scope,
                "group": row.group,
                "system": row.system,
                "counts": asdict(row.tally),
                "measures": {d.name: asdict(row.measure(d.name)) for d in MEASURES},
            }
            for row in bench.rows
        ],
        "worse_than_baseline": list(bench.worse_than_baseline()),
        "unknown_documents": list(bench.unknown_documents),
    }


def as_markdown(bench: PageBench) -> str:
    """Return the result as Markdown: the overall table with meanings, then one line a group and system.

    Every measure is shown, good or bad, with the number of things behind it in brackets; a dash means nothing to measure.
    """
    systems = [row.system for row in bench.rows if row.scope == "all"]
    lines = [
        "| measure | better | " + " | ".join(systems) + " | n counts | meaning |",
        "|---" * (len(systems) + 4) + "|",
    ]
    for d in MEASURES:
        cells = [_cell(bench.row(system=system).measure(d.name)) for system in systems]
        lines.append(f"| {d.name} | {d.better} | " + " | ".join(cells) + f" | {d.counted} | {d.meaning} |")
    header = ["group", "system", "documents", "failed", "pages", *(d.name for d in MEASURES)]
    lines += ["", "| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    lines += ["| " + " | ".join(_row_cells(row)) + " |" for row in bench.rows]
    return "\n".join([*lines, *_notes(bench, mark="\n")]) + "\n"


def as_tables(bench: PageBench, *, by_document: bool = False) -> list[Table]:
    """Return tables for a terminal, measures as rows: overall and by language, then one per document.

    Args:
        bench: The result.
        by_document: True adds a table per document.
    """
    total = bench.row().tally
    title = f"{total.documents} documents, {total.pages} pages, {total.problems} problems"
    groups = [row.group for row in bench.rows if row.scope != "document"]
    tables = [_table(bench, list(dict.fromkeys(groups)), title=title)]
    tables[0].caption = "\n".join(_notes(bench)) or None
    if by_document:
        documents = dict.fromkeys(row.group for row in bench.rows if row.scope == "document")
        tables += [_table(bench, [group], title=group) for group in documents]
    return tables


def _table(bench: PageBench, groups: Sequence[str], *, title: str) -> Table:
    rows = [row for group in groups for row in bench.rows if row.group == group]
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.add_column("measure")
    table.add_column("better")
    for row in rows:
        table.add_column(row.system if len(groups) == 1 else f"{row.group}\n{row.system}", justify="right")
    for d in MEASURES:
        table.add_row(d.name, d.better, *(_cell(row.measure(d.name)) for row in rows))
    return table


def _row_cells(row: BenchRow) -> list[str]:
    counts = [str(n) for n in (row.tally.documents, row.tally.failed_documents, row.tally.pages)]
    return [row.group, row.system, *counts, *(_cell(row.measure(d.name)) for d in MEASURES)]


def _cell(measure: Measure) -> str:
    return "–" if measure.value is None else f"{measure.value:.3f} ({measure.n})"


def _notes(bench: PageBench, *, mark: str = "") -> list[str]:
    notes = []
    if any(row.system == BASELINE for row in bench.rows):
        worse = bench.worse_than_baseline()
        notes.append(f"{mark}Worse than the baseline: {', '.join(worse) or 'nothing'}.")
    if bench.unknown_documents:
        notes.append(f"{mark}Without truth, not measured: {', '.join(bench.unknown_documents)}.")
    return notes
