"""Detectors of change in a stream, as their authors published them, and how they are compared.

Both read rows one by one and ask after each whether the newest rows have another law than all rows
before them, by the maximum mean discrepancy (MMD) with the Gaussian kernel exp(−r²/2σ²):

- MMDEW: F. Kalinke, M. Heyden, G. Gntuni, E. Fouché and K. Böhm, "Maximum Mean Discrepancy on
  Exponential Windows for Online Change Detection", Transactions on Machine Learning Research, 2025;
- online RFF-MMD: F. Kalinke and S. Gavioli-Akilagun, "Optimal Online Change Detection via Random
  Fourier Features", Advances in Neural Information Processing Systems, 2025.

The bandwidth is theirs, σ² = half the median of the squared distances. A history, rows from before
any change, gives this bandwidth and is the beginning of the stream: a detector has read it when the
watched rows begin, and alarms within it do not count.

How a statistic is normalised. With m rows before a split and n after it, the MMD of two samples of
one law is of size √(1/m + 1/n), whatever the split. Both papers compare the MMD of each split with
this size times a factor that is the same for all splits, so that what is returned after each row is

    max over splits of MMD / √(1/m + 1/n),

and an alarm is a statistic above one constant, which is the factor. For online RFF-MMD the factor
that keeps a run length (its Theorem 1) is a constant, so this is its test exactly. For MMDEW it is
1 + √(2 log((w − 1)/α)) for w windows, α being what a user sets. This is a bound for any law, and
with α ≤ 1 never below 1, while a run length of 1,000 needs no more than about 1 where nothing is
thinned (see ``MMDEW``). Calibrated by α, alarms came when windows happened to be few, and delays
were several times longer than by one constant: the dependence on w is left out in its favour.

How a run length is calibrated. The expected run length of a threshold is the mean number of rows
until the statistic is first above it, over simulated streams without a change; ``calibrated`` finds
the threshold whose mean is the one that is asked for. The authors take the quantile 1 − 1/length of
the statistics of all rows instead, which is the same only where these are independent.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.spatial.distance import pdist

from kernelmean.compiled.elementary import exp

DISTANCE_ROWS = 500  # of the history, whose distances have the bandwidth
FEATURES = 1000  # frequencies, in the experiments of online RFF-MMD
KEEP = 256  # rows: no window of MMDEW of so many is thinned
WINDOWS = 48  # of MMDEW, the longest of 2⁴⁷ rows
CHUNK = 64  # frequencies at once, so that their sums stay in the cache
SPLITS = ("formula", "history", "merged")


class MMDEW:
    """MMD between windows whose lengths are powers of two.

    A new row is a window of its own; after the test, two windows of equal length become one, again
    and again. A window has sums of kernel values: within itself, and with each older window. A
    window longer than ``keep`` is thinned: of its rows it has only ⌊log₂ length⌋, drawn from those
    of its two halves, and later rows are compared with these alone. A mean of kernel values is a
    sum divided by the number of pairs in it, and the size of a sample in √(1/m + 1/n) is the root
    of the number of its pairs, rounded down, as in the authors' code.

    Of ``keep`` the paper's algorithm has 1 and the code of its experiments 1, 32, 64 or 256, of
    which the largest, the default, favours it. With None nothing is thinned: the time of a row then
    grows with the number of rows before it, and the authors give it only for comparison. What
    thinning costs is more than rows: those that an old window kept are the same for all later
    rows, so that their chance difference from the others never averages out.

    Without ``scaled`` the statistic is the largest MMD itself, as in the authors' code where run
    lengths are compared with delays; one row against all others is then nearly always the largest.
    """

    def __init__(
        self,
        history: np.ndarray,
        *,
        bandwidth: float | None = None,
        seed: int = 0,
        keep: int | None = KEEP,
        scaled: bool = True,
    ) -> None:
        history = _rows(history)
        self.bandwidth = median_bandwidth(history, seed) if bandwidth is None else bandwidth
        self.keep = np.iinfo(np.int64).max if keep is None else keep
        self.scaled = scaled
        self._seed = seed
        empty = (
            np.zeros(WINDOWS, np.int64),  # lengths, 0 where there is no window
            np.zeros(WINDOWS, np.int64),  # rows that are kept
            np.zeros((history.shape[1], 0)),  # these rows, as columns, the oldest first
            np.zeros((WINDOWS, WINDOWS)),  # sums of kernel values, older windows in columns
            np.zeros((WINDOWS, WINDOWS)),  # the number of pairs in each
        )
        self._primed = self._follow(history, empty, [seed, 1])[1]

    def statistics(self, stream: np.ndarray) -> np.ndarray:
        """The statistic after each row of a stream that follows the history."""
        return self._follow(_rows(stream), self._primed, [self._seed, 2])[0]

    def _follow(self, X: np.ndarray, state: tuple, seed: list[int]) -> tuple[np.ndarray, tuple]:
        """The statistics, and the windows after the last row."""
        lengths, kept, columns, sums, pairs = (part.copy() for part in state)
        # Windows that are not thinned have no more than 2·keep rows, each other less than WINDOWS.
        rows = min(columns.shape[1] + len(X), 2 * self.keep + WINDOWS**2)
        columns = np.pad(columns, ((0, 0), (0, max(rows - columns.shape[1], 0))))
        options = (0.5 / self.bandwidth**2, self.keep, self.scaled, np.random.default_rng(seed))
        found = _windows(X, lengths, kept, columns, sums, pairs, *options)
        return found, (lengths, kept, columns[:, : kept.sum()], sums, pairs)


class OnlineRFFMMD:
    """MMD with random Fourier features between the newest 2^j rows and all before them.

    With r = ``features`` frequencies ω from the normal law of standard deviation 1/σ, a row x is
    (cos ω·x, sin ω·x)/√r, and the MMD is the distance of two means of such rows. ``splits`` says
    how many of the n rows are the newest:

    - "formula": 2^j for j = 0, ..., ⌊log₂ n⌋ − 1, the stopping time that the paper defines and
      proves nearly optimal (its formula 8); n counts the history too;
    - "history": 2^j ≤ the watched rows: where a history is known to be from before any change, the
      paper (its appendix A.1) has it in the older part of every test. Which j is its largest could
      not be found; to take all whose newest rows are watched ones favours it;
    - "merged": those between windows that are merged as MMDEW's are, which need less memory (its
      Algorithm 1). The paper says that these are those of the formula; they are where n is a power
      of two, while after 2^k + 1 rows only the last row is tested.

    The first is the default, in its favour: it has every power of two after every row.
    """

    def __init__(
        self,
        history: np.ndarray,
        *,
        bandwidth: float | None = None,
        seed: int = 0,
        features: int = FEATURES,
        splits: str = "formula",
    ) -> None:
        if splits not in SPLITS:
            raise ValueError(f"splits is one of {SPLITS}, not {splits!r}")
        self._history = _rows(history)
        self.bandwidth = median_bandwidth(self._history, seed) if bandwidth is None else bandwidth
        rng = np.random.default_rng([seed, 3])
        self.frequencies = rng.normal(size=(features, self._history.shape[1])) / self.bandwidth
        self.splits = splits

    def statistics(self, stream: np.ndarray) -> np.ndarray:
        """The statistic after each row of a stream that follows the history."""
        stream = _rows(stream)
        start = len(self._history)
        sizes = newest(start, len(stream), self.splits)
        squared = np.zeros(sizes.shape)
        # A constant that is subtracted from all features changes no MMD. That of the history keeps
        # sums small, and small sums have room in single precision, which is twice as fast.
        X = np.concatenate([self._history, stream]) - self._history.mean(axis=0)
        X = X.astype(np.float32)
        for first in range(0, len(self.frequencies), CHUNK):
            phases = X @ self.frequencies[first : first + CHUNK].T.astype(np.float32)
            Z = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
            _add_distances(_cumulated(Z, Z[:start].mean(axis=0)), start, sizes, squared)
        n = start + 1.0 + np.arange(len(stream))[:, None]
        # MMD² / (1/w + 1/(n − w)), largest over w
        scaled = squared * (sizes * (n - sizes) / n) / len(self.frequencies)
        return np.sqrt(scaled.max(axis=1, initial=0.0))


def newest(start: int, rows: int, splits: str) -> np.ndarray:
    """Of each row, the numbers of newest rows that are tested, then zeros: (rows, most of them)."""
    n = start + 1 + np.arange(rows)
    powers = 1 << np.arange(int(start + rows).bit_length())
    if splits == "history":
        sizes = np.where(powers <= (n - start)[:, None], powers, 0)
    elif splits == "formula":
        sizes = np.where(2 * powers <= n[:, None], powers, 0)
    else:  # the last row is one window, and the binary digits of the number before it are others
        digits = (n - 1)[:, None] & powers
        later = 1 + np.cumsum(digits, axis=1) - digits
        sizes = np.sort(np.where(digits > 0, later, 0), axis=1)[:, ::-1]
    sizes = sizes[:, sizes.any(axis=0)]
    return np.where(sizes < n[:, None], sizes, 0)


def median_bandwidth(X: np.ndarray, seed: int = 0) -> float:
    """σ² = half the median squared distance, of 500 rows at most."""
    rng = np.random.default_rng([seed, 0])
    if len(X) > DISTANCE_ROWS:
        X = X[rng.choice(len(X), DISTANCE_ROWS, replace=False)]
    return float(np.sqrt(np.median(pdist(X, "sqeuclidean")) / 2.0))


def crossings(statistics: np.ndarray, threshold: float) -> np.ndarray:
    """The first row of each stream above the threshold, or the number of rows where none is."""
    above = np.asarray(statistics) > threshold
    return np.where(above.any(axis=1), above.argmax(axis=1), above.shape[1])


def run_length(statistics: np.ndarray, threshold: float) -> float:
    """The mean number of rows to the first alarm, of (streams, rows) without a change.

    Streams without an alarm are followed no longer than they are, so that the hazard is taken to be
    constant: all rows until an alarm or the end, divided by the number of alarms.
    """
    first = crossings(statistics, threshold)
    return _mean_time(first, np.asarray(statistics).shape[1])


def calibrated(statistics: np.ndarray, length: float) -> float:
    """The least threshold whose mean run length is ``length`` or more, by streams of no change."""
    statistics = np.asarray(statistics)
    rows = statistics.shape[1]
    # Only a new maximum of its stream can be a first alarm; maxima ascend, so they are searched.
    peaks = np.maximum.accumulate(statistics, axis=1)
    values = np.unique(peaks)
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) // 2
        first = [np.searchsorted(own, values[middle], side="right") for own in peaks]
        low, high = (
            (low, middle) if _mean_time(np.array(first), rows) >= length else (middle + 1, high)
        )
    if not (peaks[:, -1] > values[low]).any():
        raise ValueError(f"a run length of {length} needs more streams or rows than {peaks.shape}")
    return float(values[low])


def _mean_time(first: np.ndarray, rows: int) -> float:
    alarms = np.count_nonzero(first < rows)
    return float(np.minimum(first + 1, rows).sum() / alarms) if alarms else np.inf


def delays(statistics: np.ndarray, threshold: float, change: int) -> np.ndarray:
    """Rows from the change to the first alarm, 1 where the first changed row has it.

    ``change`` is the number of watched rows before the change. Streams with an alarm among these
    are left out. A stream without any alarm counts as the number of changed rows that were watched,
    which is less than its delay: enough rows must be watched that these are few.
    """
    first = crossings(statistics, threshold)
    rows = np.asarray(statistics).shape[1]
    return np.minimum(first + 1, rows)[first >= change] - change


def _rows(X: np.ndarray) -> np.ndarray:
    X = np.ascontiguousarray(X, dtype=np.float64)
    return X[:, None] if X.ndim == 1 else X


@njit(cache=True, nogil=True)
def _windows(X, lengths, kept, columns, sums, pairs, rate, keep, scaled, rng):
    """MMDEW's statistic after each row; the five arrays of windows are changed."""
    found = np.zeros(len(X))
    values = np.zeros(columns.shape[1])
    used, end = np.count_nonzero(lengths), kept.sum()
    for t in range(len(X)):
        _kernel_values(columns, X[t], end, rate, values)
        first = 0
        for j in range(used):
            sums[used, j], pairs[used, j] = values[first : first + kept[j]].sum(), kept[j]
            first += kept[j]
        columns[:, end] = X[t]
        lengths[used] = kept[used] = 1
        sums[used, used] = pairs[used, used] = 1.0
        used, end = used + 1, end + 1
        found[t] = _largest(sums, pairs, used, scaled)
        while used >= 2 and lengths[used - 1] == lengths[used - 2]:
            used -= 1
            end = _merge(used - 1, end, lengths, kept, columns, sums, pairs, keep, rng)
    return found


@njit(cache=True, nogil=True)
def _kernel_values(columns, x, end, rate, values):
    """exp(−rate·‖row − x‖²) of the first ``end`` rows."""
    values[:end] = 0.0
    for c in range(len(x)):
        for a in range(end):
            z = columns[c, a] - x[c]
            values[a] += z * z
    for a in range(end):
        values[a] = exp(-rate * values[a])


@njit(cache=True, nogil=True)
def _merge(p, end, lengths, kept, columns, sums, pairs, keep, rng):
    """Window p + 1, the last, becomes part of window p; returns the number of rows kept in all."""
    q = p + 1
    sums[p, p] += sums[q, q] + 2.0 * sums[q, p]
    pairs[p, p] += pairs[q, q] + 2.0 * pairs[q, p]
    for j in range(p):
        sums[p, j] += sums[q, j]
        pairs[p, j] += pairs[q, j]
    lengths[p] += lengths[q]
    both = kept[p] + kept[q]
    first = end - both
    lengths[q] = kept[q] = 0
    kept[p] = both
    if lengths[p] > keep:
        kept[p] = 0
        while lengths[p] >> (kept[p] + 1) > 0:  # ⌊log₂ length⌋
            kept[p] += 1
        for a in range(kept[p]):  # a draw without replacement
            b = a + int(rng.random() * (both - a))
            for c in range(len(columns)):
                old = columns[c, first + a]
                columns[c, first + a] = columns[c, first + b]
                columns[c, first + b] = old
    return first + kept[p]


@njit(cache=True, nogil=True)
def _largest(sums, pairs, used, scaled):
    """The largest over splits of √(mn/(m + n))·MMD, or of the MMD: window k goes to the left."""
    all_sums = all_pairs = 0.0
    for i in range(used):
        all_sums += sums[i, i]
        all_pairs += pairs[i, i]
        for j in range(i):
            all_sums += 2.0 * sums[i, j]
            all_pairs += 2.0 * pairs[i, j]
    best = left = left_pairs = across = across_pairs = 0.0
    for k in range(used - 1):
        left += sums[k, k]
        left_pairs += pairs[k, k]
        for j in range(k):
            left += 2.0 * sums[k, j]
            left_pairs += 2.0 * pairs[k, j]
            across -= sums[k, j]
            across_pairs -= pairs[k, j]
        for i in range(k + 1, used):
            across += sums[i, k]
            across_pairs += pairs[i, k]
        right = all_sums - left - 2.0 * across
        right_pairs = all_pairs - left_pairs - 2.0 * across_pairs
        # MMD² = mean k(x, x') + mean k(y, y') − 2·mean k(x, y)
        value = left / left_pairs + right / right_pairs - 2.0 * across / across_pairs
        if scaled:
            m, n = np.floor(np.sqrt(left_pairs)), np.floor(np.sqrt(right_pairs))
            value *= m * n / (m + n)
        best = max(best, value)
    return np.sqrt(best)


@njit(cache=True, nogil=True)
def _cumulated(Z, center):
    """Sums of the first 0, 1, 2, ... rows of Z − center, added up in double precision."""
    n, r = Z.shape
    S = np.zeros((n + 1, r), np.float32)
    total = np.zeros(r)
    for t in range(n):
        for f in range(r):
            total[f] += Z[t, f] - center[f]
            S[t + 1, f] = total[f]
    return S


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "arcp", "nsz"})
def _add_distances(S, start, sizes, squared):
    """‖mean of the newest w rows − mean of all before‖², added for each row and w."""
    for t in range(len(sizes)):
        n = start + t + 1
        for j in range(sizes.shape[1]):
            w = sizes[t, j]
            if w > 0:
                # (S_n − S_{n−w})/w − S_{n−w}/(n − w) = S_n/w − S_{n−w}·(1/w + 1/(n − w))
                a, b = np.float32(1.0 / w), np.float32(1.0 / w + 1.0 / (n - w))
                total = np.float32(0.0)
                for f in range(S.shape[1]):
                    z = S[n, f] * a - S[n - w, f] * b
                    total += z * z
                squared[t, j] += total
