"""Is this release folder what it says, and can a stranger use it? Looks at files only, never at the store."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from physelite_build.errors import ItemError, shorten
from physelite_build.publish.manifest import Manifest, files_of, read_manifest
from physelite_build.records import Finding, Severity

__all__ = ["ScorerRun", "check_files", "run_scorer", "verify_release"]

TIME_LIMIT_S = 1800
"""For each outside program; the self-check of a few thousand answers takes minutes."""
_HOME_PATH = re.compile(r"(?:/home/|/Users/|/root/|/tmp/|/var/folders/|[A-Za-z]:\\Users\\)[\w.-]+")
"""Paths that only exist on the machine of whoever built the release."""


@dataclass(frozen=True, slots=True)
class ScorerRun:
    """How the bundled scorer's self-check ended."""

    exit_code: int
    """0 good, 4 a gold answer does not equal itself, anything else is a crash."""
    table: str
    """What it printed."""


def verify_release(folder: Path, *, scorer_run: ScorerRun | None = None) -> list[Finding]:
    """Check a finished release.

    Args:
        folder: Release folder.
        scorer_run: Result of :func:`run_scorer` if the caller already has it (to print its table); None to run it here.

    Returns:
        Blocking findings: changed, missing or extra files, a Python file in the root (the Hub would refuse the dataset),
        paths of the build machine, data that ``datasets`` cannot open offline, pictures that do not decode, a scorer whose
        self-check fails. Empty if the release is good.

    Raises:
        ItemError: ``release.no_manifest`` or ``release.bad_manifest``.
    """
    manifest = read_manifest(folder)
    found = [*check_files(folder), *_opening_findings(folder, manifest)]
    run = scorer_run or run_scorer(folder)
    if run.exit_code != 0:
        tail = " ".join(run.table.split())[-300:]
        found.append(
            _block("scorer/", "selfcheck_failed", f"the self-check ended with exit code {run.exit_code}: {tail}")
        )
    return found


def check_files(folder: Path) -> list[Finding]:
    """Do the quick part of :func:`verify_release`: digests, files that must not be there, paths of the build machine.

    Raises:
        ItemError: ``release.no_manifest`` or ``release.bad_manifest``.
    """
    return [*_file_findings(folder, read_manifest(folder)), *_path_findings(folder)]


def run_scorer(folder: Path) -> ScorerRun:
    """Run the bundled scorer's self-check as an outsider would: in the release folder, with nothing of ours on the path."""
    done = _outside([sys.executable, "-m", "scorer", "selfcheck"], cwd=folder)
    return ScorerRun(done.returncode, "\n".join(part for part in (done.stdout.strip(), done.stderr.strip()) if part))


def _block(subject: str, code: str, message: str) -> Finding:
    return Finding(subject=subject, code=f"release.{code}", severity=Severity.BLOCK, message=message)


def _file_findings(folder: Path, manifest: Manifest) -> Iterator[Finding]:
    listed = {entry.path: entry for entry in manifest.files}
    present = {entry.path: entry for entry in files_of(folder)}
    for name in sorted(listed.keys() | present.keys()):
        if name not in present:
            yield _block(name, "file_missing", f"{name} is in the manifest but not in the folder")
        elif name not in listed:
            yield _block(name, "file_extra", f"{name} is in the folder but not in the manifest")
        elif listed[name] != present[name]:
            yield _block(name, "file_changed", f"{name} differs from the manifest; build the release again")
    for path in sorted(folder.glob("*.py")):
        yield _block(
            path.name, "script_in_root", f"{path.name} stands in the root; load_dataset refuses such a dataset"
        )


def _path_findings(folder: Path) -> Iterator[Finding]:
    here = str(folder.resolve().parent)
    for entry in files_of(folder):
        path = folder / entry.path
        for text in _texts_of(path):
            match = _HOME_PATH.search(text)
            hit = match[0] if match else here if len(here) > 1 and here in text else None
            if hit:
                yield _block(
                    entry.path, "machine_path", f"{entry.path} names a path of the build machine: {shorten(hit)}"
                )
                break


def _texts_of(path: Path) -> Iterator[str]:
    if path.suffix != ".parquet":
        yield path.read_bytes().decode("utf-8", errors="replace")
        return
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
        yield str(file.schema_arrow.metadata)
        for batch in file.iter_batches(batch_size=64):
            names = [name for name in batch.schema.names if name != "diagrams"]
            yield json.dumps(batch.select(names).to_pylist(), ensure_ascii=False, default=str)
            if "diagrams" in batch.schema.names:
                pictures = batch.column("diagrams").flatten()
                yield " ".join(str(name) for name in pictures.field("path").to_pylist())
    except (pyarrow.ArrowException, OSError):
        return  # a broken file is a finding of its own: changed digest, does not load


def _opening_findings(folder: Path, manifest: Manifest) -> list[Finding]:
    wanted = json.dumps([count.model_dump() for count in manifest.splits])
    script = Path(__file__).with_name("open_release.py")
    with tempfile.TemporaryDirectory(prefix="physelite-open-") as cache:
        # -P: our folder must not stand on the import path, where its modules could hide others.
        command = [sys.executable, "-P", str(script), str(folder.resolve()), wanted, cache]
        done = _outside(command, cwd=Path(cache), HF_HOME=cache, HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")
    try:
        entries = json.loads(done.stdout)
    except json.JSONDecodeError:
        return [
            _block(
                "data/",
                "does_not_load",
                f"the program that opens it ended with {done.returncode}: {done.stderr[-300:]}",
            )
        ]
    return [
        Finding(
            subject=entry["where"],
            code=entry["code"],
            severity=Severity.BLOCK,
            message=f"{entry['where']}: {entry['message']}",
        )
        for entry in entries
    ]


def _outside(command: list[str], *, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program without our import path and without leaving caches in the release.

    Raises:
        ItemError: ``release.check_timeout`` if it runs longer than the limit.
    """
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    clean |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", **environment}
    try:
        return subprocess.run(
            command,
            cwd=cwd,
            env=clean,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ItemError(
            "release.check_timeout", f"{shorten(' '.join(command))} did not end within {TIME_LIMIT_S} s"
        ) from error
