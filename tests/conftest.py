"""Fixtures that several test folders share. What costs time is made once per session."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from builds import COMMAND, REPOSITORY, TESTS, PlainBuilds, Run


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder for child processes; one that is already set stays, so that model folders are not made again."""
    return Path(os.environ.get("PHYSELITE_CACHE") or tmp_path_factory.mktemp("cache"))


@pytest.fixture
def plain(tmp_path: Path) -> PlainBuilds:
    return PlainBuilds(tmp_path / "work")


@pytest.fixture(scope="session")
def fixed_engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that, on the import path, makes the text engine ``fixed`` an installed one."""
    folder = tmp_path_factory.mktemp("engine")
    info = folder / "fixed_text-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fixed-text\nVersion: 1\n", encoding="utf-8")
    points = "[physelite_build.text_engines]\nfixed = fixed_text:FixedTextEngine\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def environment(cache: Path, fixed_engine: Path) -> dict[str, str]:
    """Environment of a child process that knows the engine ``fixed`` and keeps to its own cache."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PHYSELITE_", "PREFECT_"))}
    path = os.pathsep.join([str(REPOSITORY), str(TESTS), str(fixed_engine)])
    return kept | {"PYTHONPATH": path, "PHYSELITE_CACHE": str(cache), "PYTHONFAULTHANDLER": "1"}


@pytest.fixture(scope="session")
def prefect_api(environment: dict[str, str], cache: Path) -> Iterator[str]:
    """Address of one Prefect server for all builds of the session, so that not each of them starts its own."""
    script = (
        "import os, sys\n"
        "from physelite_build.config import Settings\n"
        "from physelite_build.flows.environment import prepare\n"
        "with prepare(Settings()):\n"
        "    print(os.environ['PREFECT_API_URL'], flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


@pytest.fixture(scope="session")
def physelite(environment: dict[str, str], prefect_api: str) -> Run:
    """Run the command line to its end with the engine ``fixed``; keyword ``env`` adds variables."""

    def run(
        *arguments: str | Path, env: dict[str, str] | None = None, prefix: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        given = environment | {"PHYSELITE_READ__TEXT_ENGINE": "fixed", "PREFECT_API_URL": prefect_api} | (env or {})
        given = {name: value for name, value in given.items() if value}
        return subprocess.run(
            [*prefix, *COMMAND, *map(str, arguments)],
            env=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )

    return run
