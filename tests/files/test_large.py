"""The benchmark of large files at a small size: it runs, and memory does not follow the size of the
file.
"""

from __future__ import annotations

import pytest

formats = pytest.importorskip("tests.files.formats", reason="needs pip install 'kernelmean[files]'")


def test_scoring_does_not_hold_the_file(tmp_path, monkeypatch):
    from benchmarks import files

    monkeypatch.setattr(files, "GROUP", 100_000)
    found = files.score(tmp_path, "points.parquet", 4e6)
    assert found.rows == 100_000
    assert found.file_bytes > 3.9e6
    assert 5e7 < found.peak_bytes < files.LIMIT
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["model.km", "scores.parquet"]


@pytest.mark.slow  # two gigabytes on disk: run by make bench
def test_two_gigabytes_are_scored_within_one_and_a_half(tmp_path):
    from benchmarks import files

    found = files.score(tmp_path, "points.parquet", files.PARQUET)
    assert found.file_bytes >= 0.99 * files.PARQUET
    assert found.peak_bytes <= files.LIMIT
