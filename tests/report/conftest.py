"""A filled work folder; what is in it stands in ``built_store.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from built_store import fill

from physelite_build.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "work")
    fill(made)
    yield made
    made.close()
