from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import cv2
import numpy as np
import pytest
from built_store import HOSTILE, RUN, fill

from physelite_build.records import Document, Page, Status
from physelite_build.report import write, write_report
from physelite_build.report.pictures import PictureShelf
from physelite_build.store import Aside, Stage, Store

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture
def html(store: Store, tmp_path: Path) -> str:
    return write_report(store, tmp_path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "fact",
    [
        "finished, but some items failed",
        "source.unknown_type",
        "notes&lt;b&gt;.doc is no picture",
        "page exam/p2 has no ink",
        "力学试卷 &amp; more",
        "抛体运动",
        "the text mentions it (0.93)",
        "lowest confidence 0.61",
        "a person decides",
        "check.bad_latex",
        "rights not stated",
        "0.7° of skew removed",
        "<msqrt>",
        'class="bad-latex"',
    ],
)
def test_report_shows(html: str, fact: str) -> None:
    assert fact in html


def test_text_of_scans_is_escaped(html: str) -> None:
    assert HOSTILE not in html
    assert "&lt;script&gt;" in html
    assert "<script" not in html


def test_report_names_nothing_outside_itself(html: str) -> None:
    assert not [url for url in re.findall(r'(?:src|href)="([^"]*)"', html) if not url.startswith(("data:image/", "#"))]
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", html))
    assert addresses <= {"http://www.w3.org/1998/Math/MathML"}


def test_doubtful_lines_are_marked(html: str) -> None:
    assert html.count(" doubtful") == 2


def test_each_region_is_drawn_with_its_number(html: str) -> None:
    assert html.count('vector-effect="non-scaling-stroke"') == 7


def test_same_store_gives_the_same_report(store: Store, tmp_path: Path) -> None:
    assert write_report(store, tmp_path / "a").read_bytes() == write_report(store, tmp_path / "b").read_bytes()


def test_report_of_an_empty_store_says_so(tmp_path: Path) -> None:
    empty = Store(tmp_path / "work")
    text = write_report(empty, tmp_path / "r.html").read_text(encoding="utf-8")
    empty.close()
    assert "Nothing has been built" in text


def test_page_that_only_was_ingested_is_shown(tmp_path: Path) -> None:
    made = Store(tmp_path / "work")
    fill(made)
    made.reset_state(keep_documents=made.all("document", Document))
    text = write_report(made, tmp_path / "r.html").read_text(encoding="utf-8")
    made.close()
    assert "Nothing has been read on this page" in text
    assert "did not get as far as problems" in text


def test_page_without_layout_shows_its_lines(store: Store, tmp_path: Path) -> None:
    store.run(
        Stage("layout", 1),
        "exam/p1",
        run_id=RUN,
        inputs=["y"],
        work=lambda: Aside(Status.FAILED, "layout.odd", "two pages"),
    )
    text = write_report(store, tmp_path).read_text(encoding="utf-8")
    assert "layout.odd" in text
    assert '<li class="line doubtful">' in text


def test_long_report_keeps_its_pictures_beside_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "MAX_INLINE_PAGES", 1)
    text = write_report(store, tmp_path).read_text(encoding="utf-8")
    named = set(re.findall(r'src="(report_files/[^"]+)"', text))
    assert named == {f"report_files/{path.name}" for path in (tmp_path / "report_files").iterdir()}
    assert "data:image" not in text


def test_pictures_of_an_earlier_report_are_removed(store: Store, tmp_path: Path) -> None:
    files = tmp_path / "report_files"
    files.mkdir()
    (files / f"{'a' * 16}.png").write_bytes(b"old")
    (files / "mine.txt").write_text("keep")
    write_report(store, tmp_path)
    assert [path.name for path in files.iterdir()] == ["mine.txt"]


def test_twenty_noisy_pages_stay_below_ten_megabytes(store: Store, tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(150, 256, size=(1754, 1240), dtype=np.uint8)
    grainy = cv2.GaussianBlur(noise, (0, 0), 1.0)
    src = PictureShelf(None).src(np.asarray(grainy, dtype=np.uint8), max_width_px=900)
    font_and_text = len(write_report(store, tmp_path).read_bytes())
    assert 20 * len(src) + font_and_text < 10_000_000


def test_pages_are_stored_with_their_ids(store: Store) -> None:
    assert list(store.all("page", Page)) == ["exam/p1", "exam/p2"]


# ---------------------------------------------------------------- in a browser
ROOT_ONLY = """<!DOCTYPE html><html><head><style>{style}</style></head>
<body style="margin:0;background:#fff"><div style="font-size:80px;padding:40px">{math}</div></body></html>"""


def screenshot(page: Path, target: Path, *, size: str) -> np.ndarray:
    options = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --hide-scrollbars --force-device-scale-factor=1"
    ).split()
    profile = f"--user-data-dir={target.parent / 'profile'}"
    command = [CHROMIUM, *options, profile, f"--screenshot={target}", f"--window-size={size}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    image = cv2.imread(str(target), cv2.IMREAD_GRAYSCALE)
    assert image is not None
    return np.asarray(image)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_root_sign_is_drawn_with_the_font_of_the_report(html: str, tmp_path: Path) -> None:
    """Bar and sign of a root hang together: one piece of ink, wide and tall. Without the font only the bar is drawn."""
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    root = re.search(r"<math[^>]*><mrow><mi>v</mi><mo>=</mo><msqrt>.*?</math>", html)
    assert style is not None
    assert root is not None
    page = tmp_path / "root.html"
    page.write_text(ROOT_ONLY.format(style=style[1], math=root[0]), encoding="utf-8")
    image = screenshot(page, tmp_path / "root.png", size="900,260")
    _, _, pieces, _ = cv2.connectedComponentsWithStats((image < 110).astype(np.uint8))
    widest = max(pieces[1:], key=lambda piece: piece[cv2.CC_STAT_WIDTH])
    assert (widest[cv2.CC_STAT_WIDTH] > 100, widest[cv2.CC_STAT_HEIGHT] > 40) == (True, True)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("inline_pages", [25, 1])
def test_report_shows_the_scan_in_a_browser(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inline_pages: int
) -> None:
    """The figure's frame colour and the page's print appear, whether pictures are inside the file or beside it."""
    monkeypatch.setattr(write, "MAX_INLINE_PAGES", inline_pages)
    page = write_report(store, tmp_path)
    page.write_text(
        page.read_text(encoding="utf-8").replace('<details class="panel">', "<details open>"), encoding="utf-8"
    )
    image = screenshot(page, tmp_path / "report.png", size="1400,4200")
    print_rows = (image[2400:, 100:700] < 60).sum(axis=1)
    assert (print_rows > 150).any(), "the ground line of the drawn figure is a long dark row"
