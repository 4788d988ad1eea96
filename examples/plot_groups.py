"""Densities of the groups of a table.

[`DensityDisplay.from_data`][kernelmean.plot.DensityDisplay.from_data] takes a frame and names of
columns, as seaborn's `kdeplot` does. `hue` is the column whose values are the groups. A level is
the mass within its contour: of a density, half lies within the contour at 0.5 and nine tenths
within that at 0.9.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

import kernelmean as km

iris = load_iris(as_frame=True)
flowers = iris.frame.assign(species=iris.target_names[iris.target])
petals = {"x": "petal length (cm)", "y": "petal width (cm)"}
sepals = {"x": "sepal length (cm)", "y": "sepal width (cm)"}

# %%
# Petals tell the three species of iris apart, or nearly so; sepals only one of them.
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
regions = {"hue": "species", "levels": (0.5, 0.9), "fill": True}
for ax, columns in zip(axes, (petals, sepals), strict=True):
    km.plot.DensityDisplay.from_data(flowers, **columns, **regions, ax=ax)
plt.show()

# %%
# One column has a curve. With `common_norm`, the default, all curves together enclose an area of
# one, so that a small group has a small curve; without it each encloses one. The flowers here have
# long sepals, as fewer setosas have than others. Rows with missing values are left out.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
long = flowers[flowers["sepal length (cm)"] > 5]
for ax, common in zip(axes, (True, False), strict=True):
    km.plot.DensityDisplay.from_data(
        long, x="petal width (cm)", hue="species", fill=True, common_norm=common, ax=ax
    )
    ax.set_title(f"common_norm={common}")
plt.show()

# %%
# Lines instead of areas, and an estimator of one's own, which is fitted to each group: here the
# bandwidth is the one by which flowers that are left out are likeliest, in place of Scott's.
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
density = km.SparseKDE(target="kde", scale="cov", random_state=0)
km.plot.DensityDisplay.from_data(
    flowers, **sepals, hue="species", levels=4, estimator=density, ax=ax
)
colors = {"setosa": "C0", "versicolor": "C1", "virginica": "C2"}
places = flowers[[*sepals.values()]].to_numpy()
ax.scatter(*places.T, s=6, c=flowers["species"].map(colors))
plt.show()
