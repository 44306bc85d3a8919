"""PP-FormulaNet through PaddleOCR's own ``FormulaRecognition``, from a model folder that the user names.

**Not tested with real weights**: no package ships them, so only the errors and the mapping of results are. PaddleOCR is never
constructed without a folder, because it would then look for a model hub.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from physelite_build.engines.protocol import FormulaReading, Picture
from physelite_build.engines.structure.ink import find_blobs
from physelite_build.errors import FatalError, ItemError, shorten
from physelite_build.records import Fingerprint, Line

__all__ = ["FormulaNetEngine"]

WEIGHTS = {"onnxruntime": ("inference.onnx",), "paddle": ("inference.pdiparams", "inference.json", "inference.pdmodel")}
"""Files that hold a model, by runtime; a Paddle model has its parameters and one of the two forms of its program."""


class FormulaNetEngine:
    """Formula engine by ``paddleocr.FormulaRecognition``; it gives no confidence. Calls of several threads wait for each other.

    Args:
        folder: Model folder: ``inference.yml`` with ``inference.onnx``, or with Paddle's own files.
        model: Name that stands in its ``inference.yml``.
        backend: Runtime.
        cache: Where PaddleX may keep its own files.
        threads: Threads of the runtime.
    """

    def __init__(
        self, *, folder: Path, model: str, backend: Literal["onnxruntime", "paddle"], cache: Path, threads: int = 1
    ) -> None:
        self._folder = folder
        self._model = model
        self._backend = backend
        self._cache = cache
        self._threads = threads
        self._lock = threading.Lock()
        self._recogniser: Any = None
        self._fingerprint: Fingerprint | None = None

    @property
    def fingerprint(self) -> Fingerprint:
        """Version of paddleocr, model, runtime, and a digest of each file of the model.

        Raises:
            FatalError: ``engine.weights`` if the folder holds no model.
        """
        if self._fingerprint is None:
            files = (f"{path.name}:{_digest(path)}" for path in self._files())
            self._fingerprint = Fingerprint(
                name="formulanet", version=version("paddleocr"), models=(self._model, self._backend, *files)
            )
        return self._fingerprint

    def recognise(self, crops: Sequence[Picture], lines: Sequence[Sequence[Line]]) -> list[FormulaReading]:
        """Read formulas.

        Args:
            crops: BGR uint8 pictures, dark on light, one per formula.
            lines: Not used: the model looks at the picture alone.

        Returns:
            One reading per crop without confidence; empty for a crop without ink.

        Raises:
            FatalError: ``engine.weights`` if the folder holds no model that PaddleOCR takes.
            ItemError: ``read.engine`` if PaddleOCR fails on these crops.
        """
        del lines
        inked = [index for index, crop in enumerate(crops) if find_blobs(crop)]
        readings = [FormulaReading("", None)] * len(crops)
        if not inked:
            return readings
        with self._lock:
            if self._recogniser is None:
                self._recogniser = self._construct()
            try:
                results = self._recogniser.predict([crops[index] for index in inked], batch_size=1)
            except (RuntimeError, ValueError, IndexError) as error:
                raise ItemError(
                    "read.engine", f"{self._model} failed on {len(inked)} crops: {shorten(error)}"
                ) from error
        for index, result in zip(inked, results, strict=True):
            readings[index] = FormulaReading(str(result["rec_formula"]).strip(), None)
        return readings

    def _files(self) -> list[Path]:
        weights = [self._folder / name for name in WEIGHTS[self._backend]]
        present = [path for path in weights if path.is_file()]
        settings = self._folder / "inference.yml"
        complete = settings.is_file() and weights[0] in present and len(present) >= min(2, len(weights))
        if not complete:
            wanted = " or ".join(WEIGHTS[self._backend][1:]) or "inference.yml"
            raise FatalError(
                "engine.weights",
                f"the engine 'formulanet' needs a model folder of {self._model} with {weights[0].name} and {wanted}, and "
                f"{self._folder} is none; name one in the setting formula.weights",
            )
        return [settings, *present]

    def _construct(self) -> Any:
        self._files()
        os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")
        os.environ.setdefault("PADDLE_PDX_CACHE_HOME", str(self._cache / "paddlex"))
        try:
            from paddleocr import FormulaRecognition
        except ImportError as error:
            raise FatalError("engine.missing", f"paddleocr cannot be imported ({error}); run: make setup") from error
        logging.getLogger("paddlex").setLevel(logging.WARNING)
        runtime: dict[str, Any] = (
            {"engine": "onnxruntime", "engine_config": {"intra_op_num_threads": self._threads}}
            if self._backend == "onnxruntime"
            else {"engine": "paddle_static", "cpu_threads": self._threads}
        )
        try:
            return FormulaRecognition(model_name=self._model, model_dir=str(self._folder), device="cpu", **runtime)
        except Exception as error:  # onnxruntime and PaddleX raise classes of their own, straight from Exception
            raise FatalError(
                "engine.weights", f"{self._folder} is no model of {self._model}: {shorten(error, limit=200)}"
            ) from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
