"""The value of a mean on a domain at rows, with names in the place of categories or as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kernelmean import _checks
from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.domains import Cuts, Images, tables, words
from kernelmean.mean import sphere
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.on_domain.facts import OfBase
from kernelmean.mean.questions.asking import Columns
from kernelmean.mean.sums import density_sum
from kernelmean.mean.unfolding import Ended, ended, imaged, images_of
from kernelmean.samples import Sample


class Evaluation(OfBase):
    """A sum over centres and their images, times the probabilities of categories.

    What the rest of the package asks of a mean; not part of the public surface.
    """

    log_shares: Matrix | None
    columns: tuple[str, ...] | None
    cut: Cuts | None

    @property
    def places(self) -> Points:
        """(k, coordinates): the centres; where one ends at bounds, its mean between them."""
        found = self.base.centers
        if self.ended is None:
            return found
        return np.concatenate([self.ended.centers, found[:, len(self.domain.lines) :]], axis=1)

    @lazy
    def ended(self) -> Ended | None:
        """The centres as the domain sees them, where any ends at bounds."""
        if self.cut is None or not self.cut.any():
            return None
        return ended(self.base.expansion, self.domain.group, self.cut)

    def _likeliest(self) -> IntVector:
        """(k, c) the most probable category of each column in each component."""
        if self.log_shares is None:
            return np.zeros((self.k, 0), dtype=np.intp)
        parts = np.split(self.log_shares, np.cumsum(self.domain.sizes)[:-1], axis=1)
        return np.column_stack([part.argmax(axis=1) for part in parts])

    def written(self, rows: Points) -> Any:
        """Coded rows as users have them.

        Parameters
        ----------
        rows : ndarray of shape (q, d)
            Rows with the positions of categories among the levels.

        Returns
        -------
        ndarray of shape (q, d)
            The rows with the categories themselves, as objects where they are no numbers.
        """
        return tables.written(rows, self.domain.categories.tolist(), self.domain.levels)

    def coded(self, Q: Any, *, incomplete: bool = False) -> Points:
        """Rows as users have them, checked, as numbers.

        Parameters
        ----------
        Q : array-like or frame of shape (q, d), or Sample
            The rows; those of a sample are checked, and numbers, already.
        incomplete : bool, default=False
            Whether NaN and None may stand for values that are missing.

        Returns
        -------
        ndarray of shape (q, d)
            The rows, with categories replaced by their position among the levels, −1 for others.
        """
        if isinstance(Q, Sample):
            return Q.array()
        Columns(self.dimension, self.columns).refuse_other_order(Q, "Q")
        table = np.array(Q, dtype=object) if isinstance(Q, list | tuple) else Q
        _checks.table_shape(np.shape(table), "Q", self.dimension)
        categories = self.domain.categories
        levels = self.domain.levels
        coded = tables.code(table, tuple(categories.tolist()), levels, "Q", incomplete=incomplete)
        lost = np.isnan(coded.rows[:, categories]).any(axis=0)
        if lost.any() and not incomplete:
            column = words.label(int(categories[lost][0]), self.columns)
            raise ValueError(
                f"Q has missing values in {column}; use log(Q, missing='marginal') for these rows, "
                "or drop them."
            )
        return coded.rows

    def log_coded(self, rows: Points) -> Vector:
        """The logarithm of f at coded rows.

        Parameters
        ----------
        rows : ndarray of shape (q, d)
            Rows as :meth:`coded` gives them, complete.

        Returns
        -------
        ndarray of shape (q,)
            log f(q_1), …, log f(q_q).
        """
        found = np.full(len(rows), -np.inf)
        mean = self.unfolded
        formula = mean.kernel.formula(mean.dimension)
        for some, mapped, weights, log_factor in self._by_codes(rows):
            sums = mean.cloud_for(mapped).log_kernel_sum(formula, mapped, weights)
            found[some] = sums + mean.log_constant + log_factor
        return found

    def values_coded(self, rows: Points) -> Vector:
        """The value of f at coded rows.

        Parameters
        ----------
        rows : ndarray of shape (q, d)
            Rows as :meth:`coded` gives them, complete.

        Returns
        -------
        ndarray of shape (q,)
            f(q_1), …, f(q_q).
        """
        found = np.zeros(len(rows))
        mean = self.unfolded
        formula = mean.kernel.formula(mean.dimension)
        for some, mapped, weights, log_factor in self._by_codes(rows):
            constant = mean.log_constant + log_factor
            found[some] = density_sum(mean.cloud_for(mapped), formula, mapped, weights, constant)
        return found

    def _by_codes(self, rows: Points) -> Iterator[tuple[IntVector | slice, Points, Vector, float]]:
        """Rows that have the same categories and lie inside, in the coordinates of the kernel.

        With them come the weights of the centres there, and the logarithm of a factor for the sum.
        """
        embedded = self.domain.embed(rows)
        for codes, some in embedded.by_codes():
            weights, log_factor = self.weights_at(codes)
            yield some, self.unfolded.map(embedded.coordinates[some]), weights, log_factor

    def weights_at(self, codes: IntVector) -> tuple[Vector, float]:
        """The weights of ``unfolded`` at the given categories, and the logarithm of a factor.

        Parameters
        ----------
        codes : ndarray of int of shape (c,)
            A category of each column.

        Returns
        -------
        weights : ndarray of shape (K,)
            The weights in units of the factor.
        log_factor : float
            The logarithm of the factor.
        """
        weights = self.unfolded.weights
        if self.log_shares is None:
            return weights, 0.0
        logs = sum(self.shares_of(i)[:, code] for i, code in enumerate(codes.tolist()))
        top = float(np.max(logs))
        if np.isneginf(top):  # which no component has
            return np.zeros(len(weights)), 0.0
        return weights * np.exp(logs - top)[self.images.owner], top

    def shares_of(self, i: int) -> Matrix:
        """The logarithms of the probabilities of one column of categories.

        Parameters
        ----------
        i : int
            Which of the columns of categories, from 0 on.

        Returns
        -------
        ndarray of shape (k, levels)
            A row for each component.
        """
        assert self.log_shares is not None
        first = sum(self.domain.sizes[:i])
        return self.log_shares[:, first : first + self.domain.sizes[i]]

    @lazy
    def images(self) -> Images:
        """The images of the centres that reach into the domain."""
        lines = np.arange(len(self.domain.lines))
        return images_of(self.base.expansion, self.domain.group, lines, self.cut)

    @lazy
    def unfolded(self) -> KernelMean:
        """The centres and their images as one sum, each divided by its mass on the spheres.

        Inside the domain it is what f is but for categories; outside it means nothing.
        """
        base = self.base.expansion
        weights = base.weights * np.exp(-sphere.log_masses(base, self.domain))
        lines = np.arange(len(self.domain.lines))
        return imaged(replace(base, weights=weights), self.images, lines)

    def _within(self, Q: Any, method: str) -> Points:
        """A gradient of the unfolded sum at rows inside; 0 at others."""
        if not self.domain.is_flat:
            raise ValueError(
                f"{method} needs columns of numbers, and here is {self._not_flat()}: give those "
                "columns to conditional(...) first."
            )
        embedded = self.domain.embed(self.coded(Q))
        found = np.zeros(embedded.coordinates.shape)
        if embedded.inside.any():
            inside = embedded.coordinates[embedded.inside]
            found[embedded.inside] = getattr(self.unfolded, method)(inside)
        return found

    def _not_flat(self) -> str:
        """The columns that hold no numbers, in words."""
        flat = set(self.domain.lines.tolist())
        names = [words.label(t, self.columns) for t in range(self.dimension) if t not in flat]
        return ", ".join(names)
