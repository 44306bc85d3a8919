"""Reads formulas with pix2tex, which runs in a process of its own (``worker.py``).

pix2tex is trained on print of one size and does not say how sure it is. So each crop is read at several sizes, the most probable
reading wins, and its confidence is the lowest probability among its tokens. That ranks readings, but a wrong one can be as sure as
a right one (the three wrong ones of the 40 held-out formulas of ``data/formula_model``: 0.91 to 0.97). Crops too wide for the model are cut at gaps (``pieces.py``).
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from physelite_build.engines import weights
from physelite_build.engines.pix2tex.pieces import cut
from physelite_build.engines.pix2tex.process import Worker
from physelite_build.engines.protocol import FormulaReading, Picture
from physelite_build.engines.structure.ink import em_px, find_blobs, surround
from physelite_build.errors import FatalError, ItemError, shorten
from physelite_build.records import Fingerprint, Line

__all__ = ["Pix2texEngine"]

log = logging.getLogger(__name__)

SCRIPT = Path(__file__).with_name("worker.py")
TYPE_SIZES_PX = (14.0, 16.5, 20.0, 25.0)
"""Heights of an em at which a crop is read: 10-point print at 100 to 180 dpi, where pix2tex was trained."""
USUAL_SIZE_PX = 16.5
"""A crop that does not fit the model at this size is cut."""
MARGIN_PX = 4
MAX_TOKENS = 200
"""pix2tex decodes without a cache: 200 tokens take 12 CPU s, a runaway to its own limit of 512 takes 100."""
DESCRIBE_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class _Read:
    """One reading of one picture."""

    latex: str
    mean: float
    lowest: float


class Pix2texEngine:
    """Formula engine by ``pix2tex.cli.LatexOCR``. It may be shared by threads: calls wait for each other.

    Args:
        folder: Folder with ``weights.pth`` and perhaps ``config.yaml``, ``tokenizer.json`` and ``image_resizer.pth``; where
            configuration or tokenizer is missing, those inside the pix2tex package serve.
        python: Interpreter of the environment with pix2tex; None is the running one.
        threads: Threads of torch.
        timeout_s: Longest wait for one reading of one picture.
    """

    def __init__(self, *, folder: Path, python: Path | None = None, threads: int = 1, timeout_s: float = 120.0) -> None:
        self._folder = folder
        self._python = str(python or sys.executable)
        self._options = {"weights": str(folder.resolve()), "threads": threads, "max_tokens": MAX_TOKENS}
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._described: dict[str, Any] = {}

    @property
    def fingerprint(self) -> Fingerprint:
        """Versions of pix2tex and torch, digests of weights, tokenizer and configuration, and our own settings.

        Raises:
            FatalError: ``engine.weights`` if the weights are missing, ``engine.missing`` if pix2tex is.
        """
        with self._lock:
            described = self._describe()
        files = (f"{name}:{digest[:16]}" for name, digest in sorted(described["sha256"].items()))
        sizes = "-".join(f"{size:g}" for size in TYPE_SIZES_PX)
        settings = (f"torch:{described['versions']['torch']}", f"sizes:{sizes}", f"max_tokens:{MAX_TOKENS}")
        return Fingerprint(name="pix2tex", version=described["versions"]["pix2tex"], models=(*files, *settings))

    def recognise(self, crops: Sequence[Picture], lines: Sequence[Sequence[Line]]) -> list[FormulaReading]:
        """Read formulas; a crop on which pix2tex fails is logged and gives an empty reading, the others are read.

        Args:
            crops: BGR uint8 pictures, dark on light, one per formula.
            lines: Not used: pix2tex looks at the picture alone.

        Returns:
            One reading per crop; other readings of the same crop are its alternatives, most probable first.

        Raises:
            FatalError: ``engine.missing``, ``engine.weights`` or ``engine.failed`` if pix2tex cannot be started.
        """
        del lines
        readings = []
        for index, read in enumerate(self.read_each(crops)):
            if isinstance(read, ItemError):
                log.warning("formula %d of %d: %s: %s", index + 1, len(crops), read.code, read.message)
                read = FormulaReading("", None)
            readings.append(read)
        return readings

    def read_each(self, crops: Sequence[Picture]) -> list[FormulaReading | ItemError]:
        """Read formulas and return, for a crop that cannot be read, why.

        Args:
            crops: As in ``recognise``.

        Returns:
            For each crop a reading, or an error with the code ``formula.timeout`` (no answer in time), ``formula.crash`` (the
            process ended) or ``formula.engine`` (pix2tex refused the picture). The process is started anew after the first two.

        Raises:
            FatalError: As in ``recognise``.
        """
        with self._lock:
            return [self._read_crop(crop) for crop in crops]

    def close(self) -> None:
        """End the process; the next call starts another."""
        with self._lock:
            self._stop()

    # ------------------------------------------------------------ one crop
    def _read_crop(self, crop: Picture) -> FormulaReading | ItemError:
        blobs = find_blobs(crop)
        if not blobs:
            return FormulaReading("", None)
        worker = self._running()
        ink = surround(blobs)
        em = em_px(blobs)
        bare = np.asarray(
            cv2.cvtColor(crop[ink.top : ink.bottom, ink.left : ink.right], cv2.COLOR_BGR2GRAY), dtype=np.uint8
        )
        widest_px = worker.limits["max_width"] * em / USUAL_SIZE_PX - 2 * MARGIN_PX
        try:
            pieces = [self._read_piece(worker, piece, em) for piece in cut(bare, widest_px=widest_px, em_px=em)]
        except ItemError as error:
            return error
        return _joined(pieces)

    def _read_piece(self, worker: Worker, grey: Picture, em: float) -> list[_Read]:
        """Read a piece at every size; the most probable reading comes first."""
        encoded = []
        for size in TYPE_SIZES_PX:
            scaled = _scaled(grey, size / em, worker.limits["max_width"], worker.limits["max_height"])
            if scaled not in encoded:
                encoded.append(scaled)
        resize = [False] * len(encoded)
        if worker.limits["resizer"]:
            encoded.append(encoded[0])
            resize.append(True)
        reads = []
        try:
            worker.ask({"resize": resize}, encoded)
            for _ in encoded:
                answer = worker.answer(self._timeout_s)
                if "error" in answer:
                    raise ItemError(
                        "formula.engine",
                        f"pix2tex failed on a picture of {grey.shape}: {shorten(answer['error'])}; read it by hand",
                    )
                reads.append(_Read(answer["latex"], answer["mean"], answer["lowest"]))
        except BaseException:  # its answers to this request must not be taken for those to the next
            self._stop()
            raise
        return sorted(reads, key=lambda read: -read.mean)

    # ------------------------------------------------------------ the process
    def _running(self) -> Worker:
        if self._worker is not None and not self._worker.is_alive:  # killed from outside between two calls
            self._stop()
        if self._worker is None:
            self._describe()
            self._worker = Worker([self._python, "-E", str(SCRIPT), "serve", json.dumps(self._options)])
        return self._worker

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _describe(self) -> dict[str, Any]:
        if not self._described:
            weights.require("pix2tex", self._folder)
            command = [self._python, "-E", str(SCRIPT), "describe", json.dumps(self._options)]
            try:
                done = subprocess.run(command, capture_output=True, timeout=DESCRIBE_TIMEOUT_S, check=True)
                answer = json.loads(done.stdout)
            except (OSError, subprocess.SubprocessError, ValueError) as error:
                raise FatalError(
                    "engine.missing",
                    f"the interpreter {self._python} cannot be run ({shorten(error)}); name one with pix2tex in the setting formula.python",
                ) from error
            if "error" in answer:
                raise FatalError(
                    "engine.missing",
                    f"{answer['error']}; run: make setup-formula, and name its interpreter in the setting formula.python",
                )
            self._described = answer
        return self._described


def _scaled(grey: Picture, factor: float, max_width: int, max_height: int) -> bytes:
    """Enlarge or shrink a grey picture, no further than the model sees, give it a white margin, and encode it as PNG."""
    height, width = grey.shape[:2]
    factor = min(factor, max_width / width, max_height / height)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    method = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    scaled = cv2.resize(grey, size, interpolation=method)
    framed = np.pad(scaled, MARGIN_PX, constant_values=int(scaled.max()))
    return cv2.imencode(".png", framed)[1].tobytes()


def _joined(pieces: Sequence[Sequence[_Read]]) -> FormulaReading:
    best = [reads[0] for reads in pieces]
    latex = " ".join(read.latex for read in best if read.latex)
    others: dict[str, None] = {}
    if len(pieces) == 1:
        others = {read.latex: None for read in pieces[0] if read.latex and read.latex != latex}
    confidence = round(min(read.lowest for read in best), 4)
    return FormulaReading(latex, confidence if latex else None, tuple(others))
