"""``kernelmean completion``: a script by which a shell completes this program."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from kernelmean.cli import declare, results


class Shell(StrEnum):
    """Shells that can be taught."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


Which = Annotated[
    Shell | None, declare.Argument(metavar="[bash|zsh|fish]", help="By default the shell in use.")
]


def command(shell: Which = None) -> None:
    """Print what a shell needs to complete commands, options, their values and files.

    \b
    Examples:
      kernelmean completion bash >> ~/.bashrc
      kernelmean completion zsh >> ~/.zshrc
      kernelmean completion fish > ~/.config/fish/completions/kernelmean.fish
    """
    from kernelmean.cli.program import completion_script

    results.say(completion_script((shell or _in_use()).value))


def _in_use() -> Shell:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in set(Shell):
        raise ValueError(f"name the shell: {', '.join(Shell)}.")
    return Shell(name)
