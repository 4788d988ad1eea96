"""What a page says in words."""

from __future__ import annotations

import pytest

from kernelmean.pictures.html import facts


@pytest.mark.parametrize(
    ("value", "shown"), [(1234567, "1\u202f234\u202f567"), (0.123456, "0.1235"), (12.0, "12")]
)
def test_numbers_are_written_for_people(value, shown):
    assert facts.number(value) == shown


def test_shares_of_a_column_have_as_many_decimals():
    assert facts.percents([0.7, 0.0999, 1.0, 0.0, 1e-7]) == [
        "70.0 %",
        "10.0 %",
        "100.0 %",
        "0.0 %",
        "< 0.1 %",
    ]
    assert facts.percents([0.00015], decimals=2) == ["0.01 %"]
