"""Chance: every consumer of a random_state has a stream of its own, and nobody draws from anywhere
else.
"""

import ast
import inspect
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import kernelmean as km
from kernelmean import _checks
from kernelmean._random import PURPOSES, Streams
from kernelmean.embedding.differing import samples_test

SOURCE = Path(km.__file__).parent
ASKING = ("of", "within", "seed")  # the methods of Streams that take a purpose
X = np.random.default_rng(0).normal(size=(300, 2))
Y = np.random.default_rng(1).normal(size=(300, 2)) + 0.3
LABELS = np.arange(300) % 2
APART = X + 2.0 * LABELS[:, None]


def calls():
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield path.relative_to(SOURCE).as_posix(), node


def asked_purposes():
    """(purpose, where) of every place that asks for a stream."""
    for where, node in calls():
        literal = node.args[0] if node.args else None
        if (
            node.func.attr in ASKING
            and isinstance(literal, ast.Constant)
            and literal.value in PURPOSES
        ):
            yield literal.value, f"{where}:{node.lineno}"


def test_every_purpose_has_exactly_one_consumer():
    places = list(asked_purposes())
    shared = {
        purpose: [at for name, at in places if name == purpose]
        for purpose, n in Counter(p for p, _ in places).items()
        if n > 1
    }
    assert not shared, f"these consumers would draw the same numbers: {shared}"
    assert {purpose for purpose, _ in places} == set(PURPOSES)


def test_nobody_makes_a_generator_of_their_own():
    """Generators come from Streams alone.

    But for the kd-tree, which draws pivots by a fixed seed that no result depends on; for a lattice
    that integrates, whose fixed shifts are part of a formula; and for data that are made, for the
    demo, as a data set, and to compile loops: no stream of ours starts as the seed itself does.
    """
    allowed = {
        ("_random.py", "default_rng"),
        ("engines/cpu/tree.py", "default_rng"),
        ("mean/ended_products.py", "default_rng"),
        ("cli/demo.py", "default_rng"),
        ("cli/representative.py", "default_rng"),
        ("datasets/cells.py", "default_rng"),
    }
    made = ("default_rng", "RandomState", "seed", "shuffle", "rand", "randn")
    found = {
        (where, node.func.attr)
        for where, node in calls()
        if node.func.attr in made
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr == "random"
    }
    assert found == allowed


def test_a_purpose_that_nobody_named_is_refused():
    with pytest.raises(KeyError, match="no purpose of chance"):
        Streams(0).of("whatever")


def _sparse_copy(kde):
    """What a call at very many points would sum."""
    return kde._current.copy


CONSUMERS = {
    **{
        f"{selection}, {space}": lambda seed, selection=selection, space=space: (
            km.sparse_kernel_mean(X, selection=selection, space=space, k=20, random_state=seed)
        )
        for selection in ("kcenter", "greedy", "kmeans++", "kmeans", "random", "auto")
        for space in ("rkhs", "l2")
    },
    "a kernel of one's own": lambda seed: km.sparse_kernel_mean(
        LARGE, kernel=OWN, k=5, selection="kcenter", random_state=seed
    ),
    "open k": lambda seed: km.sparse_kernel_mean(X, random_state=seed),
    "density": lambda seed: km.SparseKDE(random_state=seed).fit(X).partial_fit(Y),
    "copy of a density": lambda seed: km.SparseKDE(random_state=seed, target="kde").fit(X),
    "density on a domain": lambda seed: km.SparseKDE(
        random_state=seed, domain={0: (-9.0, None)}
    ).fit(X),
    "large density": lambda seed: km.SparseKDE(
        random_state=seed, k=1100, bandwidth="scott", target="kde"
    ).fit(LARGE),
    "large density, open k": lambda seed: km.SparseKDE(
        random_state=seed, k_max=30, bandwidth="scott", target="kde"
    ).fit(LARGE),
    "refined": lambda seed: km.sparse_kernel_mean(
        LARGE, selection="kcenter", k=5, refine=4, random_state=seed
    ),
    "k_center": lambda seed: km.k_center(X, 5, random_state=seed),
    "rows": lambda seed: km.sparse_kernel_mean(X, k=5, random_state=1).certificate(
        X, method="rows", random_state=seed
    ),
    "spectral": lambda seed: km.sparse_kernel_mean(X, k=5, random_state=1).certificate(
        X, method="spectral", random_state=seed
    ),
    "median": lambda seed: km.bandwidth.median(X, random_state=seed),
    "likelihood": lambda seed: km.bandwidth.likelihood(X, random_state=seed),
    "auto": lambda seed: km.bandwidth.auto(X, random_state=seed),
    "jaakkola": lambda seed: km.bandwidth.jaakkola(X, LABELS, random_state=seed),
    "samples": lambda seed: samples_test([X, Y], permutations=9, random_state=seed),
    "classifier": lambda seed: km.SparseKDEClassifier(random_state=seed).fit(X, LABELS),
    "detector": lambda seed: km.SparseKDEOutlierDetector(random_state=seed).fit(X),
    "kernel density": lambda seed: km.KernelDensity(
        bandwidth=0.5, error=0.05, random_state=seed
    ).fit(X),
    "gaussian_kde": lambda seed: _sparse_copy(km.gaussian_kde(X.T, error=0.1, random_state=seed)),
    "sample": lambda seed: km.SparseKDE(random_state=1).fit(X).sample(5, random_state=seed),
    "entropy": lambda seed: km.kernel_mean(X, space="l2").entropy(random_state=seed),
    "region": lambda seed: km.kernel_mean(X, space="l2").hdr(0.5, random_state=seed),
    "box": lambda seed: km.kernel_mean(X, scale="cov", space="l2").probability(
        X.min(axis=0), random_state=seed
    ),
    "mean shift": lambda seed: km.MeanShift(random_state=seed).fit(X),
    "mean shift of few cells": lambda seed: km.MeanShift(k=5, random_state=seed).fit(X),
    "segment": lambda seed: km.segment_image(
        np.random.default_rng(0).integers(0, 255, (9, 9, 3), np.uint8), random_state=seed
    ),
    "embedding": lambda seed: km.DistributionEmbedding(
        random_state=seed, embedding=None, error_bars=True
    ).fit([X, Y]),
    "embedding by kl": lambda seed: km.DistributionEmbedding(
        random_state=seed, embedding=None, metric="kl"
    ).fit([X, Y]),
    "proportions": lambda seed: km.ClassProportions(random_state=seed).fit(APART, LABELS),
    "proportions of features": lambda seed: km.ClassProportions(
        random_state=seed, representation="raw"
    ).fit(X, LABELS),
    "proportions of scores": lambda seed: km.ClassProportions(
        random_state=seed, representation=GaussianNB(), solver="qp"
    ).fit(X, LABELS),
    "intervals": lambda seed: (
        km.ClassProportions(random_state=1, representation="raw")
        .fit(X, LABELS)
        .predict_interval(Y, n_bootstrap=20, random_state=seed)
    ),
    "goodness of fit": lambda seed: (
        km.ClassProportions(random_state=1, bandwidth=1.0)
        .fit(X, LABELS)
        .goodness_of_fit(Y, random_state=seed)
    ),
    "mmd": lambda seed: km.mmd(X, Y, random_state=seed),
    "mmd with a mean": lambda seed: km.mmd(
        km.sparse_kernel_mean(X, k=5, random_state=1), Y, random_state=seed
    ),
    "kl": lambda seed: km.kl_divergence(X, Y, random_state=seed),
    "kl of means": lambda seed: km.kl_divergence(
        *(
            km.sparse_kernel_mean(A, k=5, space="l2", constraint="simplex", random_state=1)
            for A in (X, Y)
        ),
        symmetric=True,
        random_state=seed,
    ),
    "test": lambda seed: km.mmd_test(X, Y, random_state=seed),
    "difference": lambda seed: km.difference(X, Y, random_state=seed),
    "difference of groups": lambda seed: km.difference(
        X, groups=np.arange(300) % 3, random_state=seed
    ),
    "monitor": lambda seed: watched(
        km.DriftMonitor(X, run_length=100, window=100, random_state=seed)
    ),
}


def watched(monitor):
    """An alarm that is asked what changed, and a new reference."""
    moved = X[:150] + 5.0
    alarm = monitor.update(moved)
    monitor.rebase()
    monitor.update(moved)
    return alarm.difference.test.p_value


LARGE = np.random.default_rng(2).normal(size=(60_000, 1))
OWN = km.Radial(lambda r2: np.exp(-0.5 * r2), bandwidth=0.5)


@pytest.fixture
def recorded(monkeypatch):
    """Every stream that is asked for: its purpose, its key, and what it draws first."""
    seen = []
    of = Streams.of

    def recording(self, purpose, *which):
        seen.append(
            (self.entropy, purpose, (*self.key, *which), of(self, purpose, *which).integers(2**63))
        )
        return of(self, purpose, *which)

    monkeypatch.setattr(Streams, "of", recording)
    return seen


def test_one_seed_in_all_consumers_gives_as_many_streams_as_purposes(recorded):
    """What draws first under one purpose draws first under no other, whoever asks and in whichever
    order.
    """
    for run in CONSUMERS.values():
        run(12345)
    mine = {(purpose, key): first for entropy, purpose, key, first in recorded if entropy == 12345}
    assert len(set(mine.values())) == len(mine)
    unseen = (
        set(PURPOSES)
        - {purpose for _, purpose, _, _ in recorded}
        - {
            "class",
            "class on a domain",
            "class means",
            "collection",
            "collection certificates",
            "group",
        }
        - {"monitor pilot", "monitor streams", "monitor rebase", "monitor difference"}
    )
    assert not unseen, f"no consumer in this test draws for {unseen}"


@pytest.mark.parametrize("name", CONSUMERS)
def test_every_consumer_refuses_what_is_no_seed(name):
    for wrong in (True, -1, 1.5, "0"):
        with pytest.raises((TypeError, ValueError), match="random_state"):
            CONSUMERS[name](wrong)


def test_every_public_random_state_is_among_the_consumers():
    """A new function or estimator with a random_state must be added above."""
    known = inspect.getsource(
        inspect.getmodule(test_every_public_random_state_is_among_the_consumers)
    )
    for name in km.__all__:
        value = getattr(km, name)
        if callable(value) and "random_state" in _parameters(value):
            assert f"km.{name}(" in known, name


def _parameters(value):
    try:
        return inspect.signature(value).parameters
    except (TypeError, ValueError):
        return {}


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_moves_on_with_every_call(make):
    rng = make(3)
    first, second = (_checks.streams(rng).of("sample").random() for _ in range(2))
    assert first != second
    rng = make(3)
    assert _checks.streams(rng).of("sample").random() == first


def test_without_a_seed_two_fits_differ():
    first, second = (km.SparseKDE(selection="random", k=10).fit(X).mean_ for _ in range(2))
    assert not np.array_equal(first.centers, second.centers)


def test_streams_of_a_purpose_can_be_told_apart_by_number():
    streams = Streams(5)
    draws = [streams.of("class rows", c).random() for c in range(3)] + [
        streams.within("class", 1).of("sample").random()
    ]
    assert len(set(draws)) == 4
    assert streams.of("class rows", 2).random() == draws[2]
