"""The naive engine, which judges the others: by formulas written out, and by itself alone."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kernelmean as km
from tests import brute
from tests.engines.cases import CLOUDS, KERNELS, cloud_with_gaps

naive = km.engines.open("naive")

EVERY_OPERATION = """
import numpy as np
import kernelmean as km
import kernelmean.engines.naive as naive

X = np.random.default_rng(0).normal(size=(40, 2))
cloud = naive.Engine().load(X, np.ones(40))
radial, decay = km.Gaussian(1.0).radial(2, "rkhs"), km.Laplacian(1.0).decay(2)
cloud.kernel_sum(radial, X), cloud.kernel_moments(radial, X), cloud.log_kernel_sum(radial, X)
cloud.shift(decay, X), cloud.quadratic(radial), cloud.fourier_sum(X, X[0])
cloud.rows(np.arange(3)), cloud.locate(np.array([0.5]))
walk, near = cloud.traverse(0), cloud.nearest(X[:3])
walk.take(5), near.add(X[4:6]), near.masses(), near.means()
for distances in (walk.distances(), near.distances()):
    distances.cover, distances.values(), distances.coincident(), distances.mean(np.sqrt)
    distances.draw(0.5), distances.draws(np.array([0.1, 0.2]))
summary = cloud.summary
summary.mean, summary.std, summary.covariance, summary.quantiles(np.array([0.5]))
summary.quantile_range(0.25, 0.75)
"""


@pytest.mark.parametrize("code", ["import kernelmean.engines.naive", EVERY_OPERATION])
def test_the_judge_needs_no_compiler_and_no_other_engine(code):
    """Neither Numba nor torch nor the modules of another engine, from the import to the last
    operation.
    """
    foreign = (
        "[name for name in sys.modules if name.partition('.')[0] in ('numba', 'torch', 'dask') or "
        "name.startswith(('kernelmean.compiled', 'kernelmean.engines.cpu', "
        "'kernelmean.engines.gpu', 'kernelmean.engines.parts'))]"
    )
    env = os.environ | {"PYTHONPATH": str(Path(km.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint({foreign})"],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "name", ["lattice 2-D", "lattice of steps 0.1", "duplicates", "normal 2-D", "binary 64-D"]
)
def test_the_naive_traversal_is_gonzalez(name):
    """THEORY §2.1 written out in Python floats, coordinate by coordinate: lowest index on ties."""
    X, k = CLOUDS[name]
    X, k = X[:400], min(k, 60)
    rows = X.tolist()

    def squared(a, b):
        total = 0.0
        for s, t in zip(a, b, strict=True):
            total += (s - t) * (s - t)
        return total

    order, radii = [0], [math.inf]
    nearest = [squared(rows[0], row) for row in rows]
    while len(order) < k and max(nearest) > 0:
        j = nearest.index(max(nearest))
        order.append(j)
        radii.append(math.sqrt(nearest[j]))
        nearest = [min(old, squared(rows[j], row)) for old, row in zip(nearest, rows, strict=True)]
    picks = naive.load(X).traverse(0).take(k)
    assert picks.indices.tolist() == order
    assert picks.radii.tolist() == radii


@pytest.mark.parametrize("name", KERNELS)
def test_the_step_of_mean_shift_is_the_quotient_of_two_sums(name):
    """Σ wψ(x − q)/Σ wψ and log Σ wφ, written plainly; at a kink the point itself is held apart."""
    d = 3
    X, Q, w = cloud_with_gaps(40, d)
    kernel = KERNELS[name](d)
    found = naive.load(X).shift(kernel.decay(d), Q, w)
    r2 = brute.squared_distances(Q, X)
    pulls = kernel.decay(d)(r2) * w
    np.testing.assert_allclose(found.log_value, np.log(kernel.profile(r2, d) @ w), rtol=1e-13)
    np.testing.assert_allclose(found.log_pull, np.log(pulls.sum(axis=1)), rtol=1e-13)
    np.testing.assert_allclose(found.step, pulls @ X / pulls.sum(axis=1)[:, None] - Q, atol=1e-14)
    at_a_point = np.log(np.array([w[0], w[2]]))
    held = np.full(7, -np.inf)
    if name == "laplacian":
        held[[0, 2]] = at_a_point  # the weight of the second point is zero
    np.testing.assert_allclose(found.log_held, held)
