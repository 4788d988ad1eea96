"""Atoms from cells: what they keep of the points, whole and trimmed."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.selection import Task
from kernelmean.selection.cells import TRIMMED, cell_atoms, trimmed_atoms

ENGINE = km.engines.open("cpu")


def task(X, weights=None, sigma=0.5):
    radial = km.Gaussian(sigma).radial(X.shape[1], "rkhs")
    return Task(ENGINE.load(X, weights), ENGINE, radial, 10, True, False, False, Streams(0))


@pytest.mark.parametrize("kind", ["scalar", "full"])
def test_atoms_keep_mean_and_covariance_of_the_sample(kind):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(500, 3)), rng.uniform(0.1, 2.0, 500)
    centers = X[:20]
    cloud = ENGINE.load(X, w)
    masses = cloud.nearest(centers).masses()
    atoms = cell_atoms(cloud, centers, kind)
    p = w / w.sum()
    mean = p @ X
    covariance = np.einsum("j,js,jt->st", p, X - mean, X - mean)
    np.testing.assert_allclose(masses @ atoms.centers, mean, atol=1e-13)
    offsets = atoms.centers - mean
    total = np.einsum("a,as,at->st", masses, offsets, offsets)
    total = total + np.einsum("a,ast->st", masses, atoms.as_kind("full").spreads)
    if kind == "full":
        np.testing.assert_allclose(total, covariance, atol=1e-12)
    assert np.trace(total) == pytest.approx(np.trace(covariance))


def test_cells_of_nothing_are_left_out():
    X = np.zeros((5, 2))
    atoms = cell_atoms(ENGINE.load(X), np.array([[0.0, 0.0], [9.0, 9.0]]), "scalar")
    assert len(atoms) == 1
    assert atoms.spreads.tolist() == [0.0]


def test_far_points_are_trimmed():
    near = np.random.default_rng(0).normal(scale=0.05, size=(50, 2))
    far = np.array([[5.0, 0.0], [0.0, 7.0]])
    X = np.concatenate([near, far])
    centers = np.array([[0.0, 0.0], [100.0, 100.0]])
    atoms = trimmed_atoms(task(X), centers, None)
    np.testing.assert_allclose(atoms.centers[0], near.mean(axis=0))
    assert atoms.spreads[0] == pytest.approx(near.var(axis=0).mean())
    assert atoms.centers[1].tolist() == [100.0, 100.0]  # nothing near: it stays where it is
    assert atoms.spreads[1] == 0.0


def test_nothing_near_leaves_points():
    X = np.random.default_rng(0).normal(size=(20, 2))
    atoms = trimmed_atoms(task(X), X[:3] + 1e3, None)
    assert (atoms.spreads == 0.0).all()


def test_trimming_counts_weights():
    X = np.array([[0.0], [0.1], [3.0]])
    atoms = trimmed_atoms(task(X), np.array([[0.0]]), np.array([3.0, 1.0, 100.0]))
    assert TRIMMED * 0.25 > 0.01
    assert atoms.centers[0, 0] == pytest.approx(0.025)
