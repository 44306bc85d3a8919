"""What print, scanner, photo and fax do to the picture of one symbol, seeded."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from alphabet import is_stretched
from glyph_bank import EM_PX, GlyphBank
from numpy.typing import NDArray

__all__ = ["KINDS", "Sampler"]

Picture = NDArray[np.uint8]
Ink = NDArray[np.float32]

KINDS = ("clean", "scan", "photo", "fax")
"""Mild grey blur; grain, JPEG and worn print; slanted view in uneven light; two levels, threshold anywhere."""
EM_RANGE_PX = (9.0, 72.0)
"""Subscripts at 110 dpi to display type at 400 dpi."""
FAX_EM_RANGE_PX = (13.0, 72.0)
"""Subscripts at 200 dpi; two levels and fewer pixels leave nothing to read."""
MARGIN_PX = 4
MIN_CONTRAST = 40
SPECK_PX = 3
SPECK_SHARE = 0.03
"""Pieces with a smaller share of the ink are dust, which callers leave out of a crop."""
OTHER_SHARE = 0.1
"""Share of samples that are no symbol."""


@dataclass(frozen=True, slots=True)
class Sampler:
    """Draws damaged symbols, and ink that is none, from a bank of clean ones."""

    bank: GlyphBank
    hanzi: list[Picture]

    def draw(self, rng: np.random.Generator, kind: str, *, label: int | None = None) -> tuple[Picture, int]:
        """Make one damaged crop, dark on light, and the index of its label; ``len(bank.labels)`` is no symbol."""
        while True:
            index = label
            if index is None:
                is_other = rng.random() < OTHER_SHARE
                index = len(self.bank.labels) if is_other else int(rng.integers(len(self.bank.labels)))
            ink = self._no_symbol(rng) if index == len(self.bank.labels) else self._symbol(index, rng)
            crop = _damaged(ink, rng, kind)
            if crop is not None:
                return crop, index

    def _symbol(self, index: int, rng: np.random.Generator) -> Picture:
        label, ink = self.bank.labels[index], self.bank.pick(index, rng)
        way = is_stretched(label)
        if label == "√" and rng.random() < 0.7:
            ink = _with_roof(ink, int(rng.integers(10, 300)))
        elif way and rng.random() < 0.4:
            factor = float(np.exp(rng.uniform(0, np.log(8 if label == "−" else 3))))
            height, width = ink.shape
            size = (width, int(height * factor)) if way == "tall" else (int(width * factor), height)
            ink = np.asarray(cv2.resize(ink, size, interpolation=cv2.INTER_LINEAR), dtype=np.uint8)
        return ink

    def _no_symbol(self, rng: np.random.Generator) -> Picture:
        choice = rng.random()
        if choice < 0.3:
            return self.hanzi[rng.integers(len(self.hanzi))]
        if choice < 0.6:
            return _stroke(self.hanzi[rng.integers(len(self.hanzi))], rng)
        first = self.bank.pick(int(rng.integers(len(self.bank.labels))), rng)
        if choice < 0.9:
            return _touching(first, self.bank.pick(int(rng.integers(len(self.bank.labels))), rng), rng)
        return _cut(first, rng)


def _with_roof(root: Picture, width: int) -> Picture:
    thickness = max(2, int(0.04 * EM_PX))
    whole = np.zeros((root.shape[0], root.shape[1] + width), np.uint8)
    whole[:, : root.shape[1]] = root
    whole[:thickness, root.shape[1] - 2 :] = 255
    return whole


def _stroke(hanzi: Picture, rng: np.random.Generator) -> Picture:
    """Take one connected piece of a character, but none that is a mere bar or dot."""
    count, marks, stats, _ = cv2.connectedComponentsWithStats((hanzi > 127).astype(np.uint8))
    if count > 2:
        x, y, width, height, area = (int(v) for v in stats[rng.integers(1, count)])
        if min(width, height) > 0.25 * EM_PX and area < 0.6 * width * height:
            part = hanzi[y : y + height, x : x + width].copy()
            part[marks[y : y + height, x : x + width] == 0] = 0
            return part
    return hanzi


def _touching(left: Picture, right: Picture, rng: np.random.Generator) -> Picture:
    overlap = min(int(rng.integers(0, 5)), left.shape[1])
    drop = int(rng.integers(-20, 21))
    top = max(0, -drop)
    height = max(top + left.shape[0], top + drop + right.shape[0])
    width = max(left.shape[1], left.shape[1] - overlap + right.shape[1])
    whole = np.zeros((height, width), np.uint8)
    whole[top : top + left.shape[0], : left.shape[1]] = left
    start = width - right.shape[1]
    area = whole[top + drop : top + drop + right.shape[0], start:]
    np.maximum(area, right, out=area)
    return whole


def _cut(ink: Picture, rng: np.random.Generator) -> Picture:
    share = rng.uniform(0.35, 0.7)
    height, width = ink.shape
    part = ink[:, : max(4, int(share * width))] if width >= height else ink[: max(4, int(share * height))]
    return part if rng.random() < 0.5 else part[::-1, ::-1]


def _damaged(ink: Picture, rng: np.random.Generator, kind: str) -> Picture | None:
    em = float(np.exp(rng.uniform(*np.log(FAX_EM_RANGE_PX if kind == "fax" else EM_RANGE_PX))))
    ink = _weight(ink, rng)
    small = _placed(ink, em / EM_PX, rng, slant=2.5 if kind == "photo" else 1.0)
    blur = rng.uniform(0.2, 0.5) if kind == "clean" else rng.uniform(0.3, 0.45 + 0.02 * min(em, 30))
    small = np.asarray(cv2.GaussianBlur(small, (0, 0), blur), dtype=np.float32)
    if kind != "clean":
        small = np.clip((small - 0.5) * rng.uniform(0.9, 1.8) + 0.5 + rng.uniform(-0.15, 0.2), 0, 1)
    return _cropped(_scanned(small, rng, kind))


def _weight(ink: Picture, rng: np.random.Generator) -> Picture:
    choice = rng.random()
    if choice < 0.2:
        kernel = np.ones((int(rng.integers(2, 4)), int(rng.integers(2, 4))), np.uint8)
        grown = cv2.copyMakeBorder(ink, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
        return np.asarray(cv2.dilate(grown, kernel), dtype=np.uint8)
    if choice < 0.3:
        return np.asarray(cv2.erode(ink, np.ones((2, 2), np.uint8)), dtype=np.uint8)
    return ink


def _placed(ink: Picture, scale: float, rng: np.random.Generator, *, slant: float) -> Ink:
    """Scale, turn and shear a picture about its middle, onto a canvas with a margin."""
    height, width = ink.shape
    turn, shear = np.deg2rad(rng.normal(0, 1.2 * slant)), rng.normal(0, 0.03 * slant)
    stretch = np.exp(rng.normal(0, 0.04 * slant))
    reach = abs(np.sin(turn)) + abs(shear)
    step = max(1.0, 1 / scale)
    margin = int(MARGIN_PX * step + reach * max(height, width) / 2)
    out_width, out_height = int(width * max(1, stretch)) + 2 * margin, height + 2 * margin
    matrix = np.array([[stretch * np.cos(turn), shear - np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0]])
    middle = np.array([width / 2, height / 2])
    wander = rng.uniform(-step / 2, step / 2, 2)
    matrix[:, 2] = np.array([out_width / 2, out_height / 2]) + wander - matrix[:, :2] @ middle
    placed = cv2.warpAffine(ink, matrix, (out_width, out_height), flags=cv2.INTER_LINEAR)
    size = (max(3, round(out_width * scale)), max(3, round(out_height * scale)))
    small = cv2.resize(placed, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    return np.asarray(small, dtype=np.float32) / np.float32(255)


def _scanned(ink: Ink, rng: np.random.Generator, kind: str) -> Picture:
    height, width = ink.shape
    paper = rng.uniform(150, 255)
    dark = rng.uniform(0, min(110, paper - 80))
    page = paper - (paper - dark) * ink
    if kind == "photo":
        page *= 1 - rng.uniform(0, 0.35) * np.linspace(0, 1, width, dtype=np.float32)[:: rng.choice((1, -1))]
    if kind != "clean":
        grain = rng.standard_normal((height, width), dtype=np.float32)
        page = page + rng.uniform(0, 0.09) * (paper - dark) * grain
    if kind in {"scan", "fax"} and rng.random() < 0.15:
        y, x = int(rng.integers(height)), int(rng.integers(width))
        size = int(rng.integers(1, 3))
        page[y : y + size, x : x + size] = dark if rng.random() < 0.5 else paper
    if kind == "fax":
        level = dark + (paper - dark) * rng.uniform(0.35, 0.7)
        page = np.where(page < level, 0, 255)
    grey = np.clip(page, 0, 255).astype(np.uint8)
    if kind in {"scan", "photo"} and rng.random() < 0.5:
        _, data = cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(30, 92))])
        grey = np.asarray(cv2.imdecode(data, cv2.IMREAD_GRAYSCALE), dtype=np.uint8)
    return grey


def _cropped(grey: Picture) -> Picture | None:
    """Crop to the ink as the formula reader does; None if nothing is left to see."""
    if int(grey.max()) - int(grey.min()) < MIN_CONTRAST:
        return None
    _, mask = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    count, _, stats, _ = cv2.connectedComponentsWithStats(np.asarray(mask, dtype=np.uint8), connectivity=8)
    areas = stats[1:count, cv2.CC_STAT_AREA]
    pieces = stats[1:count][areas >= max(SPECK_PX, SPECK_SHARE * areas.sum())]
    if not len(pieces):
        return None
    left, top = pieces[:, 0].min(), pieces[:, 1].min()
    right, bottom = (pieces[:, 0] + pieces[:, 2]).max(), (pieces[:, 1] + pieces[:, 3]).max()
    return grey[top:bottom, left:right]
