"""Train the symbol classifier and write its weights, its labels and its measured figures.

    python data/symbol_model/train.py --fonts DIR [--fonts DIR ...] [--samples 940000]

Fonts of ``fonts.toml`` are looked for below the folders. Families marked ``held_out`` serve only for the temperature
and for the figures. Everything is seeded; the same fonts and packages on the same kind of processor give the same weights.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import onnx
import onnxruntime
import torch
from alphabet import OTHER
from damage import KINDS, Sampler
from glyph_bank import Family, GlyphBank, find_families, render_bank, render_hanzi
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from physelite_build.engines.symbols.reader import INK_PX, SAME_SHAPE, SIDE_PX, normalise  # noqa: E402

SEED = 20261207
BATCH = 256
CHUNK = 51_200
"""Samples drawn at a time; each is seen ``REPEATS`` times in a new order before the next are drawn."""
REPEATS = 2
TOP_RATE = 4e-3
WEIGHT_DECAY = 0.02
CHANNELS = (16, 32, 64)
HIDDEN = 160
HELD_OUT_SAMPLES = 20_000
ECE_BINS = 15
SIZE_BANDS_PX = (3, 7, 10, 14, 20, 30, 60, 1000)
MOST_MISTAKES = 40


@dataclass(frozen=True, slots=True)
class Samples:
    """Normalised crops, their sizes, and the index of the label of each."""

    pictures: NDArray[np.uint8]
    """Shape ``(n, SIDE_PX, SIDE_PX)``, ink times 255."""
    sizes: NDArray[np.float32]
    """Shape ``(n, 2)``."""
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)


class Network(nn.Module):
    """Four convolutions and two dense layers; the size of the crop joins before the dense ones."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        first, second, third = CHANNELS
        self.convolutions = nn.ModuleList(
            [
                nn.Conv2d(1, first, 5, stride=2, padding=2, bias=False),
                nn.Conv2d(first, second, 3, padding=1, bias=False),
                nn.Conv2d(second, third, 3, padding=1, bias=False),
                nn.Conv2d(third, third, 3, padding=1, bias=False),
            ]
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(c.out_channels) for c in self.convolutions)
        self.hidden = nn.Linear(third * (SIDE_PX // 8) ** 2 + 2, HIDDEN)
        self.dropout = nn.Dropout(0.15)
        self.output = nn.Linear(HIDDEN, labels)

    def forward(self, pictures: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
        """Return logits, shape ``(n, labels)``."""
        x = pictures
        for index, (convolution, norm) in enumerate(zip(self.convolutions, self.norms, strict=True)):
            x = torch.relu(norm(convolution(x)))
            if index % 2:
                x = torch.max_pool2d(x, 2)
        x = torch.cat([x.flatten(1), sizes], dim=1)
        return self.output(self.dropout(torch.relu(self.hidden(x))))


def draw(sampler: Sampler, count: int, *, seed: int, kind: str | None = None) -> Samples:
    """Draw damaged samples; kinds of damage alternate unless one is given."""
    rng = np.random.default_rng(seed)
    pictures = np.empty((count, SIDE_PX, SIDE_PX), np.uint8)
    sizes, labels = np.empty((count, 2), np.float32), np.empty(count, np.int64)
    for i in range(count):
        crop, labels[i] = sampler.draw(rng, kind or KINDS[i % len(KINDS)])
        ink, sizes[i] = normalise(crop)
        pictures[i] = np.rint(ink * 255)
    return Samples(pictures, sizes, labels)


def batches(samples: Samples, rng: np.random.Generator) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Yield shuffled batches as tensors."""
    order = rng.permutation(len(samples))
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        pictures = torch.from_numpy(samples.pictures[chosen]).float()[:, None] / 255
        yield pictures, torch.from_numpy(samples.sizes[chosen]), torch.from_numpy(samples.labels[chosen])


def train(network: Network, sampler: Sampler, count: int) -> None:
    """Fit the network to ``count`` samples with one cycle of the learning rate."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=TOP_RATE, weight_decay=WEIGHT_DECAY)
    steps = -(-CHUNK // BATCH) * REPEATS * (count // CHUNK)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, TOP_RATE, total_steps=steps, pct_start=0.15)
    rng = np.random.default_rng(SEED)
    network.train()
    for chunk in range(count // CHUNK):
        started, losses = time.monotonic(), []
        samples = draw(sampler, CHUNK, seed=SEED + chunk)
        for _ in range(REPEATS):
            for pictures, sizes, labels in batches(samples, rng):
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    logits = network(pictures, sizes)
                loss = nn.functional.cross_entropy(logits.float(), labels)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
                losses.append(loss.item())
        print(f"chunk {chunk}: loss {np.mean(losses):.3f}, {time.monotonic() - started:.0f} s", flush=True)  # noqa: T201


@torch.no_grad()
def logits_of(network: Network, samples: Samples) -> torch.Tensor:
    """Return logits in the order of the samples."""
    network.eval()
    found = []
    for start in range(0, len(samples), BATCH):
        pictures = torch.from_numpy(samples.pictures[start : start + BATCH]).float()[:, None] / 255
        found.append(network(pictures, torch.from_numpy(samples.sizes[start : start + BATCH])))
    return torch.cat(found)


def fit_temperature(logits: torch.Tensor, labels: NDArray[np.int64]) -> float:
    """Return the divisor of the logits that makes held-out probabilities honest."""
    truth = torch.from_numpy(labels)
    candidates = np.geomspace(0.5, 3, 60)
    losses = [float(nn.functional.cross_entropy(logits / t, truth)) for t in candidates]
    return float(candidates[int(np.argmin(losses))])


def export(network: Network, temperature: float, path: Path) -> None:
    """Write the network as ONNX with half-precision weights, norms folded in and softmax at the end."""
    network.eval()
    weights: dict[str, NDArray[np.float32]] = {}
    nodes = []
    previous = "pictures"
    for i, (convolution, norm) in enumerate(zip(network.convolutions, network.norms, strict=True)):
        gain = (norm.weight / torch.sqrt(norm.running_var + norm.eps)).detach()
        weights[f"kernel{i}"] = (convolution.weight.detach() * gain[:, None, None, None]).numpy()
        weights[f"shift{i}"] = (norm.bias.detach() - norm.running_mean * gain).numpy()
        pad, stride = convolution.padding[0], convolution.stride[0]
        inputs = [previous, f"kernel{i}", f"shift{i}"]
        nodes.append(helper.make_node("Conv", inputs, [f"conv{i}"], pads=[pad] * 4, strides=[stride] * 2))
        nodes.append(helper.make_node("Relu", [f"conv{i}"], [f"relu{i}"]))
        previous = f"relu{i}"
        if i % 2:
            nodes.append(helper.make_node("MaxPool", [previous], [f"pool{i}"], kernel_shape=[2, 2], strides=[2, 2]))
            previous = f"pool{i}"
    weights["hidden"], weights["hidden_shift"] = (
        p.detach().numpy() for p in (network.hidden.weight, network.hidden.bias)
    )
    weights["output"] = network.output.weight.detach().numpy() / temperature
    weights["output_shift"] = network.output.bias.detach().numpy() / temperature
    nodes += [
        helper.make_node("Flatten", [previous], ["flat"]),
        helper.make_node("Concat", ["flat", "sizes"], ["joined"], axis=1),
        helper.make_node("Gemm", ["joined", "hidden", "hidden_shift"], ["dense"], transB=1),
        helper.make_node("Relu", ["dense"], ["active"]),
        helper.make_node("Gemm", ["active", "output", "output_shift"], ["logits"], transB=1),
        helper.make_node("Softmax", ["logits"], ["probabilities"], axis=1),
    ]
    casts, stored = [], []
    for name, values in weights.items():
        stored.append(numpy_helper.from_array(np.asarray(values, np.float16), f"{name}_half"))
        casts.append(helper.make_node("Cast", [f"{name}_half"], [name], to=TensorProto.FLOAT))
    inputs = [
        helper.make_tensor_value_info("pictures", TensorProto.FLOAT, ["n", 1, SIDE_PX, SIDE_PX]),
        helper.make_tensor_value_info("sizes", TensorProto.FLOAT, ["n", 2]),
    ]
    outputs = [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["n", network.output.out_features])]
    graph = helper.make_graph(casts + nodes, "symbols", inputs, outputs, stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())


def read(path: Path, samples: Samples) -> NDArray[np.float32]:
    """Return the probabilities that the written network gives, shape ``(n, labels)``."""
    pictures = samples.pictures[:, None].astype(np.float32) / 255
    session = onnxruntime.InferenceSession(str(path))
    rows: NDArray[np.float32] = session.run(None, {"pictures": pictures, "sizes": samples.sizes})[0]
    return rows


def figures(rows: NDArray[np.float32], truth: NDArray[np.int64], labels: tuple[str, ...]) -> dict[str, float]:
    """Measure readings: shares of right ones, for labels and for shapes, and the expected calibration error of shapes."""
    best = np.argsort(-rows, axis=1)
    shape = np.arange(len(labels))
    for group in SAME_SHAPE:
        members = [i for i, label in enumerate(labels) if label and label in group]
        shape[members] = min(members)
    grouped = np.zeros_like(rows)
    np.add.at(grouped.T, shape, rows.T)
    best_shapes, top = np.argsort(-grouped, axis=1), grouped.max(axis=1)
    right = best_shapes[:, 0] == shape[truth]
    bins = np.minimum((top * ECE_BINS).astype(int), ECE_BINS - 1)
    gaps = [abs(right[bins == b].mean() - top[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins)]
    found = {
        "top1": (best[:, 0] == truth).mean(),
        "top3": (best[:, :3] == truth[:, None]).any(axis=1).mean(),
        "shape_top1": right.mean(),
        "shape_top3": (best_shapes[:, :3] == shape[truth][:, None]).any(axis=1).mean(),
        "shape_ece": sum(gaps),
    }
    return {name: round(float(value), 4) for name, value in found.items()}


def figures_of_family(path: Path, family: Family, sampler: Sampler, labels: tuple[str, ...]) -> dict[str, float]:
    """Measure the written network on one family alone, over the labels that it has."""
    bank = render_bank([family])
    samples = draw(Sampler(bank, sampler.hanzi), HELD_OUT_SAMPLES // len(KINDS), seed=3)
    known = np.array([labels.index(label) for label in (*bank.labels, OTHER)])
    return figures(read(path, samples), known[samples.labels], labels)


def report(path: Path, sampler: Sampler, labels: tuple[str, ...], families: Sequence[Family]) -> dict[str, object]:
    """Measure the written network on held-out fonts: by damage, size and family, and its commonest mistakes."""
    by_kind = {kind: draw(sampler, HELD_OUT_SAMPLES // len(KINDS), seed=2, kind=kind) for kind in KINDS}
    readings = {kind: read(path, samples) for kind, samples in by_kind.items()}
    rows = np.concatenate(list(readings.values()))
    truth = np.concatenate([samples.labels for samples in by_kind.values()])
    sides_px = INK_PX * np.exp(np.concatenate([samples.sizes[:, 1] for samples in by_kind.values()]))
    bands = [(low, high, (sides_px >= low) & (sides_px < high)) for low, high in pairwise(SIZE_BANDS_PX)]
    wrong, counts = np.unique(np.stack([truth, rows.argmax(axis=1)], axis=1), axis=0, return_counts=True)
    mistakes = sorted((-int(n), labels[a], labels[b]) for (a, b), n in zip(wrong, counts, strict=True) if a != b)
    other = len(labels) - 1
    return {
        "all": figures(rows, truth, labels),
        "by_damage": {kind: figures(readings[kind], samples.labels, labels) for kind, samples in by_kind.items()},
        "by_longer_side_px": {f"{low} to {high - 1}": figures(rows[k], truth[k], labels) for low, high, k in bands},
        "by_family": {family.name: figures_of_family(path, family, sampler, labels) for family in families},
        "other_found": round(float((rows[truth == other].argmax(axis=1) == other).mean()), 4),
        "symbols_taken_for_other": round(float((rows[truth != other].argmax(axis=1) == other).mean()), 4),
        "mistakes": [f"{a or 'other'} read as {b or 'other'}: {-n}" for n, a, b in mistakes[:MOST_MISTAKES]],
    }


def sampler_of(bank: GlyphBank, folders: list[Path], names: tuple[str, ...], *, seed: int) -> Sampler:
    """Join a bank with Chinese characters of fonts given by file name."""
    paths = sorted({path.name: path for folder in folders for path in folder.rglob("*") if path.name in names}.values())
    return Sampler(bank, render_hanzi(paths, seed=seed))


def main() -> None:
    """Train, write, measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fonts", type=Path, action="append", required=True)
    parser.add_argument("--samples", type=int, default=940_000)
    parser.add_argument("--out", type=Path, default=ROOT / "physelite_build/engines/symbols")
    options = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    cv2.setNumThreads(1)

    families = find_families(options.fonts)
    bank = render_bank(family for family in families if not family.held_out)
    unseen = [family for family in families if family.held_out]
    held_out = render_bank(unseen)
    labels = (*bank.labels, OTHER)
    if held_out.labels != bank.labels:
        raise SystemExit(f"held-out fonts lack {set(bank.labels) - set(held_out.labels)}")
    chinese = ("NotoSerifCJK-Regular.ttc", "NotoSansCJK-Regular.ttc", "gbsn00lp.ttf", "uming.ttc")
    training = sampler_of(bank, options.fonts, chinese, seed=SEED)
    network = Network(len(labels))
    train(network, training, options.samples)

    testing = sampler_of(held_out, options.fonts, ("wqy-zenhei.ttc", "gkai00mp.ttf"), seed=SEED + 1)
    calibration = draw(testing, HELD_OUT_SAMPLES, seed=1)
    temperature = fit_temperature(logits_of(network, calibration), calibration.labels)
    path = options.out / "symbols.onnx"
    export(network, temperature, path)
    (options.out / "labels.json").write_text(json.dumps(labels, ensure_ascii=False) + "\n", "utf-8")

    measured = {"temperature": round(temperature, 3), "held_out": report(path, testing, labels, unseen)}
    text = json.dumps(measured, ensure_ascii=False, indent=1)
    (Path(__file__).parent / "measured.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
