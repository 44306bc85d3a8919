"""Which scans does a zip hold, and is it safe to read them?

Helper of ``discover.py``. Members are read into memory one at a time, by position; their names never become paths.
"""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from physelite_build.errors import ItemError, shorten

if TYPE_CHECKING:
    from physelite_build.stages.ingest import IngestOptions

__all__ = ["OpenZip", "ZipMember", "open_zip"]

_DIRECTORY_BYTES_PER_MEMBER = 2048
"""Generous: a directory entry has 46 bytes, a name and extra fields. A larger directory is refused before it is read."""
_RATIO_MATTERS_BYTES = 50_000_000
"""Below this size any compression is harmless: one A4 page at 300 DPI as BMP has 26 MB and may be blank."""
_ENCRYPTED_FLAG, _UTF8_FLAG = 0x1, 0x800

_BROKEN = (
    zipfile.BadZipFile,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    zlib.error,
)
"""What ``zipfile`` raises on damaged archives and unknown compression."""


@dataclass(frozen=True, slots=True)
class ZipMember:
    """One file inside a zip."""

    index: int
    """Position in the directory of the zip; names need not be unique."""
    name: str
    """Name with ``/``, as written, decoded; only for people and for grouping."""
    size_bytes: int
    """Unpacked size that the directory claims; reading stops there."""
    packed_bytes: int
    encrypted: bool


class OpenZip:
    """An open zip and its files in directory order; folders are left out."""

    def __init__(self, archive: zipfile.ZipFile, members: tuple[ZipMember, ...], options: IngestOptions) -> None:
        self._archive = archive
        self._options = options
        self.members = members

    def read(self, member: ZipMember, *, name: str, size: int = -1) -> bytes:
        """Unpack one member, or its first bytes.

        Args:
            member: One of ``members``.
            name: Name for messages.
            size: How many bytes, -1 for all.

        Returns:
            Its bytes.

        Raises:
            ItemError: ``source.encrypted``, ``source.too_large``, ``source.zip_bomb`` by what the directory says, before a byte
                is unpacked; ``source.damaged`` if it does not unpack to that.
        """
        _refuse_unsafe(member, name=name, options=self._options)
        try:
            with self._archive.open(self._archive.infolist()[member.index]) as stream:
                return stream.read(size)
        except _BROKEN as error:
            message = f"{shorten(name)} cannot be unpacked ({shorten(error, limit=60)}); pack it again"
            raise ItemError("source.damaged", message) from error


@contextmanager
def open_zip(zip_path: Path, *, name: str, options: IngestOptions) -> Iterator[OpenZip]:
    """Open a zip and list its files without unpacking anything.

    Args:
        zip_path: The zip.
        name: Name for messages.
        options: Limits ``max_zip_members``, ``max_zip_bytes`` and those for members.

    Yields:
        The open zip.

    Raises:
        ItemError: ``source.unreadable``, ``source.damaged``, ``source.too_many_members``, ``source.zip_bomb`` (unpacks to more
            than the limit).
    """
    try:
        if _directory_bytes(zip_path) > options.max_zip_members * _DIRECTORY_BYTES_PER_MEMBER:
            raise ItemError("source.too_many_members", _too_many(name, options))
        archive = zipfile.ZipFile(zip_path)
    except OSError as error:
        message = f"{shorten(name)} cannot be opened ({error.strerror}); check its permissions"
        raise ItemError("source.unreadable", message) from error
    except _BROKEN as error:
        message = f"{shorten(name)} is a damaged zip ({shorten(error, limit=60)}); pack it again"
        raise ItemError("source.damaged", message) from error
    with archive:
        yield OpenZip(archive, _members(archive, name=name, options=options), options)


def _members(archive: zipfile.ZipFile, *, name: str, options: IngestOptions) -> tuple[ZipMember, ...]:
    files = [(index, info) for index, info in enumerate(archive.infolist()) if not info.is_dir()]
    if len(files) > options.max_zip_members:
        raise ItemError("source.too_many_members", _too_many(name, options))
    total = sum(info.file_size for _, info in files)
    if total > options.max_zip_bytes:
        raise ItemError(
            "source.zip_bomb",
            f"{shorten(name)} unpacks to {total} bytes, the limit is {options.max_zip_bytes}; split it or raise max_zip_bytes",
        )
    return tuple(
        ZipMember(
            index, _readable_name(info), info.file_size, info.compress_size, bool(info.flag_bits & _ENCRYPTED_FLAG)
        )
        for index, info in files
    )


def _refuse_unsafe(member: ZipMember, *, name: str, options: IngestOptions) -> None:
    if member.encrypted:
        raise ItemError("source.encrypted", f"{shorten(name)} is encrypted; pack it again without a password")
    if member.size_bytes > options.max_file_bytes:
        raise ItemError(
            "source.too_large",
            f"{shorten(name)} has {member.size_bytes} bytes, the limit is {options.max_file_bytes}; split it or raise "
            "the setting ingest.max_file_mb",
        )
    ratio = member.size_bytes / max(1, member.packed_bytes)
    if member.size_bytes > _RATIO_MATTERS_BYTES and ratio > options.max_zip_ratio:
        raise ItemError(
            "source.zip_bomb",
            f"{shorten(name)} unpacks to {ratio:.0f} times its size, the limit is {options.max_zip_ratio}; add the file "
            "itself if it is a scan",
        )


def _directory_bytes(zip_path: Path) -> int:
    """Return the size that the end record claims for the directory, 0 if there is no end record.

    Source:
        PKWARE APPNOTE 4.3.14 and 4.3.16.
    """
    with zip_path.open("rb") as stream:
        length = stream.seek(0, io.SEEK_END)
        stream.seek(max(0, length - 65_535 - 22 - 76))
        tail = stream.read()
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or end + 16 > len(tail):
        return 0
    size = int(struct.unpack_from("<I", tail, end + 12)[0])
    if size == 0xFFFFFFFF and end >= 76 and tail[end - 76 : end - 72] == b"PK\x06\x06":
        size = int(struct.unpack_from("<Q", tail, end - 76 + 40)[0])
    return size


def _readable_name(info: zipfile.ZipInfo) -> str:
    """Return a name with ``/``; names of old Chinese archives are GBK, which the zip format does not say."""
    name = info.orig_filename
    if not info.flag_bits & _UTF8_FLAG:
        raw = name.encode("cp437", errors="replace")
        for encoding in ("utf-8", "gb18030"):
            try:
                name = raw.decode(encoding)
            except UnicodeDecodeError:
                continue
            break
    return name.replace("\\", "/")


def _too_many(name: str, options: IngestOptions) -> str:
    return f"{shorten(name)} has more than {options.max_zip_members} members; split it or raise max_zip_members"
