"""What ``kernelmean query`` refuses: in one line that says why, with exit code 2."""

from __future__ import annotations

import shlex

import pytest

REFUSED = [
    # files
    ("gone.km", "gone.km: no such file or directory."),
    ("two.csv", "two.csv is not a kernelmean model"),
    ("half.km", "half.km is damaged or incomplete"),
    ("difference.km", "difference.km holds a difference of samples, not a kernel mean."),
    ("signed.km", "signed.km holds a kernel mean that is no density"),
    ("signed.km --entropy", "fit without --signed."),
    # other kernels
    (
        "laplacian.km",
        "the summary, which is shown where nothing is asked, needs a Gaussian kernel, not Laplac",
    ),
    ("laplacian.km --quantiles 0.5", "--quantiles needs a Gaussian kernel, not Laplacian(scale="),
    ("laplacian.km --given x=1 --entropy", "--given needs a Gaussian kernel"),
    ("laplacian.km --columns x --entropy", "--columns needs a Gaussian kernel"),
    ("laplacian.km --cdf x=1", "--cdf needs a Gaussian kernel"),
    (
        "laplacian.km --probability x<1",
        "fit with --kernel gaussian, or ask for --entropy, --hdr, --modes or --sample.",
    ),
    # columns and values
    ("model.km --given w=1", "--given 'w=1': 'w' is neither a column nor a number; the columns"),
    ("model.km --given x", "--given 'x': 'x' should be like x=1.2; the columns are 'x', 'y'."),
    ("model.km --given ''", "--given '': something like x=1.2 is missing"),
    ("model.km --given x=1,x=2", "--given has two values for 'x'."),
    ("model.km --given x=1 --given 0=1", "--given has two values for 'x'."),
    (
        "model.km --given x=1,y=2",
        "--given has a value for every column; leave at least one out of 'x', 'y'.",
    ),
    ("model.km --given x=inf", "--given: 'x' needs a finite number, got inf."),
    ("model.km --given x=1e150", "the given values are so far from the density"),
    ("log.km --given x=0", "--given: 'x' cannot be 0, since the model was fitted after log."),
    ("log.km --given x=-1", "--given: 'x' cannot be -1, since the model was fitted after log."),
    ("model.km --columns w", "--columns 'w': 'w' is no column; the columns are 'x', 'y'."),
    ("model.km --columns ''", "--columns '': something like x is missing"),
    ("model.km --columns x,0", "--columns 'x,0' names 'x' twice."),
    ("model.km --given x=1 --columns x", "--columns: 'x' has a value by --given, so nothing is"),
    # questions
    ("model.km --quantiles 1.5", "--quantiles must be probabilities from 0 to 1 separated by"),
    ("model.km --quantiles ''", "--quantiles must be probabilities from 0 to 1 separated by"),
    ("model.km --cdf w=1", "--cdf 'w=1': 'w' is neither a column nor a number"),
    ("model.km --cdf x=inf", "--cdf: 'x' needs a finite number, got inf."),
    ("model.km --given x=1 --cdf x=1", "--cdf: 'x' has a value by --given"),
    ("model.km --columns y --cdf x=1", "--cdf: 'x' is not one of --columns"),
    ("model.km --probability x", "--probability 'x': 'x' should be like x<2 or 0<x<2"),
    ("model.km --probability x=1", "'x=1' should be like x<2 or 0<x<2"),
    ("model.km --probability 0<x>1", "--probability: '0<x>1' points both ways"),
    ("model.km --probability 2<x<1", "the bounds of 'x' cross, 2 > 1."),
    ("model.km --probability x>2,x<1", "the bounds of 'x' cross, 2 > 1."),
    ("model.km --given x=1 --probability x<2", "--probability: 'x' has a value by --given"),
    ("log.km --given y=1 --probability x<0,y<1", "--probability: 'y' has a value by --given"),
    ("model.km --columns y --probability x<2", "--probability: 'x' is not one of --columns"),
    ("model.km --hdr 0", "--hdr must lie between 0 and 1, got 0."),
    ("model.km --hdr 1", "--hdr must lie between 0 and 1, got 1."),
    ("model.km --hdr nan", "--hdr must lie between 0 and 1, got nan."),
    # files that are written
    ("model.km --sample 5", "--sample needs a file for its rows: -o rows.csv."),
    ("model.km -o r.csv", "-o r.csv is for rows that are drawn: say how many by --sample."),
    ("model.km --sample 5 -o r.xlsx", "r.xlsx names no table format that can be written"),
    ("model.km --sample 5 -o missing/r.csv", "the folder missing for r.csv does not exist."),
    ("model.km --save p.km", "--save p.km would be a copy of the model: name a part by --given"),
    ("model.km --columns x --save ./model.km", "model.km is named twice"),
    ("model.km --columns x --save missing/p.km", "the folder missing for p.km does not exist."),
    ("model.km --columns x --save r.csv --sample 5 -o r.csv", "r.csv is named twice"),
]
CLICKS_OWN = [
    ("", "MODEL.km"),
    ("model.km --hdr half", "--hdr"),
    ("model.km --sample 0 -o r.csv", "--sample"),
    ("model.km --sample many -o r.csv", "--sample"),
    ("model.km --seed -1", "--seed"),
    ("model.km --quantile 0.5", "--quantile"),
]


@pytest.mark.parametrize(("line", "said"), REFUSED, ids=[line for line, _ in REFUSED])
def test_wrong_input_is_one_line_and_exit_code_2(query, tmp_path, line, said):
    before = set(tmp_path.iterdir())
    done = query(*shlex.split(line))
    assert done.code == 2
    assert said in done.err
    assert done.out == ""
    assert done.err.startswith("kernelmean: ")
    assert len(done.err.splitlines()) == 1
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(("line", "said"), CLICKS_OWN, ids=[line for line, _ in CLICKS_OWN])
def test_what_click_refuses_is_named(query, line, said):
    done = query(*shlex.split(line))
    assert (done.code, done.out) == (2, "")
    assert said in done.err.splitlines()[-1]
    assert "Traceback" not in done.err


def test_nothing_is_written_where_a_question_is_refused(query, tmp_path):
    before = set(tmp_path.iterdir())
    options = ("--given", "x=1", "--sample", 5, "-o", "r.csv", "--save", "p.km")
    done = query("model.km", *options, "--cdf", "w=1")
    assert done.code == 2
    assert set(tmp_path.iterdir()) == before
