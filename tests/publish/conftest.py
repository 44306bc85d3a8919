"""A tiny release: a bilingual problem with figures, one without an answer, one in English only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from physelite_build.blobs import encode_png, sha256_of
from physelite_build.publish import ReleaseMeta, ReleaseRow, ReleaseSource
from physelite_build.publish.schema import RowAnswer, RowDiagram, RowPart, RowSource, RowStep, RowText
from physelite_build.records import AnswerKind, FigureRole

GUID = "6f0f4c1e-0000-4000-8000-1b9a34a1c001"


def picture(shade: int) -> bytes:
    return encode_png(np.full((20, 30), shade, dtype=np.uint8))


PICTURES = {sha256_of(data): data for data in (picture(10), picture(200))}


def bilingual_row(number: int = 1, **changes: object) -> ReleaseRow:
    dark, light = PICTURES
    zh = RowText(
        problem_key="exam-zh#1",
        title="自由落体",
        statement="小球从高度 $h$ 处落下。\n(1) 求末速度 $v$。",
        parts=(RowPart(label="1", text="求末速度 $v$。"),),
        solution="由 $v^2=2gh$",
        steps=(RowStep(label="1", text="由 $v^2=2gh$"),),
        final_answer=r"$v=\sqrt{2gh}$",
        diagrams=(RowDiagram(image_sha256=dark, caption="图1"),),
    )
    en = RowText(
        problem_key="exam-en#1",
        statement="A ball falls from the height $h$.\n(1) Find its speed.",
        parts=(RowPart(label="1", text="Find its speed."), RowPart(label="2", text="Find the time.")),
        diagrams=(
            RowDiagram(image_sha256=dark, caption="Figure 1", part="1"),
            RowDiagram(image_sha256=light, role=FigureRole.SOLUTION),
        ),
    )
    row = ReleaseRow(
        id=f"PE-{number:06d}",
        group_id=f"PE-{number:06d}",
        version_added="0.1.0",
        zh=zh,
        en=en,
        answers=(RowAnswer(kind=AnswerKind.EXPRESSION, answer=r"$v=\sqrt{2gh}$", part="1", name="v"),),
        subject="mechanics",
        difficulty=3,
        sources=(
            RowSource(language="zh", document="exam-zh", year=2020, pages=(1, 2), rights="CC-BY-4.0", event="Open cup"),
            RowSource(language="en", document="exam-en", rights="CC0-1.0"),
        ),
        engines=("paddle", "pix2tex"),
        lowest_confidence=0.87,
    )
    return row.model_copy(update=changes)


def english_row(number: int, **changes: object) -> ReleaseRow:
    row = ReleaseRow(
        id=f"PE-{number:06d}",
        group_id=f"PE-{number:06d}",
        version_added="0.1.0",
        en=RowText(problem_key=f"exam-en#{number}", statement="State Ohm's law."),
        sources=(RowSource(language="en", document="exam-en", rights="CC0-1.0"),),
    )
    return row.model_copy(update=changes)


@pytest.fixture(scope="session")
def rows() -> list[ReleaseRow]:
    return [bilingual_row(1), *(english_row(number) for number in range(2, 9))]


@pytest.fixture(scope="session")
def meta() -> ReleaseMeta:
    return ReleaseMeta(
        code_revision="abc1234",
        config_digest="0123456789abcdef",
        engines=("paddle 3.7.0 cpu det:1111222233334444",),
        sources=(
            ReleaseSource(
                document="exam-zh", title="Open | cup", language="zh", rights="CC-BY-4.0", attribution="A. Author"
            ),
            ReleaseSource(document="exam-en", language="en", rights="CC0-1.0"),
        ),
        canary_guid=GUID,
        waiver="demonstration, nobody has reviewed it",
    )


@pytest.fixture(scope="session")
def images() -> Callable[[str], bytes]:
    return PICTURES.__getitem__


@pytest.fixture(scope="session")
def scorer_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scorer that reads its gold file and agrees with it."""
    folder = tmp_path_factory.mktemp("package") / "scorer"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "__main__.py").write_text(
        "import json, sys\n"
        "golds = [json.loads(line) for line in open('answers.jsonl', encoding='utf-8')]\n"
        "print(f'{len(golds)} of {len(golds)} answers equal themselves')\n"
        "sys.exit(4 if any(a['answer'] == 'unequal' for g in golds for a in g['answers']) else 0)\n"
    )
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "old.pyc").write_bytes(b"x")
    return folder
