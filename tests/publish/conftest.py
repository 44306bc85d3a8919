"""Fixtures of a tiny release; its rows are in ``release_rows.py``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from release_rows import PICTURES, bilingual_row, english_row

from physelite_build.publish import ReleaseMeta, ReleaseRow, ReleaseSource

GUID = "6f0f4c1e-0000-4000-8000-1b9a34a1c001"


@pytest.fixture(scope="session")
def rows() -> list[ReleaseRow]:
    return [bilingual_row(1), *(english_row(number) for number in range(2, 9))]


@pytest.fixture(scope="session")
def meta() -> ReleaseMeta:
    return ReleaseMeta(
        code_revision="abc1234",
        config_digest="0123456789abcdef",
        engines=("paddle 3.7.0 cpu det:1111222233334444",),
        sources=(
            ReleaseSource(
                document="exam-zh", title="Open | cup", language="zh", rights="CC-BY-4.0", attribution="A. Author"
            ),
            ReleaseSource(document="exam-en", language="en", rights="CC0-1.0"),
        ),
        canary_guid=GUID,
        waiver="demonstration, nobody has reviewed it",
    )


@pytest.fixture(scope="session")
def images() -> Callable[[str], bytes]:
    return PICTURES.__getitem__


@pytest.fixture(scope="session")
def scorer_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scorer that reads its gold file and agrees with it."""
    folder = tmp_path_factory.mktemp("package") / "scorer"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "__main__.py").write_text(
        "import json, sys\n"
        "golds = [json.loads(line) for line in open('answers.jsonl', encoding='utf-8')]\n"
        "print(f'{len(golds)} of {len(golds)} answers equal themselves')\n"
        "sys.exit(4 if any(a['answer'] == 'unequal' for g in golds for a in g['answers']) else 0)\n"
    )
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "old.pyc").write_bytes(b"x")
    return folder
