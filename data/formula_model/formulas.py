r"""Short physics formulas from a seeded grammar, as tokens and as pictures. No TeX is needed: matplotlib's mathtext draws them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import cv2
import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser
from numpy.typing import NDArray

__all__ = ["FONTS", "MAX_TOKENS", "VOCABULARY", "degrade", "draw", "formulas", "latex_of"]

GreyImage = NDArray[np.uint8]
"""Shape ``(height_px, width_px)``, 0 is black."""

FONTS = ("cm", "stix")
"""Computer Modern and a Times-like face."""
DPI = 115
SIZE_PT = 10
MAX_TOKENS = 12

LETTERS = "a c d g h k l m n p q r s t v x y B E F I L P Q R T U V W".split()
GREEK = r"\alpha \beta \theta \lambda \mu \pi \rho \omega \phi \Delta".split()
DIGITS = list("0123456789")
FUNCTIONS = r"\sin \cos".split()
SIGNS = r"+ - = / . ( ) \cdot".split()
STRUCTURE = [r"\frac{", "}{", r"\sqrt{", r"\vec{", "^{", "_{", "}"]
SPECIAL = ["[PAD]", "[BOS]", "[EOS]"]
VOCABULARY = (*SPECIAL, *DIGITS, *LETTERS, *GREEK, *FUNCTIONS, *SIGNS, *STRUCTURE)


def latex_of(tokens: list[str]) -> str:
    r"""Join tokens; a control word that meets a letter is parted from it by a space, as ``\alpha x``."""
    text = ""
    for token in tokens:
        gap = token[0].isalpha() and text.rpartition("\\")[2].isalpha() and "\\" in text
        text += f" {token}" if gap else token
    return text


class _Grammar:
    """Writes token lists with one random generator."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - reproducible, not secret

    def equation(self) -> list[str]:
        kinds = (self._plain, self._sum, self._relation, self._relation, self._relation, self._value)
        return self._random.choice(kinds)()

    def _relation(self) -> list[str]:
        return [*self._symbol(), "=", *self._random.choice((self._plain, self._plain, self._sum))()]

    def _value(self) -> list[str]:
        return [*self._symbol(), "=", *self._number()]

    def _sum(self) -> list[str]:
        return [*self._symbol(), self._random.choice("+-"), *self._symbol()]

    def _plain(self) -> list[str]:
        kinds = (self._product, self._product, self._fraction, self._fraction, self._root, self._call, self._ratio)
        return self._random.choice(kinds)()

    def _product(self) -> list[str]:
        sign = self._random.choice(([], [], [r"\cdot"]))
        return [*self._symbol(), *sign, *self._symbol()]

    def _fraction(self) -> list[str]:
        top = self._random.choice((self._symbol, self._symbol, self._product, self._small))()
        bottom = self._random.choice((self._symbol, self._symbol, self._product, self._small))()
        return [r"\frac{", *top, "}{", *bottom, "}"]

    def _ratio(self) -> list[str]:
        return [*self._letter(), "/", *self._letter()]

    def _root(self) -> list[str]:
        return [r"\sqrt{", *self._random.choice((self._symbol, self._product, self._small))(), "}"]

    def _call(self) -> list[str]:
        return [self._random.choice(FUNCTIONS), *self._letter()]

    def _symbol(self) -> list[str]:
        letter = self._letter()
        kind = self._random.random()
        if kind < 0.2:
            return [*letter, "_{", self._random.choice([*"012", *"xynm"]), "}"]
        if kind < 0.4:
            return [*letter, "^{", self._random.choice([*"2223", "n"]), "}"]
        if kind < 0.45:
            return [r"\vec{", self._random.choice("EFBvarp"), "}"]
        if kind < 0.5:
            return ["(", *letter, self._random.choice("+-"), *self._letter(), ")"]
        return letter

    def _letter(self) -> list[str]:
        return [self._random.choice(LETTERS if self._random.random() < 0.7 else GREEK)]

    def _small(self) -> list[str]:
        return [self._random.choice(DIGITS[1:])]

    def _number(self) -> list[str]:
        whole = [self._random.choice(DIGITS[1:]), *self._random.choices(DIGITS, k=self._random.randint(0, 2))]
        return [*whole, ".", self._random.choice(DIGITS)] if self._random.random() < 0.4 else whole


def formulas(seed: int) -> Iterator[list[str]]:
    """Yield distinct formulas of at most ``MAX_TOKENS`` tokens, without end."""
    grammar, seen = _Grammar(seed), set()
    while True:
        tokens = grammar.equation()
        if len(tokens) <= MAX_TOKENS and tuple(tokens) not in seen:
            seen.add(tuple(tokens))
            yield tokens


@cache
def _parser() -> MathTextParser:
    return MathTextParser("agg")


def draw(latex: str, font: str) -> GreyImage:
    """Draw a formula in black on white, cropped to its ink with a margin of 4 px.

    Args:
        latex: Without delimiters.
        font: One of ``FONTS``.
    """
    prop = FontProperties(math_fontfamily=font, size=SIZE_PT)
    displayed = latex.replace(r"\frac", r"\dfrac")
    ink = np.asarray(_parser().parse(f"${displayed}$", dpi=DPI, prop=prop).image)
    return np.pad(255 - ink, 4, constant_values=255).astype(np.uint8)


def degrade(image: GreyImage, noise: np.random.Generator) -> GreyImage:
    """Change size, sharpness, contrast and grain a little, as a scanner does."""
    scale = noise.uniform(0.88, 1.12)
    worn = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    if noise.random() < 0.5:
        worn = cv2.GaussianBlur(worn, (0, 0), noise.uniform(0.3, 0.7))
    ink = noise.uniform(0, 60)
    grey = ink + worn.astype(np.float32) * (noise.uniform(225, 255) - ink) / 255
    grain = noise.normal(0, noise.uniform(0, 8), worn.shape)
    return np.asarray(np.clip(grey + grain, 0, 255), dtype=np.uint8)
