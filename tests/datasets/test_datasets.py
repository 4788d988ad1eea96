"""The bundled sets: there, as described, small, and the same at every call."""

from __future__ import annotations

import importlib.util
from importlib import resources

import numpy as np
import pytest

import kernelmean as km

LOADERS = [getattr(km.datasets, name) for name in km.datasets.__all__]


@pytest.mark.parametrize("loader", LOADERS, ids=lambda loader: loader.__name__)
def test_a_set_says_what_it_is_and_is_the_same_at_every_call(loader):
    first, second = loader(), loader()
    assert loader.__doc__ == first.DESCR
    for a, b in zip(_arrays(first), _arrays(second), strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.shape[1] == len(first.feature_names)
        assert np.isfinite(a).all()


def _arrays(bunch):
    return bunch.samples if "samples" in bunch else [bunch.data]


def test_flights_are_what_their_columns_can_hold():
    time, delay, distance, day = km.datasets.load_flights().data.T
    assert ((time >= 0) & (time < 1440)).all()
    assert ((day >= 0) & (day <= 180)).all()
    assert distance.min() > 0
    assert delay.min() < 0 < delay.max()


def test_weather_is_every_day_of_four_years():
    weather = km.datasets.load_weather()
    rain, warm, cold, wind, day = weather.data.T
    assert min(rain.min(), wind.min()) >= 0
    assert (warm >= cold).all()
    np.testing.assert_array_equal(np.bincount(day.astype(int))[1:366], 4)
    assert weather.frame is None
    assert weather.data[:3, :4].tolist() == [  # the first lines of the source
        [0.0, 12.8, 5.0, 4.7],
        [10.9, 10.6, 2.8, 4.5],
        [0.8, 11.7, 7.2, 2.3],
    ]
    assert weather.target[:4].tolist() == ["drizzle", "rain", "rain", "rain"]


def test_sets_as_frames():
    pytest.importorskip("pandas")
    weather = km.datasets.load_weather(as_frame=True)
    assert list(weather.frame) == [*weather.feature_names, "weather"]
    assert list(weather.data) == weather.feature_names
    flights = km.datasets.load_flights(as_frame=True)
    assert list(flights.data) == flights.feature_names == ["time", "delay", "distance", "day"]


@pytest.mark.skipif(importlib.util.find_spec("pandas") is not None, reason="pandas is here")
def test_a_frame_without_pandas_says_what_to_install():
    with pytest.raises(ImportError, match="pip install pandas"):
        km.datasets.load_weather(as_frame=True)


def test_cells_have_replicates_and_groups():
    cells = km.datasets.load_cells()
    assert len(cells.samples) == len(cells.donor) == len(cells.group) == 36
    np.testing.assert_array_equal(np.bincount(cells.donor), 3)
    assert len({(d, g) for d, g in zip(cells.donor, cells.group, strict=True)}) == 12
    assert min(sample.min() for sample in cells.samples) > -np.inf


def test_every_file_is_small_and_its_origin_is_told():
    folder = resources.files("kernelmean.datasets") / "data"
    told = (folder / "README.md").read_text(encoding="utf-8")
    files = [file for file in folder.iterdir() if file.name.endswith(".npz")]
    assert all(f"`{file.name}`" in told for file in files)
    assert sum(len(file.read_bytes()) for file in files) < 300_000
