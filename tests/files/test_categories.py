"""Columns of words: read as codes, the same in every format, pass and batch."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.domains import tables
from kernelmean.files import coordinate_names, text
from tests.files.formats import pa

WORDS = np.array(["setosa", "virginica", "versicolor"])
LEVELS = ("setosa", "versicolor", "virginica")
CODE = {word: i for i, word in enumerate(LEVELS)}


def rows(n=60):
    x = np.random.default_rng(0).normal(size=n)
    species = WORDS[np.arange(n) % 3]
    return x, species, np.arange(n) % 4


def write(folder, ending):
    x, species, number = rows()
    table = pa.table({"x": x, "species": species, "number": number})
    path = folder / f"rows{ending}"
    if ending == ".parquet":
        pa.parquet.write_table(table, path, row_group_size=7)
    elif ending == ".feather":
        pa.feather.write_feather(table, path)
    elif ending == ".arrow":
        with pa.ipc.new_stream(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=11)
    else:
        delimiter = "\t" if ending == ".tsv" else ","
        pa.csv.write_csv(table, path, pa.csv.WriteOptions(delimiter=delimiter))
    return path


def written(folder, content):
    path = folder / "x.csv"
    path.write_text(content)
    return path


@pytest.fixture(params=["arrow", "plain"])
def parser(request, monkeypatch):
    """Each test with either parser behind the reader."""
    monkeypatch.setattr(text, "has_arrow", lambda: request.param == "arrow")
    return request.param


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".feather", ".arrow"])
def test_every_format_gives_the_same_codes(tmp_path, ending):
    x, species, number = rows()
    source = km.read(write(tmp_path, ending), categories=["species"])
    assert source.columns == ["x", "species", "number"]
    assert dict(source.levels) == {"species": LEVELS}
    expected = np.column_stack([x, [CODE[word] for word in species], number])
    np.testing.assert_allclose(np.asarray(source), expected, rtol=1e-12)
    np.testing.assert_array_equal(np.asarray(source), np.concatenate(list(source.batches(7))))


def test_text_is_read_alike_by_both_parsers(tmp_path, parser):
    path = written(tmp_path, 'k,x\n"a,b",1\nc d,2\n"say ""so""",3\n"a,b",4\né,5\n')
    source = km.read(path, categories="k")
    assert source.levels["k"] == ("a,b", "c d", 'say "so"', "é")
    assert np.asarray(source)[:, 0].tolist() == [0, 1, 2, 0, 3]


def test_small_blocks_agree_on_their_codes(tmp_path, parser, monkeypatch):
    monkeypatch.setattr("kernelmean.files.faults.BLOCK_BYTES", 64)
    words = [f"w{i % 5}" for i in range(200)][::-1]
    path = written(tmp_path, "k,x\n" + "".join(f"{w},{i}\n" for i, w in enumerate(words)))
    source = km.read(path, categories="k")
    assert source.levels["k"] == ("w0", "w1", "w2", "w3", "w4")
    assert [f"w{int(code)}" for code in np.asarray(source)[:, 0]] == words


def test_columns_come_in_the_order_asked_for_and_labels_beside_them(tmp_path):
    x, species, number = rows()
    path = write(tmp_path, ".csv")
    source = km.read(
        path, columns="species,x", categories=["species"], weights="number", labels="species"
    )
    points, weights, labels = source.load()
    assert source.columns == ["species", "x"]
    assert labels.tolist() == species.tolist()
    np.testing.assert_array_equal(weights, number)
    np.testing.assert_array_equal(points[:, 0], [CODE[word] for word in species])
    np.testing.assert_allclose(points[:, 1], x)


def test_numbers_and_truths_are_categories_too(tmp_path):
    path = tmp_path / "x.parquet"
    table = {"n": [3, 1, 3], "t": [True, False, True], "f": [0.5, 2.0, 2.0]}
    pa.parquet.write_table(pa.table(table), path)
    source = km.read(path, categories=["n", "t", "f"])
    assert dict(source.levels) == {"n": (1, 3), "t": (False, True), "f": (0.5, 2)}
    assert np.asarray(source).tolist() == [[1, 1, 0], [0, 0, 1], [1, 1, 1]]


def test_numbers_in_text_are_numbers(tmp_path, parser):
    path = written(tmp_path, "n,m,k\n10,01,1.5\n9,2,2\n10,x,2.0\n")
    source = km.read(path, categories="n,m,k")
    assert dict(source.levels) == {"n": (9, 10), "m": ("01", "2", "x"), "k": (1.5, 2)}
    assert np.asarray(source).tolist() == [[1, 0, 0], [0, 1, 1], [1, 2, 1]]


def test_columns_without_names_go_by_their_places(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[0.5, 7.0], [1.5, 3.0], [2.5, 7.0]]))
    source = km.read(tmp_path / "x.npy", categories="1")
    assert source.columns == ["0", "1"]
    assert dict(source.levels) == {"1": (3, 7)}
    assert np.asarray(source)[:, 1].tolist() == [1, 0, 1]


def test_further_columns_of_an_archive_may_hold_words(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.savez(tmp_path / "x.npz", X=X, columns=["a", "b"], kind=np.array(["v", "u", "v"]))
    source = km.read(tmp_path / "x.npz", columns="kind,b", categories="kind")
    assert np.asarray(source).tolist() == [[1, 1], [0, 3], [1, 5]]


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        (("versicolor", "setosa"), {"setosa": 1, "versicolor": 0, "virginica": -1}),
        (("other",), {"setosa": -1, "versicolor": -1, "virginica": -1}),
    ],
)
def test_values_beside_the_given_levels_are_unknown(tmp_path, levels, expected):
    source = km.read(write(tmp_path, ".csv"), categories={"species": levels})
    assert source.levels["species"] == levels
    assert np.asarray(source)[:, 1].tolist() == [expected[word] for word in rows()[1]]


def test_given_levels_are_found_however_they_are_written(tmp_path):
    path = written(tmp_path, "n,t,w\n1.0,True,1\n2,false,2\n02,no,x\n")
    given = {"n": (2, 1), "t": (False, True), "w": ("x", "2", "1")}
    assert np.asarray(km.read(path, categories=given)).tolist() == [
        [1, 1, 2],
        [0, 0, 1],
        [0, -1, 0],
    ]
    pa.parquet.write_table(pa.table({"w": [1, 2, 3]}), tmp_path / "x.parquet")
    found = km.read(tmp_path / "x.parquet", categories={"w": ("x", "2", "1")})
    assert np.asarray(found).ravel().tolist() == [2, 1, -1]


def test_missing_values_are_refused_or_left_out(tmp_path, parser):
    path = written(tmp_path, "k,x\na,1\n,2\nNA,3\nb,4\nb,\n")
    with pytest.raises(ValueError, match="3 rows have missing or infinite values; leave them out"):
        np.asarray(km.read(path, categories="k"))
    source = km.read(path, categories="k", drop_na=True)
    assert source.levels["k"] == ("a", "b")
    assert np.asarray(source).tolist() == [[0, 1], [1, 4]]
    assert source.missing == 3


def test_a_transform_leaves_categories_alone(tmp_path):
    path = written(tmp_path, "k,x\na,1\nb,100\n")
    found = np.asarray(km.read(path, categories="k", transform="log"))
    np.testing.assert_allclose(found, [[0, 0], [1, np.log(100)]])


def test_a_sample_in_memory_keeps_what_its_codes_mean(tmp_path):
    path = write(tmp_path, ".csv")
    source = km.read(path, categories=["species"], weights="number")
    held, weights = source.sample()
    np.testing.assert_array_equal(np.asarray(held), np.asarray(source))
    np.testing.assert_array_equal(weights, rows()[2])
    path.unlink()
    assert (held.columns, held.levels, held.shape) == (["x", "species"], source.levels, (60, 2))
    coded = tables.code(held, (1,), (None,))
    assert coded.levels == (LEVELS,)
    np.testing.assert_array_equal(coded.rows, np.asarray(held))


def test_coded_rows_of_a_file_are_those_of_a_frame(tmp_path):
    pd = pytest.importorskip("pandas", reason="needs pandas")
    path = write(tmp_path, ".csv")
    ours = tables.code(km.read(path, categories="species,number"), (1, 2), (None, None))
    theirs = tables.code(pd.read_csv(path), (1, 2), (None, None))
    assert (ours.levels, ours.names) == (theirs.levels, theirs.names)
    np.testing.assert_allclose(ours.rows, theirs.rows, rtol=1e-12)


def test_levels_of_a_model_are_kept_and_translated(tmp_path):
    given = ("virginica", "setosa")
    path = write(tmp_path, ".csv")
    codes = [{"virginica": 0, "setosa": 1}.get(word, -1) for word in rows()[1]]
    same = km.read(path, categories={"species": given})
    assert tables.code(same, (1,), (given,)).rows[:, 1].tolist() == codes
    learned = km.read(path, categories="species")
    assert tables.code(learned, (1,), (given,)).rows[:, 1].tolist() == codes


# What is refused


def test_without_categories_a_word_is_refused_and_told_how_to_be_read(tmp_path, parser):
    with pytest.raises(ValueError, match=r"holds 'setosa'.*categories=\[\.\.\.\].*--domain"):
        np.asarray(km.read(write(tmp_path, ".csv")))
    with pytest.raises(ValueError, match=r"'species' has the type string.*categories="):
        km.read(write(tmp_path, ".parquet"))


def test_a_word_among_numbers_is_refused_beside_categories(tmp_path, parser):
    path = written(tmp_path, "k,x\na,1\nb,two\n")
    with pytest.raises(ValueError, match="column 'x' holds 'two'"):
        np.asarray(km.read(path, categories="k"))


@pytest.mark.parametrize(
    ("categories", "columns", "said"),
    [
        ("kind", None, "has no column 'kind'; its columns are 'x', 'species', 'number'"),
        ("species", "x", "categories names 'species', which is none of the coordinates .*: 'x'"),
        ([], None, "columns must be names"),
    ],
)
def test_odd_categories_are_refused(tmp_path, categories, columns, said):
    with pytest.raises(ValueError, match=said):
        km.read(write(tmp_path, ".csv"), columns=columns, categories=categories)


def test_names_of_rows_are_no_categories(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelmean.files.categories.MAX_LEVELS", 50)
    path = written(tmp_path, "id,x\n" + "".join(f"row {i},{i}\n" for i in range(51)))
    with pytest.raises(ValueError, match="column 'id' holds more than 50 different values"):
        km.read(path, categories="id")


@pytest.mark.parametrize("content", ["k,x\n", "k,x\n\n\n"])
def test_a_file_without_rows_is_refused(tmp_path, parser, content):
    with pytest.raises(ValueError, match="has no rows"):
        np.asarray(km.read(written(tmp_path, content), categories="k"))


def test_codes_are_not_taken_for_numbers(tmp_path):
    source = km.read(write(tmp_path, ".csv"), columns="x,species", categories="species")
    said = r"columns of X hold categories \('species'\), which are no numbers"
    with pytest.raises(ValueError, match=said):
        km.SparseKDE(k=3).fit(source)
    with pytest.raises(ValueError, match=said):
        km.sparse_kernel_mean(source, k=3)
    with pytest.raises(ValueError, match="column 'species' of X was read as categories, but"):
        tables.code(source, (), ())


def test_the_names_of_coordinates_are_known_whatever_they_hold(tmp_path):
    path = write(tmp_path, ".parquet")
    assert coordinate_names(path) == ["x", "species", "number"]
    assert coordinate_names(path, weights="number") == ["x", "species"]
    assert coordinate_names(path, columns="species,x") == ["species", "x"]
    with pytest.raises(ValueError, match="no column 'y'"):
        coordinate_names(path, columns="y")
