"""Commands on the weights of formula engines: what is there, fetch what is missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TransferSpeedColumn
from rich.progress import Progress as Bars

from physelite_build import console
from physelite_build.cli.app import Json, app
from physelite_build.config import load_settings
from physelite_build.engines import weights
from physelite_build.errors import FatalError

__all__: list[str] = []

models_app = typer.Typer(no_args_is_help=True, help="Weights of the formula engines: list them, fetch them.")
app.add_typer(models_app, name="models")


@models_app.command("list")
def models_list(as_json: Json = False) -> None:
    """List what each formula engine needs, where it lies, and whether it is there.

    Example: physelite models list
    """
    settings = load_settings()
    files = [
        file
        for source in weights.SOURCES.values()
        for file in weights.listed(
            source, settings.formula.weights or weights.default_folder(settings.cache, source.engine)
        )
    ]
    if as_json:
        rows = [
            {
                "engine": file.engine,
                "file": file.file.name,
                "needed": file.file.needed,
                "url": file.file.url,
                "path": str(file.path),
                "present": file.sha256 is not None,
                "size_bytes": file.size_bytes,
                "sha256": file.sha256,
                "locked": file.locked,
            }
            for file in files
        ]
        console.print_json(rows)
        return
    columns = ("engine", "file", "present", "MB", "sha256", "where")
    table = [
        (
            file.engine,
            file.file.name if file.file.needed else f"{file.file.name} (optional)",
            "no" if file.sha256 is None else "yes" if file.locked else "yes, not fetched by us",
            "-" if file.size_bytes is None else f"{file.size_bytes / 1e6:.1f}",
            (file.sha256 or "-")[:16],
            str(file.path),
        )
        for file in files
    ]
    console.print_table(None, columns, table)


@models_app.command("fetch")
def models_fetch(
    engine: Annotated[str, typer.Argument(help="Engine, for example pix2tex.", show_default=False)],
    origin: Annotated[
        Path | None,
        typer.Option("--from", help="Copy from this folder instead of downloading.", exists=True, file_okay=False),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print source and size; write nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Fetch the official weights of an engine into the cache folder.

    Their publishers state no digests: the one of the first download is recorded, and later ones are compared with it.

    Example: physelite models fetch pix2tex --dry-run
    """
    source = weights.SOURCES.get(engine)
    if source is None:
        raise FatalError("engine.unknown", f"no weights are known for {engine!r}; known: {', '.join(weights.SOURCES)}")
    folder = weights.default_folder(load_settings().cache, engine)
    console.out.print(f"{engine}: {source.publisher}, into {folder}", markup=False)
    for file in source.files:
        size = "" if file.size_mb is None or origin else f", {file.size_mb} MB"
        if origin is None or (origin / file.name).exists():
            console.out.print(f"  {origin / file.name if origin else file.url}{size}", markup=False)
    if dry_run:
        return
    if origin is not None:
        fetched = weights.copy_in(source, origin, folder)
    else:
        if not yes:
            _confirm()
        with _bars() as progress:
            fetched = weights.fetch(source, folder, progress=progress)
    for listed in fetched:
        if listed.sha256:
            console.out.print(f"{listed.path}: sha256 {listed.sha256}, recorded", markup=False)


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise FatalError("weights.unconfirmed", "nothing is downloaded unasked; add --yes")
    typer.confirm("Download?", abort=True)


@contextmanager
def _bars() -> Iterator[weights.Progress | None]:
    """Show a bar per file on a terminal, nothing elsewhere."""
    if not console.err.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    tasks: dict[str, TaskID] = {}
    with Bars(*columns, console=console.err) as bars:

        def progress(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done, total=total)

        yield progress
