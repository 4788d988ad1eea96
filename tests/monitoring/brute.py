"""The evidence of a monitor by all windows, written as the formula is."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from kernelmean.monitoring import windows


def ends(length):
    """After how many rows a window of this length is looked at again: the size of its blocks."""
    block = 2
    while length > 8 * block:
        block *= 2
    return block


def evidence(Z, judge):
    """(n,): the largest evidence of all windows that end with each row; −inf at odd rows."""
    lengths = windows.all_lengths(len(judge.centers))
    out = np.full(len(Z), -np.inf)
    for row in range(1, len(Z), 2):
        found = [0.0]
        for w, length in enumerate(lengths):
            if (row + 1) % ends(length) or length > row + 1:
                continue
            total = Z[row + 1 - length : row + 1].sum(axis=0)
            for group, c in enumerate(judge.component):
                own = total[judge.starts[group] : judge.starts[group + 1]]
                q = (own**2).sum() / (length * len(own))
                z = (np.cbrt(q) - judge.centers[w, c]) / judge.scales[w, c]
                found.append(np.log10(length) - norm.logsf(z) / np.log(10.0) + judge.bonus[c])
        out[row] = max(found)
    return out
