"""Gradients of atoms against differences, bounds that hold, and steps that only go down."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean import coefficients
from kernelmean.coefficients import atom_refinement, full_refinement
from kernelmean.coefficients.descent import Memory, minimise
from kernelmean.kernels import Atoms

CONSTRAINTS = [None, "simplex", "sum-to-one"]


def solver(constraint):
    return lambda factor, guess: coefficients.weights(
        factor, factor.size, constraint, "cholesky", guess
    )


def sample(d, n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(n, d)), 3.0 + 0.3 * rng.normal(size=(n, d))])
    return X, X[rng.permutation(2 * n)[:8]] + 0.01


def scalar_case(d, constraint, space):
    X, centers = sample(d)
    spreads = np.random.default_rng(1).uniform(0.0, 0.5, len(centers))
    radial = km.Gaussian(0.6).radial(d, space)
    cloud = km.engines.open("cpu").load(X)
    objective = atom_refinement.AtomObjective(cloud, radial, solver(constraint))
    return objective, objective.at(Atoms(centers, spreads))


def full_case(d, constraint, space):
    X, centers = sample(d)
    roots = 0.4 * np.random.default_rng(2).normal(size=(len(centers), d, d))
    radial = km.Gaussian(0.6).radial(d, space)
    cloud = km.engines.open("cpu").load(X)
    frames = np.linalg.qr(np.random.default_rng(3).normal(size=(len(centers), d, d)))[0]
    objective = full_refinement.FullObjective(cloud, radial, solver(constraint), frames)
    variables = np.column_stack([centers, roots.reshape(len(centers), -1)]) / objective.unit
    return objective, objective.at(variables)


@pytest.mark.parametrize("space", ["rkhs", "l2"])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("case", [scalar_case, full_case])
def test_the_gradient_is_that_of_the_error(case, d, constraint, space):
    objective, state = case(d, constraint, space)
    h = 1e-5
    for a, t in np.ndindex(*state.gradient.shape):
        step = np.zeros(state.gradient.shape)
        step[a, t] = h
        ahead, behind = objective.moved(state, step), objective.moved(state, -step)
        slope = (ahead.value - behind.value) / (2 * h)
        assert state.gradient[a, t] == pytest.approx(slope, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("case", [scalar_case, full_case])
def test_every_step_goes_down(case):
    objective, state = case(3, "simplex", "l2")
    memory, values = Memory(), [state.value]
    for _ in range(8):
        state = minimise(objective, state, 1, memory)
        values.append(state.value)
    assert (np.diff(values) < 0.0).all()


def test_an_atom_that_would_be_narrower_than_a_point_stays_one():
    X, _ = sample(2)
    centers = X[:6]
    radial = km.Gaussian(5.0).radial(2, "rkhs")
    # Only six points, each of them a centre: any width is an error.
    objective = atom_refinement.AtomObjective(
        km.engines.open("cpu").load(centers), radial, solver("simplex")
    )
    state = objective.at(Atoms(centers, np.zeros(6)))
    moved = minimise(objective, objective.at(Atoms(centers, np.full(6, 0.5))), 60, Memory())
    assert moved.value < objective.at(Atoms(centers, np.full(6, 0.5))).value
    assert (moved.atoms.spreads >= 0.0).all()
    assert moved.value >= state.value - 1e-12
    held = state.free(np.ones_like(state.gradient))
    assert ((held[:, -1] == 0.0) == (state.gradient[:, -1] > 0.0)).all()


@pytest.mark.parametrize("power", [-300, -100, 100, 300])
def test_units_cost_no_digits(power):
    X, centers = sample(2)
    unit = 2.0**power
    found = []
    for factor in (1.0, unit):
        radial = km.Gaussian(0.6 * factor).radial(2, "rkhs")
        objective = atom_refinement.AtomObjective(
            km.engines.open("naive").load(X * factor), radial, solver(None)
        )
        atoms = Atoms(centers * factor, np.full(len(centers), 0.1 * factor**2))
        found.append(minimise(objective, objective.at(atoms), 5, Memory()))
    np.testing.assert_allclose(found[1].atoms.centers / unit, found[0].atoms.centers, rtol=1e-12)
    assert found[1].value == pytest.approx(found[0].value, rel=1e-12)


def test_full_atoms_grow_out_of_points():
    """B = 0 has no slope; a floor under the eigenvalues gives it one."""
    X, centers = sample(2)
    cloud = km.engines.open("cpu").load(X)
    radial = km.Gaussian(0.3).radial(2, "l2")
    atoms = Atoms(centers, np.zeros((len(centers), 2, 2)))
    rng = np.random.default_rng(0)
    end = full_refinement.refine(
        cloud, radial, solver("simplex"), km.engines.open("cpu"), atoms, 30, rng
    )
    assert np.trace(end.atoms.spreads, axis1=1, axis2=2).max() > 0.1


def test_atoms_are_put_in_the_order_of_their_shares():
    _, state = scalar_case(2, "simplex", "l2")
    factor = atom_refinement.by_share(state)
    alpha = coefficients.weights(factor, factor.size, "simplex", "cholesky")
    shares = alpha**2 * np.exp(-np.log1p(2 * factor.atoms.spreads / (2 * 0.36)))
    assert (np.diff(shares) <= 1e-9).all()
