"""Merges of means whose centres are atoms: by moments, then down the exact error."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

import kernelmean as km
from kernelmean import engines
from kernelmean.fitting import merging
from kernelmean.fitting.grouping import coordinates, merged_by_moments, ward
from kernelmean.fitting.moving import Target
from kernelmean.kernels import Atoms
from kernelmean.linalg.gram import weighted_products
from tests import brute

KINDS = ["scalar", "full"]
KERNEL = km.Gaussian(0.5)
SKEW = np.array([[1.5, 0.4], [0.0, 0.7]])
TURN = np.array([[0.6, -0.8], [0.8, 0.6]])


def batch(seed, n=300):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n // 2, 2)), rng.normal(2.0, 0.5, (n - n // 2, 2))])


def fitted(kind, seed=0, k=15, n=300, **options):
    given_options = {"kernel": KERNEL, "selection": "kmeans", "random_state": 0, "engine": "naive"}
    return km.sparse_kernel_mean(batch(seed, n), k=k, spread=kind, **{**given_options, **options})


def target_of(means):
    """Σ(n_l/N) z_l over all atoms, in the coordinates of the data."""
    total = sum(mean.n_points for mean in means)
    covariances = np.concatenate([brute.covariances(mean)[1] for mean in means])
    scale = means[0].scale
    if scale is not None:
        covariances = scale @ covariances @ scale.T
    return km.KernelMean(
        np.concatenate([mean.centers for mean in means]),
        np.concatenate([mean.weights * mean.n_points / total for mean in means]),
        means[0].kernel,
        means[0].space,
        scale,
        total,
        "naive",
        spreads=covariances,
    )


def relative_error(merged, means):
    target = target_of(means)
    return brute.mixture_distance(target, merged) / np.sqrt(brute.mixture_inner(target, target))


# Groups


def partition(labels):
    return {tuple(np.flatnonzero(labels == label)) for label in np.unique(labels)}


@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 10**6), st.data())
def test_groups_are_those_of_ward(n, d, seed, data):
    """Equal masses against SciPy, which knows no others."""
    count = data.draw(st.integers(1, n))
    places = np.random.default_rng(seed).normal(size=(n, d))
    labels = ward(places, np.ones(n), np.ones(n, dtype=bool), count)
    expected = fcluster(linkage(places, "ward"), count, "maxclust")
    assert partition(labels) == partition(expected)


@given(st.integers(3, 15), st.integers(0, 10**6), st.data())
def test_a_mass_is_a_repeated_point(n, seed, data):
    rng = np.random.default_rng(seed)
    places, mass = rng.normal(size=(n, 2)), rng.integers(1, 4, n)
    count = data.draw(st.integers(1, n))
    labels = ward(places, mass.astype(float), np.ones(n, dtype=bool), count)
    repeated = np.repeat(places, mass, axis=0)
    expected = fcluster(linkage(repeated, "ward"), count, "maxclust")
    assert partition(np.repeat(labels, mass)) == partition(expected)


def test_groups_are_of_one_side():
    rng = np.random.default_rng(0)
    places, side = rng.normal(size=(30, 2)), rng.uniform(size=30) < 0.4
    for count in (2, 5, 20):
        groups = partition(ward(places, np.ones(30), side, count))
        assert len(groups) == count
        assert all(len(set(side[list(rows)])) == 1 for rows in groups)
    assert len(partition(ward(places, np.ones(30), side, 1))) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_tell_atoms_of_one_centre_apart(kind):
    spreads = np.array([0.1, 0.1, 2.0])
    atoms = Atoms(np.zeros((3, 2)), spreads).as_kind(kind)
    places = coordinates(atoms)
    distance = ((places[0] - places[2]) ** 2).sum()
    assert distance == pytest.approx(2 * (np.sqrt(2.0) - np.sqrt(0.1)) ** 2)
    np.testing.assert_allclose(places[0], places[1], atol=1e-15)


@pytest.mark.parametrize("count", [60, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_merged_atoms_keep_mass_mean_and_covariance(kind, count):
    """Of each sign apart; with many atoms centroids come first."""
    rng = np.random.default_rng(1)
    roots = rng.normal(size=(90, 2, 2))
    spreads = roots @ np.swapaxes(roots, 1, 2) if kind == "full" else rng.uniform(size=90)
    atoms, w = Atoms(rng.normal(size=(90, 2)), spreads), rng.dirichlet(np.ones(90))
    w = np.where(np.arange(90) == 4, 0.0, w) / (1.0 - w[4])
    groups = merged_by_moments(engines.open("naive"), atoms, w, count)
    assert len(groups) == count
    # The masses are not handed out: those that keep Σ and the mean exist and are unique for 3.
    three = merged_by_moments(engines.open("naive"), atoms, w, 3)
    rows = np.column_stack([np.ones(3), three.centers]).T
    masses = np.linalg.solve(rows, np.concatenate([[1.0], w @ atoms.centers]))
    assert (np.diff(masses) <= 1e-12).all()  # the heaviest first
    both = [(w, atoms.as_kind("full")), (masses, three.as_kind("full"))]
    moments = [
        np.einsum("a,aij->ij", v, part.spreads)
        + np.einsum("a,ai,aj->ij", v, part.centers, part.centers)
        for v, part in both
    ]
    if kind == "full":
        np.testing.assert_allclose(moments[0], moments[1], rtol=1e-9)
    else:
        assert np.trace(moments[0]) == pytest.approx(np.trace(moments[1]), rel=1e-9)


# What the descent asks of a target


def test_moments_of_a_target_of_points_are_those_of_a_sample():
    rng = np.random.default_rng(0)
    X, p = rng.normal(size=(50, 2)), rng.dirichlet(np.ones(50))
    atoms = Atoms(rng.normal(size=(6, 2)), rng.uniform(size=6))
    radial = KERNEL.radial(2, "l2")
    target = Target(radial, Atoms(X, np.zeros(50)), p, None)
    expected = engines.open("naive").load(X, p).atom_moments(radial, atoms)
    np.testing.assert_allclose(target.atom_moments(radial, atoms), expected, rtol=1e-10, atol=1e-14)


def test_moments_of_a_target_of_atoms_are_means_over_them(monkeypatch):
    """Monte Carlo over the atoms of the target, and in blocks of one row."""
    from kernelmean.fitting import moving

    rng = np.random.default_rng(0)
    own = Atoms(rng.normal(size=(4, 2)), rng.uniform(size=4))
    theirs, w = Atoms(rng.normal(size=(3, 2)), rng.uniform(size=3)), np.array([0.5, 0.2, 0.3])
    radial = KERNEL.radial(2, "rkhs")
    target = Target(radial, theirs, w, None)
    draws = 300_000
    X = np.concatenate(
        [
            rng.normal(c, np.sqrt(v), (draws, 2))
            for c, v in zip(theirs.centers, theirs.spreads, strict=True)
        ]
    )
    sampled = engines.open("cpu").load(X, np.repeat(w, draws)).atom_moments(radial, own)
    found = target.atom_moments(radial, own)
    np.testing.assert_allclose(found, sampled, atol=0.004)
    np.testing.assert_allclose(found[:, 0], weighted_products(radial, own, theirs, w), rtol=1e-12)
    monkeypatch.setattr(moving, "BLOCK_PRODUCTS", 1)
    np.testing.assert_allclose(target.atom_moments(radial, own), found, rtol=1e-13)


# Merges


@pytest.mark.parametrize("constraint", [None, "simplex", "sum-to-one"])
@pytest.mark.parametrize(
    "kinds", [("scalar", "scalar"), ("full", None, "scalar"), (None, "scalar")]
)
def test_with_room_for_all_atoms_the_merged_mean_is_the_target(kinds, constraint):
    means = [
        fitted(kind, seed, 10, 200 + 50 * seed, space="l2", constraint="simplex")
        for seed, kind in enumerate(kinds)
    ]
    merged = km.merge(means, k=60, constraint=constraint)
    assert merged.k == 10 * len(kinds)
    assert merged.stop_reason == "distinct"
    assert merged.n_points == sum(mean.n_points for mean in means)
    assert relative_error(merged, means) < 1e-6
    assert merged.expansion.atoms.kind == ("full" if "full" in kinds else "scalar")
    assert merged.indices is None
    assert merged.bound is None


def test_equal_atoms_are_one():
    mean = fitted("scalar")
    merged = km.merge([mean, mean, mean], k=15)
    assert merged.k == 15
    assert merged.distance(mean) < 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_turned_coordinates_merge(tmp_path, kind):
    means = [fitted(kind, 0, scale=SKEW), fitted(kind, 1, scale=TURN @ SKEW)]
    for k in (12, 40):
        merged = km.merge(means, k=k)
        merged.save(tmp_path / "merged.km")  # only what is symmetric to the last bit is believed
        assert km.load(tmp_path / "merged.km").distance(merged) == 0.0
        exact = merging.merging_error(means, merged)
        assert exact == pytest.approx(
            brute.mixture_distance(target_of(means), merged), rel=1e-6, abs=1e-7
        )
    assert relative_error(merged, means) < 1e-6


@pytest.mark.parametrize("space", ["rkhs", "l2"])
@pytest.mark.parametrize("constraint", [None, "simplex", "sum-to-one", "simplex-projection"])
@pytest.mark.parametrize("kind", KINDS)
def test_fewer_atoms_are_close_and_more_are_closer(kind, constraint, space):
    means = [fitted(kind, seed, space=space, constraint="simplex") for seed in range(3)]
    errors = []
    for k in (4, 10, 20):
        merged = km.merge(means, k=k, constraint=constraint)
        assert merged.k == k
        assert merged.spreads.shape == ((k,) if kind == "scalar" else (k, 2, 2))
        if constraint is not None:
            assert merged.weights.sum() == pytest.approx(1.0)
        if constraint in ("simplex", "simplex-projection"):
            assert merged.weights.min() >= 0.0
        errors.append(relative_error(merged, means))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.03


def test_a_few_steps_down_the_error_pay(monkeypatch):
    means = [fitted("scalar", seed, 30, 600, space="l2") for seed in range(2)]
    with_steps = relative_error(km.merge(means, k=30), means)
    monkeypatch.setattr(merging, "MOVING_STEPS", 0)
    assert with_steps < 0.8 * relative_error(km.merge(means, k=30), means)


def test_atoms_lose_less_than_points():
    means = [fitted("scalar", seed, 30, 600, space="l2") for seed in range(2)]
    points = [fitted(None, seed, 30, 600, space="l2") for seed in range(2)]
    assert relative_error(km.merge(means, k=30), means) < 0.5 * relative_error(
        km.merge(points, k=30), points
    )


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_random(kind):
    means = [fitted(kind, seed) for seed in range(3)]
    first, second = (km.merge(means, k=10) for _ in range(2))
    for name in ("centers", "spreads", "weights", "kappa"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("kind", KINDS)
def test_signed_means_keep_their_signs(kind):
    """A difference of two densities: what is positive and what is negative must not be merged."""
    difference = [
        dataclasses.replace(fitted(kind, 0, 12), weights=2.0 * fitted(kind, 0, 12).weights),
        dataclasses.replace(fitted(kind, 1, 12), weights=-1.5 * fitted(kind, 1, 12).weights),
    ]
    errors = [relative_error(km.merge(difference, k=k), difference) for k in (6, 12, 20)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.2
    assert km.merge(difference, k=1).k == 1


def test_a_selection_of_atoms_is_kept_where_groups_are_worse(monkeypatch):
    """Under a kernel that does not reach from atom to atom, a group of two says nothing of them."""
    weights = np.arange(1.0, 13.0) * (-1.0) ** np.arange(12)
    mean = dataclasses.replace(
        fitted("scalar", 0, 12),
        weights=weights,
        kernel=km.Gaussian(0.02),
        spreads=np.full(12, 1e-4),
    )
    monkeypatch.setattr(merging, "MOVING_STEPS", 0)
    target = merging.Target(mean.kernel.radial(2, "rkhs"), mean.expansion.atoms, mean.weights, None)
    groups = merged_by_moments(engines.open("naive"), target.atoms, target.weights, 8)
    factors = [target.factor(part) for part in (groups, merging._greedy(target, 8))]
    objectives = [factor.objective(target.solve(factor)) for factor in factors]
    assert objectives[1] < objectives[0]
    merged = km.merge([mean], k=8)
    assert all((mean.centers == center).all(axis=1).any() for center in merged.centers)


def test_many_atoms_become_centroids_first(monkeypatch):
    means = [fitted("scalar", seed, space="l2") for seed in range(4)]
    near = relative_error(km.merge(means, k=10), means)
    from kernelmean.fitting import grouping

    monkeypatch.setattr(grouping, "ATOMS_PER_GROUP", 2)
    assert relative_error(km.merge(means, k=10), means) < 1.5 * near
    monkeypatch.setattr(grouping, "BLOCK_COSTS", 1)
    assert km.merge(means, k=10).k == 10


def test_atoms_without_weight_do_not_count():
    mean = fitted("scalar")
    padded = dataclasses.replace(
        mean,
        centers=np.concatenate([mean.centers, [[9.0, 9.0]]]),
        spreads=np.append(mean.spreads, 3.0),
        weights=np.append(mean.weights, 0.0),
    )
    merged = km.merge([padded], k=15)
    assert relative_error(merged, [mean]) < 0.02
    nothing = dataclasses.replace(mean, weights=np.zeros(15))
    assert not km.merge([nothing], k=3)(batch(0, 4)).any()


def test_groups_too_wide_for_floats_are_left_out():
    """In 784 dimensions the norm of a wide atom underflows, and its factor with it."""
    rng = np.random.default_rng(0)
    centers = np.zeros((4, 784))
    centers[:, 0] = [0.0, 50.0, 1000.0, 1050.0]
    narrow = km.sparse_kernel_mean(
        centers, kernel=km.Gaussian(0.2), k=4, spread=None, random_state=0, engine="naive"
    )
    atoms = dataclasses.replace(narrow, spreads=np.full(4, 1e-4), weights=rng.uniform(size=4))
    merged = km.merge([atoms], k=2)
    assert merged.k == 2
    assert np.isfinite(merged.weights).all()
    np.testing.assert_array_equal(merged.spreads, 1e-4)
