"""Confidence intervals of proportions that are read from likelihoods: a score test, inverted.

Nothing is resampled and nothing refitted. From the likelihoods R (n, C) of the classes at the rows
come C functions h_c whose mean is one over class c and zero over every other class, by the
training rows. Their mean over a sample is then π_c on average, whether R is calibrated or not. The
interval holds the values t of π_c that this mean does not contradict.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtr

from kernelmean._types import IntVector, Matrix, Vector
from kernelmean.proportions.intervals import ProportionIntervals

# Of any class, with which each class is completed: ten rows that are all alike are no proof.
PSEUDO_ROWS = 1.0
# What equal proportions count beside the estimated ones, at which posteriors are taken.
EVEN = 0.3
# Singular values of the mean posteriors below this, in units of the largest, are no difference.
INDISTINCT = 1e-5
INVOLVED = 1e-3  # the share of a class in a direction that cannot be told, from which it is in it
PROPORTIONAL = 1e-10  # what the cosine of two columns may lack of one
SIDE = 33  # values of t tried on either side of the mean of h_c, closer where they are near to it
HALVINGS = 40  # of the step between two of them
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Scores:
    """What the functions h_c say of a sample, and how far it is to be trusted."""

    means: Vector  # (C,) of h_c over the sample: unbiased, but not always within [0, 1]
    scatter: Matrix  # (C, C): [c, k] is the variance of h_c within class k
    covariance: Matrix  # (C, C) of the means, with that of training
    others: Matrix  # (C, C): [c, k] is the likely share of class k among those that are not c
    sizes: IntVector  # (C,) training rows of the classes
    indistinct: NDArray[np.bool_]  # (C,) whether the class is one that cannot be told from others
    n: int

    def confidence(self, t: Matrix) -> Matrix:
        """The level at which the values t (C, m) of π_c are just not rejected any more.

        The variance is the one that holds if t is true, the other classes being in their likely
        ratio: t(1 − t)/n for the labels that the sample happens to have, and within each class k
        its scatter times π_k/n for the rows of the sample, times π_k²/(N_k − 1) for those of
        training. The scatter is estimated: Welch's degrees of freedom. What lies beyond 0 or 1 is
        measured from there, so that some value is always left.
        """
        own = np.eye(len(self.means))[:, None, :]
        shares = (1.0 - t)[..., None] * self.others[:, None, :] + t[..., None] * own
        parts = (shares / self.n + shares**2 / (self.sizes - 1)) * self.scatter[:, None, :]
        variance = np.maximum(t * (1.0 - t) / self.n + parts.sum(axis=-1), TINY)
        noise = np.maximum((parts**2 / (self.sizes - 1)).sum(axis=-1), TINY)
        beyond = (self.means - np.clip(self.means, 0.0, 1.0))[:, None]
        gap = np.maximum((t - self.means[:, None]) ** 2 - beyond**2, 0.0)
        freedom = np.maximum(variance**2 / noise, 1.0)
        level: Matrix = 1.0 - 2.0 * stdtr(freedom, -np.sqrt(gap / variance))
        return level


def intervals(
    R: Matrix, R_train: Matrix, labels: IntVector, estimate: Vector, level: float
) -> ProportionIntervals:
    """An interval for each class, from likelihoods at the rows of a sample and of training.

    The rows of R (n, C) and of R_train (N, C) count up to a factor each; those of training must not
    be fitted values (out-of-fold). ``labels`` are 0, …, C − 1, at least two rows of each. A class
    that cannot be told from others has the interval [0, 1]. Time O((n + N)C²).
    """
    likely = (1.0 - EVEN) * (len(R) * estimate + 1.0) / (len(R) + len(estimate))
    likely += EVEN / len(estimate)
    trained = posteriors(R_train, likely)
    kind = _kinds(trained)  # classes with proportional likelihoods are one, as far as can be seen
    together = np.eye(kind.max() + 1)[kind]
    found = scores(
        posteriors(R, likely) @ together, trained @ together, kind[labels], likely @ together
    )
    low, high = ends(found, level)
    members = together.sum(axis=0)
    unknown = (found.indistinct | (members > 1))[kind]
    apart = together / members
    return ProportionIntervals(
        estimate,
        np.where(unknown, 0.0, np.minimum(low[kind], estimate)),
        np.where(unknown, 1.0, np.maximum(high[kind], estimate)),
        apart @ found.covariance @ apart.T,
        level,
    )


def scores(F: Matrix, trained: Matrix, labels: IntVector, likely: Vector) -> Scores:
    """h = M⁻¹f with f the posteriors at likely proportions and M_ck their mean over class k.

    Where these are the true proportions, h is the best such function: the score of the likelihood,
    scaled.
    """
    C = F.shape[1]
    sizes = np.bincount(labels, minlength=C)
    inverse, indistinct = _inverse(class_means(trained, labels, sizes).T)
    H = trained @ inverse.T
    T = F @ inverse.T
    others = likely * (1.0 - np.eye(C))
    covariance = np.atleast_2d(np.cov(T.T, bias=True)) / len(F)
    for k in range(C):
        covariance += likely[k] ** 2 * np.cov(H[labels == k].T) / sizes[k]
    return Scores(
        T.mean(axis=0),
        _scatter(H, labels, sizes),
        covariance,
        others / np.maximum(others.sum(axis=1, keepdims=True), TINY),
        sizes,
        indistinct,
        len(F),
    )


def posteriors(R: Matrix, prior: Vector) -> Matrix:
    """(n, C) posteriors of the classes under a prior, from their likelihoods."""
    joint = R / R.max(axis=1, keepdims=True) * prior
    shares: Matrix = joint / joint.sum(axis=1, keepdims=True)
    return shares


def class_means(values: Matrix, labels: IntVector, sizes: IntVector) -> Matrix:
    """(C, m): the mean of the rows of each class."""
    sums = [np.bincount(labels, weights=column, minlength=len(sizes)) for column in values.T]
    return np.stack(sums, axis=1) / sizes[:, None]


def ends(found: Scores, level: float) -> tuple[Vector, Vector]:
    """The least and the greatest t that the level does not reject, between 0 and 1.

    What is not rejected may have a gap where classes can hardly be told apart: the ends are then
    the outermost.
    """
    centre = np.clip(found.means, 0.0, 1.0)[:, None]
    far = np.linspace(0.0, 1.0, SIDE) ** 2
    below = centre * (1.0 - far)
    above = centre + (1.0 - centre) * far
    above[:, -1] = 1.0
    return _outermost(found, below, level), _outermost(found, above, level)


def _outermost(found: Scores, tried: Matrix, level: float) -> Vector:
    """The last value of each row that is not rejected, made precise towards the next by halving."""
    kept = found.confidence(tried) <= level
    kept[:, 0] = True
    last = tried.shape[1] - 1 - np.argmax(kept[:, ::-1], axis=1)
    rows = np.arange(len(tried))
    inner = tried[rows, last]
    outer = tried[rows, np.minimum(last + 1, tried.shape[1] - 1)]
    for _ in range(HALVINGS):
        middle = 0.5 * (inner + outer)
        inside = found.confidence(middle[:, None])[:, 0] <= level
        inner = np.where(inside, middle, inner)
        outer = np.where(inside, outer, middle)
    return np.where(last == tried.shape[1] - 1, tried[:, -1], inner)


def _inverse(M: Matrix) -> tuple[Matrix, NDArray[np.bool_]]:
    """M⁻¹, or the pseudoinverse without what M maps to nothing, and the classes that lie in that.

    A class outside of it has the same row in both, so that its h is what it should be.
    """
    U, values, V = np.linalg.svd(M)
    flat = values <= INDISTINCT * values[0]
    indistinct = np.max(np.abs(V[flat]), axis=0, initial=0.0) > INVOLVED
    return (V[~flat].T / values[~flat]) @ U[:, ~flat].T, indistinct


def _kinds(trained: Matrix) -> IntVector:
    """(C,): the number of each class among groups whose columns are proportional."""
    columns = trained / np.maximum(np.linalg.norm(trained, axis=0), TINY)
    alike = columns.T @ columns >= 1.0 - PROPORTIONAL
    return np.asarray(connected_components(alike, directed=False)[1], dtype=np.intp)


def _scatter(H: Matrix, labels: IntVector, sizes: IntVector) -> Matrix:
    """(C, C), [c, k]: the mean of (h_c − δ_ck)² over the rows of class k.

    Each class is completed by pseudo rows, in which all classes have equal parts.
    """
    own = np.eye(H.shape[1])
    N = sizes[:, None]
    means = class_means(H, labels, sizes)
    squares = class_means(H**2, labels, sizes)
    means = (N * means + PSEUDO_ROWS * means.mean(axis=0)) / (N + PSEUDO_ROWS)
    squares = (N * squares + PSEUDO_ROWS * squares.mean(axis=0)) / (N + PSEUDO_ROWS)
    scatter: Matrix = np.maximum(squares - 2.0 * means * own + own, 0.0).T
    return scatter
