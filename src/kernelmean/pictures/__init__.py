"""The numbers behind the pictures; Matplotlib (``plot``) and Plotly (``report``) draw the same
ones.
"""

from kernelmean.pictures.collections import Collection, clustered_order, collection
from kernelmean.pictures.curves import Indicator, indicator
from kernelmean.pictures.densities import (
    DensityView,
    column_names,
    density_views,
    line_view,
    plane_view,
)
from kernelmean.pictures.images import SegmentView, segment_view
from kernelmean.pictures.marginals import Marginal, marginal

__all__ = [
    "Collection",
    "DensityView",
    "Indicator",
    "Marginal",
    "SegmentView",
    "clustered_order",
    "collection",
    "column_names",
    "density_views",
    "indicator",
    "line_view",
    "marginal",
    "plane_view",
    "segment_view",
]
