"""Matplotlib displays in scikit-learn's manner: each draws, and returns itself.

They show the same pictures as the HTML pages of :mod:`kernelmean.report`, and can be placed on axes
of one's own. Matplotlib is imported when something is drawn.

Examples
--------
>>> import numpy as np, kernelmean as km
>>> density = km.SparseKDE(k=30, random_state=0).fit(np.random.default_rng(0).normal(size=(300, 2)))
>>> display = km.plot.DensityDisplay.from_estimator(density)
>>> display.ax_.get_xlabel()
'x1'
"""

from kernelmean.pictures.matplotlib import (
    DensityDisplay,
    DifferenceDisplay,
    DistancesDisplay,
    EmbeddingDisplay,
    IndicatorDisplay,
    MergeTreeDisplay,
    MonitorDisplay,
    SegmentationDisplay,
)

__all__ = [
    "DensityDisplay",
    "DifferenceDisplay",
    "DistancesDisplay",
    "EmbeddingDisplay",
    "IndicatorDisplay",
    "MergeTreeDisplay",
    "MonitorDisplay",
    "SegmentationDisplay",
]
