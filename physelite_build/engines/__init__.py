"""Engines for text, layout and formulas: one file each, behind the protocols of ``protocol.py``."""
