"""Frequencies at which kernel means are compared."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean.mean.spectrum import spectral_draw, stratified_draw


@pytest.mark.parametrize("space", ["rkhs", "l2"])
@pytest.mark.parametrize("d", [1, 2, 5, 12])
@pytest.mark.parametrize(
    "kernel", [km.Gaussian(0.7), km.Laplacian(0.7), km.Cauchy(0.5), km.Student(8.0, 0.7)], ids=str
)
def test_both_draws_give_the_kernel_back(kernel, d, space):
    """E cos ω·x = g(x)/g(0), whatever the frequencies are drawn from."""
    rng = np.random.default_rng(0)
    cloud = km.engines.open("cpu").load(rng.normal(size=(50, d)))
    x = 0.4 * rng.normal(size=d)
    truth = float(kernel.radial(d, space)(np.array(x @ x)))
    for drawn in (
        spectral_draw(kernel, d, space, rng, 20_000),
        stratified_draw(kernel, cloud, space, rng, 4000),
    ):
        found = drawn.importance * np.cos(drawn.values @ x)
        error = found.std() / np.sqrt(len(found))
        assert abs(found.mean() - truth) < 5 * error


def test_rare_large_scales_are_sought_out():
    rng = np.random.default_rng(0)
    cloud = km.engines.open("cpu").load(rng.normal(size=(50, 2)))
    kernel = km.Laplacian(1.0)
    plain = spectral_draw(kernel, 2, "l2", rng, 200)
    sought = stratified_draw(kernel, cloud, "l2", rng, 200)
    far = [np.mean(np.linalg.norm(drawn.values, axis=1) > 10.0) for drawn in (plain, sought)]
    assert far[1] > 3 * far[0] + 0.05
    assert sought.importance.max() <= 8.0
