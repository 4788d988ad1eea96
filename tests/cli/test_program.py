"""The program as a whole: help by task, options as they are declared, completion by a shell."""

from __future__ import annotations

import shutil
import subprocess
import sys

import click
import pytest

from kernelmean.cli import options
from kernelmean.cli.program import GROUPS, TASKS, app
from kernelmean.kernels import registry
from tests.cli.inputs import call

NAMES = [name for commands in TASKS.values() for name in commands]


def command(name):
    return app.get_command(click.Context(app), name)


def test_help_has_every_command_under_its_task(capsys):
    done = call(capsys, "--help")
    assert done.code == 0
    lines = done.out.splitlines()
    for task, commands in TASKS.items():
        at = lines.index(f"{task}:")
        told = [line.split()[0] for line in lines[at + 1 : at + 1 + len(commands)]]
        assert told == list(commands)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", NAMES)
def test_the_options_of_a_command_are_grouped_and_explained(name, capsys):
    done = call(capsys, name, "--help")
    assert done.code == 0
    assert "Examples:" in done.out
    for parameter in command(name).params:
        told = parameter.told if isinstance(parameter, click.Argument) else parameter.help
        assert told, parameter.name
    assert "\nResults:\n" in done.out
    assert "-h, --help" in done.out[done.out.index("\nResults:\n") :]


def test_groups_name_options_that_there_are():
    known = {parameter.name for name in NAMES for parameter in command(name).params}
    assert {option for options in GROUPS.values() for option in options} <= known | {
        "help",
        "version",
    }


def test_the_kernels_on_offer_are_those_of_the_registry(capsys):
    assert options.DEFAULT_KERNEL == registry.DEFAULT
    assert f"[{'|'.join(registry.names())}]" in call(capsys, "fit", "--help").out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["fit"], "missing argument 'DATA'"),
        (["fit", "a.csv"], "missing option '-o' / '--output'"),
        (
            ["fit", "a.csv", "-o", "m.km", "--bandwith", "1"],
            "--bandwidth",
        ),  # which it may have meant
        (["score", "m.km", "a.csv", "b.csv"], "got unexpected extra argument"),
        (["frobnicate"], "no such command 'frobnicate'"),
        (["scor"], "did you mean score?"),
    ],
)
def test_wrong_words_are_one_line_that_says_where_help_is(line, said, capsys):
    done = call(capsys, *line)
    assert (done.code, done.out) == (2, "")
    assert said.lower() in done.err.lower()
    assert done.err.startswith("kernelmean: ")
    assert done.err.rstrip().endswith("--help).")
    assert len(done.err.splitlines()) == 1


def test_without_a_command_there_is_help(capsys):
    done = call(capsys)
    assert done.code == 2
    assert "Densities:" in done.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_script(shell, capsys, monkeypatch):
    given = call(capsys, "completion", shell)
    assert given.code == 0, given.err
    assert "_KERNELMEAN_COMPLETE" in given.out
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    assert call(capsys, "completion").out == given.out


def test_a_shell_that_nobody_knows_is_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/sh")
    done = call(capsys, "completion")
    assert (done.code, done.err) == (2, "kernelmean: name the shell: bash, zsh, fish.\n")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("kernelmean ", "plain,fit"),
        ("kernelmean pro", "plain,proportions"),
        ("kernelmean fit --tar", "plain,--target"),
        ("kernelmean fit --target ", "plain,likelihood"),
        ("kernelmean fit --kernel ", "plain,laplacian"),
        ("kernelmean fit --transform l", "plain,log"),
        ("kernelmean embed --metric ", "plain,kl"),
        ("kernelmean fit ", "file,"),
        ("kernelmean score m", "file,m"),
    ],
)
def test_what_a_shell_is_offered(words, offered):
    count = len(words.split(" ")) - 1
    code = "from kernelmean.cli import main; main([])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": ":".join(sys.path),
            "_KERNELMEAN_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(count),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert offered in done.stdout.splitlines(), done.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_takes_the_script(capsys):
    script = call(capsys, "completion", "bash").out
    asked = subprocess.run(
        ["bash", "-c", f"{script}\ncomplete -p kernelmean"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, asked.stderr
    assert "_kernelmean_completion" in asked.stdout
