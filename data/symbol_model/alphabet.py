"""Which symbols the classifier knows, and the code points that fonts draw each of them with."""

from __future__ import annotations

import string

__all__ = ["ALPHABET", "OTHER", "STRETCHED", "is_stretched"]

OTHER = ""
"""Label of ink that is no symbol of ours: Chinese characters, touching letters, cut pieces, specks."""

STRETCHED = {"()[]{}⟨⟩|∥/∫∮√": "tall", "−→←⇒⇔↔=^∼": "wide"}
"""Symbols that typesetters draw longer than the font has them."""

_LATIN_BLOCKS = (0x1D400, 0x1D434, 0x1D468)
"""First letter of the bold, italic and bold italic alphabets of Unicode's mathematical letters."""
_GREEK_BLOCKS = (0x1D6A8, 0x1D6E2, 0x1D71C)
_DIGIT_BLOCKS = (0x1D7CE, 0x1D7E2)
_GREEK_ORDER = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡϴΣΤΥΦΧΨΩ∇αβγδεζηθικλμνξοπρςστυφχψω∂ϵϑϰϕϱϖ"
"""Order of the letters inside each of Unicode's mathematical Greek alphabets."""

_GREEK = "α β γ δ ζ η ι κ λ ν ξ π σ τ υ χ ψ ω Γ Δ Θ Λ Ξ Π Σ Φ Ψ Ω εϵ θϑ μµ ρϱ φϕ".split()
"""Each word is a label and what else it is drawn with."""
_SIGNS = "+×÷=≠<>≪≫≡≃≅∝→←↑↓↔⇔∞∮√∈∠⊙⊗⊕∴∵*/!?%…()[]{},:;ℏℓ①②③④⑤⑥⑦⑧⑨"
_MORE_SIGNS = "−-–_¯‐ ·⋅˙ . ± ∓ ≤⩽≦ ≥⩾≧ ≈ ∼~˜ ⇒⟹ ∂ ∇ ∫ ∑ ∏ ∥‖ ⊥ △ °∘ ′' ″ |∣ ⟨〈 ⟩〉 ^ˆ ÅÅ ℰ ℒ".split()


def _latin(letter: str) -> str:
    index = string.ascii_uppercase.find(letter)
    if index < 0:
        index = 26 + string.ascii_lowercase.index(letter)
    planck = "ℎ" if letter == "h" else ""
    return letter + "".join(chr(block + index) for block in _LATIN_BLOCKS) + planck


def _greek(variants: str) -> str:
    shifted = (
        chr(block + _GREEK_ORDER.index(letter))
        for letter in variants
        if letter in _GREEK_ORDER
        for block in _GREEK_BLOCKS
    )
    return variants + "".join(shifted)


def _digit(digit: str) -> str:
    return digit + "".join(chr(block + int(digit)) for block in _DIGIT_BLOCKS)


ALPHABET: dict[str, str] = {
    **{digit: _digit(digit) for digit in string.digits},
    **{letter: _latin(letter) for letter in string.ascii_lowercase + string.ascii_uppercase},
    **{word[0]: _greek(word) for word in _GREEK},
    **{sign: sign for sign in _SIGNS},
    **{word[0]: _greek(word) for word in _MORE_SIGNS},
}
"""Label to code points, in the order of the network's outputs; ``OTHER`` comes after them."""


def is_stretched(label: str) -> str | None:
    """Say whether a symbol is drawn ``tall`` or ``wide`` around what it belongs to; None if never."""
    return next((way for labels, way in STRETCHED.items() if label in labels), None)
