"""Which documents are in the files and folders that were handed in? First step of a build, before ``ingest``."""

from physelite_build.stages.discover.documents import Discovery, DiscoveryProblem, FoundDocument, ScanFile, discover

__all__ = ["Discovery", "DiscoveryProblem", "FoundDocument", "ScanFile", "discover"]
