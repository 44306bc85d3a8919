from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from physelite_build.engines.symbols import SAME_SHAPE, SymbolReader, shape_probability
from physelite_build.engines.symbols.reader import normalise, read_labels
from physelite_build.errors import ItemError

pytest.importorskip("onnxruntime", reason="needs the [ocr] extra")
pytestmark = pytest.mark.engine

MATH_FONT = Path(find_spec("ziamath").origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"
WELL_READ = "2345678abdefghmnqrtyABDEFGHLMNQRTαβγδηλμξπστωφψΔΩ+=≈≤∞∂∇→"


@pytest.fixture(scope="module")
def reader() -> SymbolReader:
    return SymbolReader()


def glyph(character: str, *, font: ImageFont.FreeTypeFont) -> NDArray[np.uint8]:
    canvas = Image.new("L", (200, 200), 255)
    ImageDraw.Draw(canvas).text((60, 60), character, fill=0, font=font)
    grey = np.asarray(canvas)
    ys, xs = np.nonzero(grey < 128)
    return grey[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1]


def math_glyph(character: str, size: int = 40) -> NDArray[np.uint8]:
    return glyph(character, font=ImageFont.truetype(str(MATH_FONT), size))


def test_no_glyphs_give_no_rows(reader: SymbolReader) -> None:
    assert reader.probabilities([]).shape == (0, len(reader.labels))


def test_each_row_is_a_distribution(reader: SymbolReader) -> None:
    rows = reader.probabilities([math_glyph("x"), np.zeros((1, 40), np.uint8), np.full((9, 3), 255, np.uint8)])
    assert rows.shape == (3, len(reader.labels))
    assert rows.dtype == np.float32
    assert np.allclose(rows.sum(axis=1), 1, atol=1e-5)
    assert rows.min() >= 0


def test_a_glyph_is_read_the_same_in_any_batch(reader: SymbolReader) -> None:
    glyphs = [math_glyph(character) for character in WELL_READ]
    forwards, backwards = reader.probabilities(glyphs), reader.probabilities(glyphs[::-1])[::-1]
    alone = np.concatenate([reader.probabilities([one]) for one in glyphs])
    assert np.allclose(forwards, backwards, atol=1e-5)
    assert np.allclose(forwards, alone, atol=1e-5)


@pytest.mark.parametrize("size", [18, 40])
def test_symbols_of_a_held_out_font_are_named(reader: SymbolReader, size: int) -> None:
    rows = reader.probabilities([math_glyph(character, size) for character in WELL_READ])
    wrong = [
        (character, reader.labels[int(row.argmax())])
        for character, row in zip(WELL_READ, rows, strict=True)
        if shape_probability(row, character) < 0.5
    ]
    assert len(wrong) <= 2, wrong


@pytest.mark.parametrize(
    ("upright", "italic"), [("e", "𝑒"), ("f", "𝑓"), ("g", "𝑔"), ("m", "𝑚"), ("R", "𝑅"), ("φ", "𝜑")]
)
def test_italic_and_upright_are_one_label(reader: SymbolReader, upright: str, italic: str) -> None:
    rows = reader.probabilities([math_glyph(upright), math_glyph(italic)])
    assert [reader.labels[int(row.argmax())] for row in rows] == [upright, upright]


def test_digits_of_pillows_font_are_named(reader: SymbolReader) -> None:
    digits = "23456789"
    font = ImageFont.load_default(size=30)
    rows = reader.probabilities([glyph(digit, font=font) for digit in digits])
    assert "".join(reader.labels[int(row.argmax())] for row in rows) == digits


def test_paper_and_ink_may_be_any_two_greys(reader: SymbolReader) -> None:
    faint = cv2.convertScaleAbs(math_glyph("β"), alpha=0.35, beta=120)
    assert reader.labels[int(reader.probabilities([faint])[0].argmax())] == "β"


def test_solid_ink_is_a_bar(reader: SymbolReader) -> None:
    row = reader.probabilities([np.zeros((3, 60), np.uint8)])[0]
    assert shape_probability(row, "−") > 0.9
    assert shape_probability(row, "_") == shape_probability(row, "−")


def test_small_and_large_letters_share_a_shape(reader: SymbolReader) -> None:
    row = reader.probabilities([math_glyph("s")])[0]
    assert shape_probability(row, "s") == shape_probability(row, "S") > 0.9


def test_an_unknown_character_is_impossible(reader: SymbolReader) -> None:
    assert shape_probability(reader.probabilities([math_glyph("s")])[0], "漢") == 0


def test_no_character_stands_in_two_groups() -> None:
    characters = "".join(SAME_SHAPE)
    assert len(set(characters)) == len(characters)
    assert all(set(group) & set(read_labels()) for group in SAME_SHAPE)


def test_labels_are_distinct_and_end_with_other(reader: SymbolReader) -> None:
    assert len(set(reader.labels)) == len(reader.labels)
    assert reader.labels[-1] == ""


def test_fingerprint_names_the_weights(reader: SymbolReader) -> None:
    assert reader.fingerprint == SymbolReader(threads=2).fingerprint
    assert reader.fingerprint.models[0].startswith("symbols:")


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (5, 5, 3), (5000, 3)])
def test_what_is_no_picture_of_a_symbol_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ItemError) as caught:
        normalise(np.zeros(shape, np.uint8))
    assert caught.value.code == "symbol.picture"
