"""Which documents does this build bring, and which stay from builds of other roots?

A root is a file or folder that was named on the command line. A build replaces what earlier builds found under its roots.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from physelite_build.errors import FatalError
from physelite_build.machine.files import RootedDocument
from physelite_build.machine.machine import Machine
from physelite_build.records import Document, Outcome, Record
from physelite_build.stages import order
from physelite_build.stages.discover import Discovery, FoundDocument, discover
from physelite_build.store import Store

__all__ = ["Found", "find_documents", "register"]


class RefusedFiles(Record):
    """Items of one root that belong to no document: files that cannot be used."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What is to be read, and how files ended that belong to no document of this build."""

    documents: tuple[RootedDocument, ...]
    outcomes: tuple[Outcome, ...]


def find_documents(machine: Machine, paths: Sequence[str | Path]) -> Found:
    """Find documents under each root, give them ids that no other root uses, and forget what is gone.

    Args:
        machine: Its store knows the documents of earlier builds; those of other roots that still exist stay.
        paths: Files and folders. A file that is met twice is taken once, and the work folder is never read as scans.

    Returns:
        Documents in order of the roots, and how the other files of the corpus ended.

    Raises:
        FatalError: ``build.own_folder`` if a root is the work folder itself.
    """
    store = machine.store
    roots = list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))  # resolve() would rename a linked folder
    discoveries = dict(_discoveries(machine, roots))
    here = {file.path for found in discoveries.values() for document in found.documents for file in document.files}
    others = {
        doc_id: document
        for doc_id, document in store.all("document", Document).items()
        if _stays(document.root, roots) and here.isdisjoint(_paths_of(document))
    }
    refused = {root: items for root, items in store.all("root", RefusedFiles).items() if _stays(root, roots)}
    kept_files = {item for known in refused.values() for item in known.items}
    store.reset_state(keep_documents=others, keep_files=kept_files)
    outcomes = [o.model_copy(update={"reused": True}) for o in store.outcomes(stage=order.INGEST.name)]
    taken_items, taken_ids = set(kept_files), set(others)
    documents: list[RootedDocument] = []
    for root, discovery in discoveries.items():
        items = []
        for problem in discovery.problems:
            item = _free((problem.name, f"{root.name}/{problem.name}"), taken_items)
            items.append(item)
            outcomes.append(machine.refuse_file(item, problem))
        refused[str(root)] = RefusedFiles(items=tuple(items))
        for found in discovery.documents:
            doc_id = _free((found.doc_id,), taken_ids)
            documents.append(RootedDocument(replace(found, doc_id=doc_id), str(root)))
    store.put("root", refused, replace_kind=True)
    return Found(tuple(documents), tuple(outcomes))


def register(store: Store, made: Sequence[Document]) -> list[Document]:
    """Store the documents of this build behind those of other roots; a copy of an earlier one only points to it."""
    documents = {**store.all("document", Document), **{document.doc_id: document for document in made}}
    first: dict[tuple[str, ...], str] = {}
    marked: dict[str, Document] = {}
    for doc_id, document in documents.items():
        content = store.page_digests(document.page_ids)
        original = first.setdefault(content, doc_id) if content else doc_id
        marked[doc_id] = document.model_copy(update={"copy_of": None if original == doc_id else original})
    store.put("document", marked, replace_kind=True)
    return list(marked.values())


def _discoveries(machine: Machine, roots: Sequence[Path]) -> Iterator[tuple[Path, Discovery]]:
    """Discover each root for itself, without what an earlier one has shown and without the work folder."""
    work = Path(os.path.realpath(machine.store.root))
    seen: set[tuple[str, int | None]] = set()
    refused: set[str] = set()
    for root in roots:
        real = Path(os.path.realpath(root))
        if real == work:
            raise FatalError(
                "build.own_folder", f"{root} is the work folder; name the folder of the scans, or another folder for -o"
            )
        inside = work if work.is_relative_to(real) else None
        found = discover([root], options=machine.ingest_options)
        documents = []
        for document in found.documents:
            files = {
                (os.path.realpath(file.path), file.member.index if file.member else None) for file in document.files
            }
            if not files <= seen and not _lies_in(inside, document):
                documents.append(document)
            seen |= files
        problems = []
        for problem in found.problems:
            where = os.path.realpath(root if root.is_file() else root / problem.name)
            if where not in refused and not (inside and Path(where).is_relative_to(inside)):
                problems.append(problem)
            refused.add(where)
        yield root, Discovery(tuple(documents), tuple(problems))


def _lies_in(folder: Path | None, document: FoundDocument) -> bool:
    return folder is not None and all(
        Path(os.path.realpath(file.path)).is_relative_to(folder) for file in document.files
    )


def _stays(root: str, named: Sequence[Path]) -> bool:
    return Path(root) not in named and Path(root).exists()


def _free(wanted: Sequence[str], taken: set[str]) -> str:
    """Return the first name that is not taken, else the last one with a number, and take it."""
    name = next((name for name in wanted if name not in taken), wanted[-1])
    number, chosen = 1, name
    while chosen in taken:
        number += 1
        chosen = f"{name}-{number}"
    taken.add(chosen)
    return chosen


def _paths_of(document: Document) -> set[Path]:
    root = Path(document.root)
    if root.is_file():
        return {root}
    return {root / name.partition("!/")[0] for name in document.files}
