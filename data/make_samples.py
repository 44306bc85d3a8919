"""Rebuild the sample set from data/src: a maintainers' chore, not part of the demo.

Two documents (quiz-en, photo-zh) are typeset here. The page images of the other five are taken as given: they were
typeset by a browser with KaTeX from src/reused_problems.json and then degraded with fixed seeds (src/layouts.json says
how), and their truth files are kept as they are. What this script adds to them - the PDF, the blank frame, the zip -
is made anew. The same browser, fonts and KaTeX give the same bytes.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

from degrade import blank_fax_frame, flat_scan, hand_held_photo, moved_quad, upright_box
from PIL import Image, ImageSequence
from raster import draw_pages, fitted
from typeset import PX_PER_INCH, blocks_of, entries_of, page_texts, problem_truths, typeset

DATA = Path(__file__).resolve().parent
SAMPLES = DATA / "samples"
GIVEN = DATA / "src" / "given"
DPI = 150
"""Resolution at which typeset pages are drawn and their truth is given."""
KEPT_BYTES = 20_000
"""Length of the broken PDF: it has a header and part of a picture, but no page tree."""
FIXED_TIME = time.struct_time((2026, 1, 1, 0, 0, 0, 3, 1, 0))


def write_json(path: Path, value: Any) -> None:
    """Write a truth file the way all of them look: one indent, Chinese left readable."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def in_pixels(box: list[float]) -> list[float]:
    """Turn CSS pixels into pixels at 150 dpi."""
    return [round(value * DPI / PX_PER_INCH, 1) for value in box]


def make_typeset(
    doc_id: str, layout: dict[str, Any], items: dict[str, Any], svgs: dict[str, str], **tools: Any
) -> None:
    """Typeset one new document, as PDF or as a photo, and write its truth.

    Args:
        doc_id: Name of its folder.
        layout: Its entry in src/layouts.json.
        items: Problem texts by id and language.
        svgs: Drawings by figure id.
        **tools: ``template``, ``katex`` and ``browser`` for ``typeset``.
    """
    blocks = blocks_of(layout, items)
    sheet = typeset(layout, blocks, svgs, **tools)
    pages = draw_pages(sheet.pdf, DPI)
    problems = problem_truths(entries_of(layout, items), layout["language"], blocks, sheet)
    formulas = [
        {
            "page": place["page"],
            "bbox": in_pixels(formula["rect"]),
            "latex": formula["latex"],
            "display": block.kind == "eq",
            "problem": block.problem,
            "part": block.part,
        }
        for block, place in zip(blocks, sheet.places, strict=True)
        for formula in place["formulas"]
    ]
    for problem in problems:
        for region in problem["regions"]:
            region["bbox"] = in_pixels(region["bbox"])
        for figure in problem["figures"]:
            figure["bbox"] = fitted(in_pixels(figure["bbox"]), pages[figure["page"] - 1])

    path = SAMPLES / doc_id / layout["file"]
    path.parent.mkdir(parents=True, exist_ok=True)
    shots, degradation = pages, []
    if photo := layout.get("photo"):
        if len(pages) != 1:
            raise ValueError(
                f"{doc_id} is a photo of one page but takes {len(pages)}; make its font or figure smaller."
            )
        shot = hand_held_photo(pages[0], size=tuple(photo["size"]), seed=photo["seed"])
        boxed = [*formulas, *(box for p in problems for box in (*p["regions"], *p["figures"]))]
        for record in boxed:
            quad = moved_quad(record["bbox"], shot.matrix)
            record["bbox"] = upright_box(quad)
            if "caption" in record:
                record["quad"] = quad
        shots, degradation = [shot.image], [["hand_held_photo", photo]]
        exif = Image.Exif()
        exif[0x0112] = photo["exif_orientation"]
        stored = shot.image.transpose(Image.Transpose.ROTATE_90)
        stored.save(path, quality=photo["quality"], exif=exif, dpi=(DPI, DPI))
    else:
        path.write_bytes(sheet.pdf)
    texts = page_texts(blocks, sheet, len(pages))
    truth = {
        "doc_id": doc_id,
        "family": doc_id,
        "files": [layout["file"]],
        "language": layout["language"],
        "n_pages": len(pages),
        "source": "written for this project",
        "license": "CC0-1.0",
        "degradation": degradation,
        "format": "jpg" if photo else "pdf",
        "pages": [
            {
                "page": number,
                "source_page": number,
                "width": shot.width,
                "height": shot.height,
                "dpi": DPI,
                "file": layout["file"],
                "text": text,
            }
            for number, (shot, text) in enumerate(zip(shots, texts, strict=True), start=1)
        ],
        "problems": problems,
        "formulas": formulas,
    }
    write_json(SAMPLES / "truth" / f"{doc_id}.json", truth)


def make_scanned_pdf(doc_id: str, layout: dict[str, Any]) -> None:
    """Pack the given page images into a PDF that has no text, as a scanner does."""
    scan = layout["scan"]
    pages = [
        flat_scan(Image.open(path), blur_px=scan["blur_px"], noise=scan["noise"], seed=scan["seed"] + index)
        for index, path in enumerate(sorted((GIVEN / doc_id).glob("*.png")))
    ]
    path = SAMPLES / doc_id / layout["file"]
    path.parent.mkdir(parents=True, exist_ok=True)
    pages[0].save(
        path,
        save_all=True,
        append_images=pages[1:],
        resolution=DPI,
        quality=scan["quality"],
        creationDate=FIXED_TIME,
        modDate=FIXED_TIME,
    )


def make_fax(doc_id: str, layout: dict[str, Any]) -> None:
    """Add a blank third frame to the given fax."""
    with Image.open(GIVEN / doc_id / "fax.tif") as fax:
        frames = [frame.convert("1", dither=Image.Dither.NONE) for frame in ImageSequence.Iterator(fax)]
        dpi = fax.info["dpi"]
    frames.append(blank_fax_frame(frames[0].size, **layout["blank"]))
    path = SAMPLES / doc_id / layout["file"]
    path.parent.mkdir(parents=True, exist_ok=True)
    frames[0].save(path, save_all=True, append_images=frames[1:], compression="group4", dpi=dpi)


def make_zip(doc_id: str, layout: dict[str, Any]) -> None:
    """Pack the given page image into a zip file with fixed dates."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted((GIVEN / doc_id).iterdir()):
            archive.writestr(zipfile.ZipInfo(path.name, FIXED_TIME[:6]), path.read_bytes())
    path = SAMPLES / doc_id / layout["file"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed.getvalue())


def make_broken() -> None:
    """Cut the scanned PDF off, as an interrupted copy does."""
    whole = (SAMPLES / "training-en" / "Training problems.pdf").read_bytes()
    path = SAMPLES / "broken" / "interrupted copy.pdf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(whole[:KEPT_BYTES])


def read_sources() -> tuple[dict[str, Any], dict[str, str]]:
    """Read all problem texts and drawings of data/src, by id."""
    items, svgs = {}, {path.stem: path.read_text(encoding="utf-8") for path in (DATA / "src").glob("*.svg")}
    for item in json.loads((DATA / "src" / "reused_problems.json").read_text(encoding="utf-8")):
        items[item["id"]] = item
        svgs.update(item["figures"])
    items |= json.loads((DATA / "src" / "new_problems.json").read_text(encoding="utf-8"))["items"]
    return items, svgs


def main() -> int:
    """Rebuild the files of data/samples that are made by us and list them."""
    parser = argparse.ArgumentParser(
        description="Rebuild the sample documents and the truth of the typeset ones.",
        epilog="example: npm install katex@0.16.47 && python data/make_samples.py --katex node_modules/katex/dist",
    )
    parser.add_argument("--katex", type=Path, required=True, help="folder 'dist' of KaTeX 0.16.47")
    parser.add_argument("--browser", default="chromium", help="Chromium command (default: %(default)s)")
    options = parser.parse_args()
    if not (options.katex / "katex.min.js").is_file():
        parser.error(f"no katex.min.js in {options.katex}; pass the folder 'dist' of the npm package katex")

    layouts = json.loads((DATA / "src" / "layouts.json").read_text(encoding="utf-8"))
    items, svgs = read_sources()
    template = (DATA / "src" / "typeset.html").read_text(encoding="utf-8")
    for doc_id, layout in layouts["new"].items():
        make_typeset(doc_id, layout, items, svgs, template=template, katex=options.katex, browser=options.browser)
    make_scanned_pdf("training-en", layouts["reused"]["training-en"])
    make_fax("fax-zh", layouts["reused"]["fax-zh"])
    make_zip("homework-en", layouts["reused"]["homework-en"])
    make_broken()
    for path in sorted(SAMPLES.rglob("*")):
        if path.is_file():
            sys.stdout.write(f"{path.stat().st_size:8d}  {path.relative_to(SAMPLES)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
