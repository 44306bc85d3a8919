"""What a printed PDF is in pixels: its pages drawn, boxes fitted to the ink. Used by make_samples.py and make_pages.py."""

from __future__ import annotations

import numpy as np
import pypdfium2
from PIL import Image

__all__ = ["draw_pages", "fitted"]

INK = 200
"""Grey values below it are part of a drawing when its box is fitted; thin grey strokes are above 100."""


def draw_pages(pdf: bytes, dpi: int) -> list[Image.Image]:
    """Draw every page of a PDF at a resolution, RGB."""
    with pypdfium2.PdfDocument(pdf) as document:
        return [page.render(scale=dpi / 72).to_pil().convert("RGB") for page in document]


def fitted(box: list[float], page: Image.Image) -> list[float]:
    """Shrink a box to the ink inside it.

    Args:
        box: left, top, right, bottom in pixels.
        page: The clean page.

    Returns:
        The smallest box around all dark pixels, in whole pixels.

    Raises:
        ValueError: If there is no ink in the box.
    """
    left, top = int(box[0]), int(box[1])
    dark = np.asarray(page.convert("L").crop((left, top, int(box[2]) + 1, int(box[3]) + 1))) < INK
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    if not rows.size:
        raise ValueError(f"No ink in the box {box}; was the drawing printed?")
    return [float(left + columns[0]), float(top + rows[0]), float(left + columns[-1] + 1), float(top + rows[-1] + 1)]
