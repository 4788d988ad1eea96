"""Chance: one seed, and a stream of its own for every purpose.

Two consumers that start from one seed with one generator draw the same numbers: a certificate would
sample the very centres that it is to judge. So nobody draws from the seed itself. A purpose names a
stream, and streams of different purposes are independent, whatever was drawn before and in
whichever order; NumPy's ``SeedSequence`` spawns them.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

PURPOSES = {
    "first centre": "the row where a farthest-first traversal that hands out centres begins",
    "first candidate": "the row where the traversal behind the greedy selection's fringe begins",
    "first fringe row": "the row where the traversal that adds a fringe to centroids begins",
    "candidates": "D² draws that become candidates of the greedy selection",
    "candidate rows": "the rows among which these candidates are drawn",
    "kmeans++": "D² draws that become centres",
    "kmeans": "D² draws at which Lloyd's iteration begins",
    "random centres": "rows drawn by weight that become centres",
    "centroids": "D² draws at which Lloyd's iteration begins, for the contenders of 'auto'",
    "centroid rows": "the rows among which these are drawn, where their number was open",
    "judging rows": "the rows whose log-density decides between selections of a density",
    "held-out rows": "the rows that decide between points and kinds of spread, and those for it",
    "refining rows": "the rows that the early steps of refinement look at",
    "likelihood rows": "the rows that a mixture is searched for on, and those it is fitted to",
    "likelihood rows on a domain": "the same where columns are bounded, periodic or categories",
    "likelihood folds": "which of them judge a mixture that the others fit",
    "likelihood starts": "D² draws at which the k-means of a mixture begins",
    "cluster rows": "the rows on whose cells mean shift searches for a bandwidth",
    "cluster cells": "D² draws at which the k-means of these cells begins",
    "judging modes": "the rows whose density judges modes of centres that stand for many rows",
    "estimated error": "the frequencies at which a fit estimates the error of its candidates",
    "estimated error at rows": "the rows at which it does so for a kernel without a spectrum",
    "certificate rows": "the rows whose residual is measured",
    "certificate frequencies": "the frequencies at which the error is measured",
    "bandwidth median": "the points whose distances have the median",
    "bandwidth likelihood": "the rows that are left out",
    "bandwidth auto": "the rows that are left out, for the rule that outliers do not change",
    "samples test": "the rows, features and permutations that say whether samples differ at all",
    "bandwidth jaakkola": "the labelled points whose distances have the median",
    "class": "the fit of one class of several",
    "class on a domain": "the same on a domain",
    "sample": "points drawn from a fitted density",
    "box points": "the shifts of the lattice that integrates over a box",
    "entropy points": "points drawn from a density whose entropy is asked for",
    "region points": "points drawn from a density whose level sets are asked for",
    "reservoir": "points that stand for rows which a loaded or fitted density does not have any "
    "more",
    "reservoir rows": "which of the rows kept of earlier batches stay",
    "divergence": "points drawn from a density at which two are compared",
    "halves": "which half of a sample densities are fitted on",
    "collection": "the means of several samples that are compared",
    "collection certificates": "the certificates of these means",
    "test order": "the order of two pooled samples, whose first rows are the test's centres",
    "thinned rows": "which rows of a weighted sample stay in a test, by their weights",
    "test bins": "which rows of a sample share a bin",
    "test permutations": "the permutations of the bins",
    "witness rows": "the rows on which the densities of two compared samples are fitted",
    "witness cells": "D² draws at which the k-means of their common atoms begins",
    "typical rows": "the rows among which those most typical of a difference are found",
    "group": "the comparison of one group of several with the rest",
    "explained rows": "the rows of a sample whose columns are compared",
    "explained bins": "which of these rows share a bin",
    "explained ranks": "the rows whose values rank all others",
    "explained permutations": "the permutations of these bins",
    "explained draws": "how often each bin is drawn again, for intervals of shares",
    "region rows": "the rows of two samples on which the cells of their regions are found",
    "region cells": "D² draws at which the k-means of these cells begins",
    "representation": "the folds and the classifier of a representation",
    "classifiers": "the folds and the classifiers whose posteriors count",
    "feature rows": "the training rows on which the features are tried instead of posteriors",
    "learned rows": "the training rows that classifiers of our own choice learn from",
    "counted rows": "the training rows whose posteriors say how proportions are estimated",
    "counted halves": "which half of these rows judges what the other says",
    "counted mixtures": "simulated mixtures of these rows",
    "class cells": "the rows, and their draws, at which the k-means of a class's cells begins",
    "halved cells": "the same for the cells of one half of the rows",
    "class means": "the means of all classes, which share a seed",
    "class rows": "the training rows at which class means are evaluated",
    "class leverages": "the training rows at which their leverage is taken",
    "trial rows": "the training rows that take part in a search over bandwidths",
    "trial mixtures": "simulated mixtures of these rows",
    "bootstrap": "resampled rows of a sample of unknown proportions",
    "bootstrap training": "the sampling error of the class means",
    "bootstrap shares": "the half points that are added to each class",
    "mixture rows": "the training rows that make the features of a mixture, and its class means",
    "monitor reference": "the order of the rows of a reference, or the rows drawn from a mean",
    "monitor new reference": "the order of the rows of the latest window as a reference",
    "monitor features": "the random directions in which squares are watched",
    "monitor windows": "windows of rows of a reference whose sums are judged",
    "monitor shares": "streams that say how often each component alarms",
    "monitor offsets": "how far the means of a reference are off by chance",
    "monitor pilot": "streams of rows of a reference, for a first look at run lengths",
    "monitor streams": "the same for the run length that is asked for",
    "monitor rows": "the rows of these streams",
    "monitor rebase": "everything about the reference after so many others",
    "monitor difference": "what differs between a reference and the rows after a change",
    "mixture law": "how far mixtures of the classes are off by chance",
}


@dataclass(frozen=True)
class Streams:
    """What a ``random_state`` means: as many independent generators as there are purposes.

    The same purpose gives the same stream each time; further numbers tell several of one purpose
    apart.
    """

    entropy: int
    key: tuple[int, ...] = ()

    def of(self, purpose: str, *which: int) -> np.random.Generator:
        """The generator of a purpose, at its beginning."""
        seeds = np.random.SeedSequence(
            self.entropy, spawn_key=(*self.key, _number(purpose), *which)
        )
        return np.random.default_rng(seeds)

    def within(self, purpose: str, *which: int) -> Streams:
        """Streams of their own for everything that is done for a purpose."""
        return Streams(self.entropy, (*self.key, _number(purpose), *which))

    def seed(self, purpose: str, *which: int) -> int:
        """A seed below 2³¹ for a library that takes nothing else."""
        return int(self.of(purpose, *which).integers(2**31))


def _number(purpose: str) -> int:
    if purpose not in PURPOSES:
        raise KeyError(
            f"{purpose!r} is no purpose of chance: name it in kernelmean._random.PURPOSES."
        )
    return zlib.crc32(purpose.encode())
