"""Small work starts no compiler: it is done before one has been imported."""

from __future__ import annotations

import pytest

from tests.test_import import loaded_by

PREPARE = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(100, 3))
"""

PIECES = {
    "weights on the simplex": """
from kernelmean.linalg import active_set
B = rng.normal(size=(50, 60))
L = np.linalg.cholesky(B @ B.T)
active_set.minimise(L, rng.normal(size=50))
""",
    "greedy picks": """
import kernelmean as km
from kernelmean.linalg.gram import gram
from kernelmean.linalg.pursuit import GreedyPursuit
radial = km.Gaussian(0.5).formula(3)
kappa = gram(radial, X, X).mean(axis=1)
assert len(GreedyPursuit(radial, True, X, kappa).take(60)) == 60
""",
    "atoms with covariances": """
import kernelmean as km
from kernelmean.coefficients.atom_slopes import slopes
from kernelmean.kernels import Atoms
from kernelmean.linalg.gram import gram
atoms = Atoms(X, np.tile(np.eye(3), (100, 1, 1)))
K = gram(km.Gaussian(0.5).formula(3), atoms, atoms)
slopes(0.25, atoms, K, np.ones(100))
""",
    "proportions": """
from kernelmean.proportions import likelihood
likelihood.expected_shares(rng.dirichlet(np.ones(3), 50))
""",
    "windows of a stream": """
from kernelmean._random import Streams
from kernelmean.monitoring import calibration, change, windows
from kernelmean.monitoring.scores import NormalScores
table = NormalScores.of(X)(X)
flat = np.full((len(windows.lengths(20)), 1), 0.8)
judge = windows.judged_by(np.array([0, 3]), np.array([0]), flat, 0.3 * flat, np.array([-1.0]))
lengths = calibration.run_lengths(table, judge, 100.0, Streams(0))
threshold = calibration.threshold_of(lengths, 100.0)
assert windows.Windows.empty(judge).add(table + 1.0, judge, threshold, False).alarmed
""",
}


# Of what users call, with 1000 rows of two columns.
CALLS = {
    "density": "km.SparseKDE().fit(X).score_samples(X)",
    "copy of a density": "km.SparseKDE(target='kde').fit(X).score_samples(X)",
    "classifier": "km.SparseKDEClassifier().fit(X, y).predict(X)",
    "outliers": "km.SparseKDEOutlierDetector().fit_predict(X)",
    "clusters": "km.MeanShift().fit(X).predict(X)",
    "embedding": "km.DistributionEmbedding().fit_transform([X[i::8] + i for i in range(8)])",
    "mean": "km.sparse_kernel_mean(X)(X)",
    "mean of the paper": "km.sparse_kernel_mean(X, selection='kcenter', patience=1)(X)",
    "refined mean": "km.sparse_kernel_mean(X, refine=5)(X)",
    "kernel with a kink": "km.sparse_kernel_mean(X, kernel='laplacian')(X)",
    "certificate": "km.sparse_kernel_mean(X).certificate(X)",
    "discrepancy": "km.mmd(X, X[:500] + 1.0)",
    "test": "km.mmd_test(X, X[:500] + 1.0)",
    "divergence": "km.kl_divergence(X[:500], X[500:] + 1.0)",
    "difference": "km.difference(X[:500], X[500:] + 1.0).describe()",
    "monitor": "km.DriftMonitor(X, run_length=1000).update(X[:100] + 3.0)",
    "SciPy's class": "km.gaussian_kde(X.T)(X.T)",
    "scikit-learn's class": "km.KernelDensity().fit(X).score_samples(X)",
    "centres": "km.k_center(X, 50)",
    "domain": "km.SparseKDE(domain={0: (-10, None)}).fit(X).score_samples(X)",
}


@pytest.mark.parametrize("piece", PIECES)
def test_no_compiler_for(piece):
    assert "numba" not in loaded_by(PREPARE + PIECES[piece])


def test_no_compiler_for_a_thousand_rows():
    """Every estimator and every measure but proportions, which train classifiers."""
    code = """
import sys, warnings
import kernelmean as km
warnings.simplefilter("ignore")
X = rng.normal(size=(1000, 2))
y = np.repeat([0, 1], 500)
for name, call in CALLS.items():
    eval(call)
    assert "numba" not in sys.modules, name
"""
    loaded_by(PREPARE + f"CALLS = {CALLS!r}" + code)
