"""Means and certificates in a notebook: a few facts and a small picture, as HTML of its own.

There are no scripts and nothing is fetched; colours follow those of the page. A picture has at most
200 marks, whatever is shown.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kernelmean import _shown
from kernelmean._types import Points, Vector
from kernelmean.kernels import atoms

if TYPE_CHECKING:
    from kernelmean.mean.certificate import Certificate
    from kernelmean.mean.expansion import KernelMean

WIDTH = 220
HEIGHT = 140
MARGIN = 8
MARKS = 200  # centres that are drawn, the heaviest
STEPS = 120  # of a curve
LEAST_ERROR = 1e-6  # at the left end of the scale of a certificate
STYLE = "display:flex;gap:1.2em;align-items:center;font:0.9em system-ui,sans-serif"


def mean_card(title: str, facts: Mapping[str, str], mean: KernelMean, *, curve: bool) -> str:
    """A mean with its centres; in one dimension, where asked for, with its curve."""
    if mean.dimension == 1 and curve:
        picture = _svg(_curve(mean), "The mean as a curve.")
    else:
        picture = _svg(_marks(mean), "The centres, by weight; negative ones are hollow.")
    return _card(title, facts, picture)


def certificate_card(found: Certificate) -> str:
    """A measured error on a logarithmic scale from 1e-6 to 1."""
    error = f"{100.0 * found.relative_error:.3g} %"
    known = found.error > 0.0 and math.isfinite(found.error)
    spread = found.standard_error / found.error * found.relative_error if known else 0.0
    if spread:
        error = f"{error} ± {100.0 * spread:.1g} %"
    facts = {
        "relative error": f"below {error}" if found.below_floor else error,
        "error": _shown.number(found.error),
        "method": found.method,
    }
    return _card("Certificate", facts, _svg(_scale(found.relative_error, spread), "The error."))


def _card(title: str, facts: Mapping[str, str], picture: str) -> str:
    rows = "".join(
        f"<tr><th style='text-align:left;font-weight:normal;opacity:0.7;padding:0 1em 0 0'>"
        f"{html.escape(name)}</th><td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in facts.items()
    )
    return (
        f"<div style='{STYLE}'>{picture}<div><strong>{html.escape(title)}</strong>"
        f"<table style='border-collapse:collapse;margin:0.3em 0 0'>{rows}</table></div></div>"
    )


def _svg(body: str, label: str) -> str:
    return (
        f"<svg width='{WIDTH}' height='{HEIGHT}' viewBox='0 0 {WIDTH} {HEIGHT}' role='img' "
        f"aria-label='{html.escape(label)}'><rect x='0.5' y='0.5' width='{WIDTH - 1}' "
        f"height='{HEIGHT - 1}' fill='none' stroke='currentColor' stroke-opacity='0.25'/>"
        f"{body}</svg>"
    )


def _marks(mean: KernelMean) -> str:
    """A disc for each centre, its area in proportion to the weight."""
    heaviest = np.argsort(-np.abs(mean.weights), kind="stable")[:MARKS]
    weights = mean.weights[heaviest]
    x, y = _plane(mean.centers[heaviest]).T
    largest = float(np.abs(weights).max()) or 1.0
    radii = 1.0 + 5.0 * np.sqrt(np.abs(weights) / largest)
    return "".join(
        f"<circle cx='{a:.1f}' cy='{b:.1f}' r='{r:.1f}' "
        + ("fill='#00897b' fill-opacity='0.55'/>" if w >= 0 else "fill='none' stroke='#e64a19'/>")
        for a, b, r, w in zip(
            _across(x, WIDTH), HEIGHT - _across(y, HEIGHT), radii, weights, strict=True
        )
    )


def _plane(centers: Points) -> Points:
    """(k, 2): the first two coordinates, or of several the plane in which centres vary most."""
    if centers.shape[1] == 1:
        return np.column_stack([centers, np.zeros(len(centers))])
    if centers.shape[1] == 2:
        return centers
    widths = np.ptp(centers, axis=0)
    unit = (centers - centers.mean(axis=0)) / np.where(widths > 0.0, widths, 1.0)
    directions = np.linalg.svd(unit, full_matrices=False)[2][:2]
    flat: Points = unit @ directions.T
    return flat if flat.shape[1] == 2 else np.column_stack([flat, np.zeros(len(flat))])


def _curve(mean: KernelMean) -> str:
    """The values of a mean in one dimension, over three lengths beyond its centres."""
    centers = mean.centers[:, 0]
    length = mean.kernel.length / (1.0 if mean.scale is None else abs(float(mean.scale[0, 0])))
    x = np.linspace(centers.min() - 3.0 * length, centers.max() + 3.0 * length, STEPS)
    values = _values(mean, x[:, None])
    places = zip(_across(x, WIDTH), HEIGHT - _across(values, HEIGHT), strict=True)
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    return f"<polyline points='{line}' fill='none' stroke='#00897b' stroke-width='1.5'/>"


def _values(mean: KernelMean, Q: Points) -> Vector:
    """The mean up to a factor, in NumPy: a picture is no reason to compile anything."""
    mapped = mean.map(Q)
    formula = mean.kernel.formula(mean.dimension)
    if mean.spreads is not None:
        logs = mean.atoms.blurred(atoms.variance(formula)).log_values(mapped)
        return np.asarray(np.exp(logs) @ mean.weights)
    squared = (mapped - mean.mapped_centers[:, 0]) ** 2
    return np.asarray(formula(squared) @ mean.weights)


def _across(values: Vector, size: int) -> Vector:
    """Values from the margin of a picture to the other; in the middle where they are equal."""
    low = values.min()
    width = np.ptp(values)
    if not (np.isfinite(width) and width > 0.0):
        return np.full(len(values), size / 2)
    return np.asarray(MARGIN + (values - low) / width * (size - 2 * MARGIN))


def _scale(error: float, spread: float) -> str:
    """A mark between 1e-6 and 1, with two standard errors on either side."""
    low, middle, high = (_on_scale(e) for e in (error - 2 * spread, error, error + 2 * spread))
    y = HEIGHT / 2
    ticks = "".join(
        f"<text x='{_on_scale(10.0**p):.1f}' y='{y + 28}' font-size='10' text-anchor='middle' "
        f"fill='currentColor'>{text}</text>"
        for p, text in ((-6, "1e-6"), (-4, "0.01 %"), (-2, "1 %"), (0, "100 %"))
    )
    return (
        f"<line x1='{_on_scale(LEAST_ERROR):.1f}' x2='{_on_scale(1.0):.1f}' y1='{y}' y2='{y}' "
        "stroke='currentColor' stroke-opacity='0.4'/>"
        f"<line x1='{low:.1f}' x2='{high:.1f}' y1='{y}' y2='{y}' stroke='#00897b' "
        f"stroke-width='4'/><circle cx='{middle:.1f}' cy='{y}' r='5' fill='#00897b'/>{ticks}"
    )


def _on_scale(error: float) -> float:
    """Where an error stands."""
    kept = min(max(error, LEAST_ERROR), 1.0) if math.isfinite(error) else 1.0
    share = 1.0 - math.log10(kept) / math.log10(LEAST_ERROR)
    return 20.0 + share * (WIDTH - 40.0)
