"""Prepares Prefect: where it keeps its files, no telemetry, and a server that dies with the build.

Everything here must happen before Prefect is imported, because Prefect reads its settings once.
"""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from physelite_build.config import Settings
from physelite_build.errors import FatalError

__all__ = ["prefect_environment", "prepare", "serve_ui"]

log = logging.getLogger(__name__)

START_TIMEOUT_S = 180
"""The first start makes Prefect's database; on a busy machine that took over a minute (measured)."""
_POLL_S = 0.2
_START_TRIES = 2
_END_TIMEOUT_S = 10


def prefect_environment(settings: Settings) -> dict[str, str]:
    """Return the environment in which Prefect runs quietly and offline; what the user has set stays.

    Prefect reports a failed batch with a traceback and takes the root logger for it; our users see one sentence instead.
    """
    home = settings.cache / "prefect"
    wanted = {
        "PREFECT_HOME": str(home),
        "PREFECT_LOCAL_STORAGE_PATH": str(home / "results"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_ROOT_LEVEL": "CRITICAL",
        "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",  # runs of the last 90 days stay
        "PREFECT_CLI_PROMPT": "false",
    }
    if logging.getLogger().isEnabledFor(logging.INFO):  # --verbose
        wanted |= {"PREFECT_LOGGING_LEVEL": "INFO", "PREFECT_LOGGING_ROOT_LEVEL": "INFO"}
    around = [os.environ.get("NO_PROXY") or os.environ.get("no_proxy"), "127.0.0.1", "localhost"]
    no_proxy = ",".join(name for name in around if name)
    return {name: os.environ.get(name, value) for name, value in wanted.items()} | {
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
    }


@contextmanager
def prepare(settings: Settings) -> Iterator[None]:
    """Set Prefect up for the time of a flow; start a private server unless ``PREFECT_API_URL`` names one.

    Raises:
        FatalError: ``flow.server`` if the server does not answer in time, ``flow.cache`` if it has no place for its files.
    """
    os.environ.update(prefect_environment(settings))
    if os.environ.get("PREFECT_API_URL"):
        yield
        return
    try:
        (settings.cache / "prefect").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FatalError(
            "flow.cache", f"{settings.cache} cannot be made ({error.strerror}); set PHYSELITE_CACHE to another folder"
        ) from error
    server, url = _started_server()
    os.environ["PREFECT_API_URL"] = url
    try:
        yield
    finally:
        del os.environ["PREFECT_API_URL"]
        _end(server)


def _started_server() -> tuple[subprocess.Popen[bytes], str]:
    for tries_left in reversed(range(_START_TRIES)):
        port = _free_port()
        server = subprocess.Popen(
            [sys.executable, "-m", "physelite_build.flows.server", str(port), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the build; the server must outlive the build's last words
        )
        try:
            _wait_until_up(server, f"http://127.0.0.1:{port}/api")
        except BaseException as error:
            taken = server.poll() is not None and isinstance(error, FatalError)  # somebody else took the port meanwhile
            _end(server)
            if not (taken and tries_left):
                raise
            log.info("the Prefect server did not start on port %d", port)
        else:
            return server, f"http://127.0.0.1:{port}/api"
    raise AssertionError("the last try returns or raises")


def _end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(timeout=_END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def serve_ui(settings: Settings, *, port: int) -> None:
    """Run Prefect's own server with its pages in the foreground, on the database of the builds, until it is stopped."""
    (settings.cache / "prefect").mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **prefect_environment(settings), "PREFECT_UI_ENABLED": "true"}
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    subprocess.run(command, env=environment, check=False)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _wait_until_up(server: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise FatalError(
                "flow.server", f"the Prefect server stopped at once (exit {server.returncode}); see: physelite doctor"
            )
        try:
            with opener.open(f"{url}/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(_POLL_S)
    raise FatalError("flow.server", f"the Prefect server did not answer within {START_TIMEOUT_S} s; try again")
