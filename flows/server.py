"""A private Prefect server for one build: ``python -m physelite_build.flows.server PORT PARENT_PID``.

It ends when its parent is gone, however that died, so that no process is left behind.
"""

from __future__ import annotations

import os
import sys
import threading
import time

import uvicorn

__all__ = ["main"]

_WATCH_S = 0.5


def main(port: int, parent_pid: int) -> None:
    """Serve Prefect's API on the loopback interface until the parent process ends."""
    threading.Thread(target=_end_with, args=(parent_pid,), daemon=True).start()
    os.environ["PREFECT_UI_ENABLED"] = "false"
    uvicorn.run("prefect.server.api.server:create_app", factory=True, host="127.0.0.1", port=port, log_level="error")


def _end_with(parent_pid: int) -> None:
    while os.getppid() == parent_pid:
        time.sleep(_WATCH_S)
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
