"""``kernelmean monitor``: alarms of files, folders and pipes, as they come."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import kernelmean as km
from kernelmean.monitoring import alarm, reference
from tests.cli.inputs import answer, write_models
from tests.cli.test_commands import examples
from tests.cli.test_processes import start
from tests.files.formats import pa

QUICK = ("--run-length", 500, "--window", 100)
SAME = {"run_length": 500, "window": 100, "random_state": 0}  # what it means in Python
CHANGE = 150
ALARM = re.compile(r"alarm at row (\d+): the rows since row (\d+) differ")


def rows_of(seed, n, shift=0.0, since=0):
    """Two columns, the second of which changes."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    X[since:, 1] += shift
    return np.round(X, 4)


REFERENCE = rows_of(0, 400)
CHANGED = rows_of(2, 350, 3.0, CHANGE)
CALM = rows_of(21, 200)
BACK = np.concatenate([CHANGED, rows_of(102, 150)])  # changes twice


def lines(X):
    return "".join(f"{x},{y}\n" for x, y in X.tolist())


@pytest.fixture(autouse=True, scope="module")
def memory():
    """What is learned of the same rows is the same: most tests need not learn it again."""
    known = {}

    def remembered(compute):
        def recall(*arguments, **options):
            given = [*arguments, *options.values()]
            key = (compute, *(getattr(value, "tobytes", value.__repr__)() for value in given))
            if key not in known:
                known[key] = compute(*arguments, **options)
            return known[key]

        return recall

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference.Baseline, "of", remembered(reference.Baseline.of))
        patch.setattr(alarm, "difference", remembered(alarm.difference))
        yield


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A reference, a stream that changes, one that does not, and one that changes back."""
    monkeypatch.chdir(tmp_path)
    named = {"reference": REFERENCE, "changed": CHANGED, "calm": CALM, "back": BACK}
    for name, X in named.items():
        Path(f"{name}.csv").write_text("x,y\n" + lines(X))
    return tmp_path


@pytest.fixture
def watch(run, folder):
    """The command with a small window and frequent false alarms."""

    def watch(usual, data, *options):
        quick = QUICK if Path(usual).suffix != ".km" else ()
        return run("monitor", usual, data, *quick, *options)

    return watch


def alarms(done):
    """Where alarms were, and since when, by the lines that tell them."""
    return [(int(row), int(change)) for row, change in ALARM.findall(done.out)]


def told(done):
    """The objects that a command printed with --json, alarms and the end."""
    *found, end = map(json.loads, done.out.splitlines())
    assert all(one["event"] == "alarm" for one in found)
    assert end["event"] == "end"
    return found, end


def waiting(monkeypatch, *steps):
    """Steps in the place of waiting for more: each is done when nothing is left to read."""
    left = list(steps)

    def wait(_):
        left.pop(0)()

    for module in ("feeds", "following"):
        monkeypatch.setattr(f"kernelmean.files.{module}.time", SimpleNamespace(sleep=wait))
    return left


def append(path, text):
    with Path(path).open("a") as file:
        file.write(text)


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


def test_a_change_is_a_line_and_exit_code_3(watch):
    done = watch("reference.csv", "changed.csv")
    assert (done.code, done.err) == (3, "")
    first, end = done.out.splitlines()
    monitor = km.DriftMonitor(REFERENCE, **SAME, columns=["x", "y"])
    expected = next(iter(monitor.watch([CHANGED])))
    assert first.startswith(expected.describe())
    assert CHANGE <= expected.row < CHANGE + 20
    assert re.search(
        r"; y explains \d+ % of the difference, median \S+ before and \S+ since", first
    )
    assert end == "350 rows, 1 alarm"


def test_no_change_is_exit_code_0(watch):
    done = watch("reference.csv", "calm.csv")
    assert (done.code, done.out, done.err) == (0, "200 rows, 0 alarms\n", "")


def test_json_is_one_object_a_line(watch):
    done = watch("reference.csv", "back.csv", "--json")
    assert (done.code, done.err) == (3, "")
    found, end = told(done)
    for one, since in zip(found, (CHANGE, len(CHANGED)), strict=True):
        assert abs(one["change"] - since) < 5
    monitor = km.DriftMonitor(km.read("reference.csv"), **SAME)
    expected = next(iter(monitor.watch([BACK])))
    for name in ("row", "change", "statistic", "threshold", "p_value", "component"):
        assert found[0][name] == getattr(expected, name)
    changed = found[0]["what_changed"]
    assert changed["columns"][0]["column"] == "y"
    assert changed["columns"][0]["share"] == expected.difference.columns[0].share
    assert changed["difference"]["p_value"] == expected.difference.test.p_value
    assert changed["sentence"] == expected.difference.describe()
    assert found[0]["sentence"].startswith(expected.describe())
    assert {"rows": 500, "dropped": 0, "alarms": 2, "unfinished": None}.items() <= end.items()
    assert end["seconds"] > 0.0


def test_what_follows_an_alarm(watch):
    whole = alarms(watch("reference.csv", "back.csv"))
    assert len(whole) == 2
    assert alarms(watch("reference.csv", "back.csv", "--on-alarm", "rebase")) == whole
    stopped = watch("reference.csv", "back.csv", "--on-alarm", "stop", "--save", "s.km")
    assert alarms(stopped) == whole[:1]
    assert stopped.out.splitlines()[-1] == f"{whole[0][0] + 1} rows, 1 alarm, saved s.km"
    assert km.load("s.km").alarm.row == whole[0][0]
    Path("short.csv").write_text("x,y\n" + lines(CHANGED[:165]))
    reset = alarms(watch("reference.csv", "short.csv", "--on-alarm", "reset"))
    assert len(reset) > 1  # the reference is the old one, so that the change goes on


def test_a_saved_monitor_goes_on_with_another_file(watch, folder):
    whole = alarms(watch("reference.csv", "back.csv", "--save", "whole.km"))
    (folder / "one.csv").write_text("x,y\n" + lines(BACK[:200]))
    (folder / "two.csv").write_text("x,y\n" + lines(BACK[200:]))
    first = watch("reference.csv", "one.csv", "--save", "state.km")
    assert first.out.endswith("200 rows, 1 alarm, saved state.km\n")
    second = watch("state.km", "two.csv", "--save", "state.km")
    assert second.out.endswith("300 rows, 1 alarm, saved state.km\n")
    assert alarms(first) + alarms(second) == whole
    assert Path("state.km").read_bytes() == Path("whole.km").read_bytes()


def test_ctrl_c_ends_and_saves_what_goes_on_in_the_same_file(watch, folder, monkeypatch):
    """What is left out has a number too; half a line is told, and read when it is whole."""
    text = lines(BACK[:100]) + "nan,1\n" * 7 + lines(BACK[100:])
    cut = len(lines(BACK[:100])) + 7 * 6 + len(lines(BACK[100:200])) + 4
    (folder / "all.csv").write_text("x,y\n" + text)
    whole = watch("reference.csv", "all.csv", "--drop-na", "--save", "whole.km")
    assert whole.out.endswith("500 rows, 2 alarms, 7 rows left out, saved whole.km\n")
    assert abs(alarms(whole)[0][1] - (CHANGE + 7)) < 5
    steps = waiting(
        monkeypatch,
        lambda: append("grows.csv", "x,y\n" + text[:50]),
        lambda: append("grows.csv", text[50:cut]),
        ctrl_c,
    )
    first = watch("reference.csv", "grows.csv", "--follow", "--drop-na", "--save", "state.km")
    assert (steps, first.code) == ([], 3)
    assert first.err.startswith("kernelmean: grows.csv ends in the middle of a line, which is left")
    append("grows.csv", text[cut:])
    monkeypatch.undo()
    os.chdir(folder)
    go_on = ("state.km", "grows.csv", "--drop-na", "--skip-seen", "--save", "state.km")
    second = watch(*go_on)
    assert alarms(first) + alarms(second) == alarms(whole)
    assert Path("state.km").read_bytes() == Path("whole.km").read_bytes()
    again = watch(*go_on)
    assert (again.code, again.out) == (0, "0 rows, 0 alarms, 7 rows left out, saved state.km\n")


def test_a_second_ctrl_c_ends_at_once(watch, folder, monkeypatch):
    waiting(monkeypatch, lambda: [ctrl_c(), ctrl_c()])
    done = watch("reference.csv", "calm.csv", "--follow", "--save", "state.km")
    assert done.code == 130
    assert done.err == "kernelmean: interrupted; no file was left half-written.\n"
    assert done.out == ""
    assert not Path("state.km").exists()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_ctrl_c_while_a_file_is_read_saves_and_is_told(watch, monkeypatch):
    """Not all of it was watched, so that the exit code says neither that all is well nor not."""
    monkeypatch.setattr("kernelmean.files.feeds.READ_BYTES", 3000)
    actual = km.Alarm.describe
    monkeypatch.setattr(km.Alarm, "describe", lambda own: [ctrl_c(), actual(own)][1])
    done = watch("reference.csv", "changed.csv", "--save", "state.km")
    assert (done.code, len(alarms(done))) == (130, 1)
    assert CHANGE < km.load("state.km").n_seen < 350


def test_rows_that_wait_long_do_not_keep_the_end(watch, monkeypatch):
    """Of what has arrived, no more is taken in than a moment allows."""
    monkeypatch.setattr("kernelmean.files.feeds.READ_BYTES", 3000)
    monkeypatch.setattr("kernelmean.cli.watching.LATE_SECONDS", 0.0)
    actual = km.Alarm.describe
    monkeypatch.setattr(km.Alarm, "describe", lambda own: [ctrl_c(), actual(own)][1])
    done = watch("reference.csv", "changed.csv", "--follow", "--save", "state.km")
    assert (done.code, len(alarms(done))) == (3, 1)
    assert CHANGE < km.load("state.km").n_seen < 350


def test_parquet_files_as_they_arrive(watch, folder, monkeypatch):
    def arrives(name, X):
        pa.parquet.write_table(pa.table({"y": X[:, 1], "x": X[:, 0]}), folder / "parts" / name)

    (folder / "parts").mkdir()
    waiting(
        monkeypatch,
        lambda: arrives("1.parquet", CHANGED[:120]),
        lambda: [arrives("2.parquet", CHANGED[120:]), arrives("3.parquet", CHANGED[:0])],
        lambda: (folder / "parts" / "4.parquet").write_bytes(b"PAR1"),
        lambda: signal.raise_signal(signal.SIGTERM),
    )
    done = watch("reference.csv", "parts", "--follow")
    assert done.code == 3
    assert alarms(done) == alarms(watch("reference.csv", "changed.csv"))
    assert done.err == "kernelmean: 4.parquet of parts was never complete, and is left out.\n"
    (folder / "parts" / "4.parquet").unlink()
    assert watch("reference.csv", "parts").out == done.out


def test_a_process_that_follows_ends_by_a_signal(folder):
    (folder / "grows.csv").write_text("x,y\n")
    line = ("monitor", "reference.csv", "--follow", "grows.csv", *QUICK, "--save", "state.km")
    with start(*line, cwd=folder) as process:
        append("grows.csv", lines(CHANGED[:200]))
        first = process.stdout.readline()  # as soon as it comes
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert CHANGE <= int(ALARM.match(first)[1]) < 200
    assert (process.returncode, out, err) == (3, "200 rows, 1 alarm, saved state.km\n", "")
    assert km.load("state.km").n_seen == 200


def test_standard_input_through_a_pipe(folder):
    line = ("monitor", "reference.csv", "-", *QUICK, "--json")
    with start(*line, cwd=folder, stdin=subprocess.PIPE) as process:
        process.stdin.write("x,y\n" + lines(CHANGED[:200]))
        process.stdin.flush()
        first = json.loads(process.stdout.readline())  # before the end
        out, err = process.communicate(lines(CHANGED[200:]) + "1.0", timeout=60)
    assert CHANGE <= first["row"] < 200
    assert process.returncode == 3
    assert json.loads(out)["rows"] == 350
    assert err == (
        "kernelmean: standard input ends in the middle of a line, which is left out: '1.0'.\n"
    )


def test_when_nobody_listens_any_more_the_state_is_saved(folder):
    line = ("monitor", "reference.csv", "changed.csv", *QUICK, "--save", "state.km")
    with start(*line, cwd=folder) as process:
        process.stdout.close()
        assert process.wait(60) == 1
        assert process.stderr.read() == ""
    assert CHANGE < km.load("state.km").n_seen < CHANGE + 20


def test_a_model_is_a_reference(run, folder):
    """Its columns are looked up by name, and its transform is applied."""
    X = np.exp(np.c_[np.zeros(350), CHANGED])
    np.savetxt("more.csv", X[:, [2, 0, 1]], delimiter=",", header="y,w,x", comments="")
    np.savetxt("usual.csv", np.exp(REFERENCE), delimiter=",", header="x,y", comments="")
    run("fit", "usual.csv", "-o", "m.km", "--transform", "log", "--k", 50, "--no-certificate")
    done = run("monitor", "m.km", "more.csv", *QUICK, "--save", "s.km")
    assert done.code == 3
    assert abs(alarms(done)[0][1] - CHANGE) < 5
    assert "; y explains" in done.out
    assert answer(run("info", "s.km", "--json"))["transform"] == "log"
    done = run("monitor", "m.km", "more.csv", *QUICK, "--columns", "x")
    assert (done.code, done.out) == (0, "350 rows, 0 alarms\n")
    done = run("monitor", "m.km", "more.csv", "--transform", "none")
    assert (done.code, done.out) == (2, "")
    assert done.err == "kernelmean: m.km was made after log, so --transform none does not fit it.\n"


def test_columns_without_names_go_by_place(run, folder):
    np.save("usual.npy", REFERENCE)
    np.save("rows.npy", CHANGED)
    done = run("monitor", "usual.npy", "rows.npy", *QUICK)
    assert "; x2 explains" in done.out
    assert alarms(run("monitor", "usual.npy", "changed.csv", *QUICK)) == alarms(done)
    assert run("monitor", "usual.npy", "rows.npy", *QUICK, "--columns", "0").code == 0


def test_the_examples_in_the_help_run(run, tmp_path, capsys, monkeypatch):
    write_models(tmp_path, capsys)
    shown = run("monitor", "--help").out
    for line in examples("monitor"):
        assert f"    {line}\n" in shown, "an example is broken over lines"
        words = shlex.split(line)
        if "--follow" in words:
            waiting(monkeypatch, ctrl_c)
        done = run(*words[1:], *(QUICK if words[2] != "state.km" else ()))
        assert done.code in (0, 3), f"{line}\n{done.err}"
        for made in re.findall(r"(?:--save|--report) (\S+)", line):
            assert (tmp_path / made).stat().st_size > 100


def test_the_page_is_written(watch, folder):
    done = watch("reference.csv", "changed.csv", "--report", "drift.html")
    assert done.out.endswith("350 rows, 1 alarm, report drift.html\n")
    page = (folder / "drift.html").read_text(encoding="utf-8")
    assert f"Alarm 1, at row {alarms(done)[0][0]}" in page
    assert "kernelmean monitor reference.csv changed.csv" in page


def test_info_shows_a_saved_monitor(watch, run, folder):
    watch("reference.csv", "changed.csv", "--on-alarm", "stop", "--save", "s.km")
    shown = run("info", "s.km")
    assert shown.code == 0
    saved = km.load("s.km")
    for line in ("reference rows +400", "columns +x, y", "run length +500", "window +100"):
        assert re.search(f"^{line}$", shown.out, re.MULTILINE)
    found = answer(run("info", "s.km", "--json"))
    assert found["threshold"] == saved.threshold
    assert found["rows_seen"] == saved.n_seen
    assert found["alarm_that_nobody_answered"] == saved.alarm.describe()
    assert found["model_bytes"] == (folder / "s.km").stat().st_size
    for line in ("score s.km calm.csv", "compare s.km s.km"):
        done = run(*line.split())
        assert (done.code, done.out) == (2, "")
        assert done.err == "kernelmean: s.km holds a drift monitor, not a kernel mean.\n"


def test_rows_before_a_fault_are_watched_and_saved(watch, folder):
    """A value that is missing, and a row that is cut short."""
    for fault, said in (
        ("1.0,nan\n", "faulty.csv, line 302: column 'y' holds a missing or infinite value"),
        ("1.0\n", "faulty.csv, line 302"),
    ):
        (folder / "faulty.csv").write_text(
            "x,y\n" + lines(CHANGED[:300]) + fault + lines(CHANGED[300:])
        )
        done = watch("reference.csv", "faulty.csv", "--save", "state.km", "--json")
        assert done.code == 2
        assert said in done.err
        assert len(done.err.splitlines()) == 1
        assert len(told(done)[0]) == 1
        assert told(done)[1]["rows"] == km.load("state.km").n_seen == 300


def test_a_reference_of_ten_rows_is_told(watch, folder):
    (folder / "few.csv").write_text("x,y\n" + lines(REFERENCE[:10]))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        done = watch("few.csv", "calm.csv")
    assert done.code in (0, 3)
    assert done.err.startswith("kernelmean: a reference of 10 rows says little about the rows")
    assert len(done.err.splitlines()) == 1


def test_a_constant_column_that_starts_to_move(watch, folder):
    usual = np.c_[REFERENCE[:, 0], np.full(400, 3.0)]
    moves = np.c_[CALM[:, 0], np.full(200, 3.0)]
    moves[120:, 1] = 3.1
    (folder / "usual.csv").write_text("x,y\n" + lines(usual))
    (folder / "moves.csv").write_text("x,y\n" + lines(moves))
    found, _ = told(watch("usual.csv", "moves.csv", "--json"))
    assert 120 <= found[0]["row"] < 125
    assert abs(found[0]["change"] - 120) <= 4
    assert found[0]["what_changed"]["columns"][0]["column"] == "y"


REFUSED = [
    ("monitor gone.csv calm.csv", "gone.csv does not exist"),
    ("monitor gone.km calm.csv", "gone.km: no such file"),
    ("monitor reference.csv gone.csv", "gone.csv does not exist"),
    ("monitor reference.csv other.csv", "other.csv has no column 'y'"),
    ("monitor bare.npy wide.npy", "wide.npy has 3 columns, but the reference has 2; use --columns"),
    ("monitor reference.csv hollow.csv", "hollow.csv"),
    ("monitor reference.csv void.csv", "void.csv"),
    ("monitor reference.csv nothing", "nothing"),
    ("monitor reference.csv calm.csv --columns x,z", "no column 'z'"),
    ("monitor reference.csv holes.csv --save t.km", "column 'x' holds a missing or infinite value"),
    ("monitor holes.csv calm.csv", "1 row has missing or infinite values"),
    (
        "monitor reference.csv calm.csv --run-length 1",
        "run_length must be a finite number at least 100",
    ),
    ("monitor reference.csv calm.csv --window 3", "window must be at least 20"),
    ("monitor reference.csv calm.csv --on-alarm sleep", "'sleep' is not one of"),
    ("monitor reference.csv calm.csv --save no/t.km", "the folder no for t.km does not exist"),
    ("monitor reference.csv calm.csv --save calm.csv", "calm.csv is named twice"),
    ("monitor reference.csv calm.csv --save reference.csv", "reference.csv is named twice"),
    ("monitor reference.csv calm.csv --save t.km --report t.km", "t.km is named twice"),
    ("monitor s.km calm.csv --report s.km", "s.km is named twice"),
    ("monitor reference.csv bare.npy --follow", "bare.npy cannot be followed"),
    ("monitor reference.csv calm.csv --skip-seen", "--skip-seen is for a saved monitor"),
    ("monitor s.km few.csv --skip-seen", "few.csv has 2 rows, but the monitor has seen 5"),
    ("monitor s.km calm.csv --window 200", "--window cannot be changed"),
    ("monitor s.km calm.csv --run-length 500", "--run-length cannot be changed"),
    ("monitor s.km calm.csv --columns x", "--columns cannot be changed"),
    ("monitor s.km calm.csv --seed 1", "--seed cannot be changed"),
    ("monitor s.km calm.csv --transform log", "s.km was made after no transform"),
    ("monitor d.km calm.csv", "d.km says where samples differ"),
    ("monitor half.km calm.csv", "half.km is damaged or incomplete"),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A saved monitor, half of one, and a difference."""
    folder = tmp_path_factory.mktemp("models")
    monitor = km.DriftMonitor(REFERENCE, columns=["x", "y"], **SAME)
    monitor.update(CALM[:5])
    monitor.save(folder / "s.km")
    (folder / "half.km").write_bytes((folder / "s.km").read_bytes()[:500])
    km.difference(REFERENCE[:50], CALM[:50], random_state=0).save(folder / "d.km")
    return folder


@pytest.mark.parametrize(("line", "said"), REFUSED, ids=[line for line, _ in REFUSED])
def test_bad_input_is_one_line_and_exit_code_2(run, folder, models, line, said):
    for path in models.iterdir():
        (folder / path.name).symlink_to(path)
    texts = {"other": "x,z\n1,2\n", "hollow": "x,y\n", "void": "", "holes": "x,y\nNA,1\n1,1\n"}
    for name, text in {**texts, "few": "x,y\n1,2\n3,4\n"}.items():
        (folder / f"{name}.csv").write_text(text)
    np.save("bare.npy", REFERENCE)
    np.save("wide.npy", np.c_[CALM, CALM[:, 0]])
    (folder / "nothing").mkdir()
    before = set(folder.iterdir())
    done = run(*shlex.split(line))
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err
    assert done.err.startswith("kernelmean: ")
    assert len(done.err.splitlines()) == 1
    assert set(folder.iterdir()) == before
