"""What a fit thinks of its own error, beside what a certificate measures."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.linalg.factor import Factor
from kernelmean.mean import gauge
from kernelmean.mean.gauge import Estimate, Gauge


@pytest.mark.parametrize("spread", [None, "scalar", "full"])
@pytest.mark.parametrize("space", ["rkhs", "l2"])
def test_estimates_are_near_the_certificate(spread, space, monkeypatch):
    X = np.random.default_rng(0).normal(size=(1500, 3))
    mean = km.sparse_kernel_mean(
        X, bandwidth=0.5, k=25, selection="kmeans", spread=spread, space=space, random_state=0
    )
    exact = mean.certificate(X, method="exact").relative_error
    factor = Factor(mean.kernel.radial(3, space))
    factor.append(mean.expansion.atoms, mean.kappa)
    for most, tolerance in ((10**6, 1e-6), (0, 0.4)):
        monkeypatch.setattr(gauge, "MAX_EXACT_POINTS", most)
        cloud = km.engines.open("cpu").load(X)
        found = Gauge(cloud, mean.kernel, space, Streams(0)).relative_error(factor, mean.weights)
        assert found.value == pytest.approx(exact, rel=tolerance)
        if most == 0:
            assert abs(found.value - exact) < 5 * found.standard_error


def test_two_standard_errors_are_kept_in_hand():
    assert Estimate(0.008, 0.001).at_most(0.01)
    assert not Estimate(0.009, 0.001).at_most(0.01)
