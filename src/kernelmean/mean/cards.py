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
from kernelmean._types import Matrix, Points, Vector
from kernelmean.kernels import atoms
from kernelmean.mean.covariances import covariances, seen_from_kernel

if TYPE_CHECKING:
    from kernelmean.mean.certificate import Certificate
    from kernelmean.mean.expansion import KernelMean

WIDTH = 220
HEIGHT = 140
MARGIN = 8
MARKS = 200  # centres that are drawn, the heaviest
STEPS = 120  # of a curve
LEFT_OUT = 0.02  # of the mass at either end, which does not widen a picture
IN_VIEW = 2.0  # standard deviations of a spread that a picture holds
LEAST_RADIUS = 1.0  # of an ellipse, in pixels
FAINTEST = 0.03  # of the opacity of an ellipse
INK = "#00897b"
BELOW = "#e64a19"  # of negative weights
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
    """A disc for each centre, its area in proportion to the weight; spreads are ellipses."""
    heaviest = np.argsort(-np.abs(mean.weights), kind="stable")[:MARKS]
    weights = mean.weights[heaviest]
    P = _plane(mean.centers[heaviest])
    places = mean.centers[heaviest] @ P.T
    if mean.spreads is not None:
        T = seen_from_kernel(mean, P)
        seen = covariances(mean.spreads[heaviest], T, mean.kernel.length**2)
        return _ellipses(places, seen, weights)
    x, y = places.T
    largest = float(np.abs(weights).max()) or 1.0
    radii = 1.0 + 5.0 * np.sqrt(np.abs(weights) / largest)
    return "".join(
        f"<circle cx='{a:.1f}' cy='{b:.1f}' r='{r:.1f}' "
        + (f"fill='{INK}' fill-opacity='0.55'/>" if w >= 0 else f"fill='none' stroke='{BELOW}'/>")
        for a, b, r, w in zip(
            _across(x, WIDTH), HEIGHT - _across(y, HEIGHT), radii, weights, strict=True
        )
    )


def _ellipses(places: Points, seen: Matrix, weights: Vector) -> str:
    """One standard deviation of each; the denser inside, the darker."""
    widths = np.sqrt(np.diagonal(seen, axis1=1, axis2=2))
    low, high = np.transpose(
        [_ends(x, IN_VIEW * width, weights) for x, width in zip(places.T, widths.T, strict=True)]
    )
    scale = (np.array([WIDTH, HEIGHT]) - 2.0 * MARGIN) / (high - low)
    at = MARGIN + (places - low) * scale
    scale[1] = -scale[1]  # y grows upwards
    values, vectors = np.linalg.eigh(seen * np.outer(scale, scale))
    radii = np.maximum(np.sqrt(np.maximum(values, 0.0)), LEAST_RADIUS)
    turns = np.degrees(np.arctan2(vectors[:, 1, 0], vectors[:, 0, 0]))
    dense = np.abs(weights) / radii.prod(axis=1)
    shades = np.maximum(0.6 * dense / dense.max(), FAINTEST)
    marks = (
        f"<ellipse cx='{x:.1f}' cy='{HEIGHT - y:.1f}' rx='{a:.1f}' ry='{b:.1f}' "
        f"transform='rotate({turn:.0f} {x:.1f} {HEIGHT - y:.1f})' "
        + (f"fill-opacity='{shade:.2f}'/>" if w >= 0 else f"fill='none' stroke='{BELOW}'/>")
        for (x, y), (a, b), turn, shade, w in zip(at, radii, turns, shades, weights, strict=True)
    )
    return f"<g fill='{INK}' stroke='{INK}' stroke-opacity='0.4'>{''.join(marks)}</g>"


def _ends(places: Vector, widths: Vector, weights: Vector) -> tuple[float, float]:
    """From where to where most of the mass lies: a faint and very wide centre hides no other."""
    ends = np.concatenate([places - widths, places + widths])
    order = np.argsort(ends)
    mass = np.cumsum(np.tile(np.abs(weights), 2)[order])
    low, high = np.searchsorted(mass, np.array([LEFT_OUT, 1.0 - LEFT_OUT]) * mass[-1])
    return float(ends[order[low]]), float(ends[order[high]])


def _plane(centers: Points) -> Matrix:
    """(2, d) what makes the picture: the first two coordinates, or the plane of most variation."""
    d = centers.shape[1]
    first = np.eye(2, d)
    if d <= 2:
        return first
    widths = np.ptp(centers, axis=0)
    unit = np.where(widths > 0.0, widths, 1.0)
    directions = np.linalg.svd((centers - centers.mean(axis=0)) / unit, full_matrices=False)[2]
    return directions[:2] / unit if len(directions) > 1 else first


def _curve(mean: KernelMean) -> str:
    """The values of a mean in one dimension, over three widths beyond its centres."""
    spreads = np.zeros(mean.k) if mean.spreads is None else mean.spreads
    seen = covariances(spreads, seen_from_kernel(mean, np.eye(1)), mean.kernel.length**2)
    widths = 3.0 * np.sqrt(seen[:, 0, 0])
    x = np.linspace(*_ends(mean.centers[:, 0], widths, mean.weights), STEPS)
    values = _values(mean, x[:, None])
    places = zip(_across(x, WIDTH), HEIGHT - _across(values, HEIGHT), strict=True)
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    return f"<polyline points='{line}' fill='none' stroke='{INK}' stroke-width='1.5'/>"


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
