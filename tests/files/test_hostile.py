"""Hostile files: one sentence that names them, exit code 2, and no more memory than what they hold
can account for.
"""

from __future__ import annotations

import bz2
import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean.files import read_image
from tests.files import formats, guarded, hostile
from tests.files.formats import pa

X = np.random.default_rng(0).normal(size=(40, 3))
LABELLED = (
    "snappy.parquet",
    "zstd.parquet",
    "lz4.feather",
    "zstd.feather",
    "packed.npz",
)  # have a column y of labels
EXPECTED = ("ok", "ValueError", "ImportError", "OSError", "FileNotFoundError")


@pytest.fixture(scope="module")
def guard():
    process = guarded.Guarded()
    yield process
    process.close()


def one_sentence(message: str, path: Path) -> None:
    """About this file, in one line."""
    assert path.name in message
    assert "\n" not in message
    assert len(message) < 600


@pytest.mark.parametrize("title", hostile.CASES)
def test_hostile_files_are_refused_in_one_sentence(tmp_path, guard, title):
    name, write, said = hostile.CASES[title]
    path = tmp_path / name
    write(path)
    found = guard.ask(path=str(path))
    assert found["kind"] == "ValueError", found
    one_sentence(found["message"], path)
    assert re.search(said, found["message"]), found
    command = (
        ["info", str(path)]
        if name.endswith(".km")
        else ["fit", str(path), "-o", str(tmp_path / "m.km"), "--quiet"]
    )
    code, _, printed = guard.ask(command=command)["message"].partition(" ")
    assert code == "2", printed
    assert re.search(said, printed)
    assert printed.startswith("kernelmean: ")
    assert printed.count("\n") == 1


# What is large but not asked for


def test_one_array_of_an_npz_is_unpacked_and_the_others_are_not(tmp_path, guard):
    bomb = hostile.npy("(300000000,)", "'|u1'", bytes(300_000_000))
    X = np.arange(6.0).reshape(3, 2)
    (tmp_path / "x.npz").write_bytes(
        hostile.zipped(
            X__npy=hostile.npy("(3, 2)", values=X.tobytes()), bomb__npy=bomb, notes__txt=b"words"
        )
    )
    for path in (f"{tmp_path}/x.npz:X", f"{tmp_path}/x.npz"):
        assert guard.ask(path=path, mebibytes=150) == pytest.approx(
            {"kind": "ok", "message": "(3, 2)", "seconds": 1}, abs=5
        )
    assert (
        guard.ask(path=f"{tmp_path}/x.npz:bomb", mebibytes=150)["kind"] != "ok"
    )  # the bound bites


def test_members_that_are_no_arrays_are_left_out(tmp_path):
    values = np.arange(6.0).reshape(3, 2)
    picture = np.zeros((4, 5, 3), np.uint8)
    members = {
        "only__npy": hostile.npy("(3, 2)", values=values.tobytes()),
        "notes__txt": b"words",
        "broken__npy": b"words",
    }
    (tmp_path / "x.npz").write_bytes(hostile.zipped(**members))
    np.testing.assert_array_equal(np.asarray(km.read(tmp_path / "x.npz")), values)
    np.testing.assert_array_equal(np.asarray(km.read(f"{tmp_path}/x.npz:only")), values)
    for key, why in {
        "notes": "",
        "notes.txt": r" \(.*magic.*\)",
        "broken": r" \(.*magic.*\)",
    }.items():
        with pytest.raises(
            ValueError, match=rf"x\.npz has no array '{key}'{why}; it holds only \(3, 2\)\."
        ):
            km.read(f"{tmp_path}/x.npz:{key}")
    members["only__npy"] = hostile.npy("(4, 5, 3)", "'|u1'", picture.tobytes())
    (tmp_path / "p.npz").write_bytes(hostile.zipped(**members))
    np.testing.assert_array_equal(read_image(tmp_path / "p.npz"), picture)
    (tmp_path / "n.npz").write_bytes(hostile.zipped(notes__txt=b"words"))
    with pytest.raises(ValueError, match=r"n\.npz holds 0 arrays of shape"):
        read_image(tmp_path / "n.npz")


def test_a_label_that_is_kept_once_takes_room_once(tmp_path, guard):
    labels = pa.DictionaryArray.from_arrays(
        pa.array([0] * 50_000, pa.int32()), pa.array(["x" * 1_000_000])
    )
    pa.parquet.write_table(
        pa.table({"a": np.arange(50_000.0), "y": labels}),
        tmp_path / "x.parquet",
        store_schema=False,
    )
    assert (tmp_path / "x.parquet").stat().st_size < 3_000_000
    found = guard.ask(path=str(tmp_path / "x.parquet"), how={"labels": "y"})
    assert found["kind"] == "ok", found


def test_one_long_label_does_not_widen_the_others(tmp_path, guard):
    path = tmp_path / "x.csv"
    path.write_text("a,y\n" + "1,b\n" * 2000 + f"2,{'c' * 500_000}\n")
    found = guard.ask(path=str(path), how={"labels": "y"})
    assert found["kind"] == "ok", found
    labels = km.read(path, labels="y").load().labels
    assert [len(label) for label in labels[-2:]] == [1, 500_000]


def test_many_columns_take_no_quadratic_time(tmp_path, guard):
    path = tmp_path / "x.csv"
    path.write_text(
        ",".join(f"c{j}" for j in range(50_000)) + "\n" + ",".join(["1"] * 50_000) + "\n"
    )
    assert guard.ask(path=str(path))["message"] == "(1, 50000)"
    np.save(tmp_path / "x.npy", np.ones((2, 200_000), np.uint8))
    assert guard.ask(path=str(tmp_path / "x.npy"))["message"] == "(2, 200000)"


def test_a_small_file_that_holds_a_large_table_is_streamed(tmp_path, monkeypatch):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 100_000))
    found = km.read(tmp_path / "x.csv.gz")
    monkeypatch.setattr("kernelmean._checks.MAPPED", 0)
    monkeypatch.setattr("kernelmean._checks.free_memory", lambda: 4 << 20)
    assert found.sample()[0] is found
    monkeypatch.setattr("os.sysconf", lambda name: 1000)
    with pytest.raises(
        ValueError, match=r"x\.csv\.gz takes .* GB or more, and .* GB can be held in memory"
    ):
        found.load()


# Mutations of whole files


def whole_files(folder: Path) -> dict[str, Path]:
    """One small file of each format."""
    files = {kind: path for kind, path in formats.write_all(folder, X).items() if kind != "folder"}
    np.savez_compressed(
        folder / "packed.npz", X=X, y=np.arange(40), columns=np.array(["a", "b", "c"])
    )
    files["packed.npz"] = folder / "packed.npz"
    words = pa.array(["north", "south"] * 20).dictionary_encode()
    mixed = formats.table(X, w=pa.array(np.arange(40), pa.int16()), y=words)
    for codec in ("snappy", "zstd"):
        files[f"{codec}.parquet"] = folder / f"{codec}.parquet"
        pa.parquet.write_table(
            mixed, files[f"{codec}.parquet"], compression=codec, data_page_version="2.0"
        )
    for codec in ("lz4", "zstd"):
        files[f"{codec}.feather"] = folder / f"{codec}.feather"
        pa.feather.write_feather(mixed, files[f"{codec}.feather"], compression=codec)
    files["csv.bz2"], files["csv.zst"] = folder / "x.csv.bz2", folder / "x.csv.zst"
    files["csv.bz2"].write_bytes(bz2.compress(files["csv"].read_bytes()))
    files["csv.zst"].write_bytes(pa.compress(files["csv"].read_bytes(), codec="zstd", asbytes=True))
    pixels = np.random.default_rng(0).integers(0, 255, (9, 7, 3), dtype=np.uint8)
    for ending in ("png", "jpg", "tiff", "webp"):
        files[ending] = folder / f"x.{ending}"
        formats.Image.fromarray(pixels).save(files[ending])
    for ending in ("palette.png", "packed.tiff"):
        files[ending] = folder / ending
    formats.Image.fromarray(pixels).quantize(8).save(files["palette.png"])
    formats.Image.fromarray(pixels).save(files["packed.tiff"], compression="tiff_lzw")
    files["km"] = folder / "x.km"
    km.sparse_kernel_mean(
        X, kernel=km.Student(3.0, 1.0), k=5, space="l2", random_state=0, engine="naive"
    ).save(files["km"])
    return files


KINDS = (
    *(
        "csv",
        "tsv",
        "semicolon",
        "csv.gz",
        "tsv.gz",
        "plain",
        "npy",
        "npz",
        "parquet",
        "feather",
        "arrow",
        "stream",
        "idx",
        "idx.gz",
    ),
    *(
        "fcs2.0",
        "fcs3.0",
        "fcs3.1",
        "packed.npz",
        "snappy.parquet",
        "zstd.parquet",
        "lz4.feather",
        "zstd.feather",
        "csv.bz2",
    ),
    *("csv.zst", "png", "jpg", "tiff", "webp", "palette.png", "packed.tiff", "km"),
)


@pytest.fixture(scope="module")
def wholes(tmp_path_factory):
    files = whole_files(tmp_path_factory.mktemp("wholes"))
    assert set(files) == set(KINDS)
    return {kind: (path.name, path.read_bytes()) for kind, path in files.items()}


@st.composite
def mutations(draw):
    """Changes of a file, each as a function of its bytes: flips, cuts, doublings, bytes from
    elsewhere, extreme numbers.
    """
    place, length = st.floats(0, 1, exclude_max=True), st.integers(1, 64)
    number = st.sampled_from(
        [
            b"\xff" * 8,
            bytes(8),
            b"\xff" * 4,
            bytes(4),
            b"\x7f\xff\xff\xff",
            b"\xff\xff\xff\x7f",
            b"99999999",
            b"-1",
        ]
    )
    change = st.one_of(
        st.tuples(st.just("flip"), place, st.integers(1, 255)),
        st.tuples(st.just("cut"), place, st.none()),
        st.tuples(st.just("drop"), place, length),
        st.tuples(st.just("double"), place, length),
        st.tuples(st.just("move"), place, st.tuples(place, length)),
        st.tuples(st.just("put"), place, number),
    )
    return draw(st.lists(change, min_size=1, max_size=4))


def mutated(content: bytes, changes) -> bytes:
    for kind, place, value in changes:
        at = int(place * len(content))
        if kind == "flip" and content:
            content = content[:at] + bytes([content[at] ^ value]) + content[at + 1 :]
        elif kind == "cut":
            content = content[:at]
        elif kind == "drop":
            content = content[:at] + content[at + value :]
        elif kind == "double":
            content = content[: at + value] + content[at:]
        elif kind == "move":
            start = int(value[0] * len(content))
            content = content[:at] + content[start : start + value[1]] + content[at + value[1] :]
        elif kind == "put":
            content = content[:at] + value + content[at + len(value) :]
    return content


def survives(guard, path: Path, content: bytes) -> None:
    """Either points, or one sentence about the file."""
    path.write_bytes(content)
    found = guard.ask(path=str(path), how={"labels": "y"} if path.name in LABELLED else {})
    assert found["kind"] in EXPECTED, found
    if found["kind"] != "ok":
        one_sentence(found["message"], path)


def test_whole_files_are_read(tmp_path, guard, wholes):
    """What the mutations start from."""
    for name, content in wholes.values():
        (tmp_path / name).write_bytes(content)
        found = guard.ask(
            path=str(tmp_path / name), how={"labels": "y"} if name in LABELLED else {}
        )
        assert found["kind"] == "ok", (name, found)


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS)
def test_no_mutation_of_a_file_does_harm(tmp_path_factory, guard, wholes, kind):
    folder = tmp_path_factory.mktemp("mutated")
    name, whole = wholes[kind]

    @given(mutations())
    def check(changes):
        survives(guard, folder / name, mutated(whole, changes))

    check()


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", ["csv.gz", "idx.gz", "km"])
def test_no_mutation_within_its_packing_does_harm(tmp_path_factory, guard, wholes, kind):
    """What a checksum would have caught."""
    from kernelmean.mean import storage

    folder = tmp_path_factory.mktemp("inside")
    name, whole = wholes[kind]
    inside = whole[: -storage.DIGEST] if kind == "km" else gzip.decompress(whole)

    @given(mutations())
    def check(changes):
        content = mutated(inside, changes)
        packed = (
            content + storage.hashlib.sha256(content).digest()
            if kind == "km"
            else gzip.compress(content)
        )
        survives(guard, folder / name, packed)

    check()
