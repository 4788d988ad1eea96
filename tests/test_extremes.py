"""Densities whose constant or whose kernel values leave the range of floats while their product
does not.
"""

import functools

import mpmath
import numpy as np
import pytest

import kernelmean as km

KERNELS = {
    "gaussian": km.Gaussian,
    "laplacian": km.Laplacian,
    "student": lambda h: km.Student(400.0, h * h),
}


def log_profile(kernel, r2):
    """log φ(r)/φ(0) and −d log φ/d(r²) in 50 digits."""
    r2 = mpmath.mpf(r2)
    if isinstance(kernel, km.Gaussian):
        rate = 1 / (2 * mpmath.mpf(kernel.bandwidth) ** 2)
        return -rate * r2, rate
    if isinstance(kernel, km.Laplacian):
        r = mpmath.sqrt(r2)
        return -r / mpmath.mpf(kernel.scale), 1 / (
            2 * r * mpmath.mpf(kernel.scale)
        ) if r else mpmath.mpf(0)
    beta, alpha = mpmath.mpf(kernel.beta), mpmath.mpf(kernel.alpha)
    return -alpha * mpmath.log1p(r2 / beta), alpha / (beta + r2)


EPS = np.finfo(np.float64).eps


def reference(mean, q):
    """(f, ∇f, allowed error of f, Σ|α|ψ|c − q|) at one query, each rounded once: too large is ±inf.

    An exponent of a thousand that is rounded in its last digit costs a thousand roundings.
    """
    with mpmath.workdps(50):
        constant = mpmath.exp(mpmath.mpf(mean.log_constant))
        total, error, gradient, reach = (
            mpmath.mpf(0),
            mpmath.mpf(0),
            [mpmath.mpf(0)] * mean.dimension,
            mpmath.mpf(0),
        )
        for c, a in zip(mean.centers, mean.weights, strict=True):
            steps = [mpmath.mpf(float(x)) - mpmath.mpf(float(y)) for x, y in zip(c, q, strict=True)]
            log_phi, decay = log_profile(mean.kernel, sum(step * step for step in steps))
            term = constant * mpmath.mpf(float(a)) * mpmath.exp(log_phi)
            total, error = (
                total + term,
                error + 30 * EPS * abs(term) * (10 + abs(log_phi) + abs(mean.log_constant)),
            )
            gradient = [
                g + 2 * decay * term * step for g, step in zip(gradient, steps, strict=True)
            ]
            reach += 2 * abs(decay * term) * max(abs(step) for step in steps)
        return float(total), np.array([float(g) for g in gradient]), float(error), float(reach)


def mean_of(name, d, h, signed, seed=0):
    rng = np.random.default_rng(seed)
    weights = np.array([0.5, -0.2, 0.7, -0.4]) if signed else np.array([0.4, 0.3, 0.2, 0.1])
    return km.KernelMean(rng.normal(size=(4, d)), weights, KERNELS[name](h), "l2", None, 4)


def queries(mean, h):
    """At centres, and ever farther from them, to where kernel values underflow and beyond."""
    u = np.random.default_rng(1).normal(size=mean.dimension)
    u /= np.linalg.norm(u)
    steps = (0.0, 0.5, 5.0, 20.0, 37.0, 38.0, 39.0, 45.0, 60.0, 700.0, 760.0)
    return np.array([mean.centers[i % 4] + t * h * u for i, t in enumerate(steps)])


@functools.cache
def references(name, d, h, signed):
    """Of every query: for both engines, and for values and gradients."""
    mean = mean_of(name, d, h, signed)
    return [reference(mean, q) for q in queries(mean, h)]


CASES = [
    (name, d, h, signed)
    for name in KERNELS
    for d, h in ((2, 1e-3), (100, 0.01), (300, 0.05), (784, 0.1), (784, 0.3), (784, 10.0))
    for signed in (False, True)
]


@pytest.mark.parametrize("engine", ["cpu", "naive"])
@pytest.mark.parametrize(
    ("name", "d", "h", "signed"), [case for case in CASES if case[:2] != ("student", 784)]
)
def test_densities_are_right_wherever_they_fit_a_float(name, d, h, signed, engine):
    mean = mean_of(name, d, h, signed)
    mean = km.KernelMean(mean.centers, mean.weights, mean.kernel, "l2", None, 4, engine)
    found = mean(queries(mean, h))
    for (expected, _, error, _), value in zip(references(name, d, h, signed), found, strict=True):
        if np.isinf(expected):
            assert value == expected
        else:
            assert abs(value - expected) <= error + 1e-307, (value, expected)


@pytest.mark.parametrize(
    ("name", "d", "h", "signed"), [case for case in CASES if case[0] != "student" and case[1] < 784]
)
def test_gradients_are_right_wherever_they_fit_a_float(name, d, h, signed):
    mean = mean_of(name, d, h, signed)
    found = mean.gradient(queries(mean, h))
    spread = (
        1.0 + np.ptp(mean.centers) / h
    )  # sums about one origin: a rounding error for each length of the kernel
    for (_, expected, _, reach), value in zip(references(name, d, h, signed), found, strict=True):
        assert not np.isnan(value).any()
        np.testing.assert_array_equal(np.isinf(value), np.isinf(expected))
        fits = np.isfinite(expected)
        np.testing.assert_array_equal(value[~fits], expected[~fits])
        assert (np.abs(value - expected)[fits] <= 1e-12 * spread * min(reach, 1e308) + 1e-307).all()


def test_a_signed_density_that_overflows_has_its_sign():
    """Equal and opposite terms that each overflow: their difference once was inf − inf."""
    centers = np.zeros((2, 784))
    centers[1, 0] = 1e-3
    for weights, sign in (([0.7, -0.3], 1.0), ([0.3, -0.7], -1.0)):
        mean = km.KernelMean(centers, np.array(weights), km.Gaussian(1e-2), "l2", None, 2)
        assert mean([[0.0] * 784])[0] == sign * np.inf
        assert mean.gradient(centers[:1] + 1e-2)[0, 5] == -sign * np.inf


def test_a_scale_does_not_turn_infinite_gradients_into_nan():
    scale = np.diag(np.r_[100.0, np.ones(399)])
    mean = km.KernelMean(np.zeros((1, 400)), np.ones(1), km.Gaussian(1e-2), "l2", scale, 1)
    gradient = mean.gradient(np.full((1, 400), 1e-6))
    assert (gradient == -np.inf).all()


def test_inner_products_of_far_means_are_right_where_they_fit_a_float():
    """⟨f, f′⟩ of two Gaussians: the peak overflows, the kernel underflows, their product is e^−20
    or so.
    """
    d, h = 300, 0.05
    a = km.KernelMean(np.zeros((1, d)), np.ones(1), km.Gaussian(h), "l2", None, 1)
    log_peak = a.kernel.l2_log_peak(d)
    for log_value in (-20.0, 300.0):
        r = 2 * h * np.sqrt(log_peak - log_value)
        far = np.zeros((2, d))
        far[:, 0] = r
        b = km.KernelMean(far, np.array([1.5, -0.5]), km.Gaussian(h), "l2", None, 2)
        assert a.inner(b) == pytest.approx(np.exp(log_value), rel=1e-11)
        assert b.inner(a) == pytest.approx(np.exp(log_value), rel=1e-11)


def test_distances_of_narrow_and_wide_kernels_do_not_overflow():
    """‖f‖² in units of the product of both kernels overflows; ‖f − f′‖, about ‖f‖, does not."""
    d = 200
    narrow = km.KernelMean(np.zeros((1, d)), np.ones(1), km.Gaussian(1e-3), "l2", None, 1)
    wide = km.KernelMean(np.ones((1, d)), np.ones(1), km.Gaussian(1.0), "l2", None, 1)
    expected = np.exp(0.5 * narrow.kernel.l2_log_peak(d))
    assert np.isfinite(expected)
    assert narrow.distance(wide) == pytest.approx(expected, rel=1e-12)
    assert km.distance_matrix([narrow], [wide])[0, 0] == pytest.approx(expected, rel=1e-12)
