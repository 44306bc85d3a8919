"""What happens to clean pages before they are input: one seeded recipe for each kind, and where points of a page go.

Images are uint8. Points are pixels with the origin at the top left corner of the image; a pixel covers [x, x + 1).
Neighbours: ../degrade.py holds the scanner and the telephone, plan.py names the kinds.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from degrade import flat_scan, hand_held_photo
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

__all__ = ["RECIPES", "Capture", "Move", "Place", "Recipe", "save"]

Floats = NDArray[np.float64]
Greys = NDArray[np.float32]
Move = Callable[[Floats], Floats]
"""Maps points of a clean page to points of the input picture, both of shape (n, 2)."""
PAPER = 255


@dataclass(frozen=True, slots=True)
class Place:
    """Where a clean page went."""

    picture: int
    """Index of the input picture."""
    move: Move


@dataclass(frozen=True, slots=True)
class Capture:
    """Input pictures, and one place for each clean page."""

    pictures: list[Image.Image]
    places: list[Place]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one kind of input is made of clean pages."""

    dpi: int
    """Resolution at which the clean pages are drawn."""
    capture: Callable[[list[Image.Image], np.random.Generator], Capture] | None
    """None for a PDF, which stays as it was printed."""
    suffix: str
    """File type: one file a page, but one file for all pages of a ``.pdf`` or ``.tif``."""
    saving: dict[str, Any]
    """Options of ``Image.save``."""


def _stay(points: Floats) -> Floats:
    return points


def _linear(matrix: Floats) -> Move:
    """Get the move of a 3 by 3 matrix."""
    return lambda points: cv2.perspectiveTransform(points[None].astype(np.float64), matrix)[0]


def _grey(page: Image.Image) -> Greys:
    return np.asarray(page.convert("L"), dtype=np.float32)


def _image(values: NDArray[Any]) -> Image.Image:
    return Image.fromarray(np.clip(np.rint(values), 0, 255).astype(np.uint8))


Shoot = Callable[[Image.Image, np.random.Generator], tuple[Image.Image, Move]]


def _each(shoot: Shoot) -> Callable[[list[Image.Image], np.random.Generator], Capture]:
    """Make a recipe out of what happens to a single page."""

    def capture(pages: list[Image.Image], rng: np.random.Generator) -> Capture:
        shots = [shoot(page, rng) for page in pages]
        return Capture([image for image, _ in shots], [Place(i, move) for i, (_, move) in enumerate(shots)])

    return capture


def _in_place(change: Callable[[Image.Image, np.random.Generator], Image.Image]) -> Shoot:
    return lambda page, rng: (change(page, rng), _stay)


def _skewed(page: Image.Image, rng: np.random.Generator, least_deg: float, most_deg: float) -> tuple[Image.Image, Move]:
    """Turn a page about its middle by an angle of random sign; uncovered corners are paper."""
    angle = rng.uniform(least_deg, most_deg) * rng.choice([-1, 1])
    # OpenCV counts from the middle of the first pixel, boxes count from its corner.
    matrix = np.vstack([cv2.getRotationMatrix2D(((page.width - 1) / 2, (page.height - 1) / 2), angle, 1.0), [0, 0, 1]])
    turned = cv2.warpAffine(
        np.asarray(page), matrix[:2], page.size, flags=cv2.INTER_CUBIC, borderValue=(PAPER, PAPER, PAPER)
    )
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    return Image.fromarray(turned), _linear(half @ matrix @ np.linalg.inv(half))


def _field(shape: tuple[int, int], cell_px: int, rng: np.random.Generator) -> Greys:
    """Draw a smooth random field, about standard normal, that varies over ``cell_px``."""
    small = rng.normal(0, 1, (shape[0] // cell_px + 2, shape[1] // cell_px + 2)).astype(np.float32)
    return cv2.resize(small, shape[::-1], interpolation=cv2.INTER_CUBIC)


def _flatbed(page: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Move]:
    turned, move = _skewed(page, rng, 0.5, 2.0)
    return flat_scan(turned, blur_px=0.7, noise=3.0, seed=int(rng.integers(1 << 31))), move


def _photocopy(page: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Move]:
    turned, move = _skewed(page, rng, 0.2, 0.8)
    grey = cv2.GaussianBlur(_grey(turned), (0, 0), 0.9)
    # Toner varies over a few strokes and over the page: where the threshold is low, thin strokes break.
    threshold = 150 + 15 * _field(grey.shape, 9, rng) + 18 * _field(grey.shape, 320, rng)
    copy = 255 / (1 + np.exp(-(grey - threshold) / 12))
    for x, y, wide in zip(
        rng.integers(0, page.width, 260), rng.integers(0, page.height, 260), rng.integers(1, 4, 260), strict=True
    ):
        copy[y : y + wide, x : x + wide] = 20
    copy[:, : int(rng.integers(6, 22))] = 30
    return _image(copy), move


def _curled(page: Image.Image, depth_px: float) -> tuple[Image.Image, Move]:
    """Bow the rows of a page as an open book does: each column of pixels slides down by its own amount."""

    def drop(x: NDArray[Any]) -> NDArray[Any]:
        return depth_px * np.sin(np.pi * np.clip(x / page.width, 0, 1)) ** 2 * (0.4 + 0.6 * x / page.width)

    x, y = np.meshgrid(np.arange(page.width, dtype=np.float32), np.arange(page.height, dtype=np.float32))
    bowed = cv2.remap(
        np.asarray(page), x, (y - drop(x + 0.5)).astype(np.float32), cv2.INTER_CUBIC, borderValue=(PAPER, PAPER, PAPER)
    )
    return Image.fromarray(bowed), lambda points: np.column_stack([points[:, 0], points[:, 1] + drop(points[:, 0])])


def _photo(page: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Move]:
    bowed, bow = _curled(page, 0.011 * page.height)
    size = (round(1.1 * page.width), round(1.1 * page.height))
    shot = hand_held_photo(bowed, size=size, seed=int(rng.integers(1 << 31)))
    lens = _linear(shot.matrix)
    return shot.image, lambda points: lens(bow(points))


def _bleed_through(pages: list[Image.Image], rng: np.random.Generator) -> Capture:
    pictures = []
    for index, page in enumerate(pages):
        # A sheet's reverse side is its other page; a single page shows itself.
        reverse = cv2.GaussianBlur(_grey(pages[index ^ 1 if index ^ 1 < len(pages) else index])[:, ::-1], (0, 0), 1.6)
        reverse = np.roll(reverse, tuple(rng.integers(-24, 25, 2)), axis=(0, 1))
        paper = _grey(page) * (236 / 255) - (255 - reverse) * 0.2 + rng.normal(0, 2.5, reverse.shape)
        pictures.append(_image(np.maximum(paper, 20)))
    return Capture(pictures, [Place(i, _stay) for i in range(len(pages))])


def _fax(page: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Move]:
    turned, move = _skewed(page, rng, 0.3, 1.0)
    grey = cv2.GaussianBlur(_grey(turned), (0, 0), 0.6) + rng.normal(0, 14, (page.height, page.width))
    return Image.fromarray(grey > 140), move


def _two_up(pages: list[Image.Image], rng: np.random.Generator) -> Capture:
    """Lay two pages side by side as an open book, with a dark fold; an odd last page faces an empty one."""
    width, height = pages[0].size
    x = np.arange(2 * width, dtype=np.float32)
    fold = 1 - 0.45 * np.exp(-((x - width) ** 2) / (2 * (0.012 * width) ** 2))
    pictures, places = [], []
    for index, page in enumerate(pages):
        side = index % 2
        if not side:
            spread = np.full((height, 2 * width), 244, np.float32)
            pictures.append(spread)
        pictures[-1][:, side * width : (side + 1) * width] = 244 / 255 * _grey(page)
        places.append(Place(index // 2, _linear(np.array([[1, 0, side * width], [0, 1, 0], [0, 0, 1]], np.float64))))
    return Capture([_image(p * fold + rng.normal(0, 2.5, p.shape)) for p in pictures], places)


def _sideways(page: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Move]:
    scan = flat_scan(page, blur_px=0.5, noise=2.5, seed=int(rng.integers(1 << 31)))
    clockwise = bool(rng.integers(2))
    turn = Image.Transpose.ROTATE_270 if clockwise else Image.Transpose.ROTATE_90
    matrix = [[0, -1, page.height], [1, 0, 0]] if clockwise else [[0, 1, 0], [-1, 0, page.width]]
    return scan.transpose(turn), _linear(np.array([*matrix, [0, 0, 1]], np.float64))


def _font(size_px: int) -> ImageFont.FreeTypeFont:
    """Open a bold Chinese font that fontconfig knows."""
    asked = ["fc-match", "-f", "%{file}\n%{index}", "Noto Sans CJK SC:bold"]
    path, index = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split("\n")
    return ImageFont.truetype(path, size_px, index=int(index))


def _seal(text: str, radius_px: int) -> Image.Image:
    """Draw a round red seal: ring, star, text along the ring; transparent elsewhere."""
    size, middle = 2 * radius_px, radius_px
    seal = Image.new("RGBA", (size, size))
    red = (214, 36, 36, 255)
    draw = ImageDraw.Draw(seal)
    draw.ellipse((4, 4, size - 5, size - 5), outline=red, width=max(3, radius_px // 22))
    tips = np.arange(10) * np.pi / 5 - np.pi / 2
    reach = np.where(np.arange(10) % 2, 0.12, 0.31) * radius_px
    star = middle + reach * np.array([np.cos(tips), np.sin(tips)])
    draw.polygon([(float(x), float(y)) for x, y in star.T], fill=red)
    font = _font(radius_px // 4)
    for letter, turn_deg in zip(text, np.linspace(-120, 120, len(text)), strict=True):
        layer = Image.new("RGBA", (size, size))
        ImageDraw.Draw(layer).text((middle, 0.22 * radius_px), letter, font=font, fill=red, anchor="mm")
        seal.alpha_composite(layer.rotate(-turn_deg, Image.Resampling.BICUBIC))
    return seal


def _stamped(page: Image.Image, rng: np.random.Generator) -> Image.Image:
    radius = round(0.115 * page.width)
    seal = _seal("高中物理竞赛委员会", radius).rotate(float(rng.uniform(-25, 25)), Image.Resampling.BICUBIC)
    ink = np.full((page.height, page.width, 3), 255, np.float32)
    left, top = (int(rng.uniform(0.25, 0.7) * page.width), int(rng.uniform(0.15, 0.45) * page.height))
    on_white = Image.new("RGBA", seal.size, "white")
    on_white.alpha_composite(seal)
    ink[top : top + 2 * radius, left : left + 2 * radius] = np.asarray(on_white.convert("RGB"))
    # Ink of a pad takes unevenly and lets the print show through.
    take = np.clip(0.78 + 0.14 * _field(ink.shape[:2], 7, rng), 0, 1)[..., None]
    return _image(np.asarray(page.convert("RGB")) * (1 - take * (1 - ink / 255)))


def _stroke(draw: ImageDraw.ImageDraw, knots: Floats, colour: tuple[int, int, int], width_px: int) -> None:
    """Draw a smooth pen stroke through knots of shape (n, 2)."""
    curve = knots
    for _ in range(3):  # Chaikin's corner cutting
        curve = np.stack([0.75 * curve[:-1] + 0.25 * curve[1:], 0.25 * curve[:-1] + 0.75 * curve[1:]], 1).reshape(-1, 2)
    draw.line([(float(x), float(y)) for x, y in curve], fill=colour, width=width_px, joint="curve")


def _marked(page: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Mark a page by hand: red ticks, crosses and rings, and blue scribbled words between and beside the rows."""
    marked = page.convert("RGB")
    draw = ImageDraw.Draw(marked)
    unit, red, blue = page.width / 100, (208, 32, 40), (36, 60, 150)
    pen = max(2, round(0.22 * unit))

    def somewhere() -> Floats:
        return np.array([rng.uniform(0.1, 0.88) * page.width, rng.uniform(0.08, 0.9) * page.height])

    tick = np.array([[-1.5, -0.5], [-0.7, 0.4], [0, 1.2], [1.2, -1.2], [3.4, -3.6]])
    for _ in range(6):
        _stroke(draw, somewhere() + unit * (tick + rng.normal(0, 0.2, tick.shape)), red, pen)
    for _ in range(2):
        at = somewhere()
        for sign in (-1, 1):
            _stroke(draw, at + unit * np.array([[-1.5, -1.5 * sign], [0, 0.2], [1.5, 1.5 * sign]]), red, pen)
    turn = np.linspace(0, 2.2 * np.pi, 14)
    _stroke(draw, somewhere() + unit * np.column_stack([5 * np.cos(turn), 1.8 * np.sin(turn)]), red, pen)
    for _ in range(5):
        n = int(rng.integers(14, 30))
        scribble = np.column_stack([np.arange(n) * 0.45, rng.normal(0, 0.55, n)])
        _stroke(draw, somewhere() + unit * scribble, blue, pen)
    grey = cv2.GaussianBlur(np.asarray(marked, dtype=np.float32), (0, 0), 0.5)
    return _image(grey * (246 / 255) + rng.normal(0, 2, (*grey.shape[:2], 1)))


def _cmyk(page: Image.Image, rng: np.random.Generator) -> Image.Image:
    rgb = np.asarray(page.convert("RGB"), dtype=np.float32) * np.array([250, 246, 234]) / 255
    return _image(rgb + rng.normal(0, 2, (page.height, page.width, 1))).convert("CMYK")


def _halftone(page: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Print through a 45 degree dot screen and scan: grey paper and grey ink break up into dots."""
    grey = 40 + _grey(page) * (222 - 40) / 255
    large = cv2.resize(grey, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC)
    y, x = np.mgrid[0 : large.shape[0], 0 : large.shape[1]].astype(np.float32)
    pitch = 3 * 3.4
    screen = np.cos(np.pi * (x + y) / pitch) * np.cos(np.pi * (x - y) / pitch)
    dots = np.where(large > 127 + 118 * screen, 255, 0).astype(np.float32)
    scan = cv2.resize(cv2.GaussianBlur(dots, (0, 0), 2.2), page.size, interpolation=cv2.INTER_AREA)
    return _image(scan + rng.normal(0, 2, scan.shape))


def _low_res(page: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Move]:
    turned, move = _skewed(page, rng, 0.5, 1.8)
    grey = cv2.GaussianBlur(_grey(turned), (0, 0), 0.5)
    return _image(52 + grey * (226 - 52) / 255 + rng.normal(0, 3, grey.shape)), move


def _soft(page: Image.Image, _rng: np.random.Generator) -> Image.Image:
    """Scan at a high resolution: slightly soft strokes on light grey paper, 32 levels of grey."""
    grey = 24 + cv2.GaussianBlur(_grey(page), (0, 0), 1.6) * (248 - 24) / 255
    return _image(np.floor(grey / 8) * 8)


def _clean(page: Image.Image, _rng: np.random.Generator) -> Image.Image:
    return page.convert("L")


RECIPES: dict[str, Recipe] = {
    "pdf": Recipe(150, None, ".pdf", {}),
    "png-150": Recipe(150, _each(_in_place(_clean)), ".png", {}),
    "png-200": Recipe(200, _each(_in_place(_clean)), ".png", {}),
    "png-300": Recipe(300, _each(_in_place(_clean)), ".png", {}),
    "flatbed": Recipe(200, _each(_flatbed), ".jpg", {"quality": 75}),
    "photocopy": Recipe(200, _each(_photocopy), ".png", {}),
    "photo": Recipe(170, _each(_photo), ".jpg", {"quality": 80}),
    "bleed-through": Recipe(200, _bleed_through, ".jpg", {"quality": 80}),
    "fax": Recipe(200, _each(_fax), ".tif", {"compression": "group4"}),
    "two-up": Recipe(150, _two_up, ".jpg", {"quality": 85}),
    "sideways": Recipe(170, _each(_sideways), ".jpg", {"quality": 80}),
    "stamped": Recipe(170, _each(_in_place(_stamped)), ".jpg", {"quality": 85}),
    "watermark": Recipe(150, _each(_in_place(_clean)), ".jpg", {"quality": 85}),
    "marked": Recipe(170, _each(_in_place(_marked)), ".jpg", {"quality": 85}),
    "cmyk": Recipe(170, _each(_in_place(_cmyk)), ".jpg", {"quality": 85}),
    "halftone": Recipe(200, _each(_in_place(_halftone)), ".png", {}),
    "grey-600": Recipe(600, _each(_in_place(_soft)), ".png", {}),
    "low-res": Recipe(110, _each(_low_res), ".jpg", {"quality": 40}),
}
"""One recipe for each kind of plan.py."""


def save(pictures: Sequence[Image.Image], folder: Path, recipe: Recipe) -> list[str]:
    """Write input pictures as a recipe says.

    Args:
        pictures: In page order.
        folder: Must exist.
        recipe: Gives file type, options and resolution.

    Returns:
        File names, one for each picture; the same name again for each frame of a TIFF.
    """
    options = recipe.saving | {"dpi": (recipe.dpi, recipe.dpi)}
    if recipe.suffix == ".tif":
        name = f"scan{recipe.suffix}"
        pictures[0].save(folder / name, save_all=True, append_images=list(pictures[1:]), **options)
        return [name] * len(pictures)
    names = [f"page-{number:02d}{recipe.suffix}" for number in range(1, len(pictures) + 1)]
    for name, picture in zip(names, pictures, strict=True):
        picture.save(folder / name, **options)
    return names
