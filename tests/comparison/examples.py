"""Differences of small samples, that pictures, pages, sentences and commands are tested on."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

import kernelmean as km

COLUMNS = ("age", "income", "height", "score")


def people(seed=0, n=900):
    """Two samples of four columns: B has more old and poor rows, A some more young and rich."""
    rng = np.random.default_rng(seed)

    def most(m):
        height = rng.normal(172.0, 9.0, m)
        return np.column_stack(
            [rng.normal(45.0, 11.0, m), rng.normal(38e3, 8e3, m), height, rng.normal(0, 1, m)]
        )

    def some(m, age, income):
        rest = most(m)
        rest[:, 0] = rng.normal(age, 2.5, m)
        rest[:, 1] = rng.normal(income, 2200.0, m)
        return rest

    A = np.concatenate([most(n), some(n // 12, 27.0, 58e3), some(n // 30, 71.0, 19e3)])
    B = np.concatenate([most(n - 60), some(n // 7, 71.0, 19e3)])
    return A, B, COLUMNS


class Planted(NamedTuple):
    """Two samples, the names of their columns, and how they differ."""

    A: np.ndarray
    B: np.ndarray
    columns: tuple[str, ...]
    found: km.Difference


@cache
def planted(columns=COLUMNS, names=("before", "after"), d=4):
    """The difference of :func:`people`, or of the first d of their columns."""
    A, B, _ = people()
    A, B = A[:, :d], B[:, :d]
    columns = columns[:d]
    return Planted(A, B, columns, km.difference(A, B, names=names, columns=columns, random_state=0))


@cache
def alike():
    """The difference of two samples that have one distribution."""
    A, _, columns = people()
    return km.difference(A[:900:2], A[1:900:2], columns=columns, random_state=0)


@cache
def three_groups():
    """The people of three sites, of which the first is sample A."""
    A, B, columns = people()
    sites = np.repeat(["north", "south", "west"], [len(A), 500, len(B) - 500])
    return km.difference(np.concatenate([A, B]), groups=sites, columns=columns, random_state=0)


def with_regions(found, *regions):
    """The same difference with other regions."""
    return replace(found, regions=replace(found.regions, items=regions))


def with_p_value(found, p):
    """The same difference with another p-value."""
    return replace(found, test=replace(found.test, p_value=p))
