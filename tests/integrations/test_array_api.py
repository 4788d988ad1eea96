"""Results of the library and on the device of what was asked about, by stand-ins for libraries."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import kernelmean as km
from kernelmean.integrations.array_api import apply

X = np.random.default_rng(0).normal(size=(100, 2))


class Array:
    """An array of a library, on a device."""

    def __init__(self, values, device):
        self.values = values
        self.device = device

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


class Standard(Array):
    """As the array API standard has it, and torch."""

    def __array_namespace__(self):
        return types.SimpleNamespace(asarray=Standard)


@pytest.fixture
def density():
    return km.SparseKDE(k=8, engine="naive", random_state=0).fit(X)


def test_the_standard(density):
    found = apply(density.score_samples, Standard(X, "cuda:1"))
    assert (type(found), found.device) == (Standard, "cuda:1")
    np.testing.assert_array_equal(found.values, density.score_samples(X))


def test_a_device_that_is_a_context(density, monkeypatch):
    """CuPy puts arrays on the device that is current."""
    current = []

    class Device:
        def __enter__(self):
            current.append(self)

        def __exit__(self, *_):
            current.pop()

    library = types.ModuleType("cupyish")
    library.asarray = lambda values: Array(values, current[-1])
    monkeypatch.setitem(sys.modules, "cupyish", library)
    monkeypatch.setattr(Array, "__module__", "cupyish.core")
    device = Device()
    found = apply(density.score_samples, Array(X, device))
    assert found.device is device
    np.testing.assert_array_equal(found.values, density.score_samples(X))


def test_arrays_of_numpy_and_lists(density):
    for rows in (X, X.tolist()):
        assert type(apply(density.score_samples, rows)) is np.ndarray


def test_a_library_that_makes_no_arrays(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupyish", types.ModuleType("cupyish"))
    monkeypatch.setattr(Array, "__module__", "cupyish")
    with pytest.raises(TypeError, match="cupyish has no asarray"):
        apply(np.asarray, Array(X, "cpu"))


def test_torch():
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'kernelmean[gpu]'")
    density = km.SparseKDE(k=8, random_state=0).fit(torch.from_numpy(X))
    found = apply(density.score_samples, torch.from_numpy(X))
    assert isinstance(found, torch.Tensor)
    np.testing.assert_array_equal(found.numpy(), density.score_samples(X))
