"""Makes small problems for tests of the corpus stages."""

from __future__ import annotations

from physelite_build.geometry import Box
from physelite_build.records import Answer, AnswerKind, Figure, Language, Part, Problem


def problem(
    key: str,
    statement: str,
    *,
    language: Language = "en",
    solution: str | None = None,
    answer: str | None = "$v=3$",
    figures: int = 0,
    parts: tuple[str, ...] = (),
    confidence: float | None = 0.9,
) -> Problem:
    doc_id, _, number = key.partition("#")
    return Problem(
        key=key,
        doc_id=doc_id,
        number=number,
        language=language,
        statement=statement,
        parts=tuple(Part(label=label, text="?") for label in parts),
        solution=solution,
        final_answer=answer,
        answers=(Answer(kind=AnswerKind.NUMBER, printed=answer),) if answer else (),
        figures=tuple(figure(f"{doc_id}/p1", index) for index in range(1, figures + 1)),
        confidence=confidence,
    )


def figure(page_id: str, index: int) -> Figure:
    return Figure(
        figure_id=f"{page_id}/f{index}",
        page_id=page_id,
        box=Box(left=0, top=0, right=9, bottom=9),
        image_sha256="0" * 64,
        width_px=9,
        height_px=9,
    )
