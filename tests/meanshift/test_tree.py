"""The merge tree: what is kept, what is cut, who owns whom."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean.meanshift.tree import MergeTree


def tree(parent, z, peak, saddle, size=None):
    m = len(parent)
    with np.errstate(divide="ignore"):
        return MergeTree(
            peaks=np.arange(float(m))[:, None],
            log_peak=np.log(np.array(peak, dtype=float)),
            log_saddle=np.log(np.array(saddle, dtype=float)),
            saddles=np.full((m, 1), np.nan),
            parent=np.array(parent),
            z=np.array(z, dtype=float),
            size=np.array([10] * m if size is None else size),
        )


def chain():
    """The second mode is the last to end; the first is a stray point on it, the others follow."""
    return tree(
        parent=[1, -1, 1, 2],
        z=[0.9, np.inf, 6.0, 3.5],
        peak=[9.0, 8.0, 6.0, 5.0],
        saddle=[1.0, 0.0, 2.0, 4.0],
        size=[1, 500, 100, 20],
    )


def test_persistence_is_the_height_above_the_saddle():
    np.testing.assert_allclose(chain().persistence, [8.0, 8.0, 4.0, 1.0], rtol=1e-12)


def test_a_mode_that_is_not_kept_belongs_to_what_its_parent_belongs_to():
    kept = np.array([False, True, False, True])
    assert chain().owners(kept).tolist() == [1, 1, 1, 3]
    assert chain().owners(np.array([False, True, False, False])).tolist() == [1, 1, 1, 1]


def test_cuts_by_number_take_the_clearest_and_cuts_by_persistence_the_highest():
    found = chain()
    assert found.cut(n_clusters=1).tolist() == [1, 1, 1, 1]
    assert found.cut(n_clusters=2).tolist() == [1, 1, 2, 2]
    assert found.cut(n_clusters=3).tolist() == [1, 1, 2, 3]
    assert found.cut(persistence=4.0).tolist() == [0, 1, 2, 2]
    assert found.cut(persistence=0.0).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "exactly one"),
        ({"n_clusters": 2, "persistence": 1.0}, "exactly one"),
        ({"n_clusters": 5}, "more than the 4 modes"),
        ({"persistence": -1.0}, "persistence"),
    ],
)
def test_a_cut_that_cannot_be_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        chain().cut(**options)


def test_significance_is_that_of_benjamini_and_hochberg():
    """Against the definition: the largest j with p_(j) <= level·j/m."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        m = int(rng.integers(2, 12))
        z = np.append(np.inf, rng.normal(1.5, 1.5, m - 1))
        found = tree([-1] + [0] * (m - 1), z, np.full(m, 2.0), np.ones(m))
        p = np.sort(found.p_value[1:])
        most = max([0] + [j for j in range(1, m) if p[j - 1] <= 0.2 * j / (m - 1)])
        assert np.count_nonzero(found.significant(0.2)) == most + 1
        assert found.significant(0.2)[0]


def test_small_modes_join_what_they_stand_on_and_bring_their_points():
    kept = np.array([False, True, True, True])
    assert chain().large(kept, 21).tolist() == [False, True, True, False]
    assert chain().large(kept, 120).tolist() == [False, True, True, False]  # 100 and the 20 below
    assert chain().large(kept, 121).tolist() == [False, True, False, False]
    assert chain().large(kept, 10_000).tolist() == [False, True, False, False]


def test_every_mode_comes_after_its_parent():
    found = chain()
    place = np.argsort(found.from_last)
    assert found.from_last[0] == 1
    assert all(place[found.parent[mode]] < place[mode] for mode in (0, 2, 3))


def test_the_tree_of_a_fit_agrees_with_its_clusters():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(c, 0.6, (150, 2)) for c in ((0, 0), (4, 0), (0, 4))])
    model = km.MeanShift(random_state=0).fit(X)
    found = model.tree_
    assert found.size.sum() == len(X)
    assert np.count_nonzero(found.parent < 0) == 1
    assert (np.diff(found.log_peak) <= 0.0).all()
    assert (found.log_saddle <= found.log_peak).all()
    np.testing.assert_allclose(found.log_peak, model.mean_.log(found.peaks), atol=1e-9)
    ended = found.parent >= 0
    np.testing.assert_allclose(
        found.log_saddle[ended], model.mean_.log(found.saddles[ended]), atol=1e-9
    )
    own = found.log_saddle[ended]
    assert (found.log_saddle[found.parent[ended]] <= own + 1e-9).all()  # a parent ends later
    assert (model.cut(n_clusters=3) == model.labels_).all()
    assert len(np.unique(model.cut(n_clusters=2))) == 2
