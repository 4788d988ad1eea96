"""The display of the error indicator."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km


def test_the_indicator_marks_the_chosen_number(density, drawn):
    display = drawn(km.plot.IndicatorDisplay.from_estimator(density, color="black"))
    assert display.chosen_.get_xdata()[0] == density.mean_.k
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(1, density.mean_.k + 1))
    assert "fixed" in display.ax_.get_legend().get_texts()[0].get_text()


def test_a_full_density_has_no_indicator(normal_cloud, drawn):
    full = km.SparseKDE(sparse=False, engine="naive").fit(normal_cloud)
    with pytest.raises(TypeError, match="sparse=True"):
        km.plot.IndicatorDisplay.from_estimator(full)
    drawn(km.plot.DensityDisplay.from_estimator(full, features=(0, 1)))


def test_a_density_by_likelihood_has_no_indicator(normal_cloud, drawn):
    density = km.SparseKDE(k=5, target="likelihood", random_state=0).fit(normal_cloud)
    with pytest.raises(TypeError, match="fit with target='kde'"):
        km.plot.IndicatorDisplay.from_estimator(density)
    display = drawn(km.plot.DensityDisplay.from_estimator(density, features=(0, 1)))
    (ellipses,) = display.spreads_
    assert len(ellipses.get_segments()) == 5
