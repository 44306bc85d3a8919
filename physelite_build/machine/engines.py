"""Which engines are in force? Each is made once, when it is first needed, and shared by threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Literal, TypeVar

from physelite_build.config import Settings
from physelite_build.engines.protocol import FormulaEngine, LayoutEngine, Picture, TextEngine
from physelite_build.engines.rapid import RapidLayoutEngine, RapidOrientationEngine
from physelite_build.engines.registry import formula_engine, text_engine

__all__ = ["Engines", "Once"]

T = TypeVar("T")


class Once(Generic[T]):
    """A value that is made at the first call, by one thread, while others wait. ``functools.cached_property`` has no lock."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        """Return the value; an error of the making is raised again at the next call."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


class Engines:
    """The engines of the settings in force."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.text: Once[TextEngine] = Once(self._make_text)
        self.formula: Once[FormulaEngine] = Once(self._make_formula)
        self.layout: Once[LayoutEngine] = Once(RapidLayoutEngine)
        self.orientation: Once[RapidOrientationEngine] = Once(RapidOrientationEngine)
        self.text_key = Once(lambda: self.text().fingerprint.key)
        self.formula_key = Once(lambda: f"{self.formula().fingerprint.key} {self.text_key()}")
        self.orientation_key = Once(lambda: self.orientation().fingerprint.key)
        self.layout_key = Once(lambda: self.layout().fingerprint.key)

    def _make_text(self) -> TextEngine:
        threads = self._settings.flow.engine_threads
        return text_engine(self._settings.read.text_engine, cache=self._settings.cache, threads=threads)

    def _make_formula(self) -> FormulaEngine:
        return formula_engine(self._settings.read.formula_engine, reader=self.text(), settings=self._settings)

    def turned_deg(self, picture: Picture) -> Literal[0, 90, 180, 270]:
        """Return by how much the content of a picture was turned, clockwise."""
        return self.orientation().turned_deg(picture)

    def fingerprints(self) -> tuple[str, ...]:
        """Return what the engines are, for the release manifest."""
        made = (self.text(), self.layout(), self.orientation(), self.formula())
        return tuple(engine.fingerprint.key for engine in made)
