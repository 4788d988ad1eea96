"""The drift monitor as a detector of river, the library for learning from streams."""

from __future__ import annotations

from collections.abc import Mapping

from kernelmean.files.optional_imports import need
from kernelmean.monitoring.alarm import Alarm
from kernelmean.monitoring.monitor import DriftMonitor

need("river.base", "kernelmean.integrations.river", "river")  # says what to install

from river.base import DriftDetector  # noqa: E402


class KernelMeanDrift(DriftDetector):  # type: ignore[misc]
    """A drift detector of river that also sees changes of several features together.

    It takes a number, as river's detectors do, so that it can stand in
    ``drift.DriftRetrainingClassifier``; or a whole row as a dict of features. The first
    ``reference_rows`` values are what is usual; after an alarm, the values since then.

    Parameters
    ----------
    reference_rows : int, default=1000
        How many values are collected before any is tested.
    run_length : float, default=10_000
        The number of values to a false alarm that is expected.
    random_state : int or None, default=0
        Seeds all draws.

    Attributes
    ----------
    monitor : DriftMonitor or None
        What watches the stream; None until the reference is known.
    alarm : Alarm or None
        The latest alarm. It counts from the end of the reference.
    change : int or None
        Since when, counted from the first value of all.

    See Also
    --------
    kernelmean.DriftMonitor : What it is made of, for batches and files.

    Notes
    -----
    A value takes constant time and memory on average; a reference takes about a second.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean.integrations.river import KernelMeanDrift
    >>> rng = np.random.default_rng(0)
    >>> detector = KernelMeanDrift(reference_rows=300, run_length=1000)
    >>> for value in np.append(rng.normal(size=400), rng.normal(3.0, 1.0, size=50)):
    ...     detector.update(value)
    ...     if detector.drift_detected:
    ...         break
    >>> bool(390 < detector.change < 410)
    True
    """

    def __init__(
        self,
        reference_rows: int = 1000,
        run_length: float = 10_000,
        random_state: int | None = 0,
    ) -> None:
        super().__init__()
        self.reference_rows = reference_rows
        self.run_length = run_length
        self.random_state = random_state
        self.monitor: DriftMonitor | None = None
        self.alarm: Alarm | None = None
        self.change: int | None = None
        self._columns: list[str] = []
        self._collected: list[list[float]] = []

    def update(self, x: float | Mapping[str, float]) -> None:
        """Take in a number, or a dict of features.

        Parameters
        ----------
        x : float or mapping of str to float
            The latest value. Features go by their names, in any order.
        """
        self._drift_detected = False
        row = x if isinstance(x, Mapping) else {"x": float(x)}
        if self.monitor is None:
            self._collect(row)
            return
        alarm = self.monitor.update(row)
        if alarm is not None:
            self.alarm = alarm
            self.change = self.reference_rows + alarm.change
            self._drift_detected = True
            self.monitor.rebase()

    def _collect(self, row: Mapping[str, float]) -> None:
        """Keep a value of the reference; the last of them makes the monitor."""
        if not self._collected:
            self._columns = list(row)
        self._collected.append([row[name] for name in self._columns])
        if len(self._collected) < self.reference_rows:
            return
        self.monitor = DriftMonitor(
            self._collected,
            run_length=self.run_length,
            window=self.reference_rows,
            columns=self._columns,
            random_state=self.random_state,
        )
        self._collected = []

    @classmethod
    def _unit_test_params(cls) -> list[dict[str, int]]:
        return [{"reference_rows": 200, "run_length": 500}]
