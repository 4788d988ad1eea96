"""Which windows of the latest rows are looked at, and how the sums of their features are judged.

Rows are added up in blocks of BLOCK; two blocks make one of the next level, as in a binary counter.
Each level keeps its latest eight blocks, so that windows of five to eight blocks of every level
(and of two to four of the lowest) are known whenever a block is complete: the memory is that of a
few blocks per level, and nothing is ever subtracted, so that no rounding accumulates.

The sum S of a window of w rows is judged group by group of its features, each of which is centred
and scaled before:

    q_g = ‖S_g‖² / (w·|g|),  q_c = max q_g over the groups of component c,
    z_c = (q_c^⅓ − center)/scale,
    evidence = max over windows and components of log₁₀ w − log₁₀ Φ̄(z_c) + bonus_c,

where Φ̄ is the upper tail of the normal distribution (Wilson and Hilferty: cube roots of quadratic
forms are nearly normal) and the logarithm of w makes windows of all lengths exceed a level equally
often, since a long window is a new one only every w rows.
"""

from __future__ import annotations

from typing import NamedTuple

from kernelmean._types import IntVector, Matrix, Vector

BLOCK = 2  # rows
KEPT = 8  # blocks of each level
LEAST_BLOCKS = 2  # of a window of the lowest level
LOWEST_WINDOWS = KEPT - LEAST_BLOCKS + 1  # of two to eight blocks
HIGHER_WINDOWS = 4  # of every other level: five to eight blocks


class Judge(NamedTuple):
    """How sums over windows become evidence."""

    starts: IntVector  # (groups + 1,) where each group of features begins
    component: IntVector  # (groups,) to which each belongs
    centers: Matrix  # (windows, components)
    scales: Matrix  # (windows, components)
    bonus: Vector  # (components,)
    limits: Matrix  # (windows, components): ‖S‖²/|g| up to which the evidence is not positive
