"""Axes to draw on, and the mean inside an estimator."""

from __future__ import annotations

import sys

import pytest
from sklearn.exceptions import NotFittedError

import kernelmean as km

plt = pytest.importorskip("matplotlib.pyplot")


def test_the_wrong_number_of_axes_is_refused(density):
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="ax holds 1 axes, but this display draws 3 panels"):
        km.plot.DensityDisplay.from_estimator(density, ax=ax)


def test_what_has_no_density_is_refused(named_embedding):
    with pytest.raises(NotFittedError):
        km.plot.DensityDisplay.from_estimator(km.SparseKDE())
    with pytest.raises(TypeError, match="DistributionEmbedding holds no kernel mean"):
        km.plot.DensityDisplay.from_estimator(named_embedding)


def test_without_matplotlib_one_sentence(density, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'kernelmean\[report\]'"):
        km.plot.IndicatorDisplay.from_estimator(density)
