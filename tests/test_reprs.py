"""Results show themselves in a line or two, with a few digits of each number."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kernelmean as km
from kernelmean import _shown
from kernelmean.embedding.differing import samples_test

RNG = np.random.default_rng(0)
A = RNG.normal(size=(300, 2))
B = A + np.array([0.8, 0.0])
CLASSES = np.repeat([0, 1], 150)
GREY = np.where(np.arange(30) < 15, 0.1, 0.9) * np.ones((20, 1))

RESULTS = {
    "a mean": lambda: km.sparse_kernel_mean(A, random_state=0),
    "a certificate": lambda: km.sparse_kernel_mean(A, random_state=0).certificate(A),
    "a mean on a domain": lambda: km.SparseKDE(domain={0: (0, None)}).fit(abs(A)).mean_,
    "a probability": lambda: km.SparseKDE().fit(A).probability([-1.0, -1.0], [1.0, 1.0]),
    "modes": lambda: km.SparseKDE().fit(A).modes(),
    "a region of highest density": lambda: km.SparseKDE().fit(A).hdr(0.9),
    "centres": lambda: km.k_center(A, 5),
    "a test": lambda: km.mmd_test(A, B),
    "a divergence": lambda: km.kl_divergence(A, B),
    "a difference": lambda: km.difference(A, B),
    "an effect": lambda: km.difference(A, B).columns[0],
    "a region": lambda: km.difference(A, B).regions[0],
    "typical rows": lambda: km.difference(A, B).typical_a,
    "histograms": lambda: km.difference(A, B).histograms,
    "peaks": lambda: km.difference(A, B).peaks(),
    "an alarm": lambda: km.DriftMonitor(A, run_length=1000.0).update(B + 2.0),
    "a segmentation": lambda: km.segment_image(GREY),
    "a tree of regions": lambda: km.segment_image(GREY).tree,
    "a clustering": lambda: km.segment_image(GREY).clustering,
    "intervals": lambda: _proportions().predict_interval(A),
    "how well a mixture explains": lambda: _proportions().goodness_of_fit(A),
    "a similarity": lambda: km.procrustes(A, B),
    "whether samples differ": lambda: samples_test([A, B]),
}


def _proportions():
    model = km.ClassProportions(bandwidth="median", random_state=0)
    return model.fit(A + 2.0 * CLASSES[:, None], CLASSES)


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_short(name):
    shown = repr(RESULTS[name]())
    assert len(shown) < 320
    assert "np." not in shown
    assert "0e+00" not in shown
    # No number has more than five digits after its leading zeros: 0.28130921 is 0.2813.
    assert not re.search(r"\d\.(?:0*)[1-9]\d{5,}", shown)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.28130921), "0.2813"),
        (np.array([1 / 3, 2.0]), "array([0.3333, 2.0])"),
        (np.eye(2, dtype=int), "array([[1, 0], [0, 1]])"),
        (np.zeros((50, 2)), "<array of shape (50, 2)>"),
        ((1 / 3,), "(0.3333,)"),
        ([1 / 3, "a"], "[0.3333, 'a']"),
        ([0] * 40, "<list of 40>"),
        (np.bool_(True), "True"),
        (None, "None"),
    ],
)
def test_entries(value, expected):
    assert _shown.entry(value) == expected
