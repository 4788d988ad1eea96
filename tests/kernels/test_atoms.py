"""Atoms as values: what a kernel makes of them, kinds of spreads, atoms end to end and merged."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean.kernels import Atoms
from kernelmean.kernels.atoms import joined, merged, variance

KINDS = (None, "scalar", "full")


def some_atoms(k, d, kind, seed=0):
    rng = np.random.default_rng((seed, k, d))
    roots = rng.normal(size=(k, d, d))
    full = roots @ np.swapaxes(roots, 1, 2)
    spreads = {None: None, "scalar": rng.uniform(0.1, 2.0, k), "full": full}[kind]
    return Atoms(rng.normal(size=(k, d)), spreads)


def moments(weights, atoms):
    """Mass, mean and covariance of a weighted sum of atoms."""
    mass = weights.sum()
    mean = weights @ atoms.centers / mass
    u = atoms.centers - mean
    own = np.einsum("a,ast->st", weights, atoms.as_kind("full").spreads)
    return mass, mean, (own + (weights[:, None] * u).T @ u) / mass


@pytest.mark.parametrize("kind", KINDS)
def test_an_atom_knows_its_size_and_kind(kind):
    atoms = some_atoms(5, 3, kind)
    assert (len(atoms), atoms.dimension, atoms.kind) == (5, 3, kind)
    some = atoms[[4, 1]]
    assert (len(some), some.kind) == (2, kind)
    np.testing.assert_array_equal(some.centers, atoms.centers[[4, 1]])
    if kind is not None:
        np.testing.assert_array_equal(some.spreads, atoms.spreads[[4, 1]])


@pytest.mark.parametrize("d", [1, 2, 7, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_blurred_atoms_by_determinants(kind, d):
    """Values, heights and inverse covariances by slogdet, solve and inv."""
    tau2, atoms = 0.7, some_atoms(6, d, kind)
    X = np.random.default_rng(1).normal(size=(9, d))
    components = atoms.blurred(tau2)
    values = components.log_values(X)
    precisions = components.precisions()
    for a, S in enumerate(atoms.as_kind("full").spreads):
        V = tau2 * np.eye(d) + S
        u = X - atoms.centers[a]
        height = -0.5 * np.linalg.slogdet(V / tau2)[1]
        quadratic = (u * np.linalg.solve(V, u.T).T).sum(axis=1)
        assert components.log_heights[a] == pytest.approx(height, rel=1e-10, abs=1e-12)
        np.testing.assert_allclose(values[:, a], height - 0.5 * quadratic, rtol=1e-10)
        own = precisions[a] * np.eye(d) if precisions.ndim == 1 else precisions[a]
        np.testing.assert_allclose(own, np.linalg.inv(V), atol=1e-10 / tau2)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_factors_are_upper_triangular_whatever_the_rank(rank):
    """Covariances of one point, and of points on a line or in a plane."""
    roots = np.random.default_rng(0).normal(size=(4, 3, rank))
    S = roots @ np.swapaxes(roots, 1, 2)
    components = Atoms(np.zeros((4, 3)), S).blurred(0.01)
    np.testing.assert_array_equal(components.factors, np.triu(components.factors))
    expected = np.linalg.inv(0.01 * np.eye(3) + S)
    np.testing.assert_allclose(components.precisions(), expected, rtol=1e-9, atol=1e-9)
    assert (components.log_heights <= 0.0).all()


def test_a_spread_that_rounding_made_negative_is_none():
    S = np.array([[[1.0, 0.0], [0.0, -1e-17]]])
    components = Atoms(np.zeros((1, 2)), S).blurred(1e-20)
    assert np.isfinite(components.log_heights).all()
    assert (components.log_heights < 0.0).all()


@pytest.mark.parametrize("kind", ["scalar", "full"])
@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e12])
def test_huge_and_tiny_spreads_are_finite(kind, scale):
    atoms = some_atoms(6, 3, kind)
    components = Atoms(atoms.centers, scale * atoms.spreads).blurred(1.0)
    assert np.isfinite(components.factors).all()
    assert np.isfinite(components.log_values(np.ones((2, 3)))).all()
    if scale < 1e-15:
        points = Atoms(atoms.centers).blurred(1.0)
        np.testing.assert_allclose(
            components.log_values(np.ones((2, 3))), points.log_values(np.ones((2, 3))), rtol=1e-13
        )


@pytest.mark.parametrize("kind", KINDS)
def test_another_kind_holds_the_same_atoms(kind):
    atoms = some_atoms(6, 3, kind)
    X = np.random.default_rng(1).normal(size=(9, 3))
    expected = atoms.blurred(0.7).log_values(X)
    assert atoms.as_kind(kind) is atoms
    for wider in KINDS[max(1, KINDS.index(kind)) :]:
        twin = atoms.as_kind(wider)
        assert twin.kind == wider
        np.testing.assert_allclose(twin.blurred(0.7).log_values(X), expected, rtol=1e-12)


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_atoms_end_to_end(first, second):
    parts = [some_atoms(4, 3, first), some_atoms(3, 3, second, 1)]
    found = joined(parts)
    assert found.kind == KINDS[max(KINDS.index(first), KINDS.index(second))]
    X = np.random.default_rng(1).normal(size=(5, 3))
    expected = np.concatenate([part.blurred(0.7).log_values(X) for part in parts], axis=1)
    np.testing.assert_allclose(found.blurred(0.7).log_values(X), expected, rtol=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_merged_atoms_keep_mass_mean_and_covariance(kind, sign):
    """Of scalar spreads, and of points, the trace of the covariance."""
    rng = np.random.default_rng(2)
    groups = [(sign * rng.uniform(0.1, 2.0, k), some_atoms(k, 3, kind, k)) for k in (1, 2, 5)]
    masses, atoms = merged(groups)
    assert atoms.kind == ("full" if kind == "full" else "scalar")
    for a, (w, group) in enumerate(groups):
        mass, mean, covariance = moments(w, group)
        assert masses[a] == pytest.approx(mass, rel=1e-13)
        np.testing.assert_allclose(atoms.centers[a], mean, atol=1e-13)
        if kind == "full":
            np.testing.assert_allclose(atoms.spreads[a], covariance, atol=1e-13)
        else:
            assert atoms.spreads[a] == pytest.approx(np.trace(covariance) / 3, rel=1e-12)


def test_merged_atoms_of_one_are_that_one():
    atoms = some_atoms(3, 2, "full")
    masses, found = merged([(np.array([0.5]), atoms[[a]]) for a in range(3)])
    np.testing.assert_array_equal(masses, 0.5)
    np.testing.assert_array_equal(found.centers, atoms.centers)
    np.testing.assert_array_equal(found.spreads, atoms.spreads)


def test_merging_far_from_the_origin_costs_no_digits():
    atoms = some_atoms(6, 3, "scalar")
    centers = np.round(atoms.centers * 2**20) / 2**20
    w = np.ones(6)
    near, far = (merged([(w, Atoms(centers + o, atoms.spreads))])[1] for o in (0.0, 2.0**26))
    np.testing.assert_allclose(far.spreads, near.spreads, rtol=1e-14)


def test_only_gaussian_kernels_have_a_variance():
    assert variance(km.Gaussian(2.0).radial(3, "rkhs")) == pytest.approx(4.0)
    assert variance(km.Gaussian(2.0).radial(3, "l2")) == pytest.approx(8.0)
    for kernel in (km.Laplacian(1.0), km.Student(3.0, 1.0)):
        with pytest.raises(ValueError, match="Gaussian"):
            variance(kernel.radial(3, "rkhs"))
