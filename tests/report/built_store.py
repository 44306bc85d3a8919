"""A synthetic work folder: a Chinese page with a figure and formulas, a page put aside, a file that was refused."""

from __future__ import annotations

import cv2
import numpy as np

from physelite_build.geometry import Box
from physelite_build.records import (
    Answer,
    AnswerKind,
    Document,
    DocumentProblems,
    Figure,
    Finding,
    Fingerprint,
    Line,
    Page,
    PageLayout,
    PageText,
    Pair,
    PairDecision,
    Part,
    Problem,
    Region,
    RegionKind,
    ScreenVerdict,
    Severity,
    Source,
    SourceNotes,
    Span,
    Status,
    Step,
    Upright,
)
from physelite_build.store import Aside, Stage, Store

WIDTH_PX, HEIGHT_PX = 1240, 1754
HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>'
RUN = "run-1"


def box(left: int, top: int, right: int, bottom: int) -> Box:
    return Box(left=left, top=top, right=right, bottom=bottom)


TITLE, LINE_1, LINE_2, FORMULA = (
    box(420, 90, 820, 140),
    box(120, 200, 1120, 240),
    box(120, 260, 900, 300),
    box(400, 320, 760, 400),
)
FIGURE, CAPTION, ANSWER = box(380, 460, 860, 800), box(560, 820, 680, 855), box(120, 900, 700, 940)


def drawn_page() -> np.ndarray:
    """A page with something dark wherever a region stands."""
    page = np.full((HEIGHT_PX, WIDTH_PX, 3), 252, dtype=np.uint8)
    for text, area in (
        ("Exam", TITLE),
        ("A ball is thrown from the height h with speed v", LINE_1),
        ("and lands on the ground.", LINE_2),
        ("v = sqrt(2gh)", FORMULA),
        ("Fig. 1", CAPTION),
        ("Answer: v = 4.2 m/s", ANSWER),
    ):
        cv2.putText(
            page, text, (area.left, area.bottom - 8), cv2.FONT_HERSHEY_COMPLEX, 1.0, (30, 30, 30), 2, cv2.LINE_AA
        )
    cv2.line(page, (FIGURE.left, FIGURE.bottom - 20), (FIGURE.right, FIGURE.bottom - 20), (20, 20, 20), 3)
    cv2.line(page, (FIGURE.left + 60, FIGURE.bottom - 20), (FIGURE.left + 300, FIGURE.top + 30), (20, 20, 20), 3)
    cv2.circle(page, (FIGURE.left + 300, FIGURE.top + 60), 30, (20, 20, 20), 3)
    return page


def region(order: int, kind: RegionKind, place: Box, text: str = "", confidence: float | None = 0.97) -> Region:
    return Region(kind=kind, box=place, order=order, text=text, confidence=confidence, engine="paddle")


def problem(figure: Figure) -> Problem:
    return Problem(
        key="exam#1",
        doc_id="exam",
        number="1",
        language="zh",
        title="抛体运动",
        points=20,
        statement=f"小球从高度 $h$ 处以初速度 $\\mathbf v_0$ 抛出，如图1。{HOSTILE}\n(1) 求落地速度 $v$。\n(2) 求电场 $\\mathbf{{E}}$ 与 $\\frac{{q}}{{4\\pi\\varepsilon_0 r^2}}$ 的关系。",
        parts=(Part(label="1", text="求落地速度 $v$。"), Part(label="2", text=r"求电场 $\mathbf{E}$。", points=10)),
        solution="由能量守恒",
        steps=(
            Step(label="1", text=r"由能量守恒 $$\frac{1}{2}mv^2=mgh+\frac{1}{2}mv_0^2$$"),
            Step(label=None, text=r"得 $v=\sqrt{2gh+v_0^2}$，坏公式 $\frac{a}{$ 。"),
        ),
        final_answer=r"$v=\sqrt{2gh}$ = 4.2 m/s",
        pages=(1,),
        spans=(
            Span(field="statement", page_id="exam/p1", box=LINE_1, confidence=0.98, engine="paddle"),
            Span(field="statement", page_id="exam/p1", box=FORMULA, confidence=0.61, engine="pix2tex"),
        ),
        figures=(figure,),
        answers=(
            Answer(
                kind=AnswerKind.EXPRESSION,
                printed=r"$v=\sqrt{2gh}$",
                part="1",
                name="v",
                value=r"\sqrt{2gh}",
                confidence=0.9,
            ),
            Answer(kind=AnswerKind.NUMBER, printed="4.2 m/s", part="2", value="4.2", unit="m/s", tolerance=0.01),
        ),
        confidence=0.61,
    )


def fill(store: Store) -> None:
    """Put the synthetic corpus into a work folder."""
    picture = drawn_page()
    sha = store.blobs.put_image(picture)
    blank = store.blobs.put_image(np.full((400, 300, 3), 250, dtype=np.uint8))
    crop = store.blobs.put_image(np.ascontiguousarray(picture[FIGURE.top : FIGURE.bottom, FIGURE.left : FIGURE.right]))
    pages = {
        f"exam/p{n}": Page(
            page_id=f"exam/p{n}",
            doc_id="exam",
            number=n,
            source_sha256="s",
            source_frame=n,
            image_sha256=i,
            width_px=w,
            height_px=h,
            dpi=150,
        )
        for n, i, w, h in ((1, sha, WIDTH_PX, HEIGHT_PX), (2, blank, 300, 400))
    }
    store.start_run(RUN, started_at="2025-01-01T00:00:00Z", config="{}")
    store.put("source", {"s": Source(sha256="s", name="exam.pdf", media_type="application/pdf", size_bytes=9)})
    store.put(
        "document",
        {
            "exam": Document(
                doc_id="exam",
                notes=SourceNotes(title="力学试卷 & more", language="zh", year=2020),
                page_ids=("exam/p1", "exam/p2"),
            )
        },
    )
    store.put("page", pages)
    done = {
        "screen": ScreenVerdict(keep=True, ink=0.1),
        "straighten": Upright(image_sha256=sha, width_px=WIDTH_PX, height_px=HEIGHT_PX, skew_deg=0.7),
        "read": PageText(
            lines=(Line(text="一", box=LINE_1, confidence=0.5),), engine=Fingerprint(name="paddle", version="1")
        ),
        "layout": PageLayout(
            page_width_px=WIDTH_PX,
            page_height_px=HEIGHT_PX,
            regions=(
                region(0, RegionKind.FURNITURE, TITLE, "力学试卷"),
                region(1, RegionKind.TEXT, LINE_1, "小球从高度 $h$ 处抛出，" + HOSTILE),
                region(2, RegionKind.TEXT, LINE_2, "落到地面。", 0.72),
                region(3, RegionKind.FORMULA, FORMULA, r"v=\sqrt{2gh}", 0.61),
                region(4, RegionKind.FIGURE, FIGURE, confidence=0.9),
                region(5, RegionKind.CAPTION, CAPTION, "图1"),
                region(6, RegionKind.TEXT, ANSWER, "答案：$v=4.2$ m/s", None),
            ),
        ),
    }
    for stage, record in done.items():
        store.run(Stage(stage, 1), "exam/p1", run_id=RUN, inputs=[sha], work=lambda record=record: record)
    store.run(
        Stage("screen", 1),
        "exam/p2",
        run_id=RUN,
        inputs=[blank],
        work=lambda: Aside(
            Status.REJECTED, "page.blank", "page exam/p2 has no ink", ScreenVerdict(keep=False, code="page.blank")
        ),
    )
    store.run(
        Stage("ingest", 1),
        "notes<b>.doc",
        run_id=RUN,
        inputs=["x"],
        work=lambda: Aside(Status.FAILED, "source.unknown_type", "notes<b>.doc is no picture; convert it to PDF"),
    )
    figure = Figure(
        figure_id="exam/p1/f1",
        page_id="exam/p1",
        box=FIGURE,
        image_sha256=crop,
        width_px=FIGURE.width,
        height_px=FIGURE.height,
        caption="图1 抛体",
        label="1",
        problem_key="exam#1",
        link_rule="mention",
        link_score=0.93,
    )
    found = DocumentProblems(doc_id="exam", problems=(problem(figure),))
    store.run(Stage("answers", 1), "exam", run_id=RUN, inputs=[sha], work=lambda: found)
    store.put(
        "pair",
        {"a": Pair(left="exam#1", right="other#3", decision=PairDecision.ASK, similarity=0.96, rule="numbers differ")},
    )
    store.put(
        "finding",
        {"f": Finding(subject="exam#1", code="check.bad_latex", severity=Severity.WARN, message="a brace is open")},
    )
    store.end_run(RUN, status="partial")
