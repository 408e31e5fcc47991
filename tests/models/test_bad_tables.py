"""Rows that a model of tables cannot read are refused in a sentence that says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

import verax
from verax.errors import VeraxError

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(40, 9, 80),
        "town": pd.Categorical(RNG.choice(["A", "B"], 80)),
        "pay": RNG.normal(size=80),
    }
)
MODELS = {
    "histograms": lambda: HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=5),
    "lightgbm": lambda: LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1),
    "a number": lambda: LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1),
    "xgboost": lambda: XGBClassifier(n_estimators=3, n_jobs=1, enable_categorical=True),
    "catboost": lambda: CatBoostClassifier(
        iterations=3, verbose=0, cat_features=["town"], allow_writing_files=False, thread_count=1
    ),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    goal = FRAME["age"] if request.param == "a number" else (FRAME["age"] > 40).astype(int)
    return verax.as_model(MODELS[request.param]().fit(FRAME, goal), reference=FRAME)


def explain(model, rows):
    return verax.explainer("shap").explain(model, rows)[0]


def test_another_order_of_columns_is_the_same_table(model):
    turned = FRAME[["pay", "town", "age"]][:1]
    assert np.array_equal(explain(model, turned).scores, explain(model, FRAME[:1]).scores)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_waits_for_its_fit_is_told(name):
    with pytest.raises(VeraxError, match=r"is not fitted yet; call its fit\(inputs, labels\) first"):
        verax.as_model(MODELS[name](), reference=FRAME)


@pytest.mark.parametrize("thing", [StandardScaler(), KMeans(2)])
def test_what_predicts_neither_classes_nor_numbers_is_told(thing):
    with pytest.raises(VeraxError, match="predicts neither classes nor numbers; give a fitted classifier"):
        verax.as_model(thing.fit(FRAME[["age"]]), reference=FRAME[["age"]])


def test_a_booster_alone_is_told_what_is_wanted():
    fitted = XGBClassifier(n_estimators=2, n_jobs=1).fit(FRAME[["age", "pay"]], FRAME["age"] > 40)
    with pytest.raises(VeraxError, match="This Booster does not say what it predicts; give the classifier"):
        verax.as_model(fitted.get_booster(), reference=FRAME[["age", "pay"]])


def test_a_model_of_arrays_is_told_what_it_lacks():
    forest = RandomForestClassifier(3, random_state=0).fit(
        FRAME[["age", "pay"]].to_numpy(), FRAME["age"] > 40
    )
    with pytest.raises(VeraxError, match="'town' of the reference holds categories; fit it on a DataFrame"):
        verax.as_model(forest, reference=FRAME)
    with pytest.raises(VeraxError, match="no column 'pay'; it has: age"):
        explain(verax.as_model(forest, reference=FRAME[["age", "pay"]]), FRAME[["age"]][:1])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (FRAME[["age", "town"]][:1], "no column 'pay'; it has: age, town. Add the column"),
        (FRAME[:1].assign(town="Z"), "unseen category 'Z' in column 'town'; use one of: A, B"),
        (FRAME[:1].assign(pay=np.inf), "infinite value in column 'pay'; replace it"),
        (FRAME[:1].assign(pay=np.nan), "missing value in column 'pay', where none was seen before"),
        (FRAME[:1].assign(age="old"), "'old' in the numeric column 'age'; give a number"),
        (np.zeros((1, 5)), "the table has 3 columns"),
    ],
)
def test_what_cannot_be_read_is_said(model, rows, said):
    with pytest.raises(VeraxError, match=said):
        explain(model, rows)
