"""The list of a release's files by digest: ``MANIFEST.json``, without times and paths of any machine."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from physelite_build.blobs import sha256_of
from physelite_build.errors import ItemError
from physelite_build.records import Record

__all__ = ["MANIFEST", "FileEntry", "Manifest", "SplitCount", "files_of", "read_manifest"]

MANIFEST = "MANIFEST.json"


class FileEntry(Record):
    """One file of a release."""

    path: str
    """Relative to the release folder, with ``/``."""
    size_bytes: int
    sha256: str


class SplitCount(Record):
    """How many rows one split of one configuration holds."""

    config: str
    split: str
    rows: int


class Manifest(Record):
    """Everything needed to check a release and to know how it was made."""

    name: str
    version: str
    code_revision: str
    config_digest: str
    engines: tuple[str, ...]
    problems: int
    scored_problems: int
    """Problems with at least one typed answer."""
    splits: tuple[SplitCount, ...]
    files: tuple[FileEntry, ...]
    """Every other file, sorted by path."""

    def to_json(self) -> str:
        """Return the text of ``MANIFEST.json``."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"


def files_of(folder: Path) -> tuple[FileEntry, ...]:
    """Measure every file under a release folder but the manifest and Python's caches, sorted by path."""
    found = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    found.pop(MANIFEST, None)
    return tuple(
        FileEntry(path=name, size_bytes=path.stat().st_size, sha256=sha256_of(path.read_bytes()))
        for name, path in sorted(found.items())
    )


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a release.

    Raises:
        ItemError: ``release.no_manifest`` if there is none, ``release.bad_manifest`` if it is not one of ours.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise ItemError("release.no_manifest", f"{folder} has no {MANIFEST}; name the folder of one release")
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ItemError("release.bad_manifest", f"{path} cannot be read: {error.errors()[0]['msg']}") from error
