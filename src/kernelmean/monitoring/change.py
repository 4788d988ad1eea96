"""Since when a stream has changed, once it is known that it has."""

from __future__ import annotations

import numpy as np

from kernelmean._types import Points, Vector
from kernelmean.compiled.window_evidence import Judge
from kernelmean.monitoring import windows
from kernelmean.monitoring.features import Features


def change_point(features: Features, judge: Judge, rows: Points, component: int) -> int:
    """How many of the latest rows have changed: the ℓ of the largest z, as if ℓ were a window.

    z = (q^⅓ − center)/scale with q = ‖S‖²/(ℓ·|g|), S the sum of the features of the latest ℓ rows;
    centre and scale lie between those of the windows beside ℓ. Of a component of several groups the
    one counts in which z is largest.
    """
    Z = features(rows)
    center, scale = _between(judge, component, len(Z))
    roots = np.zeros(len(Z))
    for group in np.flatnonzero(judge.component == component):
        first = int(judge.starts[group])
        last = int(judge.starts[group + 1])
        total = np.cumsum(Z[::-1, first:last], axis=0)
        squares = np.einsum("ij,ij->i", total, total) / np.arange(1, len(Z) + 1)
        roots = np.maximum(roots, np.cbrt(squares / (last - first)))
    z = (roots - center) / scale
    least = min(windows.LEAST_WINDOW, len(Z))
    return least + int(z[least - 1 :].argmax())


def _between(judge: Judge, component: int, most: int) -> tuple[Vector, Vector]:
    """Centres and scales of windows of 1, …, ``most`` rows, on a scale of log ℓ."""
    known = np.log(windows.all_lengths(len(judge.centers)))
    asked = np.log(np.arange(1, most + 1))
    return (
        np.interp(asked, known, judge.centers[:, component]),
        np.interp(asked, known, judge.scales[:, component]),
    )
