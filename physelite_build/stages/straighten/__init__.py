"""Turns a page upright, flat and level. After ``screen``, before ``read``."""

from physelite_build.stages.straighten.find_paper import find_paper
from physelite_build.stages.straighten.level import measure_shading, measure_skew_deg, straighten

__all__ = ["find_paper", "measure_shading", "measure_skew_deg", "straighten"]
