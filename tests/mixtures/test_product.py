"""Mixtures of folded Gaussians, directions and levels: against definitions, quadrature, truth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm, truncnorm, vonmises_fisher

from kernelmean import engines
from kernelmean._random import Streams
from kernelmean.domains import DomainAsked, Group, Periodic
from kernelmean.domains.images import unbounded
from kernelmean.mixtures import (
    Gaussians,
    Layout,
    Limits,
    ProductFamily,
    ProductMixture,
    Rows,
    directions,
    ends,
    likeliest,
    likeliest_of,
    product,
    product_family,
    truncation,
)
from kernelmean.mixtures.novelty import novelty

OPEN = (-np.inf, np.inf, False)
HALF = (0.0, np.inf, False)
BELOW = (-np.inf, 1.0, False)
UNIT = (0.0, 1.0, False)
DAY = (-0.5, 1.5, True)


def group(*kinds: tuple[float, float, bool]) -> Group:
    low, high, periodic = zip(*kinds, strict=True) if kinds else ((), (), ())
    return Group(np.array(low, float), np.array(high, float), np.array(periodic, dtype=bool))


def unit(rng: np.random.Generator, *shape: int) -> np.ndarray:
    v = rng.normal(size=(*shape, 3))
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def one_hot(codes: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    columns = codes.reshape(len(codes), len(sizes)).T
    parts = [np.eye(size)[column] for column, size in zip(columns, sizes, strict=True)]
    return np.concatenate([np.zeros((len(codes), 0)), *parts], axis=1)


def mixture(
    layout: Layout, k: int = 3, seed: int = 0, width: float = 0.3, *, ended: bool = True
) -> ProductMixture:
    """A mixture with components that end at bounds in some coordinates, unless it is not to be."""
    rng = np.random.default_rng(seed)
    m, s = layout.lines, layout.spheres
    roots = width * (rng.normal(size=(k, m, m)) / max(m, 1) ** 0.5 + 0.3 * np.eye(m))
    V = roots @ np.swapaxes(roots, 1, 2) + 0.01 * np.eye(m)
    if layout.kind == "scalar":
        V = width**2 * rng.uniform(0.3, 1.0, k)
    logs = [np.log(rng.dirichlet(np.ones(size), k)) for size in layout.sizes]
    numbers = Gaussians(rng.dirichlet(np.full(k, 5.0)), rng.uniform(0.0, 1.0, (k, m)), V)
    directions = rng.uniform(0.0, 8.0, (k, s, 1)) * unit(rng, k, s)
    cut = np.zeros((k, m), dtype=bool)
    if ended and layout.kind == "full":
        cut = (np.arange(k)[:, None] + np.arange(m)) % 2 == 0
        numbers = cut_numbers(layout.group, numbers, cut & layout.group.moves)
    log_shares = np.concatenate([np.zeros((k, 0)), *logs], axis=1)
    return ProductMixture(layout, numbers, directions, log_shares, cut & layout.group.moves)


def cut_numbers(group: Group, numbers: Gaussians, cut: np.ndarray) -> Gaussians:
    """Independent where they end; beyond bounds or not, but even over periods."""
    c, V = np.array(numbers.means), np.array(numbers.covariances)
    for a, t in zip(*np.nonzero(cut), strict=True):
        variance = V[a, t, t]
        V[a, t, :] = V[a, :, t] = 0.0
        V[a, t, t] = variance
        c[a, t] -= 0.8
        if group.periodic[t]:
            c[a, t] = 0.5 * (group.lower[t] + group.upper[t])
            V[a, t, t] = (truncation.WIDEST * group.widths[t]) ** 2
    return Gaussians(numbers.weights, c, V)


def sample(layout: Layout, n: int = 60, seed: int = 5) -> Rows:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, n) for size in (*layout.sizes, 1)], axis=1)[:, :-1]
    parts = [
        layout.group.folded(rng.normal(0.4, 0.4, (n, layout.lines))),
        unit(rng, n, layout.spheres).reshape(n, -1),
        one_hot(codes, layout.sizes),
    ]
    return Rows(np.concatenate(parts, axis=1), rng.uniform(0.5, 2.0, n))


@pytest.fixture
def all_images(monkeypatch):
    """EM with all images, so that it is exact to the last digits."""
    monkeypatch.setattr(product_family, "EM_REACH", 14.0)
    monkeypatch.setattr(product_family, "EM_DIGITS", 25)


# --- the density


def line_nodes(low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss and Legendre on the part where components of this file are."""
    x, w = np.polynomial.legendre.leggauss(64)
    low, high = max(low, -5.0), min(high, 6.0)
    pieces = np.linspace(low, high, 1 + max(1, round(high - low)))
    half = 0.5 * np.diff(pieces)[:, None]
    return (pieces[:-1, None] + half * (1 + x)).ravel(), (half * w).ravel()


def sphere_nodes() -> tuple[np.ndarray, np.ndarray]:
    z, w = np.polynomial.legendre.leggauss(24)
    turn = 2 * np.pi * np.arange(48) / 48
    r = np.sqrt(1 - z**2)[:, None]
    places = np.stack(np.broadcast_arrays(r * np.cos(turn), r * np.sin(turn), z[:, None]), -1)
    return places.reshape(-1, 3), np.repeat(w * 2 * np.pi / 48, 48)


def nodes(layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Every combination of nodes of the parts, with the products of their weights."""
    g = layout.group
    parts = [line_nodes(low, high) for low, high in zip(g.lower, g.upper, strict=True)]
    parts = [(x[:, None], w) for x, w in parts] + [sphere_nodes()] * layout.spheres
    parts += [(np.eye(size), np.ones(size)) for size in layout.sizes]
    X, W = np.zeros((1, 0)), np.ones(1)
    for x, w in parts:
        X = np.hstack([np.repeat(X, len(x), axis=0), np.tile(x, (len(X), 1))])
        W = (W[:, None] * w).ravel()
    return X, W


LAYOUTS = {
    "interval": Layout(group(UNIT)),
    "period": Layout(group(DAY)),
    "half-lines": Layout(group(HALF, BELOW)),
    "interval and period": Layout(group(UNIT, DAY)),
    "round": Layout(group(UNIT, DAY), kind="scalar"),
    "sphere": Layout(group(), 1),
    "two columns of categories": Layout(group(), 0, (3, 2)),
    "interval, sphere and category": Layout(group(UNIT), 1, (3,)),
    "line, sphere and single level": Layout(group(OPEN), 1, (1,)),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_densities_integrate_to_one(name):
    X, W = nodes(LAYOUTS[name])
    mixed = mixture(LAYOUTS[name], k=2)
    assert W @ np.exp(mixed.log_density(X)) == pytest.approx(1.0, abs=1e-10)


def test_wide_components_integrate_to_one_and_are_even_where_they_can_be():
    layout = Layout(group(UNIT, DAY), 1, (2,))
    family = ProductFamily(layout, np.full(2, 1e-6))
    rows = sample(layout)
    wide = family.novelty(rows, rows, np.ones(2)).mixture
    values = np.exp(wide.log_density(rows.points))
    np.testing.assert_allclose(values, 1 / (1 * 2 * 4 * np.pi * 2), rtol=0.05)


def log_normal(z: np.ndarray, V: np.ndarray) -> np.ndarray:
    """SciPy's refuses variances as far apart as those of components that are even."""
    square = (z * np.linalg.solve(V, z.T).T).sum(axis=1)
    return -0.5 * (square + np.linalg.slogdet(V)[1] + len(V) * np.log(2 * np.pi))


def naive_logs(mixed: ProductMixture, X: np.ndarray, turns: int = 9) -> tuple:
    """(k, images, n) log-densities with the image of each row: every reflection and shift."""
    layout, g = mixed.layout, mixed.layout.group
    m = layout.lines
    moves = []
    log_mass = np.zeros(len(mixed))
    for t in range(m):
        low, high = g.lower[t], g.upper[t]
        some = mixed.cut[:, t]
        normal = norm(mixed.means[some, t], mixed.deviations[some, t])
        log_mass[some] += np.log(normal.cdf(high) - normal.cdf(low))
        steps = range(-turns, turns + 1)
        if g.periodic[t]:
            moves.append([(1.0, j * (high - low)) for j in steps])
        elif np.isinf(low) and np.isinf(high):
            moves.append([(1.0, 0.0)])
        elif np.isinf(high) or np.isinf(low):
            moves.append([(1.0, 0.0), (-1.0, 2 * (low if np.isinf(high) else high))])
        else:
            shifts = [2 * j * (high - low) for j in steps]
            moves.append([(s, b + (s < 0) * 2 * low) for b in shifts for s in (1.0, -1.0)])
    together = list(itertools.product(*moves))
    images = [X[:, :m] * [s for s, _ in move] + [b for _, b in move] for move in together]
    stays = np.array([[step == (1.0, 0.0) for step in move] for move in together])
    stays = stays.reshape(len(together), m)
    logs = np.zeros((len(mixed), len(images), len(X)))
    eye = np.eye(m)
    for a in range(len(mixed)):
        V = mixed.covariances[a] if mixed.kind == "full" else mixed.covariances[a] * eye
        rest = np.log(mixed.weights[a]) + X[:, layout.continuous :] @ mixed.log_shares[a]
        for i in range(layout.spheres):
            kappa = np.linalg.norm(mixed.directions[a, i])
            vmf = vonmises_fisher(mixed.directions[a, i] / kappa, kappa)
            rest = rest + vmf.logpdf(X[:, m + 3 * i : m + 3 * i + 3])
        for h, image in enumerate(images):
            line = log_normal(image - mixed.means[a], V)
            logs[a, h] = rest + line - log_mass[a]
        logs[a, ~stays[:, mixed.cut[a]].all(axis=1)] = -np.inf
    return logs, images


@pytest.mark.parametrize("name", LAYOUTS)
def test_log_densities_are_those_of_the_definition(name):
    mixed = mixture(LAYOUTS[name])
    rows = sample(LAYOUTS[name], 20)
    expected = logsumexp(naive_logs(mixed, rows.points)[0], axis=(0, 1))
    np.testing.assert_allclose(mixed.log_density(rows.points), expected, rtol=0, atol=1e-11)


def test_a_mixture_of_mixtures_is_one():
    layout = Layout(group(UNIT), 1, (2,))
    parts = [mixture(layout, seed=1), mixture(layout, k=2, seed=2)]
    X = sample(layout).points
    logs = [np.log(s) + part.log_density(X) for s, part in zip((0.3, 0.7), parts, strict=True)]
    together = product.joined(parts, np.array([0.3, 0.7]))
    np.testing.assert_allclose(together.log_density(X), logsumexp(logs, axis=0), rtol=1e-12)


def test_a_component_brought_home_has_the_same_density():
    layout = Layout(group(UNIT, DAY, HALF, BELOW, OPEN))
    inner = mixture(layout, width=0.2, ended=False)
    away = inner.means + np.random.default_rng(3).normal(0.0, 2.0, inner.means.shape)
    home = layout.group.home(away)
    X = sample(layout).points
    assert layout.group.inside(home.places(away)).all()
    assert (home.signs < 0).any()
    assert (layout.group.lower <= home.places(away)).all()
    before = ProductMixture(
        layout,
        Gaussians(inner.weights, away, inner.covariances),
        inner.directions,
        inner.log_shares,
        inner.cut,
    )
    V = home.covariances(inner.covariances)
    after = ProductMixture(
        layout,
        Gaussians(inner.weights, home.places(away), V),
        inner.directions,
        inner.log_shares,
        inner.cut,
    )
    np.testing.assert_allclose(after.log_density(X), before.log_density(X), atol=1e-9)


# --- directions


def test_constants_of_directions_at_both_ends():
    kappa = np.array([0.0, 1e-9, 1.0, 1e8])
    expected = [-np.log(4 * np.pi)] * 2
    expected += [np.log(1 / (4 * np.pi * np.sinh(1.0))), np.log(1e8 / (2 * np.pi)) - 1e8]
    np.testing.assert_allclose(directions.log_constant(kappa), expected, rtol=1e-14)


def test_concentrations_invert_the_length_of_the_mean():
    kappa = np.concatenate([[0.0], np.geomspace(1e-6, 1e5, 200)])
    rho = directions.mean_length(kappa)
    np.testing.assert_allclose(directions.concentrations(rho, 1e6), kappa, rtol=1e-9, atol=1e-12)
    assert directions.concentrations(np.ones(1), 1e6)[0] == 1e6


# --- steps of EM


@pytest.mark.parametrize("kind", ["full", "scalar"])
@pytest.mark.parametrize("kinds", [(UNIT, DAY, OPEN), (HALF, BELOW), ()])
def test_the_e_step_is_that_of_the_definition(kind, kinds, all_images):
    layout = Layout(group(*kinds), 1, (3, 2), kind)
    mixed = mixture(layout, width=0.2)
    rows = sample(layout, 15)
    family = ProductFamily(layout, np.zeros(len(kinds)))
    sums, value = family.shared_out(rows, mixed)
    logs, images = naive_logs(mixed, rows.points, turns=3)
    top = logsumexp(logs, axis=(0, 1))
    R = np.exp(logs - top) * rows.masses
    X = rows.points
    of_images = [layout.features(np.hstack([g, X[:, layout.lines :]])) for g in images]
    expected = sum(R[:, h] @ psi.T for h, psi in enumerate(of_images))
    if kind == "full":
        x = X[:, np.flatnonzero(layout.group.moves)]
        own = R.sum(axis=1) @ np.concatenate([x, x**2], axis=1)
        expected = np.concatenate([own, expected], axis=1)
    np.testing.assert_allclose(sums, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert value == pytest.approx(rows.masses @ top / rows.size, abs=1e-12)


def test_fewer_images_change_little():
    layout = Layout(group(UNIT, DAY))
    family = ProductFamily(layout, np.zeros(2))
    mixed = mixture(layout, width=0.8)
    X = sample(layout).points
    assert len(family._images(mixed).owner) < len(mixed.images().owner)
    np.testing.assert_allclose(family.log_density(mixed, X), mixed.log_density(X), atol=1e-6)


def test_the_m_step_of_one_component_has_closed_forms():
    layout = Layout(group(OPEN, (-99.0, np.inf, False)), 1, (3, 2))  # with no bound near
    rows = sample(layout)
    X, w = rows.points, rows.masses
    X[:, layout.continuous + 2] = 0.0  # a level that no row has
    family = ProductFamily(layout, np.array([0.01, 0.02]))
    found = family.fitted(layout.with_own((w @ layout.features(X).T)[None]), 2.0)
    n = w.sum()
    mean = w @ X[:, :2] / n
    scatter = ((X[:, :2] - mean).T * w) @ (X[:, :2] - mean)
    W = (scatter + 3 * np.diag(np.diag(scatter)) / n) / (n + 3)
    V = (scatter + 2 * W) / (n + 2) + np.diag([0.01, 0.02])
    np.testing.assert_allclose(found.means[0], mean)
    np.testing.assert_allclose(found.covariances[0], V)
    R = w @ X[:, 2:5]
    kappa = np.linalg.norm(found.directions[0, 0])
    assert 1 / np.tanh(kappa) - 1 / kappa == pytest.approx(np.linalg.norm(R) / n)
    np.testing.assert_allclose(found.directions[0, 0] / kappa, R / np.linalg.norm(R))
    counts = w @ X[:, 5:]
    common = (counts + np.repeat([1 / 3, 1 / 2], [3, 2])) / (n + 1)
    np.testing.assert_allclose(np.exp(found.log_shares[0]), (counts + 2 * common) / (n + 2))


@pytest.mark.parametrize("kind", ["full", "scalar"])
def test_the_likelihood_of_the_folded_mixture_never_falls(kind, all_images, monkeypatch):
    monkeypatch.setattr(ends, "WORTH", 0.0)
    layout = Layout(group(UNIT, DAY, HALF), 1, (3,), kind)
    rows = sample(layout, 150)
    family = ProductFamily(layout, np.zeros(3))
    sums, _ = family.shared_out(rows, mixture(layout))
    counts = rows.masses @ rows.points[:, layout.continuous :]
    common = (counts + 1 / 3) / (rows.size + 1)
    values = []
    for _ in range(25):
        found = family.fitted(sums, 0.0)
        sums, value = family.shared_out(rows, found)
        values.append(value + 0.5 * (found.log_shares @ common).sum() / rows.size)  # the prior
    assert len(found) == 3
    assert (np.diff(values) > -1e-10).all()
    assert values[-1] > values[0] + 0.01


def ended(kinds: tuple, n: int, seed: int) -> Rows:
    """Rows of components that end at bounds, and are independent."""
    mixed = mixture(Layout(group(*kinds)), k=2, seed=seed)
    rng = np.random.default_rng(seed)
    a = rng.choice(2, n, p=mixed.weights)
    c, s = mixed.means[a], mixed.deviations[a]
    low, high = layout_bounds(mixed)
    return Rows(truncnorm((low - c) / s, (high - c) / s, c, s).rvs(random_state=rng), np.ones(n))


def layout_bounds(mixed: ProductMixture) -> tuple[np.ndarray, np.ndarray]:
    return mixed.layout.group.lower, mixed.layout.group.upper


@pytest.mark.parametrize("kinds", [(HALF,), (UNIT,), (UNIT, BELOW), (OPEN, HALF)])
def test_the_likelihood_of_components_that_end_at_bounds_never_falls(kinds, monkeypatch):
    """As every coordinate is free, and no component is as steep as it may be."""
    monkeypatch.setattr(ends, "WORTH", np.inf)
    monkeypatch.setattr(ends, "NEAR", 20.0)
    layout = Layout(group(*kinds))
    rows = ended(kinds, 400, seed=1)
    family = ProductFamily(layout, np.zeros(len(kinds)))
    sums, _ = family.shared_out(rows, mixture(layout, k=2, seed=2))
    values = []
    for _ in range(30):
        mixed = family.fitted(sums, 0.0)
        sums, value = family.shared_out(rows, mixed)
        values.append(value)
    assert mixed.cut[:, layout.group.moves].all()
    assert (np.diff(values) > -1e-7).all()  # half-lines are read off a table
    assert values[-1] > values[0]


def test_no_folded_component_is_wider_than_is_even(monkeypatch):
    monkeypatch.setattr(ends, "WORTH", 0.0)
    monkeypatch.setattr(ends, "MOST_IMAGES", 100)  # these have 11 · 6
    layout = Layout(group(UNIT, DAY, OPEN))
    x, V = np.full((1, 3), 0.5), np.diag([25.0, 25.0, 25.0])
    i, j = np.triu_indices(3)
    sums = np.concatenate([(V + x.T @ x)[None, i, j], x, [[1.0]]], axis=1)
    for kind in ("full", "scalar"):
        if kind == "scalar":
            layout = Layout(layout.group, kind="scalar")
            sums = np.concatenate([[[75.0 + 0.75]], x, [[1.0]]], axis=1)
        sums = layout.with_own(10.0 * sums)
        found = ProductFamily(layout, np.zeros(3)).fitted(sums, 0.0)
        expected = [1.0, 1.0, 5.0] if kind == "full" else [1.0, 1.0, 1.0]
        np.testing.assert_allclose(found.deviations[0], expected)


def test_masses_are_repeated_rows():
    layout = Layout(group(UNIT), 1, (2,))
    X = sample(layout, 30).points
    w = np.random.default_rng(1).integers(1, 4, 30)
    family = ProductFamily(layout, np.zeros(1))
    weighted = family.shared_out(Rows(X, w.astype(float)), mixture(layout))
    repeated = family.shared_out(Rows(np.repeat(X, w, axis=0), np.ones(w.sum())), mixture(layout))
    np.testing.assert_allclose(weighted[0], repeated[0], rtol=1e-10, atol=1e-12)
    assert weighted[1] == pytest.approx(repeated[1])


def test_prior_of_levels_counts_for_so_many_points():
    layout = Layout(group(), 0, (2,))
    rows = np.array([[9.0, 1.0, 10.0], [2.0, 8.0, 10.0]])  # levels, and masses
    found = np.exp(ProductFamily(layout, np.zeros(0)).fitted(rows, 1e9).log_shares)
    np.testing.assert_allclose(found, [[11.5 / 21, 9.5 / 21]] * 2, rtol=1e-6)


# --- the search


def found(layout, X, k=None, k_max=50, widths=None, floor=1e-5, masses=None, seed=0):
    rows = Rows(X, np.ones(len(X)) if masses is None else masses)
    family = ProductFamily(layout, np.full(layout.lines, floor))
    limits = Limits(k, k_max, layout.kind)
    wide = None
    if k is None:
        wide = family.novelty(rows, rows, np.ones(layout.lines) if widths is None else widths)
    return likeliest_of(family, rows, rows, limits, engines.open("naive"), Streams(seed), wide)


def test_without_bounds_it_is_the_mixture_of_gaussians():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) + 4.0 * rng.integers(0, 2, (300, 1))
    X -= np.median(X, axis=0)
    rows, floor = Rows(X, np.ones(300)), np.full(2, 1e-5)
    wide = novelty(rows, rows, np.ones(2), floor, "full")
    engine = engines.open("naive")
    plain = likeliest(rows, rows, floor, Limits(None, 50, "full"), engine, Streams(0), wide)
    folded = found(Layout(unbounded(2)), X)
    Q = rng.normal(size=(50, 2)) * 3
    np.testing.assert_allclose(folded.log_density(Q), plain.log_density(Q), rtol=1e-6)


def test_half_a_normal_at_a_bound_is_one_component():
    """EM comes close to the bound ever more slowly, as the likelihood is flat there."""
    rng = np.random.default_rng(0)
    bound = -1.0
    X = bound + np.abs(rng.normal(size=(2000, 1)))
    one = found(Layout(group((bound, np.inf, False))), X, k=1)
    truth = np.log(2) - 0.5 * (X[:, 0] - bound) ** 2 - 0.5 * np.log(2 * np.pi)
    assert one.log_density(X).mean() > truth.mean() - 0.001
    at_bound = one.log_density(np.array([[bound]]))[0]
    assert at_bound == pytest.approx(np.log(2) - 0.5 * np.log(2 * np.pi), abs=0.1)


def test_a_bound_is_worth_it_for_exponential_rows():
    rng = np.random.default_rng(0)
    X, Q = rng.exponential(size=(600, 1)), rng.exponential(size=(5000, 1))
    folded = found(Layout(group(HALF)), X).log_density(Q).mean()
    plain = found(Layout(group(OPEN)), X).log_density(Q).mean()
    assert folded > plain + 0.01
    assert folded > -1.0 - 0.04


def test_clusters_that_straddle_midnight_are_one():
    rng = np.random.default_rng(0)
    hours = np.concatenate([rng.normal(0.0, 1.5, 300) % 24, rng.normal(8.0, 1.0, 300)])[:, None]
    domain = DomainAsked.of({0: Periodic(24)}, 1, None).learned(hours, None, ())
    X = domain.embed(hours).coordinates
    two = found(Layout(domain.group), X, k=2)
    np.testing.assert_allclose(two.weights, 0.5, atol=0.05)
    centres = np.sort((two.means[:, 0] + 12) % 24 - 12)
    np.testing.assert_allclose(centres, [0.0, 8.0], atol=0.3)
    np.testing.assert_allclose(np.sort(two.deviations[:, 0]), [1.0, 1.5], atol=0.2)


def test_a_cut_through_a_cluster_is_mended_by_em():
    rng = np.random.default_rng(0)
    X = rng.normal(0.0, 1.5, (400, 1)) % 24
    one = found(Layout(group((0.0, 24.0, True))), X, k=2).log_density(np.array([[0.01], [23.99]]))
    np.testing.assert_allclose(one, -0.5 * np.log(2 * np.pi * 1.5**2), atol=0.15)


def test_two_clusters_on_the_sphere():
    rng = np.random.default_rng(0)
    poles = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    X = np.concatenate(
        [
            vonmises_fisher(p, c).rvs(500, random_state=rng)
            for p, c in zip(poles, (20, 80), strict=True)
        ]
    )
    two = found(Layout(group(), 1), X, k=2)
    kappa = np.linalg.norm(two.directions[:, 0], axis=1)
    order = np.argsort(kappa)
    np.testing.assert_allclose(kappa[order], [20, 80], rtol=0.15)
    towards = two.directions[order, 0] / kappa[order, None]
    np.testing.assert_allclose(towards, poles, atol=0.05)


def test_two_islands_are_told_apart_beside_wide_numbers():
    """A degree of the globe is little beside hours and ages, but k-means sees it as wide."""
    rng = np.random.default_rng(0)
    poles = np.array([[np.cos(a), np.sin(a), 0.0] for a in (0.0, 0.04)])
    u = np.concatenate([vonmises_fisher(p, 1e4).rvs(300, random_state=rng) for p in poles])
    X = np.hstack([rng.normal(size=(600, 2)), u])
    two = found(Layout(unbounded(2), 1), X, k=2)
    kappa = np.linalg.norm(two.directions[:, 0], axis=1)
    np.testing.assert_allclose(kappa, 1e4, rtol=0.3)
    towards = two.directions[:, 0] / kappa[:, None]
    np.testing.assert_allclose(np.sort(towards[:, 1]), [0.0, np.sin(0.04)], atol=0.002)


@pytest.mark.parametrize("factor", [1.0, 1e-2])
def test_places_are_seen_as_wide_as_they_are_spread(factor):
    rng = np.random.default_rng(0)
    u = np.array([1.0, 0.0, 0.0]) + factor * rng.normal(size=(2000, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    family = ProductFamily(Layout(unbounded(1), 1), np.full(1, 1e-6))
    rows = Rows(np.hstack([rng.normal(size=(2000, 1)), u]), np.ones(2000))
    seen = family.as_seen(rows)
    np.testing.assert_array_equal(seen[:, 0], rows.points[:, 0])
    assert seen[:, 1:].var(axis=0).sum() == pytest.approx(2.0)
    np.testing.assert_allclose(seen[:, 1:] / seen[0, 1:], u / u[0], rtol=1e-12)


def test_latent_classes():
    rng = np.random.default_rng(0)
    which = rng.random(3000) < 0.4
    codes = (rng.random((3000, 6)) < np.where(which, 0.9, 0.15)[:, None]).astype(int)
    sizes = (2,) * 6
    X = one_hot(codes, sizes)
    two = found(Layout(group(), 0, sizes), X, k=2)
    order = np.argsort(two.weights)
    np.testing.assert_allclose(two.weights[order], [0.4, 0.6], atol=0.04)
    yes = np.exp(two.log_shares[order, 1::2])
    np.testing.assert_allclose(yes, [[0.9] * 6, [0.15] * 6], atol=0.06)


def test_the_number_of_latent_classes_is_judged_by_other_rows_of_equal_values():
    """Copies of a row are judged apart: else every level would be one that was never seen."""
    rng = np.random.default_rng(0)
    which = rng.random(3000) < 0.4
    codes = (rng.random((3000, 4)) < np.where(which, 0.9, 0.15)[:, None]).astype(int)
    X, Q = one_hot(codes[:1500], (2,) * 4), one_hot(codes[1500:], (2,) * 4)
    mixed = found(Layout(group(), 0, (2,) * 4), X)
    independent = np.log(X.mean(axis=0))
    assert mixed.log_density(Q).mean() > (Q @ independent).mean() + 0.2


def test_copies_are_told_by_the_columns_that_are_continuous(monkeypatch):
    X = np.hstack([np.repeat([[0.1], [0.9]], 25, axis=0), one_hot(np.arange(50) % 2, (2,))])
    data = Rows(X, np.ones(50))
    rng = np.random.default_rng(0)
    together = data.folds(rng, 1)
    assert [len(judged) for _, judged in together] == [25, 25]
    assert [len(judged) for _, judged in data.folds(rng, 0)] == [10] * 5
    asked = []
    original = Rows.folds
    monkeypatch.setattr(
        Rows, "folds", lambda self, rng, c=None: asked.append(c) or original(self, rng, c)
    )
    found(Layout(group(UNIT), 0, (2,)), X)
    found(Layout(group(), 0, (2,)), X[:, 1:])
    assert asked == [1, 0]


def test_gross_rows_are_looked_for_only_where_there_is_no_bound():
    layout = Layout(group(UNIT, HALF, OPEN), 1, (2,))
    rows = sample(layout, 300)
    rows.points[0, 2] = 1e6
    rows.points[1, 1] = 1e6
    family = ProductFamily(layout, np.zeros(3))
    widths = np.array([1e-9, 1.0, 1.0])  # so narrow that all rows are far out, but for the bounds
    kept = family.without_gross(rows, widths)
    assert len(kept) == 298
    wide = family.novelty(rows, kept, widths)
    logs = wide.mixture.log_density(rows.points)
    assert (logs[:2] > -60).all()
    assert wide.share > (rows.size - kept.size) / (rows.size + 1)


@pytest.mark.parametrize("name", [*LAYOUTS, "all"])
@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("k", [None, 1, 3])
def test_few_rows_and_equal_rows_have_densities(name, n, k):
    layout = Layout(group(UNIT, OPEN), 2, (1, 3)) if name == "all" else LAYOUTS[name]
    for X in (sample(layout, n).points, np.repeat(sample(layout, 1).points, n, axis=0)):
        mixed = found(layout, X, k, k_max=20, masses=np.linspace(0.5, 2.0, n))
        assert len(mixed) <= (k or 20)
        assert mixed.weights.sum() == pytest.approx(1.0)
        assert (np.linalg.norm(mixed.directions, axis=2) <= 1e6 * (1 + 1e-9)).all()
        assert mixed.means.shape == (len(mixed), layout.lines)
        assert ((mixed.means >= layout.group.lower) | mixed.cut).all()
        for levels in layout.level_slices:
            sums = logsumexp(mixed.log_shares[:, levels], axis=1)
            np.testing.assert_allclose(sums, 0.0, atol=1e-12)
        others = sample(layout, 40, seed=8).points
        assert np.isfinite(mixed.log_density(X)).all()
        assert mixed.log_density(X).mean() > mixed.log_density(others).mean() - 1.0
