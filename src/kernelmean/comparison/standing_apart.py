"""By which columns some rows stand apart from all rows."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from kernelmean._types import Matrix
from kernelmean.engines import Summary
from kernelmean.mean.scaling import robust_widths

LEAST_SHARE = 1.0 / 3.0  # of the clearest column's divergence: what stands less apart is not named
NARROWEST = 0.05  # of a column's width: below, rows are as narrow as can be


def columns_apart(quantiles: Matrix, everything: Summary) -> tuple[int, ...]:
    """Columns, the clearest first, by the 10 %, 50 % and 90 % quantiles of some rows.

    A column is as clear as the divergence of two normal laws is large: that of the rows' median and
    width from that of all rows. It counts places and widths alike, whatever the units.
    """
    low, middle, high = quantiles
    width = robust_widths(everything)
    shift = (middle - everything.quantiles(np.array([0.5]))[0]) / width
    ratio = np.maximum((high - low) / (2.0 * ndtri(0.9) * width), NARROWEST)
    # KL(N(m, s²) ‖ N(0, 1)) = (m² + s² − 1)/2 − log s
    divergence = (shift**2 + ratio**2 - 1.0) / 2.0 - np.log(ratio)
    varies = np.nan_to_num(everything.std) > 0.0
    clear = np.where(varies, divergence, 0.0)
    order = np.argsort(-clear, kind="stable")
    named = [int(j) for j in order if clear[j] >= LEAST_SHARE * clear[order[0]]]
    return tuple(named) if clear[order[0]] > 0.0 else (int(order[0]),)
