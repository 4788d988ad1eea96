"""The merge tree of the modes of a density, and which of them sampling noise does not explain.

A mode is the top of a hill. Lower the water from the highest one: hills appear, each with its own
mode, and meet at saddles. Where two meet one of them ends: its persistence is the height of its
mode above that saddle, and the mode of the other is its parent (Edelsbrunner, Letscher & Zomorodian
2002; for clusters Chazal, Guibas, Oudot & Skraba 2013). There the lower one ends; here the one that
stands out less above the saddle, in terms of sampling noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from kernelmean import _checks
from kernelmean._types import IntVector, Points, Vector


@dataclass(frozen=True, eq=False)
class MergeTree:
    """The modes of a density, the highest first, and where their hills meet.

    Attributes
    ----------
    peaks : ndarray of shape (m, d)
        Where the modes are.
    log_peak : ndarray of shape (m,)
        The logarithm of the density at each mode, falling.
    log_saddle : ndarray of shape (m,)
        The logarithm of the density where the hill of each mode ends in another; −inf for the last
        one, which ends in none.
    saddles : ndarray of shape (m, d)
        Where that is; NaN for the last.
    parent : ndarray of shape (m,)
        The mode of the other hill, −1 for none.
    z : ndarray of shape (m,)
        How clear the two hills are that meet there: peak − saddle, of the mode or of its parent,
        whichever is less, in standard deviations of its sampling noise. Infinite for the last.
    size : ndarray of shape (m,)
        The number of points that climb to each mode.

    See Also
    --------
    MeanShift : Its ``tree_`` is such a tree.

    References
    ----------
    .. [1] F. Chazal, L. J. Guibas, S. Y. Oudot and P. Skraba, "Persistence-based clustering in
       Riemannian manifolds", Journal of the ACM 60(6), 2013.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0.0, 0.5, (200, 2)), rng.normal(4.0, 0.5, (100, 2))])
    >>> tree = km.MeanShift(random_state=0).fit(X).tree_
    >>> tree.parent[:2], tree.cut(n_clusters=2)[:2]
    (array([-1,  0]), array([0, 1]))
    """

    peaks: Points
    log_peak: Vector
    log_saddle: Vector
    saddles: Points
    parent: IntVector
    z: Vector
    size: IntVector

    def __len__(self) -> int:
        return len(self.log_peak)

    def __repr__(self) -> str:
        return f"MergeTree({len(self)} modes, the clearest of them {self._clearest()})"

    @property
    def peak(self) -> Vector:
        """The density at each mode.

        Returns
        -------
        ndarray of shape (m,)
            Falling.
        """
        with np.errstate(over="ignore"):
            return np.exp(self.log_peak)

    @property
    def saddle(self) -> Vector:
        """The density where the hill of each mode ends in another.

        Returns
        -------
        ndarray of shape (m,)
            0 for the last one.
        """
        with np.errstate(over="ignore"):
            return np.exp(self.log_saddle)

    @property
    def persistence(self) -> Vector:
        """The height of each mode above its saddle, peak − saddle.

        Returns
        -------
        ndarray of shape (m,)
            In the units of the density.
        """
        return -self.peak * np.expm1(self.log_saddle - self.log_peak)

    @property
    def p_value(self) -> Vector:
        """How often noise alone would lift a mode as high above its saddle, by a normal law.

        Returns
        -------
        ndarray of shape (m,)
            0 for the last mode, which is not in question.
        """
        return np.asarray(norm.sf(self.z))

    def significant(self, level: float) -> NDArray[np.bool_]:
        """Which modes are kept at a level, by the rule of Benjamini and Hochberg.

        Of the modes that are kept, the share of those that are chance is at most the level on
        average; where there is but one hill, the chance to find a second is at most the level.

        Parameters
        ----------
        level : float
            Between 0 and 1.

        Returns
        -------
        ndarray of shape (m,)
            The last mode is always kept.

        See Also
        --------
        cut : So many modes, or those of some persistence.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> X = np.concatenate([rng.normal(0.0, 0.5, (200, 2)), rng.normal(4.0, 0.5, (100, 2))])
        >>> tree = km.MeanShift(random_state=0).fit(X).tree_
        >>> int(tree.significant(0.05).sum())
        2
        """
        tested = self.parent >= 0
        # Sorted p-values p₁ ≤ … ≤ p_m: all up to the last with p_j ≤ level·j/m are kept.
        p = np.sort(self.p_value[tested])
        passed = np.flatnonzero(p <= level * np.arange(1, len(p) + 1) / max(len(p), 1))
        most = p[passed[-1]] if len(passed) else -1.0
        kept: NDArray[np.bool_] = ~tested | (self.p_value <= most)
        return kept

    def cut(self, n_clusters: int | None = None, persistence: float | None = None) -> IntVector:
        """Which mode each mode belongs to when only some are kept.

        Parameters
        ----------
        n_clusters : int or None, default=None
            Keep so many, the clearest (of the largest ``z``).
        persistence : float or None, default=None
            Keep those that stand so high above their saddle, in the units of the density.

        Returns
        -------
        ndarray of shape (m,)
            The number of a kept mode for each.

        Raises
        ------
        ValueError
            If not exactly one of the two is given, or there are fewer modes.

        See Also
        --------
        significant : Those that noise does not explain.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [5.2]])
        >>> km.MeanShift(bandwidth=0.5).fit(X).tree_.cut(n_clusters=1)
        array([0, 0])
        """
        if (n_clusters is None) == (persistence is None):
            raise ValueError("cut by exactly one of n_clusters and persistence.")
        if persistence is not None:
            least = _checks.number(persistence, "persistence", least=0.0)
            return self.owners((self.parent < 0) | (self.persistence >= least))
        count = _checks.count(n_clusters, "n_clusters")
        if count > len(self):
            raise ValueError(
                f"n_clusters={count} is more than the {len(self)} modes of the density; a smaller "
                "bandwidth has more."
            )
        clearest = np.argsort(-self.z, kind="stable")
        kept = np.zeros(len(self), dtype=bool)
        kept[clearest[:count]] = True
        return self.owners(kept)

    def owners(self, kept: NDArray[np.bool_]) -> IntVector:
        """For each mode itself where it is kept, else the owner of its parent.

        Parameters
        ----------
        kept : ndarray of shape (m,)
            Which modes are kept; all that have no parent must be.

        Returns
        -------
        ndarray of shape (m,)
            The number of a kept mode for each.

        See Also
        --------
        significant : Those that noise does not explain.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> X = np.concatenate([rng.normal(0.0, 0.5, (200, 2)), rng.normal(4.0, 0.5, (100, 2))])
        >>> tree = km.MeanShift(random_state=0).fit(X).tree_
        >>> tree.owners(tree.size >= 150)[:2]
        array([0, 0])
        """
        owner = np.where(kept, np.arange(len(self)), self.parent)
        for _ in range(len(self)):
            further = owner[owner]
            if np.array_equal(further, owner):
                break
            owner = further
        return owner

    def large(self, kept: NDArray[np.bool_], least: int) -> NDArray[np.bool_]:
        """Those of the kept modes that have enough points, with what joins them from below.

        Parameters
        ----------
        kept : ndarray of shape (m,)
            Which modes are kept.
        least : int
            The number of points that a mode must have to be kept.

        Returns
        -------
        ndarray of shape (m,)
            Which are kept then; the last mode always is.

        See Also
        --------
        owners : Where the points of the others go.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> X = np.concatenate([rng.normal(0.0, 0.5, (200, 2)), rng.normal(4.0, 0.5, (100, 2))])
        >>> tree = km.MeanShift(random_state=0).fit(X).tree_
        >>> int(tree.large(tree.significant(0.05), 150).sum())
        1
        """
        still = kept.copy()
        sizes = self.size.copy()
        for mode in self.from_last[:0:-1]:
            still[mode] &= sizes[mode] >= least
            if not still[mode]:
                sizes[self.parent[mode]] += sizes[mode]
        return still

    @property
    def from_last(self) -> IntVector:
        """The modes, each after its parent.

        Returns
        -------
        ndarray of shape (m,)
            The numbers of all modes, the last one first.
        """
        depth = np.zeros(len(self), dtype=np.intp)
        above = self.parent.copy()
        while (above >= 0).any():
            depth += above >= 0
            above = np.where(above >= 0, self.parent[above], -1)
        return np.argsort(depth, kind="stable")

    def _clearest(self) -> str:
        tested = self.z[self.parent >= 0]
        return f"z = {max(tested.max(), 0.0):.3g}" if len(tested) else "none"
