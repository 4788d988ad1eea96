"""The tree of regions, beside one that looks at every pair at every step."""

import numpy as np
import pytest

from kernelmean.meanshift import colors
from kernelmean.meanshift.region_tree import JUST_NOTICEABLE, region_tree
from kernelmean.meanshift.regions import regions, without_small


def patchwork(seed, shape=(9, 12), clusters=6):
    """Random clusters of pixels in random colours, some of them nearly equal."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, clusters, shape)
    palette = np.round(rng.random((clusters, 3)), 1)
    return regions(labels, palette[labels], palette[labels] + 0.01 * rng.random((*shape, 3)), 0)


def brute_tree(found):
    """Pairs of sets of regions that become one, and how different they were."""
    pixels = {frozenset([r]): found.labels == r for r in range(found.n_regions)}
    order = []
    heights = []
    while len(pixels) > 1:
        height, _, pair = min(
            (*brute_difference(found, a, b), {a, b})
            for a in pixels
            for b in pixels
            if sorted(a) < sorted(b) and touch(found, a, b)
        )
        first, second = pair
        order.append(pair)
        heights.append(height)
        pixels[first | second] = pixels.pop(first) | pixels.pop(second)
    return order, heights


def touch(found, a, b):
    return any((i in a and j in b) or (i in b and j in a) for i, j in found.boundaries.pairs)


def brute_difference(found, a, b):
    rows = [list(a), list(b)]
    n, m = (found.sizes[some].sum() for some in rows)
    off = found.sums[rows[0]].sum(axis=0) / n - found.sums[rows[1]].sum(axis=0) / m
    between = [
        (i in a and j in b) or (i in b and j in a) for i, j in found.boundaries.pairs.tolist()
    ]
    contrast = found.boundaries.contrasts[between].sum() / found.boundaries.lengths[between].sum()
    ward = n * m / (n + m) / found.sizes.sum() * (off @ off)
    return (ward * max(contrast - JUST_NOTICEABLE, 0.0) ** 2) ** 0.25, ward


def sets_of(tree):
    """The regions behind each number of the tree."""
    sets = [frozenset([r]) for r in range(len(tree.sizes))]
    for first, second in tree.merges:
        sets.append(sets[first] | sets[second])
    return sets


@pytest.mark.parametrize("seed", range(4))
def test_the_least_different_neighbours_become_one_first(seed):
    found = without_small(patchwork(seed), 2)
    tree = region_tree(found, found.means)
    order, heights = brute_tree(found)
    sets = sets_of(tree)
    assert [{sets[i], sets[j]} for i, j in tree.merges] == order
    np.testing.assert_allclose(tree.heights, np.maximum.accumulate(heights), rtol=1e-9)


@pytest.mark.parametrize("count", [1, 2, 7, 10**6])
def test_cutting_undoes_the_last_steps(count):
    found = patchwork(9)
    tree = region_tree(found, found.means)
    groups = tree.cut(n_segments=count)
    expected = min(count, found.n_regions)
    assert len(np.unique(groups)) == expected
    sets = sets_of(tree)[: 2 * found.n_regions - expected]
    roots = [s for s in sets if not any(s < other for other in sets)]
    assert {frozenset(np.flatnonzero(groups == g).tolist()) for g in set(groups)} == set(roots)


def test_a_level_between_two_heights_is_the_number_of_segments_between_them():
    found = patchwork(3)
    tree = region_tree(found, found.means)
    steps = np.flatnonzero(np.diff(tree.heights) > 0.0)
    for step in steps[:: max(1, len(steps) // 5)]:
        level = 0.5 * (tree.heights[step] + tree.heights[step + 1])
        np.testing.assert_array_equal(
            tree.cut(contrast=level), tree.cut(n_segments=found.n_regions - step - 1)
        )


def test_a_tree_of_one_region():
    found = regions(np.zeros((3, 4), int), np.zeros((3, 4, 1)), np.zeros((3, 4, 1)), 1)
    tree = region_tree(found, found.means)
    assert tree.merges.shape == (0, 2)
    np.testing.assert_array_equal(tree.cut(n_segments=5), [0])


def test_a_level_is_needed():
    tree = region_tree(patchwork(0), colors.lab(patchwork(0).means))
    with pytest.raises(ValueError, match="number of segments"):
        tree.cut()
