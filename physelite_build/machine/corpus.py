"""Work on the corpus: pair translations, remove duplicates and check, over all problems at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from physelite_build.attempt import Aside, StageRun
from physelite_build.blobs import sha256_of
from physelite_build.config import Settings
from physelite_build.machine.items import ItemRunner
from physelite_build.records import Document, DocumentProblems, Entries, Findings, Outcome, Pairs, Problem, Status
from physelite_build.stages import order
from physelite_build.stages.align import find_translations, make_entries
from physelite_build.stages.check import check_corpus
from physelite_build.stages.dedup import find_duplicates
from physelite_build.store import Store

__all__ = ["CORPUS", "problems_of", "process_corpus"]

CORPUS = "corpus"
"""Item id of stages that look at all problems at once."""


def problems_of(store: Store, documents: Iterable[Document]) -> list[Problem]:
    """Return all problems of the documents in order."""
    found: list[Problem] = []
    for document in documents:
        made = store.load(order.ANSWERS.name, document.doc_id, DocumentProblems)
        found += made.problems if made else ()
    return found


def process_corpus(runner: ItemRunner, documents: Sequence[Document], settings: Settings) -> list[Outcome]:
    """Align, deduplicate and check all problems; publish entries, pairs and findings to the store.

    If one of the stages fails, no entry is published: a release must not be made of an older corpus.
    """
    problems = problems_of(runner.store, documents)
    digest = sha256_of("\n".join(p.model_dump_json() for p in problems).encode())
    aligned = runner.run(order.ALIGN, CORPUS, [digest], lambda: Pairs(pairs=find_translations(problems)))
    if aligned.output is None:
        _publish(runner.store, Entries(entries=()), None)
        return [aligned.outcome]
    rules = settings.dedup
    merged = runner.run(
        order.DEDUP,
        CORPUS,
        [digest, aligned.outcome.output_sha256 or ""],
        lambda: make_entries(
            problems,
            aligned.load(Pairs).pairs,
            find_duplicates(problems, same=rules.same, ask=rules.ask),
            max_removal=rules.max_removal,
        ),
        options=rules.key,
    )
    if merged.output is None:
        _publish(runner.store, Entries(entries=()), None)
        return [aligned.outcome, merged.outcome]
    entries = merged.load(Entries)
    notes = sha256_of("\n".join(d.notes.model_dump_json() for d in documents).encode())
    checked = runner.run(
        order.CHECK,
        CORPUS,
        [digest, merged.outcome.output_sha256 or "", notes],
        lambda: check_corpus(
            entries,
            {p.key: p for p in problems},
            {d.doc_id: d for d in documents},
            least_confidence=settings.check.least_confidence,
        ),
        options=settings.check.key,
    )
    _publish(runner.store, entries, checked)
    return [aligned.outcome, merged.outcome, *_note_duplicates(runner, entries), checked.outcome]


def _note_duplicates(runner: ItemRunner, entries: Entries) -> list[Outcome]:
    outcomes = []
    for entry in entries.entries:
        for key in entry.duplicates:
            message = f"{key} is the same problem as {entry.key}, which is kept"
            outcomes.append(_put_aside(runner, key, [key, entry.key], message))
    return outcomes


def _put_aside(runner: ItemRunner, key: str, inputs: Sequence[str], message: str) -> Outcome:
    aside = Aside(Status.REJECTED, "problem.duplicate", message)
    return runner.run(order.DEDUP, key, inputs, lambda: aside).outcome


def _publish(store: Store, entries: Entries, checked: StageRun | None) -> None:
    findings = checked.load(Findings).findings if checked and checked.output else ()
    with store.transaction():
        store.put("entry", {entry.key: entry for entry in entries.entries}, replace_kind=True)
        store.put("pair", {f"{pair.left} {pair.right}": pair for pair in entries.pairs}, replace_kind=True)
        store.put("finding", {f"{k:06d}": finding for k, finding in enumerate(findings)}, replace_kind=True)
