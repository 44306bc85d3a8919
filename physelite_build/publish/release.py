"""Build one release folder, all of it or nothing. Neighbours: ``gate.py`` before it, ``verify.py`` after it."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from physelite_build.errors import FatalError, shorten
from physelite_build.publish.card import Card, render_card, render_changelog, render_licence
from physelite_build.publish.manifest import MANIFEST, Manifest, SplitCount, files_of
from physelite_build.publish.schema import CONFIGS, ReleaseMeta, ReleaseRow
from physelite_build.publish.table import WrittenSplit, write_config
from physelite_build.records import Record

__all__ = ["ReleaseSummary", "build_release"]

_VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?")


class ReleaseSummary(Record):
    """What was built and where it lies."""

    folder: Path
    version: str
    problems: int
    scored_problems: int
    splits: tuple[SplitCount, ...]
    files: int
    size_bytes: int
    manifest_sha256: str
    is_new: bool
    """False if the same release was already there and has been left alone."""


def build_release(
    out: Path,
    *,
    version: str,
    rows: Sequence[ReleaseRow],
    images: Callable[[str], bytes],
    meta: ReleaseMeta,
    scorer_package: Path,
    overwrite: bool = False,
) -> ReleaseSummary:
    """Write a release folder.

    Args:
        out: The release folder itself, usually ``WORK/releases/<version>``; it appears complete or not at all.
        version: ``major.minor.patch`` with an optional ``-suffix``.
        rows: Problems in any order.
        images: Gives the PNG bytes of a digest.
        meta: What the release says about itself.
        scorer_package: Folder of the scorer, copied without caches.
        overwrite: True to replace a release of other content at the same place.

    Returns:
        Counts and place. Equal rows and meta give equal bytes of every file with one version of pyarrow.

    Raises:
        FatalError: ``release.empty``, ``release.bad_version``, ``release.repeated_id``, ``release.no_scorer``,
            ``release.no_image``, or ``release.exists`` if other content is there and ``overwrite`` is false.
    """
    _refuse_bad_input(version, rows, scorer_package)
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}.tmp-"))
    try:
        temporary.chmod(0o755)
        manifest = _fill(temporary, version, sorted(rows, key=lambda row: row.id), images, meta, scorer_package)
        is_new = not _is_same(temporary, out)
        if is_new:
            _move(temporary, out, overwrite=overwrite)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return ReleaseSummary(
        folder=out,
        version=version,
        problems=manifest.problems,
        scored_problems=manifest.scored_problems,
        splits=manifest.splits,
        files=len(manifest.files) + 1,
        size_bytes=sum(entry.size_bytes for entry in manifest.files),
        manifest_sha256=_digest(out / MANIFEST),
        is_new=is_new,
    )


def _refuse_bad_input(version: str, rows: Sequence[ReleaseRow], scorer_package: Path) -> None:
    if not rows:
        raise FatalError(
            "release.empty", "no problem may go out; physelite release check WORK says what holds each of them back"
        )
    if not _VERSION.fullmatch(version):
        raise FatalError(
            "release.bad_version", f"{shorten(version)} is no version; write for example 1.0.0 or 0.1.0-demo"
        )
    ids = [row.id for row in rows]
    if len(set(ids)) < len(ids):
        twice = next(row_id for row_id in ids if ids.count(row_id) > 1)
        raise FatalError(
            "release.repeated_id", f"the public id {twice} occurs twice; a release holds each problem once"
        )
    if not (scorer_package / "__main__.py").is_file():
        raise FatalError(
            "release.no_scorer", f"{scorer_package} holds no scorer that can be run; install the package again"
        )


def _fill(
    folder: Path,
    version: str,
    rows: Sequence[ReleaseRow],
    images: Callable[[str], bytes],
    meta: ReleaseMeta,
    scorer_package: Path,
) -> Manifest:
    written: list[WrittenSplit] = []
    for config in CONFIGS:
        written += write_config(folder, config, rows, images=images, canary=meta.canary)
    gold = [_gold_line(row, meta.canary) for row in rows if row.answers]
    _write(folder / "answers.jsonl", "".join(f"{line}\n" for line in gold))
    shutil.copytree(scorer_package, folder / "scorer", ignore=shutil.ignore_patterns("__pycache__", "*.py[co]", ".*"))
    card = Card(version=version, rows=tuple(rows), meta=meta, written=tuple(written))
    _write(folder / "README.md", render_card(card))
    _write(folder / "LICENSE", render_licence(card))
    _write(folder / "CHANGELOG.md", render_changelog(card))
    manifest = Manifest(
        name=meta.name,
        version=version,
        code_revision=meta.code_revision,
        config_digest=meta.config_digest,
        engines=meta.engines,
        problems=len(rows),
        scored_problems=len(gold),
        splits=tuple(SplitCount(config=part.config, split=part.split, rows=part.rows) for part in written),
        files=files_of(folder),
    )
    _write(folder / MANIFEST, manifest.to_json())
    return manifest


def _gold_line(row: ReleaseRow, canary: str) -> str:
    answers = [
        answer.model_dump(mode="json", include={"part", "answer", "kind", "tolerance"}) for answer in row.answers
    ]
    gold = {"id": row.id, "subject": row.subject, "difficulty": row.difficulty, "answers": answers}
    return json.dumps(gold | {"canary": canary}, ensure_ascii=False)


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode())


def _digest(path: Path) -> str:
    from physelite_build.blobs import sha256_of

    return sha256_of(path.read_bytes())


def _is_same(new: Path, old: Path) -> bool:
    """Compare bytes, not manifests: a damaged release must not pass for the same one."""
    if not (old / MANIFEST).is_file():
        return False
    return files_of(new) == files_of(old) and _digest(new / MANIFEST) == _digest(old / MANIFEST)


def _move(temporary: Path, out: Path, *, overwrite: bool) -> None:
    if not out.exists():
        temporary.replace(out)
        return
    if not overwrite:
        raise FatalError(
            "release.exists",
            f"{out} holds a release of other content; raise the version, or overwrite it if nobody has it yet",
        )
    old = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}.old-"))
    try:
        out.replace(old / out.name)
        try:
            temporary.replace(out)
        except BaseException:
            (old / out.name).replace(out)
            raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
