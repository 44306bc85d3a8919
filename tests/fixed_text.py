"""Pages drawn by code, and engines that know them: the text engine counts the rows of ink and looks the text up.

Registered for child processes by the fixture ``fixed_engine`` as the entry point ``fixed``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from physelite_build.config import Settings
from physelite_build.engines.protocol import FormulaReading, LayoutBox, Picture
from physelite_build.geometry import Box
from physelite_build.machine import Engines
from physelite_build.machine.engines import Once
from physelite_build.records import Fingerprint, Line

WIDTH_PX, HEIGHT_PX = 1000, 1400
_ROW_PX = 64
_GAP_PX = 16
"""White space between rows; inside a row of letters there is none."""

HEIGHTS_M = (5, 20, 45, 80, 125, 180)
FEWEST_ROWS = 6
_STORY = (
    "The ball is made of steel and has no spin.",
    "Air drag is small and may be left out.",
    "The ground is level, hard and dry.",
    "Count the time from the moment of release.",
    "The tower stands in a wide empty park.",
)
ROWS = {
    FEWEST_ROWS + k: (
        f"Problem {k + 1}",
        f"A ball falls from a tower of height {height} m, with g = 10 m/s2.",
        "Find the speed with which it reaches the ground.",
        *_STORY[:k],
        "Solution",
        "Energy is conserved on the way down.",
        f"Answer: v = {10 * (k + 1)} m/s",
    )
    for k, height in enumerate(HEIGHTS_M)
}
"""Text of a page by its number of rows."""


def draw_page(k: int, *, stain: bool = False) -> Picture:
    """Draw page ``k``, from 0 to 5, BGR uint8; a stained one has other pixels and the same text."""
    page = np.full((HEIGHT_PX, WIDTH_PX, 3), 252, dtype=np.uint8)
    for index, text in enumerate(ROWS[FEWEST_ROWS + k]):
        where = (80, 140 + index * _ROW_PX)
        cv2.putText(page, text, where, cv2.FONT_HERSHEY_SIMPLEX, 0.8, (20, 20, 20), 2, cv2.LINE_AA)
    if stain:
        page[-60:-20, 40:80] = 225
    return page


def blank_page() -> Picture:
    return np.full((HEIGHT_PX, WIDTH_PX, 3), 252, dtype=np.uint8)


def write_document(folder: Path, pages: Sequence[Picture], *, rights: str = "CC0-1.0") -> Path:
    """Write a folder of page images ``1.png``, ``2.png``, ... with its notes."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, page in enumerate(pages, 1):
        write_picture(folder / f"{number}.png", page)
    (folder / "source.toml").write_text(f'rights = "{rights}"\nlanguage = "en"\n', encoding="utf-8")
    return folder


def write_picture(path: Path, page: Picture) -> None:
    data = cv2.imencode(path.suffix, page)[1]
    path.write_bytes(data.tobytes())


def write_tiff(path: Path, pages: Sequence[Picture]) -> None:
    assert cv2.imwritemulti(str(path), list(pages))


class FixedTextEngine:
    """Reads the pages above, and nothing on any other picture."""

    def __init__(self) -> None:
        self.calls = 0

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(name="fixed", version="1")

    def read_lines(self, picture: Picture) -> tuple[Line, ...]:
        self.calls += 1
        boxes = _row_boxes(picture)
        texts = ROWS.get(len(boxes), ())
        return tuple(Line(text=text, box=box, confidence=0.98) for text, box in zip(texts, boxes, strict=False))


def _row_boxes(picture: Picture) -> list[Box]:
    if picture.shape[0] < HEIGHT_PX // 2:
        return []
    dark = picture.min(axis=2) < 128
    rows = np.flatnonzero(dark.any(axis=1))
    if not rows.size:
        return []
    boxes = []
    for run in np.split(rows, np.flatnonzero(np.diff(rows) > _GAP_PX) + 1):
        columns = np.flatnonzero(dark[run[0] : run[-1] + 1].any(axis=0))
        boxes.append(Box(left=int(columns[0]), top=int(run[0]), right=int(columns[-1]) + 1, bottom=int(run[-1]) + 1))
    return boxes


class _NoFormulas:
    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(name="no-formulas", version="1")

    def recognise(self, crops: Sequence[Picture], lines: Sequence[Sequence[Line]]) -> list[FormulaReading]:
        return [FormulaReading("", None) for _ in crops]


class _NoAreas:
    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(name="no-areas", version="1")

    def find_areas(self, picture: Picture) -> tuple[LayoutBox, ...]:
        return ()


class _Upright:
    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(name="upright", version="1")

    def turned_deg(self, picture: Picture) -> int:
        return 0


class FixedEngines(Engines):
    """Engines that need no weights: for tests of everything around them."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings or Settings())
        self.reader = FixedTextEngine()
        self.text = Once(lambda: self.reader)
        self.formula = Once(_NoFormulas)
        self.layout = Once(_NoAreas)
        self.orientation = Once(_Upright)
