"""Bands of quantiles from one density.

How long does a trip take, if its distance is known? A density of distance and minutes answers for
every distance at once: [`conditional`][kernelmean.SparseKDE.conditional] is the density of the
minutes there, a small mixture of Gaussians whose quantiles are exact. Some people walk and some
take a bicycle, so there are two humps, and both widen with the distance. The guide is
[Ask a density anything](../guides/questions.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km

rng = np.random.default_rng(0)
MODES = {"on foot": (0.0, 12.0), "by bicycle": (3.0, 4.0)}  # minutes to start, and per kilometre
NOISE = 0.12  # of the logarithm of the minutes


def walking(distance: np.ndarray) -> np.ndarray:
    """The share of those who walk."""
    return 1.0 / (1.0 + np.exp(2.0 * (distance - 2.2)))


def truth(minutes: np.ndarray, distance: float) -> np.ndarray:
    """The density of the minutes at a distance, by the law that makes the data."""
    shares = walking(distance), 1.0 - walking(distance)
    total = np.zeros_like(minutes)
    for share, (start, pace) in zip(shares, MODES.values(), strict=True):
        z = np.log(minutes / (start + pace * distance)) / NOISE
        total += share * np.exp(-0.5 * z**2) / (np.sqrt(2.0 * np.pi) * NOISE * minutes)
    return total


distance = rng.gamma(3.0, 0.8, 10_000)
middles = [start + pace * distance for start, pace in MODES.values()]
minutes = np.where(rng.random(len(distance)) < walking(distance), *middles)
minutes *= np.exp(NOISE * rng.normal(size=len(distance)))
density = km.SparseKDE(random_state=0).fit(np.column_stack([distance, minutes]))
print(density.mean_)

# %%
# The wide band holds 90 % of the trips of each distance, and the line is their median. Where both
# ways are common, the median crosses from one hump to the other, through times that few trips take.
# The band does the same where fewer than 5 % walk. On the right is the density at two distances,
# with the law that made the data as a dashed line. The bars below it are the smallest regions with
# 90 %, which leave out the gap between the humps.
places = np.linspace(0.3, 5.0, 120)
levels = [0.05, 0.25, 0.5, 0.75, 0.95]
bands = np.array([density.conditional({0: place}).quantile(levels) for place in places]).T
shown = {1.5: "C0", 3.0: "C1"}

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4.4), layout="constrained", width_ratios=(1.25, 1)
)
left.scatter(distance, minutes, s=2.5, color="0.75", linewidth=0, rasterized=True)
left.fill_between(places, bands[0], bands[4], color="teal", alpha=0.15, linewidth=0, label="90 %")
left.fill_between(places, bands[1], bands[3], color="teal", alpha=0.3, linewidth=0, label="50 %")
left.plot(places, bands[2], color="teal", linewidth=2.0, label="median")
for place, ink in shown.items():
    left.axvline(place, color=ink, linewidth=1.2, linestyle=":")
left.set(xlim=(0.3, 5.0), ylim=(0, 60), xlabel="distance (km)", ylabel="minutes")
left.legend(loc="upper left", frameon=False)

at = np.linspace(1.0, 50.0, 500)
for row, (place, ink) in enumerate(shown.items()):
    part = density.conditional({0: place})
    values = np.exp(part.score_samples(at[:, None]))
    right.fill_between(at, values, color=ink, alpha=0.15, linewidth=0)
    right.plot(at, values, color=ink, label=f"at {place:g} km")
    dashed = {"color": "black", "linewidth": 0.9, "linestyle": "--"}
    right.plot(at, truth(at, place), **dashed, label="by the law" if row else None)
    for ends in part.hdr(0.9).intervals:
        right.plot(ends, [-0.006 - 0.008 * row] * 2, color=ink, linewidth=4, solid_capstyle="butt")
right.text(49.0, -0.01, "90 %", ha="right", va="center")
right.set(xlim=(0, 50), xlabel="minutes", ylabel="density", yticks=[0.0, 0.05, 0.1, 0.15, 0.2])
right.legend(frameon=False)
plt.show()

# %%
# The share of the trips that take no more than 20 minutes, by the density and by the law.
for place in (1.0, 2.0, 3.0, 4.0):
    found = density.conditional({0: place}).cdf([20.0])[0]
    grid = np.linspace(0.1, 20.0, 2001)
    exact = np.trapezoid(truth(grid, place), grid)
    print(f"at {place:g} km: {found:.2f}, by the law {exact:.2f}")
