"""Rows as they arrive: the same as those of the whole file, however they are cut into pieces."""

from __future__ import annotations

import gzip
import io
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import kernelmean as km
from kernelmean.files import faults, feeds, text
from kernelmean.files.following import Arrived, arriving
from tests.files.formats import NAMES, pa, table, write_fcs, write_folder
from tests.files.test_text import HARD, VALUES

X = np.random.default_rng(5).normal(size=(300, 3))
LOOKS = 20_000  # after which a test that waits in vain fails rather than hangs
ANSWER = """
from kernelmean.files.following import arriving
for batch in arriving("-"):
    print(batch.rows.tolist(), batch.points.tolist(), flush=True)
"""


class Script:
    """As ``stop``: at every look the next act, such as the arrival of bytes; then the end."""

    def __init__(self, *acts):
        self._acts = iter(acts)

    def __call__(self):
        act = next(self._acts, None)
        if act is not None:
            act()
        return act is None


class Patience:
    """As ``stop``: the end after very many looks."""

    def __init__(self):
        self._looks = 0

    def __call__(self):
        self._looks += 1
        return self._looks > LOOKS


@pytest.fixture(params=["arrow", "plain"])
def parser(request, monkeypatch):
    """Each test with either parser behind the rows."""
    monkeypatch.setattr(text, "has_arrow", lambda: request.param == "arrow")
    return request.param


@pytest.fixture
def pipe(monkeypatch):
    """Standard input that is the end of a pipe, and a file to write to it."""
    outlet, inlet = os.pipe()
    with open(outlet) as stdin, open(inlet, "wb", buffering=0) as writer:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield writer


def written(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def appending(path, content):
    """An act that appends."""

    def act():
        with path.open("ab") as file:
            file.write(content.encode() if isinstance(content, str) else content)

    return act


def followed(path, *acts, **how):
    """The batches of a path to which things happen."""
    return list(arriving(str(path), follow=True, poll=0.0, stop=Script(*acts), **how))


def cut(content, size):
    data = content.encode() if isinstance(content, str) else content
    return [data[start : start + size] for start in range(0, len(data), size)]


def sizes(batches):
    return [len(batch.rows) for batch in batches]


def joined(batches):
    assert all(batch.unfinished is None for batch in batches)
    return np.concatenate([batch.points for batch in batches])


def rows_of(batches):
    return np.concatenate([batch.rows for batch in batches]).tolist()


def refusal(batches):
    """What came out before the ValueError, and its sentence."""
    found = []
    with pytest.raises(ValueError) as refused:
        found.extend(batches)
    return found, str(refused.value)


# The same rows as those of the whole file

TEXTS = {
    "header": "a,b\n1,2\n3,4\n-5.25e-3,6\n",
    "no header": "1,2\n3,4\n-5.25e-3,6\n",
    "CRLF": "a,b\r\n1,2\r\n3,4\r\n5,6\r\n",
    "CR": "a,b\r1,2\r3,4\r5,6\r",
    "mark of byte order": "\ufeffa,b\n1,2\n3,4\n",
    "mark, no header": "\ufeff1,2\n3,4\n",
    "mark before the first row": "a,b\n\ufeff1,2\n3,4\n",
    "empty lines": "\n  \n\r\na,b\n\n1,2\n\n\r\n3,4\n\n",
    "quotes": '"a, ""x""",b\n"1","2"\n3,"4"\n',
    "lines in quotes": 'a,b,note\n1,2,"x\ny"\r\n3,4,"\r\n\n"\n5,6,z"\n',
    "semicolons": "a;b\n1;2\n3;4\n",
    "no end": "a,b\n1,2\n3,4",
    "no end, CR": "a,b\r\n1,2\r\n3,4\r",
    "one row": "1,2",
    "one column": "a\n1\n2\n\n3\n",
}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("case", TEXTS)
def test_pieces_of_text_are_the_same_rows(tmp_path, parser, monkeypatch, case, size):
    path = written(tmp_path / "x.csv", TEXTS[case])
    how = {"columns": "a,b"} if "note" in TEXTS[case] else {}
    whole = km.read(path, **how)
    monkeypatch.setattr(feeds, "READ_BYTES", size)
    found = list(arriving(str(path), **how))
    assert joined(found).tolist() == whole.load().points.tolist()
    assert rows_of(found) == list(range(len(whole)))
    assert {tuple(batch.columns or ()) for batch in found} == {tuple(whole.columns or ())}
    assert all(batch.points.dtype == np.float64 for batch in found)
    assert all(batch.rows.dtype == np.int64 for batch in found)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("case", [case for case in TEXTS if case not in ("no end", "one row")])
def test_a_growing_file_is_the_same_rows(tmp_path, parser, case, size):
    whole = written(tmp_path / "whole.csv", TEXTS[case])
    path = written(tmp_path / "x.csv", b"")
    how = {"columns": "a,b"} if "note" in TEXTS[case] else {}
    found = followed(path, *(appending(path, part) for part in cut(TEXTS[case], size)), **how)
    assert joined(found).tolist() == km.read(whole, **how).load().points.tolist()


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "X.TSV", "x.txt"])
@pytest.mark.parametrize("header", [True, False])
def test_settings_are_those_of_reading(tmp_path, parser, name, header):
    mark = "\t" if "tsv" in name.lower() else ","
    A = X.copy()
    A[[0, 7, 8, 299], [0, 1, 2, 2]] = np.nan
    lines = [mark.join(map(repr, row)) for row in A.tolist()]
    path = written(tmp_path / name, "\n".join([mark.join(NAMES)] * header + lines) + "\n")
    for columns in (None, ["2", "0"] if not header else ["c", "a"], "b" if header else "1"):
        for transform in (None, "arcsinh:2", "log"):
            how = {"columns": columns, "transform": transform, "drop_na": True}
            whole = list(km.read(path, **how).numbered())
            found = list(arriving(str(path), **how))
            assert joined(found).tolist() == joined_points(whole)
            assert rows_of(found) == rows_of(whole)
            assert found[-1].dropped == 300 - len(rows_of(found)) > 0


def joined_points(batches):
    return np.concatenate([batch.points for batch in batches]).tolist()


def outcome(make):
    """The points as text, or the sentence without the line."""
    try:
        return [list(map(repr, row)) for row in make().tolist()]
    except ValueError as error:
        said = re.sub(r", line \d+", "", str(error))
        return re.sub("column '.' holds a missing.*|1 row has missing.*", "missing", said)


HOWS = [{}, {"drop_na": True}, {"columns": "b"}]


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_every_kind_of_value_is_that_of_reading(tmp_path, parser, how):
    path = tmp_path / "x.csv"
    for value in (value for value in VALUES if value != '"a'):  # that is said in other words here
        written(path, f"a,b\n1,2\n{value},4\n5,6\n")
        whole = outcome(lambda: km.read(path, **how).load().points)
        assert outcome(lambda: joined(list(arriving(str(path), **how)))) == whole, value


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_hard_cases_are_those_of_reading(tmp_path, parser, how):
    path = tmp_path / "x.csv"
    for content in (content for content in HARD if content.endswith(b"\n")):
        written(path, content)
        whole = outcome(lambda: km.read(path, **how).load().points)
        found = outcome(lambda: joined(list(arriving(str(path), **how))))
        # Of several faults the first is named here.
        assert type(found) is type(whole), content
        assert isinstance(found, str) or found == whole, content


def test_large_files_come_in_large_batches(tmp_path, parser):
    path = tmp_path / "x.csv"
    np.savetxt(path, np.tile(X, (200, 1)), delimiter=",", fmt="%.17g")
    found = list(arriving(str(path)))
    assert 1 < len(found) < 10
    assert np.array_equal(joined(found), np.tile(X, (200, 1)))


def test_expected_columns_are_looked_up_where_there_are_names(tmp_path):
    named = written(tmp_path / "named.csv", "a,b,c\n1,2,3\n")
    bare = written(tmp_path / "bare.csv", "1,2\n")
    (found,) = arriving(str(named), expected=["c", "a"])
    assert (found.points.tolist(), found.columns) == ([[3.0, 1.0]], ["c", "a"])
    (found,) = arriving(str(bare), expected=["c", "a"])
    assert (found.points.tolist(), found.columns) == ([[1.0, 2.0]], None)
    (found,) = arriving(str(named), expected=["c", "a"], columns="b")
    assert found.points.tolist() == [[2.0]]


# A file that grows


def test_a_line_counts_when_its_line_feed_has_come(tmp_path, parser):
    path = written(tmp_path / "x.csv", "a,b\r\n1,2\r\n3,4\r\n5,")
    pieces = ["6", ".5", "\r", "\n7,8", "\r", "\n9,1", "0\r\n11,12\r\n", "\r\n"]
    found = followed(path, *([lambda: None] * 2), *(appending(path, part) for part in pieces))
    assert sizes(found) == [2, 1, 1, 2]
    assert joined(found).tolist() == [[1, 2], [3, 4], [5, 6.5], [7, 8], [9, 10], [11, 12]]
    assert rows_of(found) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("size", [1, 5, 64, 997])
def test_a_file_that_a_thread_writes(tmp_path, parser, size):
    path = tmp_path / "x.csv"  # not there at first
    content = "a,b,c\r\n" + "".join(",".join(map(repr, row)) + "\r\n" for row in X[:40].tolist())
    done = threading.Event()

    def write():
        with path.open("wb", buffering=0) as file:
            for part in cut(content, size):
                file.write(part)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    found = list(arriving(str(path), follow=True, poll=0.0001, stop=done.is_set))
    writer.join()
    assert np.array_equal(joined(found), X[:40])
    assert rows_of(found) == list(range(40))


def test_dropped_rows_are_counted_as_they_come(tmp_path):
    path = written(tmp_path / "x.csv", "a,b\n1,2\n")
    pieces = ["3,\n", "4,5\nNA,1\n6,inf\n", "7,8\n"]
    acts = [lambda: None, *(appending(path, part) for part in pieces)]
    found = followed(path, *acts, drop_na=True)
    assert [(batch.rows.tolist(), batch.dropped) for batch in found] == [
        ([0], 0),
        ([], 1),
        ([2], 3),
        ([5], 3),
    ]
    assert found[1].points.shape == (0, 2)


def test_what_never_comes(tmp_path):
    assert followed(tmp_path / "x.csv", *([lambda: None] * 3)) == []
    assert followed(written(tmp_path / "x.csv", ""), lambda: None) == []
    assert followed(written(tmp_path / "x.csv", "\n \n")) == []
    assert followed(written(tmp_path / "x.csv", "a,b\n")) == []
    assert followed(tmp_path / "folder") == []


def test_a_file_that_becomes_shorter(tmp_path):
    path = written(tmp_path / "x.csv", "a,b\n1,2\n3,4\n")
    nothing = lambda: None  # noqa: E731
    found, said = refusal(
        arriving(
            str(path),
            follow=True,
            poll=0.0,
            stop=Script(nothing, lambda: written(path, "a,b\n1,2\n")),
        )
    )
    assert joined(found).tolist() == [[1, 2], [3, 4]]
    assert re.search(r"x\.csv has become shorter .* from 12 to 8 bytes: it was truncated", said)


def test_a_file_that_is_rotated(tmp_path):
    path = written(tmp_path / "x.csv", "a,b\n1,2\n")
    acts = [
        lambda: None,
        lambda: path.rename(tmp_path / "x.csv.1"),
        appending(tmp_path / "x.csv.1", "3,4\n"),
        lambda: None,
        lambda: written(path, "a,b\n5,6\n7,8\n9,10\n"),
    ]
    stream = arriving(str(path), follow=True, poll=0.0, stop=Script(*acts))
    found, said = refusal(stream)
    assert joined(found).tolist() == [[1, 2], [3, 4]]
    assert "x.csv was replaced by another file" in said


# A last line without an end


UNFINISHED = {
    "too few fields": ("3", "3"),
    "no last value": ("3,", "3,"),
    "half a number": ("3,1e", "3,1e"),
    "a sign": ("3,-", "3,-"),
    "an open quote": ('3,"4', '3,"4'),
    "half a missing value": ("3,N", "3,N"),
}


@pytest.mark.parametrize("case", UNFINISHED)
@pytest.mark.parametrize("header", ["a,b\n", ""])
def test_a_last_line_that_is_not_whole_is_told(tmp_path, parser, case, header):
    rest, said = UNFINISHED[case]
    path = written(tmp_path / "x.csv", f"{header}1,2\n{rest}")
    for found in (list(arriving(str(path))), followed(path)):
        assert sizes(found) == [1, 0]
        assert found[0].unfinished is None
        assert found[1].unfinished == said
        assert found[1].points.shape == (0, 2)


def test_a_last_line_counts_where_no_more_can_come(tmp_path, parser):
    path = written(tmp_path / "x.csv", "a,b\n1,2\n3,4")
    assert joined(list(arriving(str(path)))).tolist() == [[1, 2], [3, 4]]
    found = followed(path)
    assert sizes(found) == [1, 0]
    assert found[1].unfinished == "3,4"
    found = followed(path, lambda: None, appending(path, "5"), appending(path, "\n"))
    assert joined(found).tolist() == [[1, 2], [3, 45]]


def test_a_last_line_is_a_row_by_the_columns_that_are_wanted(tmp_path, parser):
    path = written(tmp_path / "x.csv", "a,b\n1,x\n3,")
    assert joined(list(arriving(str(path), columns="a"))).tolist() == [[1], [3]]
    assert list(arriving(str(path), columns="a"))[-1].rows.tolist() == [1]


def test_only_the_beginning_of_a_line(tmp_path):
    path = written(tmp_path / "x.csv", "\ufefftemp")
    assert [batch.unfinished for batch in followed(path)] == ["temp"]
    assert followed(path)[0].points.shape == (0, 0)
    (found,) = arriving(str(written(path, "1,")))
    assert (found.unfinished, found.points.shape) == ("1,", (0, 2))


def test_long_rests_are_told_in_short(tmp_path):
    path = written(tmp_path / "x.csv", "a,b\n1,2\n3,4" + "0" * 1000)
    assert followed(path)[-1].unfinished == "3,4" + "0" * (faults.SHOWN_CHARACTERS - 3)


def test_a_last_line_with_too_many_fields_is_wrong(tmp_path, parser):
    found, said = refusal(arriving(str(written(tmp_path / "x.csv", "a,b\n1,2\n3,4,5"))))
    assert sizes(found) == [1]
    assert "x.csv, line 3 cannot be read: Expected 2 columns, got 3: '3,4,5'" in said


def test_a_quote_that_is_never_closed_loses_no_rows(tmp_path, parser):
    path = written(tmp_path / "x.csv", 'a,note\n1,x\n2,"open\n3,y\n4,z\n')
    found, said = refusal(arriving(str(path), columns="a"))
    assert sizes(found) == [1]
    assert "x.csv, line 3 cannot be read: it ends within quotes" in said
    found = followed(path, lambda: None, appending(path, '"\n5,w\n'), columns="a")
    assert joined(found).tolist() == [[1], [2], [5]]
    written(path, 'a,note\n1,x\n2,"open\n3,y\n')
    assert followed(path, columns="a")[-1].unfinished == '2,"open'


# What is wrong, and where

WRONG = {
    "too few": ("a,b\n1,2\n\n3,4\n5\n6,7\n", "line 5 cannot be read: Expected 2 columns, got 1"),
    "too many": ("1,2\r\n3,4\r\n5,6,7\r\n", "line 3 cannot be read: Expected 2 columns, got 3"),
    "a word": ("a,b\n1,2\n3,4\nx,5\n", "line 4: column 'a' holds 'x', but coordinates are numbers"),
    "a decimal comma": ("a;b\n1;2\n3;4\n5;6,5\n", "line 4: column 'b' holds '6,5'; numbers need"),
    "missing": ("a,b\n1,2\n3,4\n5,\n", "line 4: column 'b' holds a missing or infinite value"),
    "NA": ("1,2\n3,4\nNA,5\n", "line 3: column '0' holds a missing or infinite value"),
    "nan": ("a,b\r\r1,2\r3,4\r\r5,nan\r", "line 6: column 'b' holds a missing or infinite value"),
    "infinite": ("a,b\n1,2\n3,4\n5,-inf\n", "line 4: column 'b' holds a missing or infinite"),
    "after quotes": ('"a\nb",b\n"1","2"\n"3",4\n5,x\n', "line 5: column 'b' holds 'x'"),
    "a second mark": ("a,b\n1,2\n3,4\n\ufeff5,6\n", "line 4: column 'a' holds '\\ufeff5'"),
}


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize("case", WRONG)
def test_faults_are_at_a_line_and_come_after_the_rows_before(
    tmp_path, parser, monkeypatch, case, size
):
    content, said = WRONG[case]
    path = written(tmp_path / "x.csv", content)
    monkeypatch.setattr(feeds, "READ_BYTES", size)
    found, sentence = refusal(arriving(str(path)))
    assert f"{path}, {said}" in sentence
    assert joined(found).tolist() == [[1, 2], [3, 4]]


def test_a_fault_in_a_large_batch_is_found(tmp_path, parser):
    lines = [f"{i},{-i}" for i in range(5000)]
    lines[3210] = "3210"
    lines[4000] = "x,1"
    path = written(tmp_path / "x.csv", "\n".join(["a,b", *lines]) + "\n")
    found, said = refusal(arriving(str(path)))
    assert rows_of(found) == list(range(3210))
    assert "line 3212 cannot be read: Expected 2 columns, got 1: '3210'" in said


def test_what_a_transform_has_made_infinite(tmp_path):
    path = written(tmp_path / "x.csv", "a,b\n1,2\n3,0\n")
    _, said = refusal(arriving(str(path), transform="log"))
    assert "line 3: column 'b' holds a value that is missing or not finite after log" in said


def test_settings_that_are_wrong(tmp_path):
    path = str(written(tmp_path / "x.csv", "a,b\n1,2\n"))
    with pytest.raises(ValueError, match="unknown transform 'sqrt'"):
        arriving(str(tmp_path / "gone.csv"), transform="sqrt", follow=True)
    for columns, said in (("a,x", "has no column 'x'; its columns are 'a', 'b'"), ("a,a", "twice")):
        assert said in refusal(arriving(path, columns=columns))[1]
    twins = str(written(tmp_path / "twins.csv", "a,a\n1,2\n"))
    assert "two columns called 'a'" in refusal(arriving(twins))[1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b\n", "has no rows"),
        ("a,b", "has no rows"),
        ("a\nNA\n", "has no rows without missing values"),
        ("a,b\n1,2\n".encode("utf-16"), "is in UTF-16"),
    ],
)
def test_text_without_rows(tmp_path, parser, content, said):
    path = written(tmp_path / "x.csv", content)
    found, sentence = refusal(arriving(str(path), drop_na=True))
    assert sizes(found) in ([], [0])
    assert said in sentence


def test_rows_without_end_are_not_held(tmp_path, parser, monkeypatch):
    monkeypatch.setattr(faults, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(feeds, "READ_BYTES", 300)
    for content in ("a,b\n1,2\n" + "1" * 5000, '1,2\n3,"' + "1\n" * 3000, "a" * 5000, "\n" * 5000):
        _, said = refusal(arriving(str(written(tmp_path / "x.csv", content))))
        assert "a row is longer than 1000 bytes" in said or "bytes of empty lines" in said


# Pipes


def test_rows_of_a_pipe_are_handed_on_as_they_come(pipe, parser):
    stream = arriving("-", poll=0.01, stop=Patience())
    pipe.write(b"a,b\r\n1,2\r\n")
    assert next(stream).points.tolist() == [[1.0, 2.0]]
    for i in range(1, 5):
        pipe.write(b"%d,0.5\r\n" % i)
        batch = next(stream)
        assert batch.rows.tolist() == [i]
        assert batch.points.tolist() == [[i, 0.5]]
    pipe.write(b"7,8\r\n9,10\r\n11,")
    assert next(stream).rows.tolist() == [5, 6]
    pipe.write(b"12\n")
    assert next(stream).points.tolist() == [[11.0, 12.0]]
    pipe.write(b"13,14")
    pipe.close()
    assert next(stream).points.tolist() == [[13.0, 14.0]]
    assert list(stream) == []


def test_a_fast_pipe_gives_large_batches(pipe):
    pipe.write(b"1,2\n" * 5000)
    pipe.close()
    assert sizes(arriving("-")) == [5000]


def test_a_pipe_that_is_stopped(pipe):
    pipe.write(b"a,b\n1,2\n3,4")
    found = list(arriving("-", poll=0.0, stop=Script(lambda: None, lambda: None)))
    assert sizes(found) == [1, 0]
    assert found[-1].unfinished == "3,4"


def test_faults_of_standard_input(pipe):
    pipe.write(b"a,b\n1,2\n3\n")
    pipe.close()
    assert "standard input, line 3 cannot be read: Expected 2" in refusal(arriving("-"))[1]


def test_standard_input_that_is_empty(pipe):
    pipe.close()
    assert refusal(arriving("-", follow=True))[1] == "standard input is empty."


def test_standard_input_without_a_descriptor(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1;2\n3;4\n")))
    assert joined(list(arriving("-"))).tolist() == [[1, 2], [3, 4]]


def test_standard_input_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in refusal(arriving("-"))[1]


def test_standard_input_of_a_process():
    command = [sys.executable, "-c", ANSWER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"a,b\n")
        for i in range(3):
            process.stdin.write(b"%d,1\n" % i)
            process.stdin.flush()
            assert process.stdout.readline() == b"[%d] [[%d.0, 1.0]]\n" % (i, i)
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize("follow", [False, True])
def test_a_named_pipe(tmp_path, follow):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"a,b\n1,2\n3,4\n",))
    writer.start()
    found = list(arriving(str(path), follow=follow))
    writer.join()
    assert joined(found).tolist() == [[1, 2], [3, 4]]


# Folders, and files that are written once


def part(folder, name, rows):
    folder.mkdir(exist_ok=True)
    pa.parquet.write_table(table(X[rows]), folder / name)
    return folder / name


def test_a_folder_is_that_of_reading(tmp_path):
    path = write_folder(tmp_path / "parts", X)
    for how in ({}, {"columns": "c,a"}, {"transform": "log", "drop_na": True}):
        whole = list(km.read(path, **how).numbered())
        found = list(arriving(str(path), **how))
        assert joined(found).tolist() == joined_points(whole)
        assert rows_of(found) == rows_of(whole)
    assert found[-1].dropped == 300 - len(rows_of(found)) > 0


def test_files_that_come_to_a_folder(tmp_path):
    folder = tmp_path / "parts"
    path = part(folder, "part.2.parquet", slice(0, 10))
    data = part(tmp_path / "other", "x.parquet", slice(30, 60)).read_bytes()
    late = folder / "part.1.parquet"
    acts = [
        lambda: None,
        lambda: written(late, data[:-20]),
        lambda: (
            part(folder, "part.10.parquet", slice(20, 30)),
            part(folder, "part.9.parquet", slice(10, 20)),
        ),
        lambda: None,
        appending(late, data[-20:]),
        lambda: part(folder, "part.2.parquet", slice(100, 200)),  # once is enough
        lambda: part(folder, "_part.parquet", slice(100, 200)),
        lambda: part(folder, ".part.parquet", slice(100, 200)),
        lambda: part(folder, "part.parquet.tmp", slice(100, 200)),
        lambda: part(folder / "_temporary", "part.parquet", slice(100, 200)),
        lambda: written(folder / "part.12.parquet", b""),
    ]
    found = followed(folder, *acts, columns=["b", "a"])
    assert path.exists()
    assert sizes(found) == [10, 10, 10, 30, 0]
    assert np.array_equal(np.concatenate([b.points for b in found]), X[:60][:, [1, 0]])
    assert rows_of(found) == list(range(60))
    assert found[-1].unfinished == "part.12.parquet"
    assert [batch.unfinished for batch in found[:-1]] == [None] * 4


def test_a_folder_that_comes_later(tmp_path):
    folder = tmp_path / "parts"
    acts = [lambda: None, folder.mkdir, lambda: part(folder, "x.parquet", slice(0, 3))]
    assert np.array_equal(joined(followed(folder, *acts)), X[:3])
    (found,) = followed(
        tmp_path / "new",
        (tmp_path / "new").mkdir,
        appending(tmp_path / "new" / "y.parquet", "PAR1"),
    )
    assert (found.unfinished, found.points.shape) == ("y.parquet", (0, 0))


def test_what_is_wrong_with_a_folder(tmp_path):
    folder = tmp_path / "parts"
    part(folder, "a.parquet", slice(0, 3))
    A = X[3:6].copy()
    A[1, 2] = np.nan
    pa.parquet.write_table(table(A), folder / "b.parquet")
    found, said = refusal(arriving(str(folder)))
    assert np.array_equal(joined(found), X[:4])
    assert "b.parquet, row 1 from 0: column 'c' holds a missing or infinite value" in said
    assert list(arriving(str(folder), drop_na=True))[-1].dropped == 1
    pa.parquet.write_table(table(X[:2]).select(["a", "c", "b"]), folder / "c.parquet")
    assert (
        "differ in their columns: a.parquet and c.parquet"
        in refusal(arriving(str(folder), drop_na=True))[1]
    )
    written(folder / "0.parquet", b"PAR1 and no more")
    assert "0.parquet cannot be read" in refusal(arriving(str(folder)))[1]
    (tmp_path / "empty").mkdir()
    assert "is a folder without parquet files" in refusal(arriving(str(tmp_path / "empty")))[1]


def test_other_files_are_read_and_not_followed(tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", X=X)
    pa.parquet.write_table(table(X), tmp_path / "x.parquet")
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n3,4"))
    write_fcs(tmp_path / "x.fcs", X)
    for name in ("x.npy", "x.npz", "x.npz:X", "x.parquet", "x.csv.gz", "x.fcs"):
        path = str(tmp_path / name)
        found = list(arriving(path))
        assert np.array_equal(joined(found), np.asarray(km.read(path)))
        assert found[0].columns == km.read(path).columns
        if ":" not in name:
            with pytest.raises(
                ValueError, match=r"cannot be followed: rows arrive in text \(\.csv"
            ):
                arriving(path, follow=True)
    with pytest.raises(ValueError, match="cannot be followed"):
        arriving(str(tmp_path / "gone.npy"), follow=True)
    with pytest.raises(FileNotFoundError, match=r"gone\.csv does not exist"):
        list(arriving(str(tmp_path / "gone.csv")))


def test_missing_values_of_other_files(tmp_path):
    A = X.copy()
    A[5, 1] = np.inf
    np.save(tmp_path / "x.npy", A)
    found, said = refusal(arriving(str(tmp_path / "x.npy")))
    assert np.array_equal(joined(found), X[:5])
    assert "x.npy, row 5 from 0: column '1' holds a missing or infinite value" in said
    (batch,) = arriving(str(tmp_path / "x.npy"), drop_na=True)
    assert (len(batch.rows), batch.dropped) == (299, 1)
    assert isinstance(batch, Arrived)
