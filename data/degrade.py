"""What a scanner or a telephone does to a clean page, seeded. Used by make_samples.py and make_pages.py.

Images are uint8; a transform is a 3 by 3 matrix that maps points of the clean page to points of the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

__all__ = ["Photo", "blank_fax_frame", "flat_scan", "hand_held_photo", "moved_quad", "upright_box"]


@dataclass(frozen=True, slots=True)
class Photo:
    """A photographed page and the way points of the clean page went."""

    image: Image.Image
    matrix: NDArray[np.float64]


def flat_scan(page: Image.Image, *, blur_px: float, noise: float, seed: int) -> Image.Image:
    """Make a grey flat-bed scan; nothing moves, so boxes stay where they are.

    Args:
        page: Clean page.
        blur_px: Standard deviation of the blur in pixels.
        noise: Standard deviation of the grain, in grey levels.
        seed: Of the grain.

    Returns:
        Grey image of the same size.
    """
    grey = np.asarray(page.convert("L"), dtype=np.float32)
    grey = cv2.GaussianBlur(grey, (0, 0), blur_px)
    paper = 18 + grey * (240 - 18) / 255
    paper += np.random.default_rng(seed).normal(0, noise, paper.shape)
    return Image.fromarray(np.clip(paper, 0, 255).astype(np.uint8))


def hand_held_photo(page: Image.Image, *, size: tuple[int, int], seed: int) -> Photo:
    """Photograph a page on a dark table: perspective, a soft shadow, blur and grain.

    Args:
        page: Clean page.
        size: Width and height of the photo in pixels.
        seed: Of the corners, the table and the grain.

    Returns:
        Colour image of the given size, and the transform.
    """
    rng = np.random.default_rng(seed)
    width, height = size
    corners = np.array([[0, 0], [page.width, 0], [page.width, page.height], [0, page.height]], dtype=np.float32)
    margin = np.array([0.05 * width, 0.045 * height])
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float64)
    inwards = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * margin
    target = (target + inwards + rng.uniform(-0.018, 0.018, (4, 2)) * size).astype(np.float32)
    matrix = cv2.getPerspectiveTransform(corners, target)

    paper = cv2.warpPerspective(np.asarray(page.convert("RGB")), matrix, size, flags=cv2.INTER_AREA)
    mask = cv2.warpPerspective(np.full((page.height, page.width), 255, np.uint8), matrix, size)[..., None] / 255
    grain = cv2.resize(rng.normal(0, 1, (height // 6, 3)).astype(np.float32), size, interpolation=cv2.INTER_CUBIC)
    table = np.array([112, 82, 58]) * (1 + 0.10 * grain[..., None])
    photo = paper * np.array([0.97, 0.95, 0.90]) * mask + table * (1 - mask)

    y, x = np.mgrid[0:height, 0:width]
    edge = (x / width * 0.7 + y / height - 1.05) / 0.22
    photo *= (1 - 0.30 / (1 + np.exp(-edge)))[..., None]
    photo = cv2.GaussianBlur(photo, (0, 0), 0.6)
    photo += rng.normal(0, 3.5, photo.shape[:2])[..., None]
    return Photo(Image.fromarray(np.clip(photo, 0, 255).astype(np.uint8)), matrix.astype(np.float64))


def moved_quad(box: list[float], matrix: NDArray[np.float64]) -> list[list[float]]:
    """Follow the corners of a box through a transform.

    Args:
        box: left, top, right, bottom on the clean page.
        matrix: From ``hand_held_photo``.

    Returns:
        Four points, clockwise from the top left corner, rounded to a tenth of a pixel.
    """
    left, top, right, bottom = box
    corners = np.array([[[left, top], [right, top], [right, bottom], [left, bottom]]], dtype=np.float64)
    return [[round(float(v), 1) for v in point] for point in cv2.perspectiveTransform(corners, matrix)[0]]


def upright_box(quad: list[list[float]]) -> list[float]:
    """Get the upright box around points: left, top, right, bottom."""
    x, y = zip(*quad, strict=True)
    return [min(x), min(y), max(x), max(y)]


def blank_fax_frame(size: tuple[int, int], *, specks: int, seed: int) -> Image.Image:
    """Make an empty fax page: white with a few specks of dust.

    Args:
        size: Width and height in pixels.
        specks: How many, each one to three pixels wide.
        seed: Of their places.

    Returns:
        1-bit image.
    """
    rng = np.random.default_rng(seed)
    frame = np.full((size[1], size[0]), 255, np.uint8)
    for x, y, wide in zip(
        rng.integers(0, size[0] - 3, specks),
        rng.integers(0, size[1] - 3, specks),
        rng.integers(1, 4, specks),
        strict=True,
    ):
        frame[y : y + wide, x : x + wide] = 0
    return Image.fromarray(frame).convert("1", dither=Image.Dither.NONE)
