"""Which pages are put aside, and why."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from physelite_build.blobs import Blobs
from physelite_build.stages.discover.documents import discover
from physelite_build.stages.ingest.read_source import IngestOptions, read_source
from physelite_build.stages.screen.judge import screen
from physelite_build.stages.screen.repeat import PageHash, page_hash, repeated, same_page

SCANS = Path(__file__).resolve().parents[3] / "shared" / "scans"
WIDTH, HEIGHT = 1240, 1754  # A4 at 150 DPI

Pixels = np.ndarray


def paper(tone: int = 255) -> Image.Image:
    return Image.new("L", (WIDTH, HEIGHT), tone)


def words(seed: int, count: int) -> list[str]:
    dice = random.Random(seed)
    return ["".join(dice.choice("etaoinshrdlu") for _ in range(dice.randint(2, 9))) for _ in range(count)]


def text_page(text: list[str], *, size: int = 22, ink: int = 0, tone: int = 255) -> Pixels:
    """Return a page with flowing text, 22 px being 10.5 points."""
    page = paper(tone)
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(size)
    x, y = 120.0, 140
    for word in text:
        length = draw.textlength(word + " ", font=font)
        if x + length > WIDTH - 120:
            x, y = 120.0, y + round(1.5 * size)
        draw.text((x, y), word, font=font, fill=ink)
        x += length
    return np.asarray(page)


def rescanned(page: Pixels, *, seed: int = 0, turn_deg: float = 0.6, scale: float = 1.01, quality: int = 75) -> Pixels:
    """Return the page as another scan of the same sheet: turned, shifted, blurred, paler and noisy."""
    dice = np.random.default_rng(seed)
    height, width = page.shape
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), turn_deg, scale)
    turn[:, 2] += dice.uniform(-0.01, 0.01, 2) * width
    moved = cv2.GaussianBlur(cv2.warpAffine(page, turn, (width, height), borderValue=255), (0, 0), 0.6)
    noisy = np.clip(moved * 0.9 + 10 + dice.normal(0, 4, moved.shape), 0, 255).astype(np.uint8)
    return cv2.imdecode(cv2.imencode(".jpg", noisy, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], cv2.IMREAD_GRAYSCALE)


# ---------------------------------------------------------------- blank
def dirty() -> Iterator[tuple[str, Pixels]]:
    """Yield pages without content, by what is on them."""
    dice = np.random.default_rng(3)
    yield "white", np.asarray(paper())
    yield "grey paper", np.asarray(paper(180))
    yield "black: the lid was open", np.asarray(paper(5))
    slope = np.linspace(160, 240, WIDTH)[None, :].repeat(HEIGHT, 0)
    yield "uneven light", slope.astype(np.uint8)
    grain = np.clip(235 + dice.normal(0, 6, (HEIGHT, WIDTH)), 0, 255).astype(np.uint8)
    for quality in (30, 80):
        data = cv2.imencode(".jpg", grain, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
        yield f"JPEG noise at quality {quality}", cv2.imdecode(data, cv2.IMREAD_GRAYSCALE)
    yield "coarse grain", np.clip(200 + dice.normal(0, 15, (HEIGHT, WIDTH)), 0, 255).astype(np.uint8)
    specks = paper()
    draw = ImageDraw.Draw(specks)
    for _ in range(40):
        x, y, r = dice.integers(0, WIDTH), dice.integers(0, HEIGHT), dice.integers(1, 4)
        draw.ellipse((x, y, x + r, y + r), fill=40)
    yield "specks", np.asarray(specks)
    border = paper(245)
    draw = ImageDraw.Draw(border)
    draw.rectangle((0, 0, 60, HEIGHT), fill=0)
    draw.polygon([(0, HEIGHT), (WIDTH, HEIGHT), (WIDTH, HEIGHT - 90), (0, HEIGHT - 20)], fill=15)
    yield "black borders", np.asarray(border)
    holes = paper()
    draw = ImageDraw.Draw(holes)
    for y in (600, 1070):
        draw.ellipse((50, y, 86, y + 36), fill=20)
    yield "punch holes", np.asarray(holes)
    streak = paper()
    ImageDraw.Draw(streak).line((700, 0, 702, HEIGHT), fill=60, width=3)
    yield "a streak of dirt", np.asarray(streak)
    colour = np.full((HEIGHT, WIDTH, 3), (205, 235, 245), np.uint8)
    yield "cream paper", colour


@pytest.mark.parametrize(("what", "page"), list(dirty()), ids=lambda value: value if isinstance(value, str) else "")
def test_page_without_content_is_blank(what: str, page: Pixels) -> None:
    verdict = screen(page)
    assert (verdict.keep, verdict.code) == (False, "page.blank"), what
    assert verdict.message


# ---------------------------------------------------------------- kept
@pytest.mark.parametrize("size", [14, 22, 40])
@pytest.mark.parametrize("tone", [255, 190])
def test_page_of_text_is_kept(size: int, tone: int) -> None:
    assert screen(text_page(words(1, 120), size=size, tone=tone)).keep


@pytest.mark.parametrize("text", [["v = 3.2 m/s"], ["Answer:", "12", "J"], words(2, 12)])
def test_last_page_with_a_few_words_is_kept(text: list[str]) -> None:
    verdict = screen(text_page(text))
    assert verdict.keep
    assert 0 < verdict.ink < 0.01


def test_page_with_one_drawing_is_kept() -> None:
    page = paper()
    ImageDraw.Draw(page).polygon([(300, 500), (700, 500), (700, 200)], outline=0, width=3)
    assert screen(np.asarray(page)).keep


def test_white_text_on_black_is_kept() -> None:
    assert screen(255 - text_page(words(1, 60))).keep


def test_text_between_black_borders_is_kept() -> None:
    page = text_page(words(1, 20)).copy()
    page[:, :60] = page[-60:] = 0
    assert screen(page).keep


def test_text_over_show_through_is_kept() -> None:
    other = cv2.GaussianBlur(text_page(words(5, 200))[:, ::-1], (0, 0), 2)
    page = np.minimum(text_page(words(1, 20)), (255 - (255 - other.astype(float)) * 0.15).astype(np.uint8))
    assert screen(page).keep


def test_pale_but_sharp_printing_is_kept() -> None:
    assert screen(text_page(words(1, 120), size=26, ink=170)).keep


def test_page_of_thousands_of_dots_is_kept_in_no_time() -> None:
    page = np.asarray(paper()).copy()
    for row in range(7):
        for column in range(7):
            page[60 + row : -60 : 12, 60 + column : -60 : 12] = 0
    started = time.process_time()
    assert screen(page).keep
    assert time.process_time() - started < 0.5


def test_ink_is_the_share_of_dark_pixels() -> None:
    page = np.asarray(paper()).copy()
    page[800:810, 200:1000] = 0
    assert screen(page).ink == pytest.approx(10 * 800 / page.size, rel=0.1)


# ---------------------------------------------------------------- other reasons
@pytest.mark.parametrize("share", [0.12, 0.15, 0.2])
def test_only_the_other_side_shining_through_is_put_aside(share: float) -> None:
    other = cv2.GaussianBlur(text_page(words(5, 200))[:, ::-1], (0, 0), 2).astype(float)
    page = (245 - (255 - other) * share).astype(np.uint8)
    assert screen(page).code == "page.show_through"


@pytest.mark.parametrize("size", [(299, 590), (59, 1000), (200, 283), (10, 10), (1, 1)])
def test_tiny_page_is_too_small(size: tuple[int, int]) -> None:
    assert screen(np.zeros(size, np.uint8)).code == "page.too_small"


def test_whole_page_below_60_dpi_is_too_small() -> None:
    page = cv2.resize(text_page(words(1, 300)), (413, 585), interpolation=cv2.INTER_AREA)
    assert screen(page, dpi=50).code == "page.too_small"
    assert screen(page).code == "page.too_small"


def test_small_cutting_with_readable_letters_is_kept() -> None:
    assert screen(text_page(words(1, 60))[120:520, 100:700]).keep


def test_strip_of_a_page_is_kept() -> None:
    assert screen(text_page(words(1, 60))[120:260, 100:1000]).keep


@pytest.mark.parametrize("light", [0.3, 0.2])
def test_dark_photo_is_no_negative(light: float) -> None:
    page = text_page(words(1, 200))
    desk = np.full((page.shape[0] + 300, page.shape[1] + 300), 90, np.uint8)
    desk[150:-150, 150:-150] = page
    assert screen((desk * light).astype(np.uint8)).keep


def test_white_letters_are_read_as_a_negative() -> None:
    assert screen(255 - text_page(words(1, 200))).keep


def test_row_of_weak_print_is_kept() -> None:
    page = cv2.GaussianBlur(text_page(words(1, 8)), (0, 0), 0.8).astype(float)
    assert screen((250 - (255 - page) * 0.35).astype(np.uint8)).keep


def test_title_page_is_a_cover() -> None:
    page = paper()
    draw = ImageDraw.Draw(page)
    for y, size, line in ((400, 70, "PHYSICS OLYMPIAD"), (560, 52, "Theory"), (700, 44, "July 2019")):
        draw.text((WIDTH / 2, y), line, font=ImageFont.load_default(size), fill=0, anchor="mm")
    assert screen(np.asarray(page)).code == "page.cover"


def test_short_page_in_large_letters_is_no_cover() -> None:
    assert screen(text_page(words(1, 14), size=56)).keep


def test_image_without_pixels_is_an_error_of_the_caller() -> None:
    with pytest.raises(ValueError, match="no pixels"):
        screen(np.zeros((0, 5), np.uint8))


# ---------------------------------------------------------------- repeated pages
@pytest.fixture(scope="module")
def sheet() -> Pixels:
    return text_page(words(1, 220))


def test_same_sheet_scanned_twice_is_the_same_page(sheet: Pixels) -> None:
    for seed, turn_deg in enumerate((-0.8, 0.0, 0.6)):
        again = rescanned(sheet, seed=seed, turn_deg=turn_deg)
        assert same_page(sheet, again)
        assert same_page(again, sheet)


def test_same_sheet_at_another_resolution_is_the_same_page(sheet: Pixels) -> None:
    assert same_page(sheet, cv2.resize(sheet, None, fx=1.5, fy=1.5, interpolation=cv2.INTER_CUBIC))


def test_pages_of_the_same_layout_are_different(sheet: Pixels) -> None:
    assert not same_page(sheet, text_page(words(2, 220)))


@pytest.mark.parametrize(("old", "new"), [("3", "8"), ("1", "7"), ("2.5", "3.5"), ("A", "B")])
def test_one_changed_sign_makes_two_pages(old: str, new: str) -> None:
    first, second = (text_page([*words(1, 100), sign, *words(2, 100)]) for sign in (old, new))
    assert not same_page(first, second)
    assert not same_page(first, rescanned(second))


def test_nearly_blank_pages_are_not_the_same_page() -> None:
    assert not same_page(text_page(["12"]), text_page(["12"]))
    blank = np.asarray(paper())
    assert not same_page(blank, blank)


def test_repeated_names_the_earlier_page(sheet: Pixels) -> None:
    images = {"d/p1": sheet, "d/p2": text_page(words(2, 220)), "d/p3": rescanned(sheet), "d/p4": sheet}
    pages = [PageHash(page_id, page_hash(image)) for page_id, image in images.items()]
    assert repeated(pages, images.__getitem__) == {"d/p3": "d/p1", "d/p4": "d/p1"}


def test_unlike_pages_are_told_apart_without_loading_them() -> None:
    upper = text_page(words(1, 40))
    drawing = paper()
    ImageDraw.Draw(drawing).ellipse((200, 300, 1000, 1500), outline=0, width=40)
    pages = [PageHash("a", page_hash(upper)), PageHash("b", page_hash(np.asarray(drawing)))]

    def load(page_id: str) -> Pixels:
        raise AssertionError(page_id)

    assert repeated(pages, load) == {}


def test_hash_is_1024_bits_and_repeatable(sheet: Pixels) -> None:
    assert len(page_hash(sheet)) == 256
    assert page_hash(sheet) == page_hash(sheet.copy())


# ---------------------------------------------------------------- real pages
@pytest.fixture(scope="module")
def shared_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Pixels, float | None]]:
    if not SCANS.is_dir():
        pytest.skip("the shared folder with development scans is not beside the checkout")
    blobs = Blobs(tmp_path_factory.mktemp("blobs"))
    pages = {}
    for document in discover([SCANS]).documents:
        for file in document.files:
            if file.name.startswith("src/"):
                continue
            decoded = read_source(file.read(IngestOptions()), name=file.name, blobs=blobs, options=IngestOptions())
            for image in decoded.pages.images:
                pages[f"{file.name}#{image.frame}"] = (blobs.get_image(image.sha256), image.dpi)
    return pages


@pytest.mark.shared
def test_all_shared_pages_are_kept(shared_pages: dict[str, tuple[Pixels, float | None]]) -> None:
    verdicts = {name: screen(image, dpi=dpi) for name, (image, dpi) in shared_pages.items()}
    assert len(verdicts) == 32
    assert {name: verdict.code for name, verdict in verdicts.items() if not verdict.keep} == {}


@pytest.mark.shared
def test_no_two_shared_pages_are_the_same(shared_pages: dict[str, tuple[Pixels, float | None]]) -> None:
    pages = [PageHash(name, page_hash(image)) for name, (image, _) in shared_pages.items()]
    assert repeated(pages, lambda name: shared_pages[name][0]) == {}


@pytest.mark.shared
def test_page_is_screened_within_200_cpu_ms(shared_pages: dict[str, tuple[Pixels, float | None]]) -> None:
    started = time.process_time()
    for image, dpi in shared_pages.values():
        screen(image, dpi=dpi)
        page_hash(image)
    assert (time.process_time() - started) / len(shared_pages) < 0.2
