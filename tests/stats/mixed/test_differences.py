"""What the logistic mixed model says about conditions: points by integration, their error by the delta method, JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import expit

from verax.errors import VeraxError
from verax.stats.crossed.within import condition_differences, met
from verax.stats.mixed.differences import linear_differences, logistic_differences
from verax.stats.mixed.laplace import fit_logistic
from verax.stats.mixed.linear import Term

PAIR = [("b", "a")]


def columns(people=24, items=18, gain=0.8, seed=0):
    """Right and wrong answers of people who meet each item under one of two conditions."""
    rng = np.random.default_rng(seed)
    person, item = np.divmod(np.arange(people * items), items)
    under_b = (person + item) % 2
    log_odds = 0.3 + gain * under_b + rng.normal(0, 0.8, people)[person] + rng.normal(0, 0.8, items)[item]
    return person, item, under_b, (rng.random(len(person)) < expit(log_odds)).astype(float)


def study(**how):
    person, item, under_b, right = columns(**how)
    return met(person, item, np.array(["a", "b"])[under_b], right)


def fitted_by_hand(**how):
    """The model of the docstring, column by column: b = (a, b)."""
    person, item, under_b, right = columns(**how)
    ones = np.ones(len(right))
    return fit_logistic(
        right, np.equal.outer(under_b, [0, 1]).astype(float), [Term(person, ones), Term(item, ones)]
    )


def test_points_are_the_mean_over_simulated_people_and_items():
    fitted = fitted_by_hand()
    (found,) = logistic_differences(study(), PAIR)
    assert found.log_odds.estimate == pytest.approx(fitted.coefficients[1] - fitted.coefficients[0], abs=1e-6)
    variance = np.array([-1, 1]) @ fitted.covariance[:2, :2] @ [-1, 1]
    assert found.log_odds.se == pytest.approx(np.sqrt(variance), rel=1e-6)
    assert found.log_odds.df == 22
    person, item = np.random.default_rng(0).standard_normal((2, 400_000)) * fitted.sds[:, None]
    gained = expit(fitted.coefficients[1] + person + item) - expit(fitted.coefficients[0] + person + item)
    assert found.points.estimate == pytest.approx(gained.mean(), abs=4 * gained.std() / np.sqrt(400_000))


def test_the_error_of_points_is_that_of_drawn_parameters():
    """The delta method against parameters drawn from their estimated distribution."""
    fitted = fitted_by_hand()
    point = np.concatenate([fitted.coefficients, fitted.sds])
    drawn = np.random.default_rng(0).multivariate_normal(point, fitted.covariance / 25, 1500)
    z = np.random.default_rng(1).standard_normal(1500) * np.hypot(drawn[:, [2]], drawn[:, [3]])
    gained = expit(drawn[:, [1]] + z) - expit(drawn[:, [0]] + z)
    (found,) = logistic_differences(study(), PAIR)
    assert 5 * gained.mean(axis=1).std() == pytest.approx(found.points.se, rel=0.05)


def test_points_agree_with_the_crossed_estimator_and_the_linear_model():
    for seed in range(3):
        rows = study(seed=seed)
        (crossed,) = condition_differences(rows, PAIR)
        for other in (logistic_differences(rows, PAIR)[0].points, linear_differences(rows, PAIR)[0]):
            assert other.estimate == pytest.approx(crossed.estimate, abs=0.012)
            assert other.se == pytest.approx(crossed.se, rel=0.2)


def test_scores_that_are_not_right_or_wrong_and_unknown_conditions_are_refused():
    person, item, under_b, right = columns()
    with pytest.raises(VeraxError, match="1 for right, 0 for wrong"):
        logistic_differences(met(person, item, under_b, right / 2), [(0, 1)])
    with pytest.raises(VeraxError, match="no answer under lemon"):
        logistic_differences(study(), [("b", "lemon")])


def test_json():
    (found,) = logistic_differences(study(), PAIR)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["points"]["estimate"] == found.points.estimate
    assert data["log_odds"]["name"] == "b - a"
