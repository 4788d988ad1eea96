"""Figures of the guide to clusters."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km
from pages.guides._axes import panels, spots


def digits(page: Any) -> None:
    """How far the peaks stand out, and the rows in the colours of their clusters."""
    left, right = panels(2, 2.8)
    order = np.argsort(-page.tree.z)[1:]
    kept = np.isin(order, page.tree.significant(0.05).nonzero()[0])
    left.bar(np.arange(len(order)), page.tree.z[order], color=np.where(kept, "C0", "C7"))
    left.set_xticks(range(len(order)), order)
    left.set(xlabel="peak", ylabel="z", title="height above the saddle")
    spots(right, page.scores, c=plt.get_cmap("tab10")(page.digits.labels_), s=5)
    right.set(xticks=[], yticks=[], title="seven clusters of digits")


def tree(page: Any) -> None:
    """The peaks by height and saddle, and how they merge."""
    km.plot.MergeTreeDisplay.from_estimator(page.digits, ax=panels(2, 3.0))


def strays(page: Any) -> None:
    """How clearly each row belongs to its cluster."""
    ax = panels(1, 3.2, 4.6)
    rows = page.X
    drawn = spots(ax, rows, c=page.soft.strengths_[: len(rows)], cmap="viridis", s=5)
    noise = page.soft.labels_[: len(rows)] < 0
    spots(ax, rows[noise], s=36, facecolor="none", edgecolor="C3", linewidth=1, label="noise")
    ax.figure.colorbar(drawn, ax=ax, label="strength")
    ax.set(aspect="equal")
    ax.legend(frameon=False, loc="lower right")


def units(page: Any) -> None:
    """The same clusters with a column in other units and two gross rows."""
    left, right = panels(2, 2.6)
    fit = km.MeanShift(random_state=0).fit(page.foreign)
    for ax in (left, right):
        spots(ax, page.foreign, c=plt.get_cmap("tab10")(fit.labels_), s=12 if ax is left else 4)
    left.set(title="all rows", xlabel="first column", ylabel="second column")
    right.set(title="without the two gross ones", xlim=(-4, 7), ylim=(-5e4, 8e4))


def million(page: Any) -> None:
    """A few of the million rows."""
    few = np.random.default_rng(0).choice(len(page.many), 6000, replace=False)
    ax = panels(1, 2.8)
    spots(ax, page.many[few][:, [0, 1]], c=plt.get_cmap("tab10")(page.big.labels_[few]))
    ax.set(xlabel="first column", ylabel="second column", title="6000 of a million rows")
