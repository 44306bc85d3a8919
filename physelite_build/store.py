"""The work folder: what was done, with which result, and what people decided.

``WORK/store.sqlite`` holds records and outcomes, ``WORK/blobs/`` the pictures. Three kinds of rows:

* *results* are a memory keyed by everything that can change them (stage, version, options, engine, inputs). They are never
  wrong, only unused; an interrupted run leaves them for the next one.
* *state* says which documents, pages and outcomes the last build saw. It is rewritten by each build.
* *events* (corrections, public ids) are appended and never changed.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from physelite_build.attempt import Aside, Ending, Stage, StageRun, attempt
from physelite_build.blobs import Blobs
from physelite_build.database import Database
from physelite_build.errors import FatalError
from physelite_build.folder import one_builder, sweep
from physelite_build.records import Correction, Document, Outcome, Page, Record, Status

__all__ = ["Aside", "PublicId", "Stage", "StageRun", "Store", "document_of"]

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class PublicId:
    """The name under which a problem is published, and since which release."""

    value: str
    version_added: str


class Store(Database):
    """The work folder of one corpus. Safe to use from several threads; each write is one transaction."""

    def __init__(self, root: Path, *, create: bool = True) -> None:
        """Open or create a work folder.

        Raises:
            FatalError: As :class:`Database` says.
        """
        super().__init__(root, create=create)
        self.blobs = Blobs(root / "blobs")

    @contextmanager
    def one_builder(self) -> Iterator[None]:
        """Keep other builds out of the folder while the body runs; a build that was killed leaves nothing in the way.

        Raises:
            FatalError: ``store.busy`` if another build is at work there.
        """
        with one_builder(self.root):
            sweep(self.root)
            yield

    # ------------------------------------------------------------ results and outcomes
    def run(
        self,
        stage: Stage,
        item_id: str,
        *,
        run_id: str,
        inputs: Sequence[str],
        work: Callable[[], Record | Aside],
        options: str = "",
        engine: str = "",
        blobs_of: Callable[[str], Sequence[str]] | None = None,
    ) -> StageRun:
        """Do one item of one stage, or take its result from memory.

        Args:
            stage: Name and version.
            item_id: Id of the item in this run; not part of the key, so equal content under another name is reused.
            run_id: Id of the build.
            inputs: Digests of everything the work reads.
            work: Does the work; called only if the result is not known. See :func:`attempt` for what its errors become; a
                fault of our own is tried again by the next build.
            options: Options that can change the output, as one stable string.
            engine: Fingerprint of the engine, empty if none.
            blobs_of: Digests of the blobs that a result names; if one is gone the work is done again.

        Returns:
            Outcome and result; the outcome counts as reused unless this build did the work.
        """
        key = _key(stage, inputs, options, engine)
        known = self._remembered(key, blobs_of)
        ending = known or attempt(stage, item_id, work)
        reused = known is not None and not self._was_made_by(run_id, stage, item_id, key)
        with self.transaction() as db:
            if known is None:
                _insert_result(db, key, stage, ending)
            db.execute(
                "INSERT OR REPLACE INTO outcome VALUES (?,?,?,?,?)", (stage.name, item_id, key, run_id, int(reused))
            )
        return StageRun(_outcome(stage.name, item_id, ending, reused=reused), ending.output)

    def recall(self, stage: Stage, item_id: str, *, inputs: Sequence[str], work: Callable[[], Record]) -> StageRun:
        """Do a piece of work, or take its result from memory, without an outcome: nobody waits for it by name."""
        key = _key(stage, inputs, "", "")
        known = self._remembered(key, None)
        ending = known or attempt(stage, item_id, work)
        if known is None:
            with self.transaction() as db:
                _insert_result(db, key, stage, ending)
        return StageRun(_outcome(stage.name, item_id, ending, reused=known is not None), ending.output)

    def _remembered(self, key: str, blobs_of: Callable[[str], Sequence[str]] | None) -> Ending | None:
        rows = self.rows(
            "SELECT status, code, message, output, output_sha256, elapsed_s FROM result WHERE key=?", (key,)
        )
        if not rows:
            return None
        ending = Ending(Status(rows[0][0]), *rows[0][1:])
        if ending.is_our_fault:
            return None
        if blobs_of is not None and ending.output is not None:
            lost = [digest for digest in blobs_of(ending.output) if not self.blobs.path(digest).exists()]
            return None if lost else ending
        return ending

    def _was_made_by(self, run_id: str, stage: Stage, item_id: str, key: str) -> bool:
        """Tell whether this build did the work itself, in a batch that was tried again."""
        query = "SELECT reused FROM outcome WHERE stage=? AND item_id=? AND key=? AND run_id=?"
        return self.rows(query, (stage.name, item_id, key, run_id)) == [(0,)]

    def outcomes(
        self, *, stage: str | None = None, item_id: str | None = None, run_id: str | None = None
    ) -> list[Outcome]:
        """Return outcomes of the last build, ordered by stage and item; narrow them by any of the arguments."""
        query = (
            "SELECT o.stage, o.item_id, o.reused, r.status, r.code, r.message, NULL, r.output_sha256, r.elapsed_s "
            "FROM outcome o JOIN result r USING (key)"
        )
        wanted = {"o.stage": stage, "o.item_id": item_id, "o.run_id": run_id}
        given = {name: value for name, value in wanted.items() if value is not None}
        if given:
            query += " WHERE " + " AND ".join(f"{name}=?" for name in given)
        rows = self.rows(query + " ORDER BY o.stage, o.item_id", list(given.values()))
        return [_outcome(row[0], row[1], Ending(Status(row[3]), *row[4:]), reused=bool(row[2])) for row in rows]

    def result(self, stage: str, item_id: str) -> str | None:
        """Return the JSON result of an item in the last build, None if there is none."""
        query = "SELECT r.output FROM outcome o JOIN result r USING (key) WHERE o.stage=? AND o.item_id=?"
        return _first(self.rows(query, (stage, item_id)))

    def load(self, stage: str, item_id: str, model: type[R]) -> R | None:
        """Return the result of an item as a record, None if there is none."""
        text = self.result(stage, item_id)
        return None if text is None else model.model_validate_json(text)

    def reset_state(self, *, keep_documents: Mapping[str, Document], keep_files: Collection[str] = ()) -> None:
        """Forget which items the last build saw, before a new one notes its own; results stay in memory.

        Args:
            keep_documents: Documents of other roots, which this build does not look for again. They, their pages and how
                their files ended stay.
            keep_files: Items of the ingest stage that belong to no document and stay as well.
        """
        kept_pages = {page_id for document in keep_documents.values() for page_id in document.page_ids}
        with self.transaction() as db:
            for stage, item in db.execute("SELECT stage, item_id FROM outcome").fetchall():
                stays = item in keep_files or document_of(stage, item) in keep_documents
                if stage != "ingest" or not stays:
                    db.execute("DELETE FROM outcome WHERE stage=? AND item_id=?", (stage, item))
            for kind, keep in (("document", set(keep_documents)), ("page", kept_pages)):
                for (record_id,) in db.execute("SELECT id FROM record WHERE kind=?", (kind,)).fetchall():
                    if record_id not in keep:
                        db.execute("DELETE FROM record WHERE kind=? AND id=?", (kind, record_id))

    def page_digests(self, page_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the image digests of pages, in order: equal for documents with the same pages."""
        pages = (self.get("page", page_id, Page) for page_id in page_ids)
        return tuple(page.image_sha256 for page in pages if page is not None)

    def forget_failures(self) -> int:
        """Drop failed results, so that the next build tries them again; return how many.

        Raises:
            FatalError: ``store.busy`` if a build is at work.
        """
        with self.one_builder(), self.transaction() as db:
            return db.execute("DELETE FROM result WHERE status='failed'").rowcount

    # ------------------------------------------------------------ records
    def put(self, kind: str, records: Mapping[str, Record], *, replace_kind: bool = False) -> None:
        """Store records by id; with ``replace_kind`` all others of that kind go."""
        with self.transaction() as db:
            if replace_kind:
                db.execute("DELETE FROM record WHERE kind=?", (kind,))
            db.executemany(
                "INSERT OR REPLACE INTO record VALUES (?,?,?)",
                [(kind, key, record.model_dump_json()) for key, record in records.items()],
            )

    def body(self, kind: str, record_id: str) -> str | None:
        """Return one record as it is stored, JSON, None if there is none."""
        return _first(self.rows("SELECT body FROM record WHERE kind=? AND id=?", (kind, record_id)))

    def get(self, kind: str, record_id: str, model: type[R]) -> R | None:
        """Return one record, None if there is none."""
        body = self.body(kind, record_id)
        return None if body is None else model.model_validate_json(body)

    def all(self, kind: str, model: type[R]) -> dict[str, R]:
        """Return all records of a kind by id, in the order in which they were stored."""
        rows = self.rows("SELECT id, body FROM record WHERE kind=? ORDER BY rowid", (kind,))
        return {key: model.model_validate_json(body) for key, body in rows}

    # ------------------------------------------------------------ runs and events
    def start_run(self, run_id: str, *, started_at: str, config: str) -> None:
        """Note a build with the settings in force."""
        with self.transaction() as db:
            db.execute("INSERT OR REPLACE INTO run VALUES (?,?,?,NULL)", (run_id, started_at, config))

    def end_run(self, run_id: str, *, status: str) -> None:
        """Note how a build ended: ``complete`` or ``partial``."""
        with self.transaction() as db:
            db.execute("UPDATE run SET status=? WHERE run_id=?", (status, run_id))

    def last_run(self) -> tuple[str, str, str | None] | None:
        """Return ``(run_id, started_at, status)`` of the newest build; a None status means that it was interrupted."""
        rows = self.rows("SELECT run_id, started_at, status FROM run ORDER BY rowid DESC LIMIT 1")
        return tuple(rows[0]) if rows else None

    def correct(self, correction: Correction) -> None:
        """Append a human decision."""
        with self.transaction() as db:
            db.execute(
                "INSERT INTO correction (subject, field, body) VALUES (?,?,?)",
                (correction.subject, correction.field, correction.model_dump_json()),
            )

    def corrections(self, *, subject: str | None = None, field: str | None = None) -> list[Correction]:
        """Return human decisions in the order in which they were made."""
        query, values = "SELECT body FROM correction WHERE 1=1", []
        for name, value in (("subject", subject), ("field", field)):
            if value is not None:
                query += f" AND {name}=?"
                values.append(value)
        rows = self.rows(query + " ORDER BY number", values)
        return [Correction.model_validate_json(row[0]) for row in rows]

    def mint_public_ids(self, groups: Sequence[Sequence[str]], *, version: str) -> list[PublicId]:
        """Give each problem a public id ``PE-000001``; one that has an id keeps it. Ids are never reused.

        Args:
            groups: The problem keys of each entry, leading key first, in the order in which new ids are to be given. An entry
                keeps the oldest id that any of its keys ever had.
            version: Release that new ids first go out in.

        Returns:
            One id per group.

        Raises:
            FatalError: ``store.unfinished`` if the last build did not come to its end: ids are for ever, and half a corpus
                does not know its duplicates.
        """
        last = self.last_run()
        if last is not None and last[2] is None:
            raise FatalError(
                "store.unfinished",
                f"the last build in {self.root} has not come to its end; build again (or wait for it), then release",
            )
        ids: list[PublicId] = []
        with self.transaction() as db:
            rows = db.execute("SELECT problem_key, public_id, version_added FROM public_id").fetchall()
            known = {key: PublicId(value, added) for key, value, added in rows}
            number = max((int(public.value.removeprefix("PE-")) for public in known.values()), default=0)
            taken: set[str] = set()
            for keys in groups:
                old = [known[key] for key in keys if key in known and known[key].value not in taken]
                if not old:
                    number += 1
                    old = [PublicId(f"PE-{number:06d}", version)]
                chosen = min(old, key=lambda public: public.value)
                taken.add(chosen.value)
                ids.append(chosen)
                if keys[0] not in known:
                    known[keys[0]] = chosen
                    db.execute("INSERT INTO public_id VALUES (?,?,?)", (keys[0], chosen.value, chosen.version_added))
        return ids

    def public_id_of(self, problem_key: str) -> str | None:
        """Return the public id that was minted for a leading problem key."""
        return _first(self.rows("SELECT public_id FROM public_id WHERE problem_key=?", (problem_key,)))

    def key_of_public_id(self, public_id: str) -> str | None:
        """Return the newest problem key of a public id."""
        query = "SELECT problem_key FROM public_id WHERE public_id=? ORDER BY rowid DESC"
        return _first(self.rows(query, (public_id,)))


def document_of(stage: str, item_id: str) -> str:
    """Return the id of the document that an item belongs to; for items of all documents the item itself."""
    if stage == "dedup":
        return item_id.rpartition("#")[0] or item_id
    if stage in ("segment", "figures", "answers"):
        return item_id
    return item_id.rpartition("/")[0] or item_id


def _key(stage: Stage, inputs: Sequence[str], options: str, engine: str) -> str:
    parts = json.dumps([stage.name, stage.version, options, engine, list(inputs)], ensure_ascii=False)
    return hashlib.sha256(parts.encode()).hexdigest()


def _insert_result(db: sqlite3.Connection, key: str, stage: Stage, ending: Ending) -> None:
    row = (ending.status, ending.code, ending.message, ending.output, ending.output_sha256, ending.elapsed_s)
    db.execute("INSERT OR REPLACE INTO result VALUES (?,?,?,?,?,?,?,?)", (key, stage.name, *row))


def _outcome(stage: str, item_id: str, ending: Ending, *, reused: bool) -> Outcome:
    return Outcome(
        stage=stage,
        item_id=item_id,
        status=ending.status,
        code=ending.code,
        message=ending.message,
        output_sha256=ending.output_sha256,
        elapsed_s=ending.elapsed_s,
        reused=reused,
    )


def _first(rows: Sequence[Any]) -> str | None:
    return rows[0][0] if rows else None
