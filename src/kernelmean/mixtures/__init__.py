"""Mixtures by likelihood: the density of k atoms that explains other rows best.

A sparse copy of a kernel density estimate is as good as that estimate. A mixture whose atoms are
fitted by likelihood is often better: each atom has a covariance of its own, wide where rows are
few and narrow where they lie close. Atoms are Gaussians, or in a domain products of folded
Gaussians, directions and frequencies of levels.
"""

from kernelmean.mixtures.gaussians import Gaussians
from kernelmean.mixtures.layout import Layout
from kernelmean.mixtures.product import ProductMixture
from kernelmean.mixtures.product_family import ProductFamily
from kernelmean.mixtures.rows import Rows
from kernelmean.mixtures.search import Limits, likeliest, likeliest_of

__all__ = [
    "Gaussians",
    "Layout",
    "Limits",
    "ProductFamily",
    "ProductMixture",
    "Rows",
    "likeliest",
    "likeliest_of",
]
