"""The frame of the paper's experiments: parts are kept, rows compare, the page comes from the
results alone.
"""

from __future__ import annotations

import json
import re
import types

import numpy as np
import pytest
from benchmarks import lsh
from paper import __main__ as program
from paper import data, embedding, embedding_kl, embedding_kme, generators, meanshift, segments
from paper.data import Missing, Source
from paper.experiment import Claim, Desk, Experiment, Goal, Picture, Result, Row
from paper.page import PAGE, duration, pages, shown

import kernelmean as km


def experiment(**changes) -> Experiment:
    calls: list[str] = changes.pop("calls", [])

    def part(name, value):
        def run(desk):
            calls.append(name)
            return {"figure": value}

        return run

    def missing(desk):
        raise Missing("The third set cannot be had.")

    def rows(parts):
        found = parts.get("first", {}).get("figure")
        return [
            Row(
                "Table 9: a set",
                "seconds",
                120.0,
                found,
                2.0,
                "s",
                "a sentence",
                Goal("≤ 10 s", found is not None),
            )
        ]

    def draw(parts, folder):
        (folder / "trial.png").write_bytes(b"")
        return [Picture("trial.png", "A caption.")]

    parts = {"first": part("first", 60.0), "second": part("second", 3.0), "third": missing}
    settings = {
        "kept": frozenset({"second"}),
        "claims": lambda: [Claim("it holds", True, "1")],
        **changes,
    }
    return Experiment("trial", "A trial", "What was done.", parts, rows, draw, **settings)


def test_a_run_writes_rows_parts_and_what_could_not_be_had(tmp_path):
    result = experiment().run(Desk(Source(), tmp_path))
    assert Result.load("trial", tmp_path) == result
    assert result.absent == ["The third set cannot be had."]
    assert result.rows[0].ratio == 0.5
    assert (
        (tmp_path / "trial.csv")
        .read_text()
        .splitlines()[1]
        .startswith("Table 9: a set,seconds,120.0,60.0,2.0,0.5,s")
    )
    assert json.loads((tmp_path / "trial.json").read_text())["parts"]["first"]["values"] == {
        "figure": 60.0
    }


def test_long_parts_are_computed_once_and_named_parts_alone(tmp_path):
    calls: list[str] = []
    trial, desk = experiment(calls=calls), Desk(Source(), tmp_path)
    trial.run(desk, ["first"])
    assert calls == ["first"]
    trial.run(desk)
    assert calls == ["first", "first", "second"]
    trial.run(desk)
    assert calls[3:] == ["first"]
    trial.run(desk, fresh=True)
    assert calls[4:] == ["first", "second"]


def test_a_result_that_is_no_number_is_refused(tmp_path):
    trial = experiment()
    trial.parts["first"] = lambda desk: {"figure": float("nan")}
    with pytest.raises(ValueError, match="JSON"):
        trial.run(Desk(Source(), tmp_path))


def test_the_page_shows_goals_rows_pictures_and_what_is_missing(tmp_path):
    summary, page = pages([experiment().run(Desk(Source(), tmp_path))]).values()
    assert "| A trial | seconds (a set) | ≤ 10 s | 2 s | met |" in summary
    assert "| [1. A trial](paper-trial.md) | 1 of 1 |" in summary
    assert "| seconds | 2 min | 60 s | 2 s | 0.5 | a sentence |" in page
    assert "(../paper/results/trial.png)" in page
    assert "Not here: The third set cannot be had." in page


def test_the_pages_in_the_repository_are_those_of_the_stored_results():
    results = [found for name in program.NAMES if (found := Result.load(name)) is not None]
    folder = PAGE.parent
    expected = pages(results)
    assert {path.name for path in folder.glob("paper*.md")} == set(expected)
    for name, text in expected.items():
        assert (folder / name).read_text() == text
        for picture in re.findall(r"\]\((.*?\.png)\)", text):
            assert (folder / picture).exists(), picture


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(8.1 * 3600, "8.1 h"), (252.0, "4.2 min"), (57.0, "57 s"), (0.0951, "95.1 ms"), (0.0, "0")],
)
def test_durations_as_one_says_them(seconds, words):
    assert duration(seconds) == words


def test_figures_with_their_units():
    assert [shown(value, "×") for value in (None, "text", 22.43, 12345.6)] == [
        "–",
        "text",
        "22.4×",
        "12346×",
    ]


def test_quick_check_fails_with_a_claim(capsys):
    wrong = experiment(claims=lambda: [Claim("it holds", False, "0")])
    assert program.quick([experiment()]) == 0
    assert program.quick([experiment(), wrong]) == 1
    assert "FAILS: it holds (0)" in capsys.readouterr().out


def test_unknown_names_and_parts_are_refused(capsys):
    with pytest.raises(SystemExit):
        program.main(["nothing"])
    assert "no experiment 'nothing'" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="has no part 'nothing'"):
        program.wanted(["meanshift:nothing"])


def test_without_a_folder_public_sets_are_fetched_and_others_named(monkeypatch):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"a": [1.0, 2.0, 4.0, None], "b": ["x", "y", "x", "y"], "c": [7, 7, 7, 7]}
    )
    found = types.SimpleNamespace(data=frame, target=pandas.Series(["3", "1", "2", "1"]))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda name, **options: found)
    X, y = Source().benchmark("thyroid")
    assert X.shape == (3, 2)
    np.testing.assert_allclose(
        [X.mean(axis=0), X.std(axis=0, ddof=1)], [[0, 0], [1, 1]], atol=1e-12
    )
    assert y.tolist() == [1, 0, 1]
    for cannot in (
        lambda: Source().benchmark("image"),
        lambda: Source().flow("lakes36"),
        Source().mondrian,
    ):
        with pytest.raises(Missing, match="DATA"):
            cannot()


def test_a_server_out_of_reach_is_named(monkeypatch):
    def unreachable(name, **options):
        raise ConnectionError

    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    with pytest.raises(
        Missing, match=r"banana could not be fetched from OpenML \(ConnectionError\)"
    ):
        Source().benchmark("banana")


def test_the_folder_is_read(data_folder):
    source = Source(data_folder)
    assert source.mondrian().shape == (487, 500, 3)
    assert [len(source.flow("itn15").samples), source.flow("itn15").samples[0].shape[1]] == [15, 7]
    assert {name: source.benchmark(name)[0].ndim for name in data.BENCHMARKS} == dict.fromkeys(
        data.BENCHMARKS, 2
    )


@pytest.fixture
def data_folder(data):
    return data


@pytest.mark.parametrize(("name", "d"), [("twonorm", 20), ("ringnorm", 20), ("waveform", 21)])
def test_generators_have_their_moments(name, d):
    X, y = generators.GENERATORS[name](20_000, np.random.default_rng(0))
    a, share = 2 / np.sqrt(20), 1 / 3 if name == "waveform" else 1 / 2
    assert X.shape == (20_000, d)
    assert np.mean(y == 1) == pytest.approx(share, abs=0.02)
    if name == "waveform":
        assert X[:, 0].std() == pytest.approx(1.0, abs=0.03)  # no wave reaches the first coordinate
        assert X[:, 10].mean() == pytest.approx(10 / 3, abs=0.1)  # of the heights 6, 2, 2 there
    else:
        np.testing.assert_allclose(X[y == 1].mean(axis=0), a, atol=0.05)
        np.testing.assert_allclose(
            X[y == -1].std(axis=0), 2.0 if name == "ringnorm" else 1.0, atol=0.06
        )


def test_full_matrices_from_pieces_are_those_of_the_library(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    samples = [rng.normal(loc, 1.0, (40 + 5 * loc, 2)) for loc in range(5)]
    flow = data.Flow("itn15", samples, list("aabbb"), list("aabbb"))
    monkeypatch.setattr(Source, "flow", lambda self, name: flow)
    desk = Desk(Source(), tmp_path)
    for module, metric in ((embedding_kme, "mmd"), (embedding_kl, "kl")):
        monkeypatch.setitem(module.PIECES, "itn15", 2)
        full = module.full_products if metric == "mmd" else module.full_logs
        D, _ = module.full_matrix(
            "itn15", {f"itn15_full_{piece}": full("itn15", piece, desk) for piece in (0, 1)}
        )
        if metric == "mmd":
            expected = (
                km.DistributionEmbedding(sparse=False, embedding=None).fit(samples).distances_
            )
        else:
            recipe = embedding_kl.made(samples, "best")
            expected = embedding_kl.fit(samples, embedding_kl.replace(recipe, sparse=False))[3]
        np.testing.assert_allclose(D, expected, rtol=1e-9, atol=1e-9)


def test_groups_of_nearest_samples_and_relative_errors():
    D = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    assert embedding.replicates(D, ["a", "a", "b"]) == pytest.approx(2 / 3)
    assert embedding.relative_error(D, 1.1 * D) == pytest.approx(0.1)


def test_full_ends_come_back_in_the_order_of_the_pixels(tmp_path, monkeypatch):
    rgb = np.random.default_rng(0).integers(0, 256, (9, 11, 3), dtype=np.uint8)
    monkeypatch.setattr(Source, "mondrian", lambda self: rgb)
    desk = Desk(Source(), tmp_path)
    with pytest.raises(Missing, match="full_0"):
        meanshift.full_ends(desk)
    for piece in range(meanshift.PIECES):
        meanshift.full(piece, desk)
    X = meanshift.pixels(rgb)
    ends = meanshift.climb(meanshift.full_hill(X), X, meanshift.TOL, meanshift.CAP).ends
    np.testing.assert_allclose(meanshift.full_ends(desk), ends, atol=0.5 / meanshift.GRID + 1e-9)


def test_segments_are_drawn_from_what_is_kept(tmp_path):
    rgb = np.zeros((4, 6, 3), dtype=np.uint8)
    rgb[:, 3:] = 200
    assert not segments.draw(tmp_path, {"full": "full"}, tmp_path / "x.png")
    segments.keep(tmp_path, "full", np.repeat([[0, 0, 0, 1, 1, 1]], 4, axis=0).ravel(), rgb)
    assert segments.draw(tmp_path, {"full": "full", "absent": "absent"}, tmp_path / "x.png")
    with np.load(tmp_path / "meanshift_labels_full.npz") as file:
        assert file["colors"].tolist() == [[0] * 3, [200] * 3]
        assert segments.edges(file["labels"]).sum() == 4


def test_hashing_finds_the_nearest_of_its_candidates():
    X = np.random.default_rng(0).normal(size=(300, 2))
    tables = lsh.Tables(X, 100.0, np.random.default_rng(0))  # one bucket holds all
    q = np.array([0.1, -0.2])
    expected = np.argsort(((X - q) ** 2).sum(axis=1))[: lsh.NEIGHBORS]
    assert tables.neighbors(q[None])[0].tolist() == expected.tolist()
