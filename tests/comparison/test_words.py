"""What a difference is in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernelmean.comparison import words
from kernelmean.comparison.columns import Effect
from kernelmean.comparison.groups import GroupDifferences
from kernelmean.comparison.regions import Region
from tests.comparison.examples import planted, with_p_value, with_regions


def effect(*columns, share=0.62, p=0.001):
    return Effect(columns, share, share - 0.1, share + 0.1, p, 1.0, 2.0)


def region(more=1, shares=(0.04, 0.12), columns=(0, 1)):
    gap = shares[1] - shares[0]
    center, half = np.array([70.2, 20134.0, 0.5]), np.array([4.0, 5000.0, 1.0])
    return Region(
        more, shares, gap, gap - 0.02, gap + 0.02, (4, 12), 0.01, center, center - half,
        center + half, columns, np.array([0]),
    )  # fmt: skip


def found(p=0.001, regions=(), columns=None, pairs=(), names=("A", "B")):
    own = (effect("income"), effect("age", share=0.2)) if columns is None else columns
    known = with_regions(with_p_value(planted(("age", "income", "score"), d=3).found, p), *regions)
    return replace(known, names=names, n_points=(300, 12280), columns=own, pairs=pairs)


def test_regions_of_both_signs_then_chance_and_the_column_that_explains_most():
    said = words.describe(found(regions=(region(), region(0, (0.0563, 0.0041), (2,)))))
    assert said == (
        "B has 8 percentage points more of its rows around age 70, income 20 000 (12 % of the rows "
        "of B, 4 % of those of A). A has 5.2 percentage points more of its rows around score 0.5 "
        "(5.6 % of the rows of A, 0.41 % of those of B). The two samples differ (p = 0.001); "
        "income explains 62 % of the difference."
    )


def test_no_difference():
    assert words.describe(found(0.413)) == (
        "No difference was found between A (300 rows) and B (12 280 rows): p = 0.41."
    )


def test_a_test_that_rejects_without_any_region():
    assert words.describe(found(0.003)) == (
        "A (300 rows) and B (12 280 rows) differ (p = 0.003), but no region stands out at a "
        "false-discovery rate of 5 %; income explains 62 % of the difference."
    )


def test_regions_without_a_test_that_rejects():
    said = words.describe(found(0.08, (region(),)))
    assert said.endswith(
        "Take this with care: taken as a whole the two samples may be alike (p = 0.08)."
    )


def test_only_some_regions_are_told_and_the_rest_counted():
    assert "2 further regions differ by less." in words.describe(found(regions=(region(),) * 5))
    assert "1 further region differs by less." in words.describe(found(regions=(region(),) * 4))
    assert words.describe(found(regions=(region(),) * 5)).count("more of its rows") == 3


def test_at_most_three_columns_tell_where_a_region_is():
    value = region(columns=(2, 1, 0))
    wide = replace(found(regions=(value,)), column_names=("age", "income", "score", "other"))
    assert words.place(wide, value) == "score 0.5, income 20 000, age 70"
    four = replace(value, columns=(0, 1, 2, 3))
    assert words.place(wide, four).count(",") == 2


def test_a_name_that_ends_in_a_digit_is_told_from_the_value():
    assert [words.at("age", "70"), words.at("x1", "70")] == ["age 70", "x1 = 70"]


def test_a_pair_may_explain_most_and_one_column_is_not_explained():
    pair = (effect("age", "income", share=0.7),)
    assert "; how age and income go together explains 70 % of the difference." in words.describe(
        found(pairs=pair)
    )
    weak = (effect("age", share=0.04),)
    assert "no column alone explains much" in words.describe(found(columns=weak))
    chance = (effect("age", share=0.6, p=0.3),)
    assert "no column alone explains much" in words.describe(found(columns=chance))
    single = replace(found(regions=(region(columns=(0,)),)), column_names=("age",))
    assert words.describe(single).endswith("The two samples differ (p = 0.001).")


def test_groups():
    most = found(regions=(region(),), names=("north", "the rest"))
    alike = found(0.9, names=("south", "the rest"))
    several = GroupDifferences(("south", "north"), (alike, most), (0.9, 0.002), np.array([1, 0]))
    said = words.describe_groups(several)
    assert said.startswith("1 of 2 groups differs from the rest at the level 5 %, adjusted")
    assert "Most different is north (adjusted p = 0.002). the rest has 8 percentage points" in said
    none = GroupDifferences(("south", "east"), (alike, alike), (0.9, 0.9), np.array([0, 1]))
    assert words.describe_groups(none).startswith("None of the 2 groups differs from the rest")


@pytest.mark.parametrize(
    ("value", "width", "said"),
    [
        (20134.0, 10000.0, "20 000"),
        (70.2, 8.0, "70"),
        (2021.4, 3.0, "2021.4"),
        (0.5312, 0.3, "0.53"),
        (-1234567.0, 5000.0, "−1 235 000"),
        (-0.2, 8.0, "0"),
        (5.0, 0.0, "5"),
        (3.2e-7, 1e-7, "3.2e−07"),
    ],
)
def test_digits_follow_the_width(value, width, said):
    assert words.near(value, width) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.0, "0"), (0.012345, "0.0123"), (172.33, "172"), (37455.3, "37 455"), (-1.257, "−1.26")],
)
def test_short_numbers(value, said):
    assert words.short(value) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0868, "8.7 %"), (0.1249, "12 %"), (0.0996, "10 %"), (0.0004, "less than 0.1 %"), (0, "0 %"),
     (1.0, "100 %"), (0.00412, "0.41 %")],
)  # fmt: skip
def test_percents(share, said):
    assert words.percent(share) == said


def test_percentage_points_and_chances():
    assert words.percentage_points(0.01) == "1 percentage point"
    assert words.percentage_points(0.08) == "8 percentage points"
    assert [words.points(value) for value in (0.0834, -0.004, 0.0001)] == ["8.3", "−0.4", "0"]
    assert [words.p_value(p) for p in (0.41, 0.00123, 1e-6)] == [
        "p = 0.41",
        "p = 0.0012",
        "p < 0.0001",
    ]


def test_the_gain_is_that_of_the_sample_that_has_more():
    assert words.gain(region()) == pytest.approx((0.08, 0.06, 0.10))
    assert words.gain(region(0, (0.12, 0.04))) == pytest.approx((0.08, 0.06, 0.10))


def test_lines_do_not_end_within_numbers():
    assert words.unbroken("income 20 000 (8.9 % of 3 rows)") == (
        "income 20\u00a0000 (8.9\u00a0% of 3 rows)"
    )
