"""Make test pages of many kinds, with exact truth, from the problems of pages/src: for measuring, never for shipping.

The halves ``tune`` and ``held-out`` share no problem and no set of typefaces (pages/plan.py). Read the held-out half only to
measure, or it stops telling anything. The same seed, browser, fonts and KaTeX give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from degrade import upright_box
from pages.compose import Paper, compose, print_paper, table_rows
from pages.damage import RECIPES, Capture, Move, Place, save
from pages.plan import HALVES, KINDS, DocumentPlan, plan_documents
from PIL import Image
from raster import draw_pages, fitted
from typeset import PX_PER_INCH, Sheet, page_texts, problem_truths

SOURCES = Path(__file__).resolve().parent / "pages" / "src"
SEED = 31
"""With it both halves have mechanics, electricity and heat, a table, and choices."""
EDGE_POINTS = 9
"""Points followed along each edge of a box, because a curled page bends edges."""


def read_sources() -> tuple[dict[str, Any], dict[str, str]]:
    """Read the problem texts and the drawings, by id."""
    items = json.loads((SOURCES / "problems.json").read_text(encoding="utf-8"))["items"]
    return items, {path.stem: path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.svg"))}


def moved_box(box: list[float], move: Move) -> tuple[list[float], list[list[float]]]:
    """Follow a box through a move.

    Args:
        box: left, top, right, bottom on the clean page.
        move: Where points of the page went.

    Returns:
        The upright box around the moved outline, and the four moved corners, clockwise from the one that was top left;
        both rounded to a tenth of a pixel.
    """
    left, top, right, bottom = box
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    steps = np.linspace(0, 1, EDGE_POINTS)[:, None]
    outline = np.concatenate([a + steps * (b - a) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)])
    around, quad = move(outline).round(1).tolist(), move(corners).round(1).tolist()
    return upright_box(around), quad


def truth_of(
    plan: DocumentPlan,
    paper: Paper,
    sheet: Sheet,
    pages: list[Image.Image],
    capture: Capture,
    files: list[str],
) -> dict[str, Any]:
    """Describe a document in the truth format of data/README.md.

    Args:
        plan: The document.
        paper: What was printed.
        sheet: Where it was printed, CSS pixels.
        pages: The clean pages, for fitting the boxes of drawings.
        capture: The input pictures and where the clean pages went.
        files: File name of each input picture.

    Returns:
        The content of truth.json.
    """
    dpi = RECIPES[plan.kind].dpi
    problems = problem_truths(paper.entries, plan.language, paper.blocks, sheet)
    placed = list(zip(paper.blocks, sheet.places, strict=True))
    for problem in problems:
        problem["tables"] = [
            {"part": "statement", "page": place["page"], "bbox": place["rect"], "rows": table_rows(block)}
            for block, place in placed
            if block.kind == "table" and block.problem == problem["id"]
        ]
    formulas = [
        {
            "page": place["page"],
            "bbox": formula["rect"],
            "latex": formula["latex"],
            "display": block.kind == "eq",
            "problem": block.problem,
            "part": block.part,
        }
        for block, place in placed
        for formula in place["formulas"]
    ]
    figures = [figure for problem in problems for figure in problem["figures"]]
    regions = [region for problem in problems for key in ("regions", "tables") for region in problem[key]]
    for record in (*formulas, *figures, *regions):
        page = record["page"] - 1
        box = [value * dpi / PX_PER_INCH for value in record["bbox"]]
        if "caption" in record:
            box = fitted(box, pages[page])
        record["page"] = capture.places[page].picture + 1
        record["bbox"], quad = moved_box(box, capture.places[page].move)
        if "caption" in record and quad[0] != record["bbox"][:2]:
            record["quad"] = quad
    for problem in problems:
        problem["pages"] = sorted({capture.places[page - 1].picture + 1 for page in problem["pages"]})
    return {
        "doc_id": plan.doc_id,
        "family": plan.doc_id,
        "files": list(dict.fromkeys(files)),
        "language": plan.language,
        "n_pages": len(capture.pictures),
        "source": "written for this project",
        "license": "CC0-1.0",
        "degradation": [[plan.kind, {"seed": plan.seed}]],
        "format": RECIPES[plan.kind].suffix[1:],
        "note": note_of(plan),
        "pages": page_truths(page_texts(paper.blocks, sheet, len(pages)), capture, files, dpi),
        "problems": problems,
        "formulas": formulas,
    }


def page_truths(texts: list[str], capture: Capture, files: list[str], dpi: int) -> list[dict[str, Any]]:
    """Describe each input picture; a spread has the texts of both its pages and the number of the first."""
    records = []
    for index, (picture, file) in enumerate(zip(capture.pictures, files, strict=True)):
        shown = [page for page, place in enumerate(capture.places) if place.picture == index]
        records.append(
            {
                "page": index + 1,
                "source_page": shown[0] + 1,
                "width": picture.width,
                "height": picture.height,
                "dpi": dpi,
                "file": file,
                "text": "\n".join(texts[page] for page in shown),
            }
        )
    return records


def note_of(plan: DocumentPlan) -> str:
    """Say in a line what a document looks like."""
    look = plan.look
    return "; ".join(
        [
            plan.kind,
            f"words {plan.face.words}",
            f"formulas {plan.face.formulas}",
            f"headings {look.heading.full.strip()}",
            f"{look.columns} column{'s' * (look.columns > 1)}",
            f"solutions {look.answers}",
            *(["floating figures"] * look.floating_figures),
            *(["exam rules"] * look.front_matter),
        ]
    )


def make(
    plan: DocumentPlan, out: Path, items: dict[str, Any], svgs: dict[str, str], *, katex: Path, browser: str
) -> dict[str, Any]:
    """Make one document and its truth.

    Args:
        plan: What to make.
        out: Folder of its half; the document's folder is made in it.
        items: Problem texts by id.
        svgs: Drawings by figure id.
        katex: Folder ``dist`` of KaTeX 0.16.
        browser: Chromium command.

    Returns:
        The truth that was written.

    Raises:
        ValueError: If the page script failed or a drawing has no ink.
    """
    recipe, paper = RECIPES[plan.kind], compose(plan, items)
    sheet = print_paper(plan, paper, svgs, katex=katex, browser=browser)
    pages = draw_pages(sheet.pdf, recipe.dpi)
    folder = out / plan.doc_id
    folder.mkdir(parents=True, exist_ok=True)
    if recipe.capture is None:
        capture = Capture(pages, [Place(index, lambda points: points) for index in range(len(pages))])
        files = ["paper.pdf"] * len(pages)
        (folder / files[0]).write_bytes(sheet.pdf)
    else:
        capture = recipe.capture(pages, np.random.default_rng(plan.seed))
        files = save(capture.pictures, folder, recipe)
    truth = truth_of(plan, paper, sheet, pages, capture, files)
    text = json.dumps(truth, ensure_ascii=False, indent=1) + "\n"
    (folder / "truth.json").write_text(text, encoding="utf-8")
    return truth


def main() -> int:
    """Make the documents that were asked for and list them."""
    parser = argparse.ArgumentParser(
        description="Make test pages of many kinds with exact truth: OUT/<half>/<document>/{files, truth.json}.",
        epilog="example: python data/make_pages.py --katex node_modules/katex/dist --half tune --out fresh",
    )
    parser.add_argument("--katex", type=Path, required=True, help="folder 'dist' of KaTeX 0.16.47")
    parser.add_argument("--out", type=Path, required=True, help="folder for the documents")
    parser.add_argument("--half", choices=[*HALVES, "both"], default="tune", help="default: %(default)s")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--seed", type=int, default=SEED, help="of all draws (default: %(default)s)")
    parser.add_argument("--browser", default="chromium", help="Chromium command (default: %(default)s)")
    options = parser.parse_args()
    if not (options.katex / "katex.min.js").is_file():
        parser.error(f"no katex.min.js in {options.katex}; pass the folder 'dist' of the npm package katex")

    items, svgs = read_sources()
    for plan in plan_documents(list(items), seed=options.seed):
        if options.half not in (plan.half, "both") or plan.kind not in options.kinds:
            continue
        truth = make(plan, options.out / plan.half, items, svgs, katex=options.katex, browser=options.browser)
        counts = f"{truth['n_pages']} pages, {len(truth['problems'])} problems, {len(truth['formulas'])} formulas"
        sys.stdout.write(f"{plan.doc_id}: {counts}; {truth['note']}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
