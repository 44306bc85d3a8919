"""Pages a person looks at: one HTML report of a build, and one page with its regions drawn."""

from physelite_build.report.draw import draw_page
from physelite_build.report.write import write_report

__all__ = ["draw_page", "write_report"]
