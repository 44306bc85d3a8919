"""Errors and mapping of the PP-FormulaNet adapter; no real weights are to be had for a test."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from physelite_build.engines.formulanet import FormulaNetEngine
from physelite_build.errors import FatalError, ItemError

MODEL = "PP-FormulaNet_plus-S"


@pytest.fixture
def engine(tmp_path: Path) -> FormulaNetEngine:
    return FormulaNetEngine(folder=tmp_path, model=MODEL, backend="onnxruntime", cache=tmp_path / "cache")


@pytest.fixture
def crop() -> np.ndarray:
    picture = np.full((40, 60, 3), 255, np.uint8)
    cv2.putText(picture, "xy", (5, 30), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (0, 0, 0), 2)
    return picture


def test_a_folder_without_a_model_is_named(engine: FormulaNetEngine, crop: np.ndarray, tmp_path: Path):
    with pytest.raises(FatalError) as caught:
        engine.recognise([crop], [[]])
    assert caught.value.code == "engine.weights"
    assert str(tmp_path) in caught.value.message


def test_paddle_weights_need_a_program_too(tmp_path: Path):
    for name in ("inference.yml", "inference.pdiparams"):
        (tmp_path / name).touch()
    engine = FormulaNetEngine(folder=tmp_path, model=MODEL, backend="paddle", cache=tmp_path)
    with pytest.raises(FatalError, match=r"inference\.json or inference\.pdmodel"):
        _ = engine.fingerprint


def test_fingerprint_follows_the_weights(tmp_path: Path):
    pytest.importorskip("paddleocr", reason="the [ocr] extra is missing", exc_type=ImportError)
    keys = []
    for content in (b"one", b"two"):
        (tmp_path / "inference.yml").touch()
        (tmp_path / "inference.onnx").write_bytes(content)
        engine = FormulaNetEngine(folder=tmp_path, model=MODEL, backend="onnxruntime", cache=tmp_path)
        keys.append(engine.fingerprint.key)
    assert keys[0] != keys[1]


@pytest.mark.engine
@pytest.mark.parametrize("name", [MODEL, "PP-OCRv4_mobile_rec"])
def test_paddleocr_refuses_a_folder_that_is_no_such_model(
    engine: FormulaNetEngine, crop: np.ndarray, tmp_path: Path, name: str
):
    pytest.importorskip("paddleocr", reason="the [ocr] extra is missing", exc_type=ImportError)
    (tmp_path / "inference.yml").write_text(f"Global:\n  model_name: {name}\n", encoding="utf-8")
    (tmp_path / "inference.onnx").write_bytes(b"no weights")
    with pytest.raises(FatalError, match=MODEL) as caught:
        engine.recognise([crop], [[]])
    assert caught.value.code == "engine.weights"


class Recogniser:
    """Stands in for the model: returns PaddleOCR's own result records."""

    def __init__(self, *latex: str) -> None:
        self.latex = latex

    def predict(self, crops: list[np.ndarray], *, batch_size: int) -> list[object]:
        from paddlex.inference.models.formula_recognition.result import FormulaRecResult

        if len(crops) != len(self.latex):
            raise ValueError("broken")
        return [
            FormulaRecResult({"input_path": None, "input_img": crop, "rec_formula": text})
            for crop, text in zip(crops, self.latex, strict=True)
        ]


@pytest.mark.engine
def test_results_come_back_in_order_and_blank_crops_are_left_out(engine: FormulaNetEngine, crop: np.ndarray):
    pytest.importorskip("paddlex", reason="the [ocr] extra is missing", exc_type=ImportError)
    engine._recogniser = Recogniser(" x y ", r"\frac{a}{b}")
    readings = engine.recognise([crop, np.full_like(crop, 255), crop], [[], [], []])
    assert [(r.latex, r.confidence) for r in readings] == [("x y", None), ("", None), (r"\frac{a}{b}", None)]


@pytest.mark.engine
def test_a_failing_model_is_an_item_error(engine: FormulaNetEngine, crop: np.ndarray):
    pytest.importorskip("paddlex", reason="the [ocr] extra is missing", exc_type=ImportError)
    engine._recogniser = Recogniser()
    with pytest.raises(ItemError) as caught:
        engine.recognise([crop], [[]])
    assert caught.value.code == "read.engine"
