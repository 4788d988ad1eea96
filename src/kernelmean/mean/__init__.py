"""The sparse kernel mean as a value: evaluate, compare, truncate, certify, sample, save, load."""

from kernelmean.mean.compare import distance_matrix
from kernelmean.mean.expansion import AnyMean, KernelMean
from kernelmean.mean.loading import load
from kernelmean.mean.value import LEVELS, SparseKernelMean

__all__ = ["LEVELS", "AnyMean", "KernelMean", "SparseKernelMean", "distance_matrix", "load"]
