"""Sparse kernel means: a kernel density estimate or mean embedding by a few well-chosen centres.

    import kernelmean as km
    mean = km.sparse_kernel_mean(X)

Names are resolved when first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelmean import bandwidth, datasets, engines, plot, report
    from kernelmean.comparison.columns import Effect
    from kernelmean.comparison.difference import difference
    from kernelmean.comparison.discrepancy import mmd
    from kernelmean.comparison.divergence import Divergence, kl_divergence
    from kernelmean.comparison.groups import GroupDifferences
    from kernelmean.comparison.histograms import Histograms
    from kernelmean.comparison.regions import Region, Regions
    from kernelmean.comparison.result import TwoSampleTest
    from kernelmean.comparison.two_sample import mmd_test
    from kernelmean.comparison.typical import TypicalRows
    from kernelmean.comparison.value import Difference
    from kernelmean.comparison.witness import Peaks
    from kernelmean.compiled.caching import CacheWarning
    from kernelmean.density.classifier import SparseKDEClassifier
    from kernelmean.density.estimator import SparseKDE
    from kernelmean.density.gaussian_kde import gaussian_kde
    from kernelmean.density.kernel_density import KernelDensity
    from kernelmean.density.outliers import SparseKDEOutlierDetector
    from kernelmean.domains.kinds import Categorical, Periodic, Sphere
    from kernelmean.embedding.estimator import DistributionEmbedding
    from kernelmean.embedding.procrustes import Procrustes, procrustes
    from kernelmean.files import Source, read
    from kernelmean.fitting.fit import sparse_kernel_mean
    from kernelmean.fitting.full import kernel_mean
    from kernelmean.fitting.honesty import FitWarning
    from kernelmean.fitting.merging import merge
    from kernelmean.fitting.stream import MeanStream
    from kernelmean.kernels import Cauchy, Gaussian, Laplacian, Radial, Student
    from kernelmean.mean.certificate import Certificate
    from kernelmean.mean.compare import distance_matrix
    from kernelmean.mean.expansion import KernelMean
    from kernelmean.mean.loading import load
    from kernelmean.mean.on_domain import DomainMean
    from kernelmean.mean.questions.values import DensityModes, Estimate, HighestDensityRegion
    from kernelmean.mean.value import SparseKernelMean
    from kernelmean.meanshift.agreement import clustering_hausdorff, discrepancy_index
    from kernelmean.meanshift.estimator import MeanShift
    from kernelmean.meanshift.images import segment_image
    from kernelmean.meanshift.segmentation import Segmentation
    from kernelmean.meanshift.tree import MergeTree
    from kernelmean.monitoring.alarm import Alarm
    from kernelmean.monitoring.monitor import DriftMonitor
    from kernelmean.proportions.estimator import ClassProportions
    from kernelmean.selection import Centers, k_center

__version__ = "0.1.0"

_HOMES = {
    "bandwidth": "kernelmean.bandwidth",
    "datasets": "kernelmean.datasets",
    "engines": "kernelmean.engines",
    "plot": "kernelmean.plot",
    "report": "kernelmean.report",
    "Segmentation": "kernelmean.meanshift.segmentation",
    "segment_image": "kernelmean.meanshift.images",
    "Certificate": "kernelmean.mean.certificate",
    "DensityModes": "kernelmean.mean.questions.values",
    "DomainMean": "kernelmean.mean.on_domain",
    "Estimate": "kernelmean.mean.questions.values",
    "HighestDensityRegion": "kernelmean.mean.questions.values",
    "KernelDensity": "kernelmean.density.kernel_density",
    "gaussian_kde": "kernelmean.density.gaussian_kde",
    "SparseKDE": "kernelmean.density.estimator",
    "SparseKDEClassifier": "kernelmean.density.classifier",
    "SparseKDEOutlierDetector": "kernelmean.density.outliers",
    "MeanShift": "kernelmean.meanshift.estimator",
    "MergeTree": "kernelmean.meanshift.tree",
    "Alarm": "kernelmean.monitoring.alarm",
    "DriftMonitor": "kernelmean.monitoring.monitor",
    "DistributionEmbedding": "kernelmean.embedding.estimator",
    "ClassProportions": "kernelmean.proportions.estimator",
    "Categorical": "kernelmean.domains.kinds",
    "Periodic": "kernelmean.domains.kinds",
    "Sphere": "kernelmean.domains.kinds",
    "Source": "kernelmean.files",
    "read": "kernelmean.files",
    "Cauchy": "kernelmean.kernels",
    "Gaussian": "kernelmean.kernels",
    "Laplacian": "kernelmean.kernels",
    "Radial": "kernelmean.kernels",
    "Student": "kernelmean.kernels",
    "CacheWarning": "kernelmean.compiled.caching",
    "FitWarning": "kernelmean.fitting.honesty",
    "KernelMean": "kernelmean.mean",
    "MeanStream": "kernelmean.fitting",
    "SparseKernelMean": "kernelmean.mean",
    "distance_matrix": "kernelmean.mean",
    "kernel_mean": "kernelmean.fitting",
    "load": "kernelmean.mean",
    "merge": "kernelmean.fitting",
    "sparse_kernel_mean": "kernelmean.fitting",
    "clustering_hausdorff": "kernelmean.meanshift.agreement",
    "discrepancy_index": "kernelmean.meanshift.agreement",
    "mmd": "kernelmean.comparison.discrepancy",
    "Difference": "kernelmean.comparison.value",
    "difference": "kernelmean.comparison.difference",
    "GroupDifferences": "kernelmean.comparison.groups",
    "Effect": "kernelmean.comparison.columns",
    "Histograms": "kernelmean.comparison.histograms",
    "Region": "kernelmean.comparison.regions",
    "Regions": "kernelmean.comparison.regions",
    "TypicalRows": "kernelmean.comparison.typical",
    "Peaks": "kernelmean.comparison.witness",
    "Divergence": "kernelmean.comparison.divergence",
    "kl_divergence": "kernelmean.comparison.divergence",
    "Procrustes": "kernelmean.embedding.procrustes",
    "procrustes": "kernelmean.embedding.procrustes",
    "TwoSampleTest": "kernelmean.comparison.result",
    "mmd_test": "kernelmean.comparison.two_sample",
    "Centers": "kernelmean.selection",
    "k_center": "kernelmean.selection",
}

__all__ = [
    "Alarm",
    "CacheWarning",
    "Categorical",
    "Cauchy",
    "Centers",
    "Certificate",
    "ClassProportions",
    "DensityModes",
    "Difference",
    "DistributionEmbedding",
    "Divergence",
    "DomainMean",
    "DriftMonitor",
    "Effect",
    "Estimate",
    "FitWarning",
    "Gaussian",
    "GroupDifferences",
    "HighestDensityRegion",
    "Histograms",
    "KernelDensity",
    "KernelMean",
    "Laplacian",
    "MeanShift",
    "MeanStream",
    "MergeTree",
    "Peaks",
    "Periodic",
    "Procrustes",
    "Radial",
    "Region",
    "Regions",
    "Segmentation",
    "Source",
    "SparseKDE",
    "SparseKDEClassifier",
    "SparseKDEOutlierDetector",
    "SparseKernelMean",
    "Sphere",
    "Student",
    "TwoSampleTest",
    "TypicalRows",
    "__version__",
    "bandwidth",
    "clustering_hausdorff",
    "datasets",
    "difference",
    "discrepancy_index",
    "distance_matrix",
    "engines",
    "gaussian_kde",
    "k_center",
    "kernel_mean",
    "kl_divergence",
    "load",
    "merge",
    "mmd",
    "mmd_test",
    "plot",
    "procrustes",
    "read",
    "report",
    "segment_image",
    "sparse_kernel_mean",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'kernelmean' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    value = home if _HOMES[name] == f"kernelmean.{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
