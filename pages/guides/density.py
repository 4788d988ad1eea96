"""Figures of the guide to densities."""

from __future__ import annotations

from typing import Any

import numpy as np

from pages.guides._axes import panels


def gains(page: Any) -> None:
    """By how much each new flight is likelier under the sparse density."""
    rows = page.new[::20]
    gained = page.density.score_samples(rows) - page.exact.score_samples(rows)
    ax = panels(1, 2.4)
    ax.hist(gained, bins=np.linspace(-3.0, 4.0, 71), color="teal")
    ax.axvline(0.0, color="black", linewidth=1)
    ax.axvline(gained.mean(), color="C3", linewidth=2, label=f"mean {gained.mean():+.2f}")
    ax.set(xlabel="log-density, density by likelihood less exact estimate", ylabel="flights")
    ax.legend(frameon=False)


def copies(page: Any) -> None:
    """The four densities on the same new flights."""
    rows = page.new[::20]
    base = page.exact.score_samples(rows)
    shown = {
        "a copy, Scott's rule": page.copy,
        "a copy, the rule by likelihood": page.narrower,
        "the likeliest density": page.density,
    }
    gained = [density.score_samples(rows) - base for density in shown.values()]
    ax = panels(1, 1.8)
    errors = [values.std() / len(rows) ** 0.5 for values in gained]
    ax.barh(list(shown), [values.mean() for values in gained], xerr=errors, color="teal")
    ax.axvline(0.0, color="black", linewidth=1)
    ax.invert_yaxis()
    ax.set(xlabel="nats per new flight, ahead of the exact estimate")


def late(page: Any) -> None:
    """The share of late flights by the hour, as the classifier and as the new flights have it."""
    hours = np.arange(6, 24)
    said = page.classifier.predict_proba(page.new[:, [0, 2, 3]])[:, 1]
    of_hour = [page.new[:, 0] // 60 == hour for hour in hours]
    ax = panels(1, 2.4)
    ax.plot(hours + 0.5, [said[these].mean() for these in of_hour], color="teal", label="predicted")
    seen = [(page.new[these, 1] > 15).mean() for these in of_hour]
    ax.plot(hours + 0.5, seen, "o", color="C3", markersize=4, label="new flights")
    ax.set(xlabel="hour of departure", ylabel="share that is late", ylim=(0, None))
    ax.set_xticks(range(6, 25, 3))
    ax.legend(frameon=False)
