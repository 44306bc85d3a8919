"""How tests build: in this process without Prefect, or as a user does on the command line."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fixed_text import FixedEngines

from physelite_build.config import Settings
from physelite_build.machine import BuildResult, Machine, build_corpus
from physelite_build.store import Store

TESTS = Path(__file__).resolve().parent
REPOSITORY = TESTS.parent
SAMPLES = REPOSITORY / "data" / "samples"

COMMAND = (sys.executable, "-c", "from physelite_build.cli import main; main()")
"""The command line of the code under test, whatever is installed."""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True, slots=True)
class PlainBuilds:
    """Builds without Prefect and with engines that need no weights, in one work folder."""

    work: Path

    def __call__(
        self, *paths: Path, limit: int | None = None, engines: FixedEngines | None = None, run_id: str | None = None
    ) -> BuildResult:
        store = Store(self.work)
        try:
            name = run_id or f"run-{len(store.rows('SELECT 1 FROM run')) + 1}"
            machine = Machine(store, Settings(), run_id=name, engines=engines or FixedEngines())
            with store.one_builder():
                return build_corpus(
                    machine, machine, paths, started_at="2026-01-01T00:00:00Z", limit=limit, tell=lambda *_: None
                )
        finally:
            store.close()

    def store(self) -> Store:
        return Store(self.work, create=False)


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below a folder, by relative path."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
