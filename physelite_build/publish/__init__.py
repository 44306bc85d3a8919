"""From accepted rows to a dataset folder that a stranger can load, score and check."""

from physelite_build.publish.gate import gate
from physelite_build.publish.release import ReleaseSummary, build_release
from physelite_build.publish.schema import ReleaseMeta, ReleaseRow, ReleaseSource
from physelite_build.publish.splits import split_of
from physelite_build.publish.verify import ScorerRun, run_scorer, verify_release

__all__ = [
    "ReleaseMeta",
    "ReleaseRow",
    "ReleaseSource",
    "ReleaseSummary",
    "ScorerRun",
    "build_release",
    "gate",
    "run_scorer",
    "split_of",
    "verify_release",
]
