"""Four kernels of equal half-width.

A rule gives the σ of a Gaussian. The other kernels take the scale with the same half-maximum
radius, so that all four smooth by the same amount near a point and differ in their tails.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km

r = np.linspace(0.0, 6.0, 300)
kernels = [km.Gaussian(1.0), km.Laplacian(1.0), km.Student(3.0, 1.0), km.Cauchy(1.0)]
matched = [kernel.matching(1.0, 2) for kernel in kernels]
for kernel in matched:
    print(
        f"{kernel}: φ(0) = {np.exp(kernel.log_density_constant(2)):.4f}",
        "as a density in the plane",
    )

# %%
# On a logarithmic axis the tails tell them apart. A heavy tail makes outliers count more, and needs
# more centres far out.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for kernel in matched:
    axes[0].plot(r, kernel.profile(r**2, 2), label=kernel.name)
    axes[1].semilogy(r, kernel.inner(r**2, 2, "l2") / kernel.inner(0.0, 2, "l2"), label=kernel.name)
axes[0].axhline(0.5, color="grey", linewidth=0.5)
axes[0].set(xlabel="distance", title="φ/φ(0): the inner product in the RKHS")
axes[1].set(xlabel="distance", title="g/g(0) in L2: φ convolved with φ", ylim=(1e-4, 1.5))
axes[0].legend()
plt.show()

# %%
# How well 100 centres do with each kernel, for 2000 points in the plane. A smooth kernel is easier
# to approximate than one with a kink at every point.
X = np.random.default_rng(0).normal(size=(2000, 2))
for kernel in matched:
    mean = km.sparse_kernel_mean(X, kernel=kernel.matching(0.5, 2), k=100, random_state=0)
    error = mean.certificate(X, method="exact").relative_error
    print(f"{kernel.name:9} relative error {error:.1e}")
