"""Moving centres off the data: gradients against differences, never worse, and better where it
should be.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernelmean as km
from kernelmean import coefficients
from kernelmean.coefficients import descent, refinement
from kernelmean.linalg.factor import Factor
from kernelmean.linalg.gram import gram
from tests.strategies import clouds, weighted_clouds


def own_profile(s):
    return 1.0 / (1.0 + s)


def own_decay(s):
    return 1.0 / (1.0 + s) ** 2


KERNELS = {
    "gaussian": lambda d: km.Gaussian(1.0),
    "laplacian": lambda d: km.Laplacian(1.5),
    "student": lambda d: km.Student(d / 2 + 1.2, 2.0),
    "cauchy": lambda d: km.Cauchy(1.5),
    "own": lambda d: km.Radial(
        own_profile,
        1.3,
        decay_function=own_decay,
        l2_profile=own_profile,
        l2_decay_function=own_decay,
    ),
}
SPACES = ("rkhs", "l2")
CONSTRAINTS = (None, "simplex", "sum-to-one")


def sample(n=60, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + rng.integers(2, size=(n, 1)) * 2.0


def banana(n=400, seed=0):
    """A bent cloud in the plane."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi, n)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) * 2 + 0.3 * rng.normal(size=(n, 2))


def objective(X, kernel, space="rkhs", constraint=None, weights=None, engine="naive"):
    d = X.shape[1]
    cloud = km.engines.open(engine).load(X, weights)
    solve = lambda factor, _: coefficients.weights(factor, factor.size, constraint, "cholesky")  # noqa: E731
    return refinement.Objective(cloud, kernel.radial(d, space), kernel.slope(d, space), solve)


def squared_error(mean, X, weights=None):
    """‖z̄ − z‖² in units of g(0), by all pairs."""
    p = np.full(len(X), 1 / len(X)) if weights is None else weights / np.sum(weights)
    g = mean.kernel.radial(X.shape[1], mean.space)
    A = np.eye(X.shape[1]) if mean.scale is None else mean.scale
    points, centers = X @ A.T, mean.centers @ A.T
    cross, own = gram(g, points, centers), gram(g, centers, centers)
    return (
        p @ gram(g, points, points) @ p
        - 2 * p @ cross @ mean.weights
        + mean.weights @ own @ mean.weights
    )


# --- derivatives
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", KERNELS)
def test_slope_is_the_derivative_of_the_radial(name, space, d):
    """−dg/d(r²) by central differences of log g, over four decades of distance."""
    kernel = KERNELS[name](d)
    g, slope = kernel.radial(d, space), kernel.slope(d, space)
    r2 = np.geomspace(1e-4, 1e2, 60)
    h = 1e-4 * r2
    numeric = g(r2) * (g.log(r2 - h) - g.log(r2 + h)) / (2 * h)
    # log g is known to 1e-12 or so: near r = 0 its differences are not worth more
    np.testing.assert_allclose(
        slope.rate * slope.radial(r2),
        numeric,
        rtol=1e-6,
        atol=2e-12 * (g(r2) / h).max() * (r2 < 1e-2).any(),
    )


@pytest.mark.parametrize("d", [2, 3, 7])
@pytest.mark.parametrize("name", ["laplacian", "student"])
def test_slope_of_tables_integrates_to_the_table(name, d):
    """g(a) − g(b) = ∫ −dg/ds ds, by Gauss–Legendre in r: a check without differences."""
    kernel = KERNELS[name](d)
    g, slope = kernel.radial(d, "l2"), kernel.slope(d, "l2")
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for a, b in ((0.05, 0.5), (0.5, 3.0), (3.0, 9.0)):
        r = 0.5 * (a + b) + 0.5 * (b - a) * nodes
        integral = 0.5 * (b - a) * np.sum(weights * 2 * r * slope.rate * slope.radial(r**2))
        assert integral == pytest.approx(g(np.array(a**2)) - g(np.array(b**2)), rel=1e-10)


def test_one_sum_serves_both_for_the_gaussian_alone():
    for space in SPACES:
        same = {
            name: kernel(2).slope(2, space).radial == kernel(2).radial(2, space)
            for name, kernel in KERNELS.items()
        }
        assert same == {
            "gaussian": True,
            "laplacian": False,
            "student": False,
            "cauchy": False,
            "own": False,
        }


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", KERNELS)
def test_gradient_against_central_differences(name, space, constraint):
    """∂E/∂c_a with the weights eliminated, free and constrained."""
    X, h = sample(), 1e-5
    case = objective(
        X, KERNELS[name](2), space, constraint, np.random.default_rng(1).uniform(0.5, 2, len(X))
    )
    C = sample(6, seed=2) * 0.9
    state = case.at(C)
    numeric = np.zeros_like(C)
    for index in np.ndindex(*C.shape):
        step = np.zeros_like(C)
        step[index] = h
        numeric[index] = (case.at(C + step).value - case.at(C - step).value) / (2 * h)
    np.testing.assert_allclose(
        state.gradient / case.unit, numeric, rtol=1e-4, atol=1e-8 * np.abs(numeric).max() + 1e-11
    )


def test_values_are_those_of_the_quadratic():
    """αᵀKα − 2κᵀα with and without the jitter, for weights that are no optimum."""
    X = sample()
    g = km.Gaussian(1.0).radial(2, "rkhs")
    C, alpha = X[:7], np.random.default_rng(0).normal(size=5)
    factor, kappa = Factor(g), km.engines.open("naive").load(X).kernel_sum(g, C)
    for block in (slice(0, 4), slice(4, 5), slice(5, 7)):
        factor.append(C[block], kappa[block])
    plain = alpha @ gram(g, C[:5], C[:5]) @ alpha - 2 * factor.kappa[:5] @ alpha
    assert factor.objective(alpha) == pytest.approx(plain, rel=1e-13)
    assert factor.value(alpha) > factor.objective(alpha)


# --- what a refined mean promises
# -------------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["kcenter", "kmeans", "random"])
@pytest.mark.parametrize("sigma", [0.5, 1.0])
def test_gaussian_error_falls_to_little_of_what_it_was(selection, sigma):
    X = banana()
    fit = lambda refine: km.sparse_kernel_mean(  # noqa: E731
        X, kernel=km.Gaussian(sigma), k=24, selection=selection, random_state=0, refine=refine
    )
    start, few, many = (squared_error(fit(N), X) ** 0.5 for N in (0, 10, 60))
    assert few < start
    assert many < few
    assert many <= 0.6 * start


def test_error_is_what_the_indicator_says():
    X = banana()
    mean = km.sparse_kernel_mean(
        X, kernel=km.Gaussian(0.5), k=12, random_state=0, refine=20, selection="kcenter"
    )
    zz = km.engines.open("naive").load(X).quadratic(mean.kernel.radial(2, "rkhs"))
    assert zz + mean.indicator[-1] == pytest.approx(squared_error(mean, X), rel=1e-9)


@pytest.mark.parametrize("constraint", coefficients.CONSTRAINTS)
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", KERNELS)
def test_never_worse_and_mostly_better(name, space, constraint):
    """Every kernel, space and constraint; only projected weights need not gain."""
    X = banana(200)
    kernel = KERNELS[name](2).rescaled(0.8, 2)
    fit = lambda refine: km.sparse_kernel_mean(  # noqa: E731
        X,
        kernel=kernel,
        space=space,
        k=9,
        selection="kmeans",
        constraint=constraint,
        random_state=0,
        refine=refine,
        engine="naive",
    )
    start, moved = fit(0), fit(12)
    before, after = squared_error(start, X), squared_error(moved, X)
    assert after <= before
    assert moved.selection == ("kmeans+refined" if after < before else "kmeans")
    if constraint != "simplex-projection":
        assert after < before
    if constraint in ("simplex", "simplex-projection"):
        assert (moved.weights >= 0).all()
    if constraint is not None:
        assert moved.weights.sum() == pytest.approx(1.0)


@settings(max_examples=40, deadline=None)
@given(
    clouds(min_points=1),
    st.integers(1, 8),
    st.sampled_from([0.05, 1.0, 30.0]),
    st.sampled_from(sorted(KERNELS)),
    st.sampled_from(coefficients.CONSTRAINTS),
    st.integers(0, 5),
)
def test_never_worse_whatever_the_cloud(X, k, length, name, constraint, steps):
    """Lattices, duplicates, constants, far offsets; narrow kernels and kernels wide enough to make
    K singular.
    """
    kernel = KERNELS[name](X.shape[1]).rescaled(length, X.shape[1])
    fit = lambda refine: km.sparse_kernel_mean(  # noqa: E731
        X, kernel=kernel, k=k, constraint=constraint, random_state=0, refine=refine, engine="naive"
    )
    start, moved = fit(0), fit(steps)
    assert moved.k == start.k
    assert moved.stop_reason == start.stop_reason
    assert np.isfinite(moved.centers).all()
    assert np.isfinite(moved.weights).all()
    rounding = 1e-13 * (1 + np.abs(start.weights).sum() ** 2 + np.abs(moved.weights).sum() ** 2)
    assert squared_error(moved, X) <= squared_error(start, X) + rounding


@settings(max_examples=15, deadline=None)
@given(weighted_clouds(least=0))
def test_integer_weights_are_repeated_rows(case):
    X, w = case
    kernel = km.Student(2.0, 1.0)
    weighted = km.sparse_kernel_mean(
        X, kernel=kernel, k=3, sample_weight=w, random_state=0, refine=4, engine="naive"
    )
    repeated = km.sparse_kernel_mean(
        np.repeat(X, w, axis=0), kernel=kernel, k=3, random_state=0, refine=4, engine="naive"
    )
    p = np.asarray(w, dtype=float)
    assert squared_error(weighted, X, p) == pytest.approx(
        squared_error(repeated, X, p), rel=1e-6, abs=1e-12
    )


def test_scale_moves_centres_in_mapped_coordinates():
    """Refining AX with no scale and X with scale A is the same, mapped back."""
    X = banana()
    A = np.array([[2.0, 0.5], [0.0, 0.25]])
    options = {"kernel": km.Gaussian(0.6), "k": 10, "random_state": 0, "refine": 15}
    scaled, plain = (
        km.sparse_kernel_mean(X, scale=A, **options),
        km.sparse_kernel_mean(X @ A.T, **options),
    )
    np.testing.assert_allclose(scaled.centers @ A.T, plain.centers, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(scaled.weights, plain.weights, rtol=1e-5, atol=1e-8)
    assert squared_error(scaled, X) < squared_error(
        km.sparse_kernel_mean(X, scale=A, **{**options, "refine": 0}), X
    )


@pytest.mark.parametrize(
    ("name", "space"), [("gaussian", "rkhs"), ("laplacian", "rkhs"), ("student", "l2")]
)
def test_engines_agree(name, space):
    X = banana(300)
    w = np.random.default_rng(3).uniform(0.2, 2.0, len(X))
    fit = lambda engine: km.sparse_kernel_mean(  # noqa: E731
        X,
        kernel=KERNELS[name](2).rescaled(0.7, 2),
        space=space,
        k=8,
        sample_weight=w,
        random_state=0,
        refine=5,
        engine=engine,
        selection="kcenter",
    )
    naive, cpu = fit("naive"), fit("cpu")
    np.testing.assert_allclose(cpu.centers, naive.centers, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(cpu.weights, naive.weights, rtol=1e-6, atol=1e-8)
    assert cpu.selection == naive.selection == "kcenter+refined"


def test_same_seed_same_centres():
    X = banana()
    fit = lambda: km.sparse_kernel_mean(X, kernel=km.Gaussian(0.5), k=12, random_state=5, refine=25)  # noqa: E731
    assert (fit().centers == fit().centers).all()


def test_inputs_are_left_alone():
    X = banana()
    kept = X.copy()
    X.flags.writeable = False
    km.sparse_kernel_mean(X, kernel=km.Gaussian(0.5), k=12, random_state=0, refine=5)
    assert np.array_equal(X, kept)


# --- what becomes of the other fields
# ---------------------------------------------------------------------------------


def test_fields_of_a_refined_mean(tmp_path):
    X = banana()
    mean = km.sparse_kernel_mean(
        X, kernel=km.Gaussian(0.5), k=12, random_state=0, refine=20, selection="kcenter"
    )
    assert mean.selection == "kcenter+refined"
    assert mean.indices is None
    assert mean.bound is None
    assert mean.tighter_bound is None
    assert mean.stop_reason == "fixed"
    distances = np.linalg.norm(X[:, None] - mean.centers[None], axis=2)
    assert mean.cover == pytest.approx(distances.min(axis=1).max())
    own = np.linalg.norm(mean.centers[:, None] - mean.centers[None], axis=2)
    assert mean.radii[0] == np.inf
    np.testing.assert_allclose(mean.radii[1:], [own[a, :a].min() for a in range(1, mean.k)])
    np.testing.assert_allclose(
        mean.kappa, gram(mean.kernel.radial(2, "rkhs"), mean.centers, X).mean(axis=1)
    )
    mean.save(tmp_path / "mean.km")
    back = km.load(tmp_path / "mean.km")
    assert back.selection == "kcenter+refined"
    assert back.indices is None
    assert (back.centers == mean.centers).all()


def test_refit_and_merge_of_refined_means():
    X = banana()
    mean = km.sparse_kernel_mean(
        X, kernel=km.Gaussian(0.5), k=12, random_state=0, refine=20, selection="kcenter"
    )
    again = mean.refit(X)
    np.testing.assert_allclose(again.weights, mean.weights, rtol=1e-8)
    assert again.selection == mean.selection
    assert (mean.refit(constraint="simplex").weights >= 0).all()
    other = km.sparse_kernel_mean(X + 1.0, kernel=km.Gaussian(0.5), k=12, random_state=0, refine=5)
    merged = km.merge([mean, other], k=24)
    np.testing.assert_allclose(
        merged(X[:9]), 0.5 * (mean(X[:9]) + other(X[:9])), rtol=1e-6, atol=1e-9
    )


def test_truncated_means_are_better_than_those_of_an_arbitrary_order():
    """The order is greedy: prefixes are optimal for their centres and good among all subsets of
    that size.
    """
    X = banana()
    mean = km.sparse_kernel_mean(X, kernel=km.Gaussian(0.5), k=16, random_state=0, refine=30)
    short = mean.truncate(6)
    assert short.indicator[-1] == pytest.approx(mean.indicator[5], rel=1e-9)
    rng, g = np.random.default_rng(0), mean.kernel.radial(2, "rkhs")
    others = []
    for _ in range(20):
        chosen = rng.permutation(16)[:6]
        K = gram(g, mean.centers[chosen], mean.centers[chosen])
        others.append(-mean.kappa[chosen] @ np.linalg.solve(K, mean.kappa[chosen]))
    assert short.indicator[-1] < np.median(others)


def test_greedy_order_is_the_greedy_one():
    """Against the definition: each next centre gives the lowest E."""
    X, g = sample(), km.Gaussian(1.0).radial(2, "rkhs")
    C = sample(8, seed=4)
    kappa = km.engines.open("naive").load(X).kernel_sum(g, C)
    K, chosen = gram(g, C, C), []
    for _ in range(8):
        rest = [a for a in range(8) if a not in chosen]
        value = {
            a: -kappa[[*chosen, a]]
            @ np.linalg.solve(K[np.ix_([*chosen, a], [*chosen, a])], kappa[[*chosen, a]])
            for a in rest
        }
        chosen.append(min(rest, key=value.__getitem__))
    assert refinement.greedy_order(g, C, kappa).tolist() == chosen


def test_greedy_order_leaves_duplicates_to_the_end():
    C = np.array([[0.0], [0.0], [2.0], [2.0]])
    order = refinement.greedy_order(
        km.Gaussian(1.0).radial(1, "rkhs"), C, np.array([0.5, 0.5, 0.4, 0.4])
    )
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    assert order[:2].tolist() == [0, 2]


def test_automatic_k_is_kept_and_given_rows_move():
    X = banana()
    auto = {"kernel": km.Gaussian(0.6), "tol": 1e-4, "random_state": 0, "spread": None}
    start, moved = km.sparse_kernel_mean(X, **auto), km.sparse_kernel_mean(X, refine=5, **auto)
    assert (moved.k, moved.stop_reason) == (start.k, start.stop_reason)
    given_rows = km.sparse_kernel_mean(
        X, kernel=km.Gaussian(0.6), selection=np.arange(7), k=7, refine=5
    )
    assert given_rows.selection == "given+refined"
    assert given_rows.k == 7


# --- the edges
# --------------------------------------------------------------------------------------------------


def test_as_many_centres_as_points_stay_exact():
    X = sample(12)
    mean = km.sparse_kernel_mean(X, kernel=km.Gaussian(1.0), k=12, random_state=0, refine=5)
    assert squared_error(mean, X) < 1e-13


def test_one_centre_of_a_symmetric_cloud_goes_to_the_middle():
    X = np.array([[-1.0], [1.0], [-0.5], [0.5]])
    mean = km.sparse_kernel_mean(
        X, kernel=km.Gaussian(2.0), k=1, random_state=0, refine=30, engine="naive"
    )
    assert mean.centers[0, 0] == pytest.approx(0.0, abs=1e-6)


def test_constant_data_stay_as_they_are():
    mean = km.sparse_kernel_mean(
        np.full((20, 3), 7.0), kernel=km.Gaussian(1.0), k=3, refine=10, engine="naive"
    )
    assert "refined" not in mean.selection
    assert mean.centers.tolist() == [[7.0, 7.0, 7.0]]


def test_wide_kernel_with_a_nearly_singular_gram_matrix():
    """σ = 3 sd, 60 centres: K has no digit left to lose, and nothing breaks or warns."""
    X = banana()
    start = km.sparse_kernel_mean(X, kernel=km.Gaussian(4.0), k=60, random_state=0)
    mean = km.sparse_kernel_mean(X, kernel=km.Gaussian(4.0), k=60, random_state=0, refine=10)
    assert squared_error(mean, X) <= squared_error(start, X) + 1e-14 * (
        1 + start.weights @ start.weights
    )


def test_states_that_float64_cannot_tell_are_refused():
    """A kernel that is not positive definite has no factor; no step goes into such a place."""
    bad = km.Radial(lambda s: 1.0 - s, decay_function=lambda s: 1.0)
    case = objective(sample(), bad)
    assert case.at(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])) is None


def test_large_samples_take_early_steps_on_a_subsample(monkeypatch):
    """The result is as good, weights included; the last steps see all points."""
    X = banana(3000)
    w = np.random.default_rng(0).integers(1, 4, len(X))

    def fit():
        return km.sparse_kernel_mean(
            X, kernel=km.Gaussian(0.5), k=12, sample_weight=w, random_state=0, refine=40
        )

    whole = squared_error(fit(), X, w)
    monkeypatch.setattr(descent, "SUBSAMPLE_POINTS", 500)
    part = squared_error(fit(), X, w)
    assert part != whole
    assert part < 1.3**2 * whole


@pytest.mark.parametrize(
    ("refine", "error"), [(-1, ValueError), (2.5, TypeError), ("10", TypeError), (True, TypeError)]
)
def test_wrong_numbers_of_steps(refine, error):
    with pytest.raises(error, match="refine must be"):
        km.sparse_kernel_mean(sample(), refine=refine)


def test_a_kernel_without_a_derivative_says_so_before_any_work():
    with pytest.raises(ValueError, match="pass decay_function="):
        km.sparse_kernel_mean(sample(), kernel=km.Radial(own_profile), refine=3)
    kernel = km.Radial(own_profile, l2_profile=own_profile, l2_constant=lambda d: 0.0)
    with pytest.raises(ValueError, match="pass l2_decay_function="):
        km.sparse_kernel_mean(sample(), kernel=kernel, space="l2", refine=3)


@pytest.mark.parametrize(
    ("kernel", "k", "exponent"),
    # The Laplacian starts higher: squares of a thousandth of the least length have few digits, and
    # their roots show it.
    [(km.Gaussian, k, e) for k in (1, 6) for e in (-498, -240, 240, 490)]
    + [(km.Laplacian, 6, e) for e in (-480, -240, 240, 490)],
)
@pytest.mark.parametrize("space", ["rkhs", "l2"])
def test_refinement_does_not_depend_on_the_unit_of_length(kernel, k, exponent, space):
    """In units whose ratio is a power of two, the very same numbers: squares of steps must neither
    under- nor overflow.
    """
    X = np.random.default_rng(0).normal(size=(200, 2))
    options = {"k": k, "refine": 12, "space": space, "random_state": 0}
    plain = km.sparse_kernel_mean(X, kernel=kernel(1.5), **options)
    unit = 2.0**exponent
    scaled = km.sparse_kernel_mean(unit * X, kernel=kernel(1.5 * unit), **options)
    np.testing.assert_array_equal(scaled.centers / unit, plain.centers)
    np.testing.assert_array_equal(scaled.weights, plain.weights)


@pytest.mark.parametrize("unit", [1e-150, 1e-75, 1e75, 1e149])
def test_refinement_in_other_units_is_close(unit):
    X = np.random.default_rng(0).normal(size=(200, 2))
    options = {"k": 5, "refine": 5, "random_state": 0}
    plain = km.sparse_kernel_mean(X, kernel=km.Gaussian(1.5), **options)
    scaled = km.sparse_kernel_mean(unit * X, kernel=km.Gaussian(1.5 * unit), **options)
    np.testing.assert_allclose(scaled.centers / unit, plain.centers, rtol=0, atol=1e-9)
