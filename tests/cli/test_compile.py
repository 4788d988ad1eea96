"""``kernelmean compile``: after it a large fit compiles nothing; and ``info --cache``."""

from __future__ import annotations

import json

import numba
import pytest

from kernelmean.cli import compile as command
from kernelmean.cli import representative
from tests.cli.inputs import call
from tests.compiled.test_compiling import environment, files, run

FIT = """
import numpy as np, kernelmean as km
from kernelmean import _work
_work.LEAST_WORK = 0.0
rng = np.random.default_rng(3)
X = rng.normal(size=({n}, 2)); X[::2] += 5.0
density = km.SparseKDE(random_state=0).fit(X)
density.score_samples(X)
"""
MORE = """
copy = km.SparseKDE(target="kde", random_state=0).fit(X)
copy.score_samples(X)
copy.mean_.certificate(X, random_state=0)
km.sparse_kernel_mean(X, k=40, refine=2, random_state=0)(X)
km.sparse_kernel_mean(X, k=40, spread=None, random_state=0)(X)
km.MeanShift(random_state=0).fit(X)
km.k_center(X, 50, first=0)
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_large_fit_then_compiles_nothing(cache, capsys, monkeypatch):
    """Two processes take the fits of two kinds; they never compile one loop twice."""
    work = [representative.Piece(kind, "gaussian", 2) for kind in ("density", "traversal")]
    monkeypatch.setattr(representative, "pieces", lambda kernels, dimensions: work)
    done = call(capsys, "compile", "--dimensions", "2", "--jobs", "2", "--json")
    assert (done.code, done.err) == (0, "")
    facts = json.loads(done.out)
    before = files(cache)
    assert facts["compiled"] == facts["loops"] == len([p for p in before if p.suffix == ".nbi"])
    assert facts["megabytes"] > 0.0
    run(FIT.format(n=2000), environment(cache))
    assert files(cache) == before
    shown = json.loads(call(capsys, "info", "--cache", "--json").out)
    assert shown["loops"] == facts["loops"]
    assert (shown["dimensions"], shown["stale"]) == ([2], 0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1000, 20_000])
def test_no_kind_of_fit_then_compiles_anything(cache, capsys, n):
    assert call(capsys, "compile", "--dimensions", "2").code == 0
    before = files(cache)
    run(FIT.format(n=n) + MORE, environment(cache))
    assert set(files(cache)) == set(before)


def test_every_kind_of_work_is_done_for_every_kernel_and_dimension():
    work = representative.pieces(["gaussian", "cauchy"], [1, 2, 3])
    assert len(set(work)) == len(work) == 6 * len(representative.KINDS)
    beginnings = {piece.kind for piece in work[:6]}
    assert len(beginnings) == 6  # processes that begin at once begin with different work


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2", [2]), ("1-3", [1, 2, 3]), ("1-2, 5", [1, 2, 5]), ("3,1-3", [1, 2, 3])],
)
def test_dimensions(text, expected):
    assert command.parsed_dimensions(text) == expected


def test_kernels():
    assert command.parsed_kernels("cauchy, gaussian,cauchy") == ["cauchy", "gaussian"]
    assert command.parsed_kernels("all") == ["gaussian", "laplacian", "cauchy"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compile", "--dimensions", "0-3"), "got '0-3'"),
        (("compile", "--dimensions", "x"), "got 'x'"),
        (("compile", "--dimensions", "3-1"), "got '3-1'"),
        (("compile", "--dimensions", ""), "got ''"),
        (("compile", "--dimensions", "1-101"), "from 1 to 100"),
        (("compile", "--kernels", "foo"), "gaussian, laplacian, cauchy; got 'foo'"),
        (("compile", "--jobs", "0"), "--jobs"),
        (("info",), "a model, or --cache"),
        (("info", "model.km", "--cache"), "a model, or --cache"),
    ],
)
def test_bad_input_is_one_line(arguments, said, capsys):
    done = call(capsys, *arguments)
    assert done.code == 2
    assert said in done.err


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(tmp_path, capsys, monkeypatch):
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "file"))
    done = call(capsys, "compile", "--dimensions", "2")
    assert done.code == 2
    assert f"NUMBA_CACHE_DIR={tmp_path / 'file'} cannot be written" in done.err


def test_an_empty_cache_is_shown(cache, capsys):
    done = call(capsys, "info", "--cache")
    assert done.code == 0
    assert str(cache) in done.out
    facts = json.loads(call(capsys, "info", "--cache", "--json").out)
    assert (facts["loops"], facts["folders"]) == (0, [])
