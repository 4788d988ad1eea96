"""Figures as plain data."""

from __future__ import annotations

import base64

import numpy as np

from kernelmean.pictures.html import charts


def test_numbers_are_packed_as_plotly_reads_them():
    A = np.arange(6.0).reshape(2, 3)
    packed = charts.numbers(A)
    assert packed["shape"] == "2, 3"
    np.testing.assert_array_equal(
        np.frombuffer(base64.b64decode(packed["bdata"]), dtype="<f4").reshape(2, 3), A
    )


def test_long_names_keep_both_ends():
    """Replicates differ in their last letters."""
    assert [charts.shortened(f"Fa13.BD.MM15.SD.1_rep{i}") for i in (1, 2)] == [
        "Fa13.BD.M…D.1_rep1",
        "Fa13.BD.M…D.1_rep2",
    ]
    assert charts.shortened("short") == "short"
