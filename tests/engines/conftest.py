"""Every engine under one fixture, ``subject``: a new engine joins by one line of ENGINES."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import kernelmean as km
from kernelmean.engines import KernelSums, PointCloud
from kernelmean.kernels import Atoms
from tests.compiling import compiled_loops, least_work
from tests.parts import cloud_of_parts

Load = Callable[..., PointCloud]  # (points, weights=None)
LoadAtoms = Callable[[Atoms], KernelSums]


class Opened(NamedTuple):
    """How points get in, and atoms."""

    load: Load
    load_atoms: LoadAtoms


@dataclass(frozen=True)
class Subject:
    """How an engine takes points in, and how close to the naive engine it promises to be.

    ``opened`` gives ``load`` and ``load_atoms`` for as long as a test module runs.
    """

    opened: Callable[[Path], Any]  # a context: a folder for files -> Opened
    tolerance: float  # of kernel sums, as a part of the sum of absolute terms
    reductions: float = 0.0  # of sums over groups of points, relative; 0 for the same bits
    by_blas: bool = False  # BLAS may add a strided vector in another order
    needs: str | None = None  # the package without which the engine cannot be opened
    load: Load = lambda X, weights=None: pytest.fail("not opened")
    load_atoms: LoadAtoms = lambda atoms: pytest.fail("not opened")


@pytest.fixture(scope="module", autouse=True)
def loops_are_compiled() -> Iterator[None]:
    """What is asked of the cpu engine here is asked of its compiled loops, however small it is."""
    with compiled_loops():
        yield


@contextmanager
def of_engine(name: str, **options: Any) -> Iterator[Opened]:
    """An engine that holds all points itself."""
    engine = km.engines.open(name, **options)
    yield Opened(engine.load, engine.load_atoms)


@contextmanager
def without_compiling() -> Iterator[Opened]:
    """The cpu engine with what is too small to compile for."""
    with least_work(math.inf), of_engine("cpu", threads=2) as opened:
        yield opened


@contextmanager
def on_a_device() -> Iterator[Opened]:
    """The gpu engine where there is a device, its logic in plain torch where there is none."""
    torch = pytest.importorskip("torch")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    engine = km.engines.open("gpu", precision="float64", device=device)
    yield Opened(engine.load, engine.load_atoms)


@contextmanager
def in_parts(local: str, kind: str) -> Iterator[Opened]:
    """Parts in this process, one of them of a single point."""
    engine = km.engines.open(local)

    def load(X: np.ndarray, weights: np.ndarray | None = None) -> PointCloud:
        n = len(X)
        cuts = {cut for cut in (1, n // 3, 2 * n // 3) if 0 < cut < n}
        return cloud_of_parts(engine, X, cuts, weights, kind)

    yield Opened(load, engine.load_atoms)


@contextmanager
def in_files(folder: Path) -> Iterator[Opened]:
    """A memory-mapped file that is read batch by batch."""
    from kernelmean.samples import files

    engine = km.engines.open("cpu")

    def load(X: np.ndarray, weights: np.ndarray | None = None) -> PointCloud:
        path = folder / f"{len(list(folder.iterdir()))}.npy"
        np.save(path, X)
        mapped = np.load(path, mmap_mode="r")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "BATCH_NUMBERS", max(1, X.size // 3))
            return files.FileSample.check(mapped, "X").load(engine, weights)

    yield Opened(load, engine.load_atoms)


@contextmanager
def on_a_cluster() -> Iterator[Opened]:
    """Two workers in threads of this process."""
    import distributed

    from kernelmean.samples.cluster import collections

    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1}
    with distributed.Client(**options, dashboard_address=None, set_as_default=False) as client:
        engine = km.engines.open("cluster", client=client, local="cpu")

        def load(X: np.ndarray, weights: np.ndarray | None = None) -> PointCloud:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(collections, "HERE", 0)  # small samples would come here
                return collections.check(X, engine, "X").load(engine, weights)

        yield Opened(load, engine.load_atoms)


ENGINES = {
    "naive": Subject(lambda folder: of_engine("naive"), 1e-14, by_blas=True),
    "cpu": Subject(lambda folder: of_engine("cpu", threads=2), 1e-14),
    "cpu-small": Subject(lambda folder: without_compiling(), 1e-14, by_blas=True),
    "gpu": Subject(lambda folder: on_a_device(), 1e-13, 1e-12, True, needs="torch"),
    "parts-naive": Subject(lambda folder: in_parts("naive", "kept"), 1e-13, 1e-12, True),
    "parts-cpu": Subject(lambda folder: in_parts("cpu", "kept"), 1e-13, 1e-12),
    "parts-forgetful": Subject(lambda folder: in_parts("cpu", "forgetful"), 1e-13, 1e-12),
    "files": Subject(in_files, 1e-13, 1e-12),
    "cluster": Subject(lambda folder: on_a_cluster(), 1e-13, 1e-12, needs="distributed"),
}


@pytest.fixture(
    params=[  # Dask warns as its workers start and end
        pytest.param(name, marks=pytest.mark.filterwarnings("default"))
        if entry.needs == "distributed"
        else name
        for name, entry in ENGINES.items()
    ],
    scope="module",
)
def subject(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Subject]:
    """Each engine in turn, open."""
    entry = ENGINES[request.param]
    if entry.needs is not None:
        pytest.importorskip(entry.needs)
    with entry.opened(tmp_path_factory.mktemp(request.param)) as opened:
        yield replace(entry, load=opened.load, load_atoms=opened.load_atoms)
