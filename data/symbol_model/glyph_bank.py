"""Clean pictures of every symbol in every font, rendered once and kept in memory."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from alphabet import ALPHABET
from fontTools.ttLib import TTCollection, TTFont
from numpy.typing import NDArray
from PIL import ImageFont

__all__ = ["EM_PX", "Family", "GlyphBank", "find_families", "render_bank", "render_hanzi"]

EM_PX = 64
"""Type size of the clean pictures."""
MOST_HANZI = 2500


@dataclass(frozen=True, slots=True)
class Family:
    """One family of ``fonts.toml`` and where its files lie."""

    name: str
    licence: str
    held_out: bool
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class GlyphBank:
    """For each label the pictures of each family that has it; ink is bright, cropped to the ink."""

    labels: tuple[str, ...]
    pictures: tuple[tuple[tuple[NDArray[np.uint8], ...], ...], ...]
    """Index of the label, then the family, then the variant."""

    def pick(self, label: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Return one picture of a label, every family being equally likely."""
        families = self.pictures[label]
        variants = families[rng.integers(len(families))]
        return variants[rng.integers(len(variants))]


def find_families(folders: Iterable[Path]) -> list[Family]:
    """Look the families of ``fonts.toml`` up below some folders.

    Raises:
        FileNotFoundError: If no file of a family is found; the message names it.
    """
    files: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".ttf", ".otf", ".ttc", ".woff2"}:
                files.setdefault(path.name, path)
    table = tomllib.loads((Path(__file__).parent / "fonts.toml").read_text("utf-8"))
    families = []
    for row in table["family"]:
        names = sorted(name for name in files if any(Path(name).match(pattern) for pattern in row["files"]))
        if not names:
            raise FileNotFoundError(
                f"no font of {row['name']} ({', '.join(row['files'])}); add its folder with --fonts"
            )
        paths = tuple(files[name] for name in names)
        families.append(Family(row["name"], row["licence"], row.get("held_out", False), paths))
    return families


def render_bank(families: Iterable[Family]) -> GlyphBank:
    """Draw every label in every font that has it."""
    found: dict[str, dict[str, list[NDArray[np.uint8]]]] = {label: {} for label in ALPHABET}
    for family in families:
        for path in family.paths:
            known = _code_points(path)
            font = ImageFont.truetype(str(path), EM_PX)
            for label, variants in ALPHABET.items():
                for character in variants:
                    if ord(character) in known and (picture := _draw(font, character)) is not None:
                        found[label].setdefault(family.name, []).append(picture)
    labels = tuple(label for label, by_family in found.items() if by_family)
    return GlyphBank(
        labels,
        tuple(tuple(tuple(pictures) for pictures in found[label].values()) for label in labels),
    )


def render_hanzi(paths: Iterable[Path], *, seed: int) -> list[NDArray[np.uint8]]:
    """Draw Chinese characters, an equal share of each font; those that look like a symbol of ours are left out."""
    rng = np.random.default_rng(seed)
    fonts = list(paths)
    pictures = []
    for path in fonts:
        known = sorted(
            _code_points(path) & set(range(0x4E00, 0x9FA6)) - {ord(c) for c in "一二三口〇十丁了个人入八卜厂工丨日"}
        )
        font = ImageFont.truetype(str(path), EM_PX)
        for code in rng.choice(known, MOST_HANZI // len(fonts), replace=False):
            if (picture := _draw(font, chr(code))) is not None:
                pictures.append(picture)
    return pictures


def _code_points(path: Path) -> set[int]:
    font = TTCollection(path, lazy=True).fonts[0] if path.suffix == ".ttc" else TTFont(path, lazy=True)
    return set(font.getBestCmap() or {})


def _draw(font: ImageFont.FreeTypeFont, character: str) -> NDArray[np.uint8] | None:
    mask = font.getmask(character, mode="L")
    width, height = mask.size
    if not width or not height:
        return None
    ink = np.array(mask, dtype=np.uint8).reshape(height, width)
    rows, columns = np.flatnonzero(ink.max(axis=1) > 64), np.flatnonzero(ink.max(axis=0) > 64)
    if not len(rows) or not len(columns):
        return None
    return ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
