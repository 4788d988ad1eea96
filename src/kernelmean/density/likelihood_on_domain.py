"""The likeliest density on a domain: EM of components that are products, one factor per column.

The numbers of a component have a Gaussian, whose images beyond bounds and periods count too; a
sphere has a distribution of von Mises and Fisher, a column of categories its probabilities.
"""

from __future__ import annotations

from kernelmean._random import Streams
from kernelmean.fitting.settings import FitSettings
from kernelmean.mean.on_domain import DomainMean
from kernelmean.samples.coded import CodedSample


def fit_by_likelihood(coded: CodedSample, settings: FitSettings, streams: Streams) -> DomainMean:
    """The mixture of products that is the likeliest at held-out rows."""
    raise NotImplementedError
