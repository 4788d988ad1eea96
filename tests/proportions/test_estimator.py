"""Class proportions: every formula against brute force, known mixtures recovered, intervals that
cover, bad input.
"""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import check_estimator

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.linalg import simplex
from kernelmean.proportions import intervals, means, searching, solving
from kernelmean.proportions.means import Plan
from kernelmean.proportions.solving import System
from kernelmean.samples import ArraySample

CENTERS = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])


def sample(counts, seed, centers=CENTERS):
    """Unit Gaussians about the centres, in class order."""
    rng = np.random.default_rng(seed)
    X = np.concatenate(
        [rng.normal(size=(n, centers.shape[1])) + c for n, c in zip(counts, centers, strict=True)]
    )
    X.flags.writeable = False
    return X


def training(n, seed=0, classes=3):
    return sample([n] * classes, seed, CENTERS[:classes]), np.repeat(np.arange(classes), n)


def groups_of(X, y):
    return [X[y == c] for c in np.unique(y)]


def samples_of(X, y):
    return [ArraySample(group) for group in groups_of(X, y)]


def plan(*, spread=None, **changes):
    options = {"k": 6, "k_max": None, "tol": 1e-10, "selection": "auto", "spread": spread}
    given = {
        "kernel": km.Gaussian(0.8),
        "scale": None,
        "space": "rkhs",
        "sparse": True,
        "engine": "naive",
        "streams": Streams(0),
    }
    return Plan(**{**given, "options": options, **changes})


def atom_products(A, s2, B, t2=0.0, sigma=0.8):
    """Means over x from N(a, s²I) and y from N(b, t²I) of exp(−‖x − y‖²/2σ²), in the plane."""
    total = sigma**2 + np.reshape(s2, (-1, 1)) + t2
    return sigma**2 / total * np.exp(-cdist(A, B, "sqeuclidean") / (2 * total))


# --- class means: values, Gram matrix, moments
# ----------------------------------------------------------------------------


@pytest.mark.parametrize("space", ["rkhs", "l2"])
@pytest.mark.parametrize(
    ("kernel", "sparse", "spread"),
    [
        (km.Gaussian(0.7), True, None),
        (km.Gaussian(0.7), True, "scalar"),
        (km.Gaussian(0.7), True, "full"),
        (km.Gaussian(0.7), False, None),
        (km.Cauchy(0.9), True, None),
        (km.Cauchy(0.9), False, None),
    ],
)
@pytest.mark.parametrize("scale", [None, np.array([[1.0, 0.3], [0.0, 2.0]])])
def test_values_and_gram_are_inner_products_of_means(space, sparse, spread, kernel, scale):
    X, y = training(12)
    changes = {"kernel": kernel, "space": space, "sparse": sparse, "scale": scale}
    fitted = means.fit(samples_of(X, y), plan(spread=spread, **changes))
    system = means.measure(fitted, samples_of(X, y), Streams(0))
    units = np.exp(fitted[0].expansion.log_unit)
    np.testing.assert_allclose(
        system.gram * units, [[a.inner(b) for b in fitted] for a in fitted], rtol=1e-12
    )
    Q = sample([2, 1, 1], 1)
    points = [km.kernel_mean(q[None], kernel=kernel, scale=scale, space=space) for q in Q]
    expected = [[mean.inner(point) for mean in fitted] for point in points]
    np.testing.assert_allclose(means.values(fitted, Q) * units, expected, rtol=1e-12)
    new = km.kernel_mean(Q, kernel=kernel, scale=scale, space=space)
    np.testing.assert_allclose(
        means.values(fitted, Q).mean(axis=0), means.inner_products(fitted, new), rtol=1e-12
    )


@pytest.mark.parametrize(("sparse", "spread"), [(True, None), (True, "scalar"), (False, None)])
def test_moments_leave_each_point_out_of_its_own_mean(sparse, spread):
    """M_cc against n explicit means, each without the point at which it is evaluated, on the same
    centres.
    """
    X, y = training(9)
    groups = groups_of(X, y)
    fitted = means.fit(samples_of(X, y), plan(sparse=sparse, spread=spread))
    system = means.measure(fitted, samples_of(X, y), Streams(0))
    for c, X_c in enumerate(groups):
        held_out = []
        for j in range(len(X_c)):
            others = np.delete(X_c, j, axis=0)
            if sparse:
                C = fitted[c].centers
                s2 = np.zeros(len(C)) if spread is None else fitted[c].spreads
                K = atom_products(C, s2, C, s2)
                alpha = np.linalg.solve(K, atom_products(C, s2, others).mean(axis=1))
                held_out.append(atom_products(X_c[[j]], 0.0, C, s2)[0] @ alpha)
            else:
                held_out.append(atom_products(X_c[[j]], 0.0, others).mean())
        assert system.moments[c, c] == pytest.approx(np.mean(held_out), rel=1e-9)
        F = means.values(fitted, X_c)
        others = np.arange(3) != c
        np.testing.assert_allclose(system.moments[others, c], F.mean(axis=0)[others], rtol=1e-12)
        np.testing.assert_allclose(system.covariances[c], np.cov(F.T) / len(X_c), rtol=1e-12)


def test_the_gram_matrix_of_full_means_is_not_summed_twice(monkeypatch):
    """Where every training point was measured, the values hold it already."""
    X, y = training(10)
    fitted = means.fit(samples_of(X, y), plan(sparse=False))
    expected = [[a.expansion.inner_in_units(b.expansion)[0] for b in fitted] for a in fitted]
    monkeypatch.setattr(means, "inner_products", None)
    np.testing.assert_allclose(
        means.measure(fitted, samples_of(X, y), Streams(0)).gram, expected, rtol=1e-12
    )


def test_few_measured_rows_give_the_same_gram_matrix(monkeypatch):
    X, y = training(30)
    fitted = means.fit(samples_of(X, y), plan(sparse=False))
    expected = means.measure(fitted, samples_of(X, y), Streams(0))
    monkeypatch.setattr(means, "MEASURED_ROWS", 20)
    some = means.measure(fitted, samples_of(X, y), Streams(0))
    np.testing.assert_allclose(some.gram, expected.gram, rtol=1e-12)
    np.testing.assert_allclose(some.moments, expected.moments, rtol=0.3)


# --- solvers
# --------------------------------------------------------------------------------------------------


def random_system(seed, C):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(C, C + 2))
    G = A @ A.T
    M = G + 0.05 * rng.normal(size=(C, C))
    return System(G, M, np.zeros((C, C, C))), G @ rng.dirichlet(np.ones(C)) + 0.5 * rng.normal(
        size=C
    )


def objective(system, kappa, solver, pi):
    if solver == "qp":
        return pi @ system.gram @ pi - 2 * kappa @ pi
    rest = system.moments @ pi - kappa
    return rest @ np.linalg.solve(system.gram, rest)


@given(st.integers(0, 10**6), st.integers(2, 6), st.sampled_from(["qp", "moments"]))
def test_solutions_are_no_worse_than_a_general_optimiser(seed, C, solver):
    system, kappa = random_system(seed, C)
    pi = solving.solve(system, kappa[None], solver)[0]
    assert pi.min() >= 0.0
    assert pi.sum() == pytest.approx(1.0, abs=1e-12)
    peer = minimize(
        lambda p: objective(system, kappa, solver, p),
        np.full(C, 1 / C),
        bounds=[(0, 1)] * C,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
    ).x
    peer = np.maximum(peer, 0) / np.maximum(peer, 0).sum()
    unit = 1.0 + abs(objective(system, kappa, solver, peer))
    assert (
        objective(system, kappa, solver, pi) <= objective(system, kappa, solver, peer) + 1e-7 * unit
    )


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_the_linear_system_is_the_papers(seed, C):
    """D and e from inner products of differences; the solution zeroes the gradient along Σ = 1."""
    system, kappa = random_system(seed, C)
    G = system.gram
    E = np.eye(C)[:-1] - np.eye(C)[-1]
    D, e = E @ G @ E.T, E @ (kappa - G[:, -1])
    first = np.linalg.solve(D, e)
    found = solving.linear_system(G, kappa[None])[0]
    np.testing.assert_allclose(found, [*first, 1 - first.sum()], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        solving.solve(system, kappa[None], "paper")[0], simplex.project(found), atol=1e-12
    )
    if found.min() >= 0:
        np.testing.assert_allclose(solving.solve(system, kappa[None], "qp")[0], found, atol=1e-6)


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_moments_equal_to_the_gram_matrix_give_the_qp(seed, C):
    system, kappa = random_system(seed, C)
    same = System(system.gram, system.gram, system.covariances)
    np.testing.assert_allclose(
        solving.solve(same, kappa[None], "moments"),
        solving.solve(same, kappa[None], "qp"),
        atol=1e-6,
    )


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_many_rows_are_solved_as_each_alone(seed, C):
    system, _ = random_system(seed, C)
    rows = np.random.default_rng(seed).normal(size=(6, C)) * np.diag(system.gram)
    for solver in solving.SOLVERS:
        alone = [solving.solve(system, row[None], solver)[0] for row in rows]
        np.testing.assert_allclose(solving.solve(system, rows, solver), alone, atol=1e-9)


# --- known mixtures
# --------------------------------------------------------------------------------------------------

VARIANTS = [
    {},
    {"solver": "paper"},
    {"solver": "moments"},
    {"sparse": False},
    {"space": "l2"},
    {"space": "l2", "sparse": False, "solver": "moments"},
    {"kernel": "laplacian"},
    {"kernel": km.Cauchy(1.0)},
    {"kernel": km.Laplacian(1.0), "bandwidth": "search"},
    {"bandwidth": 1.0, "scale": "cov"},
    {"bandwidth": "median", "selection": "kmeans", "k": 15},
    {"selection": "kmeans"},
    {"selection": "random", "k": 30},
    {"sparse_test": True},
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_known_proportions_are_recovered(options):
    X, y = training(150)
    model = km.ClassProportions(random_state=1, **options).fit(X, np.array(["a", "b", "c"])[y])
    assert list(model.classes_) == ["a", "b", "c"]
    for counts in ([600, 300, 100], [0, 200, 800], [500, 0, 0]):
        truth = np.array(counts) / sum(counts)
        found = model.predict(sample(counts, 7))
        assert found.shape == (3,)
        assert found.min() >= 0.0
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        assert np.abs(found - truth).sum() < 0.2


def test_paper_and_qp_agree_inside_the_simplex():
    X, y = training(100)
    new = sample([120, 100, 80], 3)
    qp, paper = (
        km.ClassProportions(solver=s, bandwidth=1.0, random_state=0).fit(X, y).predict(new)
        for s in ("qp", "paper")
    )
    assert qp.min() > 0.05
    np.testing.assert_allclose(qp, paper, atol=1e-9)


def test_sparse_and_full_agree_as_k_grows():
    X, y = training(100)
    new = sample([20, 100, 80], 3)
    full = km.ClassProportions(sparse=False, bandwidth=1.0).fit(X, y).predict(new)
    gaps = [
        np.abs(
            km.ClassProportions(bandwidth=1.0, k=k, spread=None, random_state=0)
            .fit(X, y)
            .predict(new)
            - full
        ).sum()
        for k in (3, 15, 60)
    ]
    assert gaps[0] > 1e-2
    assert gaps[1] < 0.5 * gaps[0]
    assert gaps[2] < 1e-3


def test_moments_correct_the_bias_of_a_narrow_kernel():
    """Full means at a narrow bandwidth: ‖P̂_c‖² is mostly each point's product with itself, which
    pulls π to the middle.
    """
    X, y = training(60, classes=2)
    truth = np.array([0.95, 0.05])
    new = sample([950, 50], 5, CENTERS[:2])
    found = {
        solver: km.ClassProportions(solver=solver, sparse=False, bandwidth=0.1)
        .fit(X, y)
        .predict(new)
        for solver in ("qp", "moments")
    }
    assert np.abs(found["qp"] - truth).sum() > 0.4
    assert np.abs(found["moments"] - truth).sum() < 0.2


def test_a_sparse_test_sample_enters_by_its_mean():
    X, y = training(60)
    new = sample([40, 20, 30], 2)
    model = km.ClassProportions(sparse_test=True, bandwidth=1.0, k=8, random_state=0).fit(X, y)
    mean = km.sparse_kernel_mean(
        new, kernel=model.kernel_, k=8, random_state=model._fitted.plan.streams
    )
    kappa = np.array([z.inner(mean) for z in model.means_])
    np.testing.assert_allclose(
        model.predict(new), solving.solve(model._fitted.system, kappa[None], "qp")[0], atol=1e-9
    )


def test_engines_agree():
    X, y = training(40)
    new = sample([40, 20, 30], 2)
    found = [
        km.ClassProportions(engine=engine, random_state=0).fit(X, y).predict(new)
        for engine in ("naive", "cpu")
    ]
    np.testing.assert_allclose(*found, atol=1e-6)


# --- the search
# --------------------------------------------------------------------------------------------------


def test_kept_distances_and_streamed_sums_are_the_same():
    rng = np.random.default_rng(0)
    Q, X, W = (
        rng.normal(size=(300, 120)) + 50.0,
        rng.normal(size=(170, 120)) + 50.0,
        rng.normal(size=(170, 2)),
    )
    np.testing.assert_allclose(
        searching.squared_distances(Q, X), cdist(Q, X, "sqeuclidean"), rtol=1e-11
    )
    radial = km.Gaussian(10.0).formula(120)
    kept, streamed = searching.Pairs(Q, X, "naive", 10**6), searching.Pairs(Q, X, "naive", 10**3)
    assert kept._squared is not None
    assert streamed._squared is None
    np.testing.assert_allclose(
        kept.sums(radial, W), streamed.sums(radial, W), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("space", ["rkhs", "l2"])
def test_the_means_of_a_trial_are_the_means_of_its_halves(space):
    """Values and Gram matrix of the search against sparse means fitted on each half with the same
    centres.
    """
    X, y = training(20)
    groups = groups_of(X, y)
    centers = [X_c[:5] for X_c in groups]
    kernel = km.Gaussian(0.9)
    labels = np.repeat(np.arange(3), 20)
    first = np.tile(np.arange(20) < 10, 3)
    shares = np.column_stack([searching._normalised(side, labels) for side in (first, ~first)])
    fits = searching._SparseMeans(groups, centers, "naive").fit(
        kernel.radial(2, space), shares, labels
    )
    for (F, G, leverages), side in zip(fits, (first, ~first), strict=True):
        fitted = [
            km.sparse_kernel_mean(
                X_c, kernel=kernel, space=space, selection=np.arange(5), k=5
            ).refit(X_c[side[labels == c]])
            for c, X_c in enumerate(groups)
        ]
        np.testing.assert_allclose(F, means.values(fitted, X), rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(
            G, [means.inner_products(fitted, mean) for mean in fitted], rtol=1e-8
        )
        np.testing.assert_allclose(
            leverages,
            [means.leverage(m, X_c) for m, X_c in zip(fitted, groups, strict=True)],
            rtol=1e-8,
        )
    full = searching._FullMeans(groups, "naive").fit(kernel.radial(2, space), shares, labels)
    for (F, _, leverages), side in zip(full, (first, ~first), strict=True):
        fitted = [
            km.kernel_mean(X_c[side[labels == c]], kernel=kernel, space=space)
            for c, X_c in enumerate(groups)
        ]
        np.testing.assert_allclose(F, means.values(fitted, X), rtol=1e-12)
        np.testing.assert_array_equal(leverages, 1.0)


def test_mixtures_are_what_they_say():
    labels = np.repeat([0, 1, 2], [30, 10, 20])
    pool = np.arange(60) % 2 == 0
    W, truth = searching._mixtures(labels, pool, np.random.default_rng(0))
    np.testing.assert_allclose(W.sum(axis=1), 1.0)
    assert not W[:, ~pool].any()
    np.testing.assert_allclose(
        [[row[labels == c].sum() for c in range(3)] for row in W], truth, atol=1e-12
    )
    np.testing.assert_allclose(truth.mean(axis=0), 1 / 3, atol=0.08)


def test_the_error_of_a_trial_by_hand():
    """Full means of either half, mixtures of the other, every proportion solved for alone."""
    X, y = training(16)
    groups = groups_of(X, y)
    trial = searching.Trial(samples_of(X, y), None, plan(), "qp", Streams(3))
    rows = [X_c[Streams(3).of("trial rows", 0).permutation(16)] for X_c in groups[:1]]
    kernel = km.Gaussian(0.9)
    everything = trial._means._pairs[0]._Q
    np.testing.assert_array_equal(everything[:16], rows[0])
    errors = []
    for half, (weights, truth) in enumerate(trial._mixtures):
        fitted = [
            km.kernel_mean(
                everything[trial._fitted[half] & (trial._labels == c)],
                kernel=kernel,
                engine="naive",
            )
            for c in range(3)
        ]
        assert not (weights[:, trial._fitted[half]] > 0).any()
        system = System(
            np.array([[a.inner(b) for b in fitted] for a in fitted]), np.eye(3), np.zeros((3, 3, 3))
        )
        F = means.values(fitted, everything)
        found = [solving.solve(system, (w @ F)[None], "qp")[0] for w in weights]
        errors.append(np.abs(np.array(found) - truth).sum(axis=1).mean())
    assert trial.error(0.9) == pytest.approx(np.mean(errors), rel=1e-9)


def test_the_search_keeps_the_best_it_saw_and_its_centres():
    X, y = training(80)
    model = km.ClassProportions(selection="kcenter", random_state=0).fit(X, y)
    search = model.search_
    assert search.best == search.bandwidths[np.argmin(search.errors)]
    assert model.kernel_ == km.Gaussian(search.best)
    assert (np.diff(search.bandwidths) > 0).all()
    assert search.errors.min() < 0.5 * search.errors.max()
    selected = means.select(samples_of(X, y), model._fitted.plan)
    for mean, all_centers in zip(model.means_, selected, strict=True):
        np.testing.assert_array_equal(mean.centers, all_centers.centers[: mean.k])
        assert mean.selection == "kcenter"


def test_the_search_does_not_depend_on_units():
    X, y = training(50)
    small, large = (
        km.ClassProportions(representation="raw", random_state=0).fit(X * unit, y)
        for unit in (1.0, 1e4)
    )
    assert large.kernel_.bandwidth == pytest.approx(1e4 * small.kernel_.bandwidth, rel=1e-3)


def test_few_points_and_centres_take_part_in_a_large_search(monkeypatch):
    X, y = training(200)
    monkeypatch.setattr(searching, "MAX_CLASS_ROWS", 60)
    monkeypatch.setattr(searching, "MAX_CLASS_CENTERS", 10)
    model = km.ClassProportions(random_state=0).fit(X, y)
    assert np.abs(model.predict(sample([600, 300, 100], 7)) - [0.6, 0.3, 0.1]).sum() < 0.2


# --- intervals
# --------------------------------------------------------------------------------------------------


def test_the_unconstrained_solution_by_least_squares():
    rng = np.random.default_rng(0)
    system, kappa = random_system(1, 4)
    M = system.moments + 0.1 * rng.normal(size=(3, 4, 4))
    sides = kappa + 0.1 * rng.normal(size=(3, 4))
    L = np.linalg.cholesky(np.linalg.inv(system.gram))
    for found, matrix, side in zip(
        intervals.unconstrained(system, M, sides, np.empty((4, 0))), M, sides, strict=True
    ):
        E = np.vstack([np.eye(3), -np.ones(3)])  # π = e_4 + Eu
        u = np.linalg.lstsq(L.T @ matrix @ E, L.T @ (side - matrix[:, -1]), rcond=None)[0]
        np.testing.assert_allclose(found, E @ u + np.eye(4)[-1], rtol=1e-5, atol=1e-7)


def test_replicates_have_the_moments_of_their_source(monkeypatch):
    F = np.random.default_rng(0).normal(size=(50, 3))
    monkeypatch.setattr(intervals, "CHUNK_COUNTS", 50 * 100)
    drawn = intervals._resampled_means(F, 4000, np.random.default_rng(1))
    np.testing.assert_allclose(drawn.mean(axis=0), F.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(F.T, ddof=0) / 50, atol=0.002)
    system = System(
        np.eye(3),
        np.arange(9.0).reshape(3, 3),
        np.stack([np.diag([c, 1.0, 2.0]) for c in range(3)]),
    )
    perturbed = intervals._perturbed(system, 4000, np.random.default_rng(2))
    np.testing.assert_allclose(perturbed.mean(axis=0), system.moments, atol=0.1)
    np.testing.assert_allclose(np.cov(perturbed[:, :, 2].T), system.covariances[2], atol=0.15)


@pytest.mark.parametrize(
    ("solver", "bandwidth", "truth"),
    [("qp", 1.0, [0.6, 0.3, 0.1]), ("moments", 0.4, [0.9, 0.1, 0.0])],
)
@pytest.mark.parametrize(("selection", "repetitions"), [("kcenter", 200), ("auto", 50)])
def test_intervals_cover_at_the_nominal_rate(solver, bandwidth, truth, selection, repetitions):
    """Training and test samples, many times: each class's interval holds its true proportion about
    nine times in ten.

    Standard error of a rate of .9: .021 over 200 samples, .042 over 50; over three dependent
    classes a little less. All classes together are allowed 2.8 of them, the worst of three 3.8.
    Most of the time goes into the default fit, which is why the shorter run has it.
    """
    covered = []
    for seed in range(repetitions):
        X, y = training(50, seed)
        counts = np.random.default_rng(seed).multinomial(120, truth)
        model = km.ClassProportions(
            solver=solver, bandwidth=bandwidth, k=12, selection=selection, random_state=0
        ).fit(X, y)
        found = model.predict_interval(sample(counts, seed + 1000), level=0.9, n_bootstrap=300)
        covered.append((found.lower <= truth) & (truth <= found.upper))
    error = np.sqrt(0.9 * 0.1 / repetitions)
    assert abs(np.mean(covered) - 0.9) <= 2.8 * error
    assert np.min(np.mean(covered, axis=0)) >= 0.9 - 3.77 * error


def test_intervals_cover_a_rare_class_that_a_sample_may_miss():
    """Separate classes, one in fifty of the rarer: three in ten samples of 60 hold none of it,
    which does not exclude it.
    """
    far = 30.0 * CENTERS[:2]
    model = km.ClassProportions(bandwidth=10.0, k=5, random_state=0).fit(
        sample([200, 200], 0, far), np.repeat([0, 1], 200)
    )
    covered, missed = [], 0
    for seed in range(200):
        rare = np.random.default_rng(seed).binomial(60, 0.02)
        found = model.predict_interval(sample([60 - rare, rare], seed, far), n_bootstrap=300)
        covered.append((found.lower <= [0.98, 0.02]) & (found.upper >= [0.98, 0.02]))
        missed += rare == 0
    assert missed > 40
    assert np.mean(covered) >= 0.9


def test_intervals_hold_the_estimate_and_narrow_with_more_points():
    widths = {}
    for n, n_new in ((40, 100), (40, 2000), (1000, 100), (1000, 2000)):
        X, y = training(n)
        model = km.ClassProportions(bandwidth=1.0, k=20, random_state=0).fit(X, y)
        new = sample([n_new // 2, n_new // 4, n_new // 4], 9)
        found = model.predict_interval(new, n_bootstrap=300)
        np.testing.assert_array_equal(found.proportions, model.predict(new))
        assert (found.lower <= found.proportions).all()
        assert (found.proportions <= found.upper).all()
        assert found.lower.min() >= 0.0
        assert found.upper.max() <= 1.0
        assert found.covariance.shape == (3, 3)
        assert np.abs(found.covariance.sum()) < 1e-12  # Σπ = 1 has no error
        widths[n, n_new] = np.mean(found.upper - found.lower)
    assert widths[1000, 100] < widths[40, 100]  # training points count too
    assert widths[40, 2000] < widths[40, 100]
    assert widths[1000, 2000] < 0.5 * widths[1000, 100]


def test_intervals_are_reproducible_and_widen_with_the_level():
    X, y = training(60)
    model = km.ClassProportions(bandwidth=1.0, random_state=0).fit(X, y)
    new = sample([30, 30, 30], 4)
    first, second = (model.predict_interval(new, random_state=1) for _ in range(2))
    np.testing.assert_array_equal(first.lower, second.lower)
    narrow = model.predict_interval(new, level=0.5, random_state=1)
    assert (narrow.upper - narrow.lower < first.upper - first.lower).all()
    assert (first.level, narrow.level) == (0.95, 0.5)


# --- classes that cannot be told apart
# -----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", solving.SOLVERS)
@pytest.mark.parametrize("bandwidth", [1.0, "search"])
def test_identical_classes_share_their_proportion_with_a_warning(solver, bandwidth):
    X, _ = training(40, classes=2)
    X3, y3 = np.concatenate([X, X[:40]]), np.repeat(["a", "b", "c"], 40)  # c repeats a
    with pytest.warns(UserWarning, match="classes 'a', 'c' coincide"):
        model = km.ClassProportions(solver=solver, bandwidth=bandwidth, random_state=0).fit(X3, y3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.predict(sample([80, 120], 1, CENTERS[:2]))
        interval = model.predict_interval(sample([80, 120], 1, CENTERS[:2]), n_bootstrap=100)
    if solver != "paper":  # the paper's system has its least norm without the last class
        assert found[0] == pytest.approx(found[2], abs=1e-4)
    assert found[1] == pytest.approx(0.6, abs=0.2)
    np.testing.assert_array_equal([interval.lower[0], interval.upper[2]], [0.0, 1.0])
    assert 0.0 < interval.lower[1] < interval.upper[1] < 1.0


def test_all_classes_identical():
    X, _ = training(20, classes=1)
    with pytest.warns(UserWarning, match="coincide"):
        model = km.ClassProportions(bandwidth=1.0, random_state=0).fit(
            np.tile(X, (3, 1)), np.repeat([0, 1, 2], 20)
        )
    np.testing.assert_allclose(model.predict(X), 1 / 3, atol=1e-9)


def test_the_least_norm_among_mixtures_of_a_mixture():
    """P_3 = (P_1 + P_2)/2: a sample of P_3 is also half P_1 and half P_2; the least norm lies
    between.
    """
    system = System(
        np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.5, 0.5, 0.5]]),
        np.eye(3),
        np.zeros((3, 3, 3)),
    )
    assert system.indistinct.shape == (3, 1)
    found = solving.solve(system, np.array([[0.5, 0.5, 0.5]]), "qp")[0]
    np.testing.assert_allclose(found, 1 / 3, atol=1e-6)
    np.testing.assert_allclose(
        solving.solve(system, np.array([[1.0, 0.0, 0.5]]), "qp")[0], [1, 0, 0], atol=1e-4
    )


@pytest.mark.parametrize("solver", solving.SOLVERS)
@pytest.mark.parametrize("bandwidth", [1e-6, 1e-2, 1e6])
def test_bandwidths_that_say_nothing(solver, bandwidth):
    """Too narrow: no point sees another; too wide: no class differs. Proportions all the same,
    intervals that say so.
    """
    X, y = training(20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of coinciding classes, and of jitter
        model = km.ClassProportions(solver=solver, bandwidth=bandwidth, k=8, random_state=0).fit(
            X, y
        )
    found = model.predict_interval(sample([30, 10, 10], 1), n_bootstrap=50)
    assert found.proportions.sum() == pytest.approx(1.0)
    assert found.proportions.min() >= 0.0
    assert np.isfinite(found.lower).all()
    assert np.mean(found.upper - found.lower) > 0.3


# --- representation
# --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(np.flatnonzero(y < 5))
    return X[order] / 16.0, y[order]


def test_posteriors_beat_raw_features_on_digits(digits):
    X, y = digits
    errors = {}
    for name, representation in {
        "raw": None,
        "posteriors": LogisticRegression(max_iter=300),
    }.items():
        model = km.ClassProportions(representation=representation, random_state=0).fit(
            X[:450], y[:450]
        )
        rng, errors[name] = np.random.default_rng(1), []
        for _ in range(12):
            weights = rng.dirichlet(np.ones(5))[y[450:]]
            rows = 450 + rng.choice(len(y) - 450, 200, p=weights / weights.sum())
            truth = np.bincount(y[rows], minlength=5) / 200
            errors[name].append(np.abs(model.predict(X[rows]) - truth).sum())
    assert np.mean(errors["raw"]) < 0.12
    assert np.mean(errors["posteriors"]) < 0.6 * np.mean(errors["raw"])


def test_training_points_are_represented_out_of_fold():
    """One nearest neighbour is always right about points it knows: only held-out posteriors make
    errors.
    """
    X, y = training(40)
    model = km.ClassProportions(
        representation=KNeighborsClassifier(1), bandwidth=0.5, sparse=False, random_state=0
    ).fit(X, y)
    own = np.concatenate([mean.centers[:, c] for c, mean in enumerate(model.means_)])
    assert 0.5 < own.mean() < 0.97
    np.testing.assert_array_equal(model.representation_.scores(X), np.eye(3)[y])
    assert model.means_[0].dimension == 3
    assert model.n_features_in_ == 2


@pytest.mark.parametrize("options", [{}, {"solver": "qp"}], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_decision_values_serve_where_there_are_no_posteriors(classes, options):
    X, y = training(80, classes=classes)
    model = km.ClassProportions(representation=RidgeClassifier(), random_state=1, **options).fit(
        X, y
    )
    assert model.means_[0].dimension == (1 if classes == 2 and options else classes)
    counts = [100, 300, 0][:classes]
    found = model.predict(sample(counts, 3, CENTERS[:classes]))
    assert np.abs(found - np.array(counts) / sum(counts)).sum() < 0.2


def test_the_given_classifier_is_not_fitted():
    X, y = training(20)
    classifier = LogisticRegression()
    km.ClassProportions(representation=classifier, bandwidth=0.3).fit(X, y)
    assert not hasattr(classifier, "classes_")


def test_small_classes_take_fewer_folds():
    X, y = sample([40, 40, 2], 0), np.repeat([0, 1, 2], [40, 40, 2])
    found = (
        km.ClassProportions(representation=LogisticRegression(), random_state=0)
        .fit(X, y)
        .predict(sample([50, 50, 0], 1))
    )
    assert np.isfinite(found).all()
    with pytest.raises(ValueError, match="class 2 has one point, but representation= needs two"):
        km.ClassProportions(representation=LogisticRegression()).fit(X[:-1], y[:-1])


# --- scikit-learn
# --------------------------------------------------------------------------------------------------

NOT_APPLICABLE = {
    "check_methods_sample_order_invariance": "predict describes the whole sample: one number per "
    "class, not per row",
    "check_methods_subset_invariance": "the proportions of a part of a sample are not those of "
    "the sample",
}


def test_scikit_learns_checks():
    results = check_estimator(
        km.ClassProportions(bandwidth="median", random_state=0, engine="naive"),
        expected_failed_checks=NOT_APPLICABLE,
        on_skip=None,
    )
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failed == set(NOT_APPLICABLE)
    assert sum(result["status"] == "passed" for result in results) > 30


def test_clone_and_pickle():
    X, y = training(40)
    model = km.ClassProportions(
        kernel=km.Cauchy(1.0), representation=LogisticRegression(), k=7, random_state=3
    )
    assert repr(clone(model).get_params()) == repr(model.get_params())
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    new = sample([10, 30, 5], 1)
    np.testing.assert_array_equal(again.predict(new), fitted.predict(new))
    np.testing.assert_array_equal(
        again.predict_interval(new).lower, fitted.predict_interval(new).lower
    )
    np.testing.assert_array_equal(clone(fitted).fit(X, y).predict(new), fitted.predict(new))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library):
    frames = pytest.importorskip(library, reason=f"{library} is not installed")
    X, y = training(40)
    table = frames.DataFrame({"height": X[:, 0], "width": X[:, 1]})
    labels = frames.Series(np.array(["u", "v", "w"])[y])
    new = sample([10, 30, 5], 1)
    model = km.ClassProportions(bandwidth=1.0, random_state=0).fit(table, labels)
    assert list(model.feature_names_in_) == ["height", "width"]
    found = model.predict(frames.DataFrame({"height": new[:, 0], "width": new[:, 1]}))
    # a frame's columns lie side by side: sums over them may end in other bits
    alike = km.ClassProportions(bandwidth=1.0, random_state=0).fit(X, y).predict(new)
    np.testing.assert_allclose(found, alike, rtol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frames.DataFrame({"height": new[:, 0], "depth": new[:, 1]}))


# --- bad input
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "best"}, "unknown solver 'best'; choose from 'auto', 'likelihood'"),
        ({"space": "l1"}, "unknown space 'l1'"),
        ({"sparse": "yes"}, "unknown sparse 'yes'"),
        ({"bandwidth": -1.0}, "bandwidth must be"),
        ({"bandwidth": "best"}, "unknown bandwidth rule 'best'"),
        ({"kernel": "box"}, "unknown kernel 'box'"),
        ({"kernel": km.Gaussian(1.0), "bandwidth": 2.0}, "carries its own scale"),
        ({"selection": "first"}, "unknown selection 'first'"),
        ({"k": 0}, "k must be at least 1"),
        ({"scale": "sd"}, "unknown scale 'sd'"),
        ({"engine": "gpo"}, "unknown engine 'gpo'"),
    ],
    ids=str,
)
def test_unknown_choices_are_named(options, message):
    X, y = training(10)
    with pytest.raises(ValueError, match=message):
        km.ClassProportions(**options).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selection": np.arange(3)}, "selection must be a name"),
        ({"representation": "logistic"}, "representation must be 'auto', 'raw', None or"),
        ({"representation": LogisticRegression}, "representation must be 'auto', 'raw', None or"),
        ({"bandwidth": [1.0]}, "bandwidth must be a positive number"),
        ({"random_state": "x"}, "random_state must be"),
    ],
    ids=str,
)
def test_things_of_the_wrong_kind_are_named(options, message):
    X, y = training(10)
    with pytest.raises(TypeError, match=message):
        km.ClassProportions(**options).fit(X, y)


def test_labels_that_cannot_serve():
    X, y = training(10)
    with pytest.raises(
        ValueError, match=r"y holds one class only \(7\); proportions need at least two"
    ):
        km.ClassProportions().fit(X, np.full(30, 7))
    with pytest.raises(ValueError, match="continuous"):
        km.ClassProportions().fit(X, np.linspace(0.1, 2.7, 30))
    with pytest.raises(ValueError, match="inconsistent"):
        km.ClassProportions().fit(X, y[:-1])


def test_samples_that_cannot_serve():
    X, y = training(10)
    model = km.ClassProportions(bandwidth=1.0).fit(X, y)
    with pytest.raises(ValueError, match=r"3 features.*2 features"):
        model.predict(np.ones((4, 3)))
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.array([[1.0, np.nan]]))
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(np.empty((0, 2)))
    with pytest.raises(ValueError, match="squares overflow"):
        model.predict(np.full((2, 2), 1e200))
    with pytest.raises(ValueError, match="NaN"):
        km.ClassProportions().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="no spread in the data"):
        km.ClassProportions().fit(np.ones((30, 2)), y)


def test_intervals_that_cannot_be_given():
    X, y = training(10)
    model = km.ClassProportions(bandwidth=1.0).fit(X, y)
    with pytest.raises(ValueError, match="at least two points"):
        model.predict_interval(X[:1])
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        model.predict_interval(X, level=1.0)
    with pytest.raises(ValueError, match="n_bootstrap must be at least 2"):
        model.predict_interval(X, n_bootstrap=1)


@pytest.mark.parametrize(
    "options", [{}, {"sparse": False}, {"solver": "moments"}, {"bandwidth": 1.0}], ids=str
)
def test_a_class_of_one_point(options):
    X, y = sample([40, 40, 1], 0), np.repeat([0, 1, 2], [40, 40, 1])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = km.ClassProportions(random_state=0, **options).fit(X, y)
    # by default a classifier would be judged on rows of the class that it has not seen
    assert [str(w.message)[:19] for w in said] == ([] if options else ["class 2 has one row"])
    assert model.classifier_ is None
    found = model.predict(sample([50, 50, 0], 1))
    assert found.sum() == pytest.approx(1.0)
    assert found.min() >= 0.0
    with pytest.raises(ValueError, match="class 2 was fitted on one point"):
        model.predict_interval(sample([50, 50, 0], 1))


def test_one_new_point_and_far_points():
    X, y = training(30)
    model = km.ClassProportions(bandwidth=1.0, random_state=0).fit(X, y)
    assert model.predict(CENTERS[1:2])[1] > 0.9
    assert np.isfinite(model.predict(np.full((3, 2), 1e6))).all()


@pytest.mark.parametrize("scale", [None, "std"])
def test_jaakkola_reads_the_labels_in_the_coordinates_of_the_kernel(scale):
    rng = np.random.default_rng(0)
    y = np.repeat(["b", "a"], 60)
    X = (rng.normal(size=(120, 2)) + 2.0 * (y == "b")[:, None]) * [1.0, 30.0]
    fitted = km.ClassProportions(bandwidth="jaakkola", scale=scale, random_state=0).fit(X, y)
    mapped = X / X.std(axis=0, ddof=1) if scale else X
    assert fitted.kernel_.bandwidth == pytest.approx(km.bandwidth.jaakkola(mapped, y), rel=1e-9)
    with pytest.raises(ValueError, match="carries its own scale"):
        km.ClassProportions(kernel=km.Gaussian(1.0), bandwidth="jaakkola").fit(X, y)


# --- centres with spreads
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", ["scalar", "full", "auto"])
@pytest.mark.parametrize("solver", solving.SOLVERS)
@pytest.mark.parametrize("bandwidth", [0.5, "search"])
def test_proportions_by_class_means_with_spreads(spread, solver, bandwidth):
    X, y = training(150)
    model = km.ClassProportions(
        solver=solver, bandwidth=bandwidth, spread=spread, k=12, random_state=0
    ).fit(X, y)
    if spread != "auto":
        assert {mean.expansion.atoms.kind for mean in model.means_} == {spread}
    assert {mean.kernel for mean in model.means_} == {model.kernel_}
    new = sample([40, 100, 60], 3)
    truth = np.array([0.2, 0.5, 0.3])
    np.testing.assert_allclose(model.predict(new), truth, atol=0.1)
    found = model.predict_interval(new, n_bootstrap=200)
    assert (found.lower <= truth + 0.02).all()
    assert (truth - 0.02 <= found.upper).all()


def test_a_search_has_points_for_centres_and_the_best_bandwidth_has_spreads():
    """The bandwidth does not depend on what the centres of the final means are."""
    X, y = training(60)
    models = [
        km.ClassProportions(spread=spread, k=10, random_state=0).fit(X, y)
        for spread in (None, "scalar")
    ]
    assert models[0].kernel_ == models[1].kernel_
    np.testing.assert_array_equal(models[0].search_.errors, models[1].search_.errors)
    assert models[0].means_[0].spreads is None
    assert models[1].means_[0].spreads is not None


def test_where_there_are_no_spreads_the_search_is_as_it_was():
    X, y = training(60)
    auto, points = (
        km.ClassProportions(spread=spread, selection="kcenter", random_state=0).fit(X, y)
        for spread in ("auto", None)
    )
    new = sample([40, 100, 60], 3)
    np.testing.assert_array_equal(auto.predict(new), points.predict(new))
    with pytest.raises(ValueError, match="needs a Gaussian kernel"):
        km.ClassProportions(spread="full", kernel="laplacian").fit(X, y)
    with pytest.raises(ValueError, match="unknown spread"):
        km.ClassProportions(spread="both").fit(X, y)


@pytest.mark.parametrize("spread", ["scalar", "full"])
def test_a_sparse_test_sample_may_have_spreads_too(spread):
    X, y = training(150)
    new = sample([40, 100, 60], 3)
    how = {"bandwidth": 0.7, "spread": spread, "random_state": 0}
    found = km.ClassProportions(sparse_test=True, **how).fit(X, y).predict(new)
    np.testing.assert_allclose(found, km.ClassProportions(**how).fit(X, y).predict(new), atol=0.03)
