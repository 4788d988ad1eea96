"""Traits: each one declared is true of the mathematics, and each chooses the way it should."""

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from scipy import integrate

import kernelmean as km
from kernelmean.compiled import radial as compiled_radial
from kernelmean.engines.cpu import gaussian, truncated_sums
from kernelmean.fitting.refine import worth_polishing
from kernelmean.kernels import Formula, Kernel, KernelTraits, RadialTraits, Slope, radials
from kernelmean.kernels.traits import GAUSSIAN_MIXTURE
from kernelmean.mean.climbing import DensityToClimb
from tests.compiling import compiled_loops

KERNELS = {
    "gaussian": km.Gaussian(0.7),
    "laplacian": km.Laplacian(0.6),
    "student": km.Student(4.3, 2.3),
    "student of half powers": km.Student(4.5, 2.3),
    "cauchy": km.Cauchy(1.7),
}
OWN = km.Radial(lambda s: 1.0 / (1.0 + s), 0.8)
DIMENSIONS = (1, 2, 3, 6)
S = np.concatenate([[0.0], np.geomspace(1e-8, 1e3, 400)])  # in units of the kernel


def functions(kernel, d):
    """Every radial function of a kernel, by what it is."""
    return {
        "profile": kernel.formula(d),
        "decay": kernel.decay(d),
        "product": kernel.radial(d, "l2"),
        "slope": kernel.slope(d, "rkhs").radial,
        "slope of the product": kernel.slope(d, "l2").radial,
    }


EVERY = [
    pytest.param(function, id=f"{name}, {what}, d = {d}")
    for name, kernel in KERNELS.items()
    for d in DIMENSIONS
    for what, function in functions(kernel, d).items()
]


# --- what is declared is true
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", EVERY)
def test_a_decreasing_function_decreases(function):
    if function.traits.decreasing:
        assert (np.diff(function.log(S / function.rate)) < 0.0).all()


@pytest.mark.parametrize("function", EVERY)
def test_a_convex_function_lies_below_its_chords(function):
    """g(λa + (1−λ)b) ≤ λg(a) + (1−λ)g(b) in s, up to rounding."""
    if not function.traits.convex:
        return
    a, b = S[:-7] / function.rate, S[7:] / function.rate
    for share in (0.1, 0.5, 0.9):
        chord = share * function(a) + (1 - share) * function(b)
        assert (function(share * a + (1 - share) * b) <= chord * (1 + 1e-11)).all()


@pytest.mark.parametrize("function", EVERY)
def test_a_logarithmic_function_has_a_logarithm_where_it_underflows(function):
    assert function.traits.logarithmic
    far = np.array([1e7 / function.rate])
    assert np.isfinite(function.log(far)).all()
    near = S[1:100] / function.rate
    np.testing.assert_allclose(function.log(near), np.log(function(near)), atol=1e-12)


@pytest.mark.parametrize("function", EVERY)
def test_an_exponential_is_one(function):
    """g = exp(−s); and whatever is one says so."""
    is_one = np.allclose(function.log(S / function.rate), -S, rtol=1e-12, atol=0.0)
    assert function.exponential == is_one


@pytest.mark.parametrize("function", EVERY)
def test_a_power_is_one(function):
    """φ = (1 + s)^(−shape), whatever the factor."""
    if not function.traits.power:
        return
    log_phi = function.times(None).log(S / function.rate)
    np.testing.assert_allclose(log_phi, -function.shape * np.log1p(S), rtol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_half_powers_are_products_and_a_root(name, d):
    """(1 + s)^(−m/2) for a whole m: Student of 4.5, Cauchy in any dimension."""
    formula = KERNELS[name].formula(d)
    m = formula.half_powers
    assert m == {"student of half powers": 9, "cauchy": d + 1}.get(name)
    if m is not None:
        expected = np.sqrt(1 / (1 + S)) ** (m % 2) * (1 / (1 + S)) ** (m // 2)
        np.testing.assert_allclose(formula(S / formula.rate), expected, rtol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_a_kink_is_a_slope_at_the_centre(name):
    """−dφ/dr at 0 is one over the length with a kink, and 0 without; then the decay is 0 at 0."""
    kernel, d = KERNELS[name], 3
    r = 1e-6 * kernel.length
    slope = (1.0 - float(kernel.profile(r * r, d))) / r * kernel.length
    assert slope == pytest.approx(1.0 if kernel.traits.profile.kink else 0.0, abs=1e-5)
    decay = kernel.decay(d)
    assert decay.traits.kink == kernel.traits.profile.kink
    assert (float(decay(np.zeros(1))[0]) == 0.0) == decay.traits.kink


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_engines_are_given_what_the_kernel_declares(name, d):
    kernel = KERNELS[name]
    assert kernel.formula(d).traits == kernel.traits.profile
    assert kernel.decay(d).log_value is kernel.formula(d).log_value


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("space", ["rkhs", "l2"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_reliable_slope_is_the_derivative(name, space, d):
    """−dg/d(r²) against a central difference."""
    kernel, r2, h = KERNELS[name], np.array([0.3, 1.1, 4.0]), 1e-5
    assert kernel.traits.reliable_slope
    g, slope = kernel.radial(d, space), kernel.slope(d, space)
    expected = (g(r2 - h) - g(r2 + h)) / (2 * h)
    np.testing.assert_allclose(slope.rate * slope.radial(r2), expected, rtol=1e-6)


def in_three_dimensions(first, second, r):
    """(φ∗φ′)(r) = (2π/r) ∫ s φ(s) ∫_{|r−s|}^{r+s} t φ′(t) dt ds, with no formula but φ and φ′."""
    nodes, weights = np.polynomial.legendre.leggauss(400)

    def ring(s):
        low, high = abs(r - s), r + s
        t = low + (high - low) * (nodes + 1) / 2
        return (high - low) / 2 * float(weights @ (t * second(t * t)))

    def shell(s):
        return s * float(first(np.array(s * s))) * ring(s)

    near = integrate.quad(shell, 0, 2 * r, epsrel=1e-9, limit=200)[0]
    far = integrate.quad(lambda v: shell(2 * r / v) * 2 * r / v**2, 0, 1, epsrel=1e-9, limit=200)
    return 2 * math.pi / r * (near + far[0])


def density(kernel, d):
    constant = math.exp(kernel.log_density_constant(d))
    return lambda r2: constant * kernel.profile(r2, d)


CLOSED = [name for name, kernel in KERNELS.items() if kernel.traits.closed_under_convolution]


def test_gaussian_and_cauchy_kernels_are_closed_under_convolution():
    assert CLOSED == ["gaussian", "cauchy"]


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("r", [0.3, 1.7])
def test_what_is_closed_under_convolution_has_products_of_two_widths(name, r):
    """cross() of two bandwidths against the integral of φ(x) φ′(x − r), in one and in three
    dimensions.
    """
    first = KERNELS[name]
    second = first.rescaled(2.3 * first.length, 1)
    one, two = density(first, 1), density(second, 1)
    line = integrate.quad(
        lambda u: float(one(np.sinh(u) ** 2) * two((np.sinh(u) - r) ** 2)) * math.cosh(u),
        -20,
        20,
        points=(0.0, math.asinh(r)),
        limit=400,
        epsrel=1e-11,
    )[0]
    space = in_three_dimensions(density(first, 3), density(second, 3), r)
    for d, expected in ((1, line), (3, space)):
        for a, b in ((first, second), (second, first)):
            radial, log_peak = a.cross(b, d, "l2")
            found = float(radial(np.array(r * r))) * math.exp(log_peak)
            assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", CLOSED)
def test_a_product_of_equal_widths_is_that_of_the_kernel(name):
    kernel, r2 = KERNELS[name], np.array([0.0, 0.5, 3.0])
    wide = kernel.convolved(kernel)
    np.testing.assert_allclose(
        wide.profile(r2, 2) * math.exp(wide.log_density_constant(2)),
        kernel.inner(r2, 2, "l2"),
        rtol=1e-13,
    )


@pytest.mark.parametrize("name", [name for name in KERNELS if name not in CLOSED])
def test_what_is_not_closed_under_convolution_is_refused(name):
    kernel = KERNELS[name]
    wider = kernel.rescaled(2.0, 2)
    with pytest.raises(ValueError, match="the kernels differ"):
        kernel.cross(wider, 2, "l2")
    with pytest.raises(NotImplementedError, match="not closed under convolution"):
        kernel.convolved(wider)


def test_means_of_two_bandwidths_are_compared_where_the_family_allows_it():
    """‖f − f′‖² = ⟨f,f⟩ + ⟨f′,f′⟩ − 2⟨f,f′⟩ with Cauchy kernels of two scales, by hand."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    a, b = (km.kernel_mean(X, kernel=km.Cauchy(beta), space="l2") for beta in (0.5, 2.0))
    r2 = ((X[:, None] - X) ** 2).sum(axis=2)
    scale = (math.sqrt(0.5) + math.sqrt(2.0)) ** 2
    expected = km.Cauchy(0.5).inner(r2, 2, "l2").mean() + km.Cauchy(2.0).inner(r2, 2, "l2").mean()
    expected -= 2 * (density(km.Cauchy(scale), 2)(r2)).mean()
    assert a.distance(b) == pytest.approx(math.sqrt(expected), rel=1e-10)


U = np.linspace(-14.0, 14.0, 4001)
LINE = np.sinh(U)  # the whole line: dense at 0, and far enough for Cauchy's tails
STEPS = np.cosh(U) * (U[1] - U[0])


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("d", [2, 3, 6])
def test_closed_marginals_are_integrals_over_the_other_coordinates(name, d):
    """φ_m(r) = ∫ φ_{m+1}(√(r² + t²)) dt, from φ_d = φ down to one coordinate."""
    kernel, r2 = KERNELS[name], np.array([0.0, 0.3, 2.0, 9.0])
    assert kernel.traits.closed_marginals
    for m in range(1, d):
        lower, upper = kernel.marginal(d, m), kernel.marginal(d, m + 1)
        expected = np.exp(upper.log_peak) * (upper.radial(r2[:, None] + LINE**2) @ STEPS)
        np.testing.assert_allclose(np.exp(lower.log_peak) * lower.radial(r2), expected, rtol=2e-5)


@pytest.mark.parametrize("name", KERNELS)
def test_the_marginal_of_all_coordinates_is_the_kernel(name):
    kernel, r2 = KERNELS[name], np.array([0.0, 1.0, 4.0])
    profile = kernel.marginal(3, 3)
    found = np.exp(profile.log_peak) * profile.radial(r2)
    np.testing.assert_allclose(found, density(kernel, 3)(r2), rtol=1e-12)


def test_kernels_without_marginals_say_so():
    own = km.Radial(lambda s: 1.0 / (1.0 + s) ** 3, 1.0, log_constant=lambda d: 0.0)
    with pytest.raises(ValueError, match="are not known; only its slices"):
        own.marginal(3, 2)
    with pytest.raises(ValueError, match="has no integral in 3 dimensions"):
        km.Student(1.0, 1.0).marginal(3, 2)


def test_of_a_users_kernel_nothing_is_claimed_but_what_is_asked_of_it():
    assert OWN.traits == KernelTraits(profile=RadialTraits(decreasing=True))
    assert OWN.formula(2).traits == RadialTraits(decreasing=True)
    decay = km.Radial(lambda s: 1 / (1 + s), decay_function=lambda s: (1 + s) ** -2).decay(2)
    assert decay.traits == RadialTraits()


def test_another_factor_keeps_what_is_known_of_the_profile_alone():
    known = replace(GAUSSIAN_MIXTURE, power=True, kink=True)
    changed = Formula(radials.log_student, 1.0, 2.0, traits=known).times(radials.apart)
    assert changed.traits == RadialTraits(logarithmic=True, power=True, kink=True)
    assert changed.factor is radials.apart
    assert changed.times(None).factor is None


# --- what is declared decides
# -----------------------------------------------------------------------------------------


def log_exponential(s, shape, sqrt, log1p):
    """The formula of no kernel of the library, though with the values of one."""
    return 0.0 - s


def log_power(s, shape, sqrt, log1p):
    return 0.0 - shape * log1p(s)


def power_decay(s, shape, sqrt):
    return shape / (s + 1.0)


def log_root(s, shape, sqrt, log1p):
    return 0.0 - sqrt(s)


def root_decay(s, shape, sqrt):
    return (s > 0.0) * 0.5 / sqrt(s + (s <= 0.0))


class Toy(Kernel):
    """A kernel for the RKHS alone; subclasses say which, and declare what they like."""

    width: float
    log_value: ClassVar = None
    shape: ClassVar[float] = 0.0
    factor: ClassVar = None

    @property
    def length(self):
        return self.width

    def formula(self, d):
        log_value = type(self).__dict__["log_value"].__func__
        return Formula(log_value, self.width**-2, self.shape, traits=self.traits.profile)

    def decay(self, d):
        factor = type(self).__dict__.get("factor")
        return self.formula(d).times(None if factor is None else factor.__func__)

    def slope(self, d, space):
        return Slope(self.width**-2, self.decay(d))

    def rescaled(self, bandwidth, d):
        return replace(self, width=bandwidth)

    def matching(self, sigma, d):
        return replace(self, width=sigma)

    def _refuse(self, *_):
        raise ValueError("a toy has no integral.")

    log_density_constant = l2_radial = l2_log_peak = sample = spectral_scales = _refuse

    def has_spectrum(self, space):
        return False


@dataclass(frozen=True)
class Exponential(Toy):
    width: float
    name: ClassVar[str] = "toy exponential"
    log_value: ClassVar = staticmethod(log_exponential)
    traits: ClassVar = KernelTraits(
        profile=RadialTraits(logarithmic=True, exponential=True, decreasing=True, convex=True),
        reliable_slope=True,
    )


@dataclass(frozen=True)
class Silent(Toy):
    """The same function, of which nothing is declared but that it decreases."""

    width: float
    name: ClassVar[str] = "silent toy"
    log_value: ClassVar = staticmethod(log_exponential)
    traits: ClassVar = KernelTraits(profile=RadialTraits(decreasing=True))


@dataclass(frozen=True)
class Power(Toy):
    width: float
    name: ClassVar[str] = "toy power"
    shape: ClassVar[float] = 3.5
    log_value: ClassVar = staticmethod(log_power)
    factor: ClassVar = staticmethod(power_decay)
    traits: ClassVar = KernelTraits(
        profile=RadialTraits(logarithmic=True, power=True, decreasing=True, convex=True)
    )


@dataclass(frozen=True)
class Kinked(Toy):
    width: float
    name: ClassVar[str] = "toy with a kink"
    log_value: ClassVar = staticmethod(log_root)
    factor: ClassVar = staticmethod(root_decay)
    traits: ClassVar = KernelTraits(
        profile=RadialTraits(logarithmic=True, kink=True, decreasing=True, convex=True)
    )


cpu = km.engines.open("cpu")
naive = km.engines.open("naive")


@pytest.fixture
def ways(monkeypatch):
    """Which ways narrow sums take; they are taken wherever there is a tree."""
    taken = SimpleNamespace(factored=0, convex=[])
    factored, find = gaussian.sums_over_cells, truncated_sums._find_cuts

    def counted(*arguments):
        taken.factored += 1
        return factored(*arguments)

    def noted(compiled, d, convex):
        taken.convex.append(convex)
        return find(compiled, d, convex)

    monkeypatch.setattr(gaussian, "sums_over_cells", counted)
    monkeypatch.setattr(truncated_sums, "_find_cuts", noted)
    monkeypatch.setattr(truncated_sums, "WORTHWHILE", 2.0)
    monkeypatch.setattr(truncated_sums, "LEAST_VALUES", 0)
    with compiled_loops():
        yield taken


@pytest.mark.parametrize(
    ("kernel", "factored", "convex"),
    [
        (Exponential(0.1), True, True),
        (Silent(0.1), False, False),
        (Power(0.1), False, True),
        (Kinked(0.1), False, True),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_narrow_sums_go_by_traits_and_give_the_naive_numbers(ways, kernel, factored, convex):
    X = np.random.default_rng(3).normal(size=(20_000, 2))
    Q = X[:300] + 0.01
    formula = kernel.formula(2)
    found = cpu.load(X).kernel_sum(formula, Q)
    assert (ways.factored > 0) == factored
    assert set(ways.convex) == {convex}
    np.testing.assert_allclose(found, naive.load(X).kernel_sum(formula, Q), rtol=1e-13)


def test_half_powers_are_computed_by_products():
    """The name of what is compiled says which way was taken; the numbers are the naive ones."""
    X = np.random.default_rng(4).normal(size=(700, 3))
    declared = Power(0.8).formula(3)
    silent = replace(declared, traits=RadialTraits())
    assert compiled_radial.compiled(declared)[0].name.endswith("·7/2")
    assert not compiled_radial.compiled(silent)[0].name.endswith("/2")
    expected = naive.load(X).kernel_sum(declared, X[:50])
    for formula in (declared, silent, replace(declared, shape=3.3), replace(declared, shape=9.1)):
        expected = naive.load(X).kernel_sum(formula, X[:50])
        np.testing.assert_allclose(cpu.load(X).kernel_sum(formula, X[:50]), expected, rtol=1e-13)


def test_a_kink_holds_the_points_at_it():
    """Engines report what holds a query that lies on a point; without the trait nothing does."""
    X = np.random.default_rng(5).normal(size=(50, 2))
    Q = np.concatenate([X[:3], X[:3] + 0.1])
    decay = Kinked(0.5).decay(2)
    for cloud in (naive.load(X), cpu.load(X)):
        held = cloud.shift(decay, Q).log_held
        np.testing.assert_allclose(held[:3], -math.log(50), rtol=1e-13)
        assert np.isneginf(held[3:]).all()
        smooth = replace(decay, traits=replace(decay.traits, kink=False))
        assert np.isneginf(cloud.shift(smooth, Q).log_held).all()


@pytest.mark.parametrize(
    ("toy", "twin"),
    [
        (Exponential(0.5), km.Gaussian(0.5 / math.sqrt(2))),
        (Power(0.5), km.Student(3.5, 0.25)),
        (Kinked(0.5), km.Laplacian(0.5)),
    ],
    ids=["exponential", "power", "kink"],
)
def test_mean_shift_climbs_what_declares_enough(toy, twin):
    """Steps of a new kernel are those of the built-in one with its values."""
    X = np.random.default_rng(6).normal(size=(60, 2))
    mine, theirs = (DensityToClimb.of(km.kernel_mean(X, kernel=k)) for k in (toy, twin))
    assert mine.kinked == theirs.kinked
    a, b = mine.at(X[:20] + 0.05), theirs.at(X[:20] + 0.05)
    np.testing.assert_allclose(a.log_value, b.log_value, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(a.step, b.step, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(
        km.kernel_mean(X, kernel=toy).log_gradient(X[:5] + 30.0),
        km.kernel_mean(X, kernel=twin).log_gradient(X[:5] + 30.0),
        rtol=1e-11,
    )


@pytest.mark.parametrize("kernel", [Silent(0.5), OWN], ids=["silent toy", "radial"])
def test_mean_shift_refuses_what_declares_too_little(kernel):
    X = np.random.default_rng(6).normal(size=(60, 2))
    with pytest.raises(ValueError, match=rf"convex profile.*{type(kernel).__name__} does not"):
        DensityToClimb.of(km.kernel_mean(X, kernel=kernel))


@pytest.mark.parametrize(
    ("kernel", "expected"), [(Exponential(1.0), True), (km.Cauchy(1.0), True), (OWN, False)]
)
def test_centres_move_unasked_where_the_slope_is_reliable(kernel, expected):
    choice = SimpleNamespace(path=SimpleNamespace(k=10, indices=None))
    summary = SimpleNamespace(size=100.0)
    task = SimpleNamespace(cloud=SimpleNamespace(summary=summary), density=False)
    assert worth_polishing(choice, SimpleNamespace(task=task, kernel=kernel)) is expected


def test_a_toy_fits_as_its_twin_does():
    X = np.random.default_rng(7).normal(size=(800, 2))
    settings = {"k": 20, "selection": "kcenter", "random_state": 0}
    mine = km.sparse_kernel_mean(X, kernel=Power(0.7), **settings)
    theirs = km.sparse_kernel_mean(X, kernel=km.Student(3.5, 0.49), **settings)
    np.testing.assert_array_equal(mine.indices, theirs.indices)
    np.testing.assert_allclose(mine.weights, theirs.weights, rtol=1e-9)
