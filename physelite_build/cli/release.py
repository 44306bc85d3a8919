"""Commands on releases: what may go out, write a dataset folder, check one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from physelite_build import console, scorer
from physelite_build.cli.app import CHECK_FAILED, Json, Work, app
from physelite_build.config import Settings, load_settings
from physelite_build.records import Document, Severity
from physelite_build.store import Store

if TYPE_CHECKING:
    from physelite_build.publish.rows import Assembled

__all__: list[str] = []

release_app = typer.Typer(no_args_is_help=True, help="Make a dataset folder out of the corpus, and check one.")
app.add_typer(release_app, name="release")


@release_app.command("check")
def release_check(
    work: Work,
    version: Annotated[str, typer.Option(help="Version to be.")] = "0.1.0",
    waive: Annotated[str | None, typer.Option(help="Reason why unreviewed problems may go out.")] = None,
    as_json: Json = False,
) -> None:
    """List what keeps problems out of a release; writes nothing.

    Example: physelite release check WORK --waive 'demo'
    """
    from physelite_build.publish.rows import assemble

    made = assemble(Store(work, create=False), version=version, waiver=waive, mint=False)
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
    made = assemble(store, version=version, waiver=waive, mint=not dry_run)
    if dry_run:
        _print_assembled(made)
        return
    used = {source.document for row in made.rows for source in row.sources}
    meta = describe(
        settings,
        engines=_fingerprints(store, settings),
        documents=[d for d in store.all("document", Document).values() if d.doc_id in used],
        waiver=waive,
    )
    summary = build_release(
        work / "releases" / version,
        version=version,
        rows=made.rows,
        images=store.blobs.get,
        meta=meta,
        scorer_package=Path(scorer.__file__).parent,
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
