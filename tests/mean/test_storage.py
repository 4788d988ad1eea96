"""Save and load: one file, whole or absent, and nothing but a model is ever read from it."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean.mean import storage

# The paper's selection throughout; the choice that is the default has tests of its own.
sparse_kernel_mean = functools.partial(km.sparse_kernel_mean, selection="kcenter")

X = np.random.default_rng(0).normal(size=(120, 2))
OPTIONS = {
    "plain": {"bandwidth": 0.6, "k": 9},
    "automatic": {"bandwidth": "median", "tol": 1e-4, "patience": 2},
    "laplacian-l2": {"kernel": km.Laplacian(0.7), "k": 9, "space": "l2"},
    "student-simplex": {"kernel": km.Student(2.5, 0.6), "k": 9, "constraint": "simplex"},
    "cauchy-scaled": {"kernel": km.Cauchy(0.5), "k": 9, "scale": "cov"},
    "centroids": {"bandwidth": 0.6, "k": 9, "selection": "kmeans"},
    "random-cg": {"bandwidth": 0.6, "k": 9, "selection": "random", "solver": "cg"},
    "weighted": {"bandwidth": 0.6, "k": 9, "sample_weight": np.linspace(0, 1, 120)},
    "given": {"bandwidth": 0.6, "k": 3, "selection": [5, 3, 9]},
}


def fitted(name="plain"):
    return sparse_kernel_mean(X, random_state=0, **OPTIONS[name])


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.km"
    fitted().save(path)
    return path.read_bytes()


# Round trip


def assert_equal_fields(a, b):
    for entry in dataclasses.fields(a):
        left, right = getattr(a, entry.name), getattr(b, entry.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, entry.name
            np.testing.assert_array_equal(left, right, err_msg=entry.name)
        elif isinstance(left, float) and np.isnan(left):
            assert np.isnan(right), entry.name
        else:
            assert left == right, entry.name


@pytest.mark.parametrize("name", OPTIONS)
def test_every_field_comes_back_to_the_last_bit(tmp_path, name):
    mean = fitted(name)
    mean.save(tmp_path / "m.km")
    again = km.load(tmp_path / "m.km")
    assert_equal_fields(mean, again)
    np.testing.assert_array_equal(mean(X), again(X))
    assert (mean.bound, mean.tighter_bound) == (again.bound, again.tighter_bound)
    assert again.certificate(X, method="exact") == mean.certificate(X, method="exact")


@pytest.mark.parametrize(
    "make", [lambda m: m.truncate(4), lambda m: km.merge([m, m], k=5)], ids=["truncated", "merged"]
)
def test_means_without_all_facts_come_back_too(tmp_path, make):
    for name in ("plain", "random-cg"):
        mean = make(fitted(name))
        mean.save(tmp_path / "m.km")
        assert_equal_fields(mean, km.load(tmp_path / "m.km"))


def test_a_loaded_mean_is_as_frozen_as_any(tmp_path):
    fitted().save(tmp_path / "m.km")
    again = km.load(tmp_path / "m.km")
    with pytest.raises(ValueError, match="read-only"):
        again.weights[0] = 1.0


def test_a_loaded_mean_truncates_refits_and_merges(tmp_path):
    mean = fitted("cauchy-scaled")
    mean.save(tmp_path / "m.km")
    again = km.load(tmp_path / "m.km")
    np.testing.assert_array_equal(again.truncate(4).weights, mean.truncate(4).weights)
    np.testing.assert_array_equal(
        again.refit(constraint="simplex").weights, mean.refit(constraint="simplex").weights
    )
    assert km.merge([again, mean]).distance(mean) < 1e-7


def test_the_file_holds_the_model_not_the_data(tmp_path):
    big = np.random.default_rng(1).normal(size=(20_000, 2))
    mean = sparse_kernel_mean(big, bandwidth=0.6, k=9, random_state=0)
    mean.save(tmp_path / "m.km")
    assert (tmp_path / "m.km").stat().st_size < 3000


def test_text_paths_work_and_the_file_is_replaced(tmp_path):
    path = str(tmp_path / "m.km")
    fitted("automatic").save(path)
    fitted().save(path)
    assert_equal_fields(km.load(path), fitted())
    assert os.listdir(tmp_path) == ["m.km"]


def gaussian_profile(s: float) -> float:
    return float(np.exp(-s / 2))


def test_a_kernel_of_ones_own_must_be_given_again(tmp_path):
    mean = sparse_kernel_mean(
        X, kernel=km.Radial(gaussian_profile, 0.6), k=5, random_state=0, engine="naive"
    )
    mean.save(tmp_path / "m.km")
    with pytest.raises(ValueError, match=r"load\(path, kernel="):
        km.load(tmp_path / "m.km")
    again = km.load(tmp_path / "m.km", kernel=km.Radial(gaussian_profile))
    assert again.kernel.bandwidth == 0.6
    np.testing.assert_array_equal(again.weights, mean.weights)


# Whole or absent


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("before", [None, b"something older"])
def test_when_writing_fails_the_old_file_stays_and_no_part_is_left(
    tmp_path, monkeypatch, step, before
):
    path = tmp_path / "m.km"
    if before is not None:
        path.write_bytes(before)

    def fail(*_args, **_kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="disk full"):
        fitted().save(path)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ([] if before is None else ["m.km"])
    assert before is None or path.read_bytes() == before


def test_the_target_appears_only_when_it_is_complete(tmp_path, monkeypatch):
    path, seen = tmp_path / "m.km", []
    sync = os.fsync

    def watch(descriptor):
        seen.append(path.exists())
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    fitted().save(path)
    assert seen == [False]
    assert path.exists()


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        km.load(tmp_path / "none.km")


# Damage


def refused(path, data, match=None):
    path.write_bytes(data)
    with pytest.raises(ValueError, match=match) as caught:
        km.load(path)
    message = str(caught.value)
    assert path.name in message  # which file
    assert len(message) < 400
    return message


def test_a_file_cut_anywhere_is_refused(tmp_path, contents):
    path = tmp_path / "cut.km"
    edges = [
        0,
        1,
        16,
        17,
        18,
        19,
        20,
        26,
        27,
        28,
        60,
    ]  # magic, version, newline, header length, header
    around = [len(contents) - r for r in (1, 2, 31, 32, 33, 40, 41, 200)]  # checksum, last array
    for size in edges + around + list(range(0, len(contents), 97)):
        refused(path, contents[:size])


def test_bytes_after_the_end_are_refused(tmp_path, contents):
    for extra in (b"\0", b"x" * 32, contents):
        refused(tmp_path / "long.km", contents + extra, "checksum|damaged")


@given(st.data())
def test_a_flipped_bit_is_noticed(tmp_path_factory, contents, data):
    position = data.draw(st.integers(0, len(contents) - 1))
    bit = data.draw(st.integers(0, 7))
    flipped = bytearray(contents)
    flipped[position] ^= 1 << bit
    refused(tmp_path_factory.mktemp("flip") / "flipped.km", bytes(flipped))


@given(st.binary(max_size=300).filter(lambda noise: not noise.startswith(storage.MAGIC)))
def test_random_bytes_are_no_model(tmp_path_factory, noise):
    folder = tmp_path_factory.mktemp("noise")
    refused(folder / "noise.km", noise, "not a kernelmean model")
    refused(folder / "noise.km", b"kernelmean model 1\n" + noise)


class Bomb:
    """Unpickling this would create a file."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


def test_foreign_files_are_refused_and_nothing_in_them_runs(tmp_path):
    trace = tmp_path / "executed"
    bomb = pickle.dumps(Bomb(trace))
    np.savez(tmp_path / "a.npz", x=X)
    np.save(tmp_path / "b.npy", np.array([Bomb(trace)], dtype=object), allow_pickle=True)
    for data in (
        (tmp_path / "a.npz").read_bytes(),
        (tmp_path / "b.npy").read_bytes(),
        bomb,
        b"{}",
        b"x,y\n1,2\n",
    ):
        refused(tmp_path / "foreign.km", data, "not a kernelmean model")
    refused(tmp_path / "foreign.km", b"kernelmean model 1\n" + bomb)
    assert not trace.exists()


@pytest.mark.parametrize("version", [b"2", b"0", b"", b"one", b"1 "])
def test_another_version_is_named(tmp_path, contents, version):
    body = contents[: -storage.DIGEST].replace(b"model 1\n", b"model " + version + b"\n", 1)
    refused(tmp_path / "v.km", body + hashlib.sha256(body).digest(), "version")


# Forged files: a right checksum over wrong contents


def parse(contents):
    rest = contents[len(storage.MAGIC) + 2 : -storage.DIGEST]
    size = int.from_bytes(rest[:8], "little")
    return json.loads(rest[8 : 8 + size]), rest[8 + size :]


def forge(header, arrays, size=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = (
        b"kernelmean model 1\n"
        + (len(text) if size is None else size).to_bytes(8, "little")
        + text
        + arrays
    )
    return body + hashlib.sha256(body).digest()


def test_a_forger_can_reproduce_a_model(tmp_path, contents):
    """The tests below damage one thing at a time in this."""
    (tmp_path / "m.km").write_bytes(forge(*parse(contents)))
    assert_equal_fields(km.load(tmp_path / "m.km"), fitted())


@pytest.mark.parametrize(
    "shape",
    [
        [10**15],
        [2**62, 2**62],
        [2**31, 2**31, 4],
        [1e300],
        [float("inf")],
        [float("nan")],
        [-1],
        [-1, -9],
        ["x"],
        "x",
        None,
        [None],
        [0, 2**70],
        [1] * 100,
        [[9]],
        {"a": 1},
        [0],
    ],
    ids=str,
)
def test_impossible_shapes_are_refused_before_anything_is_allocated(tmp_path, contents, shape):
    header, arrays = parse(contents)
    header["arrays"][1]["shape"] = shape
    refused(tmp_path / "s.km", forge(header, arrays))


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"3",
        b'"text"',
        b"null",
        b"{}",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"arrays": 5}',
    ],
    ids=lambda h: repr(h[:12]),
)
def test_headers_that_are_none_are_refused(tmp_path, contents, header):
    refused(tmp_path / "h.km", forge(header, parse(contents)[1]))
    refused(tmp_path / "h.km", forge(header, b""))


def test_a_header_length_beyond_the_file_is_refused(tmp_path, contents):
    header, arrays = parse(contents)
    for size in (0, 1, 10**6, 2**63, 2**64 - 1):
        refused(tmp_path / "l.km", forge(header, arrays, size))


def without(key):
    return lambda header: header.pop(key)


def setting(key, value):
    return lambda header: header.__setitem__(key, value)


def array(position, key, value):
    return lambda header: header["arrays"][position].__setitem__(key, value)


FORGERIES = {
    **{
        f"no {key}": without(key)
        for key in ("kernel", "space", "selection", "stop_reason", "constraint", "solver", "arrays")
    },
    "unknown kernel": setting("kernel", {"name": "cosine", "bandwidth": 1.0}),
    "kernel without parameters": setting("kernel", {"name": "gaussian"}),
    "kernel with other parameters": setting("kernel", {"name": "gaussian", "width": 1.0}),
    "kernel of negative width": setting("kernel", {"name": "gaussian", "bandwidth": -1.0}),
    "kernel of worded width": setting("kernel", {"name": "gaussian", "bandwidth": "wide"}),
    "kernel as text": setting("kernel", "gaussian"),
    "kernel as nothing": setting("kernel", None),
    "unknown space": setting("space", "l3"),
    "unknown constraint": setting("constraint", "cube"),
    "unknown solver": setting("solver", "magic"),
    "unknown stop reason": setting("stop_reason", "tired"),
    "estimated error below zero": setting("estimated_error", -0.1),
    "estimated error as text": setting("estimated_error", "small"),
    "space as list": setting("space", ["l2"]),
    "unknown array type": array(0, "type", "object"),
    "array type as list": array(0, "type", ["float64"]),
    "unknown array": array(1, "name", "secrets"),
    "array named as a word": array(1, "name", "space"),
    "array named kernel": array(1, "name", "kernel"),
    "array without a name": lambda header: header["arrays"][1].pop("name"),
    "array name as list": array(1, "name", ["weights"]),
    "the same array twice": array(1, "name", "centers"),
    "indices as fractions": lambda header: [
        a.__setitem__("type", "float64") for a in header["arrays"] if a["name"] == "indices"
    ],
    "centres in one dimension": array(0, "shape", [18]),
    "centres and weights of different number": array(0, "shape", [6, 3]),
    "array entries as numbers": setting("arrays", [1, 2, 3]),
}


def test_files_of_earlier_releases_know_no_estimate(tmp_path, contents):
    header, arrays = parse(contents)
    assert header.pop("estimated_error") == fitted().estimated_error
    (tmp_path / "old.km").write_bytes(forge(header, arrays))
    assert km.load(tmp_path / "old.km").estimated_error is None


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_contents_that_are_no_mean_are_refused(tmp_path, contents, change):
    header, arrays = parse(contents)
    change(header)
    refused(tmp_path / "f.km", forge(header, arrays))


def test_numbers_that_are_no_numbers_are_refused(tmp_path, contents):
    """NaN in the weights or centres would only surface in every later result."""
    header, arrays = parse(contents)
    assert [entry["name"] for entry in header["arrays"][:2]] == ["centers", "weights"]
    for position in (0, 18 * 8):
        damaged = arrays[:position] + np.array([np.nan]).tobytes() + arrays[position + 8 :]
        refused(tmp_path / "n.km", forge(header, damaged))
