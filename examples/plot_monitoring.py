"""When did a stream change, and in what?

[`DriftMonitor`][kernelmean.DriftMonitor] watches rows as they arrive, and raises an alarm when they
no longer look like those of a reference. First a machine whose changes are known, then images of
handwritten digits, among which a digit appears that was not there before, and last the same images
in the order in which they were collected. The guide is
[Monitoring a model or a sensor](../guides/monitoring.md).
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import kernelmean as km

rng = np.random.default_rng(0)
COLUMNS = ["temperature", "vibration", "load", "speed"]


def readings(n: int, warmer: float = 0.0, coupling: float = 0.8) -> np.ndarray:
    """Readings of a machine whose speed follows its load."""
    noise = rng.normal(size=(n, 4))
    noise[:, 3] *= np.sqrt(1.0 - coupling**2)
    noise[:, 3] += coupling * noise[:, 2]
    return [60 + warmer, 2, 50, 1500] + noise * [5, 0.5, 10, 100]


machine = km.DriftMonitor(readings(10_000), columns=COLUMNS, run_length=14 * 1440, random_state=0)
alarms = []
stream = [readings(2000), readings(3000, warmer=2.5), readings(2000, warmer=2.5, coupling=0.5)]
for alarm in machine.watch(stream):
    alarms.append(alarm)
    print(f"row {alarm.row}, since row {alarm.change}: {alarm.component}")
    machine.rebase()

# %%
# At row 2000 the temperature rises by half a standard deviation, and at row 5000 the speed begins
# to follow the load less closely, while no column by itself changes. The statistic is the evidence
# for a change in powers of ten. After each alarm the monitor is rebased: the rows since the change
# become what is usual, and nothing is tested until there are enough of them.
figure, ax = plt.subplots(figsize=(8.5, 3.6), layout="constrained")
km.plot.MonitorDisplay.from_monitor(machine, alarms, ax=ax)
plt.show()

# %%
# Images of handwritten digits, 8 × 8 pixels, as eight principal components. A thousand images
# without the digit zero are the reference. The stream has no zeros either, until from row 300 on a
# third of the images are zeros.
NEW, BEFORE = 0, 300
rng = np.random.default_rng(1)
X, y = load_digits(return_X_y=True)
order = rng.permutation(len(X))
known, zeros = order[y[order] != NEW], order[y[order] == NEW]
reference, usual, mixed = np.split(known, [1000, 1000 + BEFORE])
mixed = rng.permutation(np.append(mixed, zeros[: len(mixed) // 2]))
arriving = np.append(usual, mixed)

components = PCA(8).fit(X[reference])
monitor = km.DriftMonitor(
    components.transform(X[reference]),
    columns=[f"PC{i + 1}" for i in range(8)],
    run_length=2000,
    random_state=0,
)
scores = components.transform(X[arriving])
for row in scores:
    alarm = monitor.update(row)
    if alarm is not None:
        break
print(textwrap.fill(alarm.describe(), 80))
share = np.mean(y[arriving[alarm.change : alarm.row + 1]] == NEW)
print(f"of the rows from there to the alarm {share:.0%} are zeros")

# %%
# The monitor was given neither labels nor a classifier. Rows came one by one, up to the alarm.
figure, ax = plt.subplots(figsize=(8.5, 3.2), layout="constrained")
km.plot.MonitorDisplay.from_monitor(monitor, [alarm], ax=ax)
plt.show()

# %%
# What changed? The difference between the reference and the rows since the change has a region of
# which these rows hold more than the reference does. The images in it are what is new.
found = alarm.difference
print(textwrap.fill(found.describe(), 80))


def draw_images(axes: np.ndarray, images: np.ndarray, title: str) -> None:
    """The first images in a row; axes that are left stay empty."""
    for ax in axes:
        ax.axis("off")
    for ax, image in zip(axes, images, strict=False):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
    axes[0].text(0.0, 1.12, title, transform=axes[0].transAxes)


inside = found.region_labels(alarm.window) == 0
region = arriving[alarm.change : alarm.row + 1][inside]
figure, axes = plt.subplots(2, 10, figsize=(8.5, 2.5), gridspec_kw={"hspace": 0.4})
figure.subplots_adjust(left=0.01, right=0.99, bottom=0.02, top=0.88)
draw_images(axes[0], X[arriving[alarm.change :]], "the first rows since the change")
draw_images(axes[1], X[region], "rows in the region that has grown most")
plt.show()
print(f"{np.mean(y[region] == NEW):.0%} of the rows in that region are zeros")

# %%
# The file has the images in the order in which they were collected, one writer after another. Rows
# of one writer resemble each other, so that they are not independent, and every writer is a change
# against a reference of the first thousand images. In a random order the same images raise no
# alarm. A monitor cannot know which of the two is meant: the reference must hold what is usual, and
# the rows of the stream must be as independent as a false alarm is to be rare.
figure, axes = plt.subplots(2, 1, figsize=(8.5, 6.0), layout="constrained")
orders = {"in the order of the file": np.arange(len(X)), "in a random order": order}
for ax, (name, rows) in zip(axes, orders.items(), strict=True):
    scores = PCA(8).fit(X[rows[:1000]]).transform(X[rows])
    monitor = km.DriftMonitor(scores[:1000], run_length=2000, random_state=0)
    alarms = list(monitor.watch([scores[1000:]]))
    print(f"{name}: {len(alarms)} alarms in {monitor.n_seen} rows")
    km.plot.MonitorDisplay.from_monitor(monitor, alarms, ax=ax)
    ax.set_title(name, loc="right", fontsize="medium")
plt.show()
