"""SparseKernelMean: fit, evaluate, compare, truncate, refit, merge, certify, save and load."""

from kernelmean.mean.fitting import sparse_kernel_mean
from kernelmean.mean.loading import load
from kernelmean.mean.merging import distance_matrix, merge
from kernelmean.mean.value import SparseKernelMean

__all__ = ["SparseKernelMean", "distance_matrix", "load", "merge", "sparse_kernel_mean"]
