"""The default text engine: the real ``paddleocr.PaddleOCR`` on its onnxruntime backend with local model folders.

PaddleOCR is constructed only from folders: without them it looks for a model hub and fails after half a minute.
"""

from __future__ import annotations

import logging
import os
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

from physelite_build.engines import models
from physelite_build.engines.protocol import Picture
from physelite_build.errors import FatalError, ItemError, shorten
from physelite_build.geometry import Box
from physelite_build.records import Char, Fingerprint, Line

__all__ = ["PaddleEngine", "PaddleReader"]

DETECTION_SIDE_PX = 1600
"""Longest side at which lines are looked for: 300 dpi pages cost half the memory, accuracy stays (measured)."""
DETECTION: dict[str, float] = {"thresh": 0.2, "box_thresh": 0.45, "unclip_ratio": 1.4}
"""The detector's own thresholds. They must be given: PaddleOCR's pipeline replaces those of the model by stricter ones, which
lose long lines that are slightly bent (a photographed page kept 291 of 420 characters)."""


class PaddleReader:
    """What both runtimes share. One reader may be shared by threads: calls wait for each other.

    Args:
        folder: Holds one model folder each for detection and recognition.
        detection: Name of the detection model and of its folder.
        recognition: Name of the recognition model and of its folder.
        thresholds: Of the detector.
        runtime: Further arguments of ``PaddleOCR`` that choose and set up the runtime.
    """

    def __init__(
        self, folder: Path, *, detection: str, recognition: str, thresholds: dict[str, float], runtime: dict[str, Any]
    ) -> None:
        self._folder = folder
        self._models = (detection, recognition)
        self._thresholds = thresholds
        self._runtime = runtime
        self._lock = threading.Lock()
        self._ocr: Any = None

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings that change results, for the fingerprint."""
        return (f"det_side:{DETECTION_SIDE_PX}", *(f"det_{name}:{value}" for name, value in self._thresholds.items()))

    def read_lines(self, picture: Picture) -> tuple[Line, ...]:
        """Return every line of a BGR uint8 picture, weak ones included.

        Raises:
            FatalError: ``engine.missing`` if paddleocr is not installed.
            ItemError: ``read.engine`` if PaddleOCR fails on this picture.
        """
        with self._lock:
            if self._ocr is None:
                self._ocr = self._construct()
            try:
                result = self._ocr.predict(picture)[0]
            except (RuntimeError, ValueError, IndexError) as error:
                raise ItemError(
                    "read.engine", f"PaddleOCR failed on a picture of {picture.shape}: {shorten(error)}"
                ) from error
        return tuple(_lines(result))

    def _construct(self) -> Any:
        os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")
        os.environ.setdefault("PADDLE_PDX_CACHE_HOME", str(self._folder.parent / "paddlex"))
        try:
            from paddleocr import PaddleOCR
        except ImportError as error:
            raise FatalError("engine.missing", f"paddleocr cannot be imported ({error}); run: make setup") from error
        logging.getLogger("paddlex").setLevel(logging.WARNING)  # it announces each model on stderr
        detection, recognition = self._models
        return PaddleOCR(
            text_detection_model_name=detection,
            text_detection_model_dir=str(self._folder / detection),
            text_recognition_model_name=recognition,
            text_recognition_model_dir=str(self._folder / recognition),
            use_doc_orientation_classify=False,
            use_doc_unwarping=False,
            use_textline_orientation=False,
            return_word_box=True,
            device="cpu",
            text_det_limit_type="max",
            text_det_limit_side_len=DETECTION_SIDE_PX,
            **{f"text_det_{name}": value for name, value in self._thresholds.items()},
            **self._runtime,
        )


class PaddleEngine(PaddleReader):
    """Reads lines with PaddleOCR on onnxruntime."""

    def __init__(self, *, cache: Path, threads: int) -> None:
        folders = models.build_model_folders(cache)
        self._digests = folders.digests
        super().__init__(
            folders.root,
            detection=models.DETECTION,
            recognition=models.RECOGNITION,
            thresholds=DETECTION,
            runtime={"engine": "onnxruntime", "engine_config": {"intra_op_num_threads": threads}},
        )

    @property
    def fingerprint(self) -> Fingerprint:
        """Package version, weights and the settings that change results."""
        wanted = tuple(d for d in self._digests if d.startswith((models.DETECTION, models.RECOGNITION)))
        return Fingerprint(name="paddleocr", version=version("paddleocr"), models=(*wanted, *self.settings))


def _lines(result: Any) -> list[Line]:
    lines = []
    words, boxes = result.get("text_word") or [], result.get("text_word_boxes")
    for index, (text, score, polygon) in enumerate(
        zip(result["rec_texts"], result["rec_scores"], result["rec_polys"], strict=True)
    ):
        if not text.strip():
            continue
        chars: tuple[Char, ...] = ()
        if index < len(words) and boxes is not None:
            chars = tuple(
                Char(text=word, box=Box(left=int(b[0]), top=int(b[1]), right=int(b[2]), bottom=int(b[3])))
                for word, b in zip(words[index], boxes[index], strict=False)
            )
        confidence = round(min(1.0, max(0.0, float(score))), 4)
        lines.append(Line(text=text, box=Box.around(polygon), confidence=confidence, chars=chars))
    return lines
