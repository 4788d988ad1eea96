"""Mean shift: every point climbs to its peak.

Points move uphill on a sparse density, and those that end together are one cluster. The step from
$x$ is $\\sigma^2 \\nabla \\log f(x)$ for Gaussians on points, in the units of the data, so the
paths need nothing but the gradient of the log-density. [`MeanShift`][kernelmean.MeanShift] does
this with longer, safeguarded steps.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation

import kernelmean as km

rng = np.random.default_rng(0)
middles = np.array([[0.0, 0.0], [2.2, 0.4], [0.9, 2.0], [3.0, 2.4]])
X = np.concatenate(
    [
        rng.normal(m, s, (n, 2))
        for m, s, n in zip(middles, [0.45, 0.35, 0.4, 0.3], [900, 600, 700, 400], strict=True)
    ]
)
shift = km.MeanShift(spread=None, scale=None, random_state=0).fit(X)
print(
    f"{len(shift.cluster_centers_)} clusters, {shift.mean_.k} centres "
    f"for {len(X)} points, at most {shift.n_iter_} steps"
)

# %%
# The paths of 150 points, by plain steps of the same density.
paths = [X[rng.choice(len(X), 150, replace=False)]]
for _ in range(36):
    paths.append(paths[-1] + shift.bandwidth_**2 * shift.mean_.log_gradient(paths[-1]))
steps = np.array(paths)
labels = shift.predict(steps[0])

figure, axes = plt.subplots(figsize=(6, 4.2), layout="constrained")
u, v = np.linspace(-1.5, 4.2, 120), np.linspace(-1.5, 3.6, 100)
Q = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
axes.contour(
    u, v, shift.mean_(Q).reshape(len(v), len(u)), levels=12, colors="lightgrey", linewidths=0.8
)
dots = axes.scatter(*steps[0].T, s=12, c=labels, cmap="tab10")
axes.scatter(*shift.cluster_centers_.T, marker="+", s=90, color="black")
lines = [axes.plot([], [], linewidth=0.6, color="grey")[0] for _ in labels]


def draw(step: int) -> None:
    dots.set_offsets(steps[step])
    for line, path in zip(lines, steps[: step + 1].transpose(1, 2, 0), strict=True):
        line.set_data(*path)
    axes.set_title(f"step {step}")


animation = FuncAnimation(figure, draw, frames=len(steps))
