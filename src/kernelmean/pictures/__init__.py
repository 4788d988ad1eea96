"""The pictures of a result: what they show here, how it is drawn in ``matplotlib`` and ``html``.

Each topic has a module of its name in all three places. The one here has a function that computes
everything a picture shows and returns it as a frozen value; the other two only draw that value.

============ ================================ ===========================================
topic        function and its value           what is drawn
============ ================================ ===========================================
density      density_views, DensityView       contours or a curve, with the centres
indicator    indicator_curve, IndicatorCurve  the error against the number of centres
embedding    sample_map, SampleMap            samples as points of a plane
distances    distance_map, DistanceMap        distances of all pairs of samples
segmentation segment_view, SegmentView        an image, its segments and their colours
merge_tree   merge_view, MergeView            how peaks merge: persistence diagram and tree
difference   difference_map, DifferenceMap    where one of two samples has more of its rows
monitor      monitor_view, MonitorView        the statistic of a stream over time, with alarms
============ ================================ ===========================================

``html`` puts several pictures on one page: ``html/fit.py`` those of density and indicator,
``html/embedding.py`` the map, which ``html/sample_map.py`` draws, and the distances,
``html/clusters.py`` how peaks merge and the points of their clusters (``cluster_points``),
``html/difference.py`` where two samples differ and what explains it (``effects``), and
``html/monitor.py`` the course of a stream and what changed at its alarms.
"""

from kernelmean.pictures.density import density_views
from kernelmean.pictures.difference import DifferenceMap, difference_map
from kernelmean.pictures.distances import DistanceMap, distance_map
from kernelmean.pictures.embedding import (
    Collection,
    ColorGroups,
    ColorScale,
    SampleMap,
    collection,
    sample_map,
)
from kernelmean.pictures.indicator import IndicatorCurve, indicator_curve
from kernelmean.pictures.marginals import Marginal, marginal
from kernelmean.pictures.merge_tree import MergeView, merge_view
from kernelmean.pictures.monitor import MonitorView, monitor_view
from kernelmean.pictures.segmentation import SegmentView, segment_view
from kernelmean.pictures.view import DensityView

__all__ = [
    "Collection",
    "ColorGroups",
    "ColorScale",
    "DensityView",
    "DifferenceMap",
    "DistanceMap",
    "IndicatorCurve",
    "Marginal",
    "MergeView",
    "MonitorView",
    "SampleMap",
    "SegmentView",
    "collection",
    "density_views",
    "difference_map",
    "distance_map",
    "indicator_curve",
    "marginal",
    "merge_view",
    "monitor_view",
    "sample_map",
    "segment_view",
]
