"""From the corpus in the store to the rows of a release: which text, which answers, which sources.

Comes before ``gate.py``, which says what may not go out, and ``release.py``, which writes the folder.
"""

from __future__ import annotations

import hashlib
import subprocess
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from physelite_build import __version__
from physelite_build.config import Settings
from physelite_build.errors import shorten
from physelite_build.publish.gate import gate
from physelite_build.publish.schema import (
    ReleaseMeta,
    ReleaseRow,
    ReleaseSource,
    RowAnswer,
    RowDiagram,
    RowPart,
    RowSource,
    RowStep,
    RowText,
)
from physelite_build.records import Document, DocumentProblems, Entry, Finding, Pair, PairDecision, Problem, Severity
from physelite_build.scorer import is_readable, score_problem
from physelite_build.scorer.files import GoldAnswer, GoldRow
from physelite_build.scorer.selfcheck import check_row, compose
from physelite_build.stages import order
from physelite_build.store import PublicId, Store

__all__ = ["Assembled", "answer_is_readable", "assemble", "describe"]


@dataclass(frozen=True, slots=True)
class Assembled:
    """Rows that may go out, and what was found on the way."""

    rows: tuple[ReleaseRow, ...]
    held_back: tuple[Finding, ...]
    """Blocking findings; their subjects are problem keys, and those problems are not among the rows."""
    warnings: tuple[Finding, ...]


def answer_is_readable(answer: RowAnswer) -> bool:
    """Tell whether the bundled scorer can read a gold answer."""
    return bool(answer.answer.strip()) and is_readable(answer.answer, kind=answer.kind.value)


def assemble(store: Store, *, version: str, waiver: str | None, mint: bool = True) -> Assembled:
    """Make the rows of a release from all entries of the corpus.

    Public ids are minted only for rows that go out. A problem without a single readable answer is held back: a benchmark
    cannot score it.

    Args:
        store: Work folder after a build.
        version: Version that new problems are added in.
        waiver: Recorded reason why unreviewed problems may go out; None if there is none.
        mint: False to look only: rows then carry provisional ids, and nothing is written.

    Returns:
        Rows in order of the corpus, and findings under problem keys.
    """
    documents = store.all("document", Document)
    problems = {p.key: p for doc in documents.values() for p in _problems_of(store, doc) if doc.copy_of is None}
    entries = [e for e in store.all("entry", Entry).values() if all(k in problems for k in (e.zh, e.en) if k)]
    drafts = {f"PE-{number:09d}": entry for number, entry in enumerate(entries, 1)}
    rows = {draft: _row(entry, problems, documents, row_id=draft, version=version) for draft, entry in drafts.items()}
    found = [
        _under_key(finding, drafts[finding.subject].key)
        for finding in gate(list(rows.values()), answer_is_readable, waiver=waiver)
    ]
    blocked = [finding for finding in found if finding.severity is Severity.BLOCK]
    blocked += [_unanswered(drafts[draft].key) for draft, row in rows.items() if not row.answers]
    blocked += [f for draft, row in rows.items() for f in _unscorable(row, drafts[draft].key)]
    blocked += [
        f for entry in entries for f in _disagreement([problems[k] for k in (entry.zh, entry.en) if k], entry.key)
    ]
    blocked += _blocking_checks(store, entries)
    held = {finding.subject for finding in blocked}
    passed = [(entry, rows[draft]) for draft, entry in drafts.items() if entry.key not in held]
    public = (
        store.mint_public_ids([_keys_of(entry) for entry, _ in passed], version=version)
        if mint
        else [PublicId(row.id, version) for _, row in passed]
    )
    group = _groups(store, [entry for entry, _ in passed], public)
    return Assembled(
        rows=tuple(
            row.model_copy(update={"id": p.value, "group_id": group[p.value], "version_added": p.version_added})
            for p, (_, row) in zip(public, passed, strict=True)
        ),
        held_back=tuple(sorted(blocked, key=lambda f: (f.subject, f.code))),
        warnings=tuple(
            finding for finding in found if finding.severity is Severity.WARN and finding.subject not in held
        ),
    )


def describe(
    settings: Settings, *, engines: Sequence[str], documents: Iterable[Document], waiver: str | None
) -> ReleaseMeta:
    """Say what a release is made of: code, settings, engines and sources; no times and no paths."""
    chosen = settings.release
    guid = chosen.canary_guid or str(uuid.uuid5(uuid.NAMESPACE_URL, f"physelite-canary:{chosen.name}"))
    sources = tuple(
        ReleaseSource(
            document=document.doc_id,
            title=document.notes.title,
            event=document.notes.event,
            year=document.notes.year,
            language=document.notes.language,
            rights=document.notes.rights,
            attribution=document.notes.attribution,
        )
        for document in documents
    )
    return ReleaseMeta(
        name=chosen.name,
        repo_id=chosen.repo_id,
        code_revision=_code_revision(),
        config_digest=hashlib.sha256(settings.result_key().encode()).hexdigest(),
        engines=tuple(engines),
        sources=sources,
        canary_guid=guid,
        waiver=waiver,
        contact=chosen.contact,
    )


def _problems_of(store: Store, document: Document) -> tuple[Problem, ...]:
    made = store.load(order.ANSWERS.name, document.doc_id, DocumentProblems)
    return made.problems if made else ()


def _keys_of(entry: Entry) -> list[str]:
    return [entry.key, *(key for key in (entry.zh, entry.en) if key and key != entry.key), *entry.duplicates]


def _row(
    entry: Entry, problems: dict[str, Problem], documents: dict[str, Document], *, row_id: str, version: str
) -> ReleaseRow:
    texts = [problems[key] for key in (entry.zh, entry.en) if key]
    confidences = [problem.confidence for problem in texts if problem.confidence is not None]
    engines = {span.engine for problem in texts for span in problem.spans if span.engine}
    return ReleaseRow(
        id=row_id,
        group_id=row_id,
        version_added=version,
        zh=_text(problems[entry.zh]) if entry.zh else None,
        en=_text(problems[entry.en]) if entry.en else None,
        answers=_answers(texts),
        sources=tuple(_source(problem, documents[problem.doc_id]) for problem in texts),
        engines=tuple(sorted(engines)),
        lowest_confidence=min(confidences, default=None),
    )


def _text(problem: Problem) -> RowText:
    return RowText(
        problem_key=problem.key,
        title=problem.title,
        statement=problem.statement,
        parts=tuple(RowPart(label=part.label, text=part.text) for part in problem.parts),
        solution=problem.solution,
        steps=tuple(RowStep(label=step.label, text=step.text) for step in problem.steps),
        final_answer=problem.final_answer,
        diagrams=tuple(
            RowDiagram(image_sha256=f.image_sha256, role=f.role, caption=f.caption, part=f.part)
            for f in problem.figures
        ),
    )


def _answers(texts: Sequence[Problem]) -> tuple[RowAnswer, ...]:
    """Take the answers of the language in which the scorer can read most of them, Chinese first."""
    choices = [tuple(_answer(problem, index) for index in range(len(problem.answers))) for problem in texts]
    return max(choices, key=lambda row: sum(map(answer_is_readable, row)) - sum(not answer_is_readable(a) for a in row))


def _answer(problem: Problem, index: int) -> RowAnswer:
    answer = problem.answers[index]
    return RowAnswer(
        kind=answer.kind,
        answer=answer.printed,
        part=answer.part,
        name=answer.name,
        value=answer.value,
        unit=answer.unit,
        tolerance=answer.tolerance,
    )


def _source(problem: Problem, document: Document) -> RowSource:
    return RowSource(
        language=problem.language,
        document=document.doc_id,
        event=document.notes.event,
        year=document.notes.year,
        pages=problem.pages,
        rights=document.notes.rights,
        attribution=document.notes.attribution,
    )


def _under_key(finding: Finding, key: str) -> Finding:
    """Name the problem by its key: it has no public id yet."""
    return finding.model_copy(update={"subject": key, "message": finding.message.replace(finding.subject, key)})


def _unanswered(key: str) -> Finding:
    message = f"{key} has no final answer that could be found, so nobody could be scored on it"
    return Finding(subject=key, code="release.no_answer", severity=Severity.BLOCK, message=message)


def _unscorable(row: ReleaseRow, key: str) -> Iterator[Finding]:
    """Say where the bundled scorer would contradict itself on a row: its gold must equal itself and differ from wrong answers."""
    gold = tuple(GoldAnswer(a.part, a.answer, a.kind.value, a.tolerance) for a in row.answers if answer_is_readable(a))
    if not gold or len(gold) < len(row.answers):
        return  # said by the gate
    for finding in check_row(GoldRow(row.id, row.subject, row.difficulty, gold)):
        if not finding.is_right:
            message = f"{key}: the scorer's check {finding.kind!r} fails on {shorten(finding.text)}; correct the answer"
            yield Finding(subject=key, code="release.answer_fails_check", severity=Severity.BLOCK, message=message)
            return


def _disagreement(texts: Sequence[Problem], key: str) -> Iterator[Finding]:
    """Say where the printed answers of the two languages differ: one of them was misread."""
    if len(texts) < 2 or not all(problem.answers for problem in texts):
        return
    gold, other = ([_answer(problem, index) for index in range(len(problem.answers))] for problem in texts)
    if not all(map(answer_is_readable, gold)):
        return  # said by the gate
    response = compose([GoldAnswer(a.part, a.answer, a.kind.value, a.tolerance) for a in other])
    verdict = score_problem(response, [{"part": a.part, "answer": a.answer, "kind": a.kind.value} for a in gold])
    if verdict.outcome != "correct":
        message = f"{key}: the final answers of the two languages differ ({verdict.reason}); one of them was misread"
        yield Finding(subject=key, code="release.answers_disagree", severity=Severity.BLOCK, message=message)


def _blocking_checks(store: Store, entries: Sequence[Entry]) -> list[Finding]:
    """Return blocking findings of the check stage under the keys of their entries; rights are the gate's business."""
    owner = {key: entry.key for entry in entries for key in (entry.zh, entry.en) if key}
    return [
        finding.model_copy(update={"subject": owner[finding.subject]})
        for finding in store.all("finding", Finding).values()
        if finding.severity is Severity.BLOCK and finding.subject in owner and finding.code != "rights.missing"
    ]


def _groups(store: Store, passed: Sequence[Entry], public: Sequence[PublicId]) -> dict[str, str]:
    """Give undecided pairs one group, named after the oldest id in it, so that they never stand in two splits."""
    mine = {key: p.value for entry, p in zip(passed, public, strict=True) for key in _keys_of(entry)}
    group = {p.value: p.value for p in public}
    for pair in store.all("pair", Pair).values():
        left, right = mine.get(pair.left), mine.get(pair.right)
        if pair.decision is PairDecision.ASK and left and right:
            first, last = sorted((group[left], group[right]))
            group = {value: first if root == last else root for value, root in group.items()}
    return group


def _code_revision() -> str:
    """Package version, with the commit when run from a checkout."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return __version__
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"], cwd=root, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return __version__
    return f"{__version__}+{done.stdout.strip()}"
