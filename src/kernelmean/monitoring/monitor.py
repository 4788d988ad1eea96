"""The drift monitor: a stream of rows, watched for a change against a reference."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kernelmean import _checks
from kernelmean._types import ArrayLike, Points, RandomState
from kernelmean.comparison.pairs import columns_of
from kernelmean.monitoring.alarm import Alarm
from kernelmean.monitoring.latest import Course
from kernelmean.monitoring.reference import Baseline, picked, reference_of
from kernelmean.monitoring.state import State

LEAST_RUN_LENGTH = 100
LEAST_KEPT = 20


class DriftMonitor:
    """Watch a stream of rows, and say since when and in what it differs from a reference.

    After every second row the latest rows are compared with the reference in windows of many
    lengths, by their means, spreads, correlations, single columns and kernel means. The threshold
    is calibrated by simulation, so that rows like those of the reference raise one false alarm in
    ``run_length`` rows on average. No stream is kept: only the latest ``window`` rows and sums.

    Parameters
    ----------
    reference : array-like of shape (n, d), source, mean or density
        What is usual: rows in an array, a frame or a file (:func:`read`), a fitted mean without
        negative weights or a fitted :class:`SparseKDE`. The order of rows does not matter. Of many
        rows 20 000 are drawn, or ten for each row of the window; of a file that was read with
        weights, by these.
    run_length : float, default=10_000
        The number of rows to a false alarm that is expected. Beyond 13 000 it is extrapolated.
    window : int, default=1000
        The latest rows that are kept: the longest window in which a change is looked for, as far as
        the reference has ten times as many rows, and the reference after :meth:`rebase`.
    columns : sequence of str or None, default=None
        Which columns of a frame, of a file or of a mean are watched; the names of the columns where
        the reference is an array.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds all draws.

    Attributes
    ----------
    run_length, window
        As given.
    columns : tuple of str or None
        Names of the columns that are watched, where they have names.
    transform : str or None
        What the file or the mean of the reference does to its columns. Rows of the stream come
        after it.
    dimension : int
        Their number.
    n_reference : int
        Rows that the reference stands for.
    n_seen : int
        Rows of the stream so far.
    threshold : float
        The statistic at which an alarm is raised.
    statistic : float
        The latest statistic, −inf before anything was tested.
    alarm : Alarm or None
        The latest alarm, until :meth:`reset` or :meth:`rebase` answers it or further rows come.
    collecting : int or None
        After :meth:`rebase`, the number of rows that are still awaited before the new reference is
        complete; None while rows are tested.

    See Also
    --------
    Alarm : What is raised.
    difference : Compares two samples that are there as a whole.
    mmd_test : A test of two samples.

    Notes
    -----
    The row at which an alarm comes does not depend on how the rows are cut into batches. Rows of a
    batch behind an alarm are counted and kept, but not tested; :meth:`watch` tests these too. An
    :meth:`update` after an alarm that nobody answered goes on as after :meth:`reset`. Time per row
    is O(k·(d + r)) for k ≤ 256 atoms and r ≤ 64 directions, memory O(k·(d + r) + window·d), however
    many rows have passed.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> monitor = km.DriftMonitor(rng.normal(size=(2000, 2)), run_length=1000, random_state=0)
    >>> monitor.update(rng.normal(size=(100, 2)))
    >>> alarm = monitor.update(rng.normal(2.0, 1.0, size=(100, 2)))
    >>> 100 <= alarm.row < 115, 95 < alarm.change < 105
    (True, True)
    """

    def __init__(
        self,
        reference: Any,
        *,
        run_length: float = 10_000,
        window: int = 1000,
        columns: Sequence[str] | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.run_length = _checks.number(run_length, "run_length", least=LEAST_RUN_LENGTH)
        self.window = _checks.count(window, "window", least=LEAST_KEPT)
        streams = _checks.streams(random_state)
        known = reference_of(reference, columns, self.window, streams)
        self.columns = known.columns
        self.transform = known.transform
        baseline = Baseline.of(known.rows, known.n_points, self.run_length, self.window, streams)
        self._state = State.at_the_start(baseline, self.window, streams)

    @classmethod
    def _restored(
        cls,
        run_length: float,
        window: int,
        columns: tuple[str, ...] | None,
        transform: str | None,
        state: State,
    ) -> DriftMonitor:
        """A monitor as it was, for those who read it from a file."""
        monitor = cls.__new__(cls)
        monitor.run_length = run_length
        monitor.window = window
        monitor.columns = columns
        monitor.transform = transform
        monitor._state = state
        return monitor

    def __copy__(self) -> DriftMonitor:
        return self._restored(
            self.run_length, self.window, self.columns, self.transform, self._state.copy()
        )

    def __repr__(self) -> str:
        state = f"{self.n_seen} rows seen"
        if self.collecting is not None:
            state += f", collecting {self.collecting} more for a new reference"
        elif self.alarm is not None:
            state += f", alarm at row {self.alarm.row}"
        return (
            f"DriftMonitor({self.n_reference} rows of {self.dimension} "
            f"column{'' if self.dimension == 1 else 's'}, run_length={self.run_length:g}, "
            f"window={self.window}: {state})"
        )

    @property
    def state(self) -> State:
        """All that it knows and keeps; made for saving, and to be looked at, not changed."""
        return self._state

    @property
    def dimension(self) -> int:
        """Number of columns."""
        return self._state.baseline.features.dimension

    @property
    def n_reference(self) -> int:
        """Rows that the reference stands for."""
        return self._state.baseline.n_points

    @property
    def n_seen(self) -> int:
        """Rows of the stream so far."""
        return self._state.latest.seen

    @property
    def threshold(self) -> float:
        """The statistic at which an alarm is raised."""
        return self._state.baseline.threshold

    @property
    def statistic(self) -> float:
        """The latest statistic, −inf before anything was tested."""
        return self._state.statistic

    @property
    def alarm(self) -> Alarm | None:
        """The latest alarm, until it is answered or further rows come."""
        return self._state.alarm

    @property
    def collecting(self) -> int | None:
        """Rows that are awaited for a new reference; None while rows are tested."""
        return self._state.collecting

    def update(self, X: ArrayLike | Mapping[str, float]) -> Alarm | None:
        """Take in a row or a batch of rows.

        Parameters
        ----------
        X : array-like of shape (m, d) or (d,), or mapping
            Rows in the order in which they came; one row as a list of its values or as a mapping
            from names to values. Columns of a frame are matched by name, and it may have others. No
            row at all is allowed.

        Returns
        -------
        Alarm or None
            The first alarm in these rows.

        Raises
        ------
        ValueError
            If the columns are others than those of the reference, or a value is missing: the
            whole batch is then refused, and the monitor is as it was.
        TypeError
            If it holds anything but numbers; likewise.

        See Also
        --------
        watch : The same for many batches, with every alarm in them.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> reference = rng.normal(size=(500, 2))
        >>> monitor = km.DriftMonitor(reference, columns=["a", "b"], random_state=0)
        >>> monitor.update({"a": 0.1, "b": -0.3})
        >>> monitor.update([0.1, -0.3])
        >>> monitor.n_seen
        2
        """
        rows = self._checked(X)
        if not len(rows):
            return None
        used = self._advance(rows)
        self._state.keep(rows[used:])
        return self.alarm

    def watch(self, batches: Iterable[ArrayLike]) -> Iterator[Alarm]:
        """Every alarm of a stream, as it comes.

        Between two alarms the monitor may be reset or rebased; the rows behind an alarm are tested
        when the next one is asked for, so that no alarm depends on how rows are cut into batches.

        Parameters
        ----------
        batches : iterable of array-like
            Batches of rows, such as a source (:func:`read`) has in ``batches()``.

        Yields
        ------
        Alarm
            Each alarm.

        See Also
        --------
        update : One batch.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> monitor = km.DriftMonitor(rng.normal(size=(2000, 1)), window=200, random_state=0)
        >>> batches = [rng.normal(mean, 1.0, size=(300, 1)) for mean in (0.0, 3.0, 0.0)]
        >>> for alarm in monitor.watch(batches):
        ...     print(100 * round(alarm.change / 100))
        ...     monitor.rebase()
        300
        600
        """
        for batch in batches:
            rows = self._checked(batch)
            used = 0
            while used < len(rows):
                used += self._advance(rows[used:])
                if self.alarm is not None:
                    yield self.alarm

    def reset(self) -> None:
        """Go on with the same reference, and forget what has been seen of the stream.

        Rows are still counted from the start of the stream.

        See Also
        --------
        rebase : Goes on with a new reference.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> monitor = km.DriftMonitor(rng.normal(size=(500, 1)), random_state=0)
        >>> monitor.update(np.full((50, 1), 5.0)) is None
        False
        >>> monitor.reset()
        >>> monitor.alarm is None, monitor.n_seen
        (True, 50)
        """
        self._state.start_again()
        self._state.alarm = None
        self._state.collecting_since = None

    def rebase(self) -> None:
        """Take the latest rows as the new reference.

        After an alarm these are the rows since the change, otherwise those tested since the start
        or the last :meth:`reset`, as far as they are kept. While they are fewer than ``window``,
        the next rows are added to them, and nothing is tested until they are complete. Then the
        monitor learns from them, which takes as long as making it did.

        See Also
        --------
        reset : Goes on with the old reference.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> monitor = km.DriftMonitor(rng.normal(size=(500, 1)), window=200, random_state=0)
        >>> monitor.update(rng.normal(5.0, 1.0, size=(50, 1))) is None
        False
        >>> monitor.rebase()
        >>> monitor.collecting
        150
        >>> monitor.update(rng.normal(5.0, 1.0, size=(400, 1)))
        >>> monitor.n_reference, monitor.collecting
        (200, None)
        """
        self._state.rebase(self.run_length)

    def history(self) -> Course:
        """The course of the statistic since the start of the stream.

        Returns
        -------
        Course
            ``rows``, the last row of each of at most 1024 groups of consecutive rows, and
            ``statistics``, the largest statistic in each; −inf where nothing was tested.

        See Also
        --------
        report.monitor_page : A page with it.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> monitor = km.DriftMonitor(rng.normal(size=(500, 1)), random_state=0)
        >>> _ = monitor.update(rng.normal(size=(3000, 1)))
        >>> int(monitor.history().rows[-1]), len(monitor.history().rows) <= 1024
        (2999, True)
        """
        return self._state.history.course()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the monitor to one file, without pickle; it goes on from there exactly.

        The file has the latest rows of the stream and up to 2000 rows of the reference, by which
        alarms say what changed.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write the file.

        See Also
        --------
        load : Reads it again.

        Examples
        --------
        >>> import tempfile, pathlib, numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> monitor = km.DriftMonitor(rng.normal(size=(500, 1)), random_state=0)
        >>> monitor.update(rng.normal(size=(33, 1)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     monitor.save(pathlib.Path(folder) / "monitor.km")
        ...     again = km.load(pathlib.Path(folder) / "monitor.km")
        >>> again.n_seen
        33
        """
        from kernelmean.monitoring.storing import save

        save(self, path)

    def _advance(self, rows: Points) -> int:
        return self._state.advance(rows, self.run_length, self.columns)

    def _checked(self, X: Any) -> Points:
        """Rows of finite numbers in the order of the reference's columns."""
        d = self.dimension
        if X is None or isinstance(X, str) or (not hasattr(X, "__len__") and not np.isscalar(X)):
            raise TypeError(f"X must be rows of numbers, got {X!r}.")
        if self.columns is not None and hasattr(X, "to_dict") and np.ndim(X) == 1:
            X = X.to_dict()  # a row of a frame
        if isinstance(X, Mapping):
            X = self._row_of(X)
        elif self.columns is not None and columns_of(X) is not None:
            X = picked(X, self.columns, "X")
        A = X if hasattr(X, "columns") else np.asarray(X)
        if len(A.shape) < 2:
            A = np.asarray(A)
            A = A.reshape(-1, 1) if d == 1 else A.reshape(min(1, A.size), A.size)
        if A.shape[0] == 0:
            if A.shape[1] not in (0, d):
                _checks.table_shape((1, *A.shape[1:]), "X", d)
            return np.empty((0, d))
        return _checks.points(A, "X", d)

    def _row_of(self, values: Mapping[str, float]) -> list[list[float]]:
        if self.columns is None:
            raise ValueError(
                "the reference has no names of columns to look a row up by: give them by columns=, "
                "or the row as a list of its values."
            )
        known = {str(name): value for name, value in values.items()}
        missing = [name for name in self.columns if name not in known]
        if missing:
            raise ValueError(f"the row has no value of {missing[0]!r}.")
        return [[known[name] for name in self.columns]]
