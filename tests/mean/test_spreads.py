"""Means whose centres are atoms N(c, S): everything they can do, against a brute-force mixture."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean.mean import sampling, storage
from kernelmean.mean.climbing import DensityToClimb, ascend
from kernelmean.mean.loading import unpacked
from tests import brute

KINDS = ["scalar", "full"]
SPACES = ["rkhs", "l2"]
ENGINES = ["naive", "cpu"]
SKEW = np.array([[2.0, 0.3, 0.0], [0.0, 0.5, -0.4], [0.1, 0.0, 1.5]])
ROTATION = np.linalg.qr(np.random.default_rng(8).normal(size=(3, 3)))[0]
SAMPLE = np.random.default_rng(4).normal(size=(400, 3)) @ np.array(
    [[1.0, 0.5, 0.0], [0.0, 0.7, 0.0], [0.2, 0.0, 1.4]]
)
QUERIES = np.random.default_rng(5).normal(size=(7, 3)) * 2


def spreads_of(kind, k, d, rng, size=1.0):
    if kind is None:
        return None
    if kind == "scalar":
        return size * rng.uniform(0.0, 1.0, k)
    roots = rng.normal(size=(k, d, d)) * np.sqrt(size / d)
    S = roots @ np.swapaxes(roots, 1, 2)
    return 0.5 * (S + np.swapaxes(S, 1, 2))


def mean_of(
    kind,
    k=6,
    *,
    seed=0,
    space="l2",
    scale=None,
    sigma=0.7,
    signed=False,
    engine="naive",
    size=1.0,
    d=3,
):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=k) if signed else rng.dirichlet(np.ones(k))
    centers = rng.normal(size=(k, d))
    spreads = spreads_of(kind, k, d, rng, size)
    return km.KernelMean(
        centers, weights, km.Gaussian(sigma), space, scale, 10, engine, spreads=spreads
    )


def fitted(kind, X=SAMPLE, k=12, **options):
    given_options = {
        "kernel": km.Gaussian(0.6),
        "selection": "kmeans",
        "engine": "naive",
        "random_state": 0,
        "spread": kind,
        "k": k,
    }
    return km.sparse_kernel_mean(X, **{**given_options, **options})


# Values


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scale", [None, SKEW], ids=["plain", "scaled"])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kind", KINDS)
def test_values_and_gradients(kind, space, scale, engine):
    mean = mean_of(kind, space=space, scale=scale, engine=engine)
    expected = brute.mixture_value(mean, QUERIES)
    slopes = brute.mixture_gradient(mean, QUERIES)
    np.testing.assert_allclose(mean(QUERIES), expected, rtol=1e-11)
    np.testing.assert_allclose(mean.log(QUERIES), np.log(expected), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(mean.gradient(QUERIES), slopes, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(
        mean.log_gradient(QUERIES), slopes / expected[:, None], rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kind", KINDS)
def test_values_and_gradients_of_signed_means(kind, space):
    mean = mean_of(kind, space=space, signed=True)
    np.testing.assert_allclose(mean(QUERIES), brute.mixture_value(mean, QUERIES), rtol=1e-10)
    np.testing.assert_allclose(
        mean.gradient(QUERIES), brute.mixture_gradient(mean, QUERIES), rtol=1e-8, atol=1e-12
    )
    with pytest.raises(ValueError, match="simplex"):
        mean.log(QUERIES)


@pytest.mark.parametrize("kind", KINDS)
def test_far_in_the_tails_only_the_logarithm_is_left(kind):
    mean = mean_of(kind, space="rkhs")
    far = 80.0 * QUERIES
    terms = brute.mixture_log_terms(mean, far) + np.log(mean.weights)
    np.testing.assert_allclose(mean.log(far), np.logaddexp.reduce(terms, axis=1), rtol=1e-10)
    assert np.isfinite(mean.log_gradient(far)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_no_spread_is_the_mean_on_points(kind):
    points = mean_of(None)
    zero = np.zeros(6) if kind == "scalar" else np.zeros((6, 3, 3))
    atoms = dataclasses.replace(points, spreads=zero)
    np.testing.assert_allclose(atoms(QUERIES), points(QUERIES), rtol=1e-13)
    np.testing.assert_allclose(atoms.gradient(QUERIES), points.gradient(QUERIES), rtol=1e-10)
    assert atoms.inner(points) == pytest.approx(points.inner(points), rel=1e-13)
    assert atoms.distance(points) < 1e-8
    other = mean_of("scalar", seed=3)
    assert atoms.distance(other) == pytest.approx(points.distance(other), rel=1e-10)


@pytest.mark.parametrize("size", [1e-14, 1e6])
@pytest.mark.parametrize("kind", KINDS)
def test_huge_and_tiny_spreads(kind, size):
    mean = mean_of(kind, size=size)
    np.testing.assert_allclose(
        mean.log(QUERIES), np.log(brute.mixture_value(mean, QUERIES)), rtol=1e-9
    )
    assert mean.inner(mean) == pytest.approx(brute.mixture_inner(mean, mean), rel=1e-9)


def test_many_dimensions_in_the_log_domain():
    """In 784 dimensions densities and norms are no floats; logarithms and slopes are."""
    rng = np.random.default_rng(0)
    mean = mean_of("scalar", 5, d=784, size=3.0)
    Q = rng.normal(size=(4, 784))
    terms = brute.mixture_log_terms(mean, Q) + np.log(mean.weights)
    np.testing.assert_allclose(mean.log(Q), np.logaddexp.reduce(terms, axis=1), rtol=1e-10)
    slope = mean.log_gradient(Q)
    step = 1e-4 * rng.normal(size=784)
    rise = mean.log(Q + step) - mean.log(Q - step)
    np.testing.assert_allclose(2 * slope @ step, rise, rtol=1e-5, atol=1e-6)
    narrow = mean_of("scalar", 5, d=784, size=3.0, sigma=0.05)
    assert np.isfinite(narrow.log(Q)).all()


# Comparisons


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("second", [None, *KINDS])
@pytest.mark.parametrize("first", [None, *KINDS])
def test_inner_products_and_distances_of_all_kinds(first, second, space):
    f = mean_of(first, seed=1, space=space, scale=SKEW, signed=True)
    h = mean_of(second, 4, seed=2, space=space, scale=SKEW)
    assert f.inner(h) == pytest.approx(brute.mixture_inner(f, h), rel=1e-10)
    assert h.inner(f) == pytest.approx(f.inner(h), rel=1e-12)
    assert f.distance(h) == pytest.approx(brute.mixture_distance(f, h), rel=1e-8)
    assert f.distance(f) == 0.0


@pytest.mark.parametrize("second", [None, *KINDS])
@pytest.mark.parametrize("first", KINDS)
def test_different_bandwidths_compare_in_l2(first, second):
    f, h = mean_of(first, seed=1, sigma=0.4), mean_of(second, 4, seed=2, sigma=1.1)
    assert f.inner(h) == pytest.approx(brute.mixture_inner(f, h), rel=1e-10)
    assert f.distance(h) == pytest.approx(brute.mixture_distance(f, h), rel=1e-8)


@pytest.mark.parametrize("second", [None, *KINDS])
@pytest.mark.parametrize("first", KINDS)
def test_turned_coordinates_are_the_same_scale(first, second):
    """A and RA measure distances alike; a covariance must turn with its coordinates."""
    f = mean_of(first, seed=1, scale=SKEW)
    h = mean_of(second, 4, seed=2, scale=ROTATION @ SKEW)
    assert f.inner(h) == pytest.approx(brute.mixture_inner(f, h), rel=1e-10)
    assert h.inner(f) == pytest.approx(brute.mixture_inner(f, h), rel=1e-10)
    assert f.distance(h) == pytest.approx(brute.mixture_distance(f, h), rel=1e-8)


def test_a_matrix_of_distances_with_every_kind():
    means = [
        mean_of(kind, 3 + seed, seed=seed, scale=turn @ SKEW)
        for seed, (kind, turn) in enumerate(
            [
                (None, np.eye(3)),
                ("full", ROTATION),
                ("scalar", np.eye(3)),
                ("full", np.eye(3)),
                (None, ROTATION),
                ("scalar", ROTATION),
            ]
        )
    ]
    expected = [[0.0 if f is h else brute.mixture_distance(f, h) for h in means] for f in means]
    np.testing.assert_allclose(km.distance_matrix(means), expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(
        km.distance_matrix(means[:2], means[2:]), np.array(expected)[:2, 2:], rtol=1e-8
    )


def test_a_matrix_of_distances_with_different_bandwidths():
    means = [
        mean_of(kind, seed=seed, sigma=sigma)
        for seed, (kind, sigma) in enumerate([("full", 0.5), ("scalar", 1.2), (None, 0.5)])
    ]
    expected = [[0.0 if f is h else brute.mixture_distance(f, h) for h in means] for f in means]
    np.testing.assert_allclose(km.distance_matrix(means), expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_distance_to_the_full_mean_is_the_error(kind):
    mean = fitted(kind, space="l2")
    full = km.kernel_mean(SAMPLE, kernel=mean.kernel, space="l2", engine="naive")
    exact = mean.certificate(SAMPLE, method="exact")
    assert mean.distance(full) == pytest.approx(exact.error, rel=1e-8)
    assert full.distance(mean) == pytest.approx(exact.error, rel=1e-8)
    assert mean.inner(full) == pytest.approx(
        np.mean(
            brute.mixture_value(dataclasses.replace(mean, kernel=km.Gaussian(2**0.5 * 0.6)), SAMPLE)
        ),
        rel=1e-9,
    )


def test_many_products_are_summed_without_a_matrix(monkeypatch):
    from kernelmean.mean import expansion

    f, h = mean_of("full", seed=1), mean_of("scalar", seed=2)
    expected = f.distance(h)
    monkeypatch.setattr(expansion, "MAX_PRODUCTS", 1)
    assert f.distance(h) == pytest.approx(expected, rel=1e-9)


# Fits, and what follows from them


@pytest.mark.parametrize("scale", [None, "std", "cov", SKEW], ids=["none", "std", "cov", "matrix"])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kind", KINDS)
def test_kappa_and_weights_are_those_of_the_mixture(kind, space, scale):
    mean = fitted(kind, space=space, scale=scale)
    alone = dataclasses.replace(mean, weights=np.ones(1), centers=mean.centers[:1])
    full = km.kernel_mean(SAMPLE, kernel=mean.kernel, space=space, scale=mean.scale, engine="naive")
    unit = np.exp(full.log_unit)
    for a in (0, 5):
        atom = dataclasses.replace(
            alone, centers=mean.centers[a : a + 1], spreads=mean.spreads[a : a + 1]
        )
        assert mean.kappa[a] * unit == pytest.approx(brute.mixture_inner(atom, full), rel=1e-9)
    K = np.array(
        [
            [
                brute.mixture_inner(mean.expansion.restricted([a]), mean.expansion.restricted([b]))
                / mean.weights[a]
                / mean.weights[b]
                for b in range(mean.k)
            ]
            for a in range(mean.k)
        ]
    )
    np.testing.assert_allclose(K @ mean.weights, mean.kappa * unit, rtol=1e-6)
    assert mean.indices is None
    assert mean.bound is None
    assert mean.tighter_bound is None


@pytest.mark.parametrize("scale", [None, SKEW], ids=["plain", "scaled"])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kind", KINDS)
def test_certificates_agree_with_the_mixture(kind, space, scale):
    mean = fitted(kind, space=space, scale=scale)
    full = km.kernel_mean(
        SAMPLE[:150], kernel=mean.kernel, space=space, scale=mean.scale, engine="naive"
    )
    expected = brute.mixture_distance(mean, full)
    exact = mean.certificate(SAMPLE[:150], method="exact")
    assert exact.error == pytest.approx(expected, rel=1e-8)
    assert exact.relative_error == pytest.approx(
        expected / np.sqrt(brute.mixture_inner(full, full)), rel=1e-8
    )
    rows = mean.certificate(SAMPLE[:150], method="rows", size=150, random_state=0)
    assert rows.error == pytest.approx(expected, rel=1e-7)
    spectral = mean.certificate(SAMPLE[:150], method="spectral", size=20_000, random_state=0)
    assert abs(spectral.error - expected) < 5 * spectral.standard_error


@pytest.mark.parametrize("kind", KINDS)
def test_truncation_solves_for_the_first_atoms(kind):
    mean = fitted(kind, constraint="simplex", space="l2")
    short = mean.truncate(5)
    np.testing.assert_array_equal(short.spreads, mean.spreads[:5])
    np.testing.assert_array_equal(short.centers, mean.centers[:5])
    assert short.weights.min() >= 0.0
    assert short.weights.sum() == pytest.approx(1.0)
    errors = [mean.truncate(m).certificate(SAMPLE, method="exact").error for m in (2, 5, 9, 12)]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("kind", KINDS)
def test_another_bandwidth_keeps_the_atoms(kind):
    mean = fitted(kind, space="l2")
    wide = mean.refit(SAMPLE, bandwidth=1.3)
    assert wide.kernel.bandwidth == 1.3
    np.testing.assert_array_equal(wide.centers, mean.centers)
    np.testing.assert_array_equal(wide.spreads, mean.spreads)
    full = km.kernel_mean(SAMPLE, kernel=wide.kernel, space="l2", engine="naive")
    exact = wide.certificate(SAMPLE, method="exact").error
    assert exact == pytest.approx(brute.mixture_distance(wide, full), rel=1e-6)
    nudged = dataclasses.replace(wide, weights=wide.weights * (1 + 1e-3 * np.arange(12)))
    assert exact < nudged.certificate(SAMPLE, method="exact").error


@pytest.mark.parametrize("scale", [None, "cov"], ids=["plain", "scaled"])
@pytest.mark.parametrize("kind", KINDS)
def test_refits_to_a_constraint_and_to_other_data(kind, scale):
    mean = fitted(kind, scale=scale)
    valid = mean.refit(constraint="simplex")
    assert valid.weights.min() >= 0.0
    assert valid.weights.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(valid.spreads, mean.spreads)
    np.testing.assert_allclose(mean.refit(SAMPLE).weights, mean.weights, rtol=1e-7, atol=1e-10)
    other = mean.refit(SAMPLE[:100])
    assert other.n_points == 100
    worse = mean.certificate(SAMPLE[:100], method="exact").error
    assert other.certificate(SAMPLE[:100], method="exact").error < worse


def test_atoms_need_a_gaussian_kernel():
    for kind in KINDS:
        with pytest.raises(ValueError, match=r"^spread=\S+ needs a Gaussian kernel; .*\.$"):
            fitted(kind, kernel="laplacian")
    with pytest.raises(ValueError, match="Gaussian"):
        fitted("scalar").refit(SAMPLE, kernel="laplacian")


@pytest.mark.parametrize("kind", KINDS)
def test_integer_weights_are_repeated_rows(kind):
    w = np.random.default_rng(0).integers(0, 4, len(SAMPLE))
    rows = np.flatnonzero(w)[:10]
    weighted = fitted(kind, selection=rows, k=10, sample_weight=w)
    repeated = brute.repeated(SAMPLE, w)
    firsts = np.cumsum(w)[rows] - w[rows]
    plain = fitted(kind, repeated, selection=firsts, k=10)
    np.testing.assert_allclose(weighted.centers, plain.centers, rtol=1e-10)
    np.testing.assert_allclose(weighted.spreads, plain.spreads, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(weighted.weights, plain.weights, rtol=1e-7)
    assert weighted.certificate(SAMPLE, sample_weight=w, method="exact").error == pytest.approx(
        plain.certificate(repeated, method="exact").error, rel=1e-7
    )


@given(st.integers(1, 30), st.integers(1, 4), st.integers(0, 10**6), st.booleans())
def test_masses_keep_the_moments_of_the_sample(k, d, seed, weighted):
    """With the masses of the cells as weights: mean and covariance, or mean and trace."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, d)) * rng.uniform(0.1, 3.0, d) + rng.normal(size=d)
    w = rng.integers(1, 4, 60) if weighted else np.ones(60)
    p = w / w.sum()
    mean = p @ X
    covariance = (X - mean).T @ (p[:, None] * (X - mean))
    rows = rng.choice(60, k, replace=False)
    owner = brute.squared_distances(X, X[rows]).argmin(axis=1)
    masses = np.bincount(owner, p, k)
    for kind in KINDS:
        atoms = fitted(kind, X, k, selection=rows, sample_weight=w).expansion.atoms.as_kind("full")
        np.testing.assert_allclose(masses @ atoms.centers, mean, atol=1e-12)
        offsets = atoms.centers - mean
        total = np.einsum("a,aij->ij", masses, atoms.spreads)
        total += np.einsum("a,ai,aj->ij", masses, offsets, offsets)
        if kind == "full":
            np.testing.assert_allclose(total, covariance, atol=1e-11)
        else:
            assert np.trace(total) == pytest.approx(np.trace(covariance), rel=1e-11)


AWKWARD = {
    "one row": np.array([[1.0, 2.0]]),
    "two rows": np.array([[1.0, 2.0], [3.0, 5.0]]),
    "duplicates": np.repeat([[0.0, 0.0], [1.0, 1.0], [4.0, 0.0]], 5, axis=0),
    "collinear": np.linspace(0, 3, 40)[:, None] * np.array([1.0, 2.0]),
    "constant column": np.column_stack([np.linspace(0, 3, 40), np.full(40, 7.0)]),
    "far away": 1e6 + np.random.default_rng(0).normal(size=(40, 2)),
}


@pytest.mark.parametrize("k", [1, 2, 30])
@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("kind", KINDS)
def test_cells_of_few_equal_or_collinear_points(kind, name, k):
    X = AWKWARD[name]
    mean = fitted(kind, X, k, constraint="simplex", space="l2")
    assert mean.k <= len(np.unique(X, axis=0))
    assert np.isfinite(mean.weights).all()
    spreads = mean.expansion.atoms.as_kind("full").spreads
    assert np.linalg.eigvalsh(spreads).min() >= -1e-9
    Q = X[:3] + 0.1
    np.testing.assert_allclose(mean(Q), brute.mixture_value(mean, Q), rtol=1e-6)
    assert np.isfinite(mean.certificate(X, method="exact").error)
    assert np.isfinite(mean.truncate(1)(Q)).all()
    if name == "duplicates" and k > 2:
        assert mean.certificate(X, method="exact").relative_error < 1e-6


# Draws and climbs


@pytest.mark.parametrize("scale", [None, SKEW], ids=["plain", "scaled"])
@pytest.mark.parametrize("kind", KINDS)
def test_draws_have_the_moments_of_the_mixture(kind, scale):
    mean = mean_of(kind, scale=scale)
    X = sampling.draw(mean, 200_000, np.random.default_rng(0))
    kernel, own = brute.covariances(mean)
    center = mean.weights @ mean.centers
    offsets = mean.centers - center
    covariance = kernel + np.einsum("a,aij->ij", mean.weights, own)
    covariance += np.einsum("a,ai,aj->ij", mean.weights, offsets, offsets)
    deviations = np.sqrt(np.diag(covariance))
    assert (abs(X.mean(axis=0) - center) < 5 * deviations / np.sqrt(len(X))).all()
    np.testing.assert_allclose(
        np.cov(X.T) / np.outer(deviations, deviations),
        covariance / np.outer(deviations, deviations),
        atol=0.03,
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scale", [None, SKEW], ids=["plain", "scaled"])
@pytest.mark.parametrize("kind", KINDS)
def test_climbing_never_falls_and_ends_where_the_slope_is_none(kind, scale, engine):
    mean = mean_of(kind, 8, scale=scale, sigma=0.3, size=0.2, engine=engine)
    density = DensityToClimb.of(mean)
    starts = mean.map(np.concatenate([QUERIES, mean.centers + 0.2]))
    heights = np.full(len(starts), -np.inf)
    ends = starts.copy()
    for rows, iterate, arrived in ascend(density, starts, 1e-9):
        assert (iterate.log_value >= heights[rows] - 1e-12).all()
        heights[rows] = iterate.log_value
        ends[rows[arrived]] = (iterate.x + iterate.step)[arrived]
    back = ends if scale is None else np.linalg.solve(scale, ends.T).T + mean.centers[0]
    slope = mean.log_gradient(back)
    assert np.abs(slope).max() < 1e-4
    np.testing.assert_allclose(
        mean.log(back), np.log(brute.mixture_value(mean, back)), rtol=1e-9, atol=1e-12
    )


# Files


def assert_equal_fields(a, b):
    for entry in dataclasses.fields(a):
        left, right = getattr(a, entry.name), getattr(b, entry.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, entry.name
            np.testing.assert_array_equal(left, right, err_msg=entry.name)
        elif not (isinstance(left, float) and np.isnan(left) and np.isnan(right)):
            assert left == right, entry.name


@pytest.mark.parametrize("scale", [None, "cov"])
@pytest.mark.parametrize("kind", KINDS)
def test_files_and_pickles_come_back_bit_for_bit(tmp_path, kind, scale):
    mean = fitted(kind, space="l2", scale=scale, constraint="simplex")
    mean.save(tmp_path / "mean.km")
    again = km.load(tmp_path / "mean.km")
    assert_equal_fields(dataclasses.replace(mean, engine="cpu"), again)
    assert_equal_fields(mean, pickle.loads(pickle.dumps(mean)))
    expansion = pickle.loads(pickle.dumps(mean.expansion))
    np.testing.assert_array_equal(expansion(QUERIES), mean(QUERIES))
    assert f"{kind} atoms" in repr(again)
    with pytest.raises(ValueError, match="read-only"):
        again.spreads[0] = 1.0


def test_a_file_without_spreads_is_one_of_points(tmp_path):
    fitted(None).save(tmp_path / "mean.km")
    _, arrays = storage.read(tmp_path / "mean.km")
    assert "spreads" not in arrays
    assert km.load(tmp_path / "mean.km").spreads is None


def negative_eigenvalue(S):
    """The diagonal is fine, the matrix is no covariance."""
    bad = S.copy()
    bad[0] = np.eye(3)
    bad[0, 0, 1] = bad[0, 1, 0] = 2.0
    return bad


def with_entry(array, where, value):
    changed = array.copy()
    changed[where] = value
    return changed


DAMAGES = {
    "negative variance": ("scalar", lambda v: with_entry(v, 2, -1e-3), "no covariances"),
    "not finite": ("scalar", lambda v: with_entry(v, 2, np.nan), "not finite"),
    "too few": ("scalar", lambda v: v[:-1], "wrong type or shape"),
    "integers": ("scalar", lambda v: v.astype(np.int64), "wrong type or shape"),
    "negative on the diagonal": (
        "full",
        lambda S: with_entry(S, (1, 0, 0), -1.0),
        "no covariances",
    ),
    "asymmetric": ("full", lambda S: with_entry(S, (1, 0, 1), 0.3), "no covariances"),
    "negative eigenvalue": ("full", negative_eigenvalue, "no covariances"),
    "a matrix too small": ("full", lambda S: S[:, :2, :2].copy(), "wrong type or shape"),
    "two axes": ("full", lambda S: S[:, 0].copy(), "wrong type or shape"),
}


@pytest.mark.parametrize(("kind", "damage", "message"), DAMAGES.values(), ids=DAMAGES)
def test_spreads_that_are_none_are_refused(tmp_path, kind, damage, message):
    header, arrays = fitted(kind).packed()
    arrays["spreads"] = damage(arrays["spreads"])
    storage.write(tmp_path / "bad.km", header, arrays)
    with pytest.raises(ValueError, match=message):
        km.load(tmp_path / "bad.km")


def test_spreads_of_another_kernel_are_refused():
    header, arrays = fitted("scalar").packed()
    with pytest.raises(ValueError, match="not Gaussian"):
        unpacked({**header, "kernel": {"name": "laplacian", "scale": 1.0}}, arrays)


@pytest.mark.parametrize("kind", KINDS)
def test_a_stored_covariance_may_be_singular(tmp_path, kind):
    """A cell of one point, and one of collinear points, whose eigenvalues round below zero."""
    X = AWKWARD["collinear"]
    mean = fitted(kind, X, 7)
    mean.save(tmp_path / "mean.km")
    np.testing.assert_array_equal(km.load(tmp_path / "mean.km").spreads, mean.spreads)


def test_a_refit_knows_what_atoms_may_not_have():
    X = np.random.default_rng(0).normal(size=(200, 2))
    mean = km.sparse_kernel_mean(
        X, bandwidth=0.5, k=8, selection="kmeans", spread="scalar", random_state=0
    )
    assert mean.refit(X, bandwidth=0.6).nearest_bound is None
    with pytest.raises(ValueError, match="spreads, which need a Gaussian kernel"):
        mean.refit(X, kernel="laplacian")


def test_points_beside_covariances_need_no_matrix_each():
    """The full mean of many points in many coordinates, by what the atoms make of each point."""
    X = np.random.default_rng(0).normal(size=(300, 30))
    mean = km.sparse_kernel_mean(
        X, bandwidth=2.0, k=5, selection="kmeans", spread="full", space="l2", random_state=0
    )
    full = km.kernel_mean(X, kernel=mean.kernel, space="l2")
    assert mean.distance(full) == pytest.approx(mean.certificate(X, method="exact").error, rel=1e-9)
    assert full.distance(mean) == pytest.approx(mean.distance(full), rel=1e-12)
