"""SparseKernelMean: fit, evaluate, compare, truncate, refit, merge, certify, save and load."""

from kernelmean.mean.comparing import distance_matrix
from kernelmean.mean.expansion import AnyMean, KernelMean
from kernelmean.mean.fitting import sparse_density, sparse_kernel_mean
from kernelmean.mean.loading import load
from kernelmean.mean.merging import merge
from kernelmean.mean.preparing import kernel_mean
from kernelmean.mean.stream import MeanStream
from kernelmean.mean.value import LEVELS, SparseKernelMean

__all__ = [
    "LEVELS",
    "AnyMean",
    "KernelMean",
    "MeanStream",
    "SparseKernelMean",
    "distance_matrix",
    "kernel_mean",
    "load",
    "merge",
    "sparse_density",
    "sparse_kernel_mean",
]
