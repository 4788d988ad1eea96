"""The list of loops on disk: what it tells of each, and what it removes."""

from __future__ import annotations

import numba
import pytest

from kernelmean.compiled import compiling, stored
from kernelmean.compiled.stored import State
from tests.compiled.test_compiling import JOB, SIGNATURE, environment, run, twice


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What one small job compiles: a layout, and sums of a Gaussian in two dimensions."""
    folder = tmp_path_factory.mktemp("cache")
    run(JOB, environment(folder))
    return folder


@pytest.fixture
def listed(cache, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(cache))
    return stored.loops


def test_a_loop_is_told_with_its_kernel_and_dimension(listed, cache):
    found = {loop.name: loop for loop in listed()}
    sums = found["loops.kernel_sum.kernel_sum_loop"]
    assert (sums.kernel, sums.dimension, sums.state) == ("gaussian", 2, State.here)
    layout = found["blocks._fill"]
    assert (layout.kernel, layout.dimension) == (None, None)
    assert sum(loop.size for loop in found.values()) == sum(
        path.stat().st_size for path in cache.rglob("*.nb?")
    )


def test_loops_of_other_sources_are_stale_and_those_of_other_processors_are_not(
    listed, monkeypatch
):
    assert {loop.state for loop in listed()} == {State.here}
    monkeypatch.setattr(stored.cpu_target.target_context, "codegen", lambda: Other)
    assert {loop.state for loop in listed()} == {State.elsewhere}
    monkeypatch.setattr(compiling, "_source_hash", lambda: "other")
    assert {loop.state for loop in listed()} == {State.stale}


class Other:
    """A processor of another kind."""

    @staticmethod
    def magic_tuple():
        return ("another", "processor")


def test_only_what_is_stale_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    folder = stored.written()[0]
    folder.mkdir(parents=True)
    for number, source in enumerate(("old", "new")):
        monkeypatch.setattr(compiling, "_source_hash", lambda source=source: source)
        monkeypatch.setattr(compiling.caching, "readable", lambda *_: [str(folder)])
        monkeypatch.setattr(stored, "folders", lambda: [*tmp_path.iterdir()])
        compiling.compile_function(twice, SIGNATURE, (number,))
    damaged = folder / f"x.f_{'0' * 16}-1.py311-{'0' * 20}.nbi"
    damaged.write_bytes(b"half a file")
    (folder / "somebody_elses.nbi").write_bytes(b"")
    assert sorted(loop.state for loop in stored.loops()) == [State.here, State.stale, State.stale]
    assert len(stored.remove_stale()) == 2
    assert [loop.state for loop in stored.loops()] == [State.here]
    assert not damaged.exists()
    assert (folder / "somebody_elses.nbi").exists()


def test_where_new_loops_go(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "made" / "later"))
    assert {path.parent for path in stored.written()} == {tmp_path / "made" / "later"}
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "file"))
    assert stored.written() == []
