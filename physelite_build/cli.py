"""The command line: parses and prints, decides nothing. Results go to stdout, progress and messages to stderr.

Exit codes: 0 good, 1 unexpected error, 2 wrong usage, 3 finished with failed items, 4 a check failed.
"""

from __future__ import annotations

import logging
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from physelite_build import __version__, console
from physelite_build.config import Settings, load_settings
from physelite_build.errors import FatalError, PhysEliteError
from physelite_build.records import Document, Outcome, Page, Severity, Status
from physelite_build.store import Store
from physelite_build.summary import count_stages, refusals

if TYPE_CHECKING:
    from physelite_build.publish.rows import Assembled

__all__ = ["app", "main"]

UNEXPECTED, USAGE, PARTIAL, CHECK_FAILED, INTERRUPTED = 1, 2, 3, 4, 130

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Turn scanned physics papers into a checked, versioned dataset with its own scorer.",
)
release_app = typer.Typer(no_args_is_help=True, help="Make a dataset folder out of the corpus, and check one.")
bench_app = typer.Typer(no_args_is_help=True, help="Measure accuracy and speed against known truth.")
app.add_typer(release_app, name="release")
app.add_typer(bench_app, name="bench")

Work = Annotated[Path, typer.Argument(help="Work folder of a build.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def main() -> None:
    """Run the command line; turn our own errors into one sentence and an exit code."""
    try:
        app()
    except PhysEliteError as error:
        _stop(f"{error.code}: {error.message}", error, USAGE if isinstance(error, FatalError) else PARTIAL)
    except KeyboardInterrupt as error:
        _stop("interrupted; run the same command again, it goes on where it stopped", error, INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - the border to the user
        _stop(f"unexpected {type(error).__name__}: {error}; run again with --verbose and report it", error, UNEXPECTED)


def _stop(sentence: str, error: BaseException, code: int) -> NoReturn:
    if logging.getLogger().isEnabledFor(logging.INFO):
        raise error
    console.err.print(f"error: {sentence}", markup=False, style="red")
    raise SystemExit(code) from error


@app.callback()
def _common(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show log messages and tracebacks.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit
    logging.basicConfig(
        level=logging.INFO if verbose else logging.CRITICAL, format="%(levelname)s %(name)s: %(message)s"
    )
    if not verbose:
        warnings.simplefilter("ignore")


# ---------------------------------------------------------------- build and its results
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
    columns = ("field", "page", "box", "engine", "confidence")
    fields = [
        tuple(" ".join(map(str, f[c])) if c == "box" else str(f[c] if f[c] is not None else "-") for c in columns)
        for f in found["fields"]
    ]
    console.print_table("Where it stands", columns, fields)
    for name in ("answers", "figures", "pairs", "findings", "outcomes"):
        for item in found.get(name, ()):
            console.out.print(f"{name}: {item}", markup=False)


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


# ---------------------------------------------------------------- release
@release_app.command("check")
def release_check(
    work: Work,
    version: Annotated[str, typer.Option(help="Version to be.")] = "0.1.0",
    waive: Annotated[str | None, typer.Option(help="Reason why unreviewed problems may go out.")] = None,
    as_json: Json = False,
) -> None:
    """List what keeps problems out of a release; writes nothing but public ids.

    Example: physelite release check WORK --waive 'demo'
    """
    from physelite_build.publish.rows import assemble

    made = assemble(Store(work, create=False), version=version, waiver=waive)
    findings = [*made.held_back, *made.warnings]
    if as_json:
        console.print_json([finding.model_dump(mode="json") for finding in findings])
    else:
        console.print_findings(findings, limit=1000)
        console.out.print(f"{len(made.rows)} problems may go out, {len(made.held_back)} findings hold others back")
    if made.held_back:
        raise typer.Exit(CHECK_FAILED)


@release_app.command("build")
def release_build(
    work: Work,
    version: Annotated[str, typer.Option(help="Version: major.minor.patch.")] = "0.1.0",
    waive: Annotated[
        str | None, typer.Option(help="Reason why unreviewed problems may go out; it is published.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a release of the same version.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would go out; write nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Write WORK/releases/VERSION: a dataset folder with its scorer, and validate it as an outsider would.

    Example: physelite release build WORK --version 0.1.0 --waive 'demo, not reviewed'
    """
    from physelite_build.publish import build_release, run_scorer, verify_release
    from physelite_build.publish.rows import assemble, describe

    settings = load_settings()
    store = Store(work, create=False)
    made = assemble(store, version=version, waiver=waive)
    if dry_run:
        _print_assembled(made)
        return
    meta = describe(
        settings,
        engines=_fingerprints(store, settings),
        documents=[d for d in store.all("document", Document).values() if d.copy_of is None],
        waiver=waive,
    )
    summary = build_release(
        work / "releases" / version,
        version=version,
        rows=made.rows,
        images=store.blobs.get,
        meta=meta,
        scorer_package=Path(__file__).parent / "scorer",
        overwrite=overwrite,
    )
    run = run_scorer(summary.folder)
    findings = verify_release(summary.folder, scorer_run=run)
    if as_json:
        console.print_json(
            {
                "release": summary.model_dump(mode="json"),
                "held_back": [finding.model_dump(mode="json") for finding in made.held_back],
                "findings": [finding.model_dump(mode="json") for finding in findings],
                "scorer_exit_code": run.exit_code,
            }
        )
    else:
        _print_assembled(made)
        console.out.print(run.table, markup=False)
        console.print_findings(findings)
        size = f"{summary.files} files, {summary.size_bytes / 1e6:.1f} MB"
        console.out.print(f"release {version}: {summary.problems} problems, {size} in {summary.folder}", markup=False)
    if any(finding.severity is Severity.BLOCK for finding in findings):
        raise typer.Exit(CHECK_FAILED)


def _print_assembled(made: Assembled) -> None:
    console.print_findings(made.held_back)
    held = len({finding.subject for finding in made.held_back})
    console.out.print(f"{len(made.rows)} problems go out, {held} are held back, {len(made.warnings)} warnings")


def _fingerprints(store: Store, settings: Settings) -> tuple[str, ...]:
    from physelite_build.machine import Machine

    return Machine(store, settings, run_id="release").fingerprints()


@release_app.command("verify")
def release_verify(
    folder: Annotated[Path, typer.Argument(help="Release folder.", exists=True)], as_json: Json = False
) -> None:
    """Check a finished release: digests, offline loading, pictures, paths, and the bundled scorer's self-check.

    Example: physelite release verify WORK/releases/0.1.0
    """
    from physelite_build.publish import run_scorer, verify_release

    run = run_scorer(folder)
    findings = verify_release(folder, scorer_run=run)
    if as_json:
        console.print_json([finding.model_dump(mode="json") for finding in findings])
    else:
        console.out.print(run.table, markup=False)
        console.print_findings(findings, limit=1000)
        console.out.print("good" if not findings else f"{len(findings)} findings")
    if findings:
        raise typer.Exit(CHECK_FAILED)


# ---------------------------------------------------------------- settings and health
@app.command()
def config() -> None:
    """Print the settings in force.

    Example: physelite config
    """
    console.print_json(load_settings().model_dump(mode="json"))


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check the installation: which OpenCV is loaded, engines, fonts, dependencies.

    Example: physelite doctor
    """
    from physelite_build.doctor import examine

    findings = examine(load_settings())
    if as_json:
        console.print_json([{"check": f.check, "good": f.good, "detail": f.detail} for f in findings])
    else:
        console.print_table(
            None, ("check", "good", "detail"), [(f.check, "yes" if f.good else "NO", f.detail) for f in findings]
        )
    if not all(f.good for f in findings):
        raise typer.Exit(CHECK_FAILED)


@app.command()
def ui(
    port: Annotated[int, typer.Option(help="Port on the loopback interface.", min=1, max=65535)] = 4200,
) -> None:
    """Start a Prefect server that shows the runs; stop it with Ctrl-C.

    Example: physelite ui --port 4200
    """
    from physelite_build.flows.environment import serve_ui

    console.out.print(f"http://127.0.0.1:{port}")
    serve_ui(load_settings(), port=port)
