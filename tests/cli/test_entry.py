"""The command line, as a user meets it: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kernelmean as km
from tests.cli.inputs import call


def run(*arguments, cwd=None, **environment):
    return subprocess.run(
        [sys.executable, "-m", "kernelmean", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=300,
        check=False,
    )


def test_version():
    assert run("--version").stdout == f"kernelmean {km.__version__}\n"


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("demo", "--help")])
def test_help_shows_how_to_use_it(arguments, capsys):
    done = call(capsys, *arguments)
    assert done.code == 0
    assert "Usage:" in done.out
    assert "demo" in done.out


def test_the_demo_prints_its_facts_and_draws(tmp_path):
    pytest.importorskip("matplotlib")
    done = run("demo", "--points", "5000", "--figure", "out.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = (
        "points",
        "centres chosen (k)",
        ", by ",
        "stopped by",
        "certified error",
        "fit",
        "scikit-learn",
        "model file",
    )
    for fact in facts:
        assert fact in done.stdout
    assert "same values" in done.stdout
    assert done.stderr == ""  # no progress bars off a terminal
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["out.png"]


def test_without_matplotlib_the_demo_says_so_and_prints_the_numbers(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not here')")
    path = os.pathsep.join([str(tmp_path), str(Path(km.__file__).parents[1])])
    done = run("demo", "--points", "1000", cwd=tmp_path, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert "certified error" in done.stdout
    assert "Matplotlib is not installed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("demo", "--points", "10"), "--points"),
        (("demo", "--points", "many"), "--points"),
        (("demo", "--points", "1000", "--figure", "missing/folder/out.png"), "missing/folder"),
        (("frobnicate",), "frobnicate"),
        (("demo", "--points", "1000", "--figure", "out.xyz"), "out.xyz names no format of figures"),
        (("demo", "--seed", "-1"), "--seed"),
    ],
)
def test_bad_input_ends_in_exit_code_2_and_no_traceback(
    arguments, said, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    done = call(capsys, *arguments)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_bad_input_ends_a_process_with_exit_code_2_and_no_traceback():
    done = run("demo", "--points", "10")
    assert done.returncode == 2
    assert "--points" in done.stderr
    assert "Traceback" not in done.stderr
