"""Densities that know where values lie.

Waiting times are positive and hours come round. A density that is not told so loses mass beyond
zero, and has a step at midnight. With ``domain=`` it is zero where no value can lie, whole where
one can, and the same on both sides of midnight. The guide is
[Bounds, hours, places, categories](../guides/domains.md).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import expon, norm

import kernelmean as km

rng = np.random.default_rng(0)
HUMPS = {23.5: (1.5, 0.6), 8.0: (1.0, 0.4)}  # the middle of each, its deviation and its share


def of_hours(x: np.ndarray) -> np.ndarray:
    """The law of the hours: normal humps that come round."""
    turns = 24.0 * np.arange(-3, 4)[:, None]
    return sum(p * norm.pdf(x + turns, m, s).sum(axis=0) for m, (s, p) in HUMPS.items())


waits = rng.exponential(size=(5000, 1))
middles, widths = list(HUMPS), [s for s, _ in HUMPS.values()]
part = rng.choice(2, size=5000, p=[p for _, p in HUMPS.values()])
hours = (np.array(middles)[part] + np.array(widths)[part] * rng.normal(size=5000))[:, None] % 24.0

plain = [km.SparseKDE(random_state=0).fit(rows) for rows in (waits, hours)]
on_domain = [
    km.SparseKDE(domain={0: (0.0, None)}, random_state=0).fit(waits),
    km.SparseKDE(domain={0: km.Periodic(24.0)}, random_state=0).fit(hours),
]

# %%
# On the left are five thousand waiting times, which are exponential: the plain density bends down
# before zero and goes on beyond it, where no time is. In the middle are hours of which most are
# about midnight. To a plain density these are two humps, each of which runs out of the day. On the
# right is the same on a clock.
HIDDEN, TOLD = {"color": "C1", "linewidth": 1.6}, {"color": "teal", "linewidth": 2.0}
LAW = {"color": "black", "linewidth": 0.9, "linestyle": "--"}
x, h = np.linspace(-0.6, 4.0, 1500), np.linspace(-2.0, 26.0, 1500)
day = np.linspace(0.0, 24.0, 721)


def values(density: km.SparseKDE, at: np.ndarray) -> np.ndarray:
    """f, with gaps where it is zero."""
    found = np.exp(density.score_samples(at[:, None]))
    return np.where(found > 0.0, found, np.nan)


figure = plt.figure(figsize=(11, 4.0), layout="constrained")
left, middle = figure.add_subplot(131), figure.add_subplot(132)
clock = figure.add_subplot(133, projection="polar")

left.axvspan(-0.6, 0.0, color="0.93")
left.hist(waits[:, 0], 40, density=True, color="0.85")
left.plot(x[x >= 0.0], expon.pdf(x[x >= 0.0]), label="the law", **LAW)
left.plot(x, values(plain[0], x), label="plain", **HIDDEN)
left.plot(x, values(on_domain[0], x), label="domain={0: (0, None)}", **TOLD)
left.set(xlim=(-0.6, 4.0), xlabel="waiting time", ylabel="density", title="A bound")
left.legend(frameon=False)

middle.axvspan(-2.0, 0.0, color="0.93")
middle.axvspan(24.0, 26.0, color="0.93")
middle.hist(hours[:, 0], 48, density=True, color="0.85")
middle.plot(day, of_hours(day), label="the law", **LAW)
middle.plot(h, values(plain[1], h), label="plain", **HIDDEN)
middle.plot(day, values(on_domain[1], day), label="km.Periodic(24)", **TOLD)
middle.set(xlim=(-2, 26), ylim=(0, 0.22), xticks=range(0, 25, 6), xlabel="hour", title="A period")
middle.legend(frameon=False, loc="upper center")

angle = 2.0 * np.pi * day / 24.0
clock.set_theta_zero_location("N")
clock.set_theta_direction(-1)
clock.plot(angle, of_hours(day), **LAW)
clock.plot(angle, values(plain[1], day), **HIDDEN)
clock.plot(angle, values(on_domain[1], day), **TOLD)
clock.set_xticks(
    np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False), [f"{t}:00" for t in range(0, 24, 3)]
)
clock.set_yticks([])
clock.set_xlabel("the same hours on a clock")
plt.show()

# %%
# What is lost beyond the bounds: the mass of the plain densities that lies where no row can. Those
# on their domain have all of it inside.
lost = plain[0].cdf([0.0])[0], 1.0 - plain[1].probability([0.0], [24.0])
print(f"waits: {lost[0]:.1%} below zero; hours: {lost[1]:.1%} outside of the day")
before, after = on_domain[1].score_samples([[23.99], [0.01]])
print(f"at midnight: {np.exp(before):.3f} before, {np.exp(after):.3f} after")
