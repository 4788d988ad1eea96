"""The page of densities on a domain: its references are right, its tables are made on little."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks import bounded, domain_sums, domain_tables, domains, spheres
from benchmarks.measuring import Row
from scipy.integrate import quad
from scipy.stats import expon
from sklearn.neighbors import KernelDensity

import kernelmean as km


@pytest.mark.parametrize("name", bounded.LAWS)
def test_the_error_of_a_law_is_zero_and_that_of_nothing_its_square(name):
    law = bounded.LAWS[name]
    assert bounded.squared_error(law.distribution.pdf, law) == 0.0
    ends = bounded.ends(law)
    square = quad(lambda x: law.distribution.pdf(x) ** 2, *ends, epsabs=1e-10, limit=200)[0]
    found = bounded.squared_error(np.zeros_like, law)
    assert found == pytest.approx(square, rel=1e-5)
    assert ends[0] == law.bounds[0]
    assert law.distribution.cdf(ends[1]) == pytest.approx(1.0, abs=1e-8)


def test_peers_are_those_of_scikit_learn():
    x = expon.rvs(size=200, random_state=0)
    q = np.linspace(0.0, 3.0, 50)
    theirs = KernelDensity(bandwidth=0.2).fit(x[:, None]).score_samples(q[:, None])
    np.testing.assert_allclose(np.log(bounded.estimate(x, 0.2)(q)), theirs, rtol=1e-9)
    both = KernelDensity(bandwidth=0.2).fit(np.concatenate([x, -x])[:, None])
    reflected = 2.0 * np.exp(both.score_samples(q[:, None]))
    np.testing.assert_allclose(bounded.estimate(x, 0.2, (0.0, None))(q), reflected, rtol=1e-9)


def test_a_reflected_estimate_has_the_integral_one():
    x = np.random.default_rng(0).beta(1, 3, 100)
    f = bounded.estimate(x, 0.05, (0.0, 1.0))
    grid = (np.arange(4000) + 0.5) / 4000
    assert f(grid).mean() == pytest.approx(1.0, abs=1e-6)


def test_the_validated_bandwidth_is_no_wild_one():
    x = np.random.default_rng(0).normal(size=500)
    assert 0.4 < bounded.validated(x) / bounded.scott(x) < 2.0


def test_bounded_densities_are_compared_with_every_peer(monkeypatch):
    monkeypatch.setattr(bounded, "CELLS", 500)
    rows = list(bounded.bounded(("uniform",), {100: 1}))
    assert rows[0].case == "uniform, n = 100"
    assert len(rows) == 1 + 3 * len(bounded.PEERS)
    assert rows[1].case == "default ÷ plain, Scott"


def test_sums_that_are_written_out_have_the_integral_one():
    kinds = domain_sums.columns(50)
    for chosen, h in domain_sums.CASES.values():
        parts = [kinds[kind] for kind in chosen]
        if len(parts) == 1:
            f = domain_sums.written_out(parts, h)
            assert domain_sums.integral(f, [parts[0].ends]) == pytest.approx(1.0, abs=1e-10)


def test_a_wrong_sum_is_seen(monkeypatch):
    values, integral = domain_sums.sums(("half-line",))
    assert float(values.ratio) < 1e-10
    assert float(integral.ratio) < 1e-10
    wrong = domain_sums.columns()["half-line"]._replace(images=lambda x: x[None])
    monkeypatch.setattr(domain_sums, "columns", lambda: {"half-line": wrong})
    values, integral = domain_sums.sums(("half-line",))
    assert float(values.ratio) > 1e-2


def test_statsmodels_has_the_same_density():
    pytest.importorskip("statsmodels", reason="needs statsmodels: pip install 'kernelmean[bench]'")
    (row,) = domain_sums.against_statsmodels(80, rules=("normal_reference",))
    assert float(row.ratio) < 1e-6
    rows = domain_sums.mixed(80)
    other = domain_sums.as_ours(np.array([0.5, 0.5, 0.2, 0.2]), rows)
    again = domain_sums.as_ours(np.array([0.5, 0.5, 0.3, 0.2]), rows)
    assert np.abs(other.score_samples(rows) - again.score_samples(rows)).max() > 1e-2


def test_without_the_peer_a_row_says_so(monkeypatch):
    monkeypatch.setattr(domain_sums.importlib.util, "find_spec", lambda name: None)
    (row,) = domain_sums.against_statsmodels()
    assert row.detail == "statsmodels is not installed"


@pytest.fixture
def pets(monkeypatch) -> domain_tables.Mixed:
    """A table of a number and a category, in the place of a real one."""
    rng = np.random.default_rng(0)
    kind = rng.choice(["cat", "dog"], 400)
    weight = np.where(kind == "cat", 4.0, 20.0) * np.exp(0.3 * rng.normal(size=400))
    frame = pd.DataFrame({"kind": kind, "weight": weight})
    domain = {"kind": km.Categorical(), "weight": (0, None)}
    table = domain_tables._of("pets", frame, domain)
    monkeypatch.setattr(domain_tables, "TABLES", {"pets": lambda: table})
    monkeypatch.setattr(domain_tables, "ASKED", 20)
    return table


def test_held_out_rows_are_none_of_those_fitted(pets):
    train, test = pets.split()
    assert (len(train), len(test)) == (300, 100)
    assert not set(train["weight"]) & set(test["weight"])


def test_densities_of_each_category_sum_to_one(pets):
    train, _ = pets.split()
    grid = np.linspace(0.0, 60.0, 4001)
    for logs in (
        domain_tables.of_each_category(train, "kind", bandwidth=1.0),
        domain_tables.as_if_independent(train, ["kind"], bandwidth=1.0),
    ):
        total = sum(
            np.exp(logs(pd.DataFrame({"kind": kind, "weight": grid}))).sum()
            for kind in ("cat", "dog")
        )
        assert total * (grid[1] - grid[0]) == pytest.approx(1.0, abs=1e-2)


def test_a_density_on_the_domain_is_compared_with_all_others(pets):
    pytest.importorskip("statsmodels", reason="needs statsmodels: pip install 'kernelmean[bench]'")
    rows = list(domain_tables.likelihood(("pets",)))
    assert [row.case.partition(": against ")[2] for row in rows] == [
        "default, a density for each category, no domain",
        "copy, a density for each category, no domain",
        "statsmodels, normal_reference",
        "statsmodels, cv_ml",
    ]


def test_a_gain_leaves_out_rows_that_the_other_calls_impossible():
    row = domain_tables.gain("c", np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.5, -np.inf]))
    assert row.ratio == "+0.750"
    assert row.detail.endswith("without 1 rows where the other is zero")


def test_absent_data_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(domain_tables, "DATA", tmp_path)
    (row,) = domain_tables.likelihood(("flights",))
    assert row.detail == "skipped: no data here"


def test_map_densities_per_area_have_the_integral_one():
    rng = np.random.default_rng(0)
    even = spheres.even(2000, rng)
    assert abs(np.sin(np.radians(even[:, 1])).mean()) < 0.05
    plain = km.SparseKDE(bandwidth=20.0, random_state=0).fit(even)
    logs = spheres.per_area(plain.score_samples(even), even[:, 1])
    inverse = np.exp(-logs).mean()  # ∫ dA = ∫ f/f dA, over rows of the density itself: 4π or less
    assert 0.6 < inverse / (4.0 * np.pi) < 1.6


def test_clusters_lie_across_the_date_line_and_the_pole():
    found = spheres.quakes(2000, 0)
    assert (np.abs(found[:, 0]) > 170.0).mean() > 0.2
    assert (found[:, 0] > 0).mean() == pytest.approx(0.5, abs=0.2)
    assert (found[:, 1] > 80.0).mean() > 0.2


def test_speed_is_told_of_both(monkeypatch):
    monkeypatch.setattr(domains, "SPEEDS", {"copy": {"bandwidth": "scott", "k": 20}})
    (row,) = domains.speed(500, 1)
    assert row.ratio > 0.0
    assert row.detail.count("20 atoms") == 2


def test_the_page_is_what_the_script_writes(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"

    def shown(figure: str):
        rows = lambda name: lambda: iter([Row(name, figure, "–", "d")])  # noqa: E731
        return lambda quick: {name: rows(name) for name in ("The globe", "Speed")}

    monkeypatch.setattr(domains, "tables", shown("one"))
    monkeypatch.setattr(sys, "argv", ["domains", "--output", str(page)])
    domains.main()
    monkeypatch.setattr(domains, "tables", shown("two"))
    monkeypatch.setattr(sys, "argv", ["domains", "Speed", "--output", str(page)])
    domains.main()
    text = page.read_text()
    assert text.startswith("# Densities on a domain")
    assert "| The globe | one |" in text
    assert "| Speed | two |" in text
    monkeypatch.setattr(sys, "argv", ["domains", "nothing"])
    with pytest.raises(SystemExit):
        domains.main()
    assert "no table 'nothing'" in capsys.readouterr().err


def test_the_page_in_the_documentation_has_the_text_and_the_tables_of_the_script(monkeypatch):
    monkeypatch.setattr(domains.threads, "default_count", lambda: 2)
    text = (domains.Path(__file__).parents[1] / "docs" / "domains.md").read_text()
    assert text.startswith(domains.introduction())
    titles = [line[4:] for line in text.splitlines() if line.startswith("### ")]
    assert titles == list(domains.tables(quick=False))
