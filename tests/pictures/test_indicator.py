"""The error indicator against the number of centres."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.pictures.indicator import indicator_curve


def test_the_indicator_is_what_is_left(cloud, fitted):
    mean = fitted(cloud)
    curve = indicator_curve(mean)
    E = mean.indicator
    np.testing.assert_array_equal(curve.centers, np.arange(1, 13))
    np.testing.assert_allclose(curve.left_over[:-1], (E[:-1] - E[-1]) / (E[0] - E[-1]))
    assert np.isnan(curve.left_over[-1])
    assert curve.chosen == 12
    assert curve.drawn.tolist() == list(range(11))
    single = indicator_curve(fitted(cloud, k=1))
    assert np.isnan(single.left_over).all()
    assert len(single.drawn) == 0


def test_a_full_mean_has_no_indicator(cloud):
    with pytest.raises(TypeError, match="every point is a centre"):
        indicator_curve(km.kernel_mean(cloud, engine="naive"))
