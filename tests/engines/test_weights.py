"""Weights are fetched from a real HTTP server on this machine; only the addresses are not the official ones."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

import physelite_build.cli.models  # noqa: F401 - puts the commands on the application
from physelite_build.cli.app import app
from physelite_build.engines import weights
from physelite_build.engines.weights import LOCK_NAME, Source, WeightFile
from physelite_build.errors import FatalError

CONTENT = bytes(range(256)) * 4000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Release(ThreadingHTTPServer):
    """Serves one file, with ranges and a redirect; can cut a transfer short."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = CONTENT
        self.cut_at: int | None = None
        self.ranges: list[str | None] = []

    @property
    def source(self) -> Source:
        url = f"http://127.0.0.1:{self.server_port}/release/weights.pth"
        return Source("pix2tex", (WeightFile("weights.pth", url, 1.0),), "a test")


class _Handler(BaseHTTPRequestHandler):
    server: Release

    def do_GET(self) -> None:
        if self.path.startswith("/release"):
            self.send_response(302)
            self.send_header("Location", "/real")
            self.end_headers()
            return
        if self.path != "/real":
            self.send_error(404)
            return
        wanted = self.headers.get("Range")
        self.server.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        body = self.server.content[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.cut_at])
        self.server.cut_at = None

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def release() -> Iterator[Release]:
    with Release() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_download_is_complete_recorded_and_shows_progress(release: Release, tmp_path: Path):
    told: list[tuple[str, int, int | None]] = []
    (found,) = weights.fetch(release.source, tmp_path, progress=lambda *news: told.append(news))
    assert (found.sha256, found.locked, found.size_bytes) == (DIGEST, True, len(CONTENT))
    assert json.loads((tmp_path / LOCK_NAME).read_text())["weights.pth"]["sha256"] == DIGEST
    assert told[-1] == ("weights.pth", len(CONTENT), len(CONTENT))
    assert names(tmp_path) == sorted(["weights.pth", LOCK_NAME])


def test_a_broken_download_leaves_no_file_and_goes_on_where_it_ended(release: Release, tmp_path: Path):
    release.cut_at = 300_000
    with pytest.raises(FatalError) as caught:
        weights.fetch(release.source, tmp_path)
    assert caught.value.code == "weights.incomplete"
    assert names(tmp_path) == [".weights.pth.part"]
    (found,) = weights.fetch(release.source, tmp_path)
    assert found.sha256 == DIGEST
    begun = release.ranges[-1]
    assert begun is not None
    assert 0 < int(begun[len("bytes=") : -1]) <= 300_000


def test_a_changed_file_is_refused_and_not_kept(release: Release, tmp_path: Path):
    weights.fetch(release.source, tmp_path)
    (tmp_path / "weights.pth").unlink()
    release.content = b"other weights"
    with pytest.raises(FatalError) as caught:
        weights.fetch(release.source, tmp_path)
    assert caught.value.code == "weights.changed"
    assert names(tmp_path) == [LOCK_NAME]


def test_a_file_that_changed_on_disk_is_noticed(release: Release, tmp_path: Path):
    weights.fetch(release.source, tmp_path)
    (tmp_path / "weights.pth").write_bytes(b"spoilt")
    assert not weights.listed(release.source, tmp_path)[0].locked
    with pytest.raises(FatalError) as caught:
        weights.fetch(release.source, tmp_path)
    assert caught.value.code == "weights.changed"


def test_no_network_is_said(tmp_path: Path):
    source = Source("pix2tex", (WeightFile("weights.pth", "http://127.0.0.1:9/weights.pth"),), "a test")
    with pytest.raises(FatalError, match="--from") as caught:
        weights.fetch(source, tmp_path)
    assert caught.value.code == "weights.network"


def test_a_missing_release_is_said(release: Release, tmp_path: Path):
    url = f"http://127.0.0.1:{release.server_port}/gone"
    with pytest.raises(FatalError, match="404") as caught:
        weights.fetch(Source("pix2tex", (WeightFile("weights.pth", url),), "a test"), tmp_path)
    assert caught.value.code == "weights.refused"


def test_weights_are_copied_from_a_folder(tmp_path: Path):
    origin = tmp_path / "origin"
    origin.mkdir()
    for name in ("weights.pth", "config.yaml", "other"):
        (origin / name).write_bytes(CONTENT)
    found = weights.copy_in(weights.SOURCES["pix2tex"], origin, tmp_path / "to")
    assert found[0].locked
    assert names(tmp_path / "to") == sorted(["config.yaml", "weights.pth", LOCK_NAME])


def test_copying_from_a_folder_without_weights_is_refused(tmp_path: Path):
    with pytest.raises(FatalError) as caught:
        weights.copy_in(weights.SOURCES["pix2tex"], tmp_path, tmp_path / "to")
    assert caught.value.code == "weights.missing"


# ---------------------------------------------------------------- commands
@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    for name in ("PHYSELITE_FORMULA__WEIGHTS", "PHYSELITE_FORMULA__PYTHON"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PHYSELITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, ["models", *arguments])


def test_dry_run_prints_source_and_size_and_writes_nothing(run, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run("fetch", "pix2tex", "--dry-run").exit_code == 0
    assert not (tmp_path / "cache").exists()


def test_nothing_is_downloaded_unasked(run):
    result = run("fetch", "pix2tex")
    assert isinstance(result.exception, FatalError)
    assert result.exception.code == "weights.unconfirmed"


def test_an_engine_without_weights_is_unknown(run):
    result = run("fetch", "structure")
    assert isinstance(result.exception, FatalError)
    assert result.exception.code == "engine.unknown"


def test_list_tells_what_is_there(run, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / "cache" / "weights" / "pix2tex"
    folder.mkdir(parents=True)
    (folder / "weights.pth").write_bytes(CONTENT)
    listed = {row["file"]: row for row in json.loads(run("list", "--json").stdout)}
    assert listed["weights.pth"]["sha256"] == DIGEST
    assert not listed["weights.pth"]["locked"]
    assert not listed["image_resizer.pth"]["present"]
