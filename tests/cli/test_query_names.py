"""``kernelmean query`` of columns with any names or none, and of other kernels."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import call, written
from tests.cli.queried import ODD_NAMES, strict


def test_names_may_be_anything(ask):
    found = ask("odd.km", "--given", "a<b=1,1=0.5", "--probability", "-1<x y<2,p,q>0", "--modes")
    density = km.load("odd.km")
    assert density.columns == ODD_NAMES
    part = density.conditional({"a<b": 1.0, "1": 0.5})
    assert found["given"] == {"a<b": 1.0, "1": 0.5}
    expected = part.probability({"x y": -1.0, "p,q": 0.0}, {"x y": 2.0})
    assert found["probability"][0]["probability"] == expected
    assert list(found["modes"][0]["at"]) == ["x y", "x", "p,q"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_with_such_names_are_read_again(ask, capsys, ending):
    ask("odd.km", "--sample", 20, "-o", f"r.{ending}")
    assert written(f"r.{ending}").columns.tolist() == list(ODD_NAMES)
    done = call(capsys, "score", "odd.km", f"r.{ending}", "--json")
    assert strict(done.out)["rows"] == 20


@pytest.mark.parametrize("model", ["bare.km", "twins.km"])
def test_columns_without_names_go_by_position(ask, query, capsys, model):
    found = ask(model, "--given", "1=0.5", "--sample", 20, "-o", "r.csv", "--probability", "0<1e9")
    assert found["given"] == {"1": 0.5}
    density = km.load(model)
    rows = density.sample(20, random_state=0, given={1: 0.5})
    assert written("r.csv").columns.tolist() == [f"x{t}" for t in range(density.dimension)]
    np.testing.assert_array_equal(np.asarray(km.read("r.csv")), rows)
    assert [row["column"] for row in ask(model, "--columns", "1,0")["columns"]] == ["1", "0"]
    done = query(model, "--given", "a=0.5")
    assert (done.code, "'a' is neither a column nor a number" in done.err) == (2, True)


def test_other_kernels_answer_what_they_can(ask):
    found = ask("laplacian.km", "--entropy", "--hdr", 0.5, "--modes", "--sample", 9, "-o", "r.csv")
    density = km.load("laplacian.km")
    assert found["entropy"]["value"] == density.entropy(random_state=0)
    assert found["hdr"]["log_threshold"] == density.hdr(0.5, random_state=0).log_threshold
    assert len(found["modes"]) == len(density.modes().points)
    np.testing.assert_array_equal(written("r.csv").to_numpy(), density.sample(9, random_state=0))
