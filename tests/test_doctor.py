"""One environment, one OpenCV."""

from __future__ import annotations

from pathlib import Path

import cv2

from physelite_build.config import Settings
from physelite_build.doctor import EXPECTED_CV2, OVERRIDDEN, broken_requirements, examine

ROOT = Path(__file__).parents[1]


def test_the_expected_opencv_is_loaded() -> None:
    assert cv2.__version__ == EXPECTED_CV2


def test_only_the_overridden_opencv_pins_are_unmet() -> None:
    unexpected = [line for line in broken_requirements() if not any(f" wants {name}" in line for name in OVERRIDDEN)]
    assert unexpected == []


def test_pinned_versions_name_no_address() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert len(pins) > 100
    assert not [line for line in pins if "==" not in line or "://" in line or line.startswith("-")]


def test_the_doctor_finds_nothing_wrong_here(tmp_path: Path) -> None:
    findings = examine(Settings(cache=tmp_path / "cache"))
    assert [f.check for f in findings if not f.good] == []
