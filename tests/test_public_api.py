"""The public names against reality: API.md's surface of this release, and its docstrings."""

import importlib
import inspect
import re
from dataclasses import is_dataclass
from typing import get_type_hints

import numpy as np
import pytest

import kernelmean as km

NAMES = [  # what this release promises (API.md)
    "CacheWarning",
    "Categorical",
    "Cauchy",
    "Centers",
    "Certificate",
    "DistributionEmbedding",
    "Divergence",
    "DomainMean",
    "Effect",
    "Estimate",
    "ClassProportions",
    "DensityModes",
    "Difference",
    "FitWarning",
    "Gaussian",
    "GroupDifferences",
    "HighestDensityRegion",
    "Histograms",
    "KernelDensity",
    "gaussian_kde",
    "KernelMean",
    "Laplacian",
    "MeanShift",
    "MeanStream",
    "MergeTree",
    "Peaks",
    "Periodic",
    "Procrustes",
    "Radial",
    "Region",
    "Regions",
    "SparseKDE",
    "SparseKDEClassifier",
    "SparseKDEOutlierDetector",
    "Segmentation",
    "SparseKernelMean",
    "Sphere",
    "Student",
    "TwoSampleTest",
    "TypicalRows",
    "bandwidth",
    "clustering_hausdorff",
    "datasets",
    "difference",
    "discrepancy_index",
    "distance_matrix",
    "engines",
    "k_center",
    "kernel_mean",
    "kl_divergence",
    "load",
    "merge",
    "segment_image",
    "mmd",
    "procrustes",
    "mmd_test",
    "Source",
    "read",
    "Alarm",
    "DriftMonitor",
    "plot",
    "report",
    "sparse_kernel_mean",
]


def test_all_is_what_is_promised():
    assert sorted(km.__all__) == sorted([*NAMES, "__version__"])
    assert len(set(km.__all__)) == len(km.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_exists_and_is_documented(name):
    value = getattr(km, name)
    assert (inspect.getdoc(value) or "").strip(), f"{name} has no docstring"
    assert value is getattr(km, name)


@pytest.mark.parametrize("name", [name for name in NAMES if inspect.isclass(getattr(km, name))])
def test_every_public_method_is_documented(name):
    """Own or inherited: help() must not come up empty."""
    cls = getattr(km, name)
    members = [
        (n, m)
        for n, m in inspect.getmembers(cls)
        if not n.startswith("_") and (callable(m) or isinstance(m, property))
    ]
    for attribute, member in members:
        assert (inspect.getdoc(member) or "").strip(), f"{name}.{attribute} has no docstring"


@pytest.mark.parametrize(
    "module",
    [
        "kernelmean.bandwidth",
        "kernelmean.datasets",
        "kernelmean.engines",
        "kernelmean.kernels",
        "kernelmean.mean",
        "kernelmean.pictures.matplotlib",
        "kernelmean.pictures.html",
    ],
)
def test_modules_keep_their_promises(module):
    loaded = importlib.import_module(module)
    for name in loaded.__all__:
        assert hasattr(loaded, name), f"{module}.__all__ names {name}"


def test_dir_lists_the_public_names():
    assert sorted(dir(km)) == sorted(km.__all__)


def test_the_star_import_gives_the_public_names():
    space = {}
    exec("from kernelmean import *", space)  # what a user's notebook does
    assert set(km.__all__) <= set(space)


@pytest.mark.parametrize("name", ["no_such_name", "_HOME", "gaussian"])
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module 'kernelmean' has no attribute '{name}'"):
        getattr(km, name)


def test_the_version_is_a_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+([.+-]\w+)*", km.__version__)


@pytest.mark.parametrize("rule", ["scott", "silverman", "iqr", "median", "mode"])
def test_bandwidth_rules_are_functions_of_the_data(rule):
    function = getattr(km.bandwidth, rule)
    assert list(inspect.signature(function).parameters)[:2] == ["X", "sample_weight"]
    assert function(np.random.default_rng(0).normal(size=(50, 2))) > 0


SIGNATURES = {
    "k_center": {"X", "k", "first", "random_state", "engine"},
    "sparse_kernel_mean": {
        *(
            "X",
            "kernel",
            "bandwidth",
            "scale",
            "space",
            "k",
            "k_max",
            "tol",
            "patience",
            "selection",
        ),
        *("constraint", "solver", "sample_weight", "engine", "random_state", "verbose"),
    },
    "merge": {"means", "k"},
    "distance_matrix": {"means"},
    "load": {"path"},
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_functions_take_the_arguments_of_the_api(name):
    parameters = inspect.signature(getattr(km, name)).parameters
    assert set(parameters) >= SIGNATURES[name]
    keyword_only = {n for n, p in parameters.items() if p.kind is inspect.Parameter.KEYWORD_ONLY}
    if name in ("k_center", "sparse_kernel_mean"):
        assert set(parameters) - keyword_only == ({"X", "k"} if name == "k_center" else {"X"})


def test_defaults_are_those_of_the_api():
    parameters = inspect.signature(km.sparse_kernel_mean).parameters
    expected = {
        "kernel": "gaussian",
        "bandwidth": "scott",
        "scale": None,
        "space": "rkhs",
        "k": "auto",
        "k_max": None,
    }
    expected |= {
        "tol": 1e-10,
        "patience": 10,
        "selection": "auto",
        "constraint": None,
        "solver": "cholesky",
    }
    expected |= {"sample_weight": None, "engine": "cpu", "random_state": None, "verbose": False}
    assert {name: parameters[name].default for name in expected} == expected


MEAN = {
    *(
        "centers",
        "weights",
        "kernel",
        "space",
        "scale",
        "selection",
        "indices",
        "radii",
        "cover",
        "incoherence",
        "kappa",
    ),
    *("indicator", "jitter", "stop_reason", "n_points"),
    *("log", "gradient", "inner", "distance", "truncate", "refit", "bound", "certificate", "save"),
}


def test_a_mean_has_everything_the_api_names():
    mean = km.sparse_kernel_mean(np.random.default_rng(0).normal(size=(60, 2)), k=5, random_state=0)
    missing = {name for name in MEAN if not hasattr(mean, name)}
    assert missing == set()
    assert is_dataclass(mean)
    assert callable(mean)
    with pytest.raises(AttributeError):
        mean.weights = np.ones(5)


def test_results_are_named_tuples_or_frozen_values():
    assert km.Centers._fields == ("indices", "points", "radii", "cover")
    centers = km.k_center(np.eye(4), 2, first=0)
    with pytest.raises(AttributeError):
        centers.cover = 0.0
    for name in ("error", "relative_error", "standard_error", "method"):
        assert name in get_type_hints(km.Certificate)
