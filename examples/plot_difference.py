"""Where do two samples differ?

[`difference`][kernelmean.difference] says whether two samples differ, where, and in which columns.
First two samples whose difference is known, then two lake waters in a flow cytometer, then two
halves of one sample, where there is nothing to find. The guide is
[Where two samples differ](../guides/difference.md).
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km

rng = np.random.default_rng(0)
COLUMNS = ["temperature", "vibration", "load", "speed", "humidity"]


def readings(n: int, hot: float, coupling: float) -> np.ndarray:
    """Readings of a machine; some are hot, and the speed follows the load."""
    noise = rng.normal(size=(n, 5))
    noise[:, 3] = coupling * noise[:, 2] + np.sqrt(1.0 - coupling**2) * noise[:, 3]
    rows = [60, 2, 50, 1500, 40] + noise * [5, 0.5, 10, 100, 8]
    some = rng.random(n) < hot
    rows[some, :2] = [78, 3.8] + noise[some, :2] * [2, 0.2]
    return rows


before, after = readings(4000, 0.0, 0.7), readings(3000, 0.04, 0.5)
found = km.difference(before, after, names=("before", "after"), columns=COLUMNS, random_state=0)
print(found.describe())

# %%
# Two things have changed: four of a hundred readings are hot, and the speed follows the load less
# closely. Blue is where there is more before, orange where there is more after. Ellipses are the
# regions that were found, and dots are typical rows. The change on the right is spread over most of
# the plane, and only at its corners are there regions: it is the columns that tell it.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, plane in zip(axes, (("temperature", "vibration"), ("load", "speed")), strict=True):
    km.plot.DifferenceDisplay.from_difference(found, columns=plane, ax=ax)
plt.show()

# %%
# How much of the difference lies in each column, and in each pair of columns beyond the two by
# themselves, with intervals of 95 %.


def draw_shares(ax: plt.Axes, difference: km.Difference) -> None:
    """The columns and the largest pairs as bars."""
    effects = [*difference.columns, *difference.pairs[:3]]
    at = np.arange(len(effects))
    shares = np.array([effect.share for effect in effects])
    ends = np.array([(effect.low, effect.high) for effect in effects])
    inks = ["C0" if len(effect.columns) == 1 else "C1" for effect in effects]
    ax.barh(at, shares, color=inks, alpha=0.6)
    ax.hlines(at, *ends.T, color="black", linewidth=1.2)
    ax.set(xlabel="share of the difference", xlim=(0, 1.05 * ends.max()))
    ax.set_yticks(at, [" and ".join(effect.columns) for effect in effects])
    ax.invert_yaxis()


figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
draw_shares(ax, found)
plt.show()

# %%
# Two lake waters, Z14039F and Z14055F, in a flow cytometer: each row is a particle, seen in four
# channels. The data is read where `KERNELMEAN_DATA` names the folder that holds it; without it a
# made-up mixture of four kinds of particles stands in.


def waters() -> tuple[list[np.ndarray], list[str]]:
    """Two samples, and the names of their columns."""
    if "KERNELMEAN_DATA" not in os.environ:
        middles = np.array([[9, 7, 8, 9.5], [11, 9, 9, 10], [9.5, 8, 8.5, 9.7], [10, 7, 8, 9]])
        shares = ([0.55, 0.1, 0.25, 0.1], [0.35, 0.35, 0.2, 0.1])
        kinds = [middles[rng.choice(4, 10_000, p=share)] for share in shares]
        return [part + 0.4 * rng.normal(size=part.shape) for part in kinds], list("wxyz")
    folder = Path(os.environ["KERNELMEAN_DATA"]) / "flow_lakes36"
    with np.load(folder / "flow_lakes36.npz") as file:
        cells, offsets = np.arcsinh(file["X"]), file["offsets"]
        parts = [np.flatnonzero(file["water"] == name)[0] for name in ("Z14039F", "Z14055F")]
        return [cells[offsets[i] : offsets[i + 1]] for i in parts], file["channels"].tolist()


samples, channels = waters()
lakes = km.difference(*samples, names=("Z14039F", "Z14055F"), columns=channels, random_state=0)
print(lakes.describe())

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", width_ratios=(1.3, 1))
km.plot.DifferenceDisplay.from_difference(lakes, ax=axes[0])
axes[0].set(xlim=(7, 13.5), ylim=(5, 11.5))  # without the long tails of the channels
draw_shares(axes[1], lakes)
plt.show()

# %%
# Forty times, the rows of the first water are dealt into two halves: nothing differs but by chance.
# The map of the first of these still has colours, since its scale ends at the largest value it
# shows, but neither a region nor a typical row is on it. The p-values of the tests are spread
# evenly.
p_values, regions = [], []
for seed in range(40):
    order = np.random.default_rng(seed).permutation(len(samples[0]))[:4000]
    halves = samples[0][order[:2000]], samples[0][order[2000:]]
    nothing = km.difference(*halves, columns=channels, permutations=199, random_state=seed)
    p_values.append(nothing.test.p_value)
    regions.append(len(nothing.regions))
    if seed == 0:
        first = nothing
print(f"{np.sum(np.array(p_values) <= 0.05)} of 40 tests reject at a level of 5 %")
print(f"{np.sum(np.array(regions) > 0)} of 40 comparisons find a region")

figure, axes = plt.subplots(1, 2, figsize=(10, 4.0), layout="constrained")
km.plot.DifferenceDisplay.from_difference(first, ax=axes[0])
axes[1].plot(np.sort(p_values), (np.arange(40) + 1) / 40, drawstyle="steps-post")
axes[1].plot([0, 1], [0, 1], color="grey", linestyle="--")
axes[1].set(xlabel="p-value", ylabel="share with at most that")
plt.show()
