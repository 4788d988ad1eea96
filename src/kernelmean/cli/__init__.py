"""The command line: read, call one function, write. Heavy imports wait until a command runs."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

import click

from kernelmean import _progress
from kernelmean.cli import results
from kernelmean.cli.program import Interrupted, app

INTERRUPTED = 130  # 128 + SIGINT, as shells count


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; bad input ends in one line and exit code 2, never in a traceback unless that
    is asked for.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    with warnings.catch_warnings(), results.called(given), _progress.stoppable():
        warnings.showwarning = _one_line
        try:
            sys.exit(app.main(given, prog_name="kernelmean", standalone_mode=False))
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(2)
        except click.ClickException as error:
            _fail(_usage(error), 2)
        except BrokenPipeError:  # the reader of a pipe has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except (Interrupted, KeyboardInterrupt, click.Abort):
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


def _usage(error: click.ClickException) -> str:
    """What is wrong with the words of a command, and where they are explained."""
    context = getattr(error, "ctx", None)
    where = "kernelmean" if context is None else context.command_path
    return f"{error.format_message().rstrip('.')} ({where} --help)."


def _fail(message: str, code: int) -> None:
    results.note(message)
    sys.exit(code)


def _one_line(message: Warning | str, *_: object, **__: object) -> None:
    results.note(message)
