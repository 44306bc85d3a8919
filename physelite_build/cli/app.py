"""The application that all commands hang on, their common arguments and the exit codes."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from physelite_build import __version__, console
from physelite_build.errors import PhysEliteError

__all__ = ["CHECK_FAILED", "PARTIAL", "Json", "Work", "app", "run"]

UNEXPECTED, USAGE, PARTIAL, CHECK_FAILED, INTERRUPTED = 1, 2, 3, 4, 130

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Turn scanned physics papers into a checked, versioned dataset with its own scorer.",
)

Work = Annotated[Path, typer.Argument(help="Work folder of a build.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def run() -> None:
    """Run the command line; turn our own errors into one sentence and an exit code."""
    try:
        app()
    except PhysEliteError as error:
        _stop(f"{error.code}: {error.message}", error, USAGE)
    except SystemExit as ended:
        if ended.code == INTERRUPTED:  # Typer ends a command on Ctrl-C by itself
            console.err.print("interrupted; run the same command again, it goes on where it stopped", markup=False)
        raise
    except Exception as error:  # noqa: BLE001 - the border to the user
        _stop(f"unexpected {type(error).__name__}: {error}; run again with --verbose and report it", error, UNEXPECTED)


def _stop(sentence: str, error: BaseException, code: int) -> NoReturn:
    if logging.getLogger().isEnabledFor(logging.INFO):
        raise error
    console.err.print(f"error: {sentence}", markup=False, style="red")
    raise SystemExit(code) from error


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_print_version)
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show log messages and tracebacks.")] = False,
) -> None:
    del version  # its callback has acted
    logging.basicConfig(
        level=logging.INFO if verbose else logging.CRITICAL, format="%(levelname)s %(name)s: %(message)s"
    )
    if not verbose:
        warnings.simplefilter("ignore")
