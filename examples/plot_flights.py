"""Twenty thousand flights: a density, its questions, its outliers.

Each flight has the minute of the day of its departure, its delay, its distance and its day. The
density by likelihood, [`SparseKDE`][kernelmean.SparseKDE], of departures and delays is a sum of few
Gaussians; ellipses show where they are and how wide.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km

flights = km.datasets.load_flights().data
hours, delays = flights[:, 0] / 60, flights[:, 1]
density = km.SparseKDE(random_state=0).fit(np.column_stack([hours, delays]))
u, v = np.linspace(4, 24, 160), np.linspace(-35, 75, 140)
Q = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
values = density.score_samples(Q).reshape(len(v), len(u))

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
axes[0].scatter(hours[::2], delays[::2], s=1, alpha=0.3, rasterized=True)
axes[0].set(title=f"{len(flights)} flights", xlabel="departure, hour", ylabel="delay, minutes")
axes[0].set(xlim=(4, 24), ylim=(-35, 75))
axes[1].pcolormesh(u, v, np.exp(values), rasterized=True)
turn = np.linspace(0, 2 * np.pi, 60)
circle = np.stack([np.cos(turn), np.sin(turn)])
mixture = density.to_gaussian_mixture()
for middle, covariance in zip(mixture.means_, mixture.covariances_, strict=True):
    axes[1].plot(*(middle[:, None] + np.linalg.cholesky(covariance) @ circle), color="w", lw=0.5)
axes[1].set(title=f"their density by {density.mean_.k} atoms", xlabel="departure, hour")
axes[1].set(xlim=(4, 24), ylim=(-35, 75))
plt.show()

# %%
# What the density says of the delay at each hour: the median, and where half and nine tenths of the
# flights lie. No second model is fitted; these are conditionals of the one above.
every = np.linspace(6, 23, 18)
levels = [0.05, 0.25, 0.5, 0.75, 0.95]
bands = np.array([density.conditional({0: hour}).quantile(levels) for hour in every]).T
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.fill_between(every, bands[0], bands[4], alpha=0.25, color="tab:blue", label="nine tenths")
ax.fill_between(every, bands[1], bands[3], alpha=0.45, color="tab:blue", label="half")
ax.plot(every, bands[2], color="tab:blue", label="median")
ax.set(xlabel="departure, hour", ylabel="delay, minutes")
ax.legend(loc="upper left")
plt.show()

# %%
# One flight in a thousand is to be flagged by all four columns.
train, new = flights[::2], flights[1::2]
detector = km.SparseKDEOutlierDetector(contamination=0.001, random_state=0).fit(train)
strange = detector.predict(new) == -1
print(f"{strange.sum()} of {len(new)} new flights are flagged")
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharey=True)
for ax, column, name in zip(axes, (0, 2), ("departure, minute", "distance, miles"), strict=True):
    ax.scatter(new[:, column], new[:, 1], s=2, color="grey", alpha=0.4, rasterized=True)
    ax.scatter(new[strange, column], new[strange, 1], s=28, color="tab:red", label="flagged")
    ax.set_xlabel(name)
axes[0].set_ylabel("delay, minutes")
axes[0].legend(loc="upper left")
plt.show()
