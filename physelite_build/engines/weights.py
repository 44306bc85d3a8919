"""Where the weights of formula engines come from, whether they are there, and how they get there: only when asked for.

Weights inside packages (``engines/models.py``) are not listed here. ``cli/models.py`` is the command.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from physelite_build.errors import FatalError, shorten

__all__ = [
    "SOURCES",
    "Listed",
    "Progress",
    "Source",
    "WeightFile",
    "copy_in",
    "default_folder",
    "fetch",
    "listed",
    "require",
]

LOCK_NAME = "weights.lock.json"
BLOCK_BYTES = 1 << 18
CONNECT_TIMEOUT_S = 15.0
STALL_TIMEOUT_S = 60.0

Progress = Callable[[str, int, int | None], None]
"""Takes the name of a file, bytes so far, and bytes in all if the server says so."""


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One file of an engine."""

    name: str
    url: str | None = None
    """Official address; None if it cannot be fetched by us."""
    size_mb: float | None = None
    """As published; None if not known."""
    needed: bool = True
    """False if the engine works without it, only worse."""


@dataclass(frozen=True, slots=True)
class Source:
    """What an engine needs and who publishes it."""

    engine: str
    files: tuple[WeightFile, ...]
    publisher: str


_PIX2TEX_RELEASE = "https://github.com/lukas-blecher/LaTeX-OCR/releases/download/v0.0.1"
"""The release that ``pix2tex.model.checkpoints.get_latest_checkpoint`` of pix2tex 0.1.4 fetches."""

SOURCES = {
    source.engine: source
    for source in (
        Source(
            "pix2tex",
            (
                WeightFile("weights.pth", f"{_PIX2TEX_RELEASE}/weights.pth", 97.4),
                WeightFile("image_resizer.pth", f"{_PIX2TEX_RELEASE}/image_resizer.pth", 18.5, needed=False),
            ),
            "LaTeX-OCR release v0.0.1, MIT",
        ),
        Source(
            "formulanet",
            (WeightFile("inference.yml"),),
            "PaddleOCR, Apache-2.0; export a model folder on a connected machine and name it in formula.weights",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Listed:
    """A file of an engine as it is on this machine."""

    engine: str
    file: WeightFile
    path: Path
    size_bytes: int | None
    """None if the file is missing."""
    sha256: str | None
    locked: bool
    """Whether the digest is the one recorded when the file was first fetched."""


def default_folder(cache: Path, engine: str) -> Path:
    """Return where the weights of an engine are put."""
    return cache / "weights" / engine


def listed(source: Source, folder: Path) -> list[Listed]:
    """Look at the files of an engine in a folder; digests are computed."""
    lock = _read_lock(folder)
    found = []
    for file in source.files:
        path = folder / file.name
        digest = _sha256(path) if path.is_file() else None
        size = path.stat().st_size if digest else None
        locked = digest is not None and lock.get(file.name, {}).get("sha256") == digest
        found.append(Listed(source.engine, file, path, size, digest, locked))
    return found


def require(engine: str, folder: Path) -> None:
    """Make sure that the files which an engine needs are there.

    Raises:
        FatalError: ``engine.weights`` names the missing file and what to do.
    """
    source = SOURCES[engine]
    missing = [file for file in source.files if file.needed and not (folder / file.name).is_file()]
    if missing:
        command = f"run: physelite models fetch {engine}, or " if missing[0].url else ""
        raise FatalError(
            "engine.weights",
            f"the engine {engine!r} needs {missing[0].name}, which is not in {folder}; "
            f"{command}name a folder that has it in the setting formula.weights",
        )


def fetch(source: Source, folder: Path, *, progress: Progress | None = None) -> list[Listed]:
    """Download the files of an engine that are missing, each to a temporary name first; a broken download goes on where it ended.

    The publishers state no digests. So the digest of a first download is recorded in ``weights.lock.json``, and every later one
    must equal it.

    Args:
        source: What to fetch; each file has an address.
        folder: Where to; made if missing.
        progress: Told about every block.

    Returns:
        The files as they are now.

    Raises:
        FatalError: ``weights.not_published`` (no address), ``weights.network``, ``weights.refused`` (HTTP status),
            ``weights.incomplete`` (connection cut) or ``weights.changed`` (digest is not the recorded one).
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file in source.files:
        if file.url is None:
            raise FatalError(
                "weights.not_published", f"{file.name} of {source.engine!r} has no address; {source.publisher}"
            )
        path = folder / file.name
        if not path.exists():
            part = folder / f".{file.name}.part"
            _download(file.url, part, file.name, progress)
            _settle(part, path, origin=file.url)
        else:
            _settle(path, path, origin=file.url)
    return listed(source, folder)


def copy_in(source: Source, origin: Path, folder: Path) -> list[Listed]:
    """Copy the files of an engine out of a folder instead of downloading them.

    Args:
        source: What to copy; with it ``config.yaml`` and ``tokenizer.json``, if they lie there.
        origin: Folder with the files.
        folder: Where to; made if missing.

    Raises:
        FatalError: ``weights.missing`` if a needed file is not in ``origin``, ``weights.changed`` as in ``fetch``.
    """
    lacking = [file.name for file in source.files if file.needed and not (origin / file.name).is_file()]
    if lacking:
        raise FatalError("weights.missing", f"{origin} has no {lacking[0]}; name the folder that holds it")
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*(file.name for file in source.files), "config.yaml", "tokenizer.json"):
        if (origin / name).is_file():
            part = folder / f".{name}.part"
            shutil.copyfile(origin / name, part)
            _settle(part, folder / name, origin=str(origin))
    return listed(source, folder)


def _download(url: str, part: Path, name: str, progress: Progress | None) -> None:
    done = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={done}-"} if done else {}
    timeout = httpx.Timeout(STALL_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    try:
        with httpx.stream("GET", url, headers=headers, timeout=timeout, follow_redirects=True) as response:
            if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                part.unlink()
                raise FatalError("weights.incomplete", f"{name}: the started download was stale; run the command again")
            if response.is_error:
                raise FatalError(
                    "weights.refused",
                    f"{name}: {shorten(url)} answered {response.status_code}; fetch it by hand and use --from FOLDER",
                )
            if response.status_code != httpx.codes.PARTIAL_CONTENT:
                done = 0
            length = response.headers.get("Content-Length")
            total = done + int(length) if length else None
            with part.open("ab" if done else "wb") as out:
                for block in response.iter_bytes(BLOCK_BYTES):
                    out.write(block)
                    done += len(block)
                    if progress is not None:
                        progress(name, done, total)
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.ReadTimeout) as error:
        raise FatalError(
            "weights.incomplete", f"{name}: the download broke off after {done} bytes; run the command again to go on"
        ) from error
    except httpx.TransportError as error:
        raise FatalError(
            "weights.network",
            f"{name}: {shorten(url)} cannot be reached ({type(error).__name__}); fetch it elsewhere and use --from FOLDER",
        ) from error


def _settle(part: Path, path: Path, *, origin: str) -> None:
    """Compare a file with the lock, record it if it is new, and give it its name."""
    lock = _read_lock(path.parent)
    digest = _sha256(part)
    known = lock.get(path.name)
    if known is not None and known["sha256"] != digest:
        if part != path:
            part.unlink()
        raise FatalError(
            "weights.changed",
            f"{path.name} from {shorten(origin)} has SHA-256 {digest[:16]}…, recorded was {known['sha256'][:16]}…; "
            f"if the change is wanted, remove {path} and its entry in {path.parent / LOCK_NAME}",
        )
    os.replace(part, path)
    if known is None:
        lock[path.name] = {"sha256": digest, "size_bytes": path.stat().st_size, "origin": origin}
        temporary = path.parent / f".{LOCK_NAME}"
        temporary.write_text(json.dumps(lock, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        os.replace(temporary, path.parent / LOCK_NAME)


def _read_lock(folder: Path) -> dict[str, Any]:
    path = folder / LOCK_NAME
    if not path.exists():
        return {}
    try:
        lock: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FatalError("weights.lock", f"{path} is not JSON; remove it and fetch again") from error
    return lock


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
