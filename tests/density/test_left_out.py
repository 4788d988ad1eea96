"""Scores of rows that are left out, against the naive definition of what a cell is without them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

import kernelmean as km
from kernelmean.density.left_out import ScoredRows, left_out_logs
from kernelmean.samples import ArraySample, WeightedSample


def cloud(n=120, d=3, seed=0):
    """Two humps, a few rows far out, one row twice."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 4.0 * (np.arange(n) % 2)[:, None]
    X[:3] *= 9.0
    X[3] = X[4]
    return X


def scores(density, X, w=None):
    sample = WeightedSample.of(ArraySample(X), None if w is None else np.asarray(w, dtype=float))
    return left_out_logs(density, ScoredRows.of(sample))


def components(density, spreads=None):
    """α, c and V of the mixture, in the data."""
    mean = density.expansion
    A = np.eye(mean.dimension) if mean.scale is None else mean.scale
    S = np.zeros(mean.k) if mean.spreads is None else mean.spreads
    S = S[:, None, None] * np.eye(mean.dimension) if S.ndim == 1 else S
    back = np.linalg.inv(A)
    variance = mean.kernel.length**2 * np.eye(mean.dimension)
    return mean.weights, mean.centers, back @ (S + variance) @ back.T, back


def naive(density, X):
    """Every cell without the row by the moments of its other rows, one row at a time."""
    weights, centers, V, back = components(density)
    mean = density.expansion
    Y = mean.map(X)
    labels = cdist(Y, mean.mapped_centers).argmin(axis=1)
    noise = mean.kernel.length**2 * back @ back.T
    found = []
    for i, x in enumerate(X):
        a = labels[i]
        terms = [
            np.log(weights[b]) + multivariate_normal(centers[b], V[b]).logpdf(x)
            for b in range(mean.k)
            if b != a and weights[b] > 0.0
        ]
        others = np.flatnonzero((labels == a) & (np.arange(len(X)) != i))
        if len(others) and weights[a] > 0.0:
            alpha = weights[a] * len(others) / (len(others) + 1)
            moments = spread_of(X[others], back, mean.spreads)
            terms.append(
                np.log(alpha)
                + multivariate_normal(X[others].mean(axis=0), moments + noise).logpdf(x)
            )
        found.append(logsumexp(terms) - np.log1p(-1.0 / len(X)))
    return np.array(found)


def spread_of(rows, back, spreads):
    """The covariance of rows as the kind of spread has it."""
    d = rows.shape[1]
    if spreads is None:
        return np.zeros((d, d))
    offsets = (rows - rows.mean(axis=0)) @ np.linalg.inv(back).T
    S = offsets.T @ offsets / len(rows)
    if spreads.ndim == 1:
        S = np.trace(S) / d * np.eye(d)
    return back @ S @ back.T


@pytest.mark.parametrize("scale", [None, "auto", "cov"])
@pytest.mark.parametrize("spread", [None, "scalar", "full"])
@pytest.mark.parametrize("bandwidth", [0.2, 1.5])
def test_a_row_is_taken_out_of_the_mass_mean_and_covariance_of_its_cell(scale, spread, bandwidth):
    """Centroids and cells after Lloyd's last step: near, not equal; so they are made equal."""
    X = cloud()
    options = {"bandwidth": bandwidth, "scale": scale, "random_state": 0, "k": 7}
    fitted = km.SparseKDE(selection="kmeans", spread=spread, **options).fit(X).mean_
    exact = of_cells(fitted, X)
    np.testing.assert_allclose(scores(exact, X), naive(exact, X), rtol=1e-6, atol=1e-6)


def of_cells(density, X):
    """The same mean with each atom at the very moments of its cell.

    That moves a centre into another cell only where rows lie at a border; none does here.
    """
    from dataclasses import replace

    mean = density.expansion
    back = components(density)[3]
    centers, spreads = mean.centers.copy(), mean.spreads
    labels = cdist(mean.map(X), mean.mapped_centers).argmin(axis=1)
    spreads = None if spreads is None else spreads.copy()
    for a in range(mean.k):
        rows = X[labels == a]
        centers[a] = rows.mean(axis=0)
        if spreads is not None:
            A = np.linalg.inv(back)
            S = A @ spread_of(rows, back, mean.spreads) @ A.T
            spreads[a] = S[0, 0] if spreads.ndim == 1 else S
    moved = replace(density, centers=centers, spreads=spreads)
    after = cdist(moved.expansion.map(X), moved.expansion.mapped_centers).argmin(axis=1)
    np.testing.assert_array_equal(after, labels)
    return moved


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "cauchy"])
@pytest.mark.parametrize("bandwidth", [0.02, 0.2, 1.5])
def test_a_full_density_is_the_sum_over_the_other_rows(kernel, bandwidth):
    X = cloud(30)
    units = scale_of(X)
    options = {"kernel": kernel, "bandwidth": bandwidth, "scale": np.diag(units)}
    expected = [
        km.SparseKDE(sparse=False, **{**options, "scale": None})
        .fit(np.delete(X, i, axis=0) * units)
        .mean_.log(X[i : i + 1] * units)[0]
        + np.log(units).sum()
        for i in range(len(X))
    ]
    full = km.SparseKDE(sparse=False, **options).fit(X).mean_
    np.testing.assert_allclose(scores(full, X), expected, rtol=1e-9, atol=1e-9)
    every = km.SparseKDE(k=len(X), spread=None, selection="kcenter", **options).fit(X).mean_
    # Weights of wide kernels at all rows hang on the last digits.
    np.testing.assert_allclose(scores(every, X), expected, rtol=1e-3, atol=1e-3)


def scale_of(X):
    return np.diag(km.sparse_kernel_mean(X, scale="auto", bandwidth=1.0, k=1).scale)


@pytest.mark.parametrize("bandwidth", [0.05, 0.5])
def test_a_centre_that_is_a_row_stands_for_it_as_far_as_its_other_rows(bandwidth):
    X = cloud()
    fitted = km.SparseKDE(
        bandwidth=bandwidth, k=10, selection="kcenter", spread=None, random_state=0
    )
    mean = fitted.fit(X).mean_
    labels = cdist(X, mean.centers).argmin(axis=1)
    squared = cdist(X, mean.centers, "sqeuclidean")
    found = scores(mean, X)
    constant = mean.kernel.log_density_constant(3)
    for i in range(len(X)):
        a = labels[i]
        members = np.flatnonzero(labels == a)
        others = members[members != i]
        alpha = mean.weights.copy()
        r2 = squared[i].copy()
        alpha[a] *= len(others) / len(members)
        if i in mean.indices and not (X[others] == X[i]).all(axis=1).any():
            r2[a] = np.mean(squared[others, a]) if len(others) else 0.0
        with np.errstate(divide="ignore"):
            expected = logsumexp(np.log(alpha) - r2 / (2 * bandwidth**2)) + constant
        assert found[i] == pytest.approx(expected - np.log1p(-1 / len(X)), rel=1e-9)


@pytest.mark.parametrize("options", [{"sparse": False}, {"k": 30, "selection": "kcenter"}], ids=str)
def test_integer_weights_leave_one_copy_out(options):
    X = cloud(60)
    w = np.random.default_rng(1).integers(1, 4, len(X))
    fixed = {"bandwidth": 0.4, "spread": None, "random_state": 0, **options}
    weighted = km.SparseKDE(**fixed).fit(X, sample_weight=w).mean_
    repeated = km.SparseKDE(**fixed).fit(np.repeat(X, w, axis=0)).mean_
    np.testing.assert_allclose(
        np.repeat(scores(weighted, X, w), w),
        scores(repeated, np.repeat(X, w, axis=0)),
        rtol=1e-7,
    )


def test_weights_that_are_no_counts_are_left_out_whole():
    X = cloud(40)
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    options = {"bandwidth": 0.5, "sparse": False}
    full = km.SparseKDE(**options).fit(X, sample_weight=w).mean_
    without = (
        km.SparseKDE(**options).fit(np.delete(X, 7, axis=0), sample_weight=np.delete(w, 7)).mean_
    )
    assert scores(full, X, w)[7] == pytest.approx(without.log(X[7:8])[0], rel=1e-9)


@pytest.mark.parametrize("engine", ["naive", "cpu"])
@pytest.mark.parametrize("spread", [None, "scalar", "full"])
def test_engines_agree_far_out_too(engine, spread):
    X = cloud() * 100.0
    options = {"bandwidth": 0.3, "k": 9, "selection": "kmeans", "random_state": 0}
    mean = km.SparseKDE(spread=spread, engine=engine, **options).fit(X).mean_
    reference = km.SparseKDE(spread=spread, engine="naive", **options).fit(X).mean_
    found = scores(mean, X)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, scores(reference, X), rtol=1e-6)


def test_a_profile_of_ones_own_may_vanish():
    """Its logarithm is −∞ beyond its reach; such rows are the lowest, not NaN."""
    own = km.Radial(
        lambda s: max(0.0, 1.0 - s) ** 2,
        log_constant=lambda d: 0.0,
        l2_profile=lambda s: max(0.0, 1.0 - s) ** 3,
        l2_constant=lambda d: 0.0,
    )
    X = np.append(np.linspace(0.0, 1.0, 30), 50.0)[:, None]
    found = scores(km.SparseKDE(kernel=own, sparse=False).fit(X).mean_, X)
    assert np.isneginf(found[-1])
    assert np.isfinite(found[:-1]).all()
