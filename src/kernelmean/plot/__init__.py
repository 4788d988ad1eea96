"""Matplotlib displays in scikit-learn's manner: ``km.plot.DensityDisplay.from_estimator(density, X)`` draws and returns itself.

The same pictures as in the HTML pages, to be placed on axes of one's own. Matplotlib is imported when something is drawn.
"""

from kernelmean.plot.collections import DistancesDisplay, EmbeddingDisplay
from kernelmean.plot.densities import DensityDisplay
from kernelmean.plot.images import SegmentationDisplay
from kernelmean.plot.indicators import IndicatorDisplay

__all__ = ["DensityDisplay", "DistancesDisplay", "EmbeddingDisplay", "IndicatorDisplay", "SegmentationDisplay"]
