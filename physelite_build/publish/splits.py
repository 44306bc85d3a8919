"""Which split a problem belongs to, for ever. Neighbour of ``table.py``, which writes the splits."""

from __future__ import annotations

import hashlib
from typing import Literal

__all__ = ["DEV_SHARE", "SEED", "SPLITS", "Split", "split_of"]

Split = Literal["dev", "test"]
SPLITS: tuple[Split, ...] = ("dev", "test")
SEED = "physelite-split-1"
"""Never change it: published problems would change sides."""
DEV_SHARE = 0.2
"""Expected share of groups in ``dev``; enough to try a prompt, little enough to keep the test large. Never change it."""


def split_of(group_id: str) -> Split:
    """Decide the split of a group of problems from its id alone.

    Args:
        group_id: Id shared by all variants of a problem.

    Returns:
        ``dev`` for about a fifth of all groups, ``test`` for the others; the same in every version and on every machine.
    """
    digest = hashlib.sha256(f"{SEED}:{group_id}".encode()).digest()
    return "dev" if int.from_bytes(digest[:8], "big") < DEV_SHARE * 2**64 else "test"
