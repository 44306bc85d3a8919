"""Which documents are in the files and folders that were handed in?

First step of a build, before ``ingest.py``. Each folder is judged on its own: one PDF or TIFF, or only page images, is one
document named like the folder; several files of many pages are documents of their own. A zip is judged like a folder.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from natsort import natsort_keygen

from physelite_build.records import SourceNotes
from physelite_build.stages.discover.listing import DiscoveryProblem, ListedFile, ListedFolder, Lister, ScanFile
from physelite_build.stages.ingest import IngestOptions, MediaType

__all__ = ["Discovery", "DiscoveryProblem", "FoundDocument", "ScanFile", "discover"]

_natural = natsort_keygen()


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """Files that belong together, in reading order; there is at least one."""

    doc_id: str
    files: tuple[ScanFile, ...]
    notes: SourceNotes = field(default_factory=SourceNotes)


@dataclass(frozen=True, slots=True)
class Discovery:
    """All documents with unique ids, and everything that cannot be used."""

    documents: tuple[FoundDocument, ...]
    problems: tuple[DiscoveryProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A document before its id is made unique."""

    name: str
    above: str
    """Name of what it lies in: put before the id if two documents have the same name."""
    document: FoundDocument


def discover(paths: Sequence[Path], *, options: IngestOptions | None = None) -> Discovery:
    """Find the documents in files and folders.

    Args:
        paths: Folders, which are walked, and single files. A file or folder that is met twice is taken once.
        options: Limits for files and zips; the defaults of :class:`IngestOptions` if None.

    Returns:
        Documents and problems: roots in the given order, inside each the natural order of names (``2`` before ``10``).
        Problem codes: ``source.missing``, ``source.unreadable``, ``source.empty``, ``source.unknown_type`` (the content is
        none of the known types), ``source.unsupported`` (a type that is not read), ``source.bad_notes``,
        ``source.nested_zip``, ``source.encrypted``, ``source.damaged``, ``source.too_large``, ``source.too_many_members``,
        ``source.zip_bomb``.
    """
    lister = Lister(options or IngestOptions())
    candidates: list[_Candidate] = []
    problems: list[DiscoveryProblem] = []
    for path in paths:
        lister.add(path)
        found = [candidate for folder in lister.folders for candidate in _judged(folder)]
        candidates += sorted(found, key=lambda candidate: _order(candidate.document.files[0].name))
        problems += sorted(lister.problems, key=lambda problem: (_order(problem.name), problem.code))
        lister.folders.clear()
        lister.problems.clear()
    return Discovery(tuple(_with_unique_ids(candidates)), tuple(problems))


def _order(name: str) -> tuple[object, str]:
    return _natural(tuple(name.split("/"))), name


def _judged(folder: ListedFolder) -> Iterator[_Candidate]:
    """Turn the files of one folder into documents."""
    whole = [file for file in folder.files if file.media_type is MediaType.PDF or file.several_pages]
    pages = sorted((file for file in folder.files if file not in whole), key=lambda file: _order(file.base))
    if folder.is_single_file:
        whole, pages = whole + pages, []
    alone = len(whole) == 1 and not pages and not folder.zips and not folder.is_single_file
    for file in whole:
        name, above = (folder.name, folder.parent) if alone else (file.stem, folder.name)
        yield from _candidate(name, above, [file], folder.notes)
    yield from _candidate(folder.name, folder.parent, pages, folder.notes)


def _candidate(name: str, above: str, files: Sequence[ListedFile], notes: SourceNotes) -> Iterator[_Candidate]:
    scans = tuple(file.scan for file in files if file.scan is not None)
    if scans:
        clean = _clean(name)
        yield _Candidate(clean, _clean(above), FoundDocument(clean, scans, notes))


def _clean(name: str) -> str:
    """Return a name as one printable line in normal form C without slashes that can stand on a command line."""
    text = unicodedata.normalize("NFC", name)
    text = "".join(c if c.isprintable() and c not in "/\\" else "_" for c in text).strip()
    if text.startswith("-"):
        text = "_" + text[1:]
    return text if text.strip(".") else "scans"


def _with_unique_ids(candidates: Sequence[_Candidate]) -> Iterator[FoundDocument]:
    """Give ids: the name; where several share it, all of them ``above/name``; if that is taken too, ``-2``, ``-3``, ..."""
    counts = Counter(candidate.name for candidate in candidates)
    taken = {name for name, count in counts.items() if count == 1}
    for candidate in candidates:
        if counts[candidate.name] == 1:
            yield candidate.document
            continue
        wanted = doc_id = f"{candidate.above}/{candidate.name}"
        number = 2
        while doc_id in taken:
            doc_id = f"{wanted}-{number}"
            number += 1
        taken.add(doc_id)
        yield replace(candidate.document, doc_id=doc_id)
