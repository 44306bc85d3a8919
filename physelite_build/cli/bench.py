"""Commands that measure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from physelite_build import console
from physelite_build.cli.app import Json, app
from physelite_build.store import Store

__all__: list[str] = []

bench_app = typer.Typer(no_args_is_help=True, help="Measure accuracy and speed against known truth.")
app.add_typer(bench_app, name="bench")


@bench_app.command("pages")
def bench_pages(
    truth: Annotated[Path, typer.Argument(help="Folder with truth files.", exists=True)] = Path("data/samples/truth"),
    work: Annotated[Path, typer.Option("-w", "--work", help="Work folder of a build of the same documents.")] = Path(
        "WORK"
    ),
    predictions: Annotated[
        Path | None, typer.Option(help="JSON lines of physelite export instead of a folder.")
    ] = None,
    by_document: Annotated[bool, typer.Option("--by-document", help="Also a row per document.")] = False,
    as_json: Json = False,
) -> None:
    """Measure what was read against known truth, beside a plain baseline on the same text lines.

    Example: physelite build data/samples -o WORK; physelite bench pages data/samples/truth --work WORK
    """
    from physelite_build.bench import as_dict, as_tables, run_pages_bench
    from physelite_build.bench.baseline import baseline_records
    from physelite_build.export import page_records

    if predictions is not None:
        bench = run_pages_bench(predictions, truth)
    else:
        store = Store(work, create=False)
        bench = run_pages_bench(list(page_records(store)), truth, list(baseline_records(store)))
    if as_json:
        console.print_json(as_dict(bench))
        return
    for table in as_tables(bench, by_document=by_document):
        console.out.print(table)
