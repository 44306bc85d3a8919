"""Chooses where formulas are compared: fixed positive values for each symbol, the same in every run.

Physical symbols are positive reals. Values spread over a few decades so that every term of a sum matters somewhere.
"""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache

PROBE_COUNT = 14
WIDE_PROBE_COUNT = 26
_PLANCK = "h"
_PLANCK_REDUCED = "hbar"


@lru_cache(maxsize=8192)
def fraction_of(name: str, index: int) -> float:
    """Return a fixed number in (0, 1) for a symbol and a probe; the hash seed of Python has no part in it."""
    digest = hashlib.blake2b(f"{index}:{name}".encode(), digest_size=6).digest()
    return (int.from_bytes(digest, "big") + 0.5) / 2.0**48


def probe(names: frozenset[str], index: int, *, decades: float = 1.0) -> dict[str, complex]:
    """Return a positive value for each symbol; h stays 2 pi hbar.

    Args:
        names: The symbols.
        index: Number of the probe, from 0.
        decades: Width of the range on both sides of 1, in powers of ten.
    """
    values: dict[str, complex] = {}
    for name in sorted(names):
        values[name] = complex(10 ** (decades * (2 * fraction_of(name, index) - 1)))
    if _PLANCK in names and _PLANCK_REDUCED in names:
        values[_PLANCK] = values[_PLANCK_REDUCED] * (2 * math.pi)
    return values
