"""From labelled points to class means that proportions can be read from."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kernelmean import _checks
from kernelmean._random import Streams
from kernelmean._types import Space, Vector
from kernelmean.bandwidth import LABELLED_RULE
from kernelmean.bandwidth.resolve import DEFAULT_RULE, labelled_kernel
from kernelmean.engines import Engine
from kernelmean.fitting.prepare import Prepared, prepare
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import SPACES, Kernel
from kernelmean.mean import scaling
from kernelmean.mean.expansion import AnyMean
from kernelmean.proportions import means, searching, solving
from kernelmean.proportions.choosing import Choice
from kernelmean.proportions.intervals import ProportionIntervals, intervals
from kernelmean.proportions.means import Plan
from kernelmean.proportions.searching import Search
from kernelmean.proportions.solving import System
from kernelmean.samples import Sample, WeightedSample

POSTERIOR_SOLVERS = ("auto", "likelihood")
# Options that speak of kernel means, as they are where nothing is asked of them.
USUAL = {
    "kernel": "gaussian",
    "bandwidth": None,
    "scale": None,
    "space": "rkhs",
    "sparse": True,
    "sparse_test": False,
    "k": "auto",
    "k_max": None,
    "tol": 1e-10,
    "selection": "auto",
    "spread": "auto",
}


@dataclass(frozen=True)
class Settings:
    """What a user may ask of class proportions; see :class:`kernelmean.ClassProportions`."""

    kernel: Any
    bandwidth: Any
    scale: Any
    space: Space
    solver: str
    sparse: bool
    sparse_test: bool
    k: Any
    k_max: Any
    tol: Any
    selection: Any
    spread: Any
    engine: str | Engine

    @property
    def searching(self) -> bool:
        """Whether a bandwidth is searched for: a name without one asks for it.

        A kernel has its own length unless told otherwise.
        """
        return (
            isinstance(self.kernel, str)
            if self.bandwidth is None
            else is_word(self.bandwidth, "search")
        )

    def about_means(self) -> bool:
        """Whether anything is asked of kernel means, or of how they are compared."""
        if self.solver not in POSTERIOR_SOLVERS:
            return True
        asked = [name for name, usual in USUAL.items() if not _equal(getattr(self, name), usual)]
        if asked and self.solver == "likelihood":
            raise ValueError(
                f"solver='likelihood' works on posteriors at bandwidths of its own; {asked[0]}= is "
                "for the solvers that compare kernel means."
            )
        return bool(asked)

    def of_features(self) -> Settings:
        """The same for features of any unit, where nothing was asked."""
        return replace(self, solver="moments", scale="auto", bandwidth="median")

    def solved(self) -> Settings:
        """The same with the solver that compares kernel means, where the choice was left open."""
        if self.solver == "likelihood":
            raise ValueError(
                "solver='likelihood' needs posteriors: take representation='auto' or a classifier."
            )
        return replace(self, solver="qp") if self.solver == "auto" else self

    def check(self) -> None:
        """The names; numbers are checked where they are used."""
        _checks.choice(self.solver, "solver", (*POSTERIOR_SOLVERS, *solving.SOLVERS))
        _checks.choice(self.space, "space", SPACES)
        for name in ("sparse", "sparse_test"):
            _checks.choice(getattr(self, name), name, (True, False))
        if not isinstance(self.selection, str):
            raise TypeError(
                "selection must be a name, since each class selects its own centres, got "
                f"{self.selection!r}."
            )


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """C fitted class means, from which the proportions of any sample follow."""

    means: list[AnyMean]
    system: System
    plan: Plan
    settings: Settings
    search: Search | None
    choice: Choice | None = None  # None: kernel means were asked for

    @property
    def solver(self) -> str:
        """The name of the solver."""
        return self.settings.solver

    @property
    def kernel(self) -> Kernel:
        """The kernel of all means."""
        return self.plan.kernel

    def kappa(self, X: Sample) -> Vector:
        """κ_c = ⟨z_c, P̂₀⟩ = mean of z_c over the sample.

        With ``sparse_test`` P̂₀ is replaced by its sparse mean.
        """
        if not self.settings.sparse_test:
            return means.averages(self.means, X)
        return means.inner_products(self.means, means.fit([X], replace(self.plan, sparse=True))[0])

    def proportions(self, X: Sample) -> Vector:
        """(C,): π ≥ 0, Σπ = 1."""
        return self._solve(self.kappa(X))

    def intervals(
        self, X: Sample, level: float, n_bootstrap: int, streams: Streams
    ) -> ProportionIntervals:
        """The proportions with bootstrap intervals."""
        F = X.apply(partial(means.values, self.means))
        kappa = self.kappa(X) if self.settings.sparse_test else F.mean(axis=0)
        return intervals(self.system, F, self._solve(kappa), level, n_bootstrap, streams)

    def _solve(self, kappa: Vector) -> Vector:
        found: Vector = solving.solve(self.system, kappa[None], self.settings.solver)[0]
        return found


def fit_class_means(
    groups: Sequence[Sample], names: Sequence[Any], settings: Settings, streams: Streams
) -> ClassMeans:
    """Means of the classes with one kernel and one scale.

    The kernel is found by search, by a rule on all points together, or as given.
    """
    plan = plan_of(groups, settings, streams)
    search: Search | None = None
    if settings.searching:
        plan, fitted, search = _searched(groups, plan, settings.solver, streams)
    else:
        fitted = means.fit(groups, plan)
    system = means.measure(fitted, groups, streams)
    _warn_if_indistinct(system, names)
    return ClassMeans(fitted, system, plan, settings, search)


def plan_of(groups: Sequence[Sample], settings: Settings, streams: Streams) -> Plan:
    """One kernel and one scale for all classes, and how their means are made."""
    prepared = _prepare(groups, settings)
    names_of_options = ("k", "k_max", "tol", "selection", "spread")
    return Plan(
        prepared.kernel,
        prepared.data.scale,
        settings.space,
        settings.sparse,
        settings.engine,
        streams.within("class means"),
        {name: getattr(settings, name) for name in names_of_options},
    )


def _prepare(groups: Sequence[Sample], settings: Settings) -> Prepared:
    """Scale and kernel from all classes together; before a search, any kernel of the family."""
    labelled = is_word(settings.bandwidth, LABELLED_RULE)
    rule = (
        DEFAULT_RULE
        if settings.bandwidth is None or settings.searching or labelled
        else settings.bandwidth
    )
    X = groups[0].join(groups[1:])
    asked = FitSettings(
        kernel=settings.kernel, bandwidth=rule, scale=settings.scale, engine=settings.engine
    )
    prepared = prepare(WeightedSample.of(X), asked)
    if not labelled:
        return prepared
    y = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    mapped = scaling.apply(prepared.data.scale, X.array(), X.first)
    return prepared.with_kernel(labelled_kernel(settings.kernel, mapped, y, None, settings.engine))


def _searched(
    groups: Sequence[Sample], plan: Plan, solver: str, streams: Streams
) -> tuple[Plan, list[AnyMean], Search]:
    """Centres once, then the bandwidth, then the coefficients.

    The centres of the search are points, which serve every bandwidth. Spreads are fitted to the
    bandwidth that was found.
    """
    origin = groups[0].first
    spread = plan.sparse and means.may_spread(groups, plan)
    selected = means.select(groups, plan) if plan.sparse else None
    mapped = [X if plan.scale is None else X.map(plan.scale, origin) for X in groups]
    centers = (
        None
        if selected is None
        else [scaling.apply(plan.scale, mean.centers, origin) for mean in selected]
    )
    search = searching.search(mapped, centers, plan, solver, streams)
    found = replace(plan, kernel=plan.kernel.matching(search.best, groups[0].dimension))
    if selected is None or spread:
        return found, means.fit(groups, found), search
    return found, means.refit(selected, groups, found), search


def _warn_if_indistinct(system: System, names: Sequence[Any]) -> None:
    involved = np.flatnonzero(np.max(np.abs(system.indistinct), axis=1, initial=0.0) > 1e-6)
    if len(involved):
        which = ", ".join(repr(names[int(c)]) for c in involved)
        warnings.warn(
            f"the kernel means of classes {which} coincide, or one is a mixture of others: their "
            "proportions cannot be told "
            "apart, and the solution of least norm is given; merge classes or change the "
            "bandwidth.",
            stacklevel=5,
        )


def is_word(value: Any, word: str) -> bool:
    """Whether an option, which may be an array or an object, is this word."""
    return isinstance(value, str) and value == word


def _equal(value: Any, usual: Any) -> bool:
    """Whether an option is what it is by default; arrays and instances never are."""
    return type(value) is type(usual) and bool(value == usual)
