"""Which components end at bounds, and which are folded there."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.domains import Group
from kernelmean.domains.images import unbounded
from kernelmean.mixtures import ends, truncation
from kernelmean.mixtures.ends import Moments, cut_off
from kernelmean.mixtures.expectation import Prior
from kernelmean.mixtures.gaussians import Gaussians

OPEN = (-np.inf, np.inf, False)
HALF = (0.0, np.inf, False)
BELOW = (-np.inf, 1.0, False)
UNIT = (0.0, 1.0, False)
DAY = (-0.5, 1.5, True)
FLOOR = 1e-8


def group(*kinds: tuple[float, float, bool]) -> Group:
    low, high, periodic = zip(*kinds, strict=True)
    return Group(np.array(low), np.array(high), np.array(periodic))


def components(means: list, covariances: list) -> Gaussians:
    k = len(means)
    weights = np.arange(1.0, k + 1.0)
    return Gaussians(weights / weights.sum(), np.array(means), np.array(covariances))


def own_moments(folded: Gaussians, g: Group, shift: float = 0.0) -> Moments:
    """Of rows in D that have the means and variances of the components, or lie beside them."""
    t = np.flatnonzero(g.moves)
    masses = 100.0 * folded.weights
    means = folded.means[:, t] + shift
    squares = np.diagonal(folded.covariances, axis1=1, axis2=2)[:, t] - FLOOR + means**2
    return Moments(t, masses, masses[:, None, None] * np.stack([means, squares], axis=2))


def ended(
    folded: Gaussians, g: Group, strength: float = 0.0, shift: float = 0.0
) -> tuple[Gaussians, np.ndarray]:
    prior = Prior(np.full(len(g), FLOOR), strength)
    return cut_off(folded, g, own_moments(folded, g, shift), prior)


def correlated(worth: float, variance: float = 0.04) -> np.ndarray:
    """Two coordinates of one variance, of which each tells −½ log(1 − ρ²) of the other."""
    rho = np.sqrt(1.0 - np.exp(-2.0 * worth))
    return variance * np.array([[1.0, rho], [rho, 1.0]])


def assert_as_it_was(found: tuple[Gaussians, np.ndarray], folded: Gaussians) -> None:
    numbers, cut = found
    assert cut.shape == folded.means.shape
    assert cut.dtype == bool
    assert not cut.any()
    np.testing.assert_array_equal(numbers.weights, folded.weights)
    np.testing.assert_array_equal(numbers.means, folded.means)
    np.testing.assert_array_equal(numbers.covariances, folded.covariances)


def test_without_bounds_components_are_given_back():
    folded = components([[0.0, 1.0]], [np.eye(2)])
    found = ended(folded, unbounded(2))
    assert found[0] is folded
    assert_as_it_was(found, folded)


@pytest.mark.parametrize("kind", [HALF, BELOW, UNIT])
def test_components_with_no_bound_near_stay_as_they_are(kind):
    leans = np.array([[0.0052, 0.005], [0.005, 0.0052]])
    folded = components([[0.5, 0.0], [0.51, 3.0]], [np.diag([0.0081, 1.0]), leans])
    assert_as_it_was(ended(folded, group(kind, OPEN)), folded)


@pytest.mark.parametrize(
    ("kind", "sign", "bound"), [(HALF, 1.0, 0.0), (BELOW, -1.0, 1.0), (UNIT, 1.0, 0.0)]
)
def test_a_bound_is_near_within_five_standard_deviations_of_the_rows(kind, sign, bound):
    s = 0.05
    folded = components([[bound + sign * d * s] for d in (4.99, 5.01)], [[[s**2]]] * 2)
    _, cut = ended(folded, group(kind))
    np.testing.assert_array_equal(cut, [[True], [False]])


def test_nearness_is_that_of_the_rows_and_not_of_what_is_folded():
    folded = components([[0.5], [0.5]], [[[0.01]], [[0.0081]]])
    assert_as_it_was(ended(folded, group(HALF), shift=0.2), folded)
    numbers, cut = ended(folded, group(HALF), shift=-0.2)
    assert cut.all()
    at = truncation.Ends(0.0, np.inf, truncation.STEEPEST, FLOOR**0.5)
    expected = truncation.fitted(np.array([0.3, 0.3]), np.array([0.01, 0.0081]), at)
    np.testing.assert_allclose(numbers.means[:, 0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(numbers.covariances[:, 0, 0], expected[1], rtol=1e-12)


@pytest.mark.parametrize("kind", [HALF, BELOW, UNIT])
def test_what_ends_at_bounds_is_the_likeliest_of_its_rows(kind):
    mean, variance = np.array([0.2, 0.45, 0.7]), np.array([0.03, 0.06, 0.05])
    folded = components(mean[:, None], variance[:, None, None])
    numbers, cut = ended(folded, group(kind))
    lower, upper, _ = kind
    at = truncation.Ends(lower, upper, truncation.STEEPEST, FLOOR**0.5)
    c, v = truncation.fitted(mean, variance, at)
    assert cut.all()
    assert (np.abs(c - mean) > 1e-6).all()
    np.testing.assert_allclose(numbers.means[:, 0], c, rtol=1e-9)
    np.testing.assert_allclose(numbers.covariances[:, 0, 0], v, rtol=1e-9)
    np.testing.assert_array_equal(numbers.weights, folded.weights)


def test_variances_of_few_rows_are_drawn_towards_the_common_one():
    folded = components([[0.1], [0.2]], [[[0.004]], [[0.02]]])
    numbers, _ = ended(folded, group(HALF), strength=50.0)
    masses, within = 100.0 * folded.weights, np.array([0.004, 0.02]) - FLOOR
    common = folded.weights @ within
    variance = (masses * within + 50.0 * common) / (masses + 50.0) + FLOOR
    at = truncation.Ends(0.0, np.inf, truncation.STEEPEST, FLOOR**0.5)
    c, v = truncation.fitted(np.array([0.1, 0.2]), variance, at)
    np.testing.assert_allclose(numbers.means[:, 0], c, rtol=1e-9)
    np.testing.assert_allclose(numbers.covariances[:, 0, 0], v, rtol=1e-9)


def test_rows_at_a_bound_are_as_wide_as_the_floor():
    folded = components([[0.0]], [[[FLOOR]]])
    numbers, cut = ended(folded, group(HALF))
    s = np.sqrt(numbers.covariances[0, 0, 0])
    assert cut.all()
    assert -numbers.means[0, 0] == pytest.approx(truncation.STEEPEST * s)
    assert s == pytest.approx(12.16 * FLOOR**0.5, rel=1e-3)


def test_in_many_coordinates_none_is_as_steep():
    numbers, cut = ended(components([[0.001] * 30], [1e-4 * np.eye(30)]), group(*[HALF] * 30))
    assert cut.all()
    alpha = -numbers.means[0] / np.sqrt(np.diagonal(numbers.covariances[0]))
    np.testing.assert_allclose(alpha, truncation.steepest(30))
    assert (alpha**2).sum() / 2.0 <= truncation.MOST_NATS * (1 + 1e-12)


# --- correlations


def test_a_correlation_that_is_worth_more_is_kept():
    weak, strong = correlated(0.99 * ends.WORTH), correlated(1.01 * ends.WORTH)
    folded = components([[0.2, 0.0]] * 2, [weak, strong])
    numbers, cut = ended(folded, group(HALF, OPEN))
    np.testing.assert_array_equal(cut, [[True, False], [False, False]])
    np.testing.assert_array_equal(numbers.means[1], folded.means[1])
    np.testing.assert_array_equal(numbers.covariances[1], strong)
    assert numbers.covariances[0, 0, 1] == numbers.covariances[0, 1, 0] == 0.0
    assert numbers.covariances[0, 1, 1] == weak[1, 1]
    assert numbers.means[0, 1] == 0.0


def test_what_ends_leans_on_nothing_and_the_others_lean_as_before():
    V = 0.04 * np.eye(4)
    V[0] = V[:, 0] = [0.04, 0.004, -0.004, 0.003]
    V[1, 2] = V[2, 1] = 0.03
    numbers, cut = ended(components([[0.1, 0.0, 0.5, 0.9]], [V]), group(HALF, OPEN, HALF, UNIT))
    np.testing.assert_array_equal(cut, [[True, False, False, True]])
    found = numbers.covariances[0]
    np.testing.assert_array_equal(found[1:3, 1:3], V[1:3, 1:3])
    for t in (0, 3):
        assert not np.delete(found[t], t).any()
        assert not np.delete(found[:, t], t).any()
    assert (np.linalg.eigvalsh(found) > 0.0).all()


@pytest.mark.parametrize("rho", [0.0, -0.2, 0.5, 0.99])
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_the_worth_of_a_correlation_of_two_is_known(rho, scale):
    T = np.diag([1.0, scale])
    V = T @ np.array([[1.0, rho], [rho, 1.0]]) @ T
    found = ends._worth_of_correlations(V[None])
    np.testing.assert_allclose(found, -0.5 * np.log(1.0 - rho**2), rtol=1e-10, atol=1e-15)
    assert (found >= 0.0).all()


def test_the_worth_of_correlations_is_the_information_about_all_others():
    root = np.random.default_rng(0).normal(size=(3, 4, 4))
    V = root @ np.swapaxes(root, 1, 2)
    found = ends._worth_of_correlations(V)
    for t in range(4):
        others = np.delete(np.arange(4), t)
        rest = np.linalg.slogdet(V[:, others][:, :, others])[1]
        expected = 0.5 * (np.log(V[:, t, t]) + rest - np.linalg.slogdet(V)[1])
        np.testing.assert_allclose(found[:, t], expected, rtol=1e-9)


# --- periods


def test_only_what_is_even_ends_at_the_ends_of_a_period():
    least = ends.EVEN * 2.0
    folded = components([[0.1]] * 4, [[[s**2]] for s in (0.1, 0.999 * least, 1.001 * least, 1.0)])
    numbers, cut = ended(folded, group(DAY))
    np.testing.assert_array_equal(cut[:, 0], [False, False, True, True])
    np.testing.assert_array_equal(numbers.means[:, 0], [0.1, 0.1, 0.5, 0.5])
    wide = truncation.WIDEST * 2.0
    deviations = np.sqrt(numbers.covariances[:, 0, 0])
    np.testing.assert_allclose(deviations, [0.1, 0.999 * least, wide, wide], rtol=1e-12)


def test_what_is_even_but_leans_goes_round():
    folded = components([[0.1, 0.0]], [correlated(1.01 * ends.WORTH, 1.0)])
    assert_as_it_was(ended(folded, group(DAY, OPEN)), folded)


# --- too many images


def leaning(loads: np.ndarray) -> np.ndarray:
    """Each leans on one more, by its load."""
    V = np.eye(len(loads) + 1)
    V[-1, :-1] = V[:-1, -1] = loads
    return 0.04 * V


def image_counts(numbers: Gaussians, g: Group, cut: np.ndarray) -> np.ndarray:
    """(k,) the images of each component, as many as those of its coordinates together."""
    counts = np.ones(len(numbers))
    for t in np.flatnonzero(g.moves):
        some = numbers.means[:, [t]], np.sqrt(numbers.covariances[:, t, t])[:, None]
        counts *= np.bincount(g.of(np.array([t])).images(*some, ends.NEAR, cut=cut[:, [t]]).owner)
    return counts


@pytest.mark.parametrize(("kind", "folds", "images"), [(HALF, 4, 2**4), (UNIT, 2, 3**2)])
def test_where_images_would_be_too_many_those_that_lean_most_are_folded(
    kind, folds, images, monkeypatch
):
    monkeypatch.setattr(ends, "WORTH", 0.0)
    loads = np.random.default_rng(0).permutation(np.linspace(0.01, 0.3, 12))
    folded = components([[0.5] * 12 + [0.0]] * 2, [leaning(loads), leaning(loads[::-1])])
    g = group(*[kind] * 12, OPEN)
    numbers, cut = ended(folded, g)
    most = np.argsort(-loads)[:folds]
    np.testing.assert_array_equal(np.flatnonzero(~cut[0, :12]), np.sort(most))
    np.testing.assert_array_equal(np.flatnonzero(~cut[1, :12]), np.sort(11 - most))
    np.testing.assert_array_equal(image_counts(numbers, g, cut), images)
    assert images <= ends.MOST_IMAGES < 2 * images + 1


def test_images_are_counted_for_each_component(monkeypatch):
    monkeypatch.setattr(ends, "WORTH", 0.0)
    V = leaning(np.linspace(0.01, 0.3, 12))
    middle = [0.5] * 12 + [0.0]
    folded = components([middle, middle], [V, 1e-3 * V])
    assert not ended(folded, group(*[UNIT] * 12, OPEN))[1][1].any()
    numbers, cut = ended(folded, group(*[HALF] * 12, OPEN))
    assert cut[0].any()
    np.testing.assert_array_equal(numbers.covariances[1], folded.covariances[1])


def test_random_components_have_no_more_images_than_may_be():
    rng = np.random.default_rng(0)
    g = group(*[UNIT, HALF, BELOW, OPEN] * 4)
    roots = rng.normal(size=(40, 16, 16)) * rng.uniform(0.02, 0.3, (40, 16, 1))
    V = roots @ np.swapaxes(roots, 1, 2) / 4.0 + FLOOR * np.eye(16)
    folded = components(rng.uniform(0.05, 0.95, (40, 16)).tolist(), V.tolist())
    nothing = np.zeros((40, 16), dtype=bool)
    assert (image_counts(folded, g, nothing) > ends.MOST_IMAGES).sum() > 20
    numbers, cut = ended(folded, g)
    counts = image_counts(numbers, g, cut)
    assert (counts <= ends.MOST_IMAGES).all()
    assert (counts > ends.MOST_IMAGES / 10).any()


def test_what_is_given_is_left_alone():
    folded = components([[0.1, 0.2, 0.5]], [np.diag([0.04, 0.04, 1.0])])
    g = group(HALF, UNIT, DAY)
    moments = own_moments(folded, g)
    given = (folded.weights, folded.means, folded.covariances, moments.masses, moments.sums)
    for some in given:
        some.flags.writeable = False
    numbers, cut = cut_off(folded, g, moments, Prior(np.full(3, FLOOR), 0.0))
    assert cut.all()
    assert not np.shares_memory(numbers.means, folded.means)
    assert not np.shares_memory(numbers.covariances, folded.covariances)
