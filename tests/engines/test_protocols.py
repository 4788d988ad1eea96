"""The protocols against reality: every engine has every operation, with the same arguments."""

import inspect
from typing import get_args

import numpy as np
import pytest

from kernelmean import engines
from kernelmean.engines import cpu, naive, optional_protocols, protocols
from kernelmean.engines.parts.part import Operation, Part, Reduction
from kernelmean.engines.parts.protocol import Question
from kernelmean.kernels import Atoms

REQUIRED = ("PointCloud", "KernelSums", "Traversal", "Nearest", "Summary", "Distances")


def members(protocol):
    return {name for name in vars(protocol) if not name.startswith("_")}


def atoms_of_each_kind(X):
    return [Atoms(X, np.ones(len(X))), Atoms(X, np.stack([np.eye(X.shape[1])] * len(X)))]


def values(subject, X, w=None):
    """One value of each required protocol."""
    cloud = subject.load(X, w)
    traversal = cloud.traverse(0)
    traversal.take(1)
    return {
        "PointCloud": [cloud],
        "KernelSums": [subject.load_atoms(atoms) for atoms in atoms_of_each_kind(X)],
        "Traversal": [traversal],
        "Nearest": [cloud.nearest(X[:1])],
        "Summary": [cloud.summary],
        "Distances": [traversal.distances(), cloud.nearest(X[:1]).distances()],
    }


def test_every_engine_has_every_operation(subject):
    found = values(subject, np.eye(3), np.array([1.0, 2.0, 1.0]))
    for name in REQUIRED:
        protocol = getattr(engines, name)
        assert members(protocol), name
        for value in found[name]:
            missing = {member for member in members(protocol) if not hasattr(value, member)}
            assert missing == set(), name


def test_operations_take_the_same_arguments_in_every_engine(subject):
    """Names, order and defaults as in the protocol, so that engines can be exchanged by keyword
    too.
    """
    found = values(subject, np.eye(3))
    for name in REQUIRED:
        protocol = getattr(engines, name)
        for member in members(protocol):
            promised = inspect.getattr_static(protocol, member)
            if isinstance(promised, property):
                continue
            expected = list(inspect.signature(promised).parameters.values())[1:]
            for value in found[name]:
                actual = inspect.signature(getattr(value, member)).parameters.values()
                assert [(p.name, p.default) for p in actual] == [
                    (p.name, p.default) for p in expected
                ], f"{name}.{member}"


def test_a_summary_is_made_once(subject):
    cloud = subject.load(np.eye(3))
    assert cloud.summary is cloud.summary


@pytest.mark.parametrize("name", [name for name in engines.ENGINES if name != "auto"])
def test_an_engine_says_its_name(name):
    if name in ("gpu", "cluster"):
        pytest.importorskip({"gpu": "torch", "cluster": "distributed"}[name])
    engine = engines.open(name, **({"device": "cpu"} if name == "gpu" else {}))
    assert isinstance(engine, protocols.Engine)
    assert engine.name == name


def test_what_an_engine_may_offer_is_seen_by_its_type():
    threaded, plain = cpu.Engine(threads=3), naive.Engine()
    assert isinstance(threaded, optional_protocols.ThreadedEngine)
    assert not isinstance(plain, optional_protocols.ThreadedEngine)
    assert (engines.thread_count(threaded), engines.thread_count(plain)) == (3, 1)
    assert threaded.with_threads(1) == cpu.Engine(threads=1)
    assert engines.precise(plain) is plain
    assert engines.precise(threaded) is threaded
    clouds = [threaded.load(np.eye(3)), plain.load(np.eye(3))]
    for ability, has in {
        optional_protocols.OfferingCloud: [True, False],
        optional_protocols.CompactCloud: [True, False],
        optional_protocols.EliminatingCloud: [False, False],
    }.items():
        assert [isinstance(cloud, ability) for cloud in clouds] == has


def test_parts_are_asked_for_what_they_have():
    """Questions travel by name: each is a method of a part, of a point cloud or of distances."""
    assert all(callable(getattr(Part, question)) for question in get_args(Question))
    assert set(get_args(Operation)) <= members(protocols.PointCloud)
    assert set(get_args(Reduction)) <= members(protocols.Distances)
