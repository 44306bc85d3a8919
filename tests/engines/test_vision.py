"""The vision engine against a real HTTP server on this machine that answers from a script."""

from __future__ import annotations

import base64
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import cv2
import numpy as np
import pytest

from physelite_build.engines.vision import ATTEMPTS, VisionEngine, bare_latex
from physelite_build.errors import FatalError, ItemError, RetryableError

KEY = "key-of-the-test"


class Service(ThreadingHTTPServer):
    """Answers each request with the next (status, body, headers) of its script; remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[tuple[int, Any, dict[str, str]]] = []
        self.asked: list[tuple[str, dict[str, Any], str | None]] = []

    def will_say(self, text: str | None, status: int = 200, **headers: str) -> None:
        body = {"choices": [{"message": {"role": "assistant", "content": text}}]}
        self.script.append((status, body, {name.replace("_", "-"): value for name, value in headers.items()}))

    def engine(self, **options: Any) -> VisionEngine:
        url = f"http://127.0.0.1:{self.server_port}/v1/"
        return VisionEngine(url=url, model="sees", key_variable="TEST_KEY", concurrency=1, **options)


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body, self.headers.get("Authorization")))
        status, answer, headers = self.server.script.pop(0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("TEST_KEY", KEY)
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def crop() -> np.ndarray:
    picture = np.full((50, 90, 3), 255, np.uint8)
    cv2.putText(picture, "F=ma", (5, 35), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (0, 0, 0), 2)
    return picture


def test_sends_the_crop_and_returns_the_latex(service: Service, crop: np.ndarray):
    service.will_say("```latex\n$F=ma$\n```")
    (reading,) = service.engine().recognise([crop], [[]])
    assert (reading.latex, reading.confidence) == ("F=ma", None)
    path, body, key = service.asked[0]
    assert (path, key) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert (body["model"], body["temperature"]) == ("sees", 0)
    url = body["messages"][0]["content"][1]["image_url"]["url"]
    sent = cv2.imdecode(np.frombuffer(base64.b64decode(url.partition(",")[2]), np.uint8), cv2.IMREAD_COLOR)
    assert np.array_equal(sent, crop)


def test_a_blank_crop_is_not_sent(service: Service, crop: np.ndarray):
    service.will_say("x")
    readings = service.engine().recognise([np.full_like(crop, 255), crop], [[], []])
    assert [reading.latex for reading in readings] == ["", "x"]
    assert len(service.asked) == 1


def test_waits_and_tries_again_while_the_service_is_busy(service: Service, crop: np.ndarray):
    pauses: list[float] = []
    service.will_say(None, 429, Retry_After="7")
    service.will_say(None, 503)
    service.will_say("x")
    (reading,) = service.engine(sleep=pauses.append).recognise([crop], [[]])
    assert reading.latex == "x"
    assert pauses == [7, 14]


def test_a_service_that_stays_busy_is_tried_again_later(service: Service, crop: np.ndarray):
    for _ in range(ATTEMPTS):
        service.will_say(None, 500)
    with pytest.raises(RetryableError) as caught:
        service.engine(sleep=lambda _: None).recognise([crop], [[]])
    assert caught.value.code == "engine.busy"


def test_no_service_is_a_passing_fault(crop: np.ndarray):
    engine = VisionEngine(url="http://127.0.0.1:9", model="m", key_variable="NO_KEY", sleep=lambda _: None)
    with pytest.raises(RetryableError) as caught:
        engine.recognise([crop], [[]])
    assert caught.value.code == "engine.busy"


def test_a_refused_key_stops_the_run(service: Service, crop: np.ndarray):
    service.will_say(None, 401)
    with pytest.raises(FatalError) as caught:
        service.engine().recognise([crop], [[]])
    assert caught.value.code == "engine.refused"
    assert KEY not in str(caught.value)


def test_an_answer_that_is_no_completion_is_an_item_error(service: Service, crop: np.ndarray):
    service.script.append((200, {"error": "odd"}, {}))
    with pytest.raises(ItemError) as caught:
        service.engine().recognise([crop], [[]])
    assert caught.value.code == "read.engine"


def test_says_once_where_pictures_go_and_never_the_key(
    service: Service, crop: np.ndarray, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    engine = service.engine()
    for _ in range(2):
        service.will_say("x")
        engine.recognise([crop], [[]])
    said = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(said) == 1
    assert "127.0.0.1" in said[0].getMessage()
    assert KEY not in caplog.text


def test_without_an_address_there_is_no_engine():
    with pytest.raises(FatalError) as caught:
        VisionEngine(url=None, model="m")
    assert caught.value.code == "engine.settings"


@pytest.mark.parametrize(
    ("answer", "latex"),
    [
        ("x^2", "x^2"),
        (" $$E=mc^{2}$$\n", "E=mc^{2}"),
        (r"\[ \frac{a}{b} \]", r"\frac{a}{b}"),
        (r"\(v_0\)", "v_0"),
        ("```\n\\vec{F}\n```", r"\vec{F}"),
        (r"\text{if the sum is} \quad x", r"\text{if the sum is} \quad x"),
        ("NONE", ""),
        ("None.", ""),
        ("I'm sorry, I cannot read this picture.", ""),
        ("The formula is $x$.", ""),
        ("", ""),
    ],
)
def test_the_answer_is_cleaned(answer: str, latex: str):
    assert bare_latex(answer) == latex
