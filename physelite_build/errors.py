"""Every error the project raises on purpose, named after what the caller should do.

PhysEliteError
├── FatalError       stop the run: nothing useful can be done (bad settings, broken store, missing engine)
├── ItemError        this file, page or problem failed; its neighbours go on and the run ends *partial*
└── RetryableError   the same call may work a moment later (a busy server, a locked file)
"""

from __future__ import annotations

__all__ = ["FatalError", "ItemError", "PhysEliteError", "RetryableError", "shorten"]


class PhysEliteError(Exception):
    """An error with a stable dotted code and one sentence for people.

    Attributes:
        code: Short and stable, for example ``source.encrypted``; tests and scripts rely on it.
        message: What happened, to which item, and what to do next.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[PhysEliteError], tuple[str, str]]:
        """Survive pickling, so that an error can cross a process border."""
        return type(self), (self.code, self.message)


class FatalError(PhysEliteError):
    """Stop everything; the run cannot go on."""


class ItemError(PhysEliteError):
    """One item failed; the others go on."""


class RetryableError(PhysEliteError):
    """Try the same item again later; nothing is stored for it."""


def shorten(text: object, *, limit: int = 80) -> str:
    """Quote an offending value in a message without flooding the terminal.

    Args:
        text: Any value; its ``str`` is used.
        limit: Longest result, in characters.

    Returns:
        One line with control characters replaced and the middle cut out if it was too long.
    """
    line = "".join(c if c.isprintable() else "�" for c in str(text))
    if len(line) <= limit:
        return line
    keep = (limit - 1) // 2
    return f"{line[:keep]}…{line[-keep:]}"
