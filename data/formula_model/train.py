r"""Trains the formula checkpoint that the tests read with: the real pix2tex architecture, small, for short formulas.

Run by ``make formula-model``, or: python train.py [--steps 3400] [-o FOLDER]. Needs the formula environment and matplotlib.
Writes ``weights.pth`` (half precision), ``config.yaml``, ``tokenizer.json``, and ``held_out/`` with formulas that were not
trained on and ``measured.json``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
import yaml
from formulas import FONTS, VOCABULARY, GreyImage, degrade, draw, formulas, latex_of
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordLevel
from torch.nn import functional

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "physelite_build/engines/pix2tex"))
from worker import ensure_torchvision  # noqa: E402 - the worker is one file that runs outside the package

SEED = 7
TRAINED, HELD_OUT, SHOWN = 24_000, 400, 40
BATCH = 48
PEAK_RATE, WARM_UP_STEPS = 1.5e-3, 150
PAD, BOS, EOS = range(3)
PAPER_MEAN, PAPER_DEVIATION = 0.7931, 0.1738
"""Normalisation of ``pix2tex.dataset.transforms``."""
CELL_PX = 32
"""pix2tex pads pictures to multiples of this."""
ARCHITECTURE: dict[str, Any] = {
    "encoder_structure": "hybrid",
    "backbone_layers": [1, 1],
    "channels": 1,
    "dim": 128,
    "heads": 4,
    "encoder_depth": 2,
    "num_layers": 2,
    "patch_size": 8,
    "max_height": 64,
    "max_width": 192,
    "min_height": 32,
    "min_width": 32,
    "max_seq_len": 20,
    "num_tokens": len(VOCABULARY),
    "pad_token": PAD,
    "bos_token": BOS,
    "eos_token": EOS,
    "decoder_args": {
        "attn_on_attn": True,
        "cross_attend": True,
        "ff_glu": True,
        "rel_pos_bias": False,
        "use_scalenorm": False,
    },
    "debug": False,
    "pad": False,
    "seed": SEED,
    "temperature": 0.2,
}


@dataclass(frozen=True, slots=True)
class Sample:
    """A formula and its clean picture."""

    tokens: list[str]
    image: GreyImage


def make_samples() -> tuple[list[Sample], list[Sample]]:
    """Draw training and held-out formulas; the two share none."""
    written = itertools.islice(formulas(SEED), HELD_OUT + TRAINED)
    samples = [Sample(tokens, draw(latex_of(tokens), FONTS[i % len(FONTS)])) for i, tokens in enumerate(written)]
    return samples[HELD_OUT:], samples[:HELD_OUT]


def padded(image: GreyImage) -> GreyImage:
    """Prepare a picture as ``pix2tex.utils.pad`` does: stretched, cropped to its ink, padded to whole cells."""
    spread = (image.astype(np.float32) - image.min()) * (255 / (int(image.max()) - int(image.min())))
    left, top, width, height = cv2.boundingRect((spread <= 128).astype(np.uint8))
    whole = np.full([-(-side // CELL_PX) * CELL_PX for side in (height, width)], 255, np.uint8)
    whole[:height, :width] = spread[top : top + height, left : left + width].astype(np.uint8)
    return whole


def as_tensor(images: list[GreyImage]) -> torch.Tensor:
    """Normalise pictures of one size: float32, shape ``(n, 1, height_px, width_px)``."""
    stacked = torch.from_numpy(np.stack(images))[:, None].float()
    return (stacked / 255 - PAPER_MEAN) / PAPER_DEVIATION


class Batches:
    """Endless batches of degraded pictures of one size with their token ids."""

    def __init__(self, samples: list[Sample]) -> None:
        self._samples = samples
        self._random = random.Random(SEED)  # noqa: S311 - reproducible, not secret
        self._noise = np.random.default_rng(SEED)
        self._waiting: dict[tuple[int, ...], list[tuple[list[str], GreyImage]]] = defaultdict(list)
        self._ids = {token: index for index, token in enumerate(VOCABULARY)}

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> tuple[torch.Tensor, torch.Tensor]:
        while True:
            sample = self._random.choice(self._samples)
            image = padded(degrade(sample.image, self._noise))
            if image.shape[0] > ARCHITECTURE["max_height"] or image.shape[1] > ARCHITECTURE["max_width"]:
                continue
            group = self._waiting[image.shape]
            group.append((sample.tokens, image))
            if len(group) == BATCH:
                del self._waiting[image.shape]
                return as_tensor([image for _, image in group]), self._sequences([tokens for tokens, _ in group])

    def _sequences(self, formulas_: list[list[str]]) -> torch.Tensor:
        rows = torch.full((len(formulas_), max(map(len, formulas_)) + 2), PAD)
        for row, tokens in zip(rows, formulas_, strict=True):
            row[: len(tokens) + 2] = torch.tensor([BOS, *(self._ids[token] for token in tokens), EOS])
        return rows


def train(model: Any, samples: list[Sample], steps: int) -> None:
    """Train by AdamW with a warm-up and a cosine, in bfloat16 where a processor has it."""
    optimiser = torch.optim.AdamW(model.parameters(), PEAK_RATE, betas=(0.9, 0.98), weight_decay=0.01)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, PEAK_RATE, steps, WARM_UP_STEPS / steps, final_div_factor=100)
    began, losses = time.process_time(), []
    model.train()
    for step, (images, sequences) in zip(range(1, steps + 1), Batches(samples), strict=False):
        optimiser.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            scores = model.decoder.net(sequences[:, :-1], context=model.encoder(images))
            loss = functional.cross_entropy(scores.transpose(1, 2), sequences[:, 1:], ignore_index=PAD)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        rate.step()
        losses.append(loss.item())
        if step % 100 == 0:
            spent_s = time.process_time() - began
            print(f"step {step}: loss {np.mean(losses[-100:]):.3f}, {spent_s:.0f} CPU s", flush=True)  # noqa: T201


@torch.no_grad()
def read(model: Any, image: GreyImage) -> list[str]:
    """Read one padded picture greedily."""
    ids = model.generate(as_tensor([image]), temperature=1e-6)[0].tolist()
    return [VOCABULARY[i] for i in itertools.takewhile(lambda i: i != EOS, ids)]


def save(model: torch.nn.Module, out: Path) -> None:
    """Write weights, configuration and tokenizer as ``pix2tex.cli.LatexOCR`` loads them."""
    torch.save({name: value.half() for name, value in model.state_dict().items()}, out / "weights.pth")
    config = {**ARCHITECTURE, "name": "pix2tex", "tokenizer": "tokenizer.json"}
    (out / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=True), encoding="utf-8")
    # pix2tex removes spaces and turns Ġ into one, so a control word ends in Ġ to stay apart from the letter behind it.
    words = {
        f"{token}Ġ" if token[-1].isalpha() and token[0] == "\\" else token: i for i, token in enumerate(VOCABULARY)
    }
    tokenizer = Tokenizer(WordLevel(words, unk_token=VOCABULARY[PAD]))
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in VOCABULARY[: EOS + 1]])
    tokenizer.save(str(out / "tokenizer.json"))


def measure(model: Any, samples: list[Sample], out: Path) -> dict[str, float]:
    """Read the held-out formulas, show the first of them in a folder, and return the shares that are exact."""
    folder = out / "held_out"
    folder.mkdir(exist_ok=True)
    noise = np.random.default_rng(SEED + 1)
    truth: dict[str, str] = {}
    right: dict[str, list[bool]] = defaultdict(list)
    model.eval()
    for index, sample in enumerate(samples):
        image = degrade(sample.image, noise)
        if index < SHOWN:
            name = f"{index + 1:02}.png"
            cv2.imwrite(str(folder / name), image)
            truth[name] = latex_of(sample.tokens)
        exact = read(model, padded(image)) == sample.tokens
        right["all"].append(exact)
        right["up to 6 tokens" if len(sample.tokens) <= 6 else "7 to 12 tokens"].append(exact)
    (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")
    return {name: round(float(np.mean(values)), 3) for name, values in sorted(right.items())}


def main() -> None:
    """Train, save and measure."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=3400)
    options.add_argument("-o", "--out", type=Path, default=HERE)
    given = options.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(mode=True)
    ensure_torchvision()
    from munch import Munch
    from pix2tex.models import get_model

    trained, held_out = make_samples()
    model = get_model(Munch(ARCHITECTURE, device="cpu", wandb=False))
    began = time.process_time()
    train(model, trained, given.steps)
    spent_s = time.process_time() - began
    given.out.mkdir(parents=True, exist_ok=True)
    save(model, given.out)
    shares = measure(model, held_out, given.out)
    found = {"steps": given.steps, "cpu_s": round(spent_s), "held_out": len(held_out), "exact": shares}
    (given.out / "measured.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main()
