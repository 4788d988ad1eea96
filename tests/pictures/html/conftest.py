"""Small results with names that would do harm if a page let them."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

import kernelmean as km
from kernelmean.embedding.differing import samples_test
from kernelmean.pictures import html as report
from kernelmean.pictures.html import page
from kernelmean.pictures.html.answers import answers_section
from kernelmean.pictures.html.fit import page_of_density
from tests.comparison.examples import planted, with_regions

EVIL = "<script>alert(1)</script>"
WORSE = "</script><img src=x onerror=alert(2)>&amp;\"'"


@pytest.fixture(scope="session")
def fit_html() -> str:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 3)), 0.5 * rng.normal(size=(200, 3)) + 3.0])
    mean = km.sparse_kernel_mean(
        X, space="l2", constraint="simplex", k=30, random_state=0, engine="naive"
    )
    command = ["kernelmean", "fit", f"{EVIL}.csv", "--report", "fit.html"]
    return report.fit_page(
        mean,
        X,
        columns=["first", EVIL, WORSE],
        certificate=mean.certificate(X),
        settings={WORSE: EVIL},
        command=command,
    )


@pytest.fixture(scope="session")
def query_html() -> str:
    X = np.random.default_rng(0).normal(size=(300, 2))
    mean = km.SparseKDE(k=20, bandwidth=0.4, random_state=0, engine="naive").fit(X).mean_
    lines = {"entropy": 1.5, "region": WORSE}
    tables = {"probability": [{"condition": f"{EVIL}<1", "probability": 0.25}]}
    return page_of_density(
        "query",
        mean.conditional({0: 0.5}),
        columns=[WORSE],
        answers=[answers_section(lines, tables)],
        settings={WORSE: EVIL},
        command=["kernelmean", "query", f"{EVIL}.km"],
        title=f"Given {EVIL} = 0.5",
    )


@pytest.fixture(scope="session")
def odd_embedding() -> km.DistributionEmbedding:
    rng = np.random.default_rng(1)
    names = [EVIL, WORSE, *(f"sample {i}" for i in range(12))]
    samples = {name: rng.normal(size=(50, 2)) + 3.0 * (i % 3) for i, name in enumerate(names)}
    return km.DistributionEmbedding(
        embedding="mds", error_bars=True, random_state=0, engine="naive"
    ).fit(samples)


@pytest.fixture(scope="session")
def embed_html(odd_embedding) -> str:
    metadata = {
        "site": (["north", WORSE, "south"] * 5)[:14],
        "age": [None, *(20.5 + i for i in range(13))],
    }
    rng = np.random.default_rng(1)
    test = samples_test([rng.normal(size=(50, 2)) for _ in range(14)], random_state=0)
    return report.embedding_page(
        odd_embedding, test=test, metadata=metadata, command=f"kernelmean embed '{EVIL}'"
    )


@pytest.fixture(scope="session")
def segment_html() -> str:
    pytest.importorskip("PIL", reason="Pillow is not installed: pip install 'kernelmean[report]'")
    rgb = np.zeros((24, 36, 3), dtype=np.uint8)
    rgb[:, 12:] = (200, 40, 40)
    rgb[16:, 24:] = (30, 60, 220)
    found = km.segment_image(rgb, spatial=0.0, bandwidth=0.05, engine="naive")
    return report.segmentation_page(
        rgb, found, command=["kernelmean", "segment", f"{EVIL}.png"], title=WORSE
    )


@pytest.fixture(scope="session")
def clusters_html(bumps) -> str:
    X, shift = bumps
    return report.clusters_page(
        shift,
        X,
        columns=[EVIL, WORSE],
        settings={WORSE: EVIL},
        command=["python", f"{EVIL}.py"],
        title=WORSE,
    )


@pytest.fixture(scope="session")
def compare_html() -> str:
    found = planted((EVIL, WORSE, "height", "<b>score"), (WORSE, EVIL)).found
    further = replace(found.regions[0], columns=(2,))
    return report.difference_page(
        with_regions(found, *found.regions, further),
        settings={WORSE: EVIL},
        command=["kernelmean", "compare", f"{EVIL}.csv", "b 100 200.csv"],
    )


@pytest.fixture(scope="session")
def domain_html(fitted_on) -> str:
    mean, X = fitted_on("size", "hour", "species", "island", "lon", "lat")
    names = ("size", EVIL, "species", WORSE, "lon", "lat")
    levels = (mean.domain.levels[0], (EVIL, WORSE, "Torgersen"))
    domain = replace(mean.domain, levels=levels)
    X = X.copy()
    X[:, 3] = "Torgersen"
    return report.fit_page(replace(mean, domain=domain, columns=names), X)


@pytest.fixture(scope="session")
def monitor_html(watched) -> str:
    monitor, alarms = watched
    named = copy.copy(monitor)
    named.columns = (EVIL, WORSE)
    return report.monitor_page(
        named,
        [replace(alarm, columns=(EVIL, WORSE)) for alarm in alarms],
        settings={WORSE: EVIL},
        command=["kernelmean", "monitor", f"{EVIL}.csv"],
        title=WORSE,
    )


@pytest.fixture(scope="session")
def score_html() -> str:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    mean = km.SparseKDE(random_state=0, target="kde", k=20, engine="naive").fit(X).mean_
    new = np.concatenate([rng.normal(size=(200, 3)), [[9.0, -9.0, 0.5]]])
    command = ["kernelmean", "score", "m.km", f"{EVIL}.csv"]
    named = {"columns": ["first", EVIL, WORSE], "settings": {WORSE: EVIL}}
    return report.scores_page(mean, new, **named, command=command, title=WORSE)


@pytest.fixture(scope="session")
def proportions_html() -> str:
    rng = np.random.default_rng(0)
    names = np.array([EVIL, WORSE, "a third class with quite a long name"])
    codes = np.arange(300) % 3
    X = rng.normal(size=(300, 2)) + 3.0 * np.c_[codes == 1, codes == 2]
    model = km.ClassProportions(solver="moments", random_state=0, engine="naive").fit(
        X, names[codes]
    )
    test = X[codes != 2][:150]
    fit = model.goodness_of_fit(test, random_state=0)
    return report.proportions_page(
        model,
        model.predict_interval(test, random_state=0),
        fit=fit,
        training=[1 / 3] * 3,
        settings={WORSE: EVIL},
        command=["kernelmean", "proportions", f"{EVIL}.csv"],
    )


@pytest.fixture
def plotly_page(monkeypatch):
    """The page of a fit, without the script that draws it."""
    monkeypatch.setattr(page, "plotly_packed", lambda: b"")
    return report.fit_page
