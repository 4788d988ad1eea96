"""The statistic of a drift monitor over time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from kernelmean.pictures.matplotlib.axes import panels
from kernelmean.pictures.monitor import ROW, STATISTIC, MonitorView, monitor_view

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    from kernelmean.monitoring.alarm import Alarm
    from kernelmean.monitoring.monitor import DriftMonitor
    from kernelmean.pictures.matplotlib.axes import AnyFigure

ALARM = "tab:orange"
BAND = "0.9"
SIZE = (8.0, 3.8)  # of a figure of one's own, in inches


class MonitorDisplay:
    """The statistic of a drift monitor over time, with its threshold and its alarms.

    A dotted line goes from the row with which a change seems to have begun to its alarm. Grey bands
    are rows at which nothing was tested, as while those of a new reference are collected.

    Parameters
    ----------
    view : MonitorView
        The course and the alarms, as :meth:`from_monitor` makes them.

    Attributes
    ----------
    view : MonitorView
        What is drawn.
    figure_ : matplotlib.figure.Figure
        The figure, once drawn.
    ax_ : matplotlib.axes.Axes
        The axes.
    line_ : matplotlib.lines.Line2D
        The statistic.
    threshold_ : matplotlib.lines.Line2D
        The threshold; a new reference has one of its own.
    alarms_ : matplotlib.collections.PathCollection
        The alarms.
    changes_ : matplotlib.collections.LineCollection
        Lines from the changes to their alarms.
    gaps_ : list of matplotlib.patches.Rectangle
        Bands over the rows at which nothing was tested.

    See Also
    --------
    kernelmean.DriftMonitor : Watches a stream.
    kernelmean.report.monitor_page : The same picture on an HTML page, with what changed.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> monitor = km.DriftMonitor(rng.normal(size=(500, 1)), run_length=1000, random_state=0)
    >>> alarm = monitor.update(np.concatenate([np.zeros(50), np.full(50, 4.0)]))
    >>> display = km.plot.MonitorDisplay.from_monitor(monitor, [alarm])
    >>> len(display.alarms_.get_offsets())
    1
    """

    figure_: AnyFigure
    ax_: Axes
    line_: Line2D
    threshold_: Line2D
    alarms_: PathCollection
    changes_: LineCollection
    gaps_: list[Rectangle]

    def __init__(self, *, view: MonitorView) -> None:
        self.view = view

    @classmethod
    def from_monitor(
        cls,
        monitor: DriftMonitor,
        alarms: Iterable[Alarm] = (),
        *,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the course of a drift monitor.

        Parameters
        ----------
        monitor : DriftMonitor
            The monitor, at any time.
        alarms : iterable of Alarm, default=()
            The alarms that it has raised so far. The one that it has as its ``alarm`` is drawn in
            any case.
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        **line_options : dict
            Passed on to Matplotlib's ``plot`` for the line of the statistic.

        Returns
        -------
        display : MonitorDisplay
            The display, drawn.

        See Also
        --------
        kernelmean.DriftMonitor.history : The course as numbers.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> monitor = km.DriftMonitor(rng.normal(size=(500, 1)), run_length=500, random_state=0)
        >>> alarm = monitor.update(rng.normal(size=(200, 1)))
        >>> km.plot.MonitorDisplay.from_monitor(monitor, color="black").line_.get_color()
        'black'
        """
        return cls(view=monitor_view(monitor, alarms)).plot(ax=ax, **line_options)

    def plot(self, ax: Axes | None = None, **line_options: Any) -> Self:
        """Draw, or draw again in another place.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; by default on a new figure.
        **line_options : dict
            Passed on to Matplotlib's ``plot`` for the line of the statistic.

        Returns
        -------
        display : MonitorDisplay
            This display, with the artists of the new drawing.

        See Also
        --------
        from_monitor : Takes the course of a monitor, and draws it.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> from matplotlib.figure import Figure
        >>> X = np.random.default_rng(0).normal(size=(500, 1))
        >>> monitor = km.DriftMonitor(X, run_length=500, random_state=0)
        >>> own = Figure().subplots()
        >>> km.plot.MonitorDisplay.from_monitor(monitor).plot(ax=own).ax_ is own
        True
        """
        self.figure_, (self.ax_,) = panels(1, ax, SIZE)
        view = self.view
        low, high = view.range
        self.gaps_ = [
            self.ax_.axvspan(first, last, color=BAND, linewidth=0.0, label=self._named(i))
            for i, (first, last) in enumerate(view.gaps.tolist())
        ]
        (self.threshold_,) = self.ax_.plot(
            view.rows, view.thresholds, color="0.35", linestyle="--", label="threshold",
            drawstyle="steps-post",
        )  # fmt: skip
        options: dict[str, Any] = {"linewidth": 1.0, "label": STATISTIC} | line_options
        (self.line_,) = self.ax_.plot(view.rows, view.statistics, **options)
        self._draw_alarms(low)
        end = max(view.n_seen - 1, 1)
        self.ax_.set(xlabel=ROW, ylabel=STATISTIC, ylim=(low, high), xlim=(-0.02 * end, 1.02 * end))
        self.ax_.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, frameon=False)
        return self

    @staticmethod
    def _named(i: int) -> str:
        """The name of the bands, once."""
        return "" if i else "nothing tested"

    def _draw_alarms(self, low: float) -> None:
        """Triangles with their numbers, and lines from the changes to them."""
        alarms = self.view.alarms
        heights = self.view.heights.tolist()
        lines = [
            [(one.change, low), (one.change, height), (one.row, height)]
            for one, height in zip(alarms, heights, strict=True)
        ]
        from matplotlib.collections import LineCollection

        self.changes_ = LineCollection(lines, colors=ALARM, linestyles=":", linewidths=1.3)
        self.ax_.add_collection(self.changes_, autolim=False)
        self.alarms_ = self.ax_.scatter(
            [one.row for one in alarms], heights, marker="^", color=ALARM, zorder=3.0,
            clip_on=False, label="alarm, since its change" if alarms else None,
        )  # fmt: skip
        for one, height in zip(alarms, heights, strict=True):
            if one.labelled:
                self.ax_.annotate(
                    str(one.number), (one.row, height), (0.0, 5.0), ha="center",
                    textcoords="offset points", color=ALARM, fontsize="small",
                )  # fmt: skip
