"""PhysElite's scorer: judges final answers of physics problems, alone and without network or model."""

from .grade import is_readable, readable_reason, score, score_problem
from .verdict import Verdict

__all__ = ["Verdict", "is_readable", "readable_reason", "score", "score_problem"]
