"""Is there anything to read on this page, and was it there before? After ``ingest``, before ``straighten``."""

from physelite_build.stages.screen.judge import screen
from physelite_build.stages.screen.repeat import PageHash, page_hash, repeated

__all__ = ["PageHash", "page_hash", "repeated", "screen"]
