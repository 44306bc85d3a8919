"""Which symbol does a small picture show? A convolutional network that looks at one symbol at a time.

Used by the structural formula reader to name ink, and by whatever checks a formula against its picture. The network is
trained by ``data/symbol_model``; its README says on which fonts and how well it does on others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from physelite_build.errors import FatalError, ItemError
from physelite_build.records import Fingerprint

__all__ = ["SAME_SHAPE", "SymbolReader", "normalise", "read_labels", "shape_probability"]

SIDE_PX = 40
"""Side of the network's input."""
INK_PX = 36
"""Longer side of the ink inside it; the rest is margin."""
BATCH = 256
MIN_CONTRAST = 40
"""Grey levels; a crop with less is solid ink, for example a fraction bar of a fax."""
LARGEST_PX = 4096
"""Sides above it are no crop of one symbol."""

SAME_SHAPE: tuple[str, ...] = (
    "cC",
    "kK",
    "lI|∣ı",
    "oO°∘",
    "pP",
    "sS",
    "vVυ",
    "wW",
    "xX×",
    "zZ",
    ".·⋅˙",
    ",′'’",
    "−-–—_¯",
    "∼~˜",
    "^ˆ",
    "Δ△",
    "Σ∑",
    "Π∏",
    "∥‖",
    "εϵ",
    "θϑ",
    "φϕ",
    "ρϱ",
    "μµ",
)
"""Groups of characters that only size, place or context tells apart; not every member is a label, ``_`` for example is
read as ``−``. 0, 1, κ and ν are in none: the network tells them from O, l, K and v (data/symbol_model, README)."""


class SymbolReader:
    """Gives every label a probability for pictures of single symbols; the answer for one does not depend on others.

    Attributes:
        labels: What the columns of ``probabilities`` mean: one character each, ``""`` for ink that is no known symbol.
            Italic, upright and bold are one label.
        fingerprint: Changes with the weights.
    """

    labels: tuple[str, ...]
    fingerprint: Fingerprint

    def __init__(self, *, threads: int = 1) -> None:
        """Load the network.

        Args:
            threads: CPU threads.

        Raises:
            FatalError: ``engine.missing`` if onnxruntime is not installed.
        """
        weights = files(__package__).joinpath("symbols.onnx").read_bytes()
        digest = hashlib.sha256(weights).hexdigest()[:16]
        self.labels = read_labels()
        self.fingerprint = Fingerprint(name="symbols", version="1", models=(f"symbols:{digest}",))
        self._session = _session(weights, threads)

    def probabilities(self, glyphs: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        """Read pictures of one symbol each.

        Args:
            glyphs: Grey, shape ``(height_px, width_px)``, uint8, dark on light, cropped to the ink, any size; other ink
                inside the crop painted over with paper.

        Returns:
            Shape ``(len(glyphs), len(labels))``, float32, each row sums to 1.

        Raises:
            ItemError: ``symbol.picture`` if a picture is empty, far too large or not grey.
        """
        found = [np.empty((0, len(self.labels)), np.float32)]
        for start in range(0, len(glyphs), BATCH):
            pairs = [normalise(glyph) for glyph in glyphs[start : start + BATCH]]
            pictures = np.stack([picture for picture, _ in pairs])[:, None]
            sizes = np.stack([size for _, size in pairs])
            found.append(self._session.run(None, {"pictures": pictures, "sizes": sizes})[0])
        return np.concatenate(found)


def normalise(glyph: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Bring a crop to the form that the network was trained on.

    Args:
        glyph: Grey, shape ``(height_px, width_px)``, uint8, dark on light.

    Returns:
        Ink in [0, 1], 1 being darkest, shape ``(SIDE_PX, SIDE_PX)``, the aspect kept; and the logarithms of width by
        height and of the longer side by ``INK_PX``, shape ``(2,)``.

    Raises:
        ItemError: ``symbol.picture`` if the crop is empty, far too large or not grey.
    """
    if glyph.ndim != 2 or not 0 < min(glyph.shape) <= max(glyph.shape) <= LARGEST_PX:
        raise ItemError("symbol.picture", f"a crop of shape {glyph.shape} is no grey picture of a symbol; cut it anew")
    height, width = glyph.shape
    light, dark = float(glyph.max()), float(glyph.min())
    if light - dark < MIN_CONTRAST:
        light = dark + 255
    ink = (light - glyph.astype(np.float32)) / (light - dark)
    scale = INK_PX / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    ink = cv2.resize(ink, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    picture = np.zeros((SIDE_PX, SIDE_PX), np.float32)
    top, left = (SIDE_PX - size[1]) // 2, (SIDE_PX - size[0]) // 2
    picture[top : top + size[1], left : left + size[0]] = ink
    return picture, np.array([np.log(width / height), -np.log(scale)], np.float32)


def shape_probability(row: NDArray[np.float32], label: str) -> float:
    """Add up the probabilities of all labels that look like a character.

    Args:
        row: One row of ``SymbolReader.probabilities``.
        label: A label, or any character of ``SAME_SHAPE``.

    Returns:
        Probability of the shape, in [0, 1]; 0 for a character that the network does not know.
    """
    return float(sum(row[index] for index in _alike(label)))


@cache
def read_labels() -> tuple[str, ...]:
    """Return the labels in the order of the network's outputs."""
    return tuple(json.loads(files(__package__).joinpath("labels.json").read_text("utf-8")))


@cache
def _alike(label: str) -> tuple[int, ...]:
    group = next((group for group in SAME_SHAPE if label and label in group), None)
    members = set(group) if group else {label}
    return tuple(index for index, known in enumerate(read_labels()) if known in members)


def _session(weights: bytes, threads: int) -> Any:
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        raise FatalError(
            "engine.missing", "onnxruntime is not installed; run: make setup, or install the [ocr] extra"
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
