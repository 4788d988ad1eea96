"""Every public function, estimator and measure as a subject of metamorphic tests: how to call it,
and what its answers are.

A case is data with settings; a subject turns it into facts. A fact says how it follows when the
data change: a row number goes with its row, a point with the data, a length with their unit. What
no subject covers must be excused by name, so that a new public name cannot be forgotten.
"""

from __future__ import annotations

import inspect
import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import kernelmean as km
from tests.strategies import _cloud

CPU = {threads: km.engines.open("cpu", threads=threads) for threads in (1, 2, 3)}
GRID = (
    2.0**-12
    # coordinates are multiples of it and below 2³: differences and their squares are exact, far off
    # and turned too
)
FINE = (
    2.0**-30
    # so fine that no two distances tie, where something rounds them; 2²⁰ away coordinates are exact
    # still
)
# of the largest value: as far as optimal weights, of condition 1e12, decide what they add up to
OPTIMUM = 1e-6
RULES = ("scott", "silverman", "iqr", "median", "mode", "likelihood", "auto")

RADIAL = km.Radial(  # a Gaussian in the user's own words
    lambda s: math.exp(-0.5 * s),
    1.0,
    decay_function=lambda s: 0.5 * math.exp(-0.5 * s),
    log_constant=lambda d: -0.5 * d * math.log(2.0 * math.pi),
    l2_profile=lambda s: math.exp(-0.25 * s),
    l2_constant=lambda d: -0.5 * d * math.log(4.0 * math.pi),
    l2_decay_function=lambda s: 0.25 * math.exp(-0.25 * s),
    scales=lambda size, d, rng: np.ones(size),
    sampler=lambda size, d, rng: rng.standard_normal((size, d)),
)
KERNELS = (km.Gaussian(1.0), km.Laplacian(1.0), km.Student(2.5, 1.0), km.Cauchy(1.0), RADIAL)
NAMED = ("gaussian", "laplacian", "cauchy")


class Fact(NamedTuple):
    """A part of an answer, and how it goes with the data."""

    value: Any
    # "same", "rows", "each", "each point", "points", "number", "log"; "unstable": only bit for bit
    kind: str = "number"
    power: float = (
        0.0  # of the factor that the data are multiplied by; of "log", what is added per log factor
    )
    # differences below this are rounding; of "log", differences of what it is the logarithm of
    floor: float = 0.0


PartFacts = dict[str, Fact]


@dataclass(frozen=True, eq=False)
class Case:
    """Two samples with labels and weights, queries, and settings."""

    X: Any
    Z: Any
    Q: Any
    y: Any
    yz: Any
    w: Any  # weights of X, or None
    v: Any  # of Z
    kernel: Any
    rule: str | None  # for the bandwidth, in the place of the kernel's own
    scale: str | None
    space: str
    constraint: str | None
    selection: Any
    k: int | str
    seed: int
    first: int
    sparse: bool = True
    engine: Any = CPU[1]

    @property
    def d(self) -> int:
        return int(np.shape(self.X)[1])

    @property
    def unit(self) -> float:
        """The power by which lengths follow the data: a named scale takes their unit away."""
        return 1.0 if self.scale is None else 0.0

    @property
    def width(self) -> dict[str, Any]:
        """Kernel and bandwidth: by a rule for families that have a name."""
        if self.rule is not None and self.kernel.name in NAMED:
            return {"kernel": self.kernel.name, "bandwidth": self.rule}
        return {"kernel": self.kernel}

    @property
    def common(self) -> dict[str, Any]:
        return {**self.width, "scale": self.scale, "engine": self.engine}

    @property
    def chosen(self) -> dict[str, Any]:
        return {**self.common, "k": self.k, "selection": self.selection, "random_state": self.seed}

    def mean(self, **other: Any) -> km.SparseKernelMean:
        options = {
            **self.chosen,
            "space": self.space,
            "constraint": self.constraint,
            "sample_weight": self.w,
            **other,
        }
        return km.sparse_kernel_mean(self.X, **options)


@dataclass(frozen=True)
class Subject:
    """Something public that is asked for facts."""

    covers: tuple[str, ...]  # public names
    ask: Callable[[Case], PartFacts]
    holds: frozenset[str]
    scaled: bool  # whether it takes a scale

    def suited(self, case: Case) -> Case:
        """The case without what the subject does not take."""
        return case if self.scaled else replace(case, scale=None)


SUBJECTS: dict[str, Subject] = {}
EVERY = frozenset({"absent", "counts", "order", "move", "stretch", "forms", "again", "parts"})
SEEDED = EVERY - {"order"}  # what chance draws goes by the place of rows
UNWEIGHTED = EVERY - {"absent", "counts"}


def subject(
    *covers: str, holds: frozenset[str] = EVERY, scaled: bool = True
) -> Callable[[Callable[[Case], PartFacts]], Callable[[Case], PartFacts]]:
    def register(ask: Callable[[Case], PartFacts]) -> Callable[[Case], PartFacts]:
        SUBJECTS[ask.__name__] = Subject(covers, ask, holds, scaled)
        return ask

    return register


def holding(what: str) -> list[str]:
    return [name for name, found in SUBJECTS.items() if what in found.holds]


# --- rules
# --------------------------------------------------------------------------------------------------


def _rule(name: str) -> Callable[[Case], PartFacts]:
    def ask(case: Case) -> PartFacts:
        return {"sigma": Fact(getattr(km.bandwidth, name)(case.X, case.w), power=1.0)}

    ask.__name__ = name
    return ask


for _name in RULES:
    # Mapped files and Dask collections are for fits; rules of their own read them whole.
    subject(f"bandwidth.{_name}", holds=EVERY - {"parts"})(_rule(_name))


@subject("bandwidth.jaakkola", holds=EVERY - {"parts"})
def jaakkola(case: Case) -> PartFacts:
    return {
        v: Fact(km.bandwidth.jaakkola(case.X, case.y, case.w, variant=v), power=1.0)
        for v in ("nearest", "cross")
    }


# --- means
# --------------------------------------------------------------------------------------------------


@subject("k_center", "Centers")
def k_center(case: Case) -> PartFacts:
    k = 5 if isinstance(case.k, str) else case.k
    found = km.k_center(case.X, k, first=case.first, engine=case.engine, sample_weight=case.w)
    return {
        "indices": Fact(found.indices, "rows"),
        "points": Fact(found.points, "points"),
        "radii": Fact(found.radii, power=1.0),
        "cover": Fact(found.cover, power=1.0),
    }


@subject("kernel_mean", "KernelMean", holds=EVERY - {"parts"})  # all points in memory
def kernel_mean(case: Case) -> PartFacts:
    mean = km.kernel_mean(case.X, space=case.space, sample_weight=case.w, **case.common)
    return {"n": Fact(mean.n_points), **_evaluated(mean, case)}


@subject(
    "sparse_kernel_mean", "SparseKernelMean", "Gaussian", "Laplacian", "Student", "Cauchy", "Radial"
)
def sparse_kernel_mean(case: Case) -> PartFacts:
    return _mean(case.mean(), case)


@subject("Estimate", holds=EVERY - {"parts"})  # all points in memory
def questions(case: Case) -> PartFacts:
    options = {**case.common, "kernel": km.Gaussian(case.kernel.length)}
    options.pop("bandwidth", None)
    mean = km.kernel_mean(case.X, space="l2", sample_weight=case.w, **options)
    # What does not go by the axes: the data are turned too.
    return {
        "expectation": Fact(mean.expectation()[None], "points"),
        "variances": Fact(np.linalg.eigvalsh(mean.covariance()), power=2.0),
        "probability": Fact(float(mean.probability(random_state=case.seed))),
    }


@subject("SparseKernelMean.refit")
def refit(case: Case) -> PartFacts:
    old = case.mean(
        selection=case.selection if isinstance(case.selection, np.ndarray) else "kcenter"
    )
    return _mean(
        old.refit(
            case.X, bandwidth=case.kernel.length * 2.0, constraint="simplex", sample_weight=case.w
        ),
        case,
    )


@subject("SparseKernelMean.certificate", "Certificate", holds=EVERY - {"order", "parts"})
def certificate(case: Case) -> PartFacts:
    mean = case.mean(
        k=2,
        constraint=None,
        selection=case.selection if isinstance(case.selection, np.ndarray) else "kcenter",
    )
    facts: PartFacts = {}
    for method in ("exact", "rows", "spectral"):
        found = mean.certificate(
            case.X, method=method, sample_weight=case.w, size=64, random_state=case.seed
        )
        # Rounding hides what is below the floor, and an estimate near it is a root of what rounding
        # left.
        clear = method == "exact" and not found.below_floor and found.relative_error > 1e-4
        facts[method] = Fact(found.error, "number" if clear else "unstable", _norm(case))
    return facts


@subject("merge", "distance_matrix", holds=SEEDED, scaled=False)
def merge(case: Case) -> PartFacts:
    """With room for all centres the merged mean is the union's."""
    halves = [_plain(case), km.sparse_kernel_mean(case.Z, **_fixed(case), sample_weight=case.v)]
    whole = km.merge(halves, k=1000)
    distances = km.distance_matrix([*halves, whole])
    return {
        "distances": Fact(distances, power=_norm(case)),
        "n": Fact(whole.n_points),
        **_evaluated(whole, case),
    }


@subject("MeanStream", holds=SEEDED, scaled=False)
def stream(case: Case) -> PartFacts:
    halves = [_plain(case), km.sparse_kernel_mean(case.Z, **_fixed(case), sample_weight=case.v)]
    found = km.MeanStream(k=1000).add(halves[0]).add(halves[1])
    return {
        "error": Fact(found.error, "unstable"),
        "n": Fact(found.mean.n_points),
        **_evaluated(found.mean, case),
    }


@subject("load", holds=SEEDED, scaled=False)
def load(case: Case) -> PartFacts:
    mean = _plain(case)
    with tempfile.TemporaryDirectory() as folder:
        mean.save(Path(folder) / "mean.km")
        return _mean(
            km.load(
                Path(folder) / "mean.km", kernel=RADIAL if case.kernel.name == "radial" else None
            ),
            case,
        )


# --- estimators
# --------------------------------------------------------------------------------------------------


@subject("SparseKDE.fit", "SparseKDE")
def density(case: Case) -> PartFacts:
    fitted = km.SparseKDE(**case.chosen, sparse=case.sparse).fit(case.X, sample_weight=case.w)
    return _density(fitted, case)


@subject("SparseKDE.fit", holds=EVERY - {"parts"})
def density_of_labels(case: Case) -> PartFacts:
    options = {**case.chosen, "kernel": "gaussian", "bandwidth": "jaakkola", "sparse": case.sparse}
    return _density(km.SparseKDE(**options).fit(case.X, case.y, case.w), case)


@subject("SparseKDE.score", holds=EVERY - {"parts"})
def total_log_density(case: Case) -> PartFacts:
    """Of the rows themselves, by row: all are centres, so that none has hardly any density."""
    fitted = km.SparseKDE(**case.chosen, sparse=False).fit(case.X, sample_weight=case.w)
    rows = len(case.X) if case.w is None else np.sum(case.w, dtype=np.float64)
    mean = fitted.score(case.X, sample_weight=case.w) / rows
    return {"mean log": Fact(mean, "log", -case.d)}


@subject("SparseKDE.partial_fit", holds=SEEDED)
def density_of_batches(case: Case) -> PartFacts:
    selection = "kcenter" if isinstance(case.selection, np.ndarray) else case.selection
    fitted = km.SparseKDE(**{**case.chosen, "selection": selection, "k": 1000})
    fitted.partial_fit(case.X, sample_weight=case.w).partial_fit(case.Z, sample_weight=case.v)
    return _density(fitted, case)


@subject("DomainMean", "DomainMean.certificate", holds=frozenset({"absent", "counts", "again"}))
def density_on_domain(case: Case) -> PartFacts:
    """Bounds and a period; the data of a case are turned and moved, and a domain is not."""
    domain = {0: (-8.0, None), 1: km.Periodic(16.0)}
    options = {**case.chosen, "kernel": km.Gaussian(case.kernel.length), "target": "kde"}
    options |= {"bandwidth": "scott", "scale": None, "sparse": True}
    options["domain"] = {t: kind for t, kind in domain.items() if t < case.d}
    fitted = km.SparseKDE(**options).fit(case.X, sample_weight=case.w)
    found = fitted.mean_.certificate(case.X, sample_weight=case.w, random_state=case.seed)
    clear = found.method == "exact" and found.relative_error > 1e-4
    return {
        "error": Fact(found.error, "number" if clear else "unstable"),
        "logs": Fact(fitted.mean_.log(case.Q), "log", 0.0, OPTIMUM),
        "quantiles": Fact(fitted.log_quantiles_, "log", 0.0, OPTIMUM),
    }


@subject("Categorical", "Periodic", "Sphere", holds=frozenset({"absent", "again"}), scaled=False)
def mixture_on_domain(case: Case) -> PartFacts:
    """All kinds of columns, by likelihood: labels are categories, two columns a place."""
    X, Q = (
        np.column_stack([A[:, 0], labels, A[:, 0], 20.0 * A[:, 0], 10.0 * A[:, -1]])
        for A, labels in ((case.X, case.y), (case.Q, np.arange(len(case.Q)) % 2))
    )
    domain = {0: (-8.0, 8.0), 1: km.Categorical(), 2: km.Periodic(16.0), (3, 4): km.Sphere()}
    options = {"k": case.k, "engine": case.engine, "random_state": case.seed}
    fitted = km.SparseKDE(domain=domain, **options).fit(X, sample_weight=case.w)
    return {
        "levels": Fact(fitted.mean_.domain.levels, "same"),
        "logs": Fact(fitted.mean_.log(Q), "log"),
    }


@subject("KernelDensity.fit", "KernelDensity", scaled=False, holds=EVERY - {"parts"})
def full_density(case: Case) -> PartFacts:
    """By a length of one's own: scikit-learn's rules count rows, and do not see their scale."""
    name = case.kernel.name if case.kernel.name in NAMED else "gaussian"
    options = {"kernel": name, "bandwidth": case.kernel.length, "engine": case.engine}
    fitted = km.KernelDensity(**options).fit(case.X, sample_weight=case.w)
    return {
        "length": Fact(fitted.bandwidth_, power=1.0),
        "logs": Fact(fitted.score_samples(case.Q), "log", -case.d),
    }


# SciPy's covariance takes weights for precisions, not for counts, and rounds with every row.
@subject("gaussian_kde", scaled=False, holds=EVERY - {"parts", "counts", "absent"})
def scipys_density(case: Case) -> PartFacts:
    X, Q = np.transpose(case.X), np.transpose(case.Q)
    kde = km.gaussian_kde(X, "silverman", case.w, engine=case.engine)
    return {
        "factor": Fact(kde.factor),
        "variance": Fact(np.trace(kde.covariance), power=2.0),
        "logs": Fact(kde.logpdf(Q), "log", -case.d),
        "product": Fact(kde.integrate_kde(kde), power=-case.d),
    }


@subject("SparseKDEClassifier.fit", "SparseKDEClassifier", holds=EVERY - {"parts"})
def classifier(case: Case) -> PartFacts:
    selection = "kcenter" if isinstance(case.selection, np.ndarray) else case.selection
    options = {**case.chosen, "selection": selection, "sparse": case.sparse}
    fitted = km.SparseKDEClassifier(**options).fit(case.X, case.y, case.w)
    return {
        "classes": Fact(fitted.classes_.tolist(), "same"),
        "priors": Fact(fitted.class_prior_),
        "lengths": Fact([mean.kernel.length for mean in fitted.means_], power=case.unit),
        # Ratios of tails hang on the last digits of optimal weights; those of full densities do
        # not.
        "log": Fact(fitted.predict_log_proba(case.Q), "unstable" if case.sparse else "number"),
    }


@subject(
    "SparseKDEOutlierDetector.fit",
    "SparseKDEOutlierDetector.fit_predict",
    "SparseKDEOutlierDetector",
)
def outliers(case: Case) -> PartFacts:
    options = {
        **case.chosen,
        "bandwidth": case.width.get("bandwidth", "auto" if case.kernel.name in NAMED else "scott"),
    }
    options["bandwidth"] = options["bandwidth"] if isinstance(options["kernel"], str) else "scott"
    fitted = km.SparseKDEOutlierDetector(**options, sparse=case.sparse).fit(
        case.X, sample_weight=case.w
    )
    return {
        "offset": Fact(fitted.offset_, "log", -case.d),
        "quantiles": Fact(fitted.log_quantiles_, "log", -case.d),
        "decisions": Fact(fitted.decision_function(case.Q)),
    }


@subject("MeanShift.fit", "MeanShift", "MergeTree", holds=EVERY - {"stretch", "move"})
def mean_shift(case: Case) -> PartFacts:
    """Points on a ridge go either way by rounding: only what changes no bit is asked, and what
    permutes sums on generic data.
    """
    kernel = km.Gaussian(case.kernel.length) if case.kernel.name == "radial" else case.kernel
    options = {**replace(case, kernel=kernel).chosen, "sparse": case.sparse, "tol": 1e-6}
    fitted = km.MeanShift(**options).fit(case.X, sample_weight=case.w)
    return {
        "labels": Fact(
            fitted.labels_, "each"
        ),  # peaks of equal height are numbered by what rounding leaves
        "shifted": Fact(
            fitted.shifted_, "each point", floor=1e-5
        ),  # they stop within 1e-6 bandwidths, each in its own way
        "peaks": Fact(fitted.cluster_centers_[fitted.labels_], "each point"),
        "heights": Fact(fitted.cluster_log_densities_, "log", -case.d),
        "steps": Fact(fitted.n_iter_, "unstable"),
        "length": Fact(fitted.bandwidth_, power=case.unit),
        "predicted": Fact(fitted.cluster_centers_[fitted.predict(case.Q)], "points"),
    }


@subject("ClassProportions", holds=UNWEIGHTED - {"parts"})
def proportions(case: Case) -> PartFacts:
    kernel = (
        case.kernel
        if isinstance(case.kernel, km.Gaussian | km.Student)
        else km.Gaussian(case.kernel.length)
    )
    options = {
        "kernel": kernel,
        "scale": case.scale,
        "engine": case.engine,
        "random_state": case.seed,
        "sparse": case.sparse,
    }
    fitted = km.ClassProportions(**options, space=case.space).fit(case.X, case.y)
    return {"proportions": Fact(fitted.predict(case.Z))}


@subject("DistributionEmbedding", holds=UNWEIGHTED - {"parts"})
def embedding(case: Case) -> PartFacts:
    metric = {"rkhs": "mmd", "l2": "l2"}[case.space]
    options = {
        **case.common,
        "random_state": case.seed,
        "sparse": case.sparse,
        "selection": "kcenter",
        "k": 1000,
    }
    fitted = km.DistributionEmbedding(**options, metric=metric, embedding=None).fit(
        [case.X, case.Z, case.Q]
    )
    return {
        "distances": Fact(fitted.distances_, power=_norm(case)),
        "length": Fact(fitted.bandwidth_, power=case.unit),
    }


# --- measures
# --------------------------------------------------------------------------------------------------


@subject("mmd", holds=UNWEIGHTED - {"parts"})
def mmd(case: Case) -> PartFacts:
    found = km.mmd(
        case.X, case.Z, **case.common, space=case.space, sparse=case.sparse, random_state=case.seed
    )
    return {"mmd": Fact(found, "number" if not case.sparse else "unstable", _norm(case))}


@subject("mmd_test", "TwoSampleTest", holds=EVERY - {"parts", "order"})
def mmd_test(case: Case) -> PartFacts:
    found = km.mmd_test(
        case.X,
        case.Z,
        **case.common,
        sample_weight=(case.w, case.v),
        sparse=case.sparse,
        permutations=39,
        bins=8,
        random_state=case.seed,
    )
    # Statistics that tie but for rounding are counted as ties: the p-value is the same throughout.
    return {
        "statistic": Fact(found.statistic),
        "p": Fact(found.p_value, "same"),
        "null": Fact(found.null),
    }


@subject(
    *("difference", "Difference", "Effect", "GroupDifferences", "Histograms", "Peaks"),
    *("Region", "Regions", "TypicalRows"),
    holds=frozenset({"absent", "counts"}),
    scaled=False,
)
def difference(case: Case) -> PartFacts:
    found = km.difference(
        case.X,
        case.Z,
        sample_weight=(case.w, case.v),
        permutations=19,
        engine=case.engine,
        random_state=case.seed,
    )
    return {
        "p": Fact(found.test.p_value, "same"),
        "shares": Fact(np.array([effect.share for effect in found.columns])),
        "regions": Fact(found.regions.cell_labels, "same"),
    }


@subject("kl_divergence", "Divergence", holds=UNWEIGHTED - {"parts", "order"})
def kl_divergence(case: Case) -> PartFacts:
    kernel = case.kernel if case.kernel.name != "radial" else km.Gaussian(case.kernel.length)
    common = replace(case, kernel=kernel).common
    found = km.kl_divergence(case.X, case.Z, **common, sparse=False, random_state=case.seed)
    return {
        "value": Fact(found.value, floor=1e-12),
        "standard_error": Fact(found.standard_error, floor=1e-12),
    }


@subject("procrustes", "Procrustes", holds=UNWEIGHTED - {"parts", "order"})
def procrustes(case: Case) -> PartFacts:
    m = min(len(case.Q), len(case.Z))
    A, B = case.Z[:m], case.Q[:m]
    found = km.procrustes(A, B)
    flat = any(
        np.linalg.matrix_rank(C - C.mean(axis=0), rtol=1e-3) < case.d
        for C in map(np.float64, (A, B))
    )
    aligned = Fact(
        found.aligned, "unstable" if flat else "points"
    )  # of flat points there are several best turns
    return {"residual": Fact(found.residual), "aligned": aligned, "scale": Fact(found.scale)}


@subject("discrepancy_index", holds=UNWEIGHTED - {"parts", "order", "stretch"}, scaled=False)
def discrepancy_index(case: Case) -> PartFacts:
    m = min(len(case.Q), len(case.Z))
    return {"share": Fact(km.discrepancy_index(case.Z[:m], case.Q[:m], case.kernel.length), "same")}


@subject("clustering_hausdorff", holds=frozenset({"forms", "again", "order"}))
def clustering_hausdorff(case: Case) -> PartFacts:
    sides = np.asarray(case.X)[:, 0] > 0.0
    return {"distance": Fact(km.clustering_hausdorff(case.y, sides))}


@subject("segment_image", "Segmentation", holds=frozenset({"again"}))
def segment_image(case: Case) -> PartFacts:
    picture = np.abs(np.asarray(case.X)[: len(case.X) // 2 * 2, 0]).reshape(2, -1) / 16.0
    found = km.segment_image(picture, bandwidth=0.1, engine=case.engine, random_state=case.seed)
    return {
        "labels": Fact(found.labels, "same"),
        "image": Fact(found.image),
        "sizes": Fact(found.sizes, "same"),
    }


EXCUSED = {
    "__version__": "a word",
    "CacheWarning": "tests/compiled/test_compiling.py",
    "FitWarning": "tests/fitting/test_honesty.py",
    "datasets": "tests/datasets: data themselves",
    "Source": "tests/files",
    "read": "tests/files",
    "DriftMonitor": "tests/monitoring: rows in their order, units and monotone maps there",
    "Alarm": "tests/monitoring: what a monitor raises",
    "DensityModes": "tests/mean/questions/test_levels.py",
    "HighestDensityRegion": "tests/mean/questions/test_levels.py",
    "engines": "tests/engines",
    "plot": "tests/plot: pictures of what is tested here",
    "report": "tests/report: pages of what is tested here",
    "bandwidth": "each of its rules",
    "bandwidth.RULES": "the rules by name",
    "bandwidth.by_rule": "the rules by name",
}


def public_names() -> set[str]:
    """Names of the package, and of the rules in it."""
    return {*km.__all__, *(f"bandwidth.{name}" for name in km.bandwidth.__all__)}


def weighted_names() -> Iterator[str]:
    """Every public function and method that takes sample weights."""
    for name in km.__all__:
        value = getattr(km, name)
        if isinstance(value, ModuleType):
            members = [
                (f"{name}.{inner}", getattr(value, inner))
                for inner in getattr(value, "__all__", ())
            ]
        elif inspect.isclass(value):
            members = [
                (f"{name}.{inner}", getattr(value, inner, None))
                for inner in vars(value)
                if not inner.startswith("_")
            ]
        else:
            members = [(name, value)]
        for inner, member in members:
            routing = inner.endswith("_request")  # scikit-learn's own
            asked = inspect.isroutine(member) and callable(member) and not routing
            if asked and "sample_weight" in inspect.signature(member).parameters:
                yield inner


# --- facts of means
# --------------------------------------------------------------------------------------------------


def _norm(case: Case) -> float:
    """The power by which norms follow the data."""
    return -case.d / 2 if case.space == "l2" else 0.0


def _fixed(case: Case) -> dict[str, Any]:
    """A kernel of its own length, so that means of two samples can be compared; every row a
    candidate.
    """
    own = {
        "kernel": case.kernel,
        "space": case.space,
        "selection": "kcenter",
        "random_state": case.seed,
        "engine": case.engine,
    }
    return {**own, "k": case.k}


def _plain(case: Case) -> km.SparseKernelMean:
    return km.sparse_kernel_mean(case.X, **_fixed(case), sample_weight=case.w)


def _jitter_slack(mean: Any) -> float:
    """√(λ‖α‖²), what a jitter λ can add to the error: there is one where centres crowd so that K is
    singular to rounding.

    A measure of how little is known there, not a proven bound on differences.
    """
    return math.sqrt(getattr(mean, "jitter", 0.0)) * float(np.linalg.norm(mean.weights))


def _evaluated(mean: Any, case: Case) -> PartFacts:
    # Weights that are free first and projected then are as unstable as the free ones, and so is
    # what they add up to.
    kind = "unstable" if getattr(mean, "constraint", None) == "simplex-projection" else "number"
    facts = {
        "values": Fact(
            mean(case.Q), kind, -case.d if case.space == "l2" else 0.0, _jitter_slack(mean)
        )
    }
    if getattr(mean, "constraint", "simplex") == "simplex":
        power, floor = (
            -case.d if case.space == "l2" else 0.0,
            OPTIMUM if isinstance(mean, km.SparseKernelMean) else 0.0,
        )
        facts["logs"] = Fact(mean.log(case.Q), "log", power, floor)
    return facts


def _mean(mean: km.SparseKernelMean, case: Case) -> PartFacts:
    return {
        "k": Fact(mean.k, "same"),
        "selection": Fact(mean.selection, "same"),
        "stop": Fact(mean.stop_reason, "same"),
        "n": Fact(mean.n_points),
        "indices": Fact(mean.indices, "rows"),
        "centers": Fact(mean.centers, "points"),
        "weights": Fact(mean.weights, "unstable"),
        "radii": Fact(mean.radii, power=case.unit),
        "cover": Fact(mean.cover, power=case.unit),
        "kappa": Fact(mean.kappa),
        # Seen to differ by 2e-6 where given centres crowd and K is singular to rounding; of the
        # free optimum in any case.
        "indicator": Fact(mean.indicator, floor=max(1e-5, _jitter_slack(mean))),
        "length": Fact(mean.kernel.length, power=case.unit),
        "bound": Fact(
            mean.bound, power=_norm(case), floor=1e-6
        ),  # where all rows are centres, only the jitter is left
        "tighter": Fact(mean.tighter_bound, power=_norm(case), floor=1e-6),
        **_evaluated(mean, case),
    }


def _density(fitted: km.SparseKDE, case: Case) -> PartFacts:
    floor = OPTIMUM if isinstance(fitted.mean_, km.SparseKernelMean) else 0.0
    facts = {
        "length": Fact(fitted.bandwidth_, power=case.unit),
        "logs": Fact(fitted.score_samples(case.Q), "log", -case.d, floor),
        "quantiles": Fact(fitted.log_quantiles_, "log", -case.d, floor),
    }
    if isinstance(fitted.mean_, km.SparseKernelMean):
        facts |= {"k": Fact(fitted.mean_.k, "same"), "indices": Fact(fitted.mean_.indices, "rows")}
    return facts


# --- cases
# --------------------------------------------------------------------------------------------------


def on_grid(X: np.ndarray, grid: float = GRID) -> np.ndarray:
    return np.clip(np.round(X / grid) * grid, -7.0, 7.0) + 0.0


def _weights(kind: str, n: int, rng: np.random.Generator) -> np.ndarray | None:
    if kind == "counts":
        return rng.integers(1, 4, size=n).astype(float)
    return (
        {"none": None, "ones": np.ones(n)}[kind]
        if kind != "fractions"
        else rng.uniform(0.1, 2.0, size=n)
    )


@st.composite
def cases(
    draw: st.DrawFn,
    kinds: tuple[str, ...] = ("normal", "lattice", "duplicates", "line"),
    selections: tuple[str, ...] = (
        "auto",
        "kcenter",
        "greedy",
        "kmeans++",
        "kmeans",
        "random",
        "given",
    ),
    weights: tuple[str, ...] = ("none", "ones", "counts", "fractions"),
    scales: tuple[str | None, ...] = (None, None, "std", "cov"),
    grid: float = GRID,
) -> Case:
    """Small samples on a grid, with any settings."""
    n, m, d = draw(st.integers(6, 40)), draw(st.integers(4, 20)), draw(st.integers(1, 3))
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    X, Z = (
        on_grid(_cloud(draw(st.sampled_from(kinds)), size, d, seed + i), grid)
        for i, size in enumerate((n, m))
    )
    kernel, kind = draw(st.sampled_from(KERNELS)), draw(st.sampled_from(weights))
    selection: Any = draw(st.sampled_from(selections))
    if selection == "given":
        selection = rng.permutation(n)[: rng.integers(1, n + 1)]
    return Case(
        X,
        Z,
        on_grid(2.0 * rng.normal(size=(7, d)), grid),
        np.arange(n) % 2 if draw(st.booleans()) else (X[:, 0] > np.median(X[:, 0])).astype(int),
        np.arange(m) % 2,
        _weights(kind, n, rng),
        _weights(kind, m, rng),
        kernel.rescaled(draw(st.sampled_from([0.5, 1.0, 2.0])), d),
        draw(st.sampled_from([None, *RULES[:5]])),
        draw(st.sampled_from(scales)),
        draw(st.sampled_from(["rkhs", "l2"])),
        draw(st.sampled_from([None, "simplex", "simplex-projection", "sum-to-one"])),
        selection,
        draw(st.sampled_from(["auto", 1, 3, 6])),
        draw(st.integers(0, 100)),
        int(rng.integers(n)),
        draw(st.sampled_from([True, True, False])),
    )
