"""Measure the classifier on pages with known formulas: how often is the ink of a simple formula named rightly?

    python data/symbol_model/measure_pages.py ../shared/scans/own-*

Each folder holds page images and ``truth.json`` with ``files`` and ``formulas`` (``page``, ``bbox``, ``latex``). Formulas
that are a plain row of symbols with simple scripts count, if their ink falls into as many pieces as they have symbols.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageSequence

from physelite_build.engines.structure.ink import Blob, em_px, find_blobs, join_strokes
from physelite_build.engines.symbols import SymbolReader, shape_probability

Picture = NDArray[np.uint8]

MOST_SYMBOLS = 12
PAD_PX = 2
SPECK_EM = 0.12
LEAST_INK_PX = 4
COMMANDS = {
    **dict(
        zip(
            "alpha beta gamma delta epsilon theta lambda mu nu eta pi rho sigma tau".split(),
            "αβγδεθλμνηπρστ",
            strict=True,
        )
    ),
    **dict(zip("phi varphi psi omega Omega Delta Phi infty to cdot times approx".split(), "φφψωΩΔΦ∞→·×≈", strict=True)),
}
MARKS = {"-": "−", "'": "′"}


def symbols_of(latex: str) -> str | None:
    """Return the symbols of a plain row from left to right; None if scripts stand on each other or a command is unknown."""
    plain = re.sub(r"\\(mathrm|text|mathbf)\b|\\[,;:! ]", "", latex)
    if re.search(r"_(\w|\{[^}]*\})\^|\^(\w|\{[^}]*\})_", plain):
        return None
    found = ""
    for command, character in re.findall(r"\\([A-Za-z]+)|([^{}_^ \\])", plain):
        if command and command not in COMMANDS:
            return None
        found += COMMANDS[command] if command else MARKS.get(character, character)
    return found


def glyphs_of(page: Picture, box: list[float], wanted: str) -> list[Picture] | None:
    """Cut the ink of a formula into one crop per symbol; None if it does not fall into that many pieces."""
    left, top, right, bottom = (int(v) for v in box)
    crop = page[max(0, top - PAD_PX) : bottom + PAD_PX, max(0, left - PAD_PX + 1) : right + PAD_PX - 1]
    blobs = find_blobs(np.asarray(cv2.cvtColor(crop, cv2.COLOR_GRAY2BGR), dtype=np.uint8))
    em = em_px(blobs)
    joined = join_strokes([blob for blob in blobs if blob.ink >= LEAST_INK_PX], em)
    pieces = [blob for blob in joined if not _is_dust(blob, crop, em, dots="." in wanted)]
    if len(pieces) != len(wanted):
        return None
    pieces.sort(key=lambda blob: blob.x)
    return [_cut(crop, blob, em, dotted=symbol in "ij") for blob, symbol in zip(pieces, wanted, strict=True)]


def _is_dust(blob: Blob, crop: Picture, em: float, *, dots: bool) -> bool:
    height, width = crop.shape
    on_edge = blob.left == 0 or blob.top == 0 or blob.right == width or blob.bottom == height
    tiny = max(blob.width, blob.height) <= SPECK_EM * em
    return (on_edge and blob.ink < 0.1 * em * em) or (tiny and not dots)


def _cut(crop: Picture, blob: Blob, em: float, *, dotted: bool) -> Picture:
    """Cut a blob out; ``join_strokes`` leaves the dot of i and j out of its box."""
    top = max(0, blob.top - int(0.35 * em)) if dotted else blob.top
    glyph = crop[top : blob.bottom, blob.left : blob.right]
    inked = np.flatnonzero(glyph.min(axis=1) < (int(crop.max()) + int(glyph.min())) / 2)
    return np.ascontiguousarray(glyph[inked[0] :])


def glyphs_of_document(folder: Path) -> Iterator[tuple[Picture, str]]:
    """Yield the crops of a document with the symbol that each shows."""
    truth: dict[str, Any] = json.loads((folder / "truth.json").read_text("utf-8"))
    pages = [
        np.asarray(frame.convert("L"))  # at once: the frames of a file share one picture object
        for name in truth["files"]
        for frame in ImageSequence.Iterator(Image.open(folder / name))
    ]
    for formula in truth["formulas"]:
        wanted = symbols_of(formula["latex"])
        if wanted and len(wanted) <= MOST_SYMBOLS:
            yield from zip(glyphs_of(pages[formula["page"] - 1], formula["bbox"], wanted) or [], wanted, strict=False)


def main() -> None:
    """Print one line of a Markdown table per document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("documents", type=Path, nargs="+")
    reader = SymbolReader()
    print("| document | symbols | label, first | label, first three | shape, first |\n|---|---|---|---|---|")  # noqa: T201
    for folder in parser.parse_args().documents:
        pairs = list(glyphs_of_document(folder))
        rows = reader.probabilities([glyph for glyph, _ in pairs])
        first, three, shape = 0, 0, 0
        for row, (_, wanted) in zip(rows, pairs, strict=True):
            best = [reader.labels[i] for i in np.argsort(-row)[:3]]
            first, three = first + (best[0] == wanted), three + (wanted in best)
            shape += shape_probability(row, wanted) >= max(shape_probability(row, label) for label in reader.labels)
        shares = " | ".join(f"{count / len(pairs):.3f}" for count in (first, three, shape))
        print(f"| {folder.name} | {len(pairs)} | {shares} |")  # noqa: T201


if __name__ == "__main__":
    main()
