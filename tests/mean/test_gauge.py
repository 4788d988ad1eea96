"""What a fit thinks of its own error, beside what a certificate measures."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.mean import gauge
from kernelmean.mean.gauge import Candidate, Estimate, Gauge
from kernelmean.mean.spectrum import Spectrum

X = np.random.default_rng(0).normal(size=(1500, 3))


def fitted(**options):
    given = {"bandwidth": 0.5, "k": 25, "selection": "kmeans", "random_state": 0}
    return km.sparse_kernel_mean(X, **{**given, **options})


def asked(mean, seed=0):
    """A gauge of the points, and the mean as its candidate."""
    engine = km.engines.open("cpu")
    case = Candidate.of(mean.expansion.atoms, mean.weights, mean.kappa, mean.kernel, mean.space)
    return Gauge(engine.load(X), engine, mean.kernel, mean.space, Streams(seed)), case


@pytest.mark.parametrize("constraint", [None, "simplex", "simplex-projection"])
@pytest.mark.parametrize("spread", [None, "scalar", "full"])
@pytest.mark.parametrize("space", ["rkhs", "l2"])
def test_estimates_are_near_the_certificate(spread, space, constraint):
    mean = fitted(spread=spread, space=space, constraint=constraint)
    exact = mean.certificate(X, method="exact").relative_error
    assert mean.estimated_error == pytest.approx(exact, rel=0.35)
    measure, case = asked(mean)
    for draws in range(2, len(gauge.FREQUENCIES) + 1):
        found = measure._by_spectra(case, draws)
        assert abs(found.value - exact) <= 5 * found.standard_error
    assert found.standard_error < 0.06 * exact
    assert measure._exactly(case).value == pytest.approx(exact, rel=1e-6)


def test_a_candidate_is_compared_once_at_each_frequency(monkeypatch):
    """However often it is asked about; another one, or the same with other weights, is new."""
    measured = []
    original = Spectrum.squares

    def squares(self, *given):
        measured.append(len(self.frequencies))
        return original(self, *given)

    mean = fitted(spread="scalar")
    measure, case = asked(mean)
    fresh = [asked(mean)[0]._by_spectra(case, draws) for draws in (2, 3)]
    others = [case._replace(weights=0.5 * case.weights), case._replace(atoms=case.atoms[::-1])]
    apart = [asked(mean)[0]._by_spectra(other, 2) for other in others]
    monkeypatch.setattr(Spectrum, "squares", squares)
    assert [measure._by_spectra(case, draws) for draws in (2, 3)] == fresh
    assert measured == list(gauge.FREQUENCIES[:3])
    assert measure._by_spectra(case._replace(weights=case.weights.copy()), 2) == fresh[0]
    assert measured == list(gauge.FREQUENCIES[:3])
    assert [measure._by_spectra(other, 2) for other in others] == apart
    assert measured == [*gauge.FREQUENCIES[:3], *2 * gauge.FREQUENCIES[:2]]


@pytest.mark.parametrize("kernel", ["laplacian", "cauchy"])
@pytest.mark.parametrize("space", ["rkhs", "l2"])
def test_spectra_with_heavy_tails_are_seen_by_few_frequencies(kernel, space):
    mean = fitted(kernel=kernel, bandwidth="median", space=space, k=60)
    exact = mean.certificate(X, method="exact").relative_error
    found = [asked(mean, seed)[0].estimate(asked(mean)[1]) / exact for seed in range(12)]
    assert min(found) > 0.6
    assert max(found) < 1.6
    assert np.mean(found) == pytest.approx(1.0, abs=0.15)


def test_a_poor_mean_needs_few_frequencies():
    mean = fitted(bandwidth=0.1, k=5)
    measure, case = asked(mean)
    assert measure.estimate(case) == pytest.approx(mean.certificate(X).relative_error, rel=0.1)
    assert len(measure._spectra) == 1


def test_a_mean_that_is_worse_than_none_is_told_from_the_points_alone():
    """The objective is positive then, and ‖z̄‖² no longer a difference that is sure."""
    mean = fitted(bandwidth=0.1, k=5, constraint="simplex")
    _, case = asked(mean)
    assert case.objective > 0.0
    assert mean.estimated_error == pytest.approx(mean.certificate(X).relative_error, rel=0.3)


def test_errors_that_rounding_hides_from_all_pairs_are_estimated_from_frequencies():
    few = X[:200, :1]
    mean = km.sparse_kernel_mean(few, bandwidth=1.5, k=30, random_state=0)
    found = mean.certificate(few)
    assert found.method == "spectral"
    assert mean.estimated_error < 1e-6


def test_all_pairs_are_summed_for_a_few_points_and_for_what_a_search_asks(monkeypatch):
    summed = []
    plain = Gauge._exactly
    monkeypatch.setattr(Gauge, "_exactly", lambda self, case: summed.append(1) or plain(self, case))
    mean = fitted()
    assert not summed
    few = km.sparse_kernel_mean(X[:300], bandwidth=0.5, k=20, random_state=0)
    assert len(summed) == 1
    assert few.estimated_error == pytest.approx(few.certificate(X[:300]).relative_error, rel=1e-6)
    exact = mean.certificate(X).relative_error
    measure, case = asked(mean)
    assert measure.reaches(case, 1.01 * exact)
    assert not measure.reaches(case, 0.99 * exact)
    assert measure.estimate(case) == pytest.approx(exact, rel=1e-9)


def test_a_search_over_many_points_asks_for_more_frequencies_where_few_cannot_decide(monkeypatch):
    monkeypatch.setattr(gauge, "MAX_EXACT_POINTS", 0)
    mean = fitted()
    exact = mean.certificate(X).relative_error
    for factor, draws, reached in ((3.0, 3, True), (0.3, 2, False), (1.0, 4, False)):
        measure, case = asked(mean)
        assert measure.reaches(case, factor * exact) is reached
        assert len(measure._spectra) == draws


def test_kernels_of_ones_own_are_estimated_from_rows_or_not_at_all():
    kernel, wide = (km.Radial(lambda r2: np.exp(-0.5 * r2), bandwidth=b) for b in (0.5, 2.0))
    mean = fitted(kernel=kernel, bandwidth="scott", k=10)
    exact = mean.certificate(X, method="exact").relative_error
    assert mean.estimated_error == pytest.approx(exact, rel=0.5)
    good = fitted(kernel=wide, bandwidth="scott", k=200)
    assert good.estimated_error is None


def test_two_standard_errors_are_kept_in_hand():
    assert Estimate(0.008, 0.001).at_most(0.01)
    assert not Estimate(0.009, 0.001).at_most(0.01)
    assert Estimate(0.013, 0.001).above(0.01)
    assert not Estimate(0.011, 0.001).above(0.01)
