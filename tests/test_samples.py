"""The shipped samples are complete, readable, licensed and agree with their truth."""

import io
import json
import tomllib
import zipfile
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image, ImageOps, ImageSequence

DATA = Path(__file__).resolve().parents[1] / "data"
SAMPLES = DATA / "samples"
EXPECTED = json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))
DOC_IDS = sorted(EXPECTED["documents"])
TRUTH = {d: json.loads((SAMPLES / "truth" / f"{d}.json").read_text(encoding="utf-8")) for d in DOC_IDS}
FOLDERS = sorted(p.name for p in SAMPLES.iterdir() if p.is_dir() and p.name != "truth")
MOST_BYTES = 6_000_000
MOST_INK_ON_BLANK = 0.001
"""Share of dark pixels; the specks of the blank fax page cover about 20 parts in a million."""
EDGE_PX = 4
"""Boxes of unskewed drawings are fitted to the ink; blur may take a pixel or two."""
INK = 150
"""Grey values below it count as ink."""


def pages_of(path: Path, dpi: float) -> list[Image.Image]:
    """Open a sample file as a viewer does, PDF pages drawn at the given resolution."""
    if path.suffix == ".pdf":
        with pypdfium2.PdfDocument(path) as document:
            return [page.render(scale=dpi / 72).to_pil() for page in document]
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return [Image.open(io.BytesIO(archive.read(name))) for name in sorted(archive.namelist())]
    with Image.open(path) as image:
        return [ImageOps.exif_transpose(frame).convert("L") for frame in ImageSequence.Iterator(image)]


def document_pages(doc_id: str) -> list[Image.Image]:
    truth = TRUTH[doc_id]
    return [page for name in truth["files"] for page in pages_of(SAMPLES / doc_id / name, truth["pages"][0]["dpi"])]


def problem_keys() -> set[str]:
    return {f"{doc_id}#{problem['number']}" for doc_id in DOC_IDS for problem in TRUTH[doc_id]["problems"]}


def item_of(key: str) -> tuple[str, str]:
    doc_id, number = key.split("#")
    (problem,) = (p for p in TRUTH[doc_id]["problems"] if p["number"] == number)
    return problem["source_item"], problem["language"]


def test_every_folder_is_a_described_document_or_holds_the_broken_file():
    assert sorted([*DOC_IDS, "broken"]) == FOLDERS


@pytest.mark.parametrize("doc_id", DOC_IDS)
def test_files_of_a_document_are_the_ones_in_its_truth(doc_id):
    found = sorted(p.name for p in (SAMPLES / doc_id).iterdir() if p.name != "source.toml")
    assert found == sorted(TRUTH[doc_id]["files"]) == sorted(EXPECTED["documents"][doc_id]["files"])


@pytest.mark.parametrize("doc_id", DOC_IDS)
def test_page_counts_and_sizes_match_the_truth(doc_id):
    sizes = [page.size for page in document_pages(doc_id)]
    assert sizes == [(page["width"], page["height"]) for page in TRUTH[doc_id]["pages"]]


@pytest.mark.parametrize("doc_id", DOC_IDS)
def test_expected_counts_match_the_truth(doc_id):
    truth, expected = TRUTH[doc_id], EXPECTED["documents"][doc_id]
    assert expected["pages"] == truth["n_pages"] == len(truth["pages"])
    assert expected["problems"] == len(truth["problems"])
    assert expected["figures"] == sum(len(problem["figures"]) for problem in truth["problems"])


@pytest.mark.parametrize("doc_id", DOC_IDS)
def test_boxes_lie_inside_their_pages(doc_id):
    truth = TRUTH[doc_id]
    parts = [part for problem in truth["problems"] for part in (*problem["figures"], *problem["regions"])]
    for record in [*parts, *truth["formulas"]]:
        left, top, right, bottom = record["bbox"]
        page = truth["pages"][record["page"] - 1]
        assert 0 <= left < right <= page["width"]
        assert 0 <= top < bottom <= page["height"]


@pytest.mark.parametrize("doc_id", DOC_IDS)
def test_boxes_of_upright_figures_touch_ink_on_all_four_sides(doc_id):
    pages = document_pages(doc_id)
    upright = (f for problem in TRUTH[doc_id]["problems"] for f in problem["figures"] if "quad" not in f)
    for figure in upright:
        box = pages[figure["page"] - 1].convert("L").crop([round(value) for value in figure["bbox"]])
        sides = {
            "left": (0, 0, EDGE_PX, box.height),
            "top": (0, 0, box.width, EDGE_PX),
            "right": (box.width - EDGE_PX, 0, box.width, box.height),
            "bottom": (0, box.height - EDGE_PX, box.width, box.height),
        }
        bare = [side for side, strip in sides.items() if box.crop(strip).getextrema()[0] >= INK]
        assert not bare, f"{figure['id']} has no ink at its {bare}"


def test_blank_page_has_almost_no_ink():
    for page_id in EXPECTED["blank_pages"]:
        doc_id, number = page_id.split("/p")
        histogram = document_pages(doc_id)[int(number) - 1].convert("L").histogram()
        assert sum(histogram[:128]) / sum(histogram) < MOST_INK_ON_BLANK
        assert not [p for p in TRUTH[doc_id]["problems"] if int(number) in p["pages"]]


def test_broken_file_is_refused():
    (broken,) = EXPECTED["broken_files"]
    with pytest.raises(pypdfium2.PdfiumError):
        pypdfium2.PdfDocument(SAMPLES / broken["file"])


def test_digital_pdf_has_text_and_scanned_pdf_has_none():
    lengths = {}
    for name in ("quiz-en/winter-quiz.pdf", "training-en/Training problems.pdf"):
        with pypdfium2.PdfDocument(SAMPLES / name) as document:
            lengths[name] = [len(page.get_textpage().get_text_range()) for page in document]
    assert min(lengths["quiz-en/winter-quiz.pdf"]) > 1000
    assert lengths["training-en/Training problems.pdf"] == [0, 0, 0]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_document_is_licensed_and_listed(folder):
    notes = tomllib.loads((SAMPLES / folder / "source.toml").read_text(encoding="utf-8"))
    assert notes["rights"] == "CC0-1.0"
    assert notes["title"]
    rows = [line for line in (DATA / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert [row for row in rows if row.startswith(f"| {folder} |") and row.endswith("| CC0-1.0 |")]


def test_set_is_small():
    assert sum(p.stat().st_size for p in SAMPLES.rglob("*") if p.is_file()) < MOST_BYTES
    assert 10 <= sum(d["pages"] for d in EXPECTED["documents"].values()) - len(EXPECTED["blank_pages"]) <= 14


def test_expected_names_only_problems_that_exist():
    named = {key for pair in EXPECTED["duplicates"] + EXPECTED["translations"] for key in pair}
    assert named | set(EXPECTED["plain_numbers"]) <= problem_keys()
    assert set(EXPECTED["answers"]) == problem_keys()


def test_pairs_are_exactly_the_problems_with_equal_source():
    keys = sorted(problem_keys())
    alike = {(a, b) for a in keys for b in keys if a < b and item_of(a)[0] == item_of(b)[0]}
    same_language = {pair for pair in alike if item_of(pair[0])[1] == item_of(pair[1])[1]}
    assert {tuple(sorted(pair)) for pair in EXPECTED["duplicates"]} == same_language
    assert {tuple(sorted(pair)) for pair in EXPECTED["translations"]} == alike - same_language


def test_plain_numbers_are_printed_as_expected():
    assert len(EXPECTED["plain_numbers"]) >= 6
    for key in EXPECTED["plain_numbers"]:
        (answer,) = EXPECTED["answers"][key]
        doc_id, number = key.split("#")
        (printed,) = (p["final_answer"] for p in TRUTH[doc_id]["problems"] if p["number"] == number)
        assert printed == f"${answer['name']}={answer['value']}\\,\\mathrm{{{answer['unit']}}}$"
