"""Sparse kernel means: a kernel density estimate or mean embedding by a few well-chosen centres.

    import kernelmean as km
    mean = km.sparse_kernel_mean(X)

Names are resolved when first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelmean import bandwidth, engines, plot, report
    from kernelmean.applications.meanshift import Segmentation, segment_image
    from kernelmean.certificates import Certificate
    from kernelmean.estimators.classification import SparseKDEClassifier
    from kernelmean.estimators.density import SparseKDE
    from kernelmean.estimators.embedding import DistributionEmbedding
    from kernelmean.estimators.meanshift import MeanShift
    from kernelmean.estimators.outliers import SparseKDEOutlierDetector
    from kernelmean.estimators.proportions import ClassProportions
    from kernelmean.files import Source, read
    from kernelmean.kernels import Cauchy, Gaussian, Laplacian, Radial, Student
    from kernelmean.mean import (
        KernelMean,
        MeanStream,
        SparseKernelMean,
        distance_matrix,
        kernel_mean,
        load,
        merge,
        sparse_kernel_mean,
    )
    from kernelmean.measures.clusterings import clustering_hausdorff, discrepancy_index
    from kernelmean.measures.discrepancy import mmd
    from kernelmean.measures.divergence import Divergence, kl_divergence
    from kernelmean.measures.procrustes import Procrustes, procrustes
    from kernelmean.measures.two_sample import TwoSampleTest, mmd_test
    from kernelmean.selection import Centers, k_center

__version__ = "0.1.0"

_HOMES = {
    "bandwidth": "kernelmean.bandwidth",
    "engines": "kernelmean.engines",
    "plot": "kernelmean.plot",
    "report": "kernelmean.report",
    "Segmentation": "kernelmean.applications.meanshift",
    "segment_image": "kernelmean.applications.meanshift",
    "Certificate": "kernelmean.certificates",
    "SparseKDE": "kernelmean.estimators.density",
    "SparseKDEClassifier": "kernelmean.estimators.classification",
    "SparseKDEOutlierDetector": "kernelmean.estimators.outliers",
    "MeanShift": "kernelmean.estimators.meanshift",
    "DistributionEmbedding": "kernelmean.estimators.embedding",
    "ClassProportions": "kernelmean.estimators.proportions",
    "Source": "kernelmean.files",
    "read": "kernelmean.files",
    "Cauchy": "kernelmean.kernels",
    "Gaussian": "kernelmean.kernels",
    "Laplacian": "kernelmean.kernels",
    "Radial": "kernelmean.kernels",
    "Student": "kernelmean.kernels",
    "KernelMean": "kernelmean.mean",
    "MeanStream": "kernelmean.mean",
    "SparseKernelMean": "kernelmean.mean",
    "distance_matrix": "kernelmean.mean",
    "kernel_mean": "kernelmean.mean",
    "load": "kernelmean.mean",
    "merge": "kernelmean.mean",
    "sparse_kernel_mean": "kernelmean.mean",
    "clustering_hausdorff": "kernelmean.measures.clusterings",
    "discrepancy_index": "kernelmean.measures.clusterings",
    "mmd": "kernelmean.measures.discrepancy",
    "Divergence": "kernelmean.measures.divergence",
    "kl_divergence": "kernelmean.measures.divergence",
    "Procrustes": "kernelmean.measures.procrustes",
    "procrustes": "kernelmean.measures.procrustes",
    "TwoSampleTest": "kernelmean.measures.two_sample",
    "mmd_test": "kernelmean.measures.two_sample",
    "Centers": "kernelmean.selection",
    "k_center": "kernelmean.selection",
}

__all__ = [
    "Cauchy",
    "Centers",
    "Certificate",
    "ClassProportions",
    "DistributionEmbedding",
    "Divergence",
    "Gaussian",
    "KernelMean",
    "Laplacian",
    "MeanShift",
    "MeanStream",
    "Procrustes",
    "Radial",
    "Segmentation",
    "Source",
    "SparseKDE",
    "SparseKDEClassifier",
    "SparseKDEOutlierDetector",
    "SparseKernelMean",
    "Student",
    "TwoSampleTest",
    "__version__",
    "bandwidth",
    "clustering_hausdorff",
    "discrepancy_index",
    "distance_matrix",
    "engines",
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
