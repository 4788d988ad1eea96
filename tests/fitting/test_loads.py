"""Rows are loaded into an engine exactly once, whatever is asked for."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km

X = np.random.default_rng(0).normal(size=(300, 3)) * [1.0, 2.0, 0.5]
LABELS = np.arange(300) % 2
SCALED = {"k": 20, "scale": "std", "bandwidth": 0.3, "random_state": 0}


class CountingEngine:
    """The cpu engine, which counts how often so many rows are loaded."""

    name = "cpu"

    def __init__(self, rows=300):
        self.rows = rows
        self.loads = 0

    def load(self, points, weights=None):
        self.loads += len(points) == self.rows
        return km.engines.open("cpu").load(points, weights)

    def load_atoms(self, atoms):
        return km.engines.open("cpu").load_atoms(atoms)


PATHS = {
    "sparse_kernel_mean": lambda engine: km.sparse_kernel_mean(X, k=20, engine=engine),
    "scaled": lambda engine: km.sparse_kernel_mean(X, engine=engine, **SCALED),
    "likelihood": lambda engine: km.sparse_kernel_mean(
        X, k=20, scale="cov", bandwidth="likelihood", engine=engine
    ),
    "refined": lambda engine: km.sparse_kernel_mean(X, k=20, refine=3, engine=engine),
    "rows given": lambda engine: km.sparse_kernel_mean(X, selection=np.arange(9), engine=engine),
    "kernel_mean": lambda engine: km.kernel_mean(X, scale="std", engine=engine),
    "k_center": lambda engine: km.k_center(X, 9, engine=engine),
    "SparseKDE": lambda engine: km.SparseKDE(k=20, engine=engine).fit(X),
    "SparseKDE, scaled": lambda engine: km.SparseKDE(engine=engine, **SCALED).fit(X),
    "KernelDensity": lambda engine: km.KernelDensity(engine=engine).fit(X),
    "KernelDensity, sparse": lambda engine: km.KernelDensity(
        bandwidth=0.5, error=0.05, random_state=0, engine=engine
    ).fit(X),
    "detector": lambda engine: km.SparseKDEOutlierDetector(engine=engine, **SCALED).fit(X),
    # With k or a bandwidth of one's own, rows are also the centres of a density that judges.
    "MeanShift": lambda engine: km.MeanShift(engine=engine, scale="std", random_state=0).fit(X),
    "MeanShift, plain": lambda engine: km.MeanShift(engine=engine, significance=None, **SCALED).fit(
        X
    ),
    "mmd_test": lambda engine: km.mmd_test(X[:150], X[150:], engine=engine, random_state=0),
}


@pytest.mark.parametrize("path", PATHS)
def test_rows_are_loaded_exactly_once(path):
    engine = CountingEngine()
    PATHS[path](engine)
    assert engine.loads == 1


def test_rows_of_weight_zero_are_never_loaded():
    weights = np.arange(300.0) % 3
    present, everything = CountingEngine(np.count_nonzero(weights)), CountingEngine()
    for engine in (present, everything):
        km.SparseKDE(engine=engine, **SCALED).fit(X, sample_weight=weights)
    assert (present.loads, everything.loads) == (1, 0)


def test_each_class_is_loaded_once():
    engine = CountingEngine(150)
    km.SparseKDEClassifier(engine=engine, **SCALED).fit(X, LABELS)
    assert engine.loads == 2


def test_each_sample_of_a_collection_is_loaded_once():
    engine = CountingEngine(75)
    km.DistributionEmbedding(embedding="mds", k=10, engine=engine).fit(np.split(X, 4))
    assert engine.loads == 4


def test_a_certificate_and_a_refit_load_their_rows_once():
    mean = km.sparse_kernel_mean(X, k=20, scale="std", random_state=0, engine=CountingEngine())
    for again in (lambda: mean.certificate(X), lambda: mean.refit(X, bandwidth=0.4)):
        before = mean.engine.loads
        again()
        assert mean.engine.loads == before + 1


def test_a_full_density_loads_its_rows_once_more_as_centres():
    engine = CountingEngine()
    km.SparseKDE(engine=engine, sparse=False, scale="std", bandwidth=0.3).fit(X)
    assert engine.loads == 2
