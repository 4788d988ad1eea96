"""Several mixtures as one: the shares by which they explain held-out rows best.

A mixture of mixtures is a mixture. Its shares are found by EM on the densities that each gives to
rows it has not seen [1]: none is chosen, and what one of them gets wrong the others dampen.

[1] P. Smyth and D. Wolpert, "Linearly combining density estimators via stacking", Machine Learning
36, 1999.
"""

from __future__ import annotations

import numpy as np

from kernelmean._types import IntVector, Matrix, Vector

ROUNDS = 200  # of EM, for shares that are used
# Nats below the best density of a row, at which densities end: none vanishes, so that the members
# of a stack, which may be the worst for every row, have shares.
LEAST_LOG = -700.0
IDLE_LOSS = 0.003  # nats, by which a member must be missed to stay
DRAFT_ROUNDS = 40  # for shares that only rank
LONG_ROUNDS = 1000  # where members are so alike that shares move slowly
PRIOR_ROWS = 0.5  # rows that each of few members explains beforehand: so many that none overfits


class Stack:
    """Mixtures that are judged by the log-densities of held-out rows.

    Parameters
    ----------
    logs : ndarray of shape (rows, mixtures)
        The log-density that each mixture gives to each held-out row.
    masses : ndarray of shape (rows,)
        How much each row counts.
    """

    def __init__(self, logs: Matrix, masses: Vector) -> None:
        self._top = logs.max(axis=1)
        self._densities = np.exp(np.maximum(logs - self._top[:, None], LEAST_LOG))
        self._p = masses / masses.sum()

    def shares(self, among: IntVector | None = None, rounds: int = ROUNDS) -> Vector:
        """(mixtures,) shares that sum to one, zero for those that are not ``among`` them."""
        count = self._densities.shape[1]
        members = np.arange(count) if among is None else among
        shares = np.zeros(count)
        shares[members] = self._found(self._densities[:, members], rounds)
        return shares

    def _found(self, f: Matrix, rounds: int, prior: float = 0.0) -> Vector:
        """s_m ← c + Σ_j p_j s_m f_m(x_j) / Σ_l s_l f_l(x_j), and these divided by their sum."""
        s = np.full(f.shape[1], 1.0 / f.shape[1])
        for _ in range(rounds):
            s = s * ((self._p / (f @ s)) @ f) + prior
            s /= s.sum()
        return s

    def value(self, shares: Vector) -> float:
        """Σ_j p_j log Σ_m s_m f_m(x_j)."""
        return float(self._p @ (self._top + np.log(self._densities @ shares)))

    def few(self, sizes: Vector, most: int, atoms: float) -> Vector:
        """The shares of at most so many mixtures with at most so many atoms in all.

        The one that is missed least goes first; where atoms are too many, least for its atoms. Of
        what is left, the largest go that are hardly missed.
        """
        members = np.flatnonzero(sizes <= atoms)
        shares = self.shares(members, DRAFT_ROUNDS)
        while len(members) > 1 and (len(members) > most or sizes[members].sum() > atoms):
            dear = sizes[members].sum() > atoms
            missed = shares[members] / (np.sqrt(sizes[members]) if dear else 1.0)
            members = np.delete(members, int(np.argmin(missed)))
            shares = self.shares(members, DRAFT_ROUNDS)
        return self._without_idle(members, sizes)

    def beside(self, shares: Vector, others: IntVector) -> Vector:
        """The shares of ``others`` and of a mixture that has shares, which count as one member.

        Its own shares were found on these rows; those of one member more are not led astray by
        how many it has.
        """
        f = np.column_stack([self._densities @ shares, self._densities[:, others]])
        found = self._found(f, LONG_ROUNDS, PRIOR_ROWS / len(f))
        together: Vector = found[0] * shares
        together[others] += found[1:]
        return together

    def _without_idle(self, members: IntVector, sizes: Vector) -> Vector:
        """The shares without members that are not worth their atoms, the largest first."""
        shares = self.shares(members)
        for member in members[np.argsort(-sizes[members], kind="stable")]:
            others = members[members != member]
            fewer = self.shares(others) if len(others) else shares
            if len(others) and self.value(fewer) >= self.value(shares) - IDLE_LOSS:
                members = others
                shares = fewer
        return shares
