"""The embedded formula engine: it reads a formula by its structure, without weights of its own."""

from physelite_build.engines.structure.engine import StructureEngine, crop_lines

__all__ = ["StructureEngine", "crop_lines"]
