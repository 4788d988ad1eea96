"""Figures of the guide to domains."""

from __future__ import annotations

from typing import Any

import numpy as np

from pages.guides._axes import panels

KINDS = ("owl", "pigeon", "swift")


def birds(page: Any) -> None:
    """When the species are seen, and where."""
    left, right = panels(2, 2.6)
    for kind in KINDS:
        mine = page.birds[page.species == kind]
        left.hist(mine["hour"], bins=np.arange(25), histtype="step", linewidth=1.5, label=kind)
        right.plot(mine["lon"] % 360, mine["lat"], ".", markersize=2)
    left.set(xlabel="hour", ylabel="sightings", xticks=range(0, 25, 6))
    left.legend(frameon=False)
    right.set(xlabel="longitude, east of Greenwich", ylabel="latitude")
    right.axvline(180.0, color="black", linewidth=1)


def columns(page: Any) -> None:
    """The fitted density of three columns, over the rows."""
    ranges = {"hour": (0.0, 24.0), "age": (-0.5, 12.0), "cloud": (-0.1, 1.1)}
    for ax, (name, ends) in zip(panels(3, 2.3), ranges.items(), strict=True):
        x = np.linspace(*ends, 500)
        ax.hist(page.birds[name], bins=np.linspace(*ends, 49), density=True, color="0.8")
        ax.plot(x, np.exp(page.density.marginal(name).score_samples(x[:, None])), color="teal")
        ax.set(xlabel=name, yticks=[])


def places(page: Any) -> None:
    """The density of places on both sides of the date line."""
    lon, lat = np.linspace(175.5, 184.0, 140), np.linspace(-20.0, -14.0, 100)
    nodes = np.stack(np.meshgrid(lon, lat), axis=-1).reshape(-1, 2)
    nodes[:, 0] = (nodes[:, 0] + 180.0) % 360.0 - 180.0
    values = np.exp(page.density.marginal(["lon", "lat"]).score_samples(nodes))
    ax = panels(1, 3.0)
    drawn = ax.pcolormesh(lon, lat, values.reshape(len(lat), len(lon)), rasterized=True)
    ax.axvline(180.0, color="white", linewidth=1)
    ax.set(xlabel="longitude, east of Greenwich", ylabel="latitude")
    ax.figure.colorbar(drawn, ax=ax, label="per steradian")


def bound(page: Any) -> None:
    """The density of ages at zero, and the probabilities of species."""
    left, right = panels(2, 2.5)
    x = np.linspace(-1.0, 6.0, 800)
    left.hist(page.birds["age"], bins=np.arange(-1.0, 6.0, 0.25), density=True, color="0.8")
    left.plot(x, np.exp(page.age.score_samples(x[:, None])), color="teal", linewidth=2)
    left.set(xlabel="age", ylabel="density")
    kinds = ["heron", *KINDS]
    listed = page.four.marginal("species")
    values = [listed.probability({"species": k}, {"species": k}) for k in kinds]
    right.bar(kinds, [float(value) for value in values], color="teal")
    right.set(ylabel="probability", yscale="log", title="the heron was never seen")


def hours(page: Any) -> None:
    """Which species it is, by the hour."""
    at = np.linspace(0.0, 24.0, 49)
    shares = [
        [
            float(known.probability({"species": kind}, {"species": kind}))
            for known in (page.density.conditional({"hour": hour % 24.0}) for hour in at)
        ]
        for kind in KINDS
    ]
    ax = panels(1, 2.4)
    ax.stackplot(at, shares, labels=KINDS)
    ax.set(xlabel="hour", ylabel="share of the species", xlim=(0, 24), ylim=(0, 1))
    ax.set_xticks(range(0, 25, 3))
    ax.legend(loc="lower right")


def classes(page: Any) -> None:
    """The sightings that the classifier gets right, and those it does not."""
    ax = panels(1, 2.6)
    said = page.classes.predict(page.test[page.columns])
    for kind in KINDS:
        mine = page.test[said == kind]
        ax.plot(mine["hour"], mine["age"], ".", markersize=3, label=f"said: {kind}")
    wrong = page.test[said != page.test["species"]]
    ring = {"markersize": 6, "markerfacecolor": "none", "markeredgecolor": "black"}
    ax.plot(wrong["hour"], wrong["age"], "o", label="wrong", **ring)
    ax.set(xlabel="hour", ylabel="age", xticks=range(0, 25, 6), ylim=(0, 14))
    ax.legend(frameon=False, ncols=2)


def two_ways(page: Any) -> None:
    """Ages by the likeliest density, and by the copy of a kernel density estimate."""
    x = np.linspace(-0.5, 8.0, 600)
    ax = panels(1, 2.4)
    ax.hist(page.birds["age"], bins=np.arange(0.0, 8.0, 0.25), density=True, color="0.8")
    for name, density in (("the likeliest", page.age), ("a copy", page.estimate)):
        ax.plot(x, np.exp(density.score_samples(x[:, None])), label=name)
    ax.set(xlabel="age", ylabel="density")
    ax.legend(frameon=False)
