"""Centres that leave the data.

With the weights eliminated, the error depends on the positions of the centres alone, and its
gradient costs one more kernel sum. `refine=N` takes N steps of L-BFGS down that gradient. The
number of centres, and so the cost of an evaluation, stays.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

import kernelmean as km

X = make_moons(3000, noise=0.15, random_state=0)[0]
kernel = km.Gaussian(0.2)
steps = [0, 5, 10, 20, 40, 80]
errors = {}
for name in ("kcenter", "greedy", "kmeans"):
    means = [
        km.sparse_kernel_mean(X, kernel=kernel, k=50, selection=name, refine=n, random_state=0)
        for n in steps
    ]
    errors[name] = [mean.certificate(X, method="exact").relative_error for mean in means]
    print(f"{name:8} {errors[name][0]:.3f} → {errors[name][-1]:.4f} after {steps[-1]} steps")
    if name == "greedy":
        before, after = means[0], means[-1]

# %%
# On the left greedy centres before (grey) and after (red). On the right the error against the
# number of steps.
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
axes[0].scatter(*X.T, s=1, color="lightgrey")
axes[0].scatter(*before.centers.T, s=14, color="grey")
axes[0].scatter(*after.centers.T, s=14, color="tab:red")
axes[0].set_aspect("equal")
for name, error in errors.items():
    axes[1].semilogy(steps, error, "o-", markersize=4, label=name)
axes[1].set(xlabel="steps", ylabel="relative error, 50 centres", ylim=(None, 1.0))
axes[1].legend()
plt.show()
