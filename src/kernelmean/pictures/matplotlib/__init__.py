"""Matplotlib displays in scikit-learn's manner: ``km.plot.DensityDisplay.from_estimator(density,
X)`` draws and returns itself.

The same pictures as in the HTML pages, to be placed on axes of one's own. Matplotlib is imported
when something is drawn.

Examples
--------
>>> import matplotlib; matplotlib.use("Agg")
>>> import numpy as np, kernelmean as km
>>> density = km.SparseKDE(k=30, random_state=0).fit(np.random.default_rng(0).normal(size=(300, 2)))
>>> display = km.plot.DensityDisplay.from_estimator(density)
>>> display.ax_.get_xlabel() != ""
True
"""

from kernelmean.pictures.matplotlib.collections import DistancesDisplay, EmbeddingDisplay
from kernelmean.pictures.matplotlib.densities import DensityDisplay
from kernelmean.pictures.matplotlib.images import SegmentationDisplay
from kernelmean.pictures.matplotlib.indicators import IndicatorDisplay

__all__ = [
    "DensityDisplay",
    "DistancesDisplay",
    "EmbeddingDisplay",
    "IndicatorDisplay",
    "SegmentationDisplay",
]
