"""Run the blocks of a page, one after the other, and write what each printed.

    python -m pages.running PAGE OUTPUT.json

It is a process of its own, so that it can be given the environment that the page promises.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

from pages.blocks import INSTALL, blocks

ROOT = Path(__file__).resolve().parents[1]
COMMAND = re.compile(r"kernelmean [^|&;<>$*?`#~]+")  # without a word that only a shell understands


def run(page: Path) -> list[str]:
    """What each block printed; nothing for those that are text."""
    space: dict[str, object] = {"__name__": "page"}
    printed = []
    for block in blocks(page):
        output = io.StringIO()
        if block.language == "python":
            with contextlib.redirect_stdout(output):
                exec(
                    compile("\n" * block.line + block.text, str(page), "exec", dont_inherit=True),
                    space,
                )
        elif block.language == "shell":
            shell(block.text)
        printed.append(output.getvalue())
    return printed


def shell(text: str) -> None:
    """Lines of a shell block: installations are skipped, make targets planned, the rest is run."""
    for line in text.replace("\\\n", " ").splitlines():
        if INSTALL.match(line):
            continue
        if COMMAND.fullmatch(line):
            command(line)
            continue
        where = ROOT if line.startswith("make --dry-run") else Path.cwd()
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=where,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env=os.environ | {"PATH": f"{wrapper()}{os.pathsep}{os.environ['PATH']}"},
        )
        if done.returncode != 0:
            raise RuntimeError(f"{line}\n{done.stderr}")


@cache
def wrapper() -> Path:
    """A folder with the command ``kernelmean``, of this interpreter, for the search path."""
    folder = Path(tempfile.mkdtemp(prefix="kernelmean-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    script = folder / "kernelmean"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kernelmean "$@"\n')
    script.chmod(0o755)
    return folder


def command(line: str) -> None:
    """A command of this package, in this process.

    One of its own would spend most of its time on imports. Tests of the command line start them.
    """
    from kernelmean.cli import main as kernelmean

    errors = io.StringIO()
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(errors),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")  # a command says its warnings, a page may have none
        try:
            kernelmean(shlex.split(line)[1:])
        except SystemExit as ended:
            if ended.code:
                raise RuntimeError(f"{line}\n{errors.getvalue()}") from None


def main(page: str, output: str) -> None:
    """Run a page in the folder that this process was started in."""
    import kernelmean  # noqa: F401  (imports of others may warn; what the page does may not)

    if (
        "import dask" not in Path(page).read_text()
    ):  # which warns on every start and end of a process
        warnings.simplefilter("error")
    Path(output).write_text(json.dumps(run(Path(page))))


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "agg")
    main(*sys.argv[1:])
