"""Matplotlib displays: how the pictures of each topic are drawn. ``km.plot`` has them all."""

from kernelmean.pictures.matplotlib.density import DensityDisplay
from kernelmean.pictures.matplotlib.difference import DifferenceDisplay
from kernelmean.pictures.matplotlib.distances import DistancesDisplay
from kernelmean.pictures.matplotlib.embedding import EmbeddingDisplay
from kernelmean.pictures.matplotlib.indicator import IndicatorDisplay
from kernelmean.pictures.matplotlib.merge_tree import MergeTreeDisplay
from kernelmean.pictures.matplotlib.monitor import MonitorDisplay
from kernelmean.pictures.matplotlib.segmentation import SegmentationDisplay

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
