"""Farthest-first, step by step.

Each next centre is the point farthest from the centres before it. The circle around every centre
has the covering radius: no point is outside all of them. The radius is at most twice the smallest
possible one, for every number of centres at once ([`k_center`][kernelmean.k_center]).
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from sklearn.datasets import make_moons

import kernelmean as km

X = make_moons(2000, noise=0.1, random_state=1)[0]
found = km.k_center(X, 41, first=0)
covers = [*found.radii[1:], found.cover]  # the radius of the next pick covers all points
print(
    f"covering radius: {covers[0]:.2f} with 1 centre, {covers[9]:.2f} with 10, "
    f"{covers[39]:.2f} "
    "with 40"
)

# %%
# The animation takes the centres in the order in which they were picked.
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.scatter(*X.T, s=3, color="lightgrey")
dots = axes.scatter([], [], s=18, color="tab:red", zorder=3)
axes.set(xlim=(-1.7, 2.7), ylim=(-1.3, 1.8), aspect="equal")
circles: list[plt.Circle] = []


def draw(step: int) -> None:
    for circle in circles:
        circle.remove()
    circles[:] = [
        plt.Circle(c, covers[step], fill=False, color="tab:blue", alpha=0.4)
        for c in found.points[: step + 1]
    ]
    for circle in circles:
        axes.add_patch(circle)
    dots.set_offsets(found.points[: step + 1])
    axes.set_title(f"{step + 1} centres, covering radius {covers[step]:.2f}")


animation = FuncAnimation(figure, draw, frames=40)

# %%
# The radius falls as $k^{-1/d}$, here with $d = 2$.
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
k = np.arange(1, 42)
axes.loglog(k, covers, label="farthest-first")
axes.loglog(k, covers[8] * (9 / k) ** 0.5, "--", color="grey", label="slope −1/2")
axes.set(xlabel="centres", ylabel="covering radius")
axes.legend()
plt.show()
