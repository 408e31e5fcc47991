"""Models that take categories as they are: every explainer works, and SHAP gives their Shapley values."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from xgboost import XGBClassifier

import verax
from verax.data import Schema
from verax.perturb.paths.tree_readers import flatten


def _frame():
    rng = np.random.default_rng(0)
    jobs = pd.Categorical(rng.choice(["clerk", "cook", "judge"], 80))
    frame = pd.DataFrame({"age": rng.uniform(18, 70, 80), "job": jobs, "hours": rng.uniform(0, 60, 80)})
    return frame, ((frame["hours"] > 30) ^ (frame["job"] == "cook")).to_numpy(dtype=int)


FRAME, LABELS = _frame()
ON_FRAMES = {
    "lightgbm": lambda: LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1),
    "xgboost": lambda: XGBClassifier(enable_categorical=True, n_estimators=8, n_jobs=1),
    "histograms": lambda: HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=8),
}
ON_CODES = {
    "lightgbm": lambda: LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1),
    "xgboost": lambda: XGBClassifier(
        enable_categorical=True, feature_types=["q", "c", "q"], n_estimators=8, n_jobs=1
    ),
    "histograms": lambda: HistGradientBoostingClassifier(categorical_features=[1], max_iter=8),
}


def by_enumeration(model, row, target):
    """Shapley values from their definition: absent columns take the values of all reference rows, averaged."""

    def value(present):
        rows = model.reference.copy()
        rows[:, list(present)] = row[list(present)]
        return model.predict_proba(rows)[:, target].mean()

    n = len(row)
    scores = np.zeros(n)
    for feature in range(n):
        others = [other for other in range(n) if other != feature]
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for some in combinations(others, size):
                scores[feature] += weight * (value({*some, feature}) - value(some))
    return scores


@pytest.mark.parametrize("name", ON_FRAMES)
def test_shap_on_a_model_fitted_on_frames_with_categories(name):
    fitted = ON_FRAMES[name]().fit(FRAME, LABELS)
    model = verax.as_model(fitted, reference=FRAME)
    assert np.allclose(model.predict_proba(FRAME[:5]), fitted.predict_proba(FRAME[:5]))
    check(model, FRAME[:2])


@pytest.mark.parametrize("name", ON_CODES)
def test_shap_on_a_model_fitted_on_codes_of_categories(name):
    schema = Schema.learn(FRAME)
    codes = schema.encode(FRAME)
    told = {"categorical_feature": [1]} if name == "lightgbm" else {}
    fitted = ON_CODES[name]().fit(codes, LABELS, **told)
    check(verax.as_model(fitted, reference=codes, schema=schema), codes[:2])


def test_splits_on_categories_are_not_read_as_thresholds():
    """The closed form would otherwise be computed in vain, and found not to add up."""
    codes = Schema.learn(FRAME).encode(FRAME)
    assert flatten(ON_CODES["xgboost"]().fit(codes, LABELS)).sets is not None
    assert flatten(XGBClassifier(n_estimators=8, n_jobs=1).fit(codes, LABELS)) is not None


def check(model, rows):
    explanations = verax.explainer("shap").explain(model, rows)
    encoded = model.schema.encode(rows) if isinstance(rows, pd.DataFrame) else rows
    for row, explanation in zip(encoded, explanations, strict=True):
        expected = by_enumeration(model, row, explanation.target)
        assert explanation.scores == pytest.approx(expected, abs=1e-6)
        assert explanation.scores[1] != 0
    for other in ("lime", "greedy", "greedy-path"):
        assert len(verax.explainer(other).explain(model, rows)) == 2
