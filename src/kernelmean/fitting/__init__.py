"""One path from a sample to a mean: settings, prepare, grow, refine; merging and streams too."""

from kernelmean.fitting.fit import sparse_density, sparse_kernel_mean
from kernelmean.fitting.full import kernel_mean
from kernelmean.fitting.merging import merge
from kernelmean.fitting.stream import MeanStream

__all__ = ["MeanStream", "kernel_mean", "merge", "sparse_density", "sparse_kernel_mean"]
