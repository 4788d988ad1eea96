"""The command line: read, call one function, write. Heavy imports wait until a command runs."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from kernelmean import __version__, _progress
from kernelmean.cli import (
    compare,
    embed,
    fit,
    info,
    monitor,
    proportions,
    query,
    results,
    score,
    segment,
)
from kernelmean.cli.options import Debug, Quiet, ready

INTERRUPTED = 130  # 128 + SIGINT, as shells count


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C, under a name that Typer leaves alone."""


def interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with Ctrl-C told apart from everything else."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt:
            raise Interrupted from None
        except Exception as error:
            if _after_ctrl_c(error):
                raise Interrupted from None
            raise

    return run


def _after_ctrl_c(error: BaseException | None) -> bool:
    """Whether a library has wrapped Ctrl-C into an error of its own, as compiled calls do
    (SystemError).
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


app = typer.Typer(
    name="kernelmean",
    help="Sparse kernel means: kernel density estimates by a few well-chosen centres, exact and "
    "certified.",
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
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Sparse kernel means: kernel density estimates by a few well-chosen centres, exact and
    certified.
    """


for module in (fit, score, query, compare, monitor, embed, proportions, segment, info):
    app.command(module.__name__.rpartition(".")[2])(interruptible(module.command))


@app.command()
@interruptible
def demo(
    points: Annotated[int, typer.Option(min=1000, help="Number of points.")] = 1_000_000,
    figure: Annotated[Path, typer.Option(help="Where to write the figure.")] = Path("demo.png"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data and of the first centre.")] = 0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fit a sparse density to a million points in 3-D and compare it with the exact one.

    \b
    Examples:
      kernelmean demo
      kernelmean demo --points 100000 --figure small.png
    """
    ready(figure)  # better now than after the work
    from kernelmean.cli.demo import run

    run(points, figure, seed, show_progress=results.on_terminal(quiet))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; bad input ends in one line and exit code 2, never in a traceback unless that
    is asked for.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    with warnings.catch_warnings(), results.called(given), _progress.stoppable():
        warnings.showwarning = _one_line
        try:
            app(given, prog_name="kernelmean")
        except BrokenPipeError:  # the reader of a pipe has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except (Interrupted, KeyboardInterrupt):
            _fail("interrupted; no file was left half-written.", INTERRUPTED)
        except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
            if "--debug" in given:
                raise
            _fail(results.said(error), 2)
        except Exception as error:
            if "--debug" in given:
                raise
            _fail(
                f"unexpected {type(error).__name__}: {results.said(error)} (--debug shows where).",
                1,
            )


def _fail(message: str, code: int) -> None:
    results.note(message)
    sys.exit(code)


def _one_line(message: Warning | str, *_: object, **__: object) -> None:
    results.note(message)
