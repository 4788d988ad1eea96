"""A point cloud over many parts: the traversal of one machine index for index, however cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean import _checks
from kernelmean.engines.parts import traversal
from kernelmean.kernels import Atoms
from kernelmean.samples import files as streaming
from tests.parts import KINDS, cloud_of_parts
from tests.strategies import clouds, weighted_clouds

naive, cpu = km.engines.open("naive"), km.engines.open("cpu", threads=2)
ENGINES = {"naive": naive, "cpu": cpu}


def cloud(n=6000, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def lattice(n=6000, d=3):
    """Every distance is shared by many pairs: ties decide."""
    return np.random.default_rng(1).integers(-4, 5, size=(n, d)).astype(float)


def uneven(n):
    """Tiny parts, and parts that are larger than a tree needs to be worth planting."""
    return [1, 2, 10, n // 8, n // 8 + 1, n - 3]


def same_picks(loaded, X, k, first=5):
    expected, found = naive.load(X).traverse(first).take(k), loaded.traverse(first).take(k)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.radii, expected.radii)


# --- farthest-first


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("make", [cloud, lattice])
def test_rounds_pick_what_one_machine_picks(make, engine, kind):
    X = make()
    same_picks(cloud_of_parts(ENGINES[engine], X, uneven(len(X)), kind=kind), X, 150)


@pytest.mark.parametrize("kind", ["kept", "lean"])
def test_rounds_in_high_dimension(kind):
    X = cloud(3000, 24)
    same_picks(cloud_of_parts(cpu, X, [700, 900], kind=kind), X, 120)


@pytest.mark.parametrize("kind", ["kept", "lean"])
@pytest.mark.parametrize("d", [2, 12])
def test_sorted_rows_put_every_part_elsewhere(d, kind):
    """Each part lies far from the others, and from most centres."""
    X = cloud(8000, d)
    X[:, 0] = np.sort(X[:, 0]) ** 3 * 1e4
    same_picks(cloud_of_parts(cpu, X, range(1000, 8000, 1000), kind=kind), X, 100)


@given(
    clouds(40, 2),
    st.sets(st.integers(0, 40), max_size=6),
    st.sampled_from(KINDS),
    st.integers(1, 5),
)
def test_any_partition_and_any_offer_gives_the_same_centres(X, cuts, kind, offered):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traversal, "OFFERED", offered)
        patch.setattr(traversal, "LEAST_OFFER", 1)
        patch.setattr(traversal, "ROUND", 3)
        same_picks(
            cloud_of_parts(naive, X, [c for c in cuts if c < len(X)], kind=kind), X, len(X), first=0
        )


def test_small_offers_from_trees_keep_the_order_of_ties(monkeypatch):
    monkeypatch.setattr(traversal, "OFFERED", 3)
    monkeypatch.setattr(traversal, "LEAST_OFFER", 1)
    X = lattice(20_000, 2)
    same_picks(cloud_of_parts(cpu, X, [9000]), X, 81)


def test_looking_at_the_distances_does_not_end_a_traversal(monkeypatch):
    """Parts are told of all centres when their distances are asked for, but offer no new pool."""
    monkeypatch.setattr(traversal, "OFFERED", 3)
    monkeypatch.setattr(traversal, "LEAST_OFFER", 1)
    X = cloud(300, 2)
    walk = cloud_of_parts(naive, X, [100, 200]).traverse(0)
    picks = []
    for m in (1, 5, 7, 20):
        picks.extend(walk.take(m).indices)
        assert walk.distances().cover > 0.0
    np.testing.assert_array_equal(picks, naive.load(X).traverse(0).take(33).indices)


def test_picked_rows_are_not_asked_for_again():
    X = cloud(500)
    loaded = cloud_of_parts(naive, X, [100, 101])
    picks = loaded.traverse(7).take(30)
    asked = loaded.index.parts._asked
    np.testing.assert_array_equal(loaded.rows(picks.indices), X[picks.indices])
    assert loaded.index.parts._asked == asked
    np.testing.assert_array_equal(loaded.rows(np.arange(20)), X[:20])


# --- summaries


@given(weighted_clouds(30, least=1), st.sets(st.integers(1, 29), max_size=5), st.booleans())
def test_summaries_and_positions_are_those_of_all_points(sample, cuts, weighted):
    X, w = sample[0], sample[1].astype(float) if weighted else None
    whole, loaded = naive.load(X, w), cloud_of_parts(naive, X, [c for c in cuts if c < len(X)], w)
    reach = np.abs(X).max()
    assert loaded.summary.size == whole.summary.size
    assert loaded.summary.count == len(X)
    for name in ("mean", "std", "covariance"):
        found, expected = getattr(loaded.summary, name), getattr(whole.summary, name)
        np.testing.assert_allclose(
            found,
            expected,
            rtol=1e-9,
            atol=1e-13 * (1 + reach) ** (2 if name == "covariance" else 1),
        )
    u = (np.arange(40) + 0.5) / 40
    np.testing.assert_array_equal(loaded.locate(u), whole.locate(u))
    levels = np.array([0.0, 0.25, 0.4, 0.75, 1.0])
    np.testing.assert_allclose(
        loaded.summary.quantiles(levels),
        whole.summary.quantiles(levels),
        rtol=1e-12,
        atol=1e-12 * reach,
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_quantiles_by_passes_are_exact(weighted, monkeypatch):
    """Cuts close in on an order statistic, also where many points share a value."""
    from kernelmean.engines.parts import summary

    monkeypatch.setattr(summary, "FEW", 5)
    monkeypatch.setattr(summary, "CUTS", 7)
    X = np.concatenate([cloud(400, 2), np.full((200, 2), 0.25), 1e5 * cloud(9, 2)])
    w = np.random.default_rng(0).integers(1, 5, len(X)).astype(float) if weighted else None
    loaded, levels = (
        cloud_of_parts(naive, X, [50, 60, 400], w),
        np.array([0.0, 0.1, 0.5, 0.62, 1.0]),
    )
    np.testing.assert_allclose(
        loaded.summary.quantiles(levels), naive.load(X, w).summary.quantiles(levels), rtol=1e-13
    )


# --- cells of centres, and atoms


def same_spreads(loaded, whole, centers, scale=1.0):
    """Variances and covariances of the cells, and that both agree."""
    found, expected = loaded.nearest(centers), whole.nearest(centers)
    tolerance = 1e-12 * scale**2
    np.testing.assert_allclose(found.variances(), expected.variances(), rtol=1e-9, atol=tolerance)
    np.testing.assert_allclose(
        found.covariances(), expected.covariances(), rtol=1e-9, atol=tolerance
    )
    np.testing.assert_allclose(
        np.trace(found.covariances(), axis1=1, axis2=2) / centers.shape[1],
        found.variances(),
        rtol=1e-9,
        atol=tolerance,
    )


@given(weighted_clouds(30, least=1), st.sets(st.integers(1, 29), max_size=5), st.booleans())
def test_cells_of_parts_combine_to_those_of_the_whole(sample, cuts, weighted):
    X, w = sample[0], sample[1].astype(float) if weighted else None
    whole, loaded = naive.load(X, w), cloud_of_parts(naive, X, [c for c in cuts if c < len(X)], w)
    centers = X[[0, len(X) // 2]] + np.array([[0.0], [0.25]])
    same_spreads(loaded, whole, centers, scale=1.0 + np.ptp(X))


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_per_part_leaves_only_what_lies_between_parts(kind):
    X = cloud(40, 3)
    loaded = cloud_of_parts(naive, X, range(1, 40), kind=kind)
    same_spreads(loaded, naive.load(X), X[:4])


def test_a_cell_may_be_empty_in_a_part_or_in_all():
    """A part without points of a cell, a cell of one point, a cell without any."""
    X = np.concatenate([cloud(30, 2), 50.0 + cloud(20, 2), [[-90.0, 0.0]]])
    centers = np.array([[0.0, 0.0], [50.0, 50.0], [-90.0, 1.0], [1e3, 1e3]])
    loaded = cloud_of_parts(naive, X, [30, 50])
    same_spreads(loaded, naive.load(X), centers, scale=50.0)
    nearest = loaded.nearest(centers)
    np.testing.assert_array_equal(nearest.masses() > 0.0, [True, True, True, False])
    np.testing.assert_array_equal(nearest.variances()[2:], 0.0)
    np.testing.assert_array_equal(nearest.covariances()[2:], np.zeros((2, 2, 2)))
    np.testing.assert_array_equal(nearest.means()[3], centers[3])


def test_spreads_far_from_the_origin_keep_their_digits():
    X = cloud(300, 3) + 1e7
    same_spreads(cloud_of_parts(naive, X, [80, 81, 200]), naive.load(X), X[:5], scale=1e2)


def test_all_of_a_cell_takes_one_question():
    X = cloud(200, 2)
    loaded = cloud_of_parts(naive, X, [50, 120])
    nearest = loaded.nearest(X[:6])
    assert len(loaded.index.shares) == 3  # which asks for the parts' weights
    asked = loaded.index.parts._asked
    nearest.covariances()
    nearest.means()
    nearest.masses()
    assert loaded.index.parts._asked == asked + 1
    nearest.add(X[6:8])
    assert len(nearest.masses()) == 8
    np.testing.assert_allclose(
        nearest.covariances(), naive.load(X).nearest(X[:8]).covariances(), atol=1e-14
    )


@pytest.mark.parametrize("spread", ["scalar", "full"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_over_atoms_add_up_over_parts(spread, weighted):
    X = cloud(300, 3)
    rng = np.random.default_rng(3)
    w = rng.uniform(0.1, 2.0, len(X)) if weighted else None
    A = rng.normal(size=(7, 3, 3))
    spreads = rng.uniform(0.0, 2.0, 7) if spread == "scalar" else A @ np.swapaxes(A, 1, 2)
    atoms = Atoms(X[:7], spreads)
    radial = km.Gaussian(0.8).radial(3, "rkhs")
    whole, loaded = naive.load(X, w), cloud_of_parts(naive, X, [1, 90, 91], w)
    np.testing.assert_allclose(
        loaded.atom_sum(radial, atoms), whole.atom_sum(radial, atoms), rtol=1e-13
    )
    np.testing.assert_allclose(
        loaded.atom_moments(radial, atoms), whole.atom_moments(radial, atoms), atol=1e-14
    )


# --- files larger than memory


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(_checks, "MAPPED", 100)
    monkeypatch.setattr(_checks, "free_memory", lambda: 0)
    monkeypatch.setattr(streaming, "BATCH_NUMBERS", 2000)


@pytest.fixture
def mapped(tmp_path, small_batches):
    """Two clouds in a file, shuffled, and their array."""
    X = np.concatenate([cloud(1500, 2), 4.0 + cloud(1700, 2, 1)])[
        np.random.default_rng(0).permutation(3200)
    ]
    np.save(tmp_path / "x.npy", X)
    return np.load(tmp_path / "x.npy", mmap_mode="r"), X


def test_mapped_files_have_the_centres_of_arrays(mapped):
    found, expected = (km.k_center(X, 60, random_state=0) for X in mapped)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.points, expected.points)
    assert found.cover == expected.cover


def test_mapped_float32_is_read_as_float64(tmp_path, small_batches):
    X = cloud(3000, 3).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    found = km.k_center(np.load(tmp_path / "x.npy", mmap_mode="r"), 50, first=7)
    np.testing.assert_array_equal(found.indices, km.k_center(X, 50, first=7).indices)


@pytest.mark.parametrize("selection", ["auto", "kcenter", "greedy", "kmeans++", "kmeans", "random"])
def test_every_selection_works_on_a_file(mapped, selection):
    found, expected = (
        km.sparse_kernel_mean(X, k=12, selection=selection, scale="cov", random_state=0)
        for X in mapped
    )
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-5)
    np.testing.assert_allclose(found.centers, expected.centers, rtol=1e-8)
    np.testing.assert_allclose(found.cover, expected.cover)
    np.testing.assert_allclose(found(mapped[0]), expected(mapped[1]), rtol=1e-6)


def test_weights_of_zero_leave_rows_out_also_in_files(mapped):
    w = np.random.default_rng(4).integers(0, 3, len(mapped[1])).astype(float)
    w[:1200] = 0.0  # a whole batch
    found, expected = (km.k_center(X, 30, sample_weight=w, random_state=3) for X in mapped)
    np.testing.assert_array_equal(found.indices, expected.indices)


def test_estimators_take_files(mapped):
    file, X = mapped
    y = (X[:, 0] > 2.0).astype(int)
    densities = [km.SparseKDE(k=30, random_state=0).fit(A) for A in mapped]
    np.testing.assert_allclose(
        densities[0].score_samples(file), densities[1].score_samples(X), rtol=1e-9
    )
    np.testing.assert_allclose(densities[0].log_quantiles_, densities[1].log_quantiles_, rtol=1e-9)
    shares = [
        km.ClassProportions(k=15, bandwidth="scott", random_state=0).fit(A, y).predict(A)
        for A in mapped
    ]
    np.testing.assert_allclose(*shares, atol=1e-9)
    shifts = [km.MeanShift(k=30, random_state=0).fit(A) for A in mapped]
    np.testing.assert_array_equal(shifts[0].labels_, shifts[1].labels_)
    np.testing.assert_array_equal(shifts[0].predict(file), shifts[1].predict(X))
    for metric in ("mmd", "kl"):
        maps = [
            km.DistributionEmbedding(embedding=None, metric=metric, random_state=0).fit(
                [A, X[:900]]
            )
            for A in mapped
        ]
        np.testing.assert_allclose(
            maps[0].distances_, maps[1].distances_, atol=0.02 if metric == "kl" else 1e-9
        )


def test_files_are_checked_as_they_come_in(tmp_path, small_batches):
    X = cloud(3000, 2)
    X[2500, 1] = np.nan
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ValueError, match="NaN"):
        km.k_center(np.load(tmp_path / "x.npy", mmap_mode="r"), 5)


def test_a_full_mean_needs_its_points_in_memory(mapped):
    with pytest.raises(TypeError, match="in memory"):
        km.kernel_mean(mapped[0])


def test_memory_is_eight_bytes_a_point_and_a_batch(tmp_path, monkeypatch):
    """What is allocated on the way does not follow the size of the file but for the distances, once
    offers are at their most.
    """
    import tracemalloc

    monkeypatch.setattr(_checks, "MAPPED", 100)
    monkeypatch.setattr(_checks, "free_memory", lambda: 0)
    monkeypatch.setattr(streaming, "BATCH_NUMBERS", 1 << 16)
    peaks = {}
    for n in (100_000, 800_000):
        np.save(tmp_path / "x.npy", cloud(n, 8))
        file = np.load(tmp_path / "x.npy", mmap_mode="r")
        km.k_center(file, 5, first=0)
        tracemalloc.start()
        km.k_center(file, 40, first=0)
        peaks[n] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks[800_000] - peaks[100_000] < 700_000 * 8 * 1.5
    assert peaks[800_000] < 800_000 * 8 * 8 / 2
