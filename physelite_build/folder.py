"""The work folder on disk: what may lie in it, and who may build in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from physelite_build.errors import FatalError, shorten

__all__ = ["is_building", "make_folder", "one_builder", "sweep"]

_LOCK = "build.lock"
_OURS = frozenset(("blobs", "physelite.toml", "releases", "report.html", "store.sqlite-shm", "store.sqlite-wal", _LOCK))


def make_folder(root: Path) -> None:
    """Make a work folder; an empty one or a half-made one of ours is taken as it is.

    Raises:
        FatalError: ``store.foreign`` if the name belongs to a file or to a folder with other files.
    """
    if root.exists() and not root.is_dir():
        raise FatalError("store.foreign", f"{root} is a file; name a folder for -o")
    if root.is_dir():
        other = sorted(p.name for p in root.iterdir() if p.name not in _OURS and not p.name.startswith("."))
        if other:
            raise FatalError(
                "store.foreign",
                f"{root} holds other files ({shorten(other[0])}); name a new folder for -o, scans are not touched",
            )
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FatalError(
            "store.unwritable", f"{root} cannot be made ({error.strerror}); name another folder for -o"
        ) from error


@contextmanager
def one_builder(root: Path) -> Iterator[None]:
    """Keep other builds out of a work folder while the body runs.

    The lock is that of an empty SQLite file, because SQLite knows how to lock on every system; it is gone when the process
    ends, however it ends. Reading is not kept out.

    Raises:
        FatalError: ``store.busy`` if another process, or another thread of this one, is building there.
    """
    with closing(_lock_file(root)) as lock:
        try:
            lock.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise FatalError(
                "store.busy",
                f"another build is at work in {root}; wait for its end or stop it (status, failures and explain work "
                "meanwhile)",
            ) from error
        yield


def is_building(root: Path) -> bool:
    """Tell whether a build is at work in a folder right now."""
    if not (root / _LOCK).exists():
        return False
    try:
        with one_builder(root):
            return False
    except FatalError:
        return True


def _lock_file(root: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(root / _LOCK, timeout=0, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise FatalError("store.unwritable", f"{root} cannot be written ({error}); check its permissions") from error


def sweep(root: Path) -> int:
    """Delete half-written blobs of a build that was killed; return how many. Only the one builder may call this."""
    halves = list((root / "blobs").glob("*/.tmp-*"))
    for half in halves:
        half.unlink(missing_ok=True)
    return len(halves)
