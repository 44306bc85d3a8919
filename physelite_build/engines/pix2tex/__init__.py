"""The real pix2tex (LaTeX-OCR) in a process of its own: ``client.py`` asks, ``worker.py`` reads."""

from physelite_build.engines.pix2tex.client import Pix2texEngine

__all__ = ["Pix2texEngine"]
