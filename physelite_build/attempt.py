"""Does one item of one stage and says how it ended. ``store.py`` remembers what comes out."""

from __future__ import annotations

import errno
import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import ValidationError

from physelite_build.errors import FatalError, ItemError, RetryableError, shorten
from physelite_build.records import Outcome, Record, Status

__all__ = ["Aside", "Ending", "Stage", "StageRun", "attempt"]

log = logging.getLogger(__name__)

_OUR_FAULTS = (".crash", ".invalid_record")
_NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EROFS))
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Stage:
    """Name and version of a stage. Raise ``version`` when its code gives other results for the same input."""

    name: str
    version: int


@dataclass(frozen=True, slots=True)
class Aside:
    """A stage returns this instead of a record to put an item aside with a reason."""

    status: Status
    code: str
    message: str
    output: Record | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How the work on one item ended, whatever the item is called."""

    status: Status
    code: str | None = None
    message: str | None = None
    output: str | None = None
    """JSON of the result."""
    output_sha256: str | None = None
    elapsed_s: float = 0.0

    @property
    def is_our_fault(self) -> bool:
        """Whether code of ours failed; it may have been mended since, so such an item is tried again."""
        return (self.code or "").endswith(_OUR_FAULTS)


@dataclass(frozen=True, slots=True)
class StageRun:
    """One outcome with its result, as ``Store.run`` returns it."""

    outcome: Outcome
    output: str | None

    def load(self, model: type[R]) -> R:
        """Read the result as a record.

        Raises:
            ItemError: ``store.no_result`` if the item has none (it failed or was rejected).
        """
        if self.output is None:
            raise ItemError("store.no_result", f"{self.outcome.item_id} has no result of stage {self.outcome.stage}")
        return model.model_validate_json(self.output)


def attempt(stage: Stage, item_id: str, work: Callable[[], Record | Aside]) -> Ending:
    """Do the work of one item; its neighbours go on whatever happens to it.

    Args:
        stage: Name and version.
        item_id: Names the item in messages.
        work: Returns the result. :class:`ItemError` makes the item failed with the code of the error, any other unforeseen
            error with ``<stage>.crash``, a record that breaks its own rules with ``<stage>.invalid_record``.

    Returns:
        How it ended, with the seconds it took.

    Raises:
        FatalError: As raised by the work; ``store.disk_full`` if the disk takes no more.
        RetryableError: As raised by the work.
    """
    started = time.perf_counter()
    ending = _ending(stage, item_id, work)
    return replace(ending, elapsed_s=round(time.perf_counter() - started, 3))


def _ending(stage: Stage, item_id: str, work: Callable[[], Record | Aside]) -> Ending:
    try:
        made = work()
    except ItemError as error:
        return Ending(Status.FAILED, error.code, error.message)
    except ValidationError as error:
        message = f"stage {stage.name} made an invalid record for {item_id}: {error.errors()[0]['msg']}"
        return Ending(Status.FAILED, f"{stage.name}.invalid_record", message)
    except (FatalError, RetryableError):
        raise
    except Exception as error:  # the border of one item: its neighbours must go on
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            message = f"nothing can be written any more ({error.strerror}); make room and build again, it goes on there"
            raise FatalError("store.disk_full", message) from error
        log.info("stage %s crashed on %s", stage.name, item_id, exc_info=True)
        what = f"{type(error).__name__}: {shorten(error)}"
        return Ending(
            Status.FAILED,
            f"{stage.name}.crash",
            f"stage {stage.name} crashed on {item_id} ({what}); please report it",
        )
    if not isinstance(made, Aside):
        made = Aside(Status.DONE, "", "", made)
    text = None if made.output is None else made.output.model_dump_json()
    digest = None if text is None else hashlib.sha256(text.encode()).hexdigest()
    return Ending(made.status, made.code or None, made.message or None, text, digest)
