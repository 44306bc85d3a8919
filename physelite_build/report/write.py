"""Write the report of a build: one HTML file that needs no network and no script. Content comes from ``collect.py``."""

from __future__ import annotations

import base64
import importlib.util
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

from physelite_build import __version__
from physelite_build.errors import FatalError
from physelite_build.records import Document, Page
from physelite_build.report.collect import DOUBTFUL, document_view
from physelite_build.report.pictures import PictureShelf
from physelite_build.report.summary import summarise

if TYPE_CHECKING:
    from physelite_build.store import Store

__all__ = ["write_report"]

MAX_INLINE_PAGES = 25
"""Reports of more pages keep their pictures in a folder beside them; below, the file stays under about 10 MB."""


def write_report(store: Store, out: Path) -> Path:
    """Write what a build made, for people.

    Args:
        store: Work folder of a build.
        out: An ``.html`` file, or a folder that gets ``report.html``.

    Returns:
        The file. Up to 25 pages it holds its pictures itself; beyond, they lie in ``<name>_files`` beside it.

    Raises:
        FatalError: ``report.no_font`` if the ziamath package or its font is gone.
    """
    target = out if out.suffix == ".html" else out / "report.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    files = target.with_name(f"{target.stem}_files")
    page_count = len(store.all("page", Page))
    shelf = PictureShelf(files if page_count > MAX_INLINE_PAGES else None)
    documents = [
        document_view(store, document, anchor=f"d{number}", shelf=shelf)
        for number, document in enumerate(store.all("document", Document).values(), start=1)
    ]
    html = (
        _environment()
        .get_template("report.html.j2")
        .render(
            summary=summarise(store),
            documents=documents,
            anchors={shown.problem.key: shown.anchor for view in documents for shown in view.problems},
            font=_math_font(),
            version=__version__,
            doubtful=DOUBTFUL,
            is_long=page_count > MAX_INLINE_PAGES,
        )
    )
    _replace(target, html)
    shelf.tidy(files)
    return target


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("physelite_build.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["seconds"] = _seconds
    return environment


def _seconds(elapsed_s: float) -> str:
    if elapsed_s < 0.05:
        return "<0.1"
    return f"{elapsed_s:.1f}" if elapsed_s < 100 else f"{elapsed_s:,.0f}"


def _math_font() -> str:
    """Return STIX Two Math (OFL) as base64; without a font for mathematics browsers drop root signs."""
    # Found without importing ziamath, which would warn about its own use of importlib.resources.
    package = importlib.util.find_spec("ziamath")
    path = Path(package.origin or "").with_name("fonts") / "STIXTwoMath-Regular.ttf" if package else None
    if path is None or not path.is_file():
        raise FatalError("report.no_font", "the font STIX Two Math is missing; install ziamath again")
    return base64.b64encode(path.read_bytes()).decode()


def _replace(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old or the new one, never half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8", errors="replace"))
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
