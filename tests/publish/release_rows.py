"""A tiny release: a bilingual problem with figures, one without an answer, one in English only."""

from __future__ import annotations

import numpy as np

from physelite_build.blobs import encode_png, sha256_of
from physelite_build.publish import ReleaseRow
from physelite_build.publish.schema import RowAnswer, RowDiagram, RowPart, RowSource, RowStep, RowText
from physelite_build.records import AnswerKind, FigureRole


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
