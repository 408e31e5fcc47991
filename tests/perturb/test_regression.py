"""Regressions from sums of squares equal scikit-learn's and lime's on the rows themselves."""

from __future__ import annotations

import numpy as np
import pytest
from lime.lime_base import LimeBase
from sklearn.linear_model import Ridge

from verax.errors import VeraxError
from verax.perturb import regression
from verax.perturb.masks import Masks


def problem(seed: int = 0, n_rows: int = 300, n_features: int = 12):
    rng = np.random.default_rng(seed)
    rows = rng.random((n_rows, n_features)) < rng.random((n_rows, 1))
    weights = rng.random(n_rows)
    answers = (
        rows @ rng.normal(size=n_features) + 0.3 * rows[:, 0] * rows[:, 1] + rng.normal(size=n_rows) / 10
    )
    return rows, weights, answers


def prepared(rows, weights, answers):
    masks = Masks.from_rows(rows)
    normal = regression.normal_of_masks(masks, weights)
    return normal, regression.moments(normal, masks, weights, answers)


def test_ridge_equals_sklearn():
    rows, weights, answers = problem()
    normal, moments = prepared(rows, weights, answers)
    fit = regression.ridge(normal, moments)
    reference = Ridge(alpha=1.0).fit(rows.astype(float), answers, sample_weight=weights)
    assert np.allclose(fit.coefficients, reference.coef_, atol=1e-11)
    assert fit.intercept == pytest.approx(reference.intercept_, abs=1e-11)
    assert fit.r2 == pytest.approx(
        reference.score(rows.astype(float), answers, sample_weight=weights), abs=1e-11
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("method", ["forward_selection", "highest_weights", "lasso_path"])
def test_selection_equals_lime(seed, method):
    rows, weights, answers = problem(seed)
    rows[0] = True  # lime weighs its highest weights by the first row, the input itself
    normal, moments = prepared(rows, weights, answers)
    base = LimeBase(kernel_fn=None)
    expected = base.feature_selection(rows.astype(float), answers, weights, 5, method)
    chosen = getattr(regression, method)(normal, moments.covariance, 5)
    assert set(chosen.tolist()) == set(np.asarray(expected).tolist())
    if method == "forward_selection":
        assert chosen.tolist() == expected.tolist()
    fit = regression.ridge_on(normal, chosen, moments)
    reference = Ridge(alpha=1.0).fit(rows[:, chosen].astype(float), answers, sample_weight=weights)
    assert np.allclose(fit.coefficients[chosen], reference.coef_, atol=1e-11)
    assert np.count_nonzero(fit.coefficients) == len(chosen)


def test_forward_selection_survives_constant_and_copied_features():
    rows, weights, answers = problem()
    rows[:, 3] = True
    rows[:, 5] = rows[:, 2]
    normal, (covariance, _, _) = prepared(rows, weights, answers)
    chosen = regression.forward_selection(normal, covariance, 12).tolist()
    assert sorted(chosen) == list(range(12))
    assert 3 in chosen[-2:]


def test_columns_and_masks_give_the_same_sums():
    rows, weights, answers = problem()
    normal, moments = prepared(rows, weights, answers)
    columns = rows.T.astype(float)
    other = regression.normal_of_columns(columns, weights)
    assert np.allclose(other.gram, normal.gram, atol=1e-12)
    assert np.allclose(regression.moments(other, columns, weights, answers)[0], moments[0], atol=1e-12)


def test_a_constant_answer_has_no_scores():
    rows, weights, _ = problem()
    normal, moments = prepared(rows, weights, np.full(len(rows), 0.7))
    fit = regression.ridge(normal, moments)
    assert np.allclose(fit.coefficients, 0.0, atol=1e-12)
    assert fit.intercept == pytest.approx(0.7)


def test_too_many_features_is_a_sentence():
    n = regression.MAX_FEATURES + 1
    with pytest.raises(VeraxError, match="2,501 features, more than a local regression"):
        regression.normal_of_masks(Masks.from_rows(np.ones((2, n), dtype=bool)), np.ones(2))
