"""Finds engines by name: the embedded ones, or entry points of installed packages."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from physelite_build.engines.paddle import PaddleEngine
from physelite_build.engines.protocol import FormulaEngine, TextEngine
from physelite_build.engines.rapid import RapidEngine
from physelite_build.engines.structure import StructureEngine
from physelite_build.errors import FatalError

__all__ = ["formula_engine", "text_engine"]

TEXT_GROUP = "physelite_build.text_engines"
FORMULA_GROUP = "physelite_build.formula_engines"


def text_engine(name: str, *, cache: Path, threads: int) -> TextEngine:
    """Return the text engine of that name.

    Raises:
        FatalError: ``engine.unknown`` if there is none.
    """
    if name == "paddle":
        return PaddleEngine(cache=cache, threads=threads)
    if name == "rapid":
        return RapidEngine(threads=threads)
    found: TextEngine = _from_entry_point(TEXT_GROUP, name, ("paddle", "rapid"))
    return found


def formula_engine(name: str, *, reader: TextEngine) -> FormulaEngine:
    """Return the formula engine of that name.

    Args:
        name: ``structure`` or an entry point.
        reader: Text engine that the embedded engine reads pieces with.

    Raises:
        FatalError: ``engine.unknown`` if there is none.
    """
    if name == "structure":
        return StructureEngine(read_lines=reader.read_lines)
    found: FormulaEngine = _from_entry_point(FORMULA_GROUP, name, ("structure",))
    return found


def _from_entry_point(group: str, name: str, embedded: tuple[str, ...]) -> Any:
    known = {point.name: point for point in entry_points(group=group)}
    if name not in known:
        names = ", ".join(sorted({*embedded, *known}))
        raise FatalError("engine.unknown", f"no engine {name!r} in {group}; known: {names}")
    return known[name].load()()
