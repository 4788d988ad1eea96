"""Options and arguments as annotations of a function, and the command of Click that they make.

``def command(data: Annotated[str, Argument(...)], k: Annotated[int, Option(...)] = 5)`` says all
that there is to know: the type, the default, the names and the help.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import click
from click.shell_completion import CompletionItem

WORD = re.compile("[a-z][a-z0-9:]*")  # of a metavar: mmd|kl|l2, but not NUMBER


@dataclass(frozen=True)
class Argument:
    """What a command is given by its place."""

    metavar: str
    help: str


class Option:
    """What a command is given by name; without names of its own, that of the parameter."""

    def __init__(
        self,
        *names: str,
        help: str,
        metavar: str | None = None,
        min: float | None = None,
        show_default: str | bool = True,
        choices: Callable[[], Sequence[str]] | None = None,
    ) -> None:
        self.names = names
        self.help = help
        self.metavar = metavar
        self.min = min
        self.show_default = show_default
        self.choices = choices


class Exit(click.exceptions.Exit):
    """The end of a command, with an exit code of its own."""


class Place(click.Argument):
    """An argument with a help of its own, whichever Click it is."""

    def __init__(self, *settings: Any, told: str, **more: Any) -> None:
        super().__init__(*settings, **more)
        self.told = told


class FileName(click.types.StringParamType):
    """Text that may name a file, so that a shell offers files."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Leave it to the shell, which knows its files."""
        return [CompletionItem(incomplete, type="file")]


class Suggested(click.types.StringParamType):
    """Text, of which the words that help shows are offered by a shell."""

    def __init__(self, metavar: str) -> None:
        self.words = [word for word in metavar.split("|") if WORD.fullmatch(word)]

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Those words that begin so."""
        return [CompletionItem(word) for word in self.words if word.startswith(incomplete)]


class Words(click.Choice[str]):
    """One of some words, which may be looked up only where they are needed."""

    def __init__(self, words: Callable[[], Sequence[str]]) -> None:
        self._words = words
        self.case_sensitive = True

    @property
    def choices(self) -> Sequence[str]:  # type: ignore[override]
        """The words."""
        return tuple(self._words())


class Members(Words):
    """A member of an enumeration, by its value."""

    def __init__(self, kind: type[Enum]) -> None:
        super().__init__(lambda: [str(member.value) for member in kind])
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The member; one that is a default already stays what it is."""
        if isinstance(value, self._kind):
            return value
        return self._kind(super().convert(value, param, ctx))

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """The values, as help shows them."""
        return f"[{'|'.join(self.choices)}]"


def parameters(function: Callable[..., Any]) -> list[click.Parameter]:
    """The options and arguments of a function, in its order."""
    hints = get_type_hints(function, include_extras=True)
    signature = inspect.signature(function)
    return [
        _parameter(name, hints[name], own.default) for name, own in signature.parameters.items()
    ]


def _parameter(name: str, hint: Any, default: Any) -> click.Parameter:
    assert get_origin(hint) is Annotated, f"{name} says nothing of itself"
    kind, told = get_args(hint)
    kind, many = _plain(kind)
    required = default is inspect.Parameter.empty
    if isinstance(told, Argument):
        return Place(
            [name],
            told=told.help,
            metavar=told.metavar,
            type=FileName() if kind is str else _type(kind, None),
            nargs=-1 if many else 1,
            required=required,
            **({} if required else {"default": default}),
        )
    return _option(name, kind, many, told, default, required)


def _option(
    name: str, kind: type, many: bool, told: Option, default: Any, required: bool
) -> click.Option:
    dashed = f"--{name.replace('_', '-')}"
    flag = {"is_flag": True} if kind is bool else {"type": _type(kind, told)}
    names = told.names or ([f"{dashed}/--no-{dashed[2:]}"] if kind is bool else [dashed])
    plain_flag = kind is bool and bool(told.names)
    return click.Option(
        [*names, name],
        help=told.help,
        metavar=told.metavar,
        multiple=many,
        required=required,
        show_default=False if plain_flag else told.show_default,
        **({} if required else {"default": default}),
        **flag,
    )


def _plain(kind: Any) -> tuple[Any, bool]:
    """The type of one value, and whether there may be several."""
    inner = [part for part in get_args(kind) if part is not NoneType]
    if NoneType in get_args(kind):
        (kind,) = inner
    if get_origin(kind) is list:
        return get_args(kind)[0], True
    return kind, False


def _type(kind: type, told: Option | None) -> Any:
    """How Click reads a value of this type."""
    if told is not None and told.choices is not None:
        return Words(told.choices)
    if issubclass(kind, Enum):
        return Members(kind)
    if kind is Path:
        return click.Path(path_type=Path)
    least = None if told is None else told.min
    if kind is int:
        return click.INT if least is None else click.IntRange(min=int(least))
    if kind is float:
        return click.FLOAT if least is None else click.FloatRange(min=least)
    assert kind is str, f"no option holds a {kind}"
    return click.STRING if told is None or told.metavar is None else Suggested(told.metavar)
