"""When a fit warns, and what it says."""

import warnings

import numpy as np
import pytest

import kernelmean as km

X = np.random.default_rng(0).normal(size=(2000, 2))


def test_a_large_error_of_an_open_number_is_told_with_what_to_change():
    with pytest.warns(km.FitWarning, match=r"20 centres .* error of 0\.\d+; .*k_max=80") as caught:
        km.sparse_kernel_mean(X, bandwidth=0.05, k_max=20, random_state=0)
    assert caught[0].filename == __file__
    with pytest.warns(km.FitWarning, match="20 centres") as caught:
        km.SparseKDE(bandwidth=0.05, k_max=20, random_state=0).fit(X)
    assert caught[0].filename == __file__


def test_where_centres_are_many_already_another_bandwidth_is_proposed():
    few = X[:100]
    with pytest.warns(km.FitWarning, match="spread='auto'"):
        km.sparse_kernel_mean(few, bandwidth=0.02, k_max=40, spread=None, random_state=0)
    with pytest.warns(km.FitWarning, match="a wider bandwidth"):
        km.sparse_kernel_mean(few, kernel="cauchy", bandwidth=0.02, k_max=40, random_state=0)


@pytest.mark.parametrize(
    "options", [{"k": 5}, {"selection": np.arange(5)}, {"patience": 1, "selection": "kcenter"}]
)
def test_what_was_asked_for_is_only_written_down(options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mean = km.sparse_kernel_mean(X, bandwidth=0.05, random_state=0, **options)
    assert mean.estimated_error > 0.1


def test_what_becomes_of_the_estimate():
    mean = km.sparse_kernel_mean(X, bandwidth=0.5, k=40, random_state=0)
    assert f"estimated error: {mean.estimated_error:.2g})" in repr(mean)
    short = mean.truncate(10)
    assert short.estimated_error is None
    assert "estimated" not in repr(short)
    assert mean.refit(constraint="simplex").estimated_error is None
    again = mean.refit(X, bandwidth=0.3)
    exact = again.certificate(X).relative_error
    assert again.estimated_error == pytest.approx(exact, rel=0.35)
    assert km.merge([mean, mean], k=20).estimated_error is None
