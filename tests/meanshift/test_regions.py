"""Regions of an image and the boundaries between them, counted pixel by pixel."""

import numpy as np
import pytest
from scipy.ndimage import label

from kernelmean.meanshift.regions import regions, without_small


def random_image(seed, shape=(8, 11)):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, shape), rng.random((*shape, 3))


@pytest.mark.parametrize("seed", range(3))
def test_regions_are_the_connected_parts_of_clusters(seed):
    clusters, seen = random_image(seed)
    found = regions(clusters, seen, seen, 0)
    expected = sum(label(clusters == c)[1] for c in range(4))
    assert found.n_regions == expected
    for r in range(found.n_regions):
        inside = found.labels == r
        assert label(inside)[1] == 1
        assert len(np.unique(clusters[inside])) == 1
        assert found.sizes[r] == inside.sum()
        np.testing.assert_allclose(found.means[r], seen[inside].mean(axis=0))


@pytest.mark.parametrize("reach", [0, 2])
def test_boundaries_are_sums_over_pairs_of_pixels(reach):
    clusters, seen = random_image(5)
    found = regions(clusters, seen, seen, reach)
    rows, columns = clusters.shape
    lengths = dict[tuple[int, int], float]()
    contrasts = dict[tuple[int, int], float]()
    for i in range(rows):
        for j in range(columns):
            for down in (0, 1):
                k, m = i + down, j + 1 - down
                if k == rows or m == columns or found.labels[i, j] == found.labels[k, m]:
                    continue
                back = max(i - down * reach, 0), max(j - (1 - down) * reach, 0)
                forth = (
                    min(k + down * reach, rows - 1),
                    min(m + (1 - down) * reach, columns - 1),
                )
                pair = tuple(sorted((found.labels[i, j], found.labels[k, m])))
                lengths[pair] = lengths.get(pair, 0.0) + 1.0
                contrast = np.linalg.norm(seen[back] - seen[forth])
                contrasts[pair] = contrasts.get(pair, 0.0) + contrast
    pairs = [tuple(pair) for pair in found.boundaries.pairs.tolist()]
    assert sorted(lengths) == pairs
    np.testing.assert_allclose(found.boundaries.lengths, [lengths[p] for p in pairs])
    np.testing.assert_allclose(found.boundaries.contrasts, [contrasts[p] for p in pairs])


def test_joined_regions_are_those_of_joined_clusters():
    clusters, seen = random_image(2)
    found = regions(clusters, seen, seen, 1)
    groups = np.minimum(np.arange(found.n_regions), 3)
    joined = found.joined(groups)
    again = found.labels.copy()
    again[again > 3] = 3
    np.testing.assert_array_equal(joined.labels, again)
    np.testing.assert_allclose(joined.sizes, np.bincount(again.ravel()))
    assert joined.boundaries.pairs.max() == 3
    np.testing.assert_allclose(joined.sums.sum(axis=0), found.sums.sum(axis=0))


@pytest.mark.parametrize("least", [1, 3, 10, 10**6])
def test_no_small_region_is_left(least):
    clusters, seen = random_image(7)
    found = without_small(regions(clusters, seen, seen, 0), least)
    assert found.n_regions == 1 or found.sizes.min() >= least
    assert found.sizes.sum() == clusters.size
    np.testing.assert_array_equal(np.bincount(found.labels.ravel()), found.sizes)


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1)])
def test_images_of_one_row_or_column(shape):
    clusters = np.arange(shape[0] * shape[1]).reshape(shape) // 2
    found = regions(clusters, clusters[..., None] / 3.0, clusters[..., None] / 3.0, 1)
    assert found.n_regions == clusters.max() + 1
    assert len(found.boundaries.pairs) == found.n_regions - 1
