"""The command line, as a user meets it: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import kernelmean as km


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
def test_help_shows_how_to_use_it(arguments):
    done = run(*arguments)
    assert done.returncode == 0
    assert "Usage:" in done.stdout
    assert "demo" in done.stdout


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
    done = run("demo", "--points", "1000", cwd=tmp_path, PYTHONPATH=str(tmp_path))
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
def test_bad_input_ends_in_exit_code_2_and_no_traceback(arguments, said, tmp_path):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
