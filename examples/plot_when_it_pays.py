"""When it pays, and when not.

Time to fit a density to $n$ points and to evaluate it at all of them, beside SciPy's
`gaussian_kde`, which sums over all points. A copy of that sum needs centres and weights; the
default, the likeliest density, a search that takes its time at any size. For few points the full
sum is quicker: use it. Times are those of the machine that built this page, best of two,
compilation apart.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import fftconvolve
from scipy.stats import gaussian_kde

import kernelmean as km

rng = np.random.default_rng(0)


def seconds(work) -> float:
    """The best of two runs."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


sizes = [100, 300, 1000, 2000, 5000]
table = {"SparseKDE, a copy": [], "SparseKDE": [], "gaussian_kde": []}
for n in sizes:
    X = rng.normal(size=(n, 2))
    table["SparseKDE, a copy"].append(
        seconds(lambda X=X: km.SparseKDE(bandwidth="scott", random_state=0).fit(X).score_samples(X))
    )
    table["SparseKDE"].append(
        seconds(lambda X=X: km.SparseKDE(random_state=0).fit(X).score_samples(X))
    )
    table["gaussian_kde"].append(seconds(lambda X=X: gaussian_kde(X.T).logpdf(X.T)))
for name, times in table.items():
    print(
        f"{name:18}" + ", ".join(f" n = {n}: {t:.3f} s" for n, t in zip(sizes, times, strict=True))
    )
figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for name, times in table.items():
    axes.loglog(sizes, times, "o-", label=name)
axes.set(xlabel="points, and queries", ylabel="seconds")
axes.legend()
plt.show()

# %%
# One dimension, values on a grid. A histogram and one convolution do it in a few milliseconds,
# whatever the number of points. KDEpy's `FFTKDE` is that, done well. Do not use this library there.
x = np.concatenate([rng.normal(0.0, 1.0, 300_000), rng.normal(4.0, 0.5, 100_000)])
edges = np.linspace(-6.0, 8.0, 2049)
grid, width, sigma = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0], 0.1


def by_convolution() -> np.ndarray:
    counts = np.histogram(x, edges)[0] / (len(x) * width)
    steps = np.arange(-400, 401) * width
    return fftconvolve(
        counts,
        np.exp(-0.5 * (steps / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi)) * width,
        mode="same",
    )


def by_centres() -> np.ndarray:
    return np.exp(
        km.SparseKDE(bandwidth=sigma, random_state=0).fit(x[:, None]).score_samples(grid[:, None])
    )


times = seconds(by_convolution), seconds(by_centres)
print(
    f"{len(x)} points on {len(grid)} nodes: {times[0]:.3f} s by convolution, "
    f"{times[1]:.3f} s by "
    "centres"
)
print(
    f"largest difference {np.abs(by_convolution() - by_centres()).max():.1e}, "
    f"of a peak of {by_centres().max():.2f}"
)
