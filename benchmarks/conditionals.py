"""How likely one column is given the others, and how fast: beside statsmodels."""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import kernelmean as km
from benchmarks.datasets import PLACES
from benchmarks.measuring import DATA, Row, seconds

SETS = {"flights": "delay", "lakes": "last channel", "skin": "red"}  # and the column in question
FITTED = (5_000, 40_000)  # rows
HELD_OUT = 5_000  # rows
ASKED = 500  # of these, of which the peer is asked
MANY = 50_000  # held-out rows, repeated, by which we are timed
BLOCKS, BLOCK = 3, 500  # rows on which the peer's cross-validation runs
READ = 200_000  # rows of a file, of which the distinct ones are taken


class Part(NamedTuple):
    """Rows in columns of unit variance; the last column is in question, given the others."""

    train: np.ndarray
    test: np.ndarray


class Peer(NamedTuple):
    """How statsmodels' bandwidths were found, and what came of them."""

    name: str
    bandwidths: np.ndarray
    fit_time: float


def load(name: str) -> np.ndarray:
    """Distinct rows in random order, the column in question last."""
    with np.load(DATA / PLACES[name], allow_pickle=False) as file:
        X = file["X"].astype(float)
    if name == "flights":
        X = X[:, [0, 2, 3, 1]]
    if name == "lakes":
        X = np.arcsinh(X)
    rng = np.random.default_rng(0)
    X = np.unique(X[rng.permutation(len(X))[:READ]], axis=0)
    return X[rng.permutation(len(X))]


def part(X: np.ndarray, fitted: int) -> Part:
    """Held-out rows first, then those to fit, scaled by the latter."""
    test, train = X[:HELD_OUT], X[HELD_OUT : HELD_OUT + fitted]
    center, size = train.mean(axis=0), train.std(axis=0)
    return Part((train - center) / size, (test - center) / size)


def log_likelihoods(density: km.SparseKDE, rows: np.ndarray) -> np.ndarray:
    """log f(y | x) = log f(x, y) − log f(x), y the last column."""
    given = list(range(rows.shape[1] - 1))
    return density.score_samples(rows) - density.marginal(given).score_samples(rows[:, given])


def against_statsmodels(
    names: tuple[str, ...] = tuple(SETS), fitted: tuple[int, ...] = FITTED
) -> Iterator[Row]:
    """Our gain per held-out row over each of the peer's bandwidths, and how many times as fast."""
    if importlib.util.find_spec("statsmodels") is None:
        yield Row("KDEMultivariateConditional", None, "–", "statsmodels is not installed")
        return
    for name in names:
        if not (DATA / PLACES[name]).exists():
            yield Row(name, None, "–", "skipped: no data here")
            continue
        X = load(name)
        cross_validated = _cross_validated(part(X, BLOCKS * BLOCK).train)
        for n in fitted:
            yield from _contest(f"{name}, {SETS[name]}, n = {n}", part(X, n), cross_validated)


def _contest(case: str, rows: Part, cross_validated: Peer) -> Iterator[Row]:
    start = time.perf_counter()
    density = km.SparseKDE(random_state=0).fit(rows.train)
    fit_time = time.perf_counter() - start
    ours = log_likelihoods(density, rows.test)
    many = np.tile(rows.test, (-(-MANY // len(rows.test)), 1))
    each = seconds(lambda: log_likelihoods(density, many), 3) / len(many)
    peers = (_normal_reference(rows.train), _rescaled(cross_validated, rows.train))
    for peer in peers:
        theirs, spent = _statsmodels(rows, peer.bandwidths)
        differences = ours[:ASKED] - theirs
        error = differences.std(ddof=1) / ASKED**0.5
        detail = (
            f"nats per row, ± {error:.3f}; {ours[:ASKED].mean():.3f} against {theirs.mean():.3f}; "
            f"fit {fit_time:.1f} s with {density.mean_.k} atoms, its bandwidths "
            f"{peer.fit_time:.1f} s"
        )
        yield Row(f"{case}: likelihood, {peer.name}", f"{differences.mean():+.3f}", "≥ 0", detail)
    rates = f"{_thousands(1.0 / each)} rows per second against {_thousands(1.0 / spent)}"
    yield Row(f"{case}: speed", f"{spent / each:.0f}×", "≥ 1000×", rates)


def _normal_reference(X: np.ndarray) -> Peer:
    """The peer's default."""
    start = time.perf_counter()
    bandwidths = _estimator(X, "normal_reference").bw
    return Peer("normal reference", bandwidths, time.perf_counter() - start)


def _cross_validated(X: np.ndarray) -> Peer:
    """Its cross-validation, O(n²) per trial, on blocks of rows, as its documentation has it for
    many rows.
    """
    from statsmodels.nonparametric.kernel_density import EstimatorSettings

    start = time.perf_counter()
    blocks = EstimatorSettings(efficient=True, return_median=True, n_sub=BLOCK, n_jobs=1)
    bandwidths = _estimator(X, "cv_ml", blocks).bw
    return Peer("cross-validation", bandwidths, time.perf_counter() - start)


def _rescaled(peer: Peer, X: np.ndarray) -> Peer:
    """The same at another n, by the rate n^(−1/(d+4)) by which statsmodels goes from blocks to all
    rows.
    """
    n, d = X.shape
    return peer._replace(bandwidths=peer.bandwidths * (BLOCKS * BLOCK / n) ** (1.0 / (d + 4)))


def _statsmodels(rows: Part, bandwidths: np.ndarray) -> tuple[np.ndarray, float]:
    """Its log-densities of some held-out rows, and its seconds for each."""
    estimator = _estimator(rows.train, bandwidths)
    some = rows.test[:ASKED]
    start = time.perf_counter()
    values = estimator.pdf(some[:, -1:], some[:, :-1])
    spent = (time.perf_counter() - start) / ASKED
    with np.errstate(divide="ignore"):
        return np.log(values), spent


def _estimator(X: np.ndarray, bandwidths, settings=None):
    from statsmodels.nonparametric.kernel_density import KDEMultivariateConditional

    kinds = {"dep_type": "c", "indep_type": "c" * (X.shape[1] - 1)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a coming change in how it draws at random
        return KDEMultivariateConditional(
            X[:, -1:], X[:, :-1], **kinds, bw=bandwidths, defaults=settings
        )


def _thousands(value: float) -> str:
    """To three digits, in groups of three."""
    digits = len(str(round(value))) - 3
    return f"{round(value, -max(digits, 0)):,.0f}".replace(",", " ")
