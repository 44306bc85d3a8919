"""Finds engines by name: the embedded ones, or entry points of installed packages."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from physelite_build.config import Settings
from physelite_build.engines.formulanet import FormulaNetEngine
from physelite_build.engines.paddle import PaddleEngine
from physelite_build.engines.paddle_native import PaddleNativeEngine
from physelite_build.engines.pix2tex import Pix2texEngine
from physelite_build.engines.protocol import FormulaEngine, TextEngine
from physelite_build.engines.rapid import RapidEngine
from physelite_build.engines.structure import StructureEngine
from physelite_build.engines.vision import VisionEngine
from physelite_build.engines.weights import default_folder
from physelite_build.errors import FatalError

__all__ = ["formula_engine", "text_engine"]

TEXT_GROUP = "physelite_build.text_engines"
FORMULA_GROUP = "physelite_build.formula_engines"
TEXT_ENGINES = ("paddle", "paddle-native", "rapid")
FORMULA_ENGINES = ("formulanet", "pix2tex", "structure", "vision")


def text_engine(name: str, *, cache: Path, threads: int) -> TextEngine:
    """Return the text engine of that name.

    Raises:
        FatalError: ``engine.unknown`` if there is none.
    """
    if name == "paddle":
        return PaddleEngine(cache=cache, threads=threads)
    if name == "rapid":
        return RapidEngine(threads=threads)
    if name == "paddle-native":
        return PaddleNativeEngine(cache=cache, threads=threads)
    found: TextEngine = _from_entry_point(TEXT_GROUP, name, TEXT_ENGINES)
    return found


def formula_engine(name: str, *, reader: TextEngine, settings: Settings) -> FormulaEngine:
    """Return the formula engine of that name. Weights are looked for when it first reads or tells its fingerprint.

    Args:
        name: ``structure``, ``pix2tex``, ``formulanet``, ``vision`` or an entry point.
        reader: Text engine that the embedded engine reads pieces with.
        settings: Where weights and services are.

    Raises:
        FatalError: ``engine.unknown`` if there is none, ``engine.settings`` if it lacks a setting.
    """
    if name == "structure":
        return StructureEngine(read_lines=reader.read_lines)
    if name not in FORMULA_ENGINES:
        found: FormulaEngine = _from_entry_point(FORMULA_GROUP, name, FORMULA_ENGINES)
        return found
    formula = settings.formula
    folder = formula.weights or default_folder(settings.cache, name)
    if name == "pix2tex":
        return Pix2texEngine(folder=folder, python=formula.python, threads=formula.threads, timeout_s=formula.timeout_s)
    if name == "formulanet":
        return FormulaNetEngine(
            folder=folder,
            model=formula.formulanet_model,
            backend=formula.formulanet_backend,
            cache=settings.cache,
            threads=formula.threads,
        )
    vision = formula.vision
    return VisionEngine(
        url=vision.url,
        model=vision.model,
        key_variable=vision.key_variable,
        timeout_s=vision.timeout_s,
        concurrency=vision.concurrency,
    )


def _from_entry_point(group: str, name: str, embedded: tuple[str, ...]) -> Any:
    known = {point.name: point for point in entry_points(group=group)}
    if name not in known:
        names = ", ".join(sorted({*embedded, *known}))
        raise FatalError("engine.unknown", f"no engine {name!r} in {group}; known: {names}")
    return known[name].load()()
