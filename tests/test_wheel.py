"""What an installed wheel carries."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_flows_live_inside_our_namespace(names: list[str]) -> None:
    assert "physelite_build/flows/build.py" in names
    assert not [name for name in names if name.startswith(("flows/", "tests/", "data/"))]


def test_templates_scorer_and_type_marker_are_carried(names: list[str]) -> None:
    for wanted in (
        "physelite_build/py.typed",
        "physelite_build/scorer/__main__.py",
        "physelite_build/scorer/README.md",
    ):
        assert wanted in names
    assert [name for name in names if name.startswith("physelite_build/report/templates/")]
    assert [name for name in names if name.startswith("physelite_build/publish/templates/")]
