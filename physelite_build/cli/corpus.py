"""Commands on a work folder: build it, look into it, take things out of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from physelite_build import console
from physelite_build.cli.app import PARTIAL, Json, Work, app
from physelite_build.config import load_settings
from physelite_build.errors import FatalError
from physelite_build.records import Document, Outcome, Page, Status
from physelite_build.store import Store
from physelite_build.summary import count_stages, refusals

__all__: list[str] = []


@app.command()
def build(
    scans: Annotated[list[Path], typer.Argument(help="Files and folders of scans.", exists=True, show_default=False)],
    work: Annotated[Path, typer.Option("-o", "--work", help="Work folder; made if missing.", show_default=False)],
    limit: Annotated[int | None, typer.Option(help="Read at most so many pages.", min=1)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would be read; write nothing.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try failed items again.")] = False,
    as_json: Json = False,
) -> None:
    """Read scans into candidate problems; do only what is missing.

    Example: physelite build papers/ extra.pdf -o WORK
    """
    settings = load_settings()
    if dry_run:
        _list_documents(scans, as_json=as_json)
        return
    from physelite_build.flows.environment import prepare

    if retry_failed:
        Store(work).forget_failures()
    with prepare(settings), console.stage_progress() as progress:
        from physelite_build.flows.build import run_build

        result = run_build(scans, work, settings, limit=limit, progress=progress)
    counts = count_stages(result.outcomes)
    if as_json:
        console.print_json(
            {
                "run_id": result.run_id,
                "status": result.status,
                "documents": result.documents,
                "pages": result.pages,
                "problems": result.problems,
                "stages": [count.row() for count in counts],
                "refused": [outcome.model_dump(mode="json") for outcome in refusals(result.outcomes)],
            }
        )
    else:
        console.print_stages(counts)
        console.print_refusals(result.outcomes, work=str(work))
        counted = f"{result.documents} documents, {result.pages} pages, {result.problems} problems"
        console.out.print(f"{result.status}: {counted} in {work}", markup=False)
        left_out = sum(outcome.code == "run.limit" for outcome in result.outcomes)
        if left_out:
            console.out.print(f"{left_out} pages were left out by --limit; build again without it to read them")
        if not result.documents:
            console.out.print("no scans were found; give files or folders with PDF, TIFF, PNG, JPEG, WebP, BMP or zip")
    if result.status != "complete":
        raise typer.Exit(PARTIAL)


def _list_documents(scans: list[Path], *, as_json: bool) -> None:
    from physelite_build.stages.discover import discover

    found = discover([path.resolve() for path in scans])
    rows = [(document.doc_id, len(document.files), document.files[0].name) for document in found.documents]
    if as_json:
        refused = [{"name": p.name, "code": p.code, "message": p.message} for p in found.problems]
        listed = [{"doc_id": d.doc_id, "files": [file.name for file in d.files]} for d in found.documents]
        console.print_json({"documents": listed, "refused": refused})
        return
    console.print_table("Would read", ("document", "files", "first file"), rows)
    for problem in found.problems:
        console.out.print(f"would refuse: {problem.code}: {problem.message}", markup=False)


@app.command()
def status(work: Work, as_json: Json = False) -> None:
    """Show the state of a work folder: documents, pages, problems, stages, last run.

    Example: physelite status WORK
    """
    store = Store(work, create=False)
    documents = store.all("document", Document)
    outcomes = store.outcomes()
    counts = count_stages(outcomes, fresh=False)
    last = store.last_run()
    ended = "never run" if last is None else last[2] or "interrupted: build again to go on"
    described = [_describe_document(store, document, outcomes) for document in documents.values()]
    if as_json:
        stages = [count.row() for count in counts]
        console.print_json({"last_run": last and last[0], "status": ended, "documents": described, "stages": stages})
        return
    columns = ("document", "files", "pages", "kept", "problems", "copy of")
    console.print_table("Documents", columns, [tuple(row.values()) for row in described])
    console.print_stages(counts)
    console.out.print(f"last run: {last[0] if last else '-'} ({ended})", markup=False)


def _describe_document(store: Store, document: Document, outcomes: list[Outcome]) -> dict[str, object]:
    from physelite_build.records import DocumentProblems
    from physelite_build.stages import order

    made = store.load(order.ANSWERS.name, document.copy_of or document.doc_id, DocumentProblems)
    pages = set(document.page_ids)
    kept = sum(1 for o in outcomes if o.stage == order.SCREEN.name and o.item_id in pages and o.status is Status.DONE)
    return {
        "document": document.doc_id,
        "files": len(document.files),
        "pages": len(document.page_ids),
        "kept": kept,
        "problems": len(made.problems) if made else 0,
        "copy_of": document.copy_of,
    }


@app.command()
def failures(
    work: Work,
    all_: Annotated[bool, typer.Option("--all", help="Also list what was put aside on purpose.")] = False,
    limit: Annotated[int, typer.Option(help="List at most so many.", min=1)] = 1000,
    as_json: Json = False,
) -> None:
    """List items that failed, with code, sentence and what to do.

    Example: physelite failures WORK --all
    """
    chosen = refusals(Store(work, create=False).outcomes(), failed_only=not all_)[:limit]
    if as_json:
        console.print_json([outcome.model_dump(mode="json") for outcome in chosen])
        return
    rows = [(o.stage, o.item_id, o.status.value, o.code, o.message) for o in chosen]
    console.print_table(None, ("stage", "item", "end", "code", "message"), rows)


@app.command()
def explain(
    work: Work,
    wanted: Annotated[
        str, typer.Argument(metavar="ID", help="Problem, public id, page or document.", show_default=False)
    ],
    as_json: Json = False,
) -> None:
    """Show where every field of a problem or page comes from: page, box, engine, confidence.

    Example: physelite explain WORK 'training-zh#1'
    """
    from physelite_build.explain import explain as look_up

    found = look_up(Store(work, create=False), wanted)
    if as_json:
        console.print_json(found)
        return
    for name, value in found.items():
        if isinstance(value, str | int | float) and value != "":
            console.out.print(f"{name}: {value}", markup=False)
    for name in ("pages", "problems"):
        if name in found:
            console.out.print(f"{name}: {', '.join(found[name]) or '-'}", markup=False)
    columns = ("field", "page", "box", "engine", "confidence")
    fields = [
        tuple(" ".join(map(str, f[c])) if c == "box" else str(f[c] if f[c] is not None else "-") for c in columns)
        for f in found["fields"]
    ]
    if fields:
        console.print_table("Where it stands", columns, fields)
    for name in ("parts", "answers", "pairs", "findings", "outcomes"):
        for item in found.get(name, ()):
            told = ", ".join(f"{key} {value}" for key, value in item.items() if value not in (None, "", False))
            console.out.print(f"{name.removesuffix('s')}: {told}", markup=False)


@app.command()
def page(
    work: Work,
    page_id: Annotated[str, typer.Argument(help="Page id, for example training-zh/p1.", show_default=False)],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="PNG to write; default PAGE.png here.")] = None,
) -> None:
    """Draw a page with its regions, kinds and reading order.

    Example: physelite page WORK training-zh/p1 -o page.png
    """
    from physelite_build.report import draw_page

    target = output or Path(page_id.replace("/", "-") + ".png")
    target.write_bytes(draw_page(Store(work, create=False), page_id))
    console.out.print(str(target), markup=False)


@app.command()
def keep(
    work: Work,
    page_id: Annotated[str, typer.Argument(help="Page that screening put aside.", show_default=False)],
    reason: Annotated[str, typer.Option(help="Why it should be read.")] = "kept by hand",
    author: Annotated[str, typer.Option(help="Who says so.")] = "maintainer",
) -> None:
    """Keep a page that was put aside; the next build reads it.

    Example: physelite keep WORK fax-zh/p3 --reason 'faint pencil'
    """
    from physelite_build.machine import KEEP_FIELD
    from physelite_build.records import Correction

    store = Store(work, create=False)
    found = store.get("page", page_id, Page)
    if found is None:
        raise FatalError("page.unknown", f"there is no page {page_id!r}; physelite status {work} lists the documents")
    ended = store.outcomes(stage="screen", item_id=page_id)
    if ended and ended[0].status is Status.DONE:
        console.out.print(f"{page_id} was not put aside; there is nothing to overrule", markup=False)
        return
    now = datetime.now(UTC).isoformat(timespec="seconds")
    store.correct(
        Correction(subject=page_id, field=KEEP_FIELD, value=found.image_sha256, author=author, reason=reason, at=now)
    )
    console.out.print(f"{page_id} will be read by the next build", markup=False)


@app.command()
def export(
    work: Work,
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.", show_default=False)],
    form: Annotated[str, typer.Option("--format", help="What to write: pages.")] = "pages",
) -> None:
    """Write everything that was read as JSON lines, one document each.

    Example: physelite export WORK --format pages -o pages.jsonl
    """
    from physelite_build.export import page_records, to_json_lines

    if form != "pages":
        raise FatalError("export.format", f"no format {form!r}; known: pages")
    text = to_json_lines(page_records(Store(work, create=False)))
    output.write_text(text, encoding="utf-8")
    console.out.print(f"{text.count(chr(10))} documents in {output}", markup=False)


@app.command()
def report(
    work: Work,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="HTML file; default WORK/report.html.")] = None,
) -> None:
    """Write one HTML page to look at: pages with regions, problems with formulas, refusals with reasons.

    Example: physelite report WORK
    """
    from physelite_build.report import write_report

    target = write_report(Store(work, create=False), output or work / "report.html")
    console.out.print(str(target), markup=False)
