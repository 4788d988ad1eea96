"""HTML pages: how the pictures of each topic are drawn with Plotly. ``km.report`` has them all."""

from kernelmean.pictures.html.clusters import clusters_page
from kernelmean.pictures.html.difference import difference_page
from kernelmean.pictures.html.embedding import embedding_page
from kernelmean.pictures.html.fit import fit_page
from kernelmean.pictures.html.monitor import monitor_page
from kernelmean.pictures.html.proportions import proportions_page
from kernelmean.pictures.html.scores import scores_page
from kernelmean.pictures.html.segmentation import segmentation_page

__all__ = [
    "clusters_page",
    "difference_page",
    "embedding_page",
    "fit_page",
    "monitor_page",
    "proportions_page",
    "scores_page",
    "segmentation_page",
]
