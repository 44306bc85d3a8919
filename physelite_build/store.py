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
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from physelite_build.blobs import Blobs
from physelite_build.errors import FatalError, ItemError, RetryableError, shorten
from physelite_build.records import Correction, Document, Outcome, Page, Record, Status

__all__ = ["Aside", "Stage", "StageRun", "Store"]

log = logging.getLogger(__name__)

SCHEMA_VERSION = 1
_CRASH = ".crash"
R = TypeVar("R", bound=Record)

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE result (
  key TEXT PRIMARY KEY, stage TEXT NOT NULL, status TEXT NOT NULL, code TEXT, message TEXT,
  output TEXT, output_sha256 TEXT, elapsed_s REAL NOT NULL);
CREATE TABLE outcome (
  stage TEXT NOT NULL, item_id TEXT NOT NULL, key TEXT NOT NULL, run_id TEXT NOT NULL, reused INTEGER NOT NULL,
  PRIMARY KEY (stage, item_id));
CREATE TABLE record (
  kind TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, id));
CREATE TABLE run (run_id TEXT PRIMARY KEY, started_at TEXT NOT NULL, config TEXT NOT NULL, status TEXT);
CREATE TABLE correction (
  number INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, field TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE public_id (problem_key TEXT PRIMARY KEY, public_id TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """Name and version of a stage. Raise ``version`` when its code gives other results for the same input."""

    name: str
    version: int


@dataclass(frozen=True, slots=True)
class Aside:
    """A stage returns this instead of a record to put an item aside with a reason."""

    status: Status
    code: str
    message: str
    output: Record | None = None


@dataclass(frozen=True, slots=True)
class StageRun:
    """One outcome with its result, as :meth:`Store.run` returns it."""

    outcome: Outcome
    output: str | None

    def load(self, model: type[R]) -> R:
        """Read the result as a record.

        Raises:
            ItemError: ``store.no_result`` if the item has none (it failed or was rejected).
        """
        if self.output is None:
            raise ItemError("store.no_result", f"{self.outcome.item_id} has no result of stage {self.outcome.stage}")
        return model.model_validate_json(self.output)


class Store:
    """The work folder of one corpus. Safe to use from several threads; each write is one transaction."""

    def __init__(self, root: Path, *, create: bool = True) -> None:
        """Open or create a work folder.

        Raises:
            FatalError: ``store.missing`` if it does not exist and ``create`` is false, ``store.foreign`` if the folder
                holds other files, ``store.schema`` if it was written by a newer version.
        """
        self.root = root
        database = root / "store.sqlite"
        if not database.exists():
            if not create:
                raise FatalError(
                    "store.missing", f"{root} is no work folder; make one with: physelite build SCANS -o {root}"
                )
            if root.exists() and not root.is_dir():
                raise FatalError("store.foreign", f"{root} is a file; name a folder for -o")
            root.mkdir(parents=True, exist_ok=True)
        self.blobs = Blobs(root / "blobs")
        self._lock = threading.RLock()
        self._db = sqlite3.connect(database, timeout=60, check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._migrate()

    def _migrate(self) -> None:
        with self.transaction() as db:
            version = int(db.execute("PRAGMA user_version").fetchone()[0])
            if version > SCHEMA_VERSION:
                raise FatalError(
                    "store.schema",
                    f"{self.root} was written by a newer version (schema {version}); update physelite-build",
                )
            if version == 0:
                for statement in _SCHEMA.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the lock and commit at the end, or roll back on any error."""
        with self._lock:
            if self._db.in_transaction:
                yield self._db
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the database; the object must not be used afterwards."""
        with self._lock:
            self._db.close()

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
    ) -> StageRun:
        """Do one item of one stage, or take its result from memory.

        Args:
            stage: Name and version.
            item_id: Id of the item in this run; not part of the key, so equal content under another name is reused.
            run_id: Id of the build.
            inputs: Digests of everything the work reads.
            work: Does the work; called only if the result is not known. It raises :class:`ItemError` when the item is bad;
                any other error but Retryable and Fatal becomes a failure ``<stage>.crash``, which the next build tries again.
            options: Options that can change the output, as one stable string.
            engine: Fingerprint of the engine, empty if none.

        Returns:
            Outcome and result.
        """
        parts = json.dumps([stage.name, stage.version, options, engine, list(inputs)], ensure_ascii=False)
        key = hashlib.sha256(parts.encode()).hexdigest()
        row = self._result(key)
        if row is not None and (row[1] or "").endswith(_CRASH):
            row = None  # a fault of ours may have been mended since
        reused = row is not None
        if row is None:
            started = time.perf_counter()
            row = _attempt(stage, item_id, work)
            row = (*row[:-1], round(time.perf_counter() - started, 3))
            with self.transaction() as db:
                db.execute("INSERT OR REPLACE INTO result VALUES (?,?,?,?,?,?,?,?)", (key, stage.name, *row))
        with self.transaction() as db:
            db.execute(
                "INSERT OR REPLACE INTO outcome VALUES (?,?,?,?,?)", (stage.name, item_id, key, run_id, int(reused))
            )
        status, code, message, output, digest, elapsed = row
        return StageRun(_outcome(stage.name, item_id, status, code, message, digest, elapsed, reused=reused), output)

    def _result(self, key: str) -> tuple[str, str | None, str | None, str | None, str | None, float] | None:
        with self._lock:
            row: tuple[str, str | None, str | None, str | None, str | None, float] | None = self._db.execute(
                "SELECT status, code, message, output, output_sha256, elapsed_s FROM result WHERE key=?", (key,)
            ).fetchone()
        return row

    def outcomes(
        self, *, stage: str | None = None, item_id: str | None = None, run_id: str | None = None
    ) -> list[Outcome]:
        """Return outcomes of the last build, ordered by stage and item; narrow them by any of the arguments."""
        query = (
            "SELECT o.stage, o.item_id, r.status, r.code, r.message, r.output_sha256, r.elapsed_s, o.reused "
            "FROM outcome o JOIN result r USING (key)"
        )
        wanted = [
            (n, v) for n, v in (("o.stage", stage), ("o.item_id", item_id), ("o.run_id", run_id)) if v is not None
        ]
        if wanted:
            query += " WHERE " + " AND ".join(f"{name}=?" for name, _ in wanted)
        with self._lock:
            rows = self._db.execute(query + " ORDER BY o.stage, o.item_id", [v for _, v in wanted]).fetchall()
        return [_outcome(*row[:7], reused=bool(row[7])) for row in rows]

    def result(self, stage: str, item_id: str) -> str | None:
        """Return the JSON result of an item in the last build, None if there is none."""
        with self._lock:
            row = self._db.execute(
                "SELECT r.output FROM outcome o JOIN result r USING (key) WHERE o.stage=? AND o.item_id=?",
                (stage, item_id),
            ).fetchone()
        return None if row is None else row[0]

    def load(self, stage: str, item_id: str, model: type[R]) -> R | None:
        """Return the result of an item as a record, None if there is none."""
        text = self.result(stage, item_id)
        return None if text is None else model.model_validate_json(text)

    def reset_state(self, *, keep_documents: Mapping[str, Document]) -> None:
        """Forget which items the last build saw, before a new one notes its own; results stay in memory.

        Args:
            keep_documents: Documents of other roots, which this build does not look for again. They, their pages and how
                their files ended stay.
        """
        kept_pages = {page_id for document in keep_documents.values() for page_id in document.page_ids}
        prefixes = tuple(f"{doc_id}/" for doc_id in keep_documents)
        with self.transaction() as db:
            for stage, item in db.execute("SELECT stage, item_id FROM outcome").fetchall():
                if stage != "ingest" or not item.startswith(prefixes or ("\0",)):
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
        """Drop failed results, so that the next build tries them again; return how many."""
        with self.transaction() as db:
            return db.execute("DELETE FROM result WHERE status='failed'").rowcount

    # ------------------------------------------------------------ records
    def put(self, kind: str, records: dict[str, Record], *, replace_kind: bool = False) -> None:
        """Store records by id; with ``replace_kind`` all others of that kind go."""
        with self.transaction() as db:
            if replace_kind:
                db.execute("DELETE FROM record WHERE kind=?", (kind,))
            db.executemany(
                "INSERT OR REPLACE INTO record VALUES (?,?,?)",
                [(kind, key, record.model_dump_json()) for key, record in records.items()],
            )

    def get(self, kind: str, record_id: str, model: type[R]) -> R | None:
        """Return one record, None if there is none."""
        with self._lock:
            row = self._db.execute("SELECT body FROM record WHERE kind=? AND id=?", (kind, record_id)).fetchone()
        return None if row is None else model.model_validate_json(row[0])

    def all(self, kind: str, model: type[R]) -> dict[str, R]:
        """Return all records of a kind by id, in the order in which they were stored."""
        with self._lock:
            rows = self._db.execute("SELECT id, body FROM record WHERE kind=? ORDER BY rowid", (kind,)).fetchall()
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
        with self._lock:
            row: tuple[str, str, str | None] | None = self._db.execute(
                "SELECT run_id, started_at, status FROM run ORDER BY started_at DESC, rowid DESC LIMIT 1"
            ).fetchone()
        return row

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
        with self._lock:
            rows = self._db.execute(query + " ORDER BY number", values).fetchall()
        return [Correction.model_validate_json(row[0]) for row in rows]

    def mint_public_ids(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """Give each problem a public id ``PE-000001``; one that has an id keeps it. Ids are never reused.

        Args:
            groups: The problem keys of each entry, leading key first, in the order in which new ids are to be given. An entry
                keeps the oldest id that any of its keys ever had.

        Returns:
            One id per group.
        """
        ids: list[str] = []
        with self.transaction() as db:
            known: dict[str, str] = dict(db.execute("SELECT problem_key, public_id FROM public_id").fetchall())
            number = max((int(value.removeprefix("PE-")) for value in known.values()), default=0)
            taken: set[str] = set()
            for keys in groups:
                old = sorted(known[key] for key in keys if key in known and known[key] not in taken)
                if not old:
                    number += 1
                    old = [f"PE-{number:06d}"]
                taken.add(old[0])
                ids.append(old[0])
                if keys[0] not in known:
                    known[keys[0]] = old[0]
                    db.execute("INSERT INTO public_id VALUES (?,?)", (keys[0], old[0]))
        return ids

    def public_id_of(self, problem_key: str) -> str | None:
        """Return the public id that was minted for a leading problem key."""
        with self._lock:
            row = self._db.execute("SELECT public_id FROM public_id WHERE problem_key=?", (problem_key,)).fetchone()
        return None if row is None else row[0]

    def key_of_public_id(self, public_id: str) -> str | None:
        """Return the newest problem key of a public id."""
        with self._lock:
            row = self._db.execute(
                "SELECT problem_key FROM public_id WHERE public_id=? ORDER BY rowid DESC", (public_id,)
            ).fetchone()
        return None if row is None else row[0]


def _attempt(
    stage: Stage, item_id: str, work: Callable[[], Record | Aside]
) -> tuple[str, str | None, str | None, str | None, str | None, float]:
    try:
        made = work()
    except ItemError as error:
        return Status.FAILED, error.code, error.message, None, None, 0.0
    except ValidationError as error:
        message = f"stage {stage.name} made an invalid record for {item_id}: {error.errors()[0]['msg']}"
        return Status.FAILED, f"{stage.name}.invalid_record", message, None, None, 0.0
    except (FatalError, RetryableError):
        raise
    except Exception as error:  # the border of one item: its neighbours must go on
        log.exception("stage %s crashed on %s", stage.name, item_id)
        message = (
            f"stage {stage.name} crashed on {item_id} ({type(error).__name__}: {shorten(error)}); please report it"
        )
        return Status.FAILED, f"{stage.name}{_CRASH}", message, None, None, 0.0
    if not isinstance(made, Aside):
        made = Aside(Status.DONE, "", "", made)
    reason = (made.status, made.code or None, made.message or None)
    if made.output is None:
        return *reason, None, None, 0.0
    text = made.output.model_dump_json()
    return *reason, text, hashlib.sha256(text.encode()).hexdigest(), 0.0


def _outcome(
    stage: str,
    item_id: str,
    status: str,
    code: str | None,
    message: str | None,
    digest: str | None,
    elapsed: float,
    *,
    reused: bool,
) -> Outcome:
    return Outcome(
        stage=stage,
        item_id=item_id,
        status=Status(status),
        code=code,
        message=message,
        output_sha256=digest,
        elapsed_s=elapsed,
        reused=reused,
    )
