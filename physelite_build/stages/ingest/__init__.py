"""Which page images does one file hold? After ``discover``, before ``screen``."""

from physelite_build.stages.ingest.decode import HEAD_BYTES, MediaType, has_several_pages, media_type_of
from physelite_build.stages.ingest.read_source import Decoded, IngestOptions, PageFailure, read_source

__all__ = [
    "HEAD_BYTES",
    "Decoded",
    "IngestOptions",
    "MediaType",
    "PageFailure",
    "has_several_pages",
    "media_type_of",
    "read_source",
]
