"""Climbing together: the same peaks as climbing alone, by far fewer steps."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import kernelmean as km
from kernelmean.mean import joint_climbing
from kernelmean.mean.basins import UNKNOWN, BasinMap, cell_keys
from kernelmean.mean.climbing import DensityToClimb, climb
from kernelmean.mean.joint_climbing import climb_together
from kernelmean.mean.linkage import link
from kernelmean.mean.peaks import find_peaks

TOL = 1e-3
MAX_ITER = 10_000


def blobs(n, d, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(5, d)) * 2.5
    which = rng.integers(5, size=n)
    return centers[which] + rng.normal(size=(n, d)) * rng.uniform(0.4, 0.9, 5)[which, None]


def density_of(X, kernel, k=400, spread=None):
    """A density to climb: of a few points of uneven weights, or of atoms that are fitted."""
    if spread is None:
        w = np.random.default_rng(2).uniform(0.5, 1.5, min(k, len(X)))
        return DensityToClimb.of(km.kernel_mean(X[:k], kernel=kernel, space="l2", sample_weight=w))
    mean = km.sparse_kernel_mean(
        X[:3000],
        k=120,
        kernel=kernel,
        space="l2",
        constraint="simplex",
        spread=spread,
        random_state=0,
        engine="naive",
    )
    return DensityToClimb.of(replace(mean.expansion, engine=km.engines.open("cpu")))


def alone(density, starts, radius):
    """Peaks and the number of each start's, by climbing from each."""
    found = climb(density, starts, TOL, MAX_ITER)
    links = link(found.ends, radius)
    peaks = find_peaks(density, found.ends, found.log_values, links, radius)
    return peaks.places, peaks.owner[links.groups[links.cells]]


def together(density, starts):
    return climb_together(density, starts, TOL, MAX_ITER, density.length)


def agreement(a, b):
    """The share of points on which two clusterings agree, clusters matched at best."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    return table[linear_sum_assignment(-table)].sum() / len(a)


class Counting:
    """A cloud that counts the points whose shift is asked for."""

    def __init__(self, cloud):
        self.cloud = cloud
        self.asked = 0

    def shift(self, decay, Q, w):
        self.asked += len(Q)
        return self.cloud.shift(decay, Q, w)


@pytest.mark.parametrize(
    ("kernel", "d", "spread"),
    [
        (km.Gaussian(0.3), 1, None),
        (km.Gaussian(0.4), 2, None),
        (km.Gaussian(0.4), 2, "scalar"),
        (km.Gaussian(0.4), 2, "full"),
        (km.Gaussian(0.6), 5, None),
        (km.Gaussian(0.6), 5, "full"),
        (km.Gaussian(1.0), 10, None),
        (km.Laplacian(0.4), 2, None),
        (km.Laplacian(0.6), 3, None),
        (km.Student(3.0, 0.4), 2, None),
        (km.Cauchy(0.4), 2, None),
    ],
    ids=str,
)
def test_the_peaks_are_those_of_climbing_alone(kernel, d, spread):
    X = blobs(12_000, d)
    density = density_of(X, kernel, spread=spread)
    peaks, labels = alone(density, X, density.length)
    found = together(density, X)
    assert agreement(labels, found.modes) >= 0.999
    assert found.left == 0
    for place in found.peaks:
        assert np.linalg.norm(peaks - place, axis=1).min() < 1e-5 * density.length


def test_a_narrow_density_of_many_peaks():
    X = np.random.default_rng(1).normal(size=(12_000, 3))
    density = density_of(X, km.Gaussian(0.15), k=200)
    _, labels = alone(density, X, density.length)
    assert labels.max() > 50
    assert agreement(labels, together(density, X).modes) >= 0.999


def test_most_points_need_no_step():
    X = blobs(40_000, 2)
    density = density_of(X, km.Gaussian(0.4))
    counting = Counting(density.cloud)
    counted = DensityToClimb(
        counting, density.centers, density.weights, density.decay, density.length
    )
    together(counted, X)
    assert counting.asked < len(X)


def test_everything_of_the_result():
    X = blobs(12_000, 2)
    density = density_of(X, km.Gaussian(0.4))
    found = together(density, X)
    m = len(found.peaks)
    assert set(found.modes) == set(range(m))
    assert (np.diff(found.log_peaks) <= 0).all()
    assert np.allclose(density.at(found.peaks).log_value, found.log_peaks)
    assert found.ends.shape == X.shape
    # An end lies where single linkage puts it: near an anchor of its mode.
    near = np.linalg.norm(found.ends[:, None] - found.anchors[None, :50], axis=2)
    known = near.min(axis=1) == 0.0
    assert (found.anchor_modes[:50][near.argmin(axis=1)] == found.modes)[known].all()
    assert set(found.anchor_modes) == set(range(m))
    assert 1 < found.n_iter <= MAX_ITER


def test_few_points_climb_alone():
    X = blobs(joint_climbing.FEW, 2)
    density = density_of(X, km.Gaussian(0.4))
    expected = climb(density, X, TOL, MAX_ITER)
    found = together(density, X)
    assert np.array_equal(found.ends, expected.ends)
    assert found.n_iter == expected.n_iter
    assert np.array_equal(found.modes, alone(density, X, density.length)[1])


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_handful_of_points(n):
    X = blobs(500, 2)
    density = density_of(X, km.Gaussian(0.4), k=20)
    found = together(density, X[:n])
    assert found.modes.shape == (n,)
    assert len(found.peaks) == found.modes.max() + 1


def test_copies_of_points_share_their_mode():
    X = np.repeat(blobs(500, 2), 20, axis=0)
    density = density_of(X[::20], km.Gaussian(0.4), k=60)
    _, labels = alone(density, X, density.length)
    found = together(density, X)
    assert agreement(labels, found.modes) >= 0.999
    by_point = found.modes.reshape(-1, 20)
    assert (by_point == by_point[:, :1]).mean() >= 0.999


def test_one_place_many_times():
    X = np.zeros((5000, 3))
    density = density_of(np.zeros((4, 3)), km.Gaussian(1.0), k=1)
    found = together(density, X)
    assert len(found.peaks) == 1
    assert not found.modes.any()
    assert np.allclose(found.ends, 0.0)


def test_the_result_is_the_same_each_time_whatever_the_threads():
    X = blobs(12_000, 3)
    mean = km.kernel_mean(X[:80], kernel=km.Gaussian(0.5), space="l2")
    engines = [km.engines.open("cpu", threads=threads) for threads in (1, 2)]
    results = [
        together(DensityToClimb.of(replace(mean.expansion, engine=engine)), X) for engine in engines
    ]
    for one, other in zip(*results, strict=True):
        assert np.array_equal(one, other)


def test_points_cut_short_are_counted():
    X = blobs(12_000, 2)
    density = density_of(X, km.Gaussian(0.4))
    found = climb_together(density, X, 1e-9, 3, density.length)
    assert found.n_iter == 3
    assert 0 < found.left <= len(X)
    few = climb_together(density, X[:100], 1e-9, 3, density.length)
    assert few.left == climb(density, X[:100], 1e-9, 3).left > 0


def test_batches_change_little(monkeypatch):
    X = blobs(12_000, 5)
    density = density_of(X, km.Gaussian(0.6))
    whole = together(density, X)
    monkeypatch.setattr(joint_climbing, "BATCH_NUMBERS", 1)
    monkeypatch.setattr(joint_climbing, "FEW", 300)
    assert agreement(whole.modes, together(density, X).modes) >= 0.999


# --- the map


def test_a_map_is_certain_away_from_boundaries_only():
    places = np.random.default_rng(0).uniform(-5, 5, size=(20_000, 2))
    basins = BasinMap.of(places, (places[:, 0] > 0).astype(np.intp), 0.5)
    queries = np.column_stack([np.linspace(-4, 4, 801), np.zeros(801)])
    found = basins.at(queries)
    certain = found != UNKNOWN
    assert (found[certain] == (queries[certain, 0] > 0)).all()
    assert certain[np.abs(queries[:, 0]) > 0.5].all()
    assert not certain[np.abs(queries[:, 0]) < 0.05].any()
    assert (basins.at(queries + 100.0) == UNKNOWN).all()


def test_cells_have_numbers_of_their_own():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(3000, 4)) * 3.0
    corners = np.unique(np.floor(places / 0.7), axis=0, return_inverse=True)[1].ravel()
    keys = np.unique(cell_keys(places, 0.7), return_inverse=True)[1]
    assert len(np.unique(corners * (keys.max() + 1) + keys)) == corners.max() + 1 == keys.max() + 1
    signs = cell_keys(np.array([[0.0, -0.0], [-0.0, 0.0]]), 1.0)
    assert signs[0] == signs[1]
