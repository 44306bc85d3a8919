"""How the problems of a plan become blocks and a page: heading grammars, marks, order of answers, exam furniture.

Neighbours: plan.py chooses, ../typeset.py prints and measures.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typeset import Block, Entry, Sheet, block_html, inline_html, print_page, solution_blocks

from pages.plan import DocumentPlan

__all__ = ["Paper", "compose", "print_paper", "table_rows"]

TEMPLATE = Path(__file__).resolve().parent / "src" / "page.html"
POINTS = (20, 40, 25, 30)
"""Printed worth of the first, second, … problem."""
HAN_NUMBERS = "一二三四"

TITLE = {"zh": "高中物理竞赛模拟试题", "en": "Training paper in physics"}
FIELDS = {
    "zh": "学校＿＿＿＿＿＿　姓名＿＿＿＿＿＿　考号＿＿＿＿＿＿",
    "en": "Name ______________   School ______________   Code ________",
}
RULES = {
    "zh": ("考生须知：考试时间 180 分钟。", "解答应写出必要的文字说明和主要步骤，只写最后结果的不给分。"),
    "en": (
        "Time allowed: 3 hours.",
        "Write on one side of each sheet. Show your working; bare results earn no credit.",
    ),
}
SOLUTION_TITLE = {"zh": "【解答】", "en": "Solution"}
ANSWER_LABEL = {"zh": "答案：", "en": "Answer: "}
SECTION_TITLE = {"zh": "参考答案与解析", "en": "Solutions"}
CAPTION = {"zh": "图{n}", "en": "Figure {n}"}
CHOICE = {"zh": "{letter}．", "en": "{letter}. "}
WATERMARK = {"zh": "模拟试题", "en": "TRAINING COPY"}


@dataclass(frozen=True, slots=True)
class Paper:
    """A document before printing."""

    blocks: list[Block]
    """In reading order."""
    entries: list[Entry]


def compose(plan: DocumentPlan, items: dict[str, Any]) -> Paper:
    """Put problems into the order and the words in which one look prints them.

    Args:
        plan: The document.
        items: Problem texts of src/problems.json by id, then by language.

    Returns:
        Blocks and problems of the paper.
    """
    blocks, late, entries = _front(plan), [], []
    for n, item_id in enumerate(plan.items, start=1):
        text, key = items[item_id][plan.language], f"p{n}"
        fields = {"n": n, "han": HAN_NUMBERS[n - 1], "points": POINTS[n - 1], "title": text["title"]}
        heading = plan.look.heading
        entries.append(
            Entry(
                problem=key,
                source_item=item_id,
                number=heading.number.format(**fields),
                title=text["title"] if "{title}" in heading.full else None,
                points=POINTS[n - 1] if "{points}" in heading.full else None,
            )
        )
        kind = "run-in heading" if heading.run_in else "heading"
        blocks.append(Block(kind, heading.full.format(**fields), key, "statement"))
        blocks += _statement(plan, text, key, n)
        if plan.look.answers == "in place":
            blocks.append(Block("solution-title", SOLUTION_TITLE[plan.language], key, "solution"))
            blocks += _solution(plan, text, key)
        elif plan.look.answers == "at the end":
            late.append(Block("heading", heading.short.format(**fields), key, "solution"))
            late += _solution(plan, text, key)
    if late:
        blocks.append(Block("section-title", SECTION_TITLE[plan.language]))
    return Paper(blocks + late, entries)


def _front(plan: DocumentPlan) -> list[Block]:
    title = Block("title", TITLE[plan.language])
    if not plan.look.front_matter:
        return [title]
    return [title, Block("fields", FIELDS[plan.language]), *(Block("rule", rule) for rule in RULES[plan.language])]


def _statement(plan: DocumentPlan, text: dict[str, Any], key: str, n: int) -> list[Block]:
    blocks: list[Block] = []
    part = 0
    for entry in text["statement"]:
        if isinstance(entry, str):
            blocks.append(Block("para", entry, key, "statement"))
        elif "part" in entry:
            part += 1
            mark = plan.look.part_mark.format(n=part, a="abcdefgh"[part - 1])
            blocks.append(Block("para", entry["part"], key, "statement", label=mark))
        elif "choices" in entry:
            for letter, choice in zip("ABCD", entry["choices"], strict=True):
                label = CHOICE[plan.language].format(letter=letter)
                blocks.append(Block("choice", choice, key, "statement", label=label))
        elif "table" in entry:
            rows = "\n".join("\t".join(row) for row in entry["table"])
            blocks.append(Block("table", rows, key, "statement"))
        else:
            kind = "floating fig" if plan.look.floating_figures else "fig"
            figure = Block(kind, CAPTION[plan.language].format(n=n), key, "statement", entry["fig"])
            # Text wraps around a floating figure only if the figure is laid out before it.
            blocks.insert(0 if plan.look.floating_figures else len(blocks), figure)
    return blocks


def _solution(plan: DocumentPlan, text: dict[str, Any], key: str) -> list[Block]:
    return solution_blocks(text, key, step_mark=plan.look.step_mark, answer_mark=ANSWER_LABEL[plan.language])


def table_rows(block: Block) -> list[list[str]]:
    """Get the cells of a table block, row by row; formulas stand between dollar signs."""
    return [row.split("\t") for row in block.text.split("\n")]


def _html(index: int, block: Block, svgs: dict[str, str]) -> str:
    if block.kind != "table":
        return block_html(index, block, svgs)
    rows = "".join(
        "<tr>" + "".join(f"<td>{inline_html(cell)}</td>" for cell in row) + "</tr>" for row in table_rows(block)
    )
    return f'<div class="table" data-index="{index}"><table>{rows}</table></div>'


def print_paper(plan: DocumentPlan, paper: Paper, svgs: dict[str, str], *, katex: Path, browser: str) -> Sheet:
    """Print a paper with the typefaces and furniture of its plan.

    Args:
        plan: The document.
        paper: From ``compose``.
        svgs: Drawings by figure id.
        katex: Folder ``dist`` of KaTeX 0.16.
        browser: Chromium command.

    Returns:
        The PDF and the places of all blocks.

    Raises:
        subprocess.CalledProcessError: If the browser fails.
        ValueError: If the page script did not report every block.
    """
    look, native = plan.look, plan.face.formulas == "KaTeX"
    page = TEMPLATE.read_text(encoding="utf-8")
    for mark, value in {
        "__LANG__": plan.language,
        "__WORDS__": plan.face.words,
        "__FORMULAS__": "math" if native else f'"{plan.face.formulas}"',
        "__OUTPUT__": "html" if native else "mathml",
        "__FONT_PX__": str(look.font_px),
        "__COLUMNS__": str(look.columns),
        "__HEAD__": html.escape(look.head),
        "__FOOT__": html.escape(look.foot),
        "__WATERMARK__": WATERMARK[plan.language] if plan.kind == "watermark" else "",
        "__BLOCKS__": "".join(_html(index, block, svgs) for index, block in enumerate(paper.blocks)),
    }.items():
        page = page.replace(mark, value)
    return print_page(page, len(paper.blocks), katex=katex, browser=browser)
