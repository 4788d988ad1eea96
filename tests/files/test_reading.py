"""Every format gives the same points, in batches, as often as asked; what cannot be read is named
in one sentence.
"""

from __future__ import annotations

import builtins
import importlib
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean import _checks
from kernelmean.files import column_names, read_columns, read_image, short_name, source, transforms
from tests.files import formats
from tests.files.formats import pa

X = np.random.default_rng(0).normal(size=(500, 3))
W = np.random.default_rng(1).uniform(0.1, 1.0, size=500)
Y = np.array(["north", "south", "east"])[np.arange(500) % 3]
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
        "folder",
    ),
    *("idx", "idx.gz", "fcs2.0", "fcs3.0", "fcs3.1"),
)
NAMELESS = ("plain", "npy", "npz", "idx", "idx.gz")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return formats.write_all(tmp_path_factory.mktemp("formats"), X)


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_same_points(files, kind):
    assert set(KINDS) == set(files)
    found = km.read(files[kind])
    expected = X.astype(np.float32).astype(np.float64) if kind.startswith("fcs") else X
    np.testing.assert_array_equal(np.asarray(found), expected)
    assert found.shape == (500, 3)
    assert len(found) == 500
    assert found.columns == (
        None
        if kind in NAMELESS
        else ["FSC-A", "SSC-A", "FL1"]
        if kind.startswith("fcs")
        else formats.NAMES
    )
    sizes = [batch.shape for batch in found.batches(120)]
    assert sizes == [(120, 3)] * 4 + [(20, 3)]
    for _ in range(2):  # as often as asked
        blocks = list(found.batches(120))
        np.testing.assert_array_equal(np.concatenate(blocks), expected)
        assert all(block.dtype == np.float64 for block in blocks)


def test_no_more_than_some_row_groups_of_parquet_are_held(tmp_path):
    A = np.random.default_rng(2).normal(size=(200_000, 5))  # 8 MB in 20 row groups
    table = pa.table({f"x{j}": column for j, column in enumerate(A.T)})
    pa.parquet.write_table(table, tmp_path / "x.parquet", row_group_size=10_000, compression="none")
    before, held, rows = pa.total_allocated_bytes(), 0, 0
    for batch in km.read(tmp_path / "x.parquet").batches(10_000):
        np.testing.assert_array_equal(batch, A[rows : rows + len(batch)])
        rows, held = rows + len(batch), max(held, pa.total_allocated_bytes() - before)
    assert rows == len(A)
    assert held < A.nbytes / 4


@pytest.mark.parametrize("kind", ["csv", "npy", "parquet", "feather", "fcs3.1"])
def test_columns_are_chosen_by_name_in_the_order_asked_for(files, kind):
    names = {"npy": ["2", "0"], "fcs3.1": ["CD3", "FSC-A"]}.get(kind, ["c", "a"])
    expected = np.asarray(km.read(files[kind]))[:, [2, 0]]
    found = km.read(files[kind], columns=names)
    np.testing.assert_array_equal(np.asarray(found), expected)
    assert found.columns == (None if kind == "npy" else names)
    np.testing.assert_array_equal(
        np.asarray(km.read(files[kind], columns=",".join(names))), expected
    )
    with pytest.raises(ValueError, match=r"no column 'nope'; its columns are "):
        km.read(files[kind], columns="nope")


def test_batches_do_not_depend_on_the_blocks_of_the_file(files, monkeypatch):
    whole = [batch.tolist() for batch in km.read(files["npy"]).batches(64)]
    monkeypatch.setattr("kernelmean.files.reader.BLOCK_NUMBERS", 21)
    monkeypatch.setattr("kernelmean.files.faults.BLOCK_BYTES", 1000)
    monkeypatch.setattr("kernelmean.files.tables.BLOCK_ROWS", 13)
    for kind in ("npy", "csv", "csv.gz", "parquet", "folder", "stream"):
        found = km.read(files[kind])
        assert [batch.tolist() for batch in found.batches(64)] == whole
        assert len(list(found._pieces())) > 6, kind  # small blocks indeed
        done = [batch.done for batch in found.numbered(64)]
        assert done == sorted(done)
        assert 0.0 < done[0] <= done[-1] <= 1.0


@given(sizes=st.lists(st.integers(0, 9), min_size=1, max_size=12), rows=st.integers(1, 12))
def test_regrouping_keeps_every_row_in_place(sizes, rows):
    ends = np.cumsum(sizes)
    pieces = [
        source.Batch(
            np.arange(e - s, e),
            np.arange(e - s, e)[:, None] * 1.0,
            None,
            np.arange(e - s, e),
            e / max(ends[-1], 1),
        )
        for s, e in zip(sizes, ends, strict=True)
    ]
    found = list(source._regrouped(pieces, rows))
    assert [len(batch.rows) for batch in found] == [rows] * (ends[-1] // rows) + [
        ends[-1] % rows
    ] * bool(ends[-1] % rows)
    for part in ("rows", "labels"):
        np.testing.assert_array_equal(
            np.concatenate([getattr(b, part) for b in found] or [[]]), np.arange(ends[-1])
        )
    assert all((batch.points[:, 0] == batch.rows).all() for batch in found)


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz"])
def test_weights_and_labels_are_no_coordinates(tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    more = {"w": W, "y": Y}
    if kind == "npz":
        np.savez(path, X=X, **more)
    elif kind == "csv":
        formats.write_csv(path, X, **more)
    else:
        pa.parquet.write_table(formats.table(X, **more), path)
    found = km.read(path, weights="w", labels="y")
    points, weights, labels = found.load()
    np.testing.assert_array_equal(points, X)
    np.testing.assert_array_equal(weights, W)
    np.testing.assert_array_equal(labels, Y)
    np.testing.assert_array_equal(found.weights, W)
    np.testing.assert_array_equal(found.labels, Y)
    np.testing.assert_array_equal(read_columns(path, ["y"])["y"], Y)
    if kind != "npz":
        assert found.columns == formats.NAMES
        assert column_names(path) == [*formats.NAMES, "w", "y"]
        with pytest.raises(ValueError, match=r"column 'y' (holds|has the type).*--columns"):
            km.read(path).load()


def test_labels_may_come_from_another_file(tmp_path, files):
    labels = formats.zipped(
        formats.write_idx(tmp_path / "labels-idx1-ubyte", np.arange(500) % 7, 0x08, ">u1")
    )
    found = km.read(files["idx.gz"], labels=str(labels))
    np.testing.assert_array_equal(found.load().labels, np.arange(500) % 7)
    short = formats.write_idx(tmp_path / "short-idx1-ubyte", np.arange(400) % 7, 0x08, ">u1")
    with pytest.raises(ValueError, match="one label per row, but there are 400 labels"):
        km.read(files["idx.gz"], labels=str(short)).load()


def test_labels_of_a_csv_that_are_whole_numbers_are_numbers(tmp_path):
    path = formats.write_csv(tmp_path / "x.csv", X, y=np.arange(500) % 12)
    labels = km.read(path, labels="y").load().labels
    assert labels.dtype.kind == "i"
    assert labels.tolist() == (np.arange(500) % 12).tolist()
    (tmp_path / "zip.csv").write_text("x,code\n1,007\n2,08\n")
    assert km.read(tmp_path / "zip.csv", labels="code").load().labels.tolist() == ["007", "08"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy"])
def test_missing_values_are_counted_and_can_be_left_out(tmp_path, ending):
    A = X.copy()
    A[[3, 77, 78], [0, 1, 2]] = np.nan, np.nan, np.inf
    path = tmp_path / f"x.{ending}"
    if ending == "npy":
        np.save(path, A)
    elif ending == "csv":
        formats.write_csv(path, A)
    else:
        pa.parquet.write_table(formats.table(A), path)
    found = km.read(path)
    with pytest.raises(ValueError, match=r"3 rows have missing or infinite values.*--drop-na"):
        np.asarray(found)
    assert found.missing == 3
    kept = km.read(path, drop_na=True)
    rows = np.delete(np.arange(500), [3, 77, 78])
    assert kept.shape == (497, 3)
    np.testing.assert_array_equal(np.asarray(kept), X[rows])
    np.testing.assert_array_equal(np.concatenate([batch.rows for batch in kept.numbered(99)]), rows)


def test_missing_labels_and_weights_are_missing_values(tmp_path):
    (tmp_path / "x.csv").write_text("x,w,y\n1,1,a\n2,,b\n3,1,\n4,NA,\n5,2,c\n")
    with pytest.raises(ValueError, match="3 rows have"):
        km.read(tmp_path / "x.csv", weights="w", labels="y").load()
    points, weights, labels = km.read(
        tmp_path / "x.csv", weights="w", labels="y", drop_na=True
    ).load()
    assert points.ravel().tolist() == [1.0, 5.0]
    assert weights.tolist() == [1.0, 2.0]
    assert labels.tolist() == ["a", "c"]
    (tmp_path / "none.csv").write_text("x\nNA\n\nNA\n")
    with pytest.raises(ValueError, match="no rows without missing values"):
        len(km.read(tmp_path / "none.csv", drop_na=True))


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy"])
def test_missing_values_can_be_kept(tmp_path, ending):
    A = X.copy()
    A[[3, 77, 77], [0, 1, 2]] = np.nan
    path = tmp_path / f"x.{ending}"

    def kept(**how):
        if ending == "npy":
            np.save(path, A)
        elif ending == "csv":
            formats.write_csv(path, A)
        else:
            pa.parquet.write_table(formats.table(A), path)
        return replace(km.read(path, **how), keep_na=True)

    found = kept()
    assert (found.shape, found.missing) == ((500, 3), 0)
    np.testing.assert_array_equal(np.asarray(found), A)
    arcsinh = kept(transform="arcsinh:2")
    np.testing.assert_array_equal(np.asarray(arcsinh), np.arcsinh(A / 2.0))
    A[5, 1] = np.inf
    with pytest.raises(ValueError, match=r"1 row has infinite values; remove such rows"):
        np.asarray(kept())
    assert kept(drop_na=True).shape == (499, 3)
    negative = np.sum((np.nan_to_num(A, nan=1.0, posinf=-1.0) <= 0.0).any(axis=1))
    with pytest.raises(ValueError, match=rf"{negative} rows have values that are not finite after"):
        np.asarray(kept(transform="log"))


@given(
    st.sampled_from(["log", "arcsinh:5", "arcsinh:0.01"]),
    st.lists(st.floats(1e-8, 1e8), min_size=1, max_size=5),
)
def test_the_inverse_of_a_transform_gives_the_values_back(name, values):
    transform = transforms.parse(name)
    given_values = np.array(values)
    for x in [given_values] if name == "log" else [given_values, -given_values]:
        np.testing.assert_allclose(transform.inverse(transform(x)), x, rtol=1e-13)


def test_the_inverse_of_a_transform_may_be_infinite_or_missing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("log", "arcsinh:5"):
            found = transforms.parse(name).inverse(np.array([1e4, np.inf, np.nan, -np.inf]))
            least = 0.0 if name == "log" else -np.inf
            np.testing.assert_array_equal(found, [np.inf, np.inf, np.nan, least])


def test_transforms(files):
    np.testing.assert_array_equal(
        np.asarray(km.read(files["npy"], transform="arcsinh:150")), np.arcsinh(X / 150)
    )
    np.testing.assert_array_equal(np.asarray(km.read(files["npy"], transform="none")), X)
    logged = km.read(files["csv"], transform="log", drop_na=True)
    np.testing.assert_array_equal(np.asarray(logged), np.log(X[(X > 0).all(axis=1)]))
    with pytest.raises(
        ValueError, match=rf"{np.sum((X <= 0).any(axis=1))} rows have .*not finite after log"
    ):
        np.asarray(km.read(files["csv"], transform="log"))
    assert str(transforms.parse("arcsinh:0.5")) == "arcsinh:0.5"
    assert transforms.parse(str(transforms.parse("arcsinh:150"))) == transforms.parse("arcsinh:150")
    for bad in (
        "sqrt",
        "log:2",
        "arcsinh:",
        "arcsinh:0",
        "arcsinh:-3",
        "arcsinh:x",
        "arcsinh:inf",
        "",
    ):
        with pytest.raises(ValueError, match="unknown transform"):
            transforms.parse(bad)


def test_the_types_of_columns(tmp_path):
    columns = {
        "whole": pa.array([1, 2, None], pa.int8()),
        "truth": pa.array([True, False, None]),
        "money": pa.array([1.5, 2.25, None], pa.float64()).cast(pa.decimal128(10, 2)),
        "levels": pa.array([0.5, 1.5, 0.5]).dictionary_encode(),
        "nothing": pa.nulls(3),
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
    found = km.read(tmp_path / "x.parquet", columns="whole,truth,money,levels", drop_na=True)
    assert np.asarray(found).tolist() == [[1.0, 1.0, 1.5, 0.5], [2.0, 0.0, 2.25, 1.5]]
    with pytest.raises(ValueError, match="no rows without"):
        len(km.read(tmp_path / "x.parquet", drop_na=True))
    pa.parquet.write_table(
        pa.table({"when": pa.array([0, 1], pa.timestamp("s"))}), tmp_path / "t.parquet"
    )
    with pytest.raises(ValueError, match=r"column 'when' has the type timestamp"):
        km.read(tmp_path / "t.parquet")


def test_text_with_quotes_blank_lines_and_late_surprises(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('\ufeff\n"a, b",c\n1,2\n\n"3",4\n', encoding="utf-8")
    found = km.read(path)
    assert found.columns == ["a, b", "c"]
    assert np.asarray(found).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    rows = "".join(
        f"{i},{i}\n" for i in range(200_000)
    )  # whole numbers for longer than one block, then a fraction
    path.write_text(f"a,b\n{rows}0.5,1e3\n")
    assert np.asarray(km.read(path))[-1].tolist() == [0.5, 1000.0]
    assert len(km.read(path)) == 200_001
    path.write_text(f"a,b\n{rows}oops,1\n")
    with pytest.raises(ValueError, match="column 'a' holds 'oops'"):
        np.asarray(km.read(path))


SAVED = {"webp": {"lossless": True}, "jpg": {"quality": 95, "subsampling": 0}}


@pytest.mark.parametrize("ending", ["png", "tiff", "webp", "jpg"])
def test_pictures_are_pixels(tmp_path, ending):
    rgb = np.zeros((6, 8, 3), np.uint8)
    rgb[:3], rgb[3:, :4] = (200, 30, 30), (20, 20, 220)
    formats.Image.fromarray(rgb).save(tmp_path / f"x.{ending}", **SAVED.get(ending, {}))
    assert read_image(tmp_path / f"x.{ending}").shape == (6, 8, 3)
    found = km.read(tmp_path / f"x.{ending}")
    assert found.columns == ["red", "green", "blue"]
    np.testing.assert_allclose(
        np.asarray(found), rgb.reshape(-1, 3), atol=12 if ending == "jpg" else 0
    )


@pytest.mark.parametrize(
    ("mode", "shape"),
    [
        ("L", (4, 5)),
        ("1", (4, 5)),
        ("P", (4, 5, 3)),
        ("RGBA", (4, 5, 4)),
        ("LA", (4, 5, 4)),
        ("I;16", (4, 5)),
    ],
)
def test_pictures_of_other_modes(tmp_path, mode, shape):
    grey = np.arange(20, dtype=np.uint8).reshape(4, 5)
    image = (
        formats.Image.fromarray(grey.astype(np.uint16))
        if mode == "I;16"
        else formats.Image.fromarray(grey).convert(mode)
    )
    image.save(tmp_path / "x.png")
    assert read_image(tmp_path / "x.png").shape == shape
    assert km.read(tmp_path / "x.png").shape == (20, 1 if len(shape) == 2 else 3)


def test_arrays_of_npz_by_name(tmp_path):
    np.savez(
        tmp_path / "x.npz",
        first=X,
        second=X[:, :2],
        channels=np.array(["r", "g", "b"]),
        note="text",
    )
    np.testing.assert_array_equal(np.asarray(km.read(f"{tmp_path}/x.npz:second")), X[:, :2])
    assert km.read(f"{tmp_path}/x.npz:first").columns == ["r", "g", "b"]
    with pytest.raises(
        ValueError,
        match=r"which array of .*x.npz holds the points\? Say .*x.npz:NAME; "
        r"it holds first \(500, 3\)",
    ):
        km.read(tmp_path / "x.npz")
    with pytest.raises(ValueError, match="no array 'third'"):
        km.read(f"{tmp_path}/x.npz:third")


ENDINGS = [
    "npy",
    "npz",
    "parquet",
    "feather",
    "arrow",
    "fcs",
    "idx",
    "png",
    "jpg",
    "csv.gz",
    "strange",
]


@pytest.mark.parametrize(
    "content", [b"", b"no such thing, only a line of text to read\n"], ids=["empty", "foreign"]
)
@pytest.mark.parametrize("ending", ENDINGS)
def test_foreign_files_are_named(tmp_path, ending, content):
    path = tmp_path / f"bad.{ending}"
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=rf"bad\.{ending} (is empty|cannot be read|has no ending)"
    ) as error:
        np.asarray(km.read(path))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "kind", ["npy", "npz", "parquet", "feather", "arrow", "fcs3.1", "idx", "idx.gz", "csv.gz"]
)
def test_half_files_are_named(tmp_path, files, kind):
    """No rows are lost silently."""
    path = tmp_path / files[kind].name
    whole = files[kind].read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=path.name):
        np.asarray(km.read(path))


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"gone\.csv does not exist"):
        km.read(tmp_path / "gone.csv")
    with pytest.raises(ValueError, match="a folder without parquet files"):
        km.read(tmp_path)
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(
        ValueError, match=r"ragged\.csv cannot be read: .*Expected 2 columns, got 1"
    ):
        np.asarray(km.read(tmp_path / "ragged.csv"))
    (tmp_path / "twins.csv").write_text("a,a\n1,2\n")
    with pytest.raises(ValueError, match="two columns called 'a'"):
        km.read(tmp_path / "twins.csv")
    (tmp_path / "headed.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="has no rows"):
        np.asarray(km.read(tmp_path / "headed.csv"))
    np.save(tmp_path / "text.npy", np.array(["a", "b"]))
    with pytest.raises(ValueError, match="real numbers are needed"):
        km.read(tmp_path / "text.npy")


@pytest.mark.parametrize(
    ("kind", "package"),
    [
        ("csv.zst", "pyarrow"),
        ("parquet", "pyarrow"),
        ("feather", "pyarrow"),
        ("fcs3.1", "flowio"),
        ("png", "Pillow"),
    ],
)
def test_a_missing_library_is_one_sentence(files, tmp_path, monkeypatch, kind, package):
    module = {"Pillow": "PIL"}.get(package, package)
    path = files.get(kind, tmp_path / f"x.{kind}")
    if kind == "png":
        formats.Image.new("RGB", (2, 2)).save(path)
    if kind == "csv.zst":
        path.write_bytes(pa.compress(b"1,2\n3,4\n", codec="zstd", asbytes=True))
    actual = importlib.import_module

    def without(name, *rest):
        if name.partition(".")[0] == module:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return actual(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(
        ImportError,
        match=rf"needs {package}, which is not installed: pip install 'kernelmean\[files\]'",
    ):
        km.read(path)


def test_fits_take_a_source_and_keep_its_names(files):
    found = km.read(files["csv"])
    assert _checks.is_batched(found)
    assert not _checks.is_batched(X)
    assert not _checks.is_batched(formats.table(X).to_pandas())
    expected = km.sparse_kernel_mean(X, k=8, random_state=0, engine="naive")
    mean = km.sparse_kernel_mean(found, k=8, random_state=0, engine="naive")
    np.testing.assert_array_equal(mean.centers, expected.centers)
    density = km.SparseKDE(k=8, random_state=0, engine="naive").fit(found)
    assert density.mean_.columns == ("a", "b", "c")
    np.testing.assert_array_equal(density.score_samples(found), density.mean_.log(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="were fitted, in this order"):
            density.score_samples(km.read(files["csv"], columns="b,a,c"))
    embedding = km.DistributionEmbedding(embedding=None, engine="naive", k=5, random_state=0)
    embedding.fit({"one": found, "two": km.read(files["parquet"]), "three": km.read(files["csv"])})
    assert embedding.distances_.max() < 1e-6
    assert embedding.feature_names_in_.tolist() == formats.NAMES
    km.DistributionEmbedding(embedding=None, engine="naive", k=5).fit([km.read(files["npy"])] * 2)


def test_asking_whether_it_is_a_source_reads_nothing(files, monkeypatch):
    found = km.read(files["csv"])
    monkeypatch.setattr(builtins, "open", None)
    assert _checks.is_batched(found)
    assert "x.csv" in repr(found)


@pytest.mark.data
def test_mnist_and_the_painting(data):
    images = km.read(
        data / "mnist" / "t10k-images-idx3-ubyte.gz",
        labels=str(data / "mnist" / "t10k-labels-idx1-ubyte.gz"),
    )
    points, _, labels = images.load()
    assert points.shape == (10_000, 784)
    assert points.min() == 0.0
    assert points.max() == 255.0
    assert np.bincount(labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert read_image(data / "images" / "mondrian_composition_a.jpg").shape == (900, 905, 3)


def test_a_short_name_has_neither_folder_nor_ending():
    named = {
        "a/b.csv": "b",
        "Fa13.BD.1_rep1.csv.gz": "Fa13.BD.1_rep1",
        "x.NPZ": "x",
        "v1.2": "v1.2",
        "x.npz:key": "x.npz:key",
    }
    assert {path: short_name(path) for path in named} == named
    assert short_name("train-images-idx3-ubyte.gz") == "train-images-idx3-ubyte"


@pytest.mark.parametrize("value", ["0,126", "1.125,7", "1 125,7", "-3,5"])
def test_numbers_with_commas_are_told_from_words(tmp_path, value):
    (tmp_path / "x.csv").write_text(f"a;b\n{value};2\n")
    with pytest.raises(
        ValueError,
        match=f"column 'a' holds '{value}'; "
        "numbers need a point for the decimals and no other mark",
    ):
        km.read(tmp_path / "x.csv").load()


def test_a_damaged_npz_is_not_called_a_pickle(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"PK and then something else")
    with pytest.raises(
        ValueError, match=r"x\.npz cannot be read as npz: it is no zip archive, or a damaged one"
    ):
        km.read(tmp_path / "x.npz")


def test_a_name_with_a_comma_goes_in_quotes(tmp_path):
    (tmp_path / "x.csv").write_text('"CD3 (clone, 2)",b,"5"" c"\n1,2,3\n')
    assert km.read(tmp_path / "x.csv", columns='b, "CD3 (clone, 2)"').load().points.tolist() == [
        [2.0, 1.0]
    ]
    assert km.read(tmp_path / "x.csv", columns='b,5" c').load().points.tolist() == [[2.0, 3.0]]
    assert km.read(tmp_path / "x.csv", columns=["CD3 (clone, 2)"]).load().points.tolist() == [[1.0]]
