r"""Where would the symbols of a formula stand if it were printed? Formulas typeset by matplotlib's mathtext.

mathtext knows no environments; what it cannot set is judged by nobody and stays unverified.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Symbol", "typeset"]

SIZE_PT = 10.0
FAMILIES = ("stix", "cm")
"""Times-like and Computer Modern. The characters come from the first; the second only adds its metrics."""
BAR = "bar"
"""Text of a drawn line: a fraction bar or the roof of a root."""

_SPELLED = {r"\coloneqq": ":=", r"\lt": "<", r"\gt": ">", r"\qquad": r"\quad"}
_COMMAND = re.compile(r"\\[A-Za-z]+")
_EMPTY = re.compile(r"(?<![\\A-Za-z}])\{\}")


@dataclass(frozen=True, slots=True)
class Symbol:
    """One printed symbol; lengths in em, y up from the line."""

    text: str
    """One character without style, or ``BAR``."""
    left: float
    bottom: float
    right: float
    top: float

    @property
    def is_bar(self) -> bool:
        """True for a drawn line."""
        return self.text == BAR


@lru_cache(maxsize=4096)
def typeset(latex: str, family: str = FAMILIES[0]) -> tuple[Symbol, ...] | None:
    """Typeset one formula of one row.

    Args:
        latex: Without delimiters.
        family: A font family of mathtext: ``stix`` or ``cm``.

    Returns:
        Its symbols in the order they are set; None if it cannot be set.
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.ft2font import LoadFlags
    from matplotlib.mathtext import MathTextParser

    text = _COMMAND.sub(lambda m: _SPELLED.get(m[0], m[0]) + (" " if m[0] not in _SPELLED else ""), latex)
    text = _EMPTY.sub("", text)
    if any(ord(c) > 0x2E7F for c in text):
        return None
    logging.getLogger("matplotlib.mathtext").setLevel(logging.ERROR)
    try:
        parsed = MathTextParser("path").parse(f"${text}$", 72, FontProperties(size=SIZE_PT, math_fontfamily=family))
    except (ValueError, RuntimeError, KeyError, IndexError, AttributeError):  # mathtext fails in many ways
        return None
    symbols = []
    for font, size, number, glyph_index, x, y in parsed.glyphs:
        font.set_size(size, 72)
        glyph = font.load_glyph(glyph_index, flags=LoadFlags.NO_HINTING)
        x0, y0, x1, y1 = (v / 64 for v in glyph.bbox)
        if x1 > x0 and y1 > y0:
            name = unicodedata.normalize("NFKC", chr(number))
            symbols.append(Symbol(name[:1], *((v / SIZE_PT) for v in (x + x0, y + y0, x + x1, y + y1))))
    symbols += [Symbol(BAR, *((v / SIZE_PT) for v in (x, y, x + w, y + h))) for x, y, w, h in parsed.rects]
    return tuple(symbols) or None
