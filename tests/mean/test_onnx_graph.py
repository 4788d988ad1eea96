"""Densities as ONNX graphs, against score_samples by onnxruntime."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from tests.density.test_mixture import cloud, fitted, scale_of

onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'kernelmean[onnx]'")
runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install onnxruntime")

USERS = km.Radial(
    lambda s: (1.0 + s) ** -3.0,
    log_constant=lambda d: np.log(2 / np.pi),
    l2_profile=lambda s: (1.0 + s) ** -3.0,
    l2_constant=lambda d: 0.0,
)


def outputs(path, Q, dtype="float64"):
    """What onnxruntime makes of a file."""
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (found,) = session.run(["log_density"], {"X": Q.astype(dtype)})
    assert found.dtype == dtype
    return found


def places(X):
    """Rows of the data, and others far beyond, where the density itself underflows."""
    return np.concatenate([X[:100], 10.0 * X[:50], 1e4 * X[:50], 1e8 * X[:20]])


def assert_same(path, density, Q):
    expected = density.score_samples(Q)
    found = outputs(path, Q)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 5, 20, 50])
@pytest.mark.parametrize("scale", [None, "std", "matrix"])
@pytest.mark.parametrize("spread", [None, "scalar", "full"])
def test_a_copy_of_any_kind(tmp_path, spread, scale, d):
    X = cloud(d)
    density = fitted(X, spread=spread, scale=scale_of(scale, d), bandwidth=0.4 * d**0.5)
    assert density.mean_.expansion.atoms.kind == spread
    density.to_onnx(tmp_path / "density.onnx")
    assert_same(tmp_path / "density.onnx", density, places(X))


@pytest.mark.parametrize("kernel", ["laplacian", "cauchy", km.Student(30.0, 2.0)], ids=str)
@pytest.mark.parametrize("d", [1, 3, 50])
def test_other_kernels(tmp_path, kernel, d):
    X = cloud(d)
    options = {} if isinstance(kernel, km.Student) else {"bandwidth": 0.5}
    density = fitted(X, kernel=kernel, scale="std", **options)
    density.to_onnx(tmp_path / "density.onnx")
    assert_same(tmp_path / "density.onnx", density, places(X))


def test_the_likeliest_density_far_from_zero(tmp_path):
    X = cloud(3, 900) + 1e6
    density = km.SparseKDE(random_state=0).fit(X)
    density.to_onnx(tmp_path / "density.onnx")
    Q = np.concatenate([X[:100], 1e6 + 1e3 * (X[:100] - 1e6)])
    np.testing.assert_allclose(
        outputs(tmp_path / "density.onnx", Q), density.score_samples(Q), rtol=1e-7, atol=1e-6
    )


@pytest.mark.parametrize("spread", [None, "scalar", "full"])
@pytest.mark.parametrize("offset", [0.0, 4096.0])
def test_single_precision(tmp_path, spread, offset):
    """Rows that single precision can tell apart; an offset costs no digits."""
    X = (cloud(4) + offset).astype(np.float32).astype(float)
    density = fitted(X, spread=spread, scale="std", bandwidth=0.5)
    density.to_onnx(tmp_path / "density.onnx", dtype="float32")
    Q = np.concatenate([X, (5.0 * (X - offset) + offset).astype(np.float32)])
    found = outputs(tmp_path / "density.onnx", Q, "float32")
    np.testing.assert_allclose(found, density.score_samples(Q), rtol=2e-5, atol=2e-5)
    beyond = np.full((1, 4), 1e30)
    assert outputs(tmp_path / "density.onnx", beyond, "float32") == -np.inf


def test_batches_of_any_size(tmp_path):
    X = cloud(2)
    density = fitted(X)
    density.to_onnx(tmp_path / "density.onnx")
    whole = outputs(tmp_path / "density.onnx", X)
    for rows in (0, 1, 7):
        part = outputs(tmp_path / "density.onnx", X[:rows])
        np.testing.assert_allclose(part, whole[:rows], rtol=1e-14)


def test_what_the_file_says_and_holds(tmp_path):
    """A valid model with names, and no number of the training data but those of centres."""
    frame = pd.DataFrame(cloud(2), columns=["height", "weight"])
    density = fitted(frame, spread="full")
    density.to_onnx(tmp_path / "density.onnx")
    model = onnx.load(tmp_path / "density.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert [entry.name for entry in model.graph.input] == ["X"]
    assert [entry.name for entry in model.graph.output] == ["log_density"]
    properties = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
    assert properties == {"columns": ["height", "weight"]}
    assert (model.producer_name, model.opset_import[0].version) == ("kernelmean", 17)
    numbers = sum(np.prod(entry.dims) for entry in model.graph.initializer)
    assert numbers < density.mean_.k * (2 + 2 * 2 + 1) + 20


def test_what_cannot_be_written(tmp_path):
    X = cloud(2)
    path = tmp_path / "density.onnx"
    bounded = km.SparseKDE(domain={0: (-20, None)}, k=5, random_state=0).fit(X)
    with pytest.raises(ValueError, match="to_onnx is for densities whose columns take any number"):
        bounded.to_onnx(path)
    with pytest.raises(ValueError, match="is its data"):
        fitted(X, sparse=False, k="auto").to_onnx(path)
    with pytest.raises(ValueError, match="unknown dtype 'half'; choose from 'float64', 'float32'"):
        fitted(X).to_onnx(path, dtype="half")
    signed = km.sparse_kernel_mean(X, k=60, bandwidth=3.0, spread=None, space="l2", random_state=0)
    assert (signed.weights < 0).any()
    for mean in (signed, km.sparse_kernel_mean(X, k=5, constraint="simplex", random_state=0)):
        with pytest.raises(ValueError, match="fit in space='l2' with nonnegative weights"):
            mean.to_onnx(path)
    own = fitted(X, kernel=USERS, spread=None)
    with pytest.raises(ValueError, match="to_onnx knows the package's own kernels"):
        own.to_onnx(path)
    assert not path.exists()


def test_onnx_is_named_where_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"to_onnx needs onnx, .*'kernelmean\[onnx\]'"):
        fitted(cloud(2)).to_onnx(tmp_path / "density.onnx")
    assert not list(tmp_path.iterdir())
