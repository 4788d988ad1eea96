"""Simulated flow cytometry: many samples of cells, with replicates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.utils import Bunch

from kernelmean._types import Points

CHANNELS = ("FSC", "SSC", "CD3", "CD19")
GROUPS = ("control", "early", "late")
DONORS = 12
REPLICATES = 3  # of each donor
CELLS = 1000  # in each sample
SEED = 2001


class Kind(NamedTuple):
    """A kind of cells on the arcsinh scale, and its share in controls and in the late group."""

    middle: tuple[float, float, float, float]
    widths: tuple[float, float, float, float]
    control: float
    late: float


KINDS = (
    Kind((9.0, 7.2, 6.8, 3.0), (0.20, 0.30, 0.35, 0.60), 0.45, 0.25),  # T cells
    Kind((9.1, 7.3, 3.0, 6.3), (0.20, 0.30, 0.60, 0.35), 0.15, 0.10),  # B cells
    Kind((9.9, 8.8, 3.2, 3.1), (0.25, 0.30, 0.60, 0.60), 0.25, 0.30),  # monocytes
    Kind((9.8, 9.8, 3.4, 3.2), (0.20, 0.20, 0.55, 0.55), 0.10, 0.15),  # granulocytes
    Kind((9.4, 7.6, 4.8, 3.0), (0.25, 0.35, 0.40, 0.60), 0.05, 0.20),  # cells that respond
)


def load_cells() -> Bunch:
    """Thirty-six samples of simulated cells: twelve donors, three replicates each.

    Donors belong to three groups. From controls to the late group one kind of cells becomes more
    frequent at the cost of another; beside that, each donor has shares and positions of its own.
    Replicates of one donor differ by chance and a little by how the instrument was set.

    Returns
    -------
    cells : sklearn.utils.Bunch
        ``samples``, a list of 36 arrays of shape (1000, 4), one row for each cell, as detector
        counts with heavy tails, so that ``np.arcsinh`` makes distances sensible; ``donor``,
        ``replicate`` and ``group``, arrays of length 36; ``feature_names``, the names of the
        channels; and ``DESCR``, this text.

    See Also
    --------
    kernelmean.read : Data of your own, from files.
    kernelmean.datasets.load_flights : Real data, one sample.

    Notes
    -----
    Simulated with NumPy's ``default_rng`` from a fixed seed, hence under the licence of this
    package. No donor is a person. It takes time and memory O(n) for n cells in all.

    Examples
    --------
    >>> import kernelmean as km
    >>> cells = km.datasets.load_cells()
    >>> len(cells.samples), cells.samples[0].shape, cells.feature_names
    (36, (1000, 4), ['FSC', 'SSC', 'CD3', 'CD19'])
    """
    rng = np.random.default_rng(SEED)
    samples: list[Points] = []
    for donor in range(DONORS):
        shares, middles = _donor(donor * len(GROUPS) // DONORS, rng)
        for _ in range(REPLICATES):
            setting = rng.normal(0.0, 0.03, len(CHANNELS))
            samples.append(_sample(shares, middles + setting, rng))
    order = np.arange(DONORS * REPLICATES)
    donor_of = order // REPLICATES
    return Bunch(
        samples=samples,
        donor=donor_of,
        replicate=order % REPLICATES,
        group=np.array(GROUPS)[donor_of * len(GROUPS) // DONORS],
        feature_names=list(CHANNELS),
        DESCR=load_cells.__doc__,
    )


def _donor(group: int, rng: np.random.Generator) -> tuple[Points, Points]:
    """How frequent each kind of cells is in a donor, and where it lies."""
    late = group / (len(GROUPS) - 1)
    expected = np.array([(1.0 - late) * kind.control + late * kind.late for kind in KINDS])
    middles = np.array([kind.middle for kind in KINDS])
    return rng.dirichlet(120.0 * expected), middles + rng.normal(0.0, 0.06, middles.shape)


def _sample(shares: Points, middles: Points, rng: np.random.Generator) -> Points:
    """Counts of the detectors for the cells of one sample."""
    kind = rng.choice(len(KINDS), CELLS, p=shares)
    widths = np.array([kind.widths for kind in KINDS])
    counts: Points = np.sinh(middles[kind] + widths[kind] * rng.normal(size=(CELLS, len(CHANNELS))))
    return counts
