"""Csv and tsv: where lines end, what is a header, and the same answers with and without pyarrow."""

from __future__ import annotations

import bz2
import contextlib
import gzip

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean.files import cells, column_names, faults, read_columns, text
from tests.files.formats import pa

SEPARATORS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
PARSERS = {"arrow": text._by_arrow, "plain": cells.blocks}


@pytest.fixture(params=PARSERS)
def parser(request, monkeypatch):
    """Each test with either parser behind the reader."""
    monkeypatch.setattr(text, "has_arrow", lambda: request.param == "arrow")
    return request.param


def written(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# Lines and headers


@pytest.mark.parametrize("mark", SEPARATORS, ids=lambda mark: f"U+{ord(mark):04X}")
@pytest.mark.parametrize("where", ["before", "in", "line", "after"])
def test_only_cr_and_lf_end_a_line(tmp_path, parser, mark, where):
    header = {
        "before": f"{mark}a,b\n",
        "in": f"a{mark}z,b\n",
        "line": f"{mark}\na,b\n",
        "after": f"a,b{mark}\n",
    }[where]
    found = km.read(written(tmp_path / "x.csv", header + "1,2\n3,4\n5,6\n"))
    assert np.asarray(found).tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert found.columns == [f"a{mark}z" if where == "in" else "a", "b"]


HEADED = {
    "newline in a quoted name": ('"a\nz",b\n1,2\n3,4\n', ["a\nz", "b"]),
    "CRLF in a quoted name": ('"a\r\nz",b\r\n1,2\r\n3,4\r\n', ["a\r\nz", "b"]),
    "CR only": ("a,b\r1,2\r3,4\r", ["a", "b"]),
    "CRLF": ("a,b\r\n1,2\r\n3,4", ["a", "b"]),
    "mark of byte order": ("\ufeffa,b\n1,2\n3,4\n", ["a", "b"]),
    "mark, then quotes": ('\ufeff"a",b\n1,2\n3,4\n', ["a", "b"]),
    "mark, then a row": ("\ufeff1,2\n3,4\n", None),
    "empty lines": ("\n\r\n\ra,b\n1,2\n\n3,4\n\n\n", ["a", "b"]),
    "lines of spaces": ("  \n \t \na,b\n1,2\n3,4\n", ["a", "b"]),
    "a delimiter in a quoted name": ('"a;z;y";"b"\n1;2\n3;4\n', ["a;z;y", "b"]),
    "commas in quotes": ('"a,z,y";b\n1;2\n3;4\n', ["a,z,y", "b"]),
    "no header": ("1,2\n3,4\n", None),
    "signs": ("+1,2\n3,4\n", None),
    "spaces": (" 1 , 2\n3,4\n", None),
    "quoted values": ('"1","2"\n"3","4"\n', None),
}


@pytest.mark.parametrize("case", HEADED)
def test_headers(tmp_path, parser, case):
    content, names = HEADED[case]
    found = km.read(written(tmp_path / "x.csv", content))
    assert found.columns == names
    assert np.asarray(found).tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("first", ["NA,2", "nan,2", "null,2", "NA,NA", ",2"])
def test_a_first_row_with_a_missing_value_is_a_row(tmp_path, parser, first):
    path = written(tmp_path / "x.csv", f"{first}\n3,4\n")
    assert column_names(path) is None
    with pytest.raises(ValueError, match="1 row has missing"):
        np.asarray(km.read(path))
    assert np.asarray(km.read(path, drop_na=True)).tolist() == [[3.0, 4.0]]


def test_a_first_row_with_decimal_commas_is_a_row(tmp_path, parser):
    with pytest.raises(ValueError, match="column '0' holds '0,5'; numbers need a point"):
        np.asarray(km.read(written(tmp_path / "x.csv", "0,5;1,5\n2;3\n")))


@pytest.mark.parametrize("ending", ["csv.gz", "csv.bz2", "csv.zst", "CSV.GZ", "tsv.gz", "TSV"])
def test_compressed_text(tmp_path, parser, ending):
    mark = b"\t" if "tsv" in ending.lower() else b","
    content = b"a,b\n1,2\n3,4\n".replace(b",", mark)
    pack = {
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "zst": lambda b: pa.compress(b, codec="zstd", asbytes=True),
    }
    found = km.read(written(tmp_path / f"x.{ending}", pack.get(ending.lower()[4:], bytes)(content)))
    assert np.asarray(found).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_text_in_utf_16_is_named(tmp_path, parser):
    with pytest.raises(ValueError, match=r"x\.csv cannot be read: it is in UTF-16"):
        km.read(written(tmp_path / "x.csv", "a,b\n1,2\n".encode("utf-16")))


def test_a_quote_that_is_never_closed_loses_no_rows(tmp_path, parser):
    path = written(tmp_path / "x.csv", 'a,note\n1,x\n2,"open\n3,y\n4,z\n')
    for how in ({"labels": "note"}, {"columns": "a"}):
        with pytest.raises(ValueError, match=r"x\.csv cannot be read: it ends within quotes"):
            km.read(path, **how).load()


def test_a_row_without_end_is_not_read_whole(tmp_path, parser, monkeypatch):
    monkeypatch.setattr(faults, "BLOCK_BYTES", 1000)
    path = written(tmp_path / "x.csv", "a,b\n1,2\n" + "1" * 5000 + ",2\n")
    with pytest.raises(ValueError, match=r"x\.csv cannot be read: a row is longer than 1000 bytes"):
        np.asarray(km.read(path))
    for head in ("a" * 5000 + "\n1\n", '"a\n' + "1\n" * 5000):
        with pytest.raises(ValueError, match=r"x\.csv cannot be read: a row is longer"):
            km.read(written(path, head))


def test_values_with_newlines_straddle_blocks(tmp_path, parser, monkeypatch):
    monkeypatch.setattr(faults, "BLOCK_BYTES", 64)
    path = written(tmp_path / "x.csv", "x,y\n" + "".join(f'{i},"l\n{i % 7}"\n' for i in range(300)))
    points, _, labels = km.read(path, labels="y").load()
    assert points.ravel().tolist() == list(range(300))
    assert labels.tolist() == [f"l\n{i % 7}" for i in range(300)]


def test_the_core_parser_holds_some_blocks_only(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "has_arrow", lambda: False)
    monkeypatch.setattr(faults, "BLOCK_BYTES", 1 << 14)
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1.25,-3\n" * 200_000))
    import tracemalloc

    found = km.read(path)
    tracemalloc.start()
    try:
        assert len(found) == 200_000
        assert tracemalloc.get_traced_memory()[1] < 1 << 20  # 1.6 MB of text, 3.2 MB of numbers
    finally:
        tracemalloc.stop()


# The same answers


def outcome(path, how):
    """What comes of a file: names and values, or the sentence."""
    try:
        found = km.read(path, **how)
        points, _, labels = found.load()
    except ValueError as error:
        return str(error)
    return found.columns, found.wanted, points.tolist(), None if labels is None else labels.tolist()


def both(path, content, how, size=None):
    """The outcomes of the two parsers, with blocks of ``size`` bytes."""
    written(path, content)
    with pytest.MonkeyPatch.context() as patch:
        if size is not None:
            patch.setattr(faults, "BLOCK_BYTES", size)
        for parser in PARSERS:
            patch.setattr(text, "has_arrow", lambda parser=parser: parser == "arrow")
            yield outcome(path, how)


VALUES = [
    *("1", "-2.5", "1e5", "1E-5", "+3", "1e400", "-1e400", "1e-400", "00012", "1.", ".5", "-.5"),
    *("0", "-0", "inf", "-inf", "Infinity", "INF", "nan", "NaN", "NAN", "-nan", "+nan", "nan(x)"),
    *("nan()", "NA", "N/A", "null", "NULL", "#N/A", "", " ", " NA", "NA ", "-1.#IND", "1_000"),
    *("0x10", "0x1p3", "1d5", "1f", "\u0661", "\u00a01", "1\u00a0", " 1", "1 ", "\t1", "1\x0c"),
    *("1\x00", "\x00", "- 1", "--1", "1e", "1e5.0", ".", "-", "+", "e5", "infin", "true", "abc"),
    *("1,5", "1;5", "1|5", '"1"', '" 1 "', '""', '"NA"', '1"', '"1"2', '"1" ', ' "1"', '"1""2"'),
    *('""1', '"1\n"', '"a\r\nb"', '"a,b"', '"a', "\ufeff1", "\u20281", "1" * 400, "0." + "1" * 800),
    *("123456789012345678901", "2.2250738585072011e-308", "4.9406564584124654e-324"),
    *("9007199254740993", "0.1", "1.7976931348623159e308"),
]  # fmt: skip


@pytest.mark.parametrize(
    "how", [{}, {"drop_na": True}, {"labels": "b", "drop_na": True}, {"columns": "b"}], ids=str
)
def test_every_kind_of_value_is_the_same(tmp_path, how):
    kinds = set()
    for value in VALUES:
        for content in (
            f"a,b\n1,2\n{value},4\n",
            f"a,b\n1,2\n3,{value}\n",
            f"a,b\n1,2\n3,{value}",
            f"b,a\r{value},1\r2,3\r",
        ):
            first, second = both(tmp_path / "x.csv", content, how)
            assert first == second, content
            kinds.add(type(first))
    assert kinds == {str, tuple}


HARD = [
    *(b"a,b\n", b"a,b", b"a,b\n\n\n", b"a\n", b"a,b\n1,2\n3\n", b"a,b\n1,2,3\n", b"a,b\n1,2,\n"),
    *(b"a,b,\n1,2,\n3,4,\n", b"a,b\n,\n", b"a,b\n1,2\n \n3,4\n", b"a\n1\n \n2\n", b'a\n1\n""\n2\n'),
    *(b"a\n1\n\n2\n", b'a,b\n"1,2\n3,4\n', b'a,b\n1,"2', b'"a,b\n1,2\n', b"a,b\n1,\xff\n"),
    *(b"\xff,b\n1,2\n", b"a,b\n\xef\xbb\xbf1,2\n", b"\xef\xbb\xbf\xef\xbb\xbfa,b\n1,2\n"),
    *(b"\xef\xbb\xbf", b"\x00,\x00\n1,2\n", b"a,b\n1,2\n3,4\x1a", b"a,b\r\n1,2\r\n\r\n3,4\r\n"),
    *(b"a,b\n\r1,2\n\r3,4", b"1\n2\n3", b"a|b\n1|2\n", b"a\tb\n1\t2\n", b"a;b\n1;2\n"),
    *(b'a,b\n1,"x""y"\n', b'a,b\n1,"x"y"z\n', b'a,b\n1,x"y"\n', b'a,b\n1,"x\ny"\n2,z\n'),
    *(b'a,b\n1,"NA"\n2,w\n', b"a,a\n1,2\n", b"\n", b" "),
]  # fmt: skip


@pytest.mark.parametrize("content", HARD, ids=repr)
def test_hard_cases_are_the_same(tmp_path, content):
    for how in ({}, {"drop_na": True}, {"labels": "b"}, {"columns": "a"}):
        for size in (None, 32):
            first, second = both(tmp_path / "x.csv", content, how, size)
            assert first == second


@st.composite
def csv_texts(draw):
    """Rows of all kinds of values, mostly of equal length, under one kind of line end."""
    delimiter, end = (
        draw(st.sampled_from(",;\t|")),
        draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"])),
    )
    width = draw(st.integers(1, 4))
    plain = st.floats().map(repr) | st.integers(-(10**6), 10**6).map(str)
    value = st.one_of(
        plain,
        plain,
        plain,
        st.sampled_from(VALUES),
        st.text(st.sampled_from('"ab 1.,;\n\r'), max_size=5),
    )
    rows = draw(st.lists(st.lists(value, min_size=width, max_size=width), min_size=1, max_size=12))
    if draw(st.integers(0, 9)) == 0:
        rows[draw(st.integers(0, len(rows) - 1))].append("1")
    header = [f"c{j}" for j in range(width)] if draw(st.booleans()) else []
    lines = [delimiter.join(row) for row in ([header] if header else []) + rows]
    return end.join(lines) + draw(st.sampled_from(["", end]))


@pytest.mark.fuzz
@given(
    content=csv_texts(),
    how=st.sampled_from(
        [{}, {"drop_na": True}, {"columns": "0"}, {"labels": "c0", "drop_na": True}]
    ),
)
@example(content="c0,c1\n1,2\n", how={})
def test_generated_texts_are_the_same(tmp_path_factory, content, how):
    size = (
        None if '"' in content else 50 if max(map(len, content.split()), default=0) < 20 else None
    )
    first, second = both(tmp_path_factory.getbasetemp() / "generated.csv", content, how, size)
    if isinstance(first, str) and isinstance(second, str):
        return  # of several faults either may be named; the cases above have one each
    assert repr(first) == repr(second)  # with NaN


def test_small_tables_are_the_same(tmp_path):
    path = written(tmp_path / "x.csv", 'name,site\n"s, 1",north\ns2,\ns3,"so""uth"\n')
    with contextlib.ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        found = []
        for parser in PARSERS:
            patch.setattr(text, "has_arrow", lambda parser=parser: parser == "arrow")
            found.append({name: values.tolist() for name, values in read_columns(path).items()})
    assert found[0] == found[1]
    assert found[0]["name"] == ["s, 1", "s2", "s3"]


def test_missing_values_are_those_of_pyarrow():
    assert {value.encode() for value in pa.csv.ConvertOptions().null_values} == cells.MISSING
