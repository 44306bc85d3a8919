"""What an engine must offer. Engines are found by name in ``engines/registry.py`` or through an entry point.

An engine keeps its oddities to itself: it takes BGR uint8 pictures and returns records in the pixels of that picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from physelite_build.geometry import Box
from physelite_build.records import Fingerprint, Line

__all__ = ["FormulaEngine", "FormulaReading", "LayoutBox", "LayoutEngine", "Picture", "TextEngine"]

Picture = NDArray[np.uint8]
"""Shape ``(height_px, width_px, 3)``, BGR."""


@runtime_checkable
class TextEngine(Protocol):
    """Finds and reads lines of text."""

    @property
    def fingerprint(self) -> Fingerprint:
        """What could change its results."""
        ...

    def read_lines(self, picture: Picture) -> tuple[Line, ...]:
        """Return every line found, weak ones included, with confidences in [0, 1].

        Raises:
            ItemError: ``read.engine`` if the engine fails on this picture.
        """
        ...


@dataclass(frozen=True, slots=True)
class LayoutBox:
    """One labelled rectangle of a layout model."""

    label: str
    """``text``, ``title``, ``figure``, ``caption``, ``table``, ``header``, ``footer``, ``formula``."""
    box: Box
    confidence: float


@runtime_checkable
class LayoutEngine(Protocol):
    """Labels the areas of an upright page."""

    @property
    def fingerprint(self) -> Fingerprint:
        """What could change its results."""
        ...

    def find_areas(self, picture: Picture) -> tuple[LayoutBox, ...]:
        """Return labelled rectangles, most certain first; they may overlap."""
        ...


@dataclass(frozen=True, slots=True)
class FormulaReading:
    """What a formula engine made of one crop."""

    latex: str
    """Without delimiters; empty if nothing was read."""
    confidence: float | None
    """In [0, 1]; None if the engine does not know."""
    alternatives: tuple[str, ...] = ()
    """Other readings of the same crop, best first, without delimiters."""


@runtime_checkable
class FormulaEngine(Protocol):
    """Turns pictures of single formulas into LaTeX."""

    @property
    def fingerprint(self) -> Fingerprint:
        """What could change its results."""
        ...

    def recognise(self, crops: Sequence[Picture], lines: Sequence[Sequence[Line]]) -> list[FormulaReading]:
        """Read formulas.

        Args:
            crops: One picture per formula.
            lines: For each crop, what the text engine saw in it, in pixels of the crop; engines that look only at the
                picture ignore it.

        Returns:
            One reading per crop.
        """
        ...
