"""How a problem text becomes a page: blocks, then HTML, then a PDF and the place of every part of it.

The browser lays the page out once; what it reports about boxes is what it prints, because the page is built from
fixed-size sheets without any print-only rule (src/typeset.html). Used by make_samples.py only.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Block", "Sheet", "blocks_of", "page_texts", "problem_truths", "typeset"]

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


@dataclass(frozen=True, slots=True)
class Sheet:
    """A printed document and where its blocks ended up."""

    pdf: bytes
    places: tuple[dict[str, Any], ...] = field(repr=False)
    """One for each block, same order: page, rect, svg, formulas[latex, rect]; CSS pixels of the page, origin top left."""


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
        step = 0
        for entry in item["solution"]:
            if "eq" in entry:
                blocks.append(Block("eq", entry["eq"], problem, "solution"))
                continue
            step += 1
            mark = "①②③④⑤⑥⑦⑧⑨"[step - 1] if zh else f"Step {step}. "
            blocks.append(Block("step", mark + entry["step"], problem, "solution"))
        blocks.append(Block("answer", ("答案：" if zh else "Answer: ") + item["final_answer"], problem, "answer"))
    return blocks


def _block_html(index: int, block: Block, svgs: dict[str, str]) -> str:
    if block.kind == "eq":
        latex = html.escape(block.text, quote=True)
        return f'<div class="eq" data-index="{index}" data-latex="{latex}"></div>'
    pieces = re.split(r"\$([^$]*)\$", block.text)
    inner = "".join(
        f'<span class="math" data-latex="{html.escape(piece, quote=True)}"></span>'
        if odd % 2
        else f'<span class="words">{html.escape(piece)}</span>'
        for odd, piece in enumerate(pieces)
    )
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
        "__BLOCKS__": "".join(_block_html(index, block, svgs) for index, block in enumerate(blocks)),
    }.items():
        filled = filled.replace(mark, value)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page_path, pdf_path = Path(folder, "page.html"), Path(folder, "page.pdf")
        page_path.write_text(filled, encoding="utf-8")
        Path(folder, "katex").symlink_to(katex.resolve(), target_is_directory=True)
        dom = _run_browser(browser, page_path, "--dump-dom").decode("utf-8")
        _run_browser(browser, page_path, "--no-pdf-header-footer", f"--print-to-pdf={pdf_path}")
        pdf = re.sub(rb"D:\d{14}[+-]\d\d'\d\d'", FIXED_DATE, pdf_path.read_bytes())
    found = re.search(r'<script id="measured"[^>]*>(.*?)</script>', dom, re.DOTALL)
    places = json.loads(found.group(1)) if found else []
    if [place["index"] for place in places] != list(range(len(blocks))):
        raise ValueError(
            f"The page script reported {len(places)} of {len(blocks)} blocks; look at the page in a browser."
        )
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
        text = f"$${block.text}$$" if block.kind == "eq" else block.text
        text = re.sub(rf"(?<=[{HAN}]) (?=\$)|(?<=\$) (?=[{HAN}])", "", text)
        lines[place["page"] - 1].append(text)
    return ["\n".join(page) for page in lines]


def _joined(blocks: list[Block]) -> str:
    return "\n".join(f"$${b.text}$$" if b.kind == "eq" else b.text for b in blocks)


def _steps(blocks: list[Block]) -> list[str]:
    steps: list[list[Block]] = []
    for block in blocks:
        if block.kind == "step":
            bare = re.sub(r"^([①-⑨]|Step \d+\. )", "", block.text)
            steps.append([Block("step", bare)])
        else:
            steps[-1].append(block)
    return [_joined(step) for step in steps]


def _regions(blocks: list[Block], places: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    boxes: dict[tuple[int, str], list[list[float]]] = {}
    for block, place in zip(blocks, places, strict=True):
        for rect in (place["rect"], place["svg"]):
            if rect:
                boxes.setdefault((place["page"], block.part or ""), []).append(rect)
    for (page, part), rects in boxes.items():
        left, top, right, bottom = zip(*rects, strict=True)
        yield {"page": page, "part": part, "column": 1, "bbox": [min(left), min(top), max(right), max(bottom)]}


def problem_truths(layout: dict[str, Any], blocks: list[Block], sheet: Sheet) -> list[dict[str, Any]]:
    """Describe each problem in the truth format; boxes are still CSS pixels and figures still lack fitted boxes.

    Args:
        layout: Entry of src/layouts.json.
        blocks: From ``blocks_of``.
        sheet: From ``typeset``.

    Returns:
        One dictionary for each problem, in printed order.
    """
    problems = []
    for number, item_id in enumerate(layout["items"], start=1):
        mine = [(b, p) for b, p in zip(blocks, sheet.places, strict=True) if b.problem == f"p{number}"]
        own = [b for b, _ in mine]
        solution = [b for b in own if b.kind in {"step", "eq"}]
        title = own[0].text.split("）")[-1] if layout["language"] == "zh" else own[0].text.split(") ", 1)[1]
        problems.append(
            {
                "id": f"p{number}",
                "source_item": item_id,
                "number": str(number),
                "title": title,
                "language": layout["language"],
                "points": layout["points"][number - 1],
                "statement": _joined([b for b in own if b.kind == "para"]),
                "solution": _joined(solution),
                "steps": _steps(solution),
                "final_answer": re.sub(r"^(答案：|Answer: )", "", own[-1].text),
                "figures": [
                    {"id": f"f{number}", "role": "statement", "caption": b.text, "page": p["page"], "bbox": p["svg"]}
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
