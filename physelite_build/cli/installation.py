"""Commands on the installation: settings, health, Prefect's pages."""

from __future__ import annotations

from typing import Annotated

import typer

from physelite_build import console
from physelite_build.cli.app import CHECK_FAILED, Json, app
from physelite_build.config import load_settings

__all__: list[str] = []


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
