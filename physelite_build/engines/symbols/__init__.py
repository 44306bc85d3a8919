"""Says which mathematical symbol a picture of one symbol shows, whatever its font."""

from physelite_build.engines.symbols.reader import SAME_SHAPE, SymbolReader, shape_probability

__all__ = ["SAME_SHAPE", "SymbolReader", "shape_probability"]
