"""Cells of pixels: their moments, their number, and the climb of a cell as one."""

import numpy as np
import pytest

from kernelmean.fitting.settings import FitSettings
from kernelmean.meanshift.clustering import Rules, cluster
from kernelmean.meanshift.pixel_cells import CELLS, cell_density, cluster_cells, grid
from kernelmean.samples import ArraySample

SHAPE = (24, 30)


@pytest.fixture(scope="module")
def pixels():
    rng = np.random.default_rng(0)
    place = np.mgrid[:24, :30].reshape(2, -1).T / 30.0
    value = np.where(place[:, 1] < 0.5, 0.2, 0.8) + 0.02 * rng.normal(size=len(place))
    return np.column_stack([value, place])


@pytest.mark.parametrize("spread", ["scalar", "full"])
def test_cells_keep_the_moments_of_the_pixels(pixels, spread):
    settings = FitSettings.density(bandwidth=0.1, k=20, spread=spread)
    mean, cells = cell_density(pixels, SHAPE, settings)
    assert mean.atoms.kind == spread
    np.testing.assert_allclose(mean.weights.sum(), 1.0)
    np.testing.assert_allclose(mean.weights @ mean.centers, pixels.mean(axis=0))
    for cell in range(mean.k):
        inside = pixels[cells == cell]
        moments = np.cov(inside.T, bias=True)
        expected = moments if spread == "full" else np.trace(moments) / 3.0
        np.testing.assert_allclose(mean.spreads[cell], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "most"), [({}, 720), ({"k": 9}, 12), ({"k_max": 30}, 36), ({"k": 10**6}, 720)]
)
def test_there_are_about_as_many_cells_as_asked_for(pixels, options, most):
    settings = FitSettings.density(bandwidth=0.1, spread="scalar", **options)
    assert 1 < cell_density(pixels, SHAPE, settings).mean.k <= most


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (487, 500), (3, 1000)])
def test_a_grid_lies_in_the_image(shape):
    places = grid(shape, CELLS)
    assert len(np.unique(places)) == len(places)
    assert places.min() >= 0
    assert places.max() < shape[0] * shape[1]
    assert len(places) <= 1.2 * CELLS


def test_a_cell_climbs_to_where_its_pixels_do(pixels):
    cells = cell_density(pixels, SHAPE, FitSettings.density(bandwidth=0.15, spread="scalar", k=80))
    together = cluster_cells(cells, Rules())
    alone = cluster(cells.mean, ArraySample(pixels), Rules())
    np.testing.assert_allclose(together.centers, alone.centers, atol=1e-6)
    assert np.mean(together.labels == alone.labels) > 0.99
    assert together.shifted.shape == pixels.shape
