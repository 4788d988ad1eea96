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
