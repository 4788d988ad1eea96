"""Densities that are fitted by likelihood, which is what SparseKDE does by default."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

import kernelmean as km


def cloud(n: int = 600, d: int = 2, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 4.0 * (rng.random(n) < 0.3)[:, None]


def fitted(X, **options):
    return km.SparseKDE(random_state=0, **options).fit(X)


def test_it_is_the_default_and_says_so():
    density = fitted(cloud())
    assert density.target_ == "likelihood"
    assert density.mean_.selection == density.mean_.stop_reason == "likelihood"
    assert "likelihood" in repr(density.mean_)
    assert density.mean_.estimated_error is None
    assert density.mean_.kappa is None
    assert density.mean_.indicator is None
    assert density.bandwidth_ == density.mean_.kernel.length
    assert (np.diag(density.scale_) > 0).all()


def test_new_rows_are_likelier_than_under_scotts_density_and_a_mixture_by_bic():
    rng = np.random.default_rng(0)

    def curve(n):
        t = rng.random(n) * 6.28
        return np.stack([np.cos(t), np.sin(2 * t)], axis=1) + 0.05 * rng.normal(size=(n, 2))

    X, Q = curve(2000), curve(4000)
    ours = fitted(X).score_samples(Q).mean()
    scott = fitted(X, bandwidth="scott", scale=None, sparse=False).score_samples(Q).mean()
    exact = fitted(X, target="kde", sparse=False).score_samples(Q).mean()
    mixtures = [GaussianMixture(k, random_state=0).fit(X) for k in (4, 8, 16, 32)]
    bic = min(mixtures, key=lambda mixture: mixture.bic(X)).score(Q)
    assert ours > max(scott, exact, bic)


def test_a_foreign_unit_changes_nothing_but_the_jacobian():
    X, Q = cloud(), cloud(seed=1)
    unit = np.array([1.0, 1e9])
    foreign = fitted(X * unit).score_samples(Q * unit) + np.log(1e9)
    np.testing.assert_allclose(foreign, fitted(X).score_samples(Q), atol=1e-6)


def test_five_gross_rows_of_a_thousand_cost_next_to_nothing():
    X, Q = cloud(1000), cloud(2000, seed=1)
    gross = X.copy()
    gross[:5] = 1e6 * np.random.default_rng(2).choice([-1.0, 1.0], size=(5, 2))
    lost = fitted(X[5:]).score_samples(Q) - fitted(gross).score_samples(Q)
    assert lost.mean() < 0.1
    assert np.isfinite(fitted(gross).score_samples(gross)).all()


@pytest.mark.parametrize("d", [1, 2, 5])
def test_it_integrates_to_one(d):
    """∫f = E_q[f/q] for draws from a wide normal q."""
    density = fitted(cloud(d=d))
    wide = GaussianMixture(1).fit(cloud(d=d))
    wide.covariances_ = 4.0 * wide.covariances_
    wide.precisions_cholesky_ = wide.precisions_cholesky_ / 2.0
    Q, _ = wide.sample(200_000)
    ratio = np.exp(density.score_samples(Q) - wide.score_samples(Q))
    assert ratio.mean() == pytest.approx(1.0, abs=max(0.01, 5 * ratio.std() / len(ratio) ** 0.5))


@pytest.mark.parametrize("n", [2, 3, 10, 30])
@pytest.mark.parametrize("d", [1, 4, 40])
def test_few_rows_have_a_density(n, d):
    X = np.random.default_rng(0).normal(size=(n, d))
    density = fitted(X)
    assert np.isfinite(density.score_samples(np.random.default_rng(1).normal(size=(5, d)))).all()
    assert density.mean_.weights.sum() == pytest.approx(1.0)


def test_constant_columns_and_ties_leave_it_finite():
    X = np.column_stack([cloud(), np.full(600, 7.0), np.round(cloud(seed=3)[:, 0])])
    density = fitted(X)
    assert np.isfinite(density.score_samples(X)).all()
    # No atom is narrower than the rounding of the last column, in its own unit.
    widths = 1.0 / np.diag(density.scale_)
    spreads = density.mean_.spreads[:, 3, 3] + density.bandwidth_**2
    assert np.sqrt(spreads.min()) * widths[3] >= np.sqrt(1 / 12) * 0.999


def test_a_given_bandwidth_is_the_least_width_in_the_units_of_the_data():
    X = cloud() * 10.0
    density = fitted(X, bandwidth=2.5, target="likelihood")
    assert density.scale_ is None
    assert density.bandwidth_ == 2.5
    mixture = density.to_gaussian_mixture()
    assert np.linalg.eigvalsh(mixture.covariances_).min() >= 2.5**2 * (1 - 1e-9)
    same = km.SparseKDE(kernel=km.Gaussian(2.5), target="likelihood", random_state=0).fit(X)
    np.testing.assert_array_equal(same.score_samples(X), density.score_samples(X))


def test_k_atoms_are_k_atoms():
    density = fitted(cloud(), k=5, target="likelihood")
    assert density.mean_.k == 5
    assert density.mean_.stop_reason == "fixed"
    assert fitted(cloud(), k_max=9).mean_.k <= 9


def test_k_of_ones_own_asks_for_a_copy():
    assert fitted(cloud(100), k=9).target_ == "kde"
    assert fitted(cloud(50), k=45, target="likelihood").mean_.k == 45


def test_copies_of_rows_change_little():
    """Were copies to judge one another, as narrow a component as may be would win."""
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(300, 4)), rng.normal(size=(2000, 4))
    once = fitted(X).score_samples(Q).mean()
    assert fitted(np.repeat(X, 2, axis=0)).score_samples(Q).mean() == pytest.approx(once, abs=0.05)


@pytest.mark.parametrize("options", [{}, {"bandwidth": 0.5, "target": "likelihood"}])
def test_files_hold_atoms_at_the_floor(tmp_path, options):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(100, 2)) * [1.0, 0.05])[rng.integers(0, 100, 400)]
    density = km.SparseKDE(random_state=0, **options).fit(X, sample_weight=rng.random(400))
    density.save(tmp_path / "density.km")
    back = km.SparseKDE.load(tmp_path / "density.km")
    np.testing.assert_array_equal(back.score_samples(X), density.score_samples(X))
    mixture = density.to_gaussian_mixture()
    np.testing.assert_allclose(mixture.score_samples(X), density.score_samples(X), atol=1e-8)


def test_batches_of_many_coordinates_and_units_join():
    X = np.random.default_rng(0).normal(size=(200, 30)) * np.append(1e18, np.ones(29))
    stream = km.SparseKDE(random_state=0).partial_fit(X[:100]).partial_fit(X[100:])
    assert stream.target_ == "likelihood"
    assert stream.merging_error_ == 0.0
    assert np.isfinite(stream.score_samples(X)).all()


def test_a_stream_keeps_to_its_most_atoms():
    stream = km.SparseKDE(random_state=0, k_max=12)
    for i in range(5):
        stream.partial_fit(cloud(300, seed=i) + np.array([5.0 * (i % 3), 0.0]))
    assert stream.mean_.k <= 12
    assert stream.mean_.weights.sum() == pytest.approx(1.0)
    assert stream.merging_error_ > 0.0


def test_scalar_spreads_on_request_and_in_many_dimensions():
    assert fitted(cloud(), spread="scalar").mean_.spreads.ndim == 1
    many = fitted(np.random.default_rng(0).normal(size=(300, 120)))
    assert many.mean_.spreads.ndim == 1
    assert many.target_ == "likelihood"


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"kernel": "laplacian"}, "needs a Gaussian kernel, not laplacian"),
        ({"kernel": km.Cauchy(1.0)}, "needs a Gaussian kernel"),
        ({"sparse": False}, "sparse=False"),
        ({"spread": None}, "spread=None"),
        ({"error": 0.01}, "error=0.01"),
        ({"selection": "kcenter"}, "selection='kcenter'"),
        ({"refine": 3}, "refine=3"),
    ],
)
def test_what_it_cannot_heed_is_refused_and_makes_auto_a_copy(options, what):
    with pytest.raises(ValueError, match=what):
        fitted(cloud(100), target="likelihood", **options)
    assert fitted(cloud(100), **options).target_ == "kde"


@pytest.mark.parametrize(
    "options", [{"bandwidth": "scott"}, {"bandwidth": 0.5}, {"kernel": km.Gaussian(0.5)}]
)
def test_what_is_said_of_the_kernel_asks_for_a_copy(options):
    density = fitted(cloud(100), **options)
    assert density.target_ == "kde"
    assert (density.scale_ is None) == (options != {"bandwidth": "scott"})


def test_unknown_targets_and_no_spread_are_errors():
    with pytest.raises(ValueError, match="unknown target 'best'"):
        fitted(cloud(), target="best")
    with pytest.raises(ValueError, match="no spread in the data"):
        fitted(np.ones((10, 2)))


def test_integer_weights_are_repeated_rows():
    X = cloud(150)
    w = np.random.default_rng(1).integers(0, 3, 150)
    weighted = km.SparseKDE(random_state=0).fit(X, sample_weight=w)
    repeated = fitted(np.repeat(X, w, axis=0))
    np.testing.assert_array_equal(weighted.score_samples(X), repeated.score_samples(X))


def test_other_weights_move_the_density():
    X = cloud()
    right = X[:, 0] > 2.0
    density = km.SparseKDE(random_state=0).fit(X, sample_weight=np.where(right, 3.7, 0.1))
    Q = cloud(2000, seed=4)
    share = np.average(density.sample(4000, random_state=0)[:, 0] > 2.0)
    expected = 3.7 * right.sum() / (3.7 * right.sum() + 0.1 * (~right).sum())
    assert share == pytest.approx(expected, abs=0.06)
    assert np.isfinite(density.score_samples(Q)).all()


def test_batches_and_machines_join():
    X, Q = cloud(3000), cloud(2000, seed=1)
    whole = fitted(X).score_samples(Q).mean()
    stream = km.SparseKDE(random_state=0)
    for batch in np.array_split(X, 3):
        stream.partial_fit(batch)
    assert stream.score_samples(Q).mean() == pytest.approx(whole, abs=0.05)
    first = km.SparseKDE(random_state=0).fit(X[:1500])
    second = km.SparseKDE(
        kernel=first.mean_.kernel, scale=first.scale_, target="likelihood", random_state=0
    ).fit(X[1500:])
    joined = first.merge(second)
    assert joined.mean_.n_points == 3000
    assert joined.score_samples(Q).mean() == pytest.approx(whole, abs=0.05)


def test_files_keep_it(tmp_path):
    density = fitted(cloud())
    density.save(tmp_path / "density.km")
    back = km.SparseKDE.load(tmp_path / "density.km")
    assert back.target_ == back.target == "likelihood"
    np.testing.assert_array_equal(back.score_samples(cloud()), density.score_samples(cloud()))
    back.partial_fit(cloud(seed=2))
    assert back.mean_.n_points == 1200


def test_what_needs_a_kernel_mean_says_so():
    mean = fitted(cloud()).mean_
    with pytest.raises(ValueError, match=r"fitted by likelihood.*truncate needs one"):
        mean.truncate(1)
    with pytest.raises(ValueError, match="refit needs one"):
        mean.refit(constraint="sum-to-one")
    with pytest.raises(ValueError, match="certificate needs one"):
        mean.certificate(cloud())
    with pytest.raises(TypeError, match="has no indicator"):
        km.plot.IndicatorDisplay.from_mean(mean)


def test_thread_counts_and_engines_agree():
    X = cloud()
    reference = fitted(X, engine="naive").score_samples(X)
    for engine in (km.engines.open("cpu", threads=1), "cpu"):
        np.testing.assert_allclose(fitted(X, engine=engine).score_samples(X), reference, rtol=1e-6)


def test_rows_in_files_give_the_density_of_rows_in_memory(tmp_path):
    X = cloud()
    np.save(tmp_path / "rows.npy", X)
    mapped = fitted(km.read(tmp_path / "rows.npy"))
    np.testing.assert_allclose(mapped.score_samples(X), fitted(X).score_samples(X), rtol=1e-6)


def test_classes_are_told_apart_by_it():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 300)
    X = rng.normal(size=(600, 5)) * np.where(y, 2.0, 1.0)[:, None]
    model = km.SparseKDEClassifier(random_state=0).fit(X, y)
    assert all(mean.selection == "likelihood" for mean in model.means_)
    Q = rng.normal(size=(600, 5)) * np.where(y, 2.0, 1.0)[:, None]
    assert model.score(Q, y) > 0.8
