"""The pipeline in running order. Raise a stage's version when its code gives other results for the same input."""

from __future__ import annotations

from physelite_build.store import Stage

__all__ = ["CORPUS_STAGES", "DOCUMENT_STAGES", "PAGE_STAGES", "STAGES"]

INGEST = Stage("ingest", 1)
"""One file -> page images."""

SCREEN = Stage("screen", 2)
STRAIGHTEN = Stage("straighten", 2)
READ = Stage("read", 2)
LAYOUT = Stage("layout", 2)
TRANSCRIBE = Stage("transcribe", 3)
PAGE_STAGES = (SCREEN, STRAIGHTEN, READ, LAYOUT, TRANSCRIBE)
"""One page each."""

SEGMENT = Stage("segment", 2)
FIGURES = Stage("figures", 2)
ANSWERS = Stage("answers", 2)
DOCUMENT_STAGES = (SEGMENT, FIGURES, ANSWERS)
"""One document each."""

ALIGN = Stage("align", 1)
DEDUP = Stage("dedup", 1)
CHECK = Stage("check", 2)
CORPUS_STAGES = (ALIGN, DEDUP, CHECK)
"""All problems at once."""

STAGES = (INGEST, *PAGE_STAGES, *DOCUMENT_STAGES, *CORPUS_STAGES)
