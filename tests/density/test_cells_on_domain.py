"""Copies on spheres and with categories: centres that have the spread of their rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kernelmean as km
from kernelmean.mean import sphere
from kernelmean.mean.value import is_by_likelihood
from kernelmean.mixtures import directions

COPY = {"target": "kde", "random_state": 0}
DOMAIN = {(2, 3): km.Sphere(), 4: km.Categorical()}


def table(n: int = 400, seed: int = 0) -> np.ndarray:
    """Two numbers, a place and a category, of which each tells of the others."""
    rng = np.random.default_rng(seed)
    which = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    numbers = rng.normal(size=(n, 2)) @ [[1.0, 0.6], [0.0, 0.5]] + 3.0 * which[:, None]
    places = rng.normal([[-120.0, 40.0], [10.0, 50.0], [170.0, -30.0]], 8.0, (n, 3, 2))
    return np.column_stack(
        [numbers, places[np.arange(n), which], (which + rng.random(n) // 0.8) % 3]
    )


def copies(X: np.ndarray, domain: dict, **settings: object) -> tuple[km.DomainMean, km.DomainMean]:
    """The cells of a sample, and the density of which they are a copy."""
    sparse = km.SparseKDE(domain=domain, **(COPY | settings)).fit(X).mean_
    full = km.SparseKDE(domain=domain, sparse=False, **(COPY | settings)).fit(X).mean_
    return sparse, full


def test_cells_have_the_moments_of_their_rows():
    cells, full = copies(table(), DOMAIN, k=12, scale="std")
    assert cells.spreads.shape == (12, 5, 5)
    y, c = (mean.base.centers[:, :2] @ mean.scale[:2, :2] for mean in (full, cells))
    S, w = cells.spreads[:, :2, :2], cells.weights
    np.testing.assert_allclose(w @ c, y.mean(axis=0), rtol=1e-12)
    second = np.einsum("a,ast->st", w, S) + (c.T * w) @ c
    np.testing.assert_allclose(second, y.T @ y / len(y), rtol=1e-12)
    np.testing.assert_allclose(
        w @ np.exp(cells.log_shares), np.exp(full.log_shares).mean(axis=0), rtol=1e-12
    )


def mean_directions(mean: km.DomainMean) -> np.ndarray:
    """E u on the sphere."""
    c, v = sphere.sphere_part(mean.base.expansion, mean.domain, 0)
    lengths = np.linalg.norm(c, axis=1)
    towards = c / lengths[:, None]
    return mean.weights @ (directions.mean_length(lengths / v)[:, None] * towards)


@pytest.mark.parametrize("scale", [None, "std"])
def test_cells_point_where_their_rows_do(scale):
    cells, full = copies(table(), DOMAIN, k=12, scale=scale, bandwidth=0.2)
    np.testing.assert_allclose(mean_directions(cells), mean_directions(full), rtol=1e-9)


def test_cells_are_nearer_to_the_full_estimate_than_points():
    X, Q = table(2000), table(1000, seed=1)
    cells, full = copies(X, DOMAIN, k=40)
    points = km.SparseKDE(domain=DOMAIN, k=40, spread=None, **COPY).fit(X).mean_
    truth = full.log(Q)
    assert points.spreads is None
    assert np.abs(cells.log(Q) - truth).mean() < 0.5 * np.abs(points.log(Q) - truth).mean()
    assert cells.log(Q).mean() > truth.mean() - 0.05


def test_round_cells_have_the_traces_of_the_others():
    full, _ = copies(table(), DOMAIN, k=8)
    round_ones, _ = copies(table(), DOMAIN, k=8, spread="scalar")
    V = round_ones.spreads[:, :2, :2]
    np.testing.assert_allclose(V, V[:, :1, :1] * np.eye(2))
    traces = [np.trace(mean.spreads[:, :2, :2], axis1=1, axis2=2) for mean in (full, round_ones)]
    np.testing.assert_allclose(*traces, rtol=1e-12)


def test_integer_weights_are_repeated_rows():
    X = table(60)
    w = np.random.default_rng(0).integers(1, 4, 60)
    settings = {"domain": DOMAIN, "k": 7, "bandwidth": 0.4, "scale": None, **COPY}
    weighted = km.SparseKDE(**settings).fit(X, sample_weight=w)
    repeated = km.SparseKDE(**settings).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(weighted.score_samples(X), repeated.score_samples(X), rtol=1e-9)


def test_categories_alone_have_shares_and_no_spread():
    X = np.random.default_rng(0).integers(0, 3, (300, 2)).astype(float)
    cells, full = copies(X, {0: km.Categorical(), 1: km.Categorical()}, k=4)
    assert cells.spreads is None
    shares = [mean.weights @ np.exp(mean.log_shares) for mean in (cells, full)]
    np.testing.assert_allclose(*shares, rtol=1e-12)


@pytest.mark.parametrize("rows", [table(1), np.repeat(table(1), 5, axis=0), table(3)])
def test_few_rows_and_equal_rows_are_their_own_cells(rows):
    cells, full = copies(rows, DOMAIN, bandwidth=0.5, scale=None)
    np.testing.assert_allclose(cells.log(rows), full.log(rows), rtol=1e-9)


@pytest.mark.parametrize(
    "settings", [{"spread": None}, {"error": 0.2}, {"selection": [0, 5, 9, 30]}]
)
def test_centres_are_points_where_that_is_asked_for(settings):
    assert km.SparseKDE(domain=DOMAIN, **(COPY | settings)).fit(table()).mean_.spreads is None


@pytest.mark.parametrize("kind", ["scalar", "full"])
def test_spreads_that_cannot_be_had_are_refused(kind, monkeypatch):
    with pytest.raises(ValueError, match="without error="):
        km.SparseKDE(domain=DOMAIN, error=0.2, spread=kind).fit(table())
    with pytest.raises(ValueError, match="is for densities"):
        km.sparse_kernel_mean(table(), domain=DOMAIN, space="l2", spread=kind)
    monkeypatch.setattr(km.fitting.spreads, "full_fits", lambda k, d: False)
    with pytest.raises(ValueError, match=r"too much memory|more than fits"):
        km.SparseKDE(domain=DOMAIN, spread=kind, **COPY).fit(table())
    assert km.SparseKDE(domain=DOMAIN, **COPY).fit(table()).mean_.spreads is None


def test_a_copy_of_cells_is_known_as_a_copy(tmp_path):
    density = km.SparseKDE(domain=DOMAIN, k=12, **COPY).fit(table())
    assert density.target_ == "kde"
    assert not is_by_likelihood(density.mean_)
    density.mean_.save(tmp_path / "cells.npz")
    again = km.load(tmp_path / "cells.npz")
    np.testing.assert_array_equal(again.log(table()), density.mean_.log(table()))
    assert not is_by_likelihood(again)


@pytest.mark.parametrize("domain", [{0: (-99, None)}, {4: km.Categorical()}])
def test_warnings_of_large_errors_point_to_the_line_of_the_user(domain):
    narrow = {"domain": domain, "bandwidth": 0.02, "k_max": 20, "spread": None, "scale": None}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        km.SparseKDE(random_state=0, **narrow).fit(table())
        km.sparse_kernel_mean(table(), space="l2", random_state=0, **narrow)
    assert [w.category for w in caught] == [km.FitWarning] * 2
    assert {w.filename for w in caught} == {__file__}
