"""Which files are scans, folder by folder, on disk and in zips?

Helper of ``discover.py``, which turns the folders into documents.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from physelite_build.errors import ItemError, shorten
from physelite_build.records import SourceNotes
from physelite_build.stages.discover.archive import OpenZip, ZipMember, open_zip
from physelite_build.stages.ingest import HEAD_BYTES, IngestOptions, MediaType, has_several_pages, media_type_of

__all__ = ["DiscoveryProblem", "ListedFile", "ListedFolder", "Lister", "ScanFile"]

_NOTES_NAME = "source.toml"
_NOTES_BYTES = 65_536

_SCAN_SUFFIXES = {
    ".pdf": MediaType.PDF,
    ".tif": MediaType.TIFF,
    ".tiff": MediaType.TIFF,
    ".png": MediaType.PNG,
    ".jpg": MediaType.JPEG,
    ".jpeg": MediaType.JPEG,
    ".webp": MediaType.WEBP,
    ".bmp": MediaType.BMP,
    ".zip": MediaType.ZIP,
}
_TEXT_SUFFIXES = frozenset(
    (".bib", ".csv", ".json", ".jsonl", ".log", ".md", ".rst", ".tex", ".toml", ".tsv", ".txt", ".yaml", ".yml")
)
_TEXT_NAMES = frozenset(("authors", "copying", "copyright", "licence", "license", "notice", "readme"))
"""Files without suffix beside scans, also with more words behind (``LICENSE-MIT``); case does not matter."""
_SYSTEM_NAMES = frozenset(("desktop.ini", "thumbs.db"))
_SKIPPED_FOLDERS = frozenset(("__macosx", "truth"))


@dataclass(frozen=True, slots=True)
class ScanFile:
    """One file of a document, on disk or inside a zip."""

    name: str
    """Relative to the folder given on the command line, with ``/``; for a zip member ``a.zip!/b.png``."""
    path: Path
    """Absolute path of the file, for a member that of the zip."""
    media_type: MediaType
    """Told by content."""
    member: ZipMember | None = None

    def read(self, options: IngestOptions) -> bytes:
        """Return the bytes of the file.

        Raises:
            ItemError: ``source.unreadable``, ``source.too_large``; for members also ``source.encrypted``,
                ``source.zip_bomb`` and ``source.damaged``.
        """
        if self.member is None:
            return _read_file(self.path, name=self.name, limit=options.max_file_bytes)
        with open_zip(self.path, name=self.name, options=options) as archive:
            return archive.read(self.member, name=self.name)


@dataclass(frozen=True, slots=True)
class DiscoveryProblem:
    """Something that was handed in and will not be read."""

    name: str
    """Relative name of the file or folder."""
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file that is a scan by content or, if it is broken, should be one by its name."""

    base: str
    """Last part of its name."""
    media_type: MediaType
    scan: ScanFile | None
    """None if the file is broken; it still counts when its folder is judged, so that mending it renames nothing."""
    several_pages: bool = False
    """True for a TIFF of more than one page."""

    @property
    def stem(self) -> str:
        """Name without the suffix of a scan."""
        path = PurePosixPath(self.base)
        return path.stem if path.suffix.lower() in _SCAN_SUFFIXES else self.base


@dataclass(slots=True)
class ListedFolder:
    """What one folder of the disk or of a zip holds, without its folders."""

    name: str
    """Last part of its path; for the top of a zip its stem."""
    parent: str
    """Name of the folder above."""
    notes: SourceNotes = field(default_factory=SourceNotes)
    files: list[ListedFile] = field(default_factory=list)
    zips: int = 0
    is_single_file: bool = False
    """True for a file given by itself on the command line."""


class Lister:
    """One pass over everything handed in; remembers what it has seen, so that loops of links end."""

    def __init__(self, options: IngestOptions) -> None:
        self._options = options
        self._seen: set[str] = set()
        self.folders: list[ListedFolder] = []
        self.problems: list[DiscoveryProblem] = []

    def add(self, path: Path) -> None:
        """List a folder with everything below, or a single file. What was listed before is passed over."""
        path = Path(os.path.abspath(path))  # resolve() would rename a linked folder
        try:
            mode = path.stat().st_mode
        except OSError as error:
            code = "source.missing" if isinstance(error, FileNotFoundError) else "source.unreadable"
            self._fail(_readable(path.name), code, f"cannot be opened ({error.strerror}); check the path")
            return
        if not stat.S_ISDIR(mode):
            above = path.parent
            folder = ListedFolder(_readable(above.name), _readable(above.parent.name), is_single_file=True)
            folder.notes = self._disk_notes(above / _NOTES_NAME, name=_NOTES_NAME)
            self.folders.append(folder)
            self._disk_file(path, folder, prefix="")
            return
        waiting, links = [(path, "")], list[tuple[Path, str]]()
        while waiting or links:  # links last: a folder keeps its own name if a link leads to it too
            current, prefix = waiting.pop() if waiting else links.pop(0)
            if self._is_new(current):
                self._disk_folder(current, prefix, waiting, links)

    def _fail(self, name: str, code: str, what: str) -> None:
        self.problems.append(DiscoveryProblem(name, code, f"{shorten(name)} {what}"))

    def _is_new(self, path: Path) -> bool:
        real = os.path.realpath(path)
        if real in self._seen:
            return False
        self._seen.add(real)
        return True

    # ------------------------------------------------------------ disk
    def _disk_folder(
        self, path: Path, prefix: str, waiting: list[tuple[Path, str]], links: list[tuple[Path, str]]
    ) -> None:
        try:
            with os.scandir(path) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            name = prefix.rstrip("/") or _readable(path.name)
            self._fail(name, "source.unreadable", f"cannot be listed ({error.strerror}); check its permissions")
            return
        folder = ListedFolder(_readable(path.name), _readable(path.parent.name))
        if any(entry.name == _NOTES_NAME for entry in found):
            folder.notes = self._disk_notes(path / _NOTES_NAME, name=f"{prefix}{_NOTES_NAME}")
        self.folders.append(folder)
        for entry in found:
            if _is_folder(entry):
                if not _is_skipped_folder(entry.name):
                    below = links if entry.is_symlink() else waiting
                    below.append((path / entry.name, f"{prefix}{_readable(entry.name)}/"))
            elif not _is_text(entry.name):
                self._disk_file(path / entry.name, folder, prefix=prefix)

    def _disk_file(self, path: Path, folder: ListedFolder, *, prefix: str) -> None:
        name = f"{prefix}{_readable(path.name)}"
        try:
            status = path.stat()
        except OSError as error:
            self._fail(
                name, "source.unreadable", f"cannot be opened ({error.strerror}); check the link or its permissions"
            )
            return
        if not stat.S_ISREG(status.st_mode):
            self._fail(name, "source.unreadable", "is no regular file; copy what it gives into one")
            return
        if not self._is_new(path):
            return

        def start(size: int) -> bytes:
            return _read_file(path, name=name, limit=self._options.max_file_bytes, size=size)

        listed = self._listed(_readable(path.name), ScanFile(name, path, MediaType.ZIP), status.st_size, start)
        if listed is not None and listed.media_type is MediaType.ZIP:
            folder.zips += 1
            if listed.scan is not None:
                self._zip(path, name, listed.stem, folder)
        elif listed is not None:
            folder.files.append(listed)

    def _disk_notes(self, path: Path, *, name: str) -> SourceNotes:
        try:
            if not path.is_file():
                return SourceNotes()
            return self._notes(_read_file(path, name=name, limit=_NOTES_BYTES), name)
        except ItemError as error:
            self.problems.append(DiscoveryProblem(name, "source.bad_notes", error.message))
            return SourceNotes()

    # ------------------------------------------------------------ zip
    def _zip(self, path: Path, name: str, stem: str, above: ListedFolder) -> None:
        folders: dict[tuple[str, ...], ListedFolder] = {}
        names: set[str] = set()
        try:
            with open_zip(path, name=name, options=self._options) as archive:
                for member in archive.members:
                    parts = _safe_parts(member.name)
                    if not parts or any(_is_skipped_folder(part) for part in parts[:-1]):
                        continue
                    place = parts[:-1]
                    if place not in folders:
                        inside = [above.name, stem, *place]
                        folders[place] = ListedFolder(inside[-1], inside[-2], notes=above.notes)
                    shown = f"{name}!/{'/'.join(parts)}"
                    shown = shown if shown not in names else f"{shown}#{member.index}"
                    names.add(shown)
                    scan = ScanFile(shown, path, MediaType.ZIP, member)
                    self._zip_member(archive, scan, parts[-1], folders[place])
        except ItemError as error:
            self.problems.append(DiscoveryProblem(name, error.code, error.message))
        self.folders += folders.values()

    def _zip_member(self, archive: OpenZip, scan: ScanFile, base: str, folder: ListedFolder) -> None:
        member = scan.member
        if member is None:
            raise ValueError(f"{scan.name} is no zip member")

        def read(size: int) -> bytes:
            return archive.read(member, name=scan.name, size=size)

        if base == _NOTES_NAME:
            try:
                folder.notes = self._notes(read(_NOTES_BYTES), scan.name)
            except ItemError as error:
                self.problems.append(DiscoveryProblem(scan.name, "source.bad_notes", error.message))
        if _is_text(base):
            return
        listed = self._listed(base, scan, member.size_bytes, read)
        if listed is not None and listed.media_type is not MediaType.ZIP:
            folder.files.append(listed)
        elif listed is not None and listed.scan is not None:
            self._fail(scan.name, "source.nested_zip", "is a zip inside a zip; unpack it beside the scans")

    # ------------------------------------------------------------ any file
    def _listed(self, base: str, scan: ScanFile, size_bytes: int, read: Callable[[int], bytes]) -> ListedFile | None:
        """Tell what a file is; None, and a problem, if it is none of ours."""
        suffix = PurePosixPath(base).suffix.lower()
        by_name = _SCAN_SUFFIXES.get(suffix)
        broken = None if by_name is None else ListedFile(base, by_name, None)
        if size_bytes == 0 and by_name is not None:
            self._fail(scan.name, "source.empty", "is empty; scan or copy it again")
            return broken
        try:
            kind = media_type_of(read(HEAD_BYTES))
            if kind is None or (kind is MediaType.ZIP and by_name is None and suffix):
                self._fail(scan.name, *_refusal(suffix))
                return broken
            several = kind is MediaType.TIFF and has_several_pages(read(-1))
        except ItemError as error:
            self.problems.append(DiscoveryProblem(scan.name, error.code, error.message))
            return broken
        return ListedFile(base, kind, ScanFile(scan.name, scan.path, kind, scan.member), several)

    def _notes(self, data: bytes, name: str) -> SourceNotes:
        try:
            return SourceNotes.model_validate(tomllib.loads(data.decode("utf-8-sig")))
        except ValidationError as error:
            first = error.errors()[0]
            what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            what = str(error)
        known = ", ".join(SourceNotes.model_fields)
        self._fail(name, "source.bad_notes", f"is not used ({shorten(what)}); it may set {known}")
        return SourceNotes()


def _refusal(suffix: str) -> tuple[str, str]:
    if suffix in _SCAN_SUFFIXES:
        return (
            "source.unknown_type",
            f"holds no known picture or document although it ends in {suffix}; convert it again",
        )
    return "source.unsupported", "is of a type that is not read; convert it to PDF, TIFF, PNG, JPEG, WebP or BMP"


def _read_file(path: Path, *, name: str, limit: int, size: int = -1) -> bytes:
    try:
        with path.open("rb") as stream:
            length = os.fstat(stream.fileno()).st_size
            if length > limit:
                raise ItemError(
                    "source.too_large", f"{shorten(name)} has {length} bytes, the limit is {limit}; split it"
                )
            return stream.read(size)
    except OSError as error:
        message = f"{shorten(name)} cannot be read ({error.strerror}); check its permissions"
        raise ItemError("source.unreadable", message) from error


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_skipped_folder(name: str) -> bool:
    return name.startswith(".") or name.lower() in _SKIPPED_FOLDERS


def _is_text(name: str) -> bool:
    """Tell whether a file is no scan by its name and nobody expects it to be read."""
    lower = name.lower()
    suffix = PurePosixPath(lower).suffix
    first_word = lower.replace("-", " ").replace("_", " ").replace(".", " ").partition(" ")[0]
    plain = not suffix and first_word in _TEXT_NAMES
    return lower.startswith(".") or suffix in _TEXT_SUFFIXES or plain or lower in _SYSTEM_NAMES


def _safe_parts(name: str) -> tuple[str, ...]:
    """Split a member's name into parts that cannot lead out of a folder."""
    return tuple(_readable(part) for part in name.split("/") if part not in ("", ".", ".."))


def _readable(name: str) -> str:
    """Return a file name that can be stored as UTF-8; bytes that are no text are written as escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
