"""Figures of the guide to class proportions."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from pages.guides._axes import WIDTH, grouped_bars, panels


def digits(page: Any) -> None:
    """Some of the digits to learn from."""
    figure, axes = plt.subplots(5, 14, figsize=(WIDTH, 2.4), layout="constrained")
    for label, row in enumerate(axes):
        for ax, image in zip(row, page.train[page.y_train == label], strict=False):
            ax.imshow(image.reshape(8, 8), cmap="gray_r")
            ax.set(xticks=[], yticks=[])
    figure.get_layout_engine().set(w_pad=0.01, h_pad=0.01)


def piles(page: Any) -> None:
    """What three piles hold, as they were made and as they are counted."""
    made = [page.y_test[page.pile], page.y_test[page.pile[:50]], page.y_test[page.pile[100:]]]
    counted = page.counter.predict(page.piles)
    axes = panels(3, 2.3, sharey=True)
    for ax, labels, shares in zip(axes, made, counted, strict=True):
        truth = np.bincount(labels, minlength=5) / len(labels)
        grouped_bars(ax, {"truth": truth, "counted": shares}, range(5))
        ax.set(title=f"{len(labels)} digits", xlabel="digit")
    for ax in axes[1:]:
        ax.get_legend().remove()
    axes[0].set(ylabel="share")


def pool(page: Any) -> None:
    """How well each kind of classifier does, and each way to read shares."""
    left, right = panels(2, 2.8)
    left.barh(list(page.pool.losses_), list(page.pool.losses_.values()), color="teal")
    left.invert_yaxis()
    left.set(xlabel="loss, nats a row", title="classifiers")
    best: dict[str, float] = {}
    choice = page.counter.choice_
    for candidate, error in zip(choice.candidates, choice.errors, strict=True):
        best[candidate.solver] = min(error, best.get(candidate.solver, np.inf))
    right.barh(list(best), list(best.values()), color="C1")
    right.invert_yaxis()
    right.set(xlabel="mean absolute error", title="ways to read shares")


def own(page: Any) -> None:
    """Shares by the default and by a classifier of your own."""
    found = {"truth": page.shares, "default": page.counter.predict(page.test[page.pile])}
    found["logistic regression"] = page.mine.predict(page.test[page.pile])
    ax = panels(1, 2.3)
    grouped_bars(ax, found, range(5))
    ax.set(xlabel="digit", ylabel="share")


def raw(page: Any) -> None:
    """Shares by kernel means of pixels."""
    found = {"truth": page.shares, "kernel means": page.raw.predict(page.test[page.pile])}
    found["as in the paper"] = page.paper.predict(page.test[page.pile])
    ax = panels(1, 2.3)
    grouped_bars(ax, found, range(5))
    ax.set(xlabel="digit", ylabel="share")


def explained(page: Any) -> None:
    """What remains of the pile, and of the brighter one, beside what chance leaves."""
    left, right = panels(2, 2.3, width_ratios=(1.3, 1))
    both = (page.found, page.changed)
    grouped_bars(
        left,
        {"remains": [x.distance for x in both], "by chance": [x.expected_distance for x in both]},
        ["the pile", "brighter"],
    )
    left.set(ylabel="distance")
    images = [rows[0].reshape(8, 8) for rows in (page.test[page.pile], page.brighter)]
    right.imshow(np.hstack([images[0], np.zeros((8, 1)), images[1]]), cmap="gray_r", vmin=0, vmax=1)
    right.set(xticks=[], yticks=[], title="a digit, and brighter")
