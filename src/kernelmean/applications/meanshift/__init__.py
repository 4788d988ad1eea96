"""Mean shift: climb a sparse density from every point, and call the peaks clusters; segments of images that way."""

from kernelmean.applications.meanshift.climbing import Ascent, Hill, climb
from kernelmean.applications.meanshift.clustering import Clustering, Rules, cluster, density
from kernelmean.applications.meanshift.images import Segmentation, segment_image

__all__ = ["Ascent", "Clustering", "Hill", "Rules", "Segmentation", "climb", "cluster", "density", "segment_image"]
