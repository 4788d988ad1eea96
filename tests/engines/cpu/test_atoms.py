"""Sums over atoms at the seams of the cpu engine's blocks, and what they leave out."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean import _lazy
from kernelmean.engines.cpu import component_reach
from kernelmean.engines.cpu.blocks import width
from kernelmean.kernels import Atoms
from tests.engines.cases import same_bits
from tests.engines.cpu.seams import engines, naive

KINDS = ("scalar", "full")
cpu = engines["cpu-2"]


def some_atoms(k, d, kind, scale=0.3):
    rng = np.random.default_rng((k, d))
    roots = scale * rng.normal(size=(k, d, d))
    spreads = roots @ np.swapaxes(roots, 1, 2) if kind == "full" else scale**2 * rng.uniform(size=k)
    return Atoms(rng.normal(size=(k, d)), spreads)


@pytest.mark.parametrize("d", [3, 9, 17])
@pytest.mark.parametrize("kind", KINDS)
def test_atoms_and_queries_at_the_seams_of_blocks(kind, d):
    """One less and one more than fit in a block, and in a cell of one."""
    radial = km.Gaussian(d**0.5).radial(d, "rkhs")
    B = width(d)
    for size in (1, 63, 64, 65, B - 1, B, B + 1, 2 * B + 65):
        for atoms, q in ((some_atoms(size, d, kind), 5), (some_atoms(5, d, kind), size)):
            Q = np.random.default_rng(size).normal(size=(q, d))
            w = np.random.default_rng(q).uniform(size=len(atoms))
            found = cpu.load_atoms(atoms).kernel_sum(radial, Q, w)
            expected = naive.load_atoms(atoms).kernel_sum(radial, Q, w)
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_more_atoms_than_one_chunk_of_blocks():
    d = 17
    atoms = some_atoms(64 * width(d) + 57, d, "scalar")
    radial = km.Gaussian(d**0.5).radial(d, "rkhs")
    Q = np.random.default_rng(0).normal(size=(3, d))
    w = np.random.default_rng(1).uniform(size=len(atoms))
    loaded, plain = cpu.load_atoms(atoms), naive.load_atoms(atoms)
    for place in (Q, 200.0 + Q):
        np.testing.assert_allclose(
            loaded.log_kernel_sum(radial, place, w),
            plain.log_kernel_sum(radial, place, w),
            rtol=1e-12,
        )
    np.testing.assert_allclose(
        loaded.kernel_sum(radial, Q, np.stack([w, w], axis=1))[:, 1],
        plain.kernel_sum(radial, Q, w),
        rtol=1e-12,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_has_the_same_bits_alone_and_among_others(kind):
    """With covariances, where every query has a place of its own in a block."""
    atoms = some_atoms(70, 3, kind)
    radial = km.Gaussian(1.0).radial(3, "rkhs")
    Q = np.random.default_rng(0).normal(size=(600, 3))
    loaded = cpu.load_atoms(atoms)
    together = loaded.kernel_sum(radial, Q, np.ones(70))
    for i in (0, 63, 64, 511, 599):
        assert same_bits(loaded.kernel_sum(radial, Q[[i]], np.ones(70)), together[[i]])


def test_blurred_atoms_are_kept_for_a_few_kernels():
    loaded = cpu.load_atoms(some_atoms(20, 2, "full"))
    Q = np.zeros((1, 2))
    widths = np.linspace(0.5, 2.0, 3 * _lazy.KEPT)
    found = [loaded.kernel_sum(km.Gaussian(s).radial(2, "rkhs"), Q, np.ones(20)) for s in widths]
    again = [loaded.kernel_sum(km.Gaussian(s).radial(2, "rkhs"), Q, np.ones(20)) for s in widths]
    assert same_bits(found, again)
    assert len({float(value[0]) for value in found}) == len(widths)
    assert 0 < len(loaded.compiled._blurred) <= _lazy.KEPT


# --- what is left out


@pytest.fixture
def small_work(monkeypatch):
    """Far cells are left out of small sums too."""
    monkeypatch.setattr(component_reach, "LEAST_VALUES", 0)


def clouds(d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(6000, d))
    yield "normal", X, None
    yield "two clusters", np.concatenate([X[:3000], 40.0 + X[3000:]]), None
    yield (
        "weights with zeros",
        X,
        np.where(rng.uniform(size=6000) < 0.5, 0.0, rng.uniform(size=6000)),
    )
    yield "offset", X + 1e6, None
    yield "duplicates", np.repeat(X[:60], 100, axis=0), None


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_out_cannot_be_seen(small_work, monkeypatch, kind, d):
    radial = km.Gaussian(0.05).radial(d, "rkhs")
    for name, X, w in clouds(d):
        atoms = some_atoms(40, d, kind, 0.05)
        atoms = Atoms(atoms.centers + np.round(X.mean(axis=0)), atoms.spreads)
        atoms.centers[:30] = X[::200]
        loaded = cpu.load(X, w)
        found = loaded.atom_sum(radial, atoms)
        moments = loaded.atom_moments(radial, atoms)
        with monkeypatch.context() as patch:
            patch.setattr(component_reach, "WORTHWHILE", -1.0)
            everything = loaded.atom_sum(radial, atoms)
            every_moment = loaded.atom_moments(radial, atoms)
        np.testing.assert_allclose(found, everything, rtol=4e-15, atol=1e-280, err_msg=name)
        largest = np.abs(every_moment).max(axis=1, keepdims=True)
        assert (np.abs(moments - every_moment) <= 1e-14 * largest + 1e-280).all(), name


@pytest.mark.parametrize("kind", KINDS)
def test_far_cells_are_left_out_and_near_ones_are_not(small_work, kind):
    """Of a narrow kernel at most a part of the cells is within reach; of a wide one, all."""
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    blocks = cpu.load(X).compiled.blocks
    w = blocks.spread(np.full(len(X), 1.0 / len(X)))
    for sigma, most in ((0.02, 0.2), (30.0, 1.0)):
        components = some_atoms(50, 2, kind, 0.02).blurred(sigma**2)
        factors = components.factors.reshape(50, -1)
        reach = component_reach.cells_that_matter(
            blocks, w, kind, components.centers, factors, 1.0, 1
        )
        cells = reach(slice(None), slice(None)).astype(int)
        share = (cells[:, :, 1] - cells[:, :, 0]).mean() * 64 / blocks.shape[1]
        assert share <= most
        assert (share == 1.0) == (most == 1.0)


def test_few_sums_and_points_in_no_order_leave_nothing_out():
    blocks = cpu.load(np.random.default_rng(0).normal(size=(3000, 2))).compiled.blocks
    w = blocks.spread(np.full(3000, 1.0 / 3000))
    reach = component_reach.cells_that_matter(
        blocks, w, "scalar", np.zeros((3, 2)), np.full((3, 1), 1e6), 1.0, 1
    )
    assert (reach(slice(None), slice(None))[:, :, 1] == blocks.shape[1] // 64).all()
