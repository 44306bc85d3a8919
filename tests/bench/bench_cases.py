"""Small truths and records for the tests of the bench."""

from __future__ import annotations

import copy
import json
import random
import re
from pathlib import Path
from typing import Any

TRUTH: dict[str, Any] = {
    "doc_id": "small-en",
    "language": "en",
    "pages": [{"page": 1, "width": 1000, "height": 1400}, {"page": 2, "width": 1000, "height": 1400}],
    "problems": [
        {
            "number": "1",
            "language": "en",
            "statement": "A block of mass $m$ slides down.",
            "solution": "Energy gives $$v=\\sqrt{2gh}$$",
            "final_answer": "$v=\\sqrt{2gh}$",
            "pages": [1, 2],
            "figures": [{"page": 1, "bbox": [100, 100, 300, 200], "role": "statement"}],
        },
        {
            "number": "2",
            "language": "en",
            "statement": "Find the period of a pendulum.",
            "solution": None,
            "final_answer": None,
            "pages": [2],
            "figures": [{"page": 2, "bbox": [0, 0, 100, 100], "role": "statement"}],
        },
        {
            "number": "3",
            "language": "en",
            "statement": None,
            "solution": "The rest of an earlier problem.",
            "final_answer": None,
            "pages": [2],
            "figures": [],
        },
    ],
}
"""Problem 3 began on a page that is not there."""


def write_truth(folder: Path, *truths: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for truth in truths:
        (folder / f"{truth['doc_id']}.json").write_text(json.dumps(truth), encoding="utf-8")
    return folder


def perfect_record(truth: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a reader without any error."""
    return {"doc_id": truth["doc_id"], "error": None, "seconds": 4.0, "problems": copy.deepcopy(truth["problems"])}


def damage(record: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return a record as a middling reader would have made it."""
    made = copy.deepcopy(record)
    kept = []
    for problem in made["problems"]:
        for field in ("statement", "solution", "final_answer"):
            problem[field] = _misread(problem[field] or "", rng)
        problem["figures"] = [_moved(figure, rng) for figure in problem["figures"] if rng.random() > 0.1]
        if rng.random() < 0.15:
            problem["number"] = "9"
        if rng.random() < 0.2:
            problem["pages"] = problem["pages"][:1]
        if rng.random() < 0.1 and kept:
            kept[-1]["statement"] += problem["statement"]
        elif rng.random() > 0.1:
            kept.append(problem)
    if len(kept) > 1 and rng.random() < 0.5:
        kept[0]["figures"], kept[1]["figures"] = kept[1]["figures"], kept[0]["figures"]
    made["problems"] = kept
    return made


def _misread(text: str, rng: random.Random) -> str:
    made = []
    for part in re.split(r"(\$+[^$]+\$+)", text):
        chance = rng.random()
        if not part.startswith("$"):
            made.append(
                "".join(rng.choice("的1l, ") if rng.random() < 0.03 else c for c in part if rng.random() > 0.03)
            )
        elif chance < 0.1:
            made.append(part.strip("$"))
        elif chance < 0.3:
            made.append(part.replace(r"\frac", r"\dfrac").replace(r"\mathrm", r"\text").replace(r"\,", " "))
        elif chance < 0.5:
            made.append("$" + re.sub(r"\d", lambda m: rng.choice([m[0], "7", "{", "_"]), part.strip("$")) + "$")
        elif chance < 0.95:
            made.append(part)
    return "".join(made)


def _moved(figure: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    left, top, right, bottom = figure["bbox"]
    step = 0.15 * min(right - left, bottom - top)
    box = [value + rng.uniform(-step, step) for value in (left, top, right, bottom)]
    return {"page": figure["page"], "bbox": box, "role": rng.choice(["statement", "solution", None])}
