"""What the logistic mixed model says about methods: points by integration, the delta method, and what it cannot say."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from verax.errors import VeraxError
from verax.stats.crossed.between import changes
from verax.stats.mixed.laplace import Term, fit_logistic
from verax.stats.mixed.logistic_effects import logistic_changes, logistic_contrasts
from verax.stats.power.simulation import Design, simulate
from verax.stats.responses import responses

NAMES = np.array(["lime", "none", "shap"])


def study(counts=(8, 8), items=16, seed=0, effects=0.15):
    drawn = simulate(Design(counts, items), effects, seed=seed)
    people = len(drawn.method)
    return responses(
        np.repeat(np.arange(people), items),
        np.tile(np.arange(items), people),
        np.repeat(NAMES[drawn.method], items),
        drawn.post[0].ravel(),
        drawn.pre[0].ravel(),
    )


def fitted_by_hand(rows):
    """The model of the docstring, column by column: b = (lime, none, after:lime, after:none)."""
    correct = np.concatenate([rows.pre, rows.post])
    after = np.repeat([0.0, 1.0], len(rows.post))
    method, person, item = (np.tile(codes, 2) for codes in (rows.method, rows.participant, rows.item))
    known = ~np.isnan(correct)
    cells = np.equal.outer(method, [0, 1]).astype(float)
    design = np.hstack([cells, cells * after[:, None]])[known]
    ones = np.ones(known.sum())
    terms = [Term(group[known], slope) for group in (person, item) for slope in (ones, after[known])]
    return fit_logistic(correct[known], design, terms)


def test_points_are_the_mean_over_simulated_people_and_items():
    rows = study()
    fitted = fitted_by_hand(rows)
    lime = logistic_changes(rows)[0]
    assert lime.log_odds.estimate == pytest.approx(fitted.coefficients[2], abs=1e-5)
    assert lime.log_odds.se == pytest.approx(np.sqrt(fitted.covariance[2, 2]), rel=1e-3)
    assert lime.log_odds.df == 14
    person, person_after, item, item_after = (
        np.random.default_rng(0).standard_normal((4, 400_000)) * fitted.sds[:, None]
    )
    before = fitted.coefficients[0] + person + item
    gained = expit(before + fitted.coefficients[2] + person_after + item_after) - expit(before)
    assert lime.points.estimate == pytest.approx(gained.mean(), abs=4 * gained.std() / np.sqrt(400_000))


def test_the_error_of_points_is_that_of_drawn_parameters():
    """The delta method against parameters drawn from their estimated distribution."""
    rows = study(counts=(10, 10), items=20, seed=3)
    fitted = fitted_by_hand(rows)
    point = np.concatenate([fitted.coefficients, fitted.sds])
    drawn = np.random.default_rng(0).multivariate_normal(point, fitted.covariance / 25, 1500)
    z = np.random.default_rng(1).standard_normal(1500)
    before = np.hypot(drawn[:, 4], drawn[:, 6])
    after = np.sqrt((drawn[:, 4:] ** 2).sum(axis=1))
    gained = expit(drawn[:, [0]] + drawn[:, [2]] + after[:, None] * z) - expit(
        drawn[:, [0]] + before[:, None] * z
    )
    assert 5 * gained.mean(axis=1).std() == pytest.approx(logistic_changes(rows)[0].points.se, rel=0.05)


def test_points_agree_with_the_crossed_estimator():
    pairs = [
        (one.points, other)
        for seed in range(3)
        for rows in [study(counts=(12, 12), items=20, seed=seed)]
        for one, other in zip(logistic_changes(rows), changes(rows), strict=True)
    ]
    assert [one.estimate for one, _ in pairs] == pytest.approx(
        [other.estimate for _, other in pairs], abs=0.012
    )
    errors = np.mean([[one.se, other.se] for one, other in pairs], axis=0)
    assert errors[0] == pytest.approx(errors[1], rel=0.15)


def test_contrasts_are_differences_in_points_and_in_log_odds():
    rows = study(counts=(6, 6, 6))
    each = {one.name: one for one in logistic_changes(rows)}
    (found,) = logistic_contrasts(rows, [("shap", "none")])
    assert found.name == "shap - none"
    for scale in ("points", "log_odds"):
        expected = getattr(each["shap"], scale).estimate - getattr(each["none"], scale).estimate
        assert getattr(found, scale).estimate == pytest.approx(expected, abs=1e-9)
    assert [one.name for one in logistic_contrasts(rows)] == ["lime - none", "lime - shap", "none - shap"]


def test_items_answered_once_give_accuracy():
    rows = replace(study(), pre=None)
    lime, none = logistic_changes(rows)
    for number, found in enumerate((lime, none)):
        share = np.nanmean(rows.post[rows.method == number])
        assert found.points.estimate == pytest.approx(share, abs=0.02)
        assert 0 < found.points.low < share < found.points.high < 1


def test_a_method_that_is_always_right_is_left_out_and_named_and_the_rest_is_fitted():
    rows = study(counts=(6, 6, 6))
    perfect = replace(rows, post=np.where(rows.method == 1, 1.0, rows.post))
    lime, none, shap = logistic_changes(perfect)
    assert none.points.estimate is None
    (said,) = none.points.warnings
    assert (
        said == "The 96 answers of none after explanations are all alike: its log-odds cannot be estimated."
    )
    assert lime.points.p is not None
    assert shap.points.p is not None
    assert logistic_contrasts(perfect, [("lime", "none")])[0].points.estimate is None
    gone = replace(rows, post=np.where(rows.method == 1, np.nan, rows.post))
    assert logistic_changes(gone)[1].points.warnings == ("There is no answer of none after explanations.",)
    with pytest.raises(VeraxError, match="No method has both right and wrong answers"):
        logistic_changes(replace(rows, pre=np.zeros_like(rows.post), post=np.ones_like(rows.post)))


def test_strata_are_averaged():
    one, two = study(seed=3), study(seed=4)
    columns = [
        np.concatenate([getattr(one, name), getattr(two, name)]) for name in ("item", "method", "post", "pre")
    ]
    people = np.concatenate([one.participant, two.participant + 100])
    both = responses(people, *columns, stratum=np.repeat(["a", "b"], len(one.post)))
    found = logistic_changes(both)[0].points
    alone = [logistic_changes(rows)[0].points for rows in (one, two)]
    assert found.estimate == pytest.approx(np.mean([part.estimate for part in alone]), abs=0.01)
    assert found.se == pytest.approx(np.hypot(alone[0].se, alone[1].se) / 2, rel=0.15)


def test_scores_that_are_not_right_or_wrong_and_unknown_methods_are_refused():
    rows = study()
    with pytest.raises(VeraxError, match="1 for right, 0 for wrong"):
        logistic_changes(replace(rows, post=rows.post / 2))
    with pytest.raises(VeraxError, match="no method lemon"):
        logistic_contrasts(rows, [("lime", "lemon")])


def test_json():
    (found,) = logistic_contrasts(study())
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["points"]["estimate"] == found.points.estimate
    assert data["log_odds"]["name"] == "lime - none"
