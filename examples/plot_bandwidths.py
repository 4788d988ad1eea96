"""Bandwidth rules side by side.

All rules follow the scale of the data. `scott` and `silverman` fit one hump and smooth two away.
`likelihood` leaves one point out at a time and finds the scale that predicts it best. `iqr` and
`median` are scales of the data, made for comparing samples, not for densities. Without a rule there
is no common scale: [`SparseKDE`][kernelmean.SparseKDE] then fits a few Gaussians, each with a width
of its own.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km

rng = np.random.default_rng(0)


def draw(n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.7, rng.normal(0.0, 0.3, n), rng.normal(3.0, 0.6, n))[:, None]


X, new = draw(5000), draw(5000)
fits = {
    rule: km.SparseKDE(bandwidth=rule, scale=None, random_state=0).fit(X)
    for rule in ("likelihood", "silverman", "scott", "mode", "iqr", "median")
}
for rule, fit in fits.items():
    print(
        f"{rule:10} σ = {fit.bandwidth_:.3f}, log-likelihood of new points "
        f"{fit.score(new) / len(new):+.4f}"
    )
likeliest = km.SparseKDE(random_state=0).fit(X)
print(
    f"no rule    {likeliest.mean_.k} Gaussians, log-likelihood of new points "
    f"{likeliest.score(new) / len(new):+.4f}"
)

# %%
# The widest kernels show one hump where there are two.
x = np.linspace(-2, 6, 400)[:, None]
figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
axes.hist(X[:, 0], bins=120, density=True, color="gainsboro")
for rule, fit in fits.items():
    axes.plot(x, np.exp(fit.score_samples(x)), label=f"{rule}, {fit.bandwidth_:.2f}", linewidth=1.2)
axes.plot(x, np.exp(likeliest.score_samples(x)), "k--", label="no rule", linewidth=1.2)
axes.legend(title="rule, σ", fontsize=8)
plt.show()
