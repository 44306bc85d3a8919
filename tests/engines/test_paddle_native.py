"""PaddlePaddle itself reads a drawn line. Runs in the environment of ``make setup-paddle``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np
import pytest

from physelite_build.engines.paddle_native import PaddleNativeEngine
from physelite_build.errors import FatalError

pytestmark = [
    pytest.mark.engine,
    pytest.mark.filterwarnings("default"),  # PaddlePaddle's own
]
HERE = find_spec("paddle") is not None


@pytest.fixture(scope="module")
def engine(cache: Path) -> Iterator[PaddleNativeEngine]:
    if not HERE:
        reason = "paddlepaddle is not installed; run: make setup-paddle"
        if "paddle-native" in os.environ.get("REQUIRE_ENGINES", ""):
            pytest.fail(reason)
        pytest.skip(reason)
    return PaddleNativeEngine(cache=cache, threads=1)


def test_reads_a_drawn_line_with_paddlepaddle(engine: PaddleNativeEngine):
    page = np.full((120, 700, 3), 255, np.uint8)
    cv2.putText(page, "Newton", (40, 80), cv2.FONT_HERSHEY_DUPLEX, 2, (0, 0, 0), 3, cv2.LINE_AA)
    (line,) = engine.read_lines(page)
    assert line.text == "Newton"
    assert line.confidence is not None
    assert line.confidence > 0.9
    assert 20 < line.box.left < 60
    assert line.chars


def test_fingerprint_names_runtime_and_weights(engine: PaddleNativeEngine):
    models = engine.fingerprint.models
    assert models[0].startswith("PP-OCRv4_mobile_det:")
    assert models[2].startswith("paddlepaddle:3.2.")


@pytest.mark.skipif(HERE, reason="paddlepaddle is installed here")
def test_without_paddlepaddle_it_says_what_to_run(tmp_path: Path):
    with pytest.raises(FatalError, match="make setup-paddle") as caught:
        PaddleNativeEngine(cache=tmp_path, threads=1)
    assert caught.value.code == "engine.missing"
