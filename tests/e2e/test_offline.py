"""A build and a release need no network: cut off in a network namespace, and with every other address refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from builds import Run
from fixed_text import draw_page, write_document

GUARD = """
import os
import socket

_connect, _lookup = socket.socket.connect, socket.getaddrinfo
_HERE = ("127.", "::1", "localhost")


def _refuse(host):
    if host is not None and not str(host).startswith(_HERE):
        with open(os.environ["ASKED"], "a") as asked:
            print(host, file=asked)
        raise OSError(f"the network was asked for {host}")


def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6):
        _refuse(address[0])
    return _connect(self, address)


def getaddrinfo(host, *rest, **more):
    _refuse(host if not isinstance(host, bytes) else host.decode())
    return _lookup(host, *rest, **more)


socket.socket.connect = connect
socket.getaddrinfo = getaddrinfo
"""
ALONE = ("unshare", "--map-root-user", "--net", "--", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


def permitted() -> bool:
    if not shutil.which("unshare") or not shutil.which("ip"):
        return False
    return subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode == 0


def check_build_and_release(physelite: Run, tmp_path: Path, **how: object) -> None:
    exam = write_document(tmp_path / "exam", [draw_page(0)])
    work = tmp_path / "work"
    built = physelite("build", exam, "-o", work, **how)
    assert (built.returncode, built.stderr.count("Traceback")) == (0, 0), built.stderr
    made = physelite("release", "build", work, "--waive", "test", **how)
    assert made.returncode == 0, made.stderr + made.stdout


@pytest.mark.skipif(not permitted(), reason="this system does not let us make a network namespace")
def test_a_build_and_a_release_run_in_a_namespace_without_network(physelite: Run, tmp_path: Path):
    check_build_and_release(physelite, tmp_path, prefix=ALONE, env={"PREFECT_API_URL": ""})


def test_no_address_but_our_own_is_asked_for(physelite: Run, environment: dict[str, str], tmp_path: Path):
    guard = tmp_path / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
    asked = tmp_path / "asked"
    env = {"PREFECT_API_URL": "", "PYTHONPATH": f"{guard}:{environment['PYTHONPATH']}", "ASKED": str(asked)}
    check_build_and_release(physelite, tmp_path, env=env)
    assert not asked.exists(), asked.read_text()


def test_a_proxy_in_the_environment_is_not_asked_for_our_own_server(physelite: Run, tmp_path: Path):
    exam = write_document(tmp_path / "exam", [draw_page(0)])
    nowhere = "http://127.0.0.1:9"
    env = {"HTTP_PROXY": nowhere, "http_proxy": nowhere, "ALL_PROXY": nowhere, "NO_PROXY": "", "no_proxy": ""}
    built = physelite("build", exam, "-o", tmp_path / "work", env=env)
    assert built.returncode == 0, built.stderr
