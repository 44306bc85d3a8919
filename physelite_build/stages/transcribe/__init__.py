"""Rows and formulas become text with LaTeX. After ``layout``, before ``segment``."""

from physelite_build.stages.transcribe.rewrite import transcribe

__all__ = ["transcribe"]
