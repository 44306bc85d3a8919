"""Starts the worker and speaks with it in frames: a 4-byte big-endian length and so many bytes."""

from __future__ import annotations

import json
import os
import select
import struct
import subprocess
import tempfile
import time
import weakref
from collections.abc import Sequence
from typing import IO, Any

from physelite_build.errors import FatalError, ItemError, shorten

__all__ = ["Worker"]

START_TIMEOUT_S = 180.0
"""Importing torch and loading the weights takes 6 CPU s, much longer on a cold disk."""


class Worker:
    """A running worker; it is ended when this object is collected, and by itself when this process dies.

    Args:
        command: Interpreter, script and arguments.

    Raises:
        FatalError: ``engine.failed`` if it does not come up.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0
        )
        self._end = weakref.finalize(self, _end, self._process, self._errors)
        self._buffer = bytearray()
        try:
            self.limits: dict[str, int] = self.answer(START_TIMEOUT_S)
        except ItemError as error:
            self.close()
            raise FatalError("engine.failed", f"the formula process does not start: {error.message}") from error
        if "error" in self.limits:
            self.close()
            raise FatalError(
                "engine.failed", f"pix2tex cannot load its weights: {shorten(self.limits['error'], limit=300)}"
            )

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def ask(self, request: dict[str, Any], pictures: Sequence[bytes]) -> None:
        """Send a request with its pictures.

        Raises:
            ItemError: ``formula.crash`` if the process has ended.
        """
        assert self._process.stdin is not None
        frames = [json.dumps(request).encode(), *pictures]
        message = b"".join(struct.pack(">I", len(frame)) + frame for frame in frames)
        try:
            while message:  # a raw pipe may take a part
                message = message[self._process.stdin.write(message) :]
        except OSError as error:
            raise self._crashed() from error

    def answer(self, timeout_s: float) -> dict[str, Any]:
        """Wait for the next answer.

        Raises:
            ItemError: ``formula.timeout`` or ``formula.crash``.
        """
        deadline = time.monotonic() + timeout_s
        (length,) = struct.unpack(">I", self._take(4, deadline))
        answer: dict[str, Any] = json.loads(self._take(length, deadline))
        return answer

    def close(self) -> None:
        """End the process."""
        self._end()

    def _take(self, count: int, deadline: float) -> bytes:
        assert self._process.stdout is not None
        ready = select.poll()
        ready.register(self._process.stdout, select.POLLIN)
        while len(self._buffer) < count:
            left_ms = max(0.0, 1000 * (deadline - time.monotonic()))
            if not ready.poll(left_ms):
                raise ItemError(
                    "formula.timeout", "pix2tex did not answer in time; raise the setting formula.timeout_s"
                )
            chunk = os.read(self._process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise self._crashed()
            self._buffer += chunk
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _crashed(self) -> ItemError:
        code = self._process.wait(timeout=10)
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 2000))
        told = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        said = f", its last words: {shorten(told[-1], limit=200)}" if told else ""
        return ItemError("formula.crash", f"the formula process ended with code {code}{said}")


def _end(process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout, errors):
        if stream is not None:
            stream.close()
    process.wait()
