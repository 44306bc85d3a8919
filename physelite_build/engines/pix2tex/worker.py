r"""The process that runs ``pix2tex.cli.LatexOCR``: ``python worker.py describe|serve OPTIONS_JSON``.

One file that imports nothing of physelite-build, so that pix2tex and its old pins may live in an environment of their own, and
so that what it does to its process (folder, root logger, clipboard) stays there. ``engines/pix2tex/client.py`` starts it.

``describe`` prints one line of JSON (versions, paths and digests) without importing torch. ``serve`` speaks in frames, each a
4-byte big-endian length and so many bytes. It first sends a JSON frame, ``{"max_width": ..., "max_height": ...}`` or
``{"error": ...}``. A request is a JSON frame ``{"resize": [bool, ...]}`` and one frame with an encoded picture for each of them;
the answer is one JSON frame a picture, in order: ``{"latex": ..., "mean": ..., "lowest": ...}`` or ``{"error": ...}``.
The process ends when its standard input does, in the middle of a formula too: it never outlives its parent.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import io
import json
import os
import queue
import struct
import sys
import threading
from typing import Any, BinaryIO

SEED = 0
GREEDY = 1e-6
"""Temperature: pix2tex has no greedy mode; with this one it always takes the most probable token."""


def main() -> None:
    """Do what the command line says."""
    command, options = sys.argv[1], json.loads(sys.argv[2])
    if command == "describe":
        print(json.dumps(describe(options)))  # noqa: T201 - the answer
        return
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what pix2tex prints must not get between the frames
    serve(options, sys.stdin.buffer, answers)


# ---------------------------------------------------------------- what is installed
def describe(options: dict[str, Any]) -> dict[str, Any]:
    """Return versions of pix2tex and torch, and path and SHA-256 of each file that readings depend on.

    Args:
        options: ``weights``, a folder with ``weights.pth`` and perhaps ``config.yaml``, ``tokenizer.json``, ``image_resizer.pth``.

    Returns:
        ``{"error": ...}`` if pix2tex or torch is not installed.
    """
    try:
        versions = {name: importlib.metadata.version(name) for name in ("pix2tex", "torch")}
    except importlib.metadata.PackageNotFoundError as error:
        return {"error": f"the package {error.name} is not installed in {sys.executable}"}
    files = find_files(options["weights"])
    return {"versions": versions, "files": files, "sha256": {name: sha256(path) for name, path in files.items()}}


def find_files(weights: str) -> dict[str, str]:
    """Return the absolute paths of the files in force; configuration and tokenizer of the package serve where no own ones lie."""
    spec = importlib.util.find_spec("pix2tex")
    package = os.path.join(os.path.dirname(spec.origin or ""), "model") if spec else ""
    found = {
        "weights": os.path.join(weights, "weights.pth"),
        "config": os.path.join(weights, "config.yaml"),
        "tokenizer": os.path.join(weights, "tokenizer.json"),
        "resizer": os.path.join(weights, "image_resizer.pth"),
    }
    shipped = {"config": "settings/config.yaml", "tokenizer": "dataset/tokenizer.json"}
    for name, inside in shipped.items():
        if not os.path.exists(found[name]):
            found[name] = os.path.join(package, *inside.split("/"))
    return {name: os.path.abspath(path) for name, path in found.items() if os.path.exists(path)}


def sha256(path: str) -> str:
    """Return the digest of a file in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


# ---------------------------------------------------------------- frames
def read_frame(source: BinaryIO) -> bytes | None:
    """Return the next frame; None at the end of the stream."""
    head = source.read(4)
    if len(head) < 4:
        return None
    (length,) = struct.unpack(">I", head)
    body = source.read(length)
    return body if len(body) == length else None


def write_frame(target: BinaryIO, value: dict[str, Any]) -> None:
    """Send one JSON frame."""
    body = json.dumps(value).encode()
    target.write(struct.pack(">I", len(body)) + body)
    target.flush()


def serve(options: dict[str, Any], requests: BinaryIO, answers: BinaryIO) -> None:
    """Load the model, then answer requests until the input ends."""
    frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=forward, args=(requests, frames), daemon=True).start()
    try:
        reader = Reader(options)
    except Exception as error:  # noqa: BLE001 - the border of the process
        write_frame(answers, {"error": f"{type(error).__name__}: {error}"})
        return
    write_frame(answers, reader.limits)
    while True:
        for resize in json.loads(frames.get())["resize"]:
            try:
                answer = reader.read(frames.get(), resize=resize)
            except Exception as error:  # noqa: BLE001 - the next picture may be readable
                answer = {"error": f"{type(error).__name__}: {error}"}
            write_frame(answers, answer)


def forward(requests: BinaryIO, frames: queue.SimpleQueue[bytes]) -> None:
    """Queue incoming frames; end the process when the parent is gone, whatever the other thread does."""
    while (frame := read_frame(requests)) is not None:
        frames.put(frame)
    os._exit(0)


# ---------------------------------------------------------------- the model
class Reader:
    """One ``LatexOCR`` that reads greedily and says how probable its readings are.

    Its own ``__call__`` does all the work. What the decoder saw and wrote is taken on the way, for the probabilities.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"
        os.environ["HF_HUB_OFFLINE"] = "1"
        import torch

        torch.set_num_threads(options["threads"])
        torch.use_deterministic_algorithms(mode=True, warn_only=True)
        ensure_torchvision()
        import pix2tex.cli as cli
        from munch import Munch

        cli.download_checkpoints = refuse_download
        cli.clipboard.copy = lambda text: None  # the user's clipboard is not ours
        files = find_files(options["weights"])
        arguments = Munch(
            config=files["config"],
            checkpoint=files["weights"],
            tokenizer=files["tokenizer"],
            no_cuda=True,
            no_resize="resizer" not in files,
            temperature=GREEDY,
        )
        self._torch = torch
        self._ocr = cli.LatexOCR(arguments)
        self._ocr.args.max_seq_len = min(self._ocr.args.max_seq_len, options["max_tokens"])
        self._generate = self._ocr.model.generate
        self._ocr.model.generate = self._watched_generate
        self._seen: Any = None
        width, height = self._ocr.args.max_dimensions
        self.limits = {"max_width": int(width), "max_height": int(height), "resizer": not arguments.no_resize}

    def read(self, encoded: bytes, *, resize: bool) -> dict[str, Any]:
        """Read one encoded picture.

        Args:
            encoded: PNG, dark on light, with some ink.
            resize: Let pix2tex's own network choose the size, if it is there.

        Returns:
            ``latex``; ``mean``, the geometric mean of the probabilities of its tokens; ``lowest``, the smallest of them.
        """
        from PIL import Image

        with Image.open(io.BytesIO(encoded)) as picture:
            latex = self._ocr(picture.convert("L"), resize=resize)
        mean, lowest = self._probabilities()
        return {"latex": latex, "mean": mean, "lowest": lowest}

    def _watched_generate(self, picture: Any, **settings: Any) -> Any:
        self._torch.manual_seed(SEED)
        decoded = self._generate(picture, **settings)
        self._seen = picture, decoded[0]
        return decoded

    def _probabilities(self) -> tuple[float, float]:
        """Score the last reading by one pass over its tokens (teacher forcing); ``generate`` returns no probabilities."""
        torch, arguments = self._torch, self._ocr.args
        picture, decoded = self._seen
        ends = (decoded == arguments.eos_token).nonzero()
        if len(ends):
            decoded = decoded[: int(ends[0]) + 1]
        tokens = torch.cat([torch.tensor([arguments.bos_token]), decoded])[None]
        with torch.no_grad():
            scores = self._ocr.model.decoder.net(tokens[:, :-1], context=self._ocr.model.encoder(picture))
        known = scores.log_softmax(-1)[0].gather(1, tokens[0, 1:, None])[:, 0]
        return float(known.mean().exp()), float(known.min().exp())


def refuse_download() -> None:
    """Stand in for pix2tex's downloader, which fetches without asking."""
    raise FileNotFoundError("the weights are missing; nothing is downloaded here")


def ensure_torchvision() -> None:
    """Import torchvision, which timm wants, even beside a torch that lacks its compiled operators.

    The registries' torchvision cannot load its operators beside a CPU build of torch. pix2tex never runs them, so it is enough
    to declare the two that torchvision 0.28 registers while it is imported.
    """
    import torch

    try:
        import torchvision
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        library = torch.library.Library("torchvision", "FRAGMENT")
        for operator in ("nms", "qnms"):
            library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        ensure_torchvision.library = library  # type: ignore[attr-defined] # declared as long as it lives
        import torchvision  # noqa: F401


if __name__ == "__main__":
    main()
