"""What stands where on a page, and in which order is it read? After ``read``, before ``transcribe``."""

from physelite_build.stages.layout.find_layout import find_layout
from physelite_build.stages.layout.find_unread import find_unread
from physelite_build.stages.layout.red_ink import without_red_pen
from physelite_build.stages.layout.split_lines import split_lines

__all__ = ["find_layout", "find_unread", "split_lines", "without_red_pen"]
