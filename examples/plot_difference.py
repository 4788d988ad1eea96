"""Where do two samples differ?

[`difference`][kernelmean.difference] says whether two samples differ, where, and in which columns.
First two samples whose difference is known, then flights of Fridays and of Saturdays, then two
halves of one sample, where there is nothing to find. The guide is
[Where two samples differ](../guides/difference.md).
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km

rng = np.random.default_rng(0)
COLUMNS = ["temperature", "vibration", "load", "speed", "humidity"]


def readings(n: int, hot: float, coupling: float) -> np.ndarray:
    """Readings of a machine; some are hot, and the speed follows the load."""
    noise = rng.normal(size=(n, 5))
    noise[:, 3] *= np.sqrt(1.0 - coupling**2)
    noise[:, 3] += coupling * noise[:, 2]
    rows = [60, 2, 50, 1500, 40] + noise * [5, 0.5, 10, 100, 8]
    some = rng.random(n) < hot
    rows[some, :2] = [78, 3.8] + noise[some, :2] * [2, 0.2]
    return rows


before, after = readings(4000, 0.0, 0.7), readings(3000, 0.04, 0.5)
found = km.difference(before, after, names=("before", "after"), columns=COLUMNS, random_state=0)
print(textwrap.fill(found.describe(), 80))

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
# Flights of Fridays and of Saturdays: the minute of the day of the departure, the delay, the
# distance.
flights = km.datasets.load_flights()
weekday = flights.data[:, 3] % 7  # 1 January 2001 was a Monday
samples = [flights.data[weekday == day, :3] for day in (4, 5)]
columns, names = flights.feature_names[:3], ("Fridays", "Saturdays")
weekend = km.difference(*samples, names=names, columns=columns, random_state=0)
print(textwrap.fill(weekend.describe(), 80))

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", width_ratios=(1.3, 1))
km.plot.DifferenceDisplay.from_difference(weekend, ax=axes[0])
axes[0].set(xlim=(-40, 90))  # without the longest delays
draw_shares(axes[1], weekend)
plt.show()

# %%
# Forty times, the flights of Fridays are dealt into two halves: nothing differs but by chance.
# The map of the first of these still has colours, since its scale ends at the largest value it
# shows, but neither a region nor a typical row is on it. The p-values of the tests are spread
# evenly.
p_values, regions = [], []
for seed in range(40):
    order = np.random.default_rng(seed).permutation(len(samples[0]))
    halves = [samples[0][part] for part in np.array_split(order, 2)]
    nothing = km.difference(*halves, columns=columns, permutations=199, random_state=seed)
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
