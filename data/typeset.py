"""How a problem text becomes a page: blocks, then HTML, then a PDF and the place of every part of it.

The browser lays the page out once; what it reports about boxes is what it prints, because the page is built from
fixed-size sheets without any print-only rule (src/typeset.html). What a truth file says about text is told here too.
Used by make_samples.py; pages/compose.py adds other looks.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

__all__ = [
    "FIXED_DATE",
    "PX_PER_INCH",
    "Block",
    "Entry",
    "Sheet",
    "block_html",
    "blocks_of",
    "entries_of",
    "inline_html",
    "page_texts",
    "print_page",
    "problem_truths",
    "solution_blocks",
    "typeset",
]

MEASURE = Path(__file__).resolve().parent / "src" / "measure.js"
"""Page script that reports places; a template holds ``__MEASURE__`` where it goes."""

CIRCLED = "①②③④⑤⑥⑦⑧⑨"
"""Marks of steps."""

PX_PER_INCH = 96
"""CSS pixels per inch, by definition of the unit."""
BROWSER_LIMIT_S = 120
"""A page takes about two seconds; longer means that the browser hangs."""
FIXED_DATE = b"D:20260101000000+00'00'"
"""Stands in the PDF instead of the day of the run, so that two runs give the same bytes."""
HAN = "\u3000-\u303f\u4e00-\u9fff\uff00-\uffef"


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, formula, figure or heading; ``problem`` is None for the title of the document."""

    kind: str
    text: str
    problem: str | None = None
    part: str | None = None
    figure: str | None = None
    label: str = ""
    """Printed before the text and no part of a bare step or answer: ``Step 1. ``."""

    @property
    def printed(self) -> str:
        """What stands on the page, formulas between dollar signs."""
        return f"$${self.text}$$" if self.kind == "eq" else self.label + self.text


@dataclass(frozen=True, slots=True)
class Entry:
    """A problem as one document prints it."""

    problem: str
    """Key of its blocks: ``p1``."""
    source_item: str
    number: str
    title: str | None
    """None if the heading has no title."""
    points: int | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A printed document and where its blocks ended up."""

    pdf: bytes
    places: tuple[dict[str, Any], ...] = field(repr=False)
    """One for each block, same order: page, column, rect, svg, formulas[latex, rect]; CSS pixels of the page, origin top left."""


def blocks_of(layout: dict[str, Any], items: dict[str, Any]) -> list[Block]:
    """Put the problems of a document into the order and the words they are printed in.

    Args:
        layout: One entry of src/layouts.json: title, language, points and items (keys of ``items``).
        items: Problem texts by id, then by language.

    Returns:
        Blocks in reading order.
    """
    zh = layout["language"] == "zh"
    blocks = [Block("title", layout["title"])]
    for number, (item_id, points) in enumerate(zip(layout["items"], layout["points"], strict=True), start=1):
        item, problem = items[item_id][layout["language"]], f"p{number}"
        head = (
            f"第{number}题（{points}分）{item['title']}"
            if zh
            else f"Problem {number} ({points} points) {item['title']}"
        )
        blocks.append(Block("heading", head, problem, "statement"))
        for entry in item["statement"]:
            if isinstance(entry, dict):
                caption = entry.get("caption") or f"图{number}"
                blocks.append(Block("fig", caption, problem, "statement", entry["fig"]))
            else:
                blocks.append(Block("para", entry, problem, "statement"))
        blocks.append(Block("solution-title", "【解答】" if zh else "Solution", problem, "solution"))
        step_mark, answer_mark = ("{circled}", "答案：") if zh else ("Step {n}. ", "Answer: ")
        blocks += solution_blocks(item, problem, step_mark=step_mark, answer_mark=answer_mark)
    return blocks


def solution_blocks(text: dict[str, Any], problem: str, *, step_mark: str, answer_mark: str) -> list[Block]:
    """Put a solution into steps, display formulas and the final answer.

    Args:
        text: ``solution``, a list of ``{"step": ...}`` and ``{"eq": ...}``, and ``final_answer``.
        problem: Key of the problem.
        step_mark: What is printed before a step, with ``{n}`` or ``{circled}`` for its number.
        answer_mark: What is printed before the answer.

    Returns:
        Blocks in reading order.
    """
    blocks: list[Block] = []
    step = 0
    for entry in text["solution"]:
        if "eq" in entry:
            blocks.append(Block("eq", entry["eq"], problem, "solution"))
            continue
        step += 1
        mark = step_mark.format(n=step, circled=CIRCLED[step - 1])
        blocks.append(Block("step", entry["step"], problem, "solution", label=mark))
    return [*blocks, Block("answer", text["final_answer"], problem, "answer", label=answer_mark)]


def entries_of(layout: dict[str, Any], items: dict[str, Any]) -> list[Entry]:
    """List the problems of a document, numbered from 1, with the arguments of ``blocks_of``."""
    return [
        Entry(f"p{number}", item_id, str(number), items[item_id][layout["language"]]["title"], points)
        for number, (item_id, points) in enumerate(zip(layout["items"], layout["points"], strict=True), start=1)
    ]


def inline_html(text: str) -> str:
    """Turn words with ``$...$`` into spans that the page script fills and measures."""
    pieces = re.split(r"\$([^$]*)\$", text)
    return "".join(
        f'<span class="math" data-latex="{html.escape(piece, quote=True)}"></span>'
        if odd % 2
        else f'<span class="words">{html.escape(piece)}</span>'
        for odd, piece in enumerate(pieces)
    )


def block_html(index: int, block: Block, svgs: dict[str, str]) -> str:
    """Write one block for the page script, which finds it by its index.

    Args:
        index: Position of the block in its document.
        block: The block.
        svgs: Drawings by figure id.

    Returns:
        A ``div`` whose class is the kind of the block.
    """
    if block.kind == "eq":
        latex = html.escape(block.text, quote=True)
        return f'<div class="eq" data-index="{index}" data-latex="{latex}"></div>'
    inner = inline_html(block.printed)
    if block.figure is not None:
        inner = f'{svgs[block.figure]}<div class="caption">{inner}</div>'
    return f'<div class="{block.kind}" data-index="{index}">{inner}</div>'


def _run_browser(browser: str, page_path: Path, *options: str) -> bytes:
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
        f"--user-data-dir={page_path.parent / 'profile'}",
        "--virtual-time-budget=10000",
        *options,
        page_path.as_uri(),
    ]
    return subprocess.run(command, check=True, capture_output=True, timeout=BROWSER_LIMIT_S).stdout


def typeset(
    layout: dict[str, Any], blocks: list[Block], svgs: dict[str, str], *, template: str, katex: Path, browser: str
) -> Sheet:
    """Print blocks to PDF and report where each of them is.

    Args:
        layout: Entry of src/layouts.json; title, language, font_px, fig_width_px and footer are used.
        blocks: From ``blocks_of``.
        svgs: Drawings by figure id.
        template: Text of src/typeset.html.
        katex: Folder ``dist`` of KaTeX 0.16.
        browser: Chromium command.

    Returns:
        The PDF, with fixed dates, and one place for each block.

    Raises:
        subprocess.CalledProcessError: If the browser fails.
        ValueError: If the page script did not report every block.
    """
    filled = template
    for mark, value in {
        "__LANG__": layout["language"],
        "__TITLE__": html.escape(layout["title"]),
        "__FONT_PX__": str(layout["font_px"]),
        "__FIG_WIDTH_PX__": str(layout["fig_width_px"]),
        "__FOOTER__": layout["footer"],
        "__BLOCKS__": "".join(block_html(index, block, svgs) for index, block in enumerate(blocks)),
    }.items():
        filled = filled.replace(mark, value)
    return print_page(filled, len(blocks), katex=katex, browser=browser)


def print_page(page_html: str, n_blocks: int, *, katex: Path, browser: str) -> Sheet:
    """Print a filled template to PDF and read what its script measured.

    Args:
        page_html: Page that finds KaTeX under ``katex/``; ``__MEASURE__`` is replaced by src/measure.js.
        n_blocks: Blocks that the script must report.
        katex: Folder ``dist`` of KaTeX 0.16.
        browser: Chromium command.

    Returns:
        The PDF, with fixed dates, and one place for each block, in order of their indexes.

    Raises:
        subprocess.CalledProcessError: If the browser fails.
        ValueError: If the page script did not report every block.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page_path, pdf_path = Path(folder, "page.html"), Path(folder, "page.pdf")
        page_path.write_text(page_html.replace("__MEASURE__", MEASURE.read_text(encoding="utf-8")), encoding="utf-8")
        Path(folder, "katex").symlink_to(katex.resolve(), target_is_directory=True)
        dom = _run_browser(browser, page_path, "--dump-dom").decode("utf-8")
        _run_browser(browser, page_path, "--no-pdf-header-footer", f"--print-to-pdf={pdf_path}")
        pdf = re.sub(rb"D:\d{14}[+-]\d\d'\d\d'", FIXED_DATE, pdf_path.read_bytes())
    found = re.search(r'<script id="measured"[^>]*>(.*?)</script>', dom, re.DOTALL)
    places = sorted(json.loads(found.group(1)) if found else [], key=lambda place: place["index"])
    if [place["index"] for place in places] != list(range(n_blocks)):
        raise ValueError(f"The page script reported {len(places)} of {n_blocks} blocks; look at the page in a browser.")
    return Sheet(pdf, tuple(places))


def page_texts(blocks: list[Block], sheet: Sheet, n_pages: int) -> list[str]:
    """Write down the reference text of each page.

    Args:
        blocks: From ``blocks_of``.
        sheet: From ``typeset``.
        n_pages: Pages of the document.

    Returns:
        One text for each page, a line for each block; formulas as LaTeX, display ones between ``$$``.
    """
    lines: list[list[str]] = [[] for _ in range(n_pages)]
    for block, place in zip(blocks, sheet.places, strict=True):
        text = re.sub(rf"(?<=[{HAN}]) (?=\$)|(?<=\$) (?=[{HAN}])", "", block.printed)
        lines[place["page"] - 1].append(text)
    return ["\n".join(page) for page in lines]


def _joined(blocks: list[Block]) -> str:
    return "\n".join(block.printed for block in blocks)


def _steps(blocks: list[Block]) -> list[str]:
    steps: list[list[Block]] = []
    for block in blocks:
        if block.kind == "step":
            steps.append([replace(block, label="")])
        else:
            steps[-1].append(block)
    return [_joined(step) for step in steps]


def _regions(blocks: list[Block], places: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    boxes: dict[tuple[int, int, str], list[list[float]]] = {}
    for block, place in zip(blocks, places, strict=True):
        for rect in (place["rect"], place["svg"]):
            if rect:
                boxes.setdefault((place["page"], place["column"], block.part or ""), []).append(rect)
    for (page, column, part), rects in boxes.items():
        left, top, right, bottom = zip(*rects, strict=True)
        yield {"page": page, "part": part, "column": column, "bbox": [min(left), min(top), max(right), max(bottom)]}


def problem_truths(entries: list[Entry], language: str, blocks: list[Block], sheet: Sheet) -> list[dict[str, Any]]:
    """Describe each problem in the truth format; boxes are still CSS pixels and figures still lack fitted boxes.

    Args:
        entries: The problems in printed order.
        language: ``zh`` or ``en``.
        blocks: All blocks of the document. Kinds para and choice are the statement, step and eq the solution.
        sheet: Where they are.

    Returns:
        One dictionary for each problem. A solution or answer that is not printed is None.
    """
    problems = []
    for entry in entries:
        mine = [(b, p) for b, p in zip(blocks, sheet.places, strict=True) if b.problem == entry.problem]
        own = [b for b, _ in mine]
        solution = [b for b in own if b.kind in {"step", "eq"}]
        problems.append(
            {
                "id": entry.problem,
                "source_item": entry.source_item,
                "number": entry.number,
                "title": entry.title,
                "language": language,
                "points": entry.points,
                "statement": _joined([b for b in own if b.kind in {"para", "choice"}]),
                "solution": _joined(solution) or None,
                "steps": _steps(solution),
                "final_answer": next((b.text for b in own if b.kind == "answer"), None),
                "figures": [
                    {
                        "id": f"f{entry.problem[1:]}",
                        "role": "statement",
                        "caption": b.text,
                        "page": p["page"],
                        "bbox": p["svg"],
                    }
                    for b, p in mine
                    if b.figure is not None
                ],
                "tables": [],
                "regions": list(_regions(own, [p for _, p in mine])),
                "pages": sorted({p["page"] for _, p in mine}),
                "complete": True,
            }
        )
    return problems
