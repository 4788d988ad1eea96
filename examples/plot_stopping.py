"""When to stop: one small step is no evidence.

The fit stops when a further centre hardly lowers the error indicator: $y_m^2 \\le \\varepsilon
\\sum_{i=2}^m y_i^2$. The paper stops at the first such step. But $y_m$ changes sign on its way
down, so it is small by accident long before the end. `patience` asks for several small steps in a
row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import kernelmean as km

X = make_moons(2000, noise=0.2, random_state=0)[0]
options = {"kernel": km.Gaussian(0.2), "selection": "kcenter", "k_max": 600}
mean = km.sparse_kernel_mean(X, tol=1e-12, random_state=0, **options)
squares = -np.diff(mean.indicator)  # y_m² for m = 2, 3, …
share = squares / np.cumsum(squares)
figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
axes.semilogy(np.arange(2, mean.k + 1), np.maximum(share, 1e-16), linewidth=0.8)
for patience, color in ((1, "tab:red"), (10, "tab:green")):
    stop = km.sparse_kernel_mean(X, tol=1e-9, patience=patience, random_state=0, **options)
    axes.axvline(stop.k, color=color, label=f"patience={patience}: k = {stop.k}")
axes.axhline(1e-9, color="grey", linestyle="--", linewidth=0.8)
axes.set(
    xlabel="m",
    ylabel="$y_m^2 / \\sum y_i^2$",
    title="the steps of one fit; the dashed line is tol = 1e-9",
)
axes.legend()
plt.show()

# %%
# Twelve fits that differ in their first centre only, at three tolerances. With `patience=1` the
# error at the stop depends on luck. With the default of ten it does not.
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for patience, marker, color in ((1, "x", "tab:red"), (10, "o", "tab:green")):
    for tol in (1e-6, 1e-8, 1e-10):
        fits = [
            km.sparse_kernel_mean(X, tol=tol, patience=patience, random_state=s, **options)
            for s in range(12)
        ]
        error = [fit.certificate(X, method="exact").relative_error for fit in fits]
        print(
            f"patience={patience}, tol={tol:.0e}: k from {min(f.k for f in fits)} to "
            f"{max(f.k for f in fits)}, "
            f"relative error from {min(error):.1e} to {max(error):.1e}"
        )
        label = f"patience={patience}" if tol == 1e-6 else None
        axes.loglog(
            [f.k for f in fits], error, marker, color=color, alpha=0.7, markersize=5, label=label
        )
axes.set(xlabel="centres at the stop", ylabel="relative error at the stop")
axes.legend()
plt.show()
