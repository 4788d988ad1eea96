"""The command line: read, call one function, write. Heavy imports wait until a command runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kernelmean import __version__

app = typer.Typer(
    name="kernelmean",
    help="Sparse kernel means: kernel density estimates by a few well-chosen centres, exact and certified.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"kernelmean {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Sparse kernel means: kernel density estimates by a few well-chosen centres, exact and certified."""


@app.command()
def demo(
    points: Annotated[int, typer.Option(min=1000, help="Number of points.")] = 1_000_000,
    figure: Annotated[Path, typer.Option(help="Where to write the figure.")] = Path("demo.png"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data and of the first centre.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bars.")] = False,
) -> None:
    """Fit a sparse density to a million points in 3-D and compare it with the exact one.

    Examples:

    kernelmean demo

    kernelmean demo --points 100000 --figure small.png
    """
    if not figure.parent.is_dir():  # better now than after the work
        raise ValueError(f"the folder {figure.parent} for the figure does not exist.")
    from kernelmean.cli.demo import run

    run(points, figure, seed, show_progress=not quiet and sys.stderr.isatty())


def main() -> None:
    """Run the command; bad input ends in one line and exit code 2, never in a traceback."""
    try:
        app()
    except (ValueError, TypeError, OSError, MemoryError) as error:
        print(f"kernelmean: {error}", file=sys.stderr)
        sys.exit(2)
