"""(F) regression to the mean and Change against ratings: against scipy's regression on points made by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from verax.errors import VeraxError
from verax.stats.hase2020 import RegressionLine, change_on_rating, regression_to_mean


def answers(shares, method="a", test="forward", answers_each=20):
    """Rows of participants with the given numbers of right answers before and after."""
    rows = []
    for number, (before, after) in enumerate(shares):
        for item in range(answers_each):
            rows.append((number, item, method, test, float(item < before), float(item < after)))
    return rows


def columns(rows):
    return [list(column) for column in zip(*rows, strict=True)]


SHARES = [(10, 14), (12, 13), (15, 15), (18, 16), (8, 13), (11, 11)]


def test_equal_to_scipys_regression_on_one_point_per_participant_and_test():
    # The same names in another method and another test are other points.
    rows = answers(SHARES) + answers([(14, 12), (9, 16)], "b") + answers([(13, 17)], test="counterfactual")
    found = regression_to_mean(*columns(rows))
    pre = np.array([10, 12, 15, 18, 8, 11, 14, 9, 13]) / 20
    post = np.array([14, 13, 15, 16, 13, 11, 12, 16, 17]) / 20
    expected = stats.linregress(pre, post - pre)
    assert (found.slope, found.intercept) == pytest.approx((expected.slope, expected.intercept))
    assert found.p == pytest.approx(expected.pvalue)
    margin = stats.t.ppf(0.975, 7) * expected.stderr
    assert (found.low, found.high) == pytest.approx((expected.slope - margin, expected.slope + margin))
    assert (found.n, found.left_out) == (9, 0)


def test_points_with_few_answers_or_no_right_one_before_are_left_out_and_counted():
    rows = answers(SHARES) + answers([(5, 6)], "b", answers_each=9) + answers([(0, 12)], "c")
    whole = regression_to_mean(*columns(answers(SHARES)))
    found = regression_to_mean(*columns(rows))
    assert (found.n, found.left_out) == (6, 2)
    assert found.slope == whole.slope


def test_only_paired_answers_count():
    rows = answers(SHARES)
    participant, item, method, test, pre, post = columns(rows)
    for place in range(0, 11):
        pre[place] = None
    found = regression_to_mean(participant, item, method, test, pre, post)
    assert (found.n, found.left_out) == (5, 1)


def test_chance_alone_gives_a_negative_slope():
    rng = np.random.default_rng(0)
    shares = rng.binomial(20, 0.6, (200, 2)).tolist()
    assert regression_to_mean(*columns(answers(shares))).high < -0.5


def test_change_against_mean_rating_equals_scipy():
    ratings = [3, 5, 6, 2, 4, 7]
    rated = columns([(who, "a", float(r + d)) for who, r in enumerate(ratings) for d in (-1, 0, 1)])
    rated[2].append(None)
    rated[0].append(0)
    rated[1].append("a")
    rows = answers(SHARES) + answers([(1, 9)], "b") + answers([(5, 6)], "c", answers_each=14)
    participant, _, method, _, pre, post = columns(rows)
    found = change_on_rating(tuple(rated), (participant, method, pre, post))
    change = [(after - before) / 20 for before, after in SHARES]
    expected = stats.linregress(ratings, change)
    assert found.slope == pytest.approx(expected.slope)
    assert found.p == pytest.approx(expected.pvalue)
    # Left out: in b without ratings, in c with 14 answers.
    assert (found.n, found.left_out) == (6, 2)


def test_few_points_or_one_x_have_no_line():
    for shares in (SHARES[:2], [(10, 12), (10, 13), (10, 9)]):
        found = regression_to_mean(*columns(answers(shares)))
        assert (found.slope, found.low, found.p, found.n) == (None, None, None, len(shares))


def test_points_on_a_line_have_a_slope_and_no_interval():
    found = regression_to_mean(*columns(answers([(8, 12), (12, 12), (16, 12)])))
    assert found.slope == pytest.approx(-1)
    assert (found.low, found.high, found.p) == (None, None, None)


def test_json_and_bad_input():
    found = regression_to_mean(*columns(answers(SHARES)))
    assert RegressionLine(**json.loads(json.dumps(found.to_dict()))) == found
    with pytest.raises(VeraxError, match="between 0 and 1"):
        regression_to_mean(*columns(answers(SHARES)), level=95)
    with pytest.raises(VeraxError, match="differ in length"):
        change_on_rating(([1], ["a"], [3, 4]), ([1], ["a"], [0], [1]))
