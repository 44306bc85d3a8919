"""Opens the SQLite file of a work folder and says in our words what goes wrong with it. ``store.py`` knows what is in it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from physelite_build.errors import FatalError, PhysEliteError, RetryableError
from physelite_build.folder import make_folder

__all__ = ["SCHEMA_VERSION", "Database"]

SCHEMA_VERSION = 1
_BUSY_S = 60
"""How long a write waits for another process."""

_SCHEMA = """
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
CREATE TABLE public_id (problem_key TEXT PRIMARY KEY, public_id TEXT NOT NULL, version_added TEXT NOT NULL);
"""


class Database:
    """One connection to ``WORK/store.sqlite``, shared by threads; a write is one transaction."""

    def __init__(self, root: Path, *, create: bool = True) -> None:
        """Open or create a work folder.

        Raises:
            FatalError: ``store.missing`` if it does not exist and ``create`` is false, ``store.foreign`` if the folder
                holds other files, ``store.schema`` if it was written by a newer version, ``store.unwritable``,
                ``store.damaged``.
        """
        self.root = root
        database = root / "store.sqlite"
        if not database.exists():
            if not create:
                raise FatalError(
                    "store.missing", f"{root} is no work folder; make one with: physelite build SCANS -o {root}"
                )
            make_folder(root)
        self._lock = threading.RLock()
        with _named_errors(root):
            self._db = sqlite3.connect(database, timeout=_BUSY_S, check_same_thread=False, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def _prepare(self) -> None:
        if self._db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._migrate()

    def _migrate(self) -> None:
        version = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        if version > SCHEMA_VERSION:
            raise FatalError(
                "store.schema", f"{self.root} was written by a newer version (schema {version}); update physelite-build"
            )
        if version == SCHEMA_VERSION:
            return
        with self.transaction() as db:
            if int(db.execute("PRAGMA user_version").fetchone()[0]) == 0:  # another process may have been faster
                for statement in _SCHEMA.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the lock and commit at the end, or roll back on any error.

        Raises:
            RetryableError: ``store.locked`` if another process writes for a minute.
            FatalError: ``store.disk_full``, ``store.unwritable`` or ``store.damaged``.
        """
        with self._lock, _named_errors(self.root):
            if self._db.in_transaction:
                yield self._db
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                if self._db.in_transaction:  # on a full disk SQLite has rolled back already
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """Return all rows of a query."""
        with self._lock, _named_errors(self.root):
            return self._db.execute(query, values).fetchall()

    def close(self) -> None:
        """Close the database; the object must not be used afterwards."""
        with self._lock:
            self._db.close()


@contextmanager
def _named_errors(root: Path) -> Iterator[None]:
    """Say in our words what SQLite could not do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        named = _named(error, root)
        if named is None:
            raise
        raise named from error


def _named(error: sqlite3.DatabaseError, root: Path) -> PhysEliteError | None:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return RetryableError("store.locked", f"another process has been writing to {root} for a minute; try again")
    if code == sqlite3.SQLITE_FULL:
        return FatalError("store.disk_full", f"no room is left for {root}; make some and build again, it goes on there")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR):
        return FatalError(
            "store.unwritable", f"{root} cannot be read and written ({error}); check disk and permissions"
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return FatalError(
            "store.damaged", f"{root}/store.sqlite is damaged ({error}); put a copy in its place or use another folder"
        )
    return None
