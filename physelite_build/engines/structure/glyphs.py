"""One recognised character in its place on paper.

Made by ``engines/pairing.py``, put on its level by ``engines/levels.py``, written by ``engines/notation.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

from physelite_build.engines.structure.ink import Blob

__all__ = ["AXIS", "Glyph", "is_cjk", "span_em"]

_X = "iacemnorsuvwxzαεικνοπστυω"
_HIGH = "bdhkltθλδ∂"
_DEEP = "jgpqyγμµρχη"
_BOTH = "fβφψξζϕ|()[]{}/∫"
AXIS = "+-−–—=<>≤≥≈∼~×→←±∓∝∈·÷≪≫≡"
_SPANS = {
    **dict.fromkeys(_X, (0.44, 0.0)),
    **dict.fromkeys(_HIGH, (0.69, 0.0)),
    **dict.fromkeys(_DEEP, (0.44, -0.2)),
    **dict.fromkeys(_BOTH, (0.72, -0.22)),
    **dict.fromkeys(AXIS, (0.45, 0.05)),
    "Q": (0.69, -0.19),
    ",": (0.1, -0.19),
    ".": (0.1, 0.0),
    "∞": (0.44, 0.0),
}


@dataclass(frozen=True, slots=True)
class Glyph:
    """One character of a row, or one finished piece of LaTeX standing in its place."""

    text: str
    """One character, or LaTeX if ``is_latex``."""
    x: float
    """Horizontal centre in pixels of the picture."""
    level: int | None = 0
    """0 on the line, 1 superscript, -1 subscript; None if the ink does not tell."""
    blob: Blob | None = None
    gap_em: float = 0.0
    """Width of the white space before it, in em."""
    is_latex: bool = False

    @property
    def is_symbol(self) -> bool:
        """True for letters and digits of formulas, of any script but Chinese."""
        return not self.is_latex and self.text.isalnum() and not is_cjk(self.text)


def is_cjk(text: str) -> bool:
    """Say whether a character is Chinese, Chinese punctuation, a circled number or a full-width sign."""
    code = ord(text[0])
    return 0x2460 <= code <= 0x24FF or 0x2E80 <= code <= 0xA4CF or 0xF900 <= code <= 0xFAFF or 0xFE30 <= code <= 0xFFEF


def span_em(text: str) -> tuple[float, float]:
    """Return the printed extent of a character in em above the line.

    Args:
        text: One character.

    Returns:
        Its top and its bottom; capitals and digits are the rule for what is not listed.

    Source:
        Computer Modern at 10 pt; KaTeX and Times differ by less than 0.03 em.
    """
    return _SPANS.get(text, (0.67, 0.0))
