"""Diagrams are cut out and linked to problems. After ``segment``, before ``answers``."""

from physelite_build.stages.figures.place import place_figures

__all__ = ["place_figures"]
