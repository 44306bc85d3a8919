"""Start a build, watch it, kill it, and see what is left of it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path

import psutil
from builds import COMMAND

DEADLINE_S = 240


def start(env: dict[str, str], *arguments: str | Path) -> subprocess.Popen[str]:
    """Start the command line in a process group of its own, with Ctrl-C in force.

    A shell that puts a job into the background tells it to ignore Ctrl-C, and children inherit that; so does a test run.
    """
    given = {name: value for name, value in env.items() if value}
    python, flag, script = COMMAND
    script = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {script}"
    command = [python, flag, script, *map(str, arguments)]
    return subprocess.Popen(
        command, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def tree(process: subprocess.Popen[str]) -> list[psutil.Process]:
    try:
        parent = psutil.Process(process.pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def kill(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Kill one process as the system would, without warning; return its children."""
    children = tree(process)[1:]
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return children


def left_over(processes: list[psutil.Process], *, within_s: float) -> list[str]:
    """Names of those that are still alive after some time."""
    _, alive = psutil.wait_procs(processes, timeout=within_s)
    return [" ".join(process.cmdline()) for process in alive if process.is_running()]


def rows(work: Path, query: str) -> list[tuple[object, ...]]:
    """Look into a store while somebody else writes to it; nothing if it is not there yet."""
    database = work / "store.sqlite"
    if not database.exists():
        return []
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=5)) as db:
            return db.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


def wait_for_rows(process: subprocess.Popen[str], work: Path, query: str, *, more_than: int = 0) -> bool:
    """Wait until a query has more rows; false if the process ended before."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        if len(rows(work, query)) > more_than:
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.02)
    raise AssertionError(f"nothing came of {query}")


class PeakMemory:
    """Largest sum of the resident memory of a process tree while the body runs, in bytes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.peak_bytes = 0
        self.seen: dict[int, psutil.Process] = {}
        self._process = process
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            total = 0
            for process in tree(self._process):
                self.seen[process.pid] = process
                try:
                    total += process.memory_info().rss
                except psutil.Error:
                    continue
            self.peak_bytes = max(self.peak_bytes, total)


def interrupt(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Press Ctrl-C: the whole process group gets it."""
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE_S)
    return process.returncode, out, err
