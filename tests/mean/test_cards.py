"""What notebooks show of means and certificates, and numbers in few digits."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

import kernelmean as km
from kernelmean import _shown


def parsed(value):
    """The card as a tree: well-formed, small, and without anything that runs or is fetched."""
    text = value._repr_html_()
    assert len(text) < 25_000
    for word in ("<script", "http", "url(", "nan", "inf'"):
        assert word not in text.lower()
    return ElementTree.fromstring(text)


def words(card):
    return " ".join(card.itertext())


def fitted(X, **options):
    return km.sparse_kernel_mean(X, engine="naive", **options)


def cloud(d, n=300):
    return np.random.default_rng(0).normal(size=(n, d))


@pytest.mark.parametrize("spread", [None, "scalar", "full"])
@pytest.mark.parametrize("d", [1, 2, 3, 30])
def test_means_of_any_dimension(spread, d):
    mean = fitted(cloud(d), k=20, spread=spread, random_state=0)
    card = parsed(mean)
    assert "SparseKernelMean" in words(card)
    kind = "polyline" if d == 1 else "circle" if spread is None else "ellipse"
    assert len(list(card.iter(kind))) == (1 if d == 1 else mean.k)


def test_a_curve_is_the_mean():
    mean = fitted(cloud(1), k=20, spread="scalar", random_state=0)
    (line,) = parsed(mean).iter("polyline")
    places = np.array([place.split(",") for place in line.get("points").split()], dtype=float)
    widths = 3.0 * np.sqrt(mean.spreads + mean.kernel.length**2)
    at = np.concatenate([mean.centers[:, 0] - widths, mean.centers[:, 0] + widths])
    mass = np.tile(mean.weights, 2) / (2.0 * mean.weights.sum())
    # The first and the last ends beyond which 2 % of the mass are.
    low = min(x for x in at if mass[at <= x].sum() >= 0.02)
    high = min(x for x in at if mass[at <= x].sum() >= 0.98)
    x = np.linspace(low, high, 120)
    values = mean(x[:, None])
    expected = 132.0 - (values - values.min()) / np.ptp(values) * 124.0
    np.testing.assert_allclose(places[:, 1], expected, atol=0.06)


def test_ellipses_are_the_spreads():
    """One atom: two standard deviations on either side fill the picture."""
    X = cloud(2, 4000) * [3.0, 1.0]
    mean = fitted(X, k=1, bandwidth=0.1, spread="full", space="l2", random_state=0)
    (mark,) = parsed(mean).iter("ellipse")
    place = [float(mark.get(name)) for name in ("cx", "cy", "rx", "ry")]
    across = sorted(place[2:], reverse=True)
    assert place[:2] == pytest.approx([110.0, 70.0], abs=0.1)
    assert across == pytest.approx([204.0 / 4.0, 124.0 / 4.0], abs=1.0)


def test_many_centres_make_no_long_card():
    full = km.kernel_mean(cloud(784, 500), engine="naive")
    assert len(list(parsed(full).iter("circle"))) == 200


def test_odd_means():
    one = fitted(np.ones((5, 3)), kernel=km.Gaussian(1.0), k=1)
    parsed(one)
    wide = fitted(1e140 * cloud(2), k=5, random_state=0)
    parsed(wide)
    signed = fitted(cloud(2), k=60, bandwidth=3.0, spread=None, random_state=0)
    assert (signed.weights < 0).any()
    hollow = [mark for mark in parsed(signed).iter("circle") if mark.get("fill") == "none"]
    assert len(hollow) == (signed.weights < 0).sum()
    users = fitted(cloud(1), kernel=km.Radial(lambda s: 1 / (1 + s)), k=5)
    parsed(users)


def test_names_are_text():
    import pandas as pd

    frame = pd.DataFrame(cloud(2), columns=["<b>&", "y"])
    density = km.SparseKDE(engine="naive", k=5, random_state=0).fit(frame)
    assert "<b>&, y" in words(parsed(density.mean_))
    bounded = km.SparseKDE(engine="naive", domain={"<b>&": (-9, None)}, k=5, random_state=0).fit(
        frame
    )
    assert "<b>& ≥ -9" in words(parsed(bounded.mean_))


@pytest.mark.parametrize("method", ["exact", "rows", "spectral"])
def test_certificates(method):
    X = cloud(2)
    mean = fitted(X, k=20, bandwidth=0.5, random_state=0)
    found = mean.certificate(X, method=method)
    card = words(parsed(found))
    assert f"{100 * found.relative_error:.3g} %" in card
    measured = found.standard_error > 0
    assert measured == (method == "spectral")  # so few rows are all taken
    assert ("±" in card) == ("±" in str(found)) == ("standard_error" in repr(found)) == measured
    parsed(km.Certificate(0.0, 0.0, 0.0, "exact", below_floor=True))
    parsed(km.Certificate(np.inf, np.inf, np.inf, "rows"))


def test_numbers_in_few_digits():
    assert repr(km.Gaussian(np.float64(0.28131234))) == "Gaussian(bandwidth=0.2813)"
    assert repr(km.Student(np.float32(3.0), 1 / 3)) == "Student(alpha=3.0, beta=0.3333)"
    assert repr(km.Cauchy(2)) == "Cauchy(beta=2)"
    assert repr(km.Laplacian(1e-9 / 3)) == "Laplacian(scale=3.333e-10)"
    shown = {
        0.0: "0.0",
        12345.678: "12346.0",
        -1.5: "-1.5",
        np.inf: "inf",
        1e20: "1e+20",
        True: "1",
    }
    assert {value: _shown.number(value) for value in shown} == shown
    assert repr(km.Certificate(1 / 3, np.float64(2 / 3), 0.0, "exact")) == (
        "Certificate(error=0.3333, relative_error=0.6667, method='exact')"
    )
    assert str(km.Certificate(1 / 3, 2 / 3, 0.0, "exact")) == "relative error 6.67e-01 (exact)"


def test_results_are_short_too():
    assert repr(km.Divergence(np.float64(1 / 3), 0.25, 2.0)) == (
        "Divergence(value=0.3333, standard_error=0.25, largest_term=2.0)"
    )
    assert len(repr(km.procrustes(cloud(2), cloud(2)))) < 400
    test = km.mmd_test(cloud(1), cloud(1) + 1.0, random_state=0, engine="naive")
    assert "np.float64" not in repr(test)
    assert f"p_value={_shown.number(test.p_value)}" in repr(test)
