"""Three mistakes in the paper, shown.

Each cell below contradicts a formula or a recommendation of the paper by computing it. The text is
in [What the paper has wrong](../theory/errata.md).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import quad
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons

import kernelmean as km

# %%
# **The Cauchy kernel's L2 product.** The paper prints $\varphi_\beta * \varphi_\beta =
# \varphi_{2\beta}$. The scale of a Cauchy density is $\sqrt\beta$, and scales add:
# $\varphi_{4\beta}$. The integral decides.
beta = 1.3


def cauchy(x: float, beta: float) -> float:
    """The density in one dimension."""
    return float(
        np.exp(km.Cauchy(beta).log_density_constant(1)) * km.Cauchy(beta).profile(x * x, 1)
    )


for r in (0.0, 1.0, 3.0):
    integral = quad(lambda x, r=r: cauchy(x, beta) * cauchy(x - r, beta), -np.inf, np.inf)[0]
    print(
        f"r = {r:g}: integral {integral:.6f}, φ of 4β {cauchy(r, 4 * beta):.6f}, φ of 2β "
        f"{cauchy(r, 2 * beta):.6f}"
    )

# %%
# **The incremental inverse.** The paper updates $K^{-1}$ by one centre at a time. Rounding errors
# grow with the condition of $K$. The same weights by one Cholesky factor stay right. Error of both
# against the bandwidth, 100 centres.
X = make_moons(800, noise=0.2, random_state=0)[0]
X /= X.std(axis=0)


def incremental_inverse(K: np.ndarray) -> np.ndarray:
    """K⁻¹ grown by rank-one updates, as in the paper's section on automatic k."""
    inverse = np.array([[1.0 / K[0, 0]]])
    for m in range(1, len(K)):
        b = inverse @ K[:m, m]
        c = 1.0 / (K[m, m] - K[:m, m] @ b)
        inverse = np.block(
            [[inverse + c * np.outer(b, b), -c * b[:, None]], [-c * b[None], np.array([[c]])]]
        )
    return inverse


def relative_error(
    alpha: np.ndarray, K: np.ndarray, kappa: np.ndarray, squared_norm: float
) -> float:
    return float(
        np.sqrt(max(squared_norm - 2 * kappa @ alpha + alpha @ K @ alpha, 1e-16) / squared_norm)
    )


sigmas, curves = np.array([0.3, 0.5, 0.7, 1.0, 1.2]), {"incremental inverse": [], "Cholesky": []}
for sigma in sigmas:
    mean = km.sparse_kernel_mean(
        X, kernel=km.Gaussian(sigma), k=100, selection="kcenter", random_state=0
    )
    K = km.Gaussian(sigma).profile(cdist(mean.centers, mean.centers, "sqeuclidean"), 2)
    squared_norm = km.kernel_mean(X, kernel=km.Gaussian(sigma)).inner(
        km.kernel_mean(X, kernel=km.Gaussian(sigma))
    )
    curves["incremental inverse"].append(
        relative_error(incremental_inverse(K) @ mean.kappa, K, mean.kappa, squared_norm)
    )
    curves["Cholesky"].append(relative_error(mean.weights, K, mean.kappa, squared_norm))
    figures = ", ".join(f"{name} {error[-1]:.1e}" for name, error in curves.items())
    print(f"σ = {sigma:g}: condition {np.linalg.cond(K):.0e}, {figures}")
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, error in curves.items():
    axes.semilogy(sigmas, error, "o-", label=name)
axes.set(xlabel="σ", ylabel="relative error, 100 centres")
axes.legend()
plt.show()

# %%
# **The projection and the bound.** Theorem 1 speaks of optimal weights. After the paper's
# projection onto the simplex it need not hold, and the projected error can exceed the error of no
# approximation at all.
kernel = km.Gaussian(0.5)
broken = 0
for seed in range(60):
    mean = km.sparse_kernel_mean(
        X[seed::2], kernel=kernel, k=150, selection="kcenter", random_state=seed
    )
    error = (
        mean.refit(constraint="simplex-projection").certificate(X[seed::2], method="exact").error
    )
    broken += error > mean.bound
print(f"the projected weights break the bound in {broken} of 60 fits")
