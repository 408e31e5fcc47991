"""Numbers and lists as people read them."""

import pytest

from verax.text import (
    always_signed,
    between,
    counted,
    duration,
    estimate,
    interval,
    listed,
    minus,
    p_number,
    p_text,
    percent,
    points,
    signed,
    signed_from_zero,
)


def test_shares_have_one_decimal_and_a_true_minus():
    assert percent(0.98765) == "98.8%"
    assert percent(1) == "100.0%"
    assert percent(None) == "–"
    assert estimate({"mean": 0.5, "low": -0.0341, "high": 1.02}) == "50.0 [−3.4, 102.0]"


def test_one_unit_has_no_interval():
    assert estimate({"mean": 0.5, "low": None, "high": None}) == "50.0"
    assert interval(None, None) == ""
    assert estimate(None) == "–"
    assert estimate({}) == "–"


def test_differences_have_a_sign_unless_they_round_to_zero():
    assert [points(one) for one in (0.1234, -0.1, 0.0004, -0.0004, 0.0, None)] == [
        "+12.3",
        "−10.0",
        "0.0",
        "0.0",
        "0.0",
        "–",
    ]


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        (None, ""),
        (0.0, "p < 0.001"),
        (0.00099, "p < 0.001"),
        (0.001, "p = 0.001"),
        (0.0123, "p = 0.012"),
        (1.0, "p = 1"),
    ],
)
def test_p_values_are_never_zero(p, shown):
    assert p_text(p) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 ms"),
        (1e-9, "< 0.01 ms"),
        (0.00042, "0.42 ms"),
        (0.0033, "3.3 ms"),
        (0.00996, "10 ms"),
        (0.0425, "42 ms"),
        (0.9996, "1.0 s"),
        (3.14, "3.1 s"),
        (90, "1.5 min"),
    ],
)
def test_times_have_a_readable_unit(seconds, shown):
    assert duration(seconds) == shown


def test_counts_and_lists_are_english():
    assert counted(1, "stain") == "1 stain"
    assert counted(2000, "stain") == "2,000 stains"
    assert counted(2, "pair of cells", "pairs of cells") == "2 pairs of cells"
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a", "b", "c", "d"], most=2) == "a, b and 2 more"
    assert listed(["a", "b", "c"], "or") == "a, b or c"


def test_differences_and_coefficients_have_true_signs():
    assert [signed(value) for value in (8.26, -2.14, 0.04, -0.04)] == ["+8.3", "−2.1", "0.0", "0.0"]
    assert signed(-0.125, 2) == "−0.12"
    assert between(-2.1, 9.0) == "−2.1 to +9.0"
    assert [always_signed(value) for value in (0.4, -0.4, 0.0, -0.001)] == [
        "+0.40",
        "−0.40",
        "+0.00",
        "+0.00",
    ]
    assert [minus(shown) for shown in ("-3.3", "-0.0", "1,234")] == ["−3.3", "0.0", "1,234"]


def test_p_values_in_a_column_stand_without_their_letter():
    assert [p_number(p) for p in (0.0001, 0.0123, 1.0)] == ["< 0.001", "0.012", "1"]


def test_a_margin_that_is_not_zero_does_not_look_like_zero():
    given = (3.14159, -0.5, 0.0, -0.0, 0.004, -0.0049, -0.00004, 1e-12, -1e-12)
    shown = ["+3.14", "-0.50", "0.00", "0.00", "+0.004", "-0.005", "-0.00004", "0.000000", "0.000000"]
    assert [signed_from_zero(number) for number in given] == shown
