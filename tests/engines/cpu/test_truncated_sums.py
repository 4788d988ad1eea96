"""Sums of narrow kernels against the plain sum in longer arithmetic, and their independence of
threads.

Tolerance: 1e-15 of the sum of absolute terms, plus the rounding of the exponent, |log g| · 2⁻⁵², at
the terms that make up the sum: no formula in float64 does without it.
"""

import numba
import numpy as np
import pytest

import kernelmean as km
from kernelmean.engines.cpu import box_expansion as expansion
from kernelmean.engines.cpu import gaussian
from kernelmean.engines.cpu import truncated_sums as narrow

one, two, five = (km.engines.open("cpu", threads=count) for count in (1, 2, 5))
N = 20_000


def own_profile(s):
    return 1.0 / (1.0 + s + 0.5 * s * s) ** 4


OWN = km.Radial(own_profile)  # one kernel at many bandwidths is compiled once

RADIALS = {
    "gaussian": lambda d, h: km.Gaussian(h).formula(d),
    "gaussian-l2": lambda d, h: km.Gaussian(h).radial(d, "l2"),
    "laplacian": lambda d, h: km.Laplacian(h).formula(d),
    "laplacian-l2": lambda d, h: km.Laplacian(h).radial(d, "l2"),
    "student": lambda d, h: km.Student(5.0, h * h).formula(d),
    "cauchy": lambda d, h: km.Cauchy(h).formula(d),
    "own": lambda d, h: OWN.rescaled(h, d).formula(d),
}
# Boxes are made for the dimension and terms for the radial: every radial, and every dimension with
# the factored sum, a formula and a table.
PAIRS = [(name, 2) for name in RADIALS]
PAIRS += [(name, d) for name in ("gaussian", "laplacian", "laplacian-l2") for d in (1, 3)]


@pytest.fixture
def taken(monkeypatch):
    """How often the narrow sum is taken; it is forced wherever there is a tree."""
    calls = []
    plain = narrow.kernel_sum

    def counted(*arguments):
        value = plain(*arguments)
        calls.append(value is not None)
        return value

    monkeypatch.setattr(narrow, "kernel_sum", counted)
    monkeypatch.setattr(narrow, "WORTHWHILE", 2.0)
    monkeypatch.setattr(narrow, "LEAST_VALUES", 0)
    return calls


def cloud(kind, d, n=N, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "normal":
        return rng.normal(size=(n, d))
    if kind == "clusters":  # from 1e-3 to 10 wide, and far apart
        middle, scale = rng.normal(size=(12, d)) * 20, 10.0 ** rng.uniform(-3, 1, 12)
        label = rng.integers(12, size=n)
        return middle[label] + scale[label, None] * rng.normal(size=(n, d))
    if kind == "grid":
        return rng.integers(6, size=(n, d)) * 0.5
    if kind == "heavy":
        return rng.standard_cauchy(size=(n, d))
    return np.repeat(rng.normal(size=(n // 100, d)), 100, axis=0)[: n - n % 100]  # duplicates


def queries(X, seed=1):
    rng = np.random.default_rng(seed)
    d = X.shape[1]
    far = X.mean(axis=0) + rng.normal(size=(6, d)) * np.array([3, 10, 30, 100, 1e3, 1e6])[:, None]
    return np.concatenate([X[rng.integers(len(X), size=60)], far, X[:4] + 0.3])


def weights(kind, n, seed=2):
    rng = np.random.default_rng(seed)
    if kind == "signed":
        return rng.normal(size=n)
    if kind == "sparse":
        return np.where(rng.random(n) < 0.01, rng.exponential(size=n), 0.0)
    if kind == "uneven":
        return 10.0 ** rng.uniform(-12, 0, n)
    return np.full(n, 1.0 / n)


def reference(g, X, Q, w):
    """Σ w g and Σ |w| g in long double, and the rounding of the exponents relative to it."""
    value, absolute, exponent = [], [], []
    for q in Q:
        r2 = sum(column.astype(np.longdouble) ** 2 for column in (X - q).T)
        log = (
            g.log(r2)
            if g.log(r2[:1]).dtype == np.longdouble
            else g.log(r2.astype(float)).astype(np.longdouble)
        )
        seen = (log >= -708) & (w != 0)
        log, v = log[seen], w[seen]
        terms = np.abs(v) * np.exp(log)
        total = terms.sum()
        value.append((np.sign(v) * terms).sum())
        absolute.append(total)
        exponent.append((terms * np.abs(log)).sum() / total if total > 0 else 0.0)
    return np.array(value), np.array(absolute), np.array(exponent, dtype=float)


def assert_close(loaded, g, X, Q, w, slack=0.0, every=1):
    """All queries are summed together; the reference, which takes the time, looks at every such."""
    value, absolute, exponent = reference(g, X, Q[::every], w)
    error = np.abs(loaded.kernel_sum(g, Q, w)[::every] - value)
    allowed = absolute * (1e-15 + 2.0**-52 * exponent + slack) + 1e-300
    assert np.all(error <= allowed), float((error / np.maximum(absolute, 1e-300)).max())


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("h", [1e-3, 0.03, 0.1, 0.3, 1.0, 3.0])
def test_gaussian_sums_for_every_bandwidth(taken, d, h):
    X = cloud("normal", d)
    assert_close(two.load(X), km.Gaussian(h).formula(d), X, queries(X), weights("uniform", len(X)))
    assert taken == [True]


@pytest.mark.parametrize("kind", ["clusters", "grid", "heavy", "duplicates"])
@pytest.mark.parametrize("w", ["uniform", "signed", "sparse", "uneven"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_gaussian_sums_for_every_cloud_and_weight(taken, kind, w, d):
    X = cloud(kind, d)
    for h in (0.02, 0.2, 2.0):
        assert_close(two.load(X), km.Gaussian(h).formula(d), X, queries(X), weights(w, len(X)))
    assert all(taken)


@pytest.mark.parametrize(("name", "d"), PAIRS)
def test_every_radial(taken, name, d):
    X = cloud("normal", d, N // 2)
    slack = (
        3e-12
        if "-l2" in name and "laplacian" in name
        else 5e-15
        if name in ("own", "student", "cauchy")
        else 0.0
    )
    for h in (0.02, 0.3):
        g = RADIALS[name](d, h)
        assert_close(two.load(X), g, X, queries(X), weights("signed", len(X)), slack)
    assert all(taken)


@pytest.mark.parametrize("n", [8192, 8193, 8255, 8256, 8257, 8703, 8704])
def test_padding_takes_no_part(taken, n):
    X = cloud("normal", 3, n) + 5.0
    assert_close(
        two.load(X),
        km.Gaussian(0.2).formula(3),
        X,
        np.concatenate([queries(X), np.zeros((1, 3))]),
        np.ones(n),
    )
    assert taken == [True]


@pytest.mark.parametrize("name", ["gaussian", "laplacian", "own"])
@pytest.mark.parametrize("q", [1, 65, 5000])
def test_threads_change_nothing(taken, name, q):
    X = cloud("normal", 2)
    Q, w, g = cloud("normal", 2, q, seed=5), weights("signed", len(X)), RADIALS[name](2, 0.05)
    first = one.load(X).kernel_sum(g, Q, w)
    for engine in (two, five):
        np.testing.assert_array_equal(engine.load(X).kernel_sum(g, Q, w), first)
    assert all(taken)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_what_is_left_out_is_below_the_bound(d):
    """Every cell from the cut on, summed in full, is at most LOST of the sum of absolute terms."""
    X = cloud("clusters", d)
    loaded, Q, w = one.load(X), queries(X), np.abs(weights("signed", len(X)))
    B, v = loaded.compiled.blocks, loaded.compiled.blocks.spread(w)
    shape = (len(v), -1, narrow.CELL)
    moments = narrow.cell_moments(B.points.reshape(len(v), d, -1, narrow.CELL), v.reshape(shape), 1)
    cuts, _ = narrow._cuts(B, km.Gaussian(0.1).formula(d), moments, Q, 2)
    lower, upper = (c.transpose(0, 2, 1).reshape(-1, d) for c in B.cells)
    for i, q in enumerate(Q):
        g = w * np.exp(-50.0 * ((X - q) ** 2).sum(axis=1))
        near = (np.maximum(np.maximum(lower - q, q - upper), 0.0) ** 2).sum(axis=1)
        cells = B.spread(g).reshape(-1, narrow.CELL).sum(axis=1)
        assert cells[near >= cuts[0, i] * (1 + 1e-12)].sum() <= narrow.LOST * g.sum()


def test_it_is_chosen_where_it_wins_and_only_there(monkeypatch):
    X = cloud("normal", 2, 100_000)
    B, w, rows = two.load(X).compiled.blocks, np.ones(100_000), np.ascontiguousarray(X[:100])
    v = B.spread(w)
    assert (
        narrow.kernel_sum(B, km.Gaussian(0.05).formula(2), rows, v, 2) is None
    )  # too little work to look
    monkeypatch.setattr(narrow, "LEAST_VALUES", 0)
    assert narrow.kernel_sum(B, km.Gaussian(0.05).formula(2), rows, v, 2) is not None
    assert narrow.kernel_sum(B, km.Gaussian(2.0).formula(2), rows, v, 2) is None
    assert narrow.kernel_sum(B, km.Gaussian(0.05).formula(2), rows, 0.0 * v, 2) is None


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize(
    ("kind", "w"),
    [("normal", "uniform"), ("clusters", "signed"), ("grid", "sparse"), ("duplicates", "signed")],
)
def test_moments(taken, d, kind, w):
    """The same, with so many queries that compact blocks are summed by their moments."""
    assert expansion.pays(d, 560)
    X = cloud(kind, d)
    Q = np.repeat(queries(X), 8, axis=0) + np.tile(np.linspace(0.0, 0.02, 8), 70)[:, None]
    for h in (0.1, 0.5):
        assert_close(two.load(X), km.Gaussian(h).formula(d), X, Q, weights(w, len(X)), every=3)
    assert all(taken)


@pytest.mark.parametrize(("degree", "error"), [(gaussian.FINE, 2e-14), (gaussian.COARSE, 3e-9)])
def test_powers_of_two_are_as_good_as_their_degree_promises(degree, error):
    """The errors that the bound in gaussian.py adds up, over every exponent that occurs."""
    of_one = gaussian.power_of_two(degree)

    @numba.vectorize
    def power(t):
        return of_one(t)

    t = np.random.default_rng(0).uniform(-700, 700, 20_000)
    assert np.abs(power(t) / np.exp2(t) - 1.0).max() <= error
