"""An alarm as a value: when, since when, how surely, and what changed."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelmean._lazy import lazy
from kernelmean._random import Streams
from kernelmean._types import Points
from kernelmean.comparison.difference import difference
from kernelmean.comparison.value import Difference

WORDS = {
    "linear": "the mean",
    "products": "spread or correlation",
    "columns": "single columns",
    "wide": "the shape as a whole",
    "narrow": "the shape in detail",
}


@dataclass(frozen=True, eq=False)
class Alarm:
    """A change in a stream: what :meth:`DriftMonitor.update` returns when it finds one.

    Attributes
    ----------
    row : int
        The row at which the alarm came, counted from 0 at the start of the stream.
    change : int
        The row with which the change seems to have begun.
    statistic : float
        The evidence for a change, about −log₁₀ of how often it is as large by chance.
    threshold : float
        The evidence that is reached, by chance, once in the run length that was asked for.
    p_value : float
        How probable it is that a stream without a change reaches this statistic within as many
        rows as the longest window has.
    component : str
        What of the rows was found changed first: "linear" (the mean), "products" (spread or
        correlation), "columns" (single columns), "wide" or "narrow" (the shape as a whole or in
        detail).
    window : ndarray of shape (m, d)
        The rows from the change to the alarm.
    reference : ndarray of shape (n, d)
        At most 2000 rows of the reference, with which the window is compared.
    columns : tuple of str or None
        Names of the columns, where they have names.
    streams : Streams
        The chance of that comparison.

    See Also
    --------
    DriftMonitor : Raises it.
    Difference : What changed, in regions and columns.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> monitor = km.DriftMonitor(rng.normal(size=(2000, 3)), run_length=1000, random_state=0)
    >>> X = rng.normal(size=(400, 3))
    >>> X[100:, 1] += 1.5
    >>> alarm = monitor.update(X)
    >>> alarm.change <= alarm.row, abs(alarm.change - 100) < 20
    (True, True)
    >>> alarm.difference.columns[0].columns
    ('x2',)
    """

    row: int
    change: int
    statistic: float
    threshold: float
    p_value: float
    component: str
    window: Points = field(repr=False)
    reference: Points = field(repr=False)
    columns: tuple[str, ...] | None = field(repr=False)
    streams: Streams = field(repr=False)

    def __repr__(self) -> str:
        return (
            f"Alarm(row={self.row}, change={self.change}, statistic={self.statistic:.2f}, "
            f"threshold={self.threshold:.2f}, p_value={self.p_value:.2g}, "
            f"component={self.component!r})"
        )

    @lazy
    def difference(self) -> Difference:
        """What changed: the difference between the reference and the rows since the change.

        Returns
        -------
        Difference
            Made when first asked for.
        """
        found = difference(
            self.reference,
            self.window,
            names=("reference", "window"),
            columns=self.columns,
            random_state=self.streams,
        )
        assert isinstance(found, Difference)
        return found

    def describe(self) -> str:
        """Say in one sentence what happened.

        Returns
        -------
        str
            When, since when, and in what.

        See Also
        --------
        Difference.describe : What changed, at length.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> monitor = km.DriftMonitor(rng.normal(size=(2000, 1)), run_length=1000, random_state=0)
        >>> print(monitor.update(np.full((100, 1), 2.0)).describe())  # doctest: +ELLIPSIS
        alarm at row ...: the rows since row 0 differ from the reference in ...
        """
        return (
            f"alarm at row {self.row}: the rows since row {self.change} differ from the reference "
            f"in {WORDS[self.component]} (statistic {self.statistic:.2f}, threshold "
            f"{self.threshold:.2f}, p = {self.p_value:.2g})"
        )
