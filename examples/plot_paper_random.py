"""The paper's comparison with random centres, in small.

Error against $k$ on two crescents, over twelve starts: farthest-first (the paper's method) and
random rows, both with optimal weights. Random rows are better while there are few centres;
farthest-first overtakes once its centres cover the data. Dots mark where the paper's stopping rule
ends each run ($\\varepsilon = 10^{-9}$, one step).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import kernelmean as km

X = make_moons(3000, noise=0.25, random_state=0)[0]
X /= X.std(axis=0)
kernel = km.Gaussian(0.31)
full = km.kernel_mean(X, kernel=kernel)
squared_norm = full.inner(full)
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
for selection, color in (("kcenter", "tab:blue"), ("random", "tab:orange")):
    curves, stops = [], []
    for start in range(12):
        mean = km.sparse_kernel_mean(
            X, kernel=kernel, selection=selection, k=300, random_state=start
        )
        curves.append(np.sqrt(np.maximum(squared_norm + mean.indicator, 0) / squared_norm))
        stop = km.sparse_kernel_mean(
            X,
            kernel=kernel,
            selection=selection,
            k_max=3000,
            tol=1e-9,
            patience=1,
            random_state=start,
        )
        stops.append(
            (stop.k, float(np.sqrt(max(squared_norm + stop.indicator[-1], 0) / squared_norm)))
        )
    middle, k0 = np.median(curves, axis=0), np.array(stops)
    few, many = middle[29], middle[249]
    print(
        f"{selection:8} median relative error {few:.2f} at k = 30, "
        f"{many:.1e} at k = 250; mean "
        f"k0 {k0[:, 0].mean():.0f}"
    )
    axes.semilogy(
        np.arange(1, 301),
        middle,
        color=color,
        label="farthest-first" if selection == "kcenter" else "random",
    )
    axes.fill_between(
        np.arange(1, 301), np.min(curves, axis=0), np.max(curves, axis=0), color=color, alpha=0.2
    )
    axes.plot(*k0.T, "o", color=color, markersize=4)
axes.set(xlabel="centres", ylabel="relative error", xlim=(0, 420))
axes.legend()
plt.show()
