"""A density from a stream.

`partial_fit` fits each batch on its own, with the kernel of the first, and merges it into what is
known. Memory does not grow with the number of batches. The error against the density of all points
seen so far is measured after every batch.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km

rng = np.random.default_rng(0)
batches = [rng.normal((np.cos(0.75 * t), np.sin(0.75 * t)), 0.35, (600, 2)) for t in range(8)]
stream = km.SparseKDE(bandwidth=0.15, random_state=0)
errors, sizes, seen = [], [], np.empty((0, 2))
for batch in batches:
    seen = np.concatenate([seen, batch])
    stream.partial_fit(batch)
    errors.append(stream.mean_.certificate(seen, method="spectral", random_state=0).relative_error)
    sizes.append(stream.mean_.k)
at_once = km.SparseKDE(bandwidth=0.15, random_state=0).fit(seen)
whole = at_once.mean_.certificate(seen, method="spectral", random_state=0)
print(
    f"after {len(seen)} points: relative error {errors[-1]:.2e} with {sizes[-1]} centres "
    "from "
    "the stream,"
)
print(f"{whole.relative_error:.2e} with {at_once.mean_.k} centres from all points at once")

# %%
# The drift of the data around a circle, and what the stream has learnt of it.
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
u = np.linspace(-2.2, 2.2, 120)
Q = np.stack(np.meshgrid(u, u), axis=-1).reshape(-1, 2)
axes[0].pcolormesh(u, u, np.exp(stream.score_samples(Q)).reshape(len(u), len(u)), rasterized=True)
axes[0].set(aspect="equal", title=f"density after {len(batches)} batches")
axes[1].semilogy(range(1, len(batches) + 1), errors, "o-", label="stream")
axes[1].axhline(whole.relative_error, color="grey", linestyle="--", label="all at once")
axes[1].set(xlabel="batches", ylabel="relative error (L2)")
axes[1].legend()
plt.show()
