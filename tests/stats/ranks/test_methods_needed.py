"""How many methods a correlation takes: against tables, by enumeration and against the large-sample formula."""

from math import atanh

import numpy as np
import pytest

from verax.errors import VeraxError
from verax.stats.rank_correlations import methods_needed, rank_power, reliability, smallest_significant


@pytest.mark.parametrize(
    ("methods", "rho"), [(5, 1.0), (6, 0.886), (7, 0.786), (8, 0.738), (9, 0.7), (10, 0.648), (20, 0.447)]
)
def test_the_limits_are_those_of_the_printed_tables(methods, rho):
    """Zar's table, two-sided 0.05; above nine methods the approximation is within 0.02 of it."""
    assert smallest_significant(methods, 0.95) == pytest.approx(rho, abs=0.0006 if methods <= 9 else 0.02)


def test_four_methods_can_show_nothing():
    assert smallest_significant(4, 0.95) == float("inf")
    assert rank_power(4, 0.99, 0.95, 100, 0) == 0


def test_without_a_correlation_the_test_rejects_as_often_as_its_level_says():
    assert rank_power(12, 0.0, 0.95, 4000, 0) == pytest.approx(0.05, abs=0.015)


def test_a_correlation_of_seven_tenths_takes_some_fourteen_methods():
    needed = methods_needed(0.7, 0.8)
    # Fieller's formula: 3 + 1.06 ((1.96 + 0.84) / atanh(rho))².
    assert needed.methods == pytest.approx(3 + 1.06 * (2.8 / atanh(0.7)) ** 2, abs=2)
    assert needed.reached >= 0.8
    assert needed.observed == pytest.approx(0.7)


def test_errors_raise_the_number_and_useless_scores_make_it_endless():
    sure, unsure = methods_needed(), methods_needed(reliabilities=(0.9, 0.5))
    assert unsure.methods > 2 * sure.methods
    assert unsure.observed == pytest.approx(0.7 * np.sqrt(0.45), abs=0.01)
    assert methods_needed(reliabilities=(1.0, 0.0)).methods is None


def test_reliability_is_the_share_of_the_spread_that_is_not_error():
    # Variance of 1, 2, 3 is 1; mean squared error 0.25.
    assert reliability([1, 2, 3], [0.5, 0.5, 0.5]) == pytest.approx(0.75)
    assert reliability([1, 2, 3], [5, 5, 5]) == 0
    assert reliability([1, 2], [0, 0]) is None
    assert reliability([2, 2, 2], [0, 0, 0]) is None


def test_impossible_wishes_are_a_sentence():
    with pytest.raises(VeraxError, match="between 0 and 1"):
        methods_needed(1.0)
