"""Peers of the drift monitor compute what they say, and their run lengths are calibrated."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import drift_peers
from benchmarks.drift_peers import MMDEW, SPLITS, OnlineRFFMMD
from scipy.spatial.distance import cdist

NORMAL = np.random.default_rng(0).normal(size=(90, 3))
HISTORY, STREAM = NORMAL[:40], NORMAL[40:]


def lengths_before_merging(n):
    """Lengths of windows after n rows, the last of which is not merged yet."""
    lengths = []
    for _ in range(n):
        while len(lengths) > 1 and lengths[-1] == lengths[-2]:
            lengths[-2:] = [2 * lengths[-1]]
        lengths.append(1)
    return lengths


def newest_by_the_paper(n, watched, splits):
    """Numbers of newest rows, as the paper writes them."""
    if splits == "formula":
        return [2**j for j in range(int(np.log2(n)))]
    if splits == "history":
        return [2**j for j in range(int(np.log2(watched)) + 1)]
    return list(np.cumsum(lengths_before_merging(n)[::-1])[:-1])


def scaled_mmd(X, w, kernel):
    """MMD/√(1/m + 1/n) of the last w rows and those before, by all pairs."""
    K, sign = kernel(X), np.full(len(X), 1.0 / (len(X) - w))
    sign[-w:] = -1.0 / w
    return np.sqrt(sign @ K @ sign / (1.0 / w + 1.0 / (len(X) - w)))


def largest_scaled_mmd(splits, kernel):
    found = []
    for n in range(len(HISTORY) + 1, len(NORMAL) + 1):
        sizes = newest_by_the_paper(n, n - len(HISTORY), splits)
        found.append(max(scaled_mmd(NORMAL[:n], w, kernel) for w in sizes))
    return found


@pytest.mark.parametrize("keep", [None, 128])
def test_mmdew_without_thinning_is_the_mmd_by_all_pairs(keep):
    gaussian = lambda X: np.exp(cdist(X, X, "sqeuclidean") / (-2.0 * 1.5**2))  # noqa: E731
    found = MMDEW(HISTORY, bandwidth=1.5, keep=keep).statistics(STREAM)
    np.testing.assert_allclose(found, largest_scaled_mmd("merged", gaussian), rtol=1e-9)


def test_mmdew_unscaled_is_the_largest_mmd():
    gaussian = lambda X: np.exp(cdist(X, X, "sqeuclidean") / (-2.0 * 1.5**2))  # noqa: E731
    detector = MMDEW(HISTORY[:6], bandwidth=1.5, keep=None, scaled=False)
    X = NORMAL[:7]  # windows of 4, 2 and 1
    expected = max(scaled_mmd(X, w, gaussian) * np.sqrt(1 / w + 1 / (7 - w)) for w in (1, 3))
    np.testing.assert_allclose(detector.statistics(X[6:]), expected, rtol=1e-9)


def test_mmdew_keeps_few_rows_of_long_windows_and_counts_its_pairs():
    detector = MMDEW(NORMAL[:84], keep=4)
    lengths, kept, columns, sums, pairs = detector._primed
    assert list(lengths[:4]) == [64, 16, 4, 0]
    assert list(kept[:4]) == [6, 4, 4, 0]
    for first, last, rows in ((0, 6, NORMAL[:64]), (6, 10, NORMAL[64:80]), (10, 14, NORMAL[80:84])):
        found = cdist(columns[:, first:last].T, rows).argmin(axis=1)
        np.testing.assert_array_equal(columns[:, first:last].T, rows[found])
        assert len(set(found)) == last - first  # drawn without replacement
    # n(4) = 16, then n(2m) = 2·n(m) + 2·m·kept(m)
    assert pairs[1, 1] == 2 * (2 * 16 + 2 * 4 * 4) + 2 * 8 * 3
    assert pairs[2, 1] == 4 * kept[1]
    assert 0.0 < sums[0, 0] < pairs[0, 0]


@pytest.mark.parametrize("splits", SPLITS)
def test_online_rff_mmd_is_the_distance_of_means_of_features(splits):
    detector = OnlineRFFMMD(HISTORY, features=70, splits=splits, seed=2)
    phases = NORMAL @ detector.frequencies.T
    Z = np.concatenate([np.cos(phases), np.sin(phases)], axis=1) / np.sqrt(70)
    expected = largest_scaled_mmd(splits, lambda X: Z[: len(X)] @ Z[: len(X)].T)
    np.testing.assert_allclose(detector.statistics(STREAM), expected, rtol=1e-4)


def test_features_have_the_gaussian_kernel_of_the_median_distance():
    detector = OnlineRFFMMD(HISTORY, features=40_000)
    squared = cdist(HISTORY[:8], HISTORY[:8], "sqeuclidean")
    median = np.median(cdist(HISTORY, HISTORY, "sqeuclidean")[np.triu_indices(40, 1)])
    assert detector.bandwidth == pytest.approx(np.sqrt(median / 2.0))
    difference = HISTORY[:8, None] - HISTORY[None, :8]
    found = np.cos(difference @ detector.frequencies.T).mean(axis=2)
    np.testing.assert_allclose(found, np.exp(-squared / median), atol=0.03)


@pytest.mark.parametrize("peer", [MMDEW, OnlineRFFMMD])
def test_a_shift_raises_the_statistic_and_no_call_changes_the_next(peer):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 2))
    shifted = X + np.where(np.arange(120) >= 60, 2.0, 0.0)[:, None]
    detector = peer(rng.normal(size=(200, 2)))
    before, after = detector.statistics(X), detector.statistics(shifted)
    np.testing.assert_array_equal(before, detector.statistics(X))
    np.testing.assert_array_equal(before[:60], after[:60])
    assert after[-20:].min() > before.max()


def null_statistics(peer, seed, streams, rows):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(streams, 64 + rows, 2))
    return np.stack([peer(own[:64], i).statistics(own[64:]) for i, own in enumerate(X)])


@pytest.mark.parametrize(
    "peer",
    [
        lambda history, i: MMDEW(history, keep=None, seed=i),
        lambda history, i: OnlineRFFMMD(history, features=40, seed=i),
    ],
)
def test_calibrated_thresholds_have_the_run_length_on_other_streams(peer):
    known, fresh = (null_statistics(peer, seed, 300, 400) for seed in (4, 5))
    threshold = drift_peers.calibrated(known, 100.0)
    assert drift_peers.run_length(known, threshold) == pytest.approx(100.0, rel=0.02)
    # about 300 alarms in each set: the ratio of two means has a standard error of 0.08
    assert drift_peers.run_length(fresh, threshold) == pytest.approx(100.0, rel=0.3)


def test_run_lengths_and_delays_of_a_few_rows():
    statistics = np.array([[0.0, 3.0, 1.0, 4.0], [2.0, 1.0, 1.0, 2.0], [1.0, 1.0, 2.0, 5.0]])
    np.testing.assert_array_equal(drift_peers.crossings(statistics, 2.5), [1, 4, 3])
    assert drift_peers.run_length(statistics, 2.5) == (2 + 4 + 4) / 2  # the second has no alarm
    assert drift_peers.run_length(statistics, 5.0) == np.inf
    np.testing.assert_array_equal(drift_peers.delays(statistics, 2.5, 2), [2, 2])
    np.testing.assert_array_equal(drift_peers.delays(statistics, 1.5, 1), [1, 2])
    assert drift_peers.calibrated(statistics, 4.0) == 2.0
    with pytest.raises(ValueError, match="needs more streams"):
        drift_peers.calibrated(statistics, 1e6)
