"""Streams: bounded state, a bound on what the merges cost, save and resume, and the merge of two
states.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernelmean as km

KERNEL = km.Gaussian(0.6)


def batch(seed, n=200):
    return np.random.default_rng(seed).normal(size=(n, 2))


@cache
def fitted(seed, n=200, k=25, kernel=KERNEL):
    return km.sparse_kernel_mean(batch(seed, n), kernel=kernel, k=k, spread=None, random_state=0)


def union(means):
    """Σ(n_l/N) z_l, nothing left out."""
    return km.merge(means, k=sum(mean.k for mean in means))


@given(st.lists(st.sampled_from([60, 120, 200, 400]), min_size=1, max_size=7), st.booleans())
@settings(max_examples=12)
def test_the_error_is_at_most_what_the_merges_say(sizes, capped):
    means = [fitted(seed, n, k=12) for seed, n in enumerate(sizes)]
    stream = km.MeanStream(k=15 if capped else None)
    for mean in means:
        stream = stream.add(mean)
    total = sum(sizes)
    assert stream.mean.n_points == total
    assert stream.mean.distance(union(means)) <= stream.error + 1e-7
    heavy = [mean.n_points for mean in stream.means]
    assert all(a > b for a, b in pairwise(heavy))
    assert stream.mean.k <= 15


def test_state_is_bounded_and_every_batch_takes_part_in_few_merges(monkeypatch):
    from kernelmean.fitting import stream as module

    merges, merge = [], module.merge
    monkeypatch.setattr(
        module, "merge", lambda means, **options: merges.append(1) or merge(means, **options)
    )
    stream, mean = km.MeanStream(k=10), fitted(0, k=10)
    for count in range(1, 65):
        stream = stream.add(mean)
        assert len(stream.means) == count.bit_count()
        assert sum(mean.k for mean in stream.means) <= 70
    assert len(merges) == 63
    assert stream.mean.n_points == 64 * 200


def test_merges_choose_better_than_farthest_first(monkeypatch):
    """Both leave out half of the centres; the farthest-first half is that of the fringe."""
    from kernelmean.fitting import merging

    means = [fitted(seed, k=25) for seed in range(2)]
    found = [
        km.merge(means, k=15, constraint=constraint).distance(union(means))
        for constraint in (None, "simplex")
    ]
    monkeypatch.setattr(
        merging._Union, "sources", lambda self, limit, _: [merging.KCenter(self.cloud, 0)]
    )
    fringe = [
        km.merge(means, k=15, constraint=constraint).distance(union(means))
        for constraint in (None, "simplex")
    ]
    assert found[0] < 0.5 * fringe[0]
    assert found[1] < 0.5 * fringe[1]


def test_only_the_heaviest_centres_are_candidates(monkeypatch):
    from kernelmean.fitting import merging

    means = [fitted(seed, k=25) for seed in range(3)]
    monkeypatch.setattr(merging, "CANDIDATES_PER_CENTER", 2)
    weights = np.concatenate([mean.weights for mean in means])
    least = np.sort(np.abs(weights))[-20] / 3
    heavy = np.concatenate([mean.centers for mean in means])[np.abs(weights / 3) >= least - 1e-15]
    merged = km.merge(means, k=10)
    assert merged.k == 10
    assert all((heavy == center).all(axis=1).any() for center in merged.centers)


def test_errors_that_are_given_count_by_weight():
    stream = km.MeanStream(k=100).add(fitted(0, 300), error=0.2).add(fitted(1, 100), error=0.4)
    assert stream.error == pytest.approx((300 * 0.2 + 100 * 0.4) / 400, abs=1e-6)


def test_saved_and_resumed(tmp_path):
    stream = km.MeanStream(k=20, constraint="simplex")
    for seed in range(3):
        stream = stream.add(fitted(seed))
    stream.save(tmp_path / "stream.km")
    again = km.MeanStream.load(tmp_path / "stream.km")
    assert (again.k, again.constraint, again.errors) == (stream.k, stream.constraint, stream.errors)
    for one, other in zip(again.add(fitted(7)).means, stream.add(fitted(7)).means, strict=True):
        np.testing.assert_array_equal(one.centers, other.centers)
        np.testing.assert_array_equal(one.weights, other.weights)
    fitted(0).save(tmp_path / "mean.km")
    with pytest.raises(ValueError, match="does not hold a stream"):
        km.MeanStream.load(tmp_path / "mean.km")
    with pytest.raises(ValueError, match="does not hold a sparse kernel mean"):
        km.load(tmp_path / "stream.km")


@given(st.integers(0, 6), st.integers(1, 5))
@settings(max_examples=10)
def test_two_states_merge(left, right):
    means = [fitted(seed, k=10) for seed in range(left + right)]
    one, other = km.MeanStream(k=14), km.MeanStream(k=14)
    for mean in means[:left]:
        one = one.add(mean)
    for mean in means[left:]:
        other = other.add(mean)
    together = one.merge(other)
    assert together.mean.n_points == 200 * (left + right)
    assert together.mean.distance(union(means)) <= together.error + 1e-7
    heavy = [mean.n_points for mean in together.means]
    assert all(a > b for a, b in pairwise(heavy))


def test_bad_input():
    with pytest.raises(ValueError, match="empty"):
        km.MeanStream().mean  # noqa: B018
    with pytest.raises(TypeError, match="sparse kernel means"):
        km.MeanStream().add(batch(0))
    with pytest.raises(ValueError, match="error"):
        km.MeanStream().add(fitted(0), error=-1.0)
    with pytest.raises(ValueError, match="kernels differ"):
        km.MeanStream().add(fitted(0)).add(fitted(1, kernel=km.Gaussian(0.7)))
    with pytest.raises(ValueError, match="k must be"):
        km.MeanStream(k=0)


# --- the density estimator
# ----------------------------------------------------------------------------------------------


def test_densities_of_a_stream_stay_small_and_near_one_fit():
    """Merges choose centres among centres, which costs more than one fit to all points."""
    stream = km.SparseKDE(bandwidth=0.4, k=40, random_state=0)
    for seed in range(11):
        stream.partial_fit(batch(seed))
    X = np.concatenate([batch(seed) for seed in range(11)])
    whole = km.SparseKDE(bandwidth=0.4, k=40, random_state=0).fit(X)
    Q = batch(99, 500)
    assert stream.mean_.n_points == 2200
    assert stream.mean_.k == 40
    assert len(stream._stream.means) == 3
    assert abs(np.mean(stream.score_samples(Q) - whole.score_samples(Q))) < 0.01
    exact = km.kernel_mean(X, kernel=stream.mean_.kernel, space=stream.mean_.space)
    assert 0.0 < stream.mean_.distance(exact) < stream.merging_error_ + 0.005
    assert stream.merging_error_ < 0.04


def test_a_density_is_saved_and_goes_on(tmp_path):
    first, second, third = (batch(seed, 2000) for seed in range(3))
    stream = (
        km.SparseKDE(bandwidth=0.4, k=40, random_state=0).partial_fit(first).partial_fit(second)
    )
    stream.save(tmp_path / "density.km")
    again = km.SparseKDE.load(tmp_path / "density.km").set_params(random_state=0).partial_fit(third)
    stream.partial_fit(third)
    assert again.mean_.n_points == stream.mean_.n_points == 6000
    Q = batch(99, 500)
    assert abs(np.mean(stream.score_samples(Q) - again.score_samples(Q))) < 0.02
    np.testing.assert_allclose(
        again.log_quantiles_[100:900], stream.log_quantiles_[100:900], atol=0.25
    )


def test_two_densities_merge():
    one, other = (km.SparseKDE(bandwidth=0.4, k=40, random_state=0) for _ in range(2))
    for seed in range(3):
        one.partial_fit(batch(seed))
        other.partial_fit(3.0 + batch(10 + seed))
    one.merge(other)
    assert one.mean_.n_points == 1200
    assert np.mean(one.sample(2000, random_state=0)[:, 0] > 1.5) == pytest.approx(0.5, abs=0.07)
    with pytest.raises(ValueError, match="sparse=True"):
        one.merge(km.SparseKDE(sparse=False).fit(batch(0)))


def test_fit_begins_anew():
    stream = (
        km.SparseKDE(bandwidth=0.4, k=20, random_state=0)
        .partial_fit(batch(0))
        .partial_fit(batch(1))
    )
    stream.fit(batch(2))
    assert stream.mean_.n_points == 200
    assert stream.partial_fit(batch(3)).mean_.n_points == 400


def test_what_merges_have_cost_is_kept_in_the_file(tmp_path):
    """A stream that goes on from a file must not forget the errors before it, and a new fit must
    not remember them.
    """
    X = np.random.default_rng(3).normal(size=(900, 2))
    density = km.SparseKDE(bandwidth=0.2, k=20, random_state=0).fit(X[:300]).partial_fit(X[300:600])
    assert density.merging_error_ > 0.0
    density.save(tmp_path / "density.km")
    again = km.SparseKDE.load(tmp_path / "density.km")
    assert again.merging_error_ == density.merging_error_
    again.set_params(random_state=0).partial_fit(X[600:])
    assert again.merging_error_ > density.merging_error_ * 600 / 900
    assert not hasattr(density.fit(X), "merging_error_")
    assert density.mean_.merging_error is None


# Means whose centres are atoms


@cache
def atoms_of(seed, kind="scalar", n=500, k=25):
    return km.sparse_kernel_mean(
        batch(seed, n),
        kernel=km.Gaussian(0.3),
        space="l2",
        k=k,
        selection="kmeans",
        spread=kind,
        random_state=0,
    )


@pytest.mark.parametrize("kind", ["scalar", "full"])
def test_a_stream_of_atoms_is_as_good_as_a_fit_of_all(kind):
    stream = km.MeanStream(k=25)
    for seed in range(8):
        stream = stream.add(atoms_of(seed, kind))
    mean = stream.mean
    assert (mean.k, mean.n_points) == (25, 4000)
    assert mean.expansion.atoms.kind == kind
    everything = np.concatenate([batch(seed, 500) for seed in range(8)])
    whole = km.sparse_kernel_mean(
        everything,
        kernel=km.Gaussian(0.3),
        space="l2",
        k=25,
        selection="kmeans",
        spread=kind,
        random_state=0,
    )
    errors = [each.certificate(everything, method="exact").error for each in (mean, whole)]
    assert errors[0] < 1.2 * errors[1]
    union = km.merge([atoms_of(seed, kind) for seed in range(8)], k=1000)
    assert mean.distance(union) <= stream.error + 1e-7


def test_a_stream_takes_the_kind_that_holds_all():
    stream = km.MeanStream(k=20, constraint="simplex")
    kinds = []
    for seed, kind in enumerate([None, "scalar", "full", "scalar"]):
        stream = stream.add(atoms_of(seed, kind))
        kinds.append(stream.mean.expansion.atoms.kind)
    assert kinds == [None, "scalar", "full", "full"]
    assert stream.mean.is_density
    assert stream.mean.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["scalar", "full"])
def test_a_stream_of_atoms_is_saved_resumed_and_merged(tmp_path, kind):
    stream = km.MeanStream(k=20)
    for seed in range(3):
        stream = stream.add(atoms_of(seed, kind))
    stream.save(tmp_path / "stream.km")
    again = km.MeanStream.load(tmp_path / "stream.km")
    for one, other in zip(again.means, stream.means, strict=True):
        np.testing.assert_array_equal(one.spreads, other.spreads)
    np.testing.assert_array_equal(
        again.add(atoms_of(3, kind)).mean.spreads, stream.add(atoms_of(3, kind)).mean.spreads
    )
    both = stream.merge(again)
    assert both.mean.n_points == 3000
    assert both.mean.distance(stream.mean) <= both.error + stream.error + 1e-7


def test_a_density_of_atoms_goes_on_by_batches():
    density = km.SparseKDE(bandwidth=0.3, k=25, spread="scalar", random_state=0)
    for seed in range(4):
        density.partial_fit(batch(seed, 500))
    assert density.mean_.spreads.shape == (25,)
    assert density.mean_.is_density
    everything = np.concatenate([batch(seed, 500) for seed in range(4)])
    whole = km.SparseKDE(bandwidth=0.3, k=25, spread="scalar", random_state=0).fit(everything)
    held_out = batch(99, 2000)
    assert np.mean(density.score_samples(held_out)) > np.mean(whole.score_samples(held_out)) - 0.02
