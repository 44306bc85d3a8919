"""The stream of a document becomes problems. After ``transcribe``, before ``figures``."""

from physelite_build.stages.segment.cut import segment
from physelite_build.stages.segment.headings import read_number
from physelite_build.stages.segment.marks import find_answer_marker, find_mark
from physelite_build.stages.segment.running_rows import PageInput

__all__ = ["PageInput", "find_answer_marker", "find_mark", "read_number", "segment"]
