"""Boxes and maps between the pictures of one page.

A page exists twice: as a viewer shows it (the *page image*) and turned upright and deskewed (the *upright image*), in which
everything is read. Both have their origin at the top left, x to the right, y down, in pixels. Boxes are half open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict

__all__ = ["Box", "Transform"]


class Box(BaseModel):
    """A half-open rectangle ``left <= x < right``, ``top <= y < bottom`` in pixels of one named picture."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Width in pixels, 0 for an empty box."""
        return max(0, self.right - self.left)

    @property
    def height(self) -> int:
        """Height in pixels, 0 for an empty box."""
        return max(0, self.bottom - self.top)

    @property
    def area(self) -> int:
        """Area in square pixels."""
        return self.width * self.height

    @property
    def centre(self) -> tuple[float, float]:
        """Centre ``(x, y)`` in pixels."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def union(self, other: Box) -> Box:
        """Return the smallest box that holds both."""
        return Box(
            left=min(self.left, other.left),
            top=min(self.top, other.top),
            right=max(self.right, other.right),
            bottom=max(self.bottom, other.bottom),
        )

    def intersection(self, other: Box) -> Box:
        """Return the common part; its area is 0 if there is none."""
        return Box(
            left=max(self.left, other.left),
            top=max(self.top, other.top),
            right=min(self.right, other.right),
            bottom=min(self.bottom, other.bottom),
        )

    def iou(self, other: Box) -> float:
        """Return intersection over union, in [0, 1]."""
        common = self.intersection(other).area
        return common / (self.area + other.area - common) if common else 0.0

    def covered_by(self, other: Box) -> float:
        """Return the share of this box that lies in ``other``, in [0, 1]."""
        return self.intersection(other).area / self.area if self.area else 0.0

    def padded(self, pixels: int, *, width_px: int, height_px: int) -> Box:
        """Return the box grown by ``pixels`` on each side, cut to a picture of the given size."""
        return Box(
            left=max(0, self.left - pixels),
            top=max(0, self.top - pixels),
            right=min(width_px, self.right + pixels),
            bottom=min(height_px, self.bottom + pixels),
        )

    @classmethod
    def around(cls, points: Iterable[Sequence[float]]) -> Box:
        """Return the smallest integer box around points ``(x, y)``.

        Raises:
            ValueError: If there is no point.
        """
        xs, ys = zip(*((p[0], p[1]) for p in points), strict=True)
        return cls(left=int(min(xs)), top=int(min(ys)), right=-int(-max(xs) // 1), bottom=-int(-max(ys) // 1))


class Transform(BaseModel):
    """A projective map from one picture of a page to another, as a 3 x 3 matrix in row order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    matrix: tuple[float, float, float, float, float, float, float, float, float] = (1, 0, 0, 0, 1, 0, 0, 0, 1)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Map one point in pixels.

        Raises:
            ValueError: If the point is sent to infinity.
        """
        a, b, c, d, e, f, g, h, i = self.matrix
        w = g * x + h * y + i
        if w == 0:
            raise ValueError(f"({x}, {y}) has no image under this map")
        return (a * x + b * y + c) / w, (d * x + e * y + f) / w

    def box(self, box: Box) -> Box:
        """Return the upright box around the image of ``box``."""
        corners = ((box.left, box.top), (box.right, box.top), (box.right, box.bottom), (box.left, box.bottom))
        return Box.around(self.point(x, y) for x, y in corners)
