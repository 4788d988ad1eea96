"""The default selection: the best of several, compared by what they achieve."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import kernelmean as km
from kernelmean import engines
from kernelmean._random import Streams
from kernelmean.cli.demo import clustered_points
from kernelmean.fitting import refine as refining
from kernelmean.fitting.fit import sparse_density
from kernelmean.linalg.factor import Factor
from kernelmean.selection import Task, auto, centroids, contest, criterion, greedy
from kernelmean.selection.criterion import Criterion, Entry
from tests import brute

SIGMA = 0.5


def fitted(X, selection="auto", seed=0, **options):
    """Points: how atoms are chosen is tested beside their fit."""
    return km.sparse_kernel_mean(
        X,
        **{"bandwidth": SIGMA, "selection": selection, "random_state": seed, "spread": None}
        | options,
    )


def density(X, selection="auto", seed=0, **options):
    """Judged by likelihood, as SparseKDE and KL are."""
    return sparse_density(
        X,
        **{"bandwidth": SIGMA, "selection": selection, "random_state": seed, "spread": None}
        | options,
    )


def chosen(mean):
    """What won, before it was polished."""
    return mean.selection.removesuffix("+refined")


def objective(mean):
    K = brute.gram(brute.gaussian(mean.kernel.bandwidth), mean.centers, mean.centers)
    return mean.weights @ K @ mean.weights - 2 * mean.kappa @ mean.weights


@pytest.mark.parametrize("constraint", [None, "simplex", "simplex-projection", "sum-to-one"])
@pytest.mark.parametrize(("sigma", "k"), [(0.2, 40), (1.5, 80)])
def test_auto_with_k_centres_is_no_worse_than_what_it_chooses_from(sigma, k, constraint):
    """A narrow kernel, where farthest-first is far behind; and a wide one whose k covers the
    support, where it is tried.
    """
    X = np.random.default_rng(0).normal(size=(400, 2))
    options = {"k": k, "constraint": constraint, "bandwidth": sigma}
    best, kcenter = fitted(X, **options), fitted(X, "kcenter", **options)
    assert chosen(best) in ("kcenter", "kmeans", "greedy", "greedy+kmeans")
    assert objective(best) <= objective(kcenter) + 1e-12
    assert (best.indices is None) == (best.selection not in ("kcenter", "greedy"))


def test_each_candidate_can_win():
    """Tight clusters suit centroids, a narrow kernel in five dimensions the greedy selection, a
    line the paper's.
    """
    rng = np.random.default_rng(1)
    clusters = np.concatenate(
        [rng.normal(size=(60, 2)) * 0.05 + c for c in ([0, 0], [5, 0], [0, 5], [5, 5])]
    )
    assert chosen(fitted(clusters, k=4)) == "kmeans"
    assert chosen(fitted(rng.normal(size=(500, 5)), k=60)) == "greedy+kmeans"
    line = rng.uniform(size=(900, 1))
    assert "kcenter" in {
        fitted(line, k=40, bandwidth=0.1, seed=seed).selection for seed in range(4)
    }


@pytest.mark.parametrize("constraint", [None, "simplex"])
def test_where_centres_gain_next_to_nothing_rows_alone_are_tried_too(constraint):
    X = np.random.default_rng(5).standard_t(3, (500, 2))
    options = {"k": 100, "constraint": constraint, "bandwidth": 1.5}
    best, rows = fitted(X, **options), fitted(X, "greedy", **options)
    assert objective(best) <= objective(rows) + 1e-14
    y2 = -np.diff(rows.indicator)
    assert y2[-8:].mean() < auto.COVERED_GREEDY * -rows.indicator[-1]


@pytest.fixture
def tried(monkeypatch):
    """The places of the contenders that were tried, in order."""
    places = []

    def noting(place, contender):
        def source(contest):
            places.append(place)
            return contender.source(contest)

        return dataclasses.replace(contender, source=source)

    table = tuple(noting(place, contender) for place, contender in enumerate(auto.CONTENDERS))
    monkeypatch.setattr(auto, "CONTENDERS", table)
    return places


def names(places):
    return [auto.CONTENDERS[place].name for place in places]


@pytest.mark.parametrize(
    ("fit", "d", "options", "expected"),
    [
        (fitted, 2, {"k": 30}, ["kmeans", "kmeans, second start", "greedy+kmeans"]),
        (fitted, 2, {"k": 70}, ["kmeans", "greedy+kmeans"]),
        (fitted, 4, {"k_max": 30}, ["greedy"]),
        (fitted, 2, {"k_max": 30}, ["kcenter", "greedy"]),
        (density, 2, {"k": 30}, ["kcenter", "kmeans"]),
        (density, 5, {"k": 30}, ["kcenter", "kmeans"]),
        (density, 2, {"k_max": 30}, ["kcenter", "kmeans"]),
        (density, 2, {"k": 900}, []),
    ],
)
@pytest.mark.filterwarnings("ignore::kernelmean.FitWarning")  # few centres, on purpose
def test_the_list_says_which_are_tried(fit, d, options, expected, tried):
    X = np.random.default_rng(5).normal(size=(900, d))
    fit(X, bandwidth=0.3, **options)
    assert names(tried) == expected


def test_every_contender_has_its_reason_in_figures():
    for contender in auto.CONTENDERS:
        assert any(character.isdigit() for character in contender.why), contender.name


def test_farthest_first_is_tried_only_where_the_support_is_covered(tried):
    """In low dimension the first kernel is too narrow for that, the second is not."""
    X = np.random.default_rng(5).normal(size=(3000, 2))
    fitted(X, k=60, bandwidth=0.5)
    assert "kcenter" not in names(tried)
    fitted(X, k=60, bandwidth=3.0)
    assert names(tried).count("kcenter") == 1


@pytest.mark.parametrize("constraint", [None, "simplex"])
def test_centroids_that_win_are_polished(constraint, monkeypatch):
    X = np.random.default_rng(4).normal(size=(500, 3))
    options = {"k": 30, "constraint": constraint}
    polished = fitted(X, **options)
    assert polished.selection.endswith("+refined")
    monkeypatch.setattr(refining, "worth_polishing", lambda *_: False)
    assert objective(polished) < objective(fitted(X, **options))


def test_polishing_is_left_out_where_it_may_cost_more_than_it_gains(monkeypatch):
    """Densities, kernels that may not know their slope, many centres, and every selection that was
    asked for by name.
    """
    X = np.random.default_rng(4).normal(size=(500, 3))
    own = km.Radial(lambda s: math.exp(-0.5 * s), 0.5)
    assert "refined" not in density(X, k=30).selection
    assert "refined" not in fitted(X, k=30, kernel=own, bandwidth="scott").selection
    assert fitted(X, "kmeans", k=30).selection == "kmeans"
    monkeypatch.setattr(refining, "MAX_K_POLISH", 29)
    assert "refined" not in fitted(X, k=30).selection


def test_many_centres_in_low_dimension_are_not_chosen_by_algebra_that_costs_more_than_the_sums(
    tried, monkeypatch
):
    """There centroids are alone; in higher dimension the greedy selection stays."""
    monkeypatch.setattr(contest, "MAX_K_GREEDY_LOW_DIMENSION", 20)
    X = np.random.default_rng(9).normal(size=(600, 5))
    assert chosen(fitted(X[:, :2], k=30)) == "kmeans"
    assert "greedy+kmeans" not in names(tried)
    fitted(X, k=30)
    assert names(tried).count("greedy+kmeans") == 1


@pytest.mark.parametrize("k", [20, 70, 300])
def test_few_centres_start_twice_and_many_once(k, monkeypatch):
    started, lloyd = [], centroids.lloyd
    monkeypatch.setattr(
        centroids,
        "lloyd",
        lambda cloud, seeds, steps: started.append(steps) or lloyd(cloud, seeds, steps),
    )
    X = np.random.default_rng(10).normal(size=(900, 4))
    assert fitted(X, k=k).k == k
    few = k <= contest.MAX_K_SECOND_START
    assert started == (
        [contest.ITERATIONS_FEW_CENTERS] * 2 if few else [contest.ITERATIONS_MANY_CENTERS]
    )


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.filterwarnings("ignore::kernelmean.FitWarning")  # few centres, on purpose
def test_with_k_open_the_winner_is_on_the_data_and_no_worse_than_farthest_first(d):
    X = np.random.default_rng(2).normal(size=(600, d))
    best, kcenter = fitted(X, k_max=60), fitted(X, "kcenter", k_max=60)
    np.testing.assert_array_equal(best.centers, X[best.indices])
    m = min(best.k, kcenter.k)
    assert best.indicator[m - 1] <= kcenter.indicator[m - 1] + 1e-12


def test_with_as_many_centres_as_points_there_is_nothing_to_choose():
    X = np.repeat(np.random.default_rng(3).normal(size=(12, 4)), 2, axis=0)
    mean = fitted(X, k=24)
    assert (mean.selection, mean.k, mean.stop_reason) == ("kcenter", 12, "distinct")


@pytest.mark.parametrize("k", [48, "auto"])
@pytest.mark.filterwarnings("ignore::kernelmean.FitWarning")  # few centres, on purpose
def test_densities_are_compared_by_their_likelihood_on_heavy_tails(k):
    """THEORY §8: on t(2.5) the error prefers centres that leave the tails empty, at a cost of whole
    units of KL.
    """
    X = np.random.default_rng(4).standard_t(2.5, size=(1500, 2))
    options = {"k": k, "k_max": 48, "bandwidth": 0.6}
    best, kcenter = density(X, **options), density(X, "kcenter", **options)
    assert best.log(X).mean() >= kcenter.log(X).mean() - 0.02
    assert best.weights.min() >= 0.0
    assert best.weights.sum() == pytest.approx(1.0, rel=1e-12)


def test_the_same_seed_gives_the_same_mean_in_every_engine_and_it_survives_its_file(tmp_path):
    X = np.random.default_rng(5).normal(size=(300, 3))
    naive, cpu = (fitted(X, k=25, engine=engine, seed=7) for engine in ("naive", "cpu"))
    assert naive.selection == cpu.selection
    np.testing.assert_allclose(naive.centers, cpu.centers, rtol=1e-12)
    cpu.save(tmp_path / "mean")
    again = km.load(tmp_path / "mean")
    assert again.selection == cpu.selection
    np.testing.assert_array_equal(again(X), cpu(X))
    short = cpu.truncate(10)
    g = brute.gaussian(SIGMA)
    alpha = np.linalg.solve(
        brute.gram(g, short.centers, short.centers), brute.gram(g, short.centers, X).mean(axis=1)
    )
    np.testing.assert_allclose(short.weights, alpha, rtol=1e-6)


def test_a_mean_in_l2_with_valid_weights_is_judged_by_its_objective_not_by_its_likelihood():
    """The same points as a density and as a mean: each is the better one by its own measure."""
    X = np.random.default_rng(4).standard_t(2.5, size=(1500, 2))
    valid = fitted(X, k=48, bandwidth=0.6, space="l2", constraint="simplex")
    likely = density(X, k=48, bandwidth=0.6)
    errors = [mean.certificate(X, method="exact").relative_error for mean in (valid, likely)]
    assert errors[0] < 0.7 * errors[1]
    assert likely.log(X).mean() > valid.log(X).mean() + 0.05


@pytest.mark.parametrize(
    ("fit", "options"), [(fitted, {"k": 20}), (fitted, {"k_max": 40}), (density, {"k": 20})]
)
def test_integer_weights_choose_what_repeated_rows_choose(fit, options, monkeypatch):
    monkeypatch.setattr(greedy, "MAX_ROWS_ALL_CANDIDATES", 50)
    monkeypatch.setattr(greedy, "DRAFT_ROWS", 150)
    rng = np.random.default_rng(6)
    X, w = rng.normal(size=(180, 2)), rng.integers(0, 4, 180)
    weighted, copies = fit(X, sample_weight=w, **options), fit(brute.repeated(X, w), **options)
    assert weighted.selection == copies.selection
    np.testing.assert_allclose(weighted.centers, copies.centers, rtol=1e-9)
    np.testing.assert_allclose(weighted.indicator, copies.indicator, rtol=1e-9)


def test_the_objective_is_that_of_the_weights():
    X = np.random.default_rng(7).normal(size=(100, 2))
    factor = Factor(km.Gaussian(SIGMA).radial(2, "rkhs"))
    K = brute.gram(brute.gaussian(SIGMA), X[:15], X)
    factor.append(X[:15], K.mean(axis=1))
    alpha = np.random.default_rng(8).normal(size=15)
    expected = alpha @ K[:, :15] @ alpha - 2 * K.mean(axis=1) @ alpha
    assert factor.objective(alpha) == pytest.approx(expected, rel=1e-10)
    assert factor.objective(factor.weights(15)) == pytest.approx(factor.indicator[-1], rel=1e-10)


@pytest.mark.parametrize("fit", [fitted, density])
def test_integer_weights_are_repeated_rows_in_every_choice(fit):
    """Batches of draws must count alike, whether a row is drawn twice or two of its copies are."""
    rng = np.random.default_rng(0)
    X, w = (
        np.concatenate([rng.normal(size=(100, 2)), 0.4 * rng.normal(size=(100, 2)) + 2]),
        rng.integers(0, 4, 200),
    )
    for seed in range(5):
        weighted = fit(X, k=25, bandwidth=0.3, seed=seed, sample_weight=w)
        repeated = fit(np.repeat(X, w, axis=0), k=25, bandwidth=0.3, seed=seed)
        assert weighted.selection == repeated.selection
        np.testing.assert_allclose(weighted.centers, repeated.centers, rtol=0, atol=1e-12)
        np.testing.assert_allclose(weighted.weights, repeated.weights, rtol=0, atol=1e-12)


def test_large_densities_in_low_dimension_keep_a_fringe(monkeypatch):
    monkeypatch.setattr(centroids, "MIN_K_FRINGE", 20)
    X = np.random.default_rng(3).standard_t(3.0, size=(3000, 2))
    X[7] = 60.0  # a lonely point: centroid and fringe at once, but one centre
    mean = density(X, k=64, bandwidth=0.4)
    assert mean.selection in ("kmeans+kcenter", "kcenter")
    assert mean.k == 64
    assert mean.jitter < 1e-8
    assert len(np.unique(mean.centers, axis=0)) == 64
    task = density_task(X, 64)
    centers = centroids.draft_centroids(task, task.cloud, 10, 0)
    rows = (centers[:, None] == X[None]).all(axis=2).any(axis=1)
    assert 8 <= rows.sum() <= 20  # the fringe, and lonely points among the centroids
    assert len(centers) == 64


def density_task(X, k):
    engine = engines.open("cpu")
    cloud = engine.load(X)
    radial = km.Gaussian(0.4).radial(2, "l2")
    return Task(cloud, engine, radial, k, True, True, True, Streams(0))


class Judged(Entry):
    """An entry whose objective and log-density are given."""

    def __init__(self, criterion, objective, log_density):
        super().__init__(criterion, None, 0)
        self.__dict__.update(objective=objective, log_density=np.asarray(log_density))


def test_densities_that_are_as_likely_are_told_apart_by_their_error():
    X = np.random.default_rng(11).normal(size=(50, 2))
    rule = Criterion(density_task(X, 5), "simplex", "cholesky", km.Gaussian(0.4), "l2")
    noise = np.tile([-1.0, 1.0], 50)
    best = Judged(rule, -1.0, np.zeros(100))
    for gain, closer, preferred in (
        (0.005, False, False),
        (0.005, True, True),
        (-0.005, True, True),
        (0.04, False, True),
        (-0.04, True, False),
    ):
        rival = Judged(rule, -1.1 if closer else -0.9, noise + gain)
        assert rule.prefers(rival, best) == preferred, (gain, closer)
    nowhere = Judged(rule, -1.1, np.where(np.arange(100) == 0, -np.inf, 5.0))
    assert rule.prefers(best, nowhere)
    assert not rule.prefers(nowhere, best)


def test_a_small_sample_is_judged_by_all_of_its_rows(monkeypatch):
    X = np.random.default_rng(12).normal(size=(70, 2))
    task = density_task(X, 5)
    rule = Criterion(task, "simplex", "cholesky", km.Gaussian(0.4), "l2")
    np.testing.assert_array_equal(rule._judging_rows, X)
    monkeypatch.setattr(criterion, "MAX_JUDGING_ROWS", 7)
    rule = Criterion(task, "simplex", "cholesky", km.Gaussian(0.4), "l2")
    rows = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in rule._judging_rows]
    np.testing.assert_array_equal(np.array(rows) // 10, np.arange(7))


@pytest.mark.parametrize("seed", range(3))
def test_equal_likelihood_does_not_hide_a_larger_error(seed):
    """On data like the demo's, farthest-first is as likely as centroids with several times their
    error.
    """
    X = clustered_points(40_000, seed)
    options = {"seed": seed, "k": 600, "bandwidth": 0.25}
    best, kcenter = density(X, **options), density(X, "kcenter", **options)
    assert best.log(X).mean() > kcenter.log(X).mean() - 0.03
    ours, theirs = (mean.certificate(X, random_state=1).relative_error for mean in (best, kcenter))
    assert ours < 0.5 * theirs
