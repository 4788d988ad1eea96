"""The program as a whole: its commands by task, read when they run, and its help."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

import click

from kernelmean import __version__
from kernelmean.cli.declare import Place, parameters

PURPOSE = (
    "Sparse kernel means: kernel density estimates by a few well-chosen centres, exact and "
    "certified."
)
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
# Commands by task: in which module each is, and what it is for. So that help and completion need
# to import none of them.
TASKS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Densities": {
        "fit": ("fit", "A file becomes a density, as a small model."),
        "score": ("score", "The log-density of every row of a file."),
        "query": ("query", "Quantiles, probabilities, conditionals, peaks, drawn rows."),
        "info": ("info", "What a model holds."),
    },
    "Samples": {
        "compare": ("compare", "Do two samples differ, where, and in which columns?"),
        "monitor": ("monitor", "Watch rows as they arrive, and say when they change."),
        "embed": ("embed", "Many samples as points in a plane, near where alike."),
        "proportions": ("proportions", "How much of each class an unlabelled file holds."),
    },
    "Pictures": {"segment": ("segment", "Segments of like colour and place.")},
    "To begin with": {
        "demo": ("demonstrate", "A density of a million points, beside the exact one."),
        "compile": ("compile", "Compile loops ahead of time, for images and clusters."),
        "completion": ("completion", "Let the shell complete commands, options and files."),
    },
}
# Options by what they are for; all others are of the command itself.
GROUPS = {
    "Reading": ("columns", "transform", "drop_na", "weights", "domain", "missing", "label"),
    "How it is computed": (
        "bandwidth", "kernel", "k", "error", "selection", "spread", "refine", "scale", "target",
        "engine", "scheduler", "workers", "seed",
    ),
    "Results": (
        "output", "keep", "form", "report", "rows", "save", "as_json", "quiet", "debug", "help",
        "figure", "version",
    ),
}  # fmt: skip


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C, under a name that Click leaves alone."""


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


class Command(click.Command):
    """A command whose help has its options by what they are for."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Those of the command itself come first."""
        told: dict[str, list[tuple[str, str]]] = {}
        for name in ("Arguments", "Options", *GROUPS):
            told[name] = []
        place = {option: name for name, options in GROUPS.items() for option in options}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, Place):
                told["Arguments"].append((parameter.make_metavar(ctx), parameter.told))
                continue
            record = parameter.get_help_record(ctx)
            group = "Results" if "--help" in parameter.opts else place.get(parameter.name or "")
            if record is not None:
                told[group or "Options"].append(record)
        for name, records in told.items():
            if records:
                with formatter.section(_heading(name)):
                    formatter.write_dl(records)


class Program(click.Group):
    """All commands, each read from its module when it is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the tasks."""
        return [name for commands in TASKS.values() for name in commands]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of this name."""
        found = {name: where for some in TASKS.values() for name, where in some.items()}.get(name)
        if found is None:
            return None
        function = importlib.import_module(f"kernelmean.cli.{found[0]}").command
        return Command(
            name,
            params=parameters(function),
            callback=interruptible(_lists(function)),
            help=function.__doc__,
            short_help=found[1],
            context_settings=SETTINGS,
        )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command; where there is none of this name, those that it may have meant."""
        names = self.list_commands(ctx)
        if not args[0].startswith("-") and args[0] not in names:
            alike = ", ".join(get_close_matches(args[0], names))
            hint = f" (Did you mean {alike}?)" if alike else ""
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Names of commands with what they are for, without reading their modules."""
        from click.shell_completion import CompletionItem

        told = {name: words for some in TASKS.values() for name, (_, words) in some.items()}
        found = [
            CompletionItem(name, help=words)
            for name, words in told.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """By task."""
        width = max(map(len, self.list_commands(ctx)))
        for task, commands in TASKS.items():
            with formatter.section(_heading(task)):
                formatter.write_dl(
                    [(f"{name:<{width}}", words) for name, (_, words) in commands.items()]
                )
        with formatter.section(_heading("More")):
            formatter.write_text(
                "kernelmean COMMAND --help has the options of a command, and examples."
            )


def _heading(words: str) -> str:
    """Bold; Click leaves the bold out where nobody would see it."""
    return click.style(words, bold=True)


def _lists(function: Callable[..., None]) -> Callable[..., None]:
    """The function with lists where Click has tuples, and None for none at all."""

    @functools.wraps(function)
    def run(**options: Any) -> None:
        function(
            **{
                name: (list(value) or None) if isinstance(value, tuple) else value
                for name, value in options.items()
            }
        )

    return run


def _show_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"kernelmean {__version__}")
        ctx.exit()


app = Program(
    "kernelmean",
    help=PURPOSE,
    no_args_is_help=True,
    context_settings=SETTINGS,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_version,
            help="Print the version.",
        )
    ],
)


def completion_script(shell: str) -> str:
    """What a shell runs to complete this program."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, shell
    return kind(app, {}, "kernelmean", "_KERNELMEAN_COMPLETE").source()
