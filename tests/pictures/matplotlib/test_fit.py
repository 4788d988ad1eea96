"""The figure of a fit in a file."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km


def test_a_figure_is_whole_or_absent(tmp_path, monkeypatch):
    figures = pytest.importorskip(
        "kernelmean.pictures.matplotlib.fit",
        reason="Matplotlib is not installed: pip install 'kernelmean[report]'",
    )
    X = np.random.default_rng(0).normal(size=(50, 2))
    mean = km.sparse_kernel_mean(X, k=5, random_state=0, engine="naive")

    def half(figure, path, **_):
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(figures.Figure, "savefig", half)
    with pytest.raises(KeyboardInterrupt):
        figures.draw_fit(mean, X, tmp_path / "f.png")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match=r"f\.xyz names no format of figures"):
        figures.figure_format(tmp_path / "f.xyz")


@pytest.mark.parametrize(("target", "panels"), [("kde", 2), ("likelihood", 1)])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_density_by_likelihood_has_one_panel(tmp_path, monkeypatch, target, panels, d):
    figures = pytest.importorskip("kernelmean.pictures.matplotlib.fit")
    X = np.random.default_rng(0).normal(size=(60, d))
    mean = km.SparseKDE(k=4, target=target, random_state=0).fit(X).mean_
    counts = []
    save = figures.Figure.savefig

    def counted(figure, *arguments, **options):
        counts.append(len(figure.axes))
        save(figure, *arguments, **options)

    monkeypatch.setattr(figures.Figure, "savefig", counted)
    figures.draw_fit(mean, X, tmp_path / "f.png")
    assert counts == [panels]
    assert (tmp_path / "f.png").stat().st_size > 0
