"""Centres with a width.

A point centre needs a kernel that reaches to the next centre. Where the kernel is narrow, forty
points are forty bumps. The same forty centres as small Gaussians, each with the mean and the
variance of the points nearest to it, follow the density at the same bandwidth.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

import kernelmean as km

X = make_moons(5000, noise=0.1, random_state=0)[0]
options = {"kernel": km.Gaussian(0.06), "space": "l2", "constraint": "simplex", "random_state": 0}
full = km.kernel_mean(X, kernel=km.Gaussian(0.06), space="l2")
kinds = {"points": None, "scalar spreads": "scalar", "full spreads": "full"}
sizes = [10, 20, 40, 80, 160]
means, errors = {}, {}
for name, spread in kinds.items():
    fits = {k: km.sparse_kernel_mean(X, k=k, spread=spread, **options) for k in sizes}
    means[name] = fits[40]
    errors[name] = [mean.certificate(X).relative_error for mean in fits.values()]
    print(f"{name:15} relative error with 40 centres: {errors[name][2]:.3f}")

# %%
# Forty points, and forty atoms with their widths, beside the density of all 5000 points.
figure, axes = plt.subplots(2, 2, figsize=(9, 5.5), layout="constrained", sharex=True, sharey=True)
for ax, (name, mean) in zip(axes.flat, {**means, "all points": full}.items(), strict=True):
    km.plot.DensityDisplay.from_mean(mean, ax=ax, centers=mean is not full)
    ax.set(title=name, xlabel="", ylabel="")
plt.show()

# %%
# The error against the number of centres.
figure, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
for name, error in errors.items():
    ax.loglog(sizes, error, "o-", markersize=4, label=name)
ax.set(xlabel="centres", ylabel="relative error")
ax.legend()
plt.show()
