"""Arrays on a device in estimators: handed to the device as they are, without a GPU to try it on.

The stand-in speaks DLPack's half of the protocol that says where it lies, as CuPy's arrays and
torch's tensors do, and refuses to become NumPy's. What the device then does is tested where there
is one (tests/engines/test_gpu.py).
"""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import kernelmean as km
from kernelmean import engines
from kernelmean.samples import ArraySample

X = np.random.default_rng(0).normal(size=(200, 2))


class OnDevice:
    """An array of CUDA, as far as anyone on the host can see."""

    def __init__(self, values):
        self.values = values
        self.shape = values.shape

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **options):
        raise BufferError("only the device reads it")

    def __array__(self, dtype=None, copy=None):
        raise TypeError("copy it to the host first")

    def __len__(self):
        return len(self.values)


class Device:
    """Takes such arrays in, and computes on the host what a device would."""

    taken = 0

    @classmethod
    def check(cls, X, name, columns=None):
        cls.taken += 1
        return ArraySample(X.values)


@pytest.fixture
def device(monkeypatch):
    """The engine "gpu" is the naive one, and samples on a device are in memory."""
    monkeypatch.setattr(Device, "taken", 0)
    stand_in = types.SimpleNamespace(TensorSample=Device)
    monkeypatch.setitem(sys.modules, "kernelmean.samples.device", stand_in)
    opened = engines.open
    monkeypatch.setattr(
        engines, "open", lambda engine: opened("naive" if engine == "gpu" else engine)
    )
    return Device


def test_estimators_hand_it_to_the_device(device):
    density = km.SparseKDE(k=8, spread=None, engine="gpu", random_state=0).fit(OnDevice(X))
    expected = km.SparseKDE(k=8, spread=None, engine="naive", random_state=0).fit(X)
    found = density.score_samples(OnDevice(X))
    np.testing.assert_allclose(found, expected.score_samples(X), rtol=1e-12)
    assert device.taken == 2
    with pytest.raises(ValueError, match="3 columns, but 2 are expected"):
        density.score_samples(OnDevice(np.zeros((4, 3))))


def test_engines_of_the_host_refuse_it():
    with pytest.raises(TypeError, match="X is on a device, but engine='cpu' works on the host"):
        km.SparseKDE().fit(OnDevice(X))


def test_an_array_of_the_host_is_an_array(device):
    """torch's tensors on the host speak DLPack too, and say that they are there."""

    class OnHost(OnDevice):
        def __dlpack_device__(self):
            return (1, 0)

        def __array__(self, dtype=None, copy=None):
            return self.values.astype(dtype or float)

    density = km.SparseKDE(k=8, engine="naive", random_state=0).fit(OnHost(X))
    assert density.mean_.k == 8
    assert device.taken == 0
