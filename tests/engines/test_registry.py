"""Engines are found by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fixed_text import FixedTextEngine

from physelite_build.config import FormulaSettings, Settings, VisionSettings
from physelite_build.engines.protocol import FormulaReading
from physelite_build.engines.registry import FORMULA_ENGINES, formula_engine, text_engine
from physelite_build.errors import FatalError


@pytest.mark.parametrize("name", FORMULA_ENGINES)
def test_every_embedded_formula_engine_can_be_had_without_weights_and_leaves_a_blank_crop_empty(
    name: str, tmp_path: Path
):
    settings = Settings(
        cache=tmp_path, formula=FormulaSettings(vision=VisionSettings(url="http://127.0.0.1", model="m"))
    )
    blank = np.full((20, 40, 3), 255, np.uint8)
    engine = formula_engine(name, reader=FixedTextEngine(), settings=settings)
    assert engine.recognise([blank], [()]) == [FormulaReading("", None)]


def test_an_unknown_engine_is_answered_with_the_known_names(tmp_path: Path):
    with pytest.raises(FatalError, match="formulanet, pix2tex, structure, vision") as caught:
        formula_engine("pixtotex", reader=FixedTextEngine(), settings=Settings())
    assert caught.value.code == "engine.unknown"
    with pytest.raises(FatalError, match="paddle, paddle-native, rapid"):
        text_engine("tesseract", cache=tmp_path, threads=1)
