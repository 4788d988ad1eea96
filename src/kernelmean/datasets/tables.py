"""Tables that lie in the package as compressed NumPy files."""

from __future__ import annotations

from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from kernelmean._types import Points

FLIGHTS = ("time", "delay", "distance", "day")
WEATHER = ("precipitation", "temp_max", "temp_min", "wind", "day")


def load_flights(*, as_frame: bool = False) -> Bunch:
    """Twenty thousand flights: time of day, delay, distance, day.

    Flights within the United States in the first half of 2001, every 150th of three million.

    Parameters
    ----------
    as_frame : bool, default=False
        Whether ``data`` is a pandas DataFrame, which needs pandas.

    Returns
    -------
    flights : sklearn.utils.Bunch
        ``data``, of shape (20000, 4): the minute of the day of the departure, the delay of the
        arrival in minutes, the distance in miles, the days since 1 January; ``feature_names``, the
        names of these columns; and ``DESCR``, this text.

    See Also
    --------
    kernelmean.read : Data of your own, from files.
    kernelmean.datasets.load_weather : Columns with bounds, a period and categories.

    Notes
    -----
    From ``flights-3m.parquet`` of vega-datasets 3.2.1 (BSD-3-Clause), which has it from the Bureau
    of Transportation Statistics of the United States. All values are whole numbers, so that values
    of one column are often equal. Reading them takes time and memory O(n).

    Examples
    --------
    >>> import kernelmean as km
    >>> flights = km.datasets.load_flights()
    >>> flights.data.shape, flights.feature_names
    ((20000, 4), ['time', 'delay', 'distance', 'day'])
    """
    X = _stored("flights.npz")["X"].astype(float)
    data = _frame({name: X[:, j] for j, name in enumerate(FLIGHTS)}) if as_frame else X
    return Bunch(data=data, feature_names=list(FLIGHTS), DESCR=load_flights.__doc__)


def load_weather(*, as_frame: bool = False) -> Bunch:
    """The weather of 1461 days in Seattle: columns with bounds, a period and categories.

    Precipitation and wind are never negative, the day of the year comes round, and the kind of
    weather is a name: a table for densities with a ``domain``.

    Parameters
    ----------
    as_frame : bool, default=False
        Whether ``data`` is a pandas DataFrame, which needs pandas; ``frame`` then has the kind of
        weather as a further column, "weather".

    Returns
    -------
    weather : sklearn.utils.Bunch
        ``data``, of shape (1461, 5): precipitation in mm, the highest and the lowest temperature in
        °C, wind in m/s, the day of the year from 1 to 366; ``target``, the kind of weather, one of
        "drizzle", "fog", "rain", "snow" and "sun"; ``feature_names``, the names of the columns;
        ``frame``, all of it, or None; and ``DESCR``, this text.

    See Also
    --------
    kernelmean.read : Data of your own, from files.
    kernelmean.datasets.load_flights : Many more rows, all of numbers.

    Notes
    -----
    Every day from 2012 to 2015, from ``seattle-weather.csv`` of vega_datasets 0.9.0 (MIT), which
    has it from the National Oceanic and Atmospheric Administration of the United States, where it
    is in the public domain. Reading it takes time and memory O(n).

    Examples
    --------
    >>> import kernelmean as km
    >>> weather = km.datasets.load_weather()
    >>> weather.data.shape, sorted(set(weather.target.tolist()))
    ((1461, 5), ['drizzle', 'fog', 'rain', 'snow', 'sun'])
    """
    stored = _stored("weather.npz")
    X = np.column_stack([stored["tenths"] / 10.0, stored["day"]])
    target = stored["names"][stored["weather"]]
    columns = {name: X[:, j] for j, name in enumerate(WEATHER)}
    return Bunch(
        data=_frame(columns) if as_frame else X,
        target=target,
        frame=_frame(columns | {"weather": target}) if as_frame else None,
        feature_names=list(WEATHER),
        DESCR=load_weather.__doc__,
    )


def _stored(name: str) -> dict[str, Points]:
    """The arrays of a file beside this module."""
    place = resources.files("kernelmean.datasets") / "data" / name
    with place.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def _frame(columns: dict[str, Any]) -> Any:
    """A pandas DataFrame, which only ``as_frame`` needs."""
    try:
        import pandas as pd  # type: ignore[import-untyped, unused-ignore]
    except ModuleNotFoundError as error:
        raise ImportError("as_frame=True needs pandas: pip install pandas") from error
    return pd.DataFrame(columns)
