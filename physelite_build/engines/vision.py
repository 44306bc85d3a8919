"""Reads formulas with a vision model behind an OpenAI-compatible service. Crops leave the machine, so only by the user's choice.

The one engine that sends anything away. It is in force only if ``read.formula_engine = "vision"`` and ``formula.vision.url`` are set,
and says so in the log when it first sends. The key is read from an environment variable when it is needed, and never logged.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cv2
import httpx

from physelite_build.engines.protocol import FormulaReading, Picture
from physelite_build.engines.structure.ink import find_blobs
from physelite_build.errors import FatalError, ItemError, RetryableError, shorten
from physelite_build.records import Fingerprint, Line

__all__ = ["VisionEngine", "bare_latex"]

log = logging.getLogger(__name__)

PROMPT = (
    "Transcribe the formula in the picture as LaTeX. Answer with the LaTeX alone: no delimiters, no code fence, no words. "
    "If there is no readable formula, answer with NONE."
)
MAX_TOKENS = 512
ATTEMPTS = 4
FIRST_PAUSE_S = 1.0
"""Doubled after each attempt; a server's Retry-After counts if it is longer."""
LONGEST_PAUSE_S = 60.0
PASSING = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
"""HTTP statuses after which the same request may work a moment later."""

_FENCE = re.compile(r"^```[a-z]*\s*\n?(.*?)\n?```$", re.DOTALL | re.IGNORECASE)
_DELIMITERS = (("$$", "$$"), (r"\[", r"\]"), (r"\(", r"\)"), ("$", "$"))
_COMMAND = re.compile(r"\\(?:text|mathrm|operatorname|mbox)\s*\{[^{}]*\}|\\[A-Za-z]+")
_CHATTER_WORDS = 3
"""So many plain words of three or more letters are a sentence and no formula."""


class VisionEngine:
    """Formula engine by ``POST {url}/chat/completions``; it gives no confidence. May be shared by threads.

    Args:
        url: Base address, for example ``http://localhost:8000/v1``.
        model: Name of the model.
        key_variable: Environment variable that holds the key.
        timeout_s: Longest wait for one answer.
        concurrency: Requests at a time.
        sleep: Waits between attempts.

    Raises:
        FatalError: ``engine.settings`` if address or model is not set.
    """

    def __init__(
        self,
        *,
        url: str | None,
        model: str | None,
        key_variable: str = "OPENAI_API_KEY",
        timeout_s: float = 60.0,
        concurrency: int = 4,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not url or not model:
            raise FatalError(
                "engine.settings", "the engine 'vision' needs the settings formula.vision.url and formula.vision.model"
            )
        self._url = url.rstrip("/") + "/chat/completions"
        self._model = model
        self._key_variable = key_variable
        self._timeout_s = timeout_s
        self._concurrency = concurrency
        self._sleep = sleep
        self._announced = threading.Event()

    @property
    def fingerprint(self) -> Fingerprint:
        """Address, model and prompt. What the service runs behind that name is not known."""
        prompt = hashlib.sha256(PROMPT.encode()).hexdigest()[:16]
        return Fingerprint(name="vision", version="1", models=(self._model, f"prompt:{prompt}"), device=self._url)

    def recognise(self, crops: Sequence[Picture], lines: Sequence[Sequence[Line]]) -> list[FormulaReading]:
        """Send each crop with ink to the service.

        Args:
            crops: BGR uint8 pictures, one per formula.
            lines: Not used.

        Returns:
            One reading per crop without confidence; empty for a crop without ink, a refusal or a sentence instead of a formula.

        Raises:
            FatalError: ``engine.refused`` if the service does not accept key, model or address.
            ItemError: ``read.engine`` if it answers something else than a completion, or refuses a crop.
            RetryableError: ``engine.busy`` if it cannot be reached, or is busy after all attempts.
        """
        del lines
        inked = [index for index, crop in enumerate(crops) if find_blobs(crop)]
        readings = [FormulaReading("", None)] * len(crops)
        if not inked:
            return readings
        if not self._announced.is_set():
            self._announced.set()
            log.warning("pictures of formulas are sent to %s, model %s", self._url, self._model)
        with (
            httpx.Client(timeout=self._timeout_s, headers=self._headers()) as client,
            ThreadPoolExecutor(self._concurrency) as pool,
        ):
            answers = pool.map(lambda index: self._ask(client, crops[index]), inked)
            for index, answer in zip(inked, answers, strict=True):
                readings[index] = FormulaReading(bare_latex(answer), None)
        return readings

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self._key_variable)
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _ask(self, client: httpx.Client, crop: Picture) -> str:
        picture = base64.b64encode(cv2.imencode(".png", crop)[1].tobytes()).decode()
        content = [
            {"type": "text", "text": PROMPT},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}},
        ]
        body = {
            "model": self._model,
            "temperature": 0,
            "max_tokens": MAX_TOKENS,
            "messages": [{"role": "user", "content": content}],
        }
        return _answer(self._post(client, body))

    def _post(self, client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
        """Send a request until it is answered; passing faults are waited out."""
        pause_s, told = FIRST_PAUSE_S, ""
        for attempt in range(ATTEMPTS):
            if attempt:
                self._sleep(min(pause_s, LONGEST_PAUSE_S))
                pause_s *= 2
            try:
                response = client.post(self._url, json=body)
            except httpx.TransportError as error:
                told = type(error).__name__
                continue
            if response.status_code not in PASSING:
                return _accepted(response)
            told = f"HTTP {response.status_code}"
            after = response.headers.get("Retry-After", "")
            pause_s = max(pause_s, float(after)) if after.isdigit() else pause_s
        raise RetryableError(
            "engine.busy", f"{self._url} gave no answer in {ATTEMPTS} attempts, the last ended with {told}"
        )


def _accepted(response: httpx.Response) -> httpx.Response:
    if response.status_code in (401, 403, 404):
        raise FatalError(
            "engine.refused",
            f"{response.url} answered {response.status_code}; mend formula.vision.url, .model or the key in its variable",
        )
    if not response.is_success:
        raise ItemError("read.engine", f"{response.url} answered {response.status_code}: {shorten(response.text)}")
    return response


def _answer(response: httpx.Response) -> str:
    try:
        message = response.json()["choices"][0]["message"]
        return "" if message.get("refusal") else str(message["content"] or "")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ItemError("read.engine", f"{response.url} sent no completion: {shorten(response.text)}") from error


def bare_latex(answer: str) -> str:
    """Take the LaTeX out of an answer of a language model.

    Args:
        answer: Text, perhaps with a code fence and delimiters.

    Returns:
        LaTeX without fence and delimiters; empty if the answer is ``NONE`` or a sentence.
    """
    latex = answer.strip()
    if fenced := _FENCE.match(latex):
        latex = fenced[1].strip()
    for opening, closing in _DELIMITERS:
        if len(latex) > len(opening) + len(closing) and latex.startswith(opening) and latex.endswith(closing):
            latex = latex[len(opening) : -len(closing)].strip()
            break
    words = re.findall(r"[A-Za-z]{3,}", _COMMAND.sub(" ", latex))
    return "" if latex.strip(".").upper() == "NONE" or len(words) >= _CHATTER_WORDS or "$" in latex else latex
