"""Rows that a model of tables cannot read are refused in a sentence that says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier, LGBMRegressor
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
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


def test_what_holds_rows_in_another_way_is_told_how_to_give_them():
    numbers = FRAME[["age", "pay"]]
    forest = RandomForestClassifier(3, random_state=0).fit(numbers, FRAME["age"] > 40)
    with pytest.raises(VeraxError, match=r"sparse matrix \(csr_matrix\); give them as rows.toarray\(\)"):
        verax.as_model(forest, reference=csr_matrix(numbers))
    model = verax.as_model(forest, reference=numbers)
    with pytest.raises(VeraxError, match=r"one row alone too, such as frame.iloc\[\[3\]\]"):
        explain(model, numbers.iloc[3])
    with pytest.raises(VeraxError, match=r"if it is one row, a list: \[row\]"):
        explain(model, numbers.iloc[3].to_dict())


@pytest.mark.parametrize("known", [(), ("high", "low")])
@pytest.mark.parametrize("sort", ["forest", "each its own", "linear"])
def test_a_regressor_of_several_numbers_is_explained_one_number_at_a_time(sort, known):
    rows = FRAME[["age", "pay"]]
    goal = np.column_stack([rows["age"] * 2, -rows["pay"]])
    made = {
        "forest": RandomForestRegressor(3, random_state=0),
        "each its own": MultiOutputRegressor(LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1)),
        "linear": make_pipeline(StandardScaler(), LinearRegression()),
    }[sort].fit(rows, goal)
    names = {"class_names": known} if known else {}
    with pytest.raises(VeraxError, match=r"gives 2 numbers at once .* one is explained at a time"):
        verax.as_model(made, reference=rows, **names)
    model = verax.as_model(made, reference=rows, label=1, **names)
    assert model.output == "number"
    assert model.class_names == ((known or ("0", "1"))[1],)
    assert np.array_equal(model.predict_proba(rows[:5])[:, 0], made.predict(rows[:5])[:, 1])
    explanation = explain(model, rows[:1])
    own = made.predict(rows[:1])[0, 1]
    assert explanation.details["base"] + explanation.scores.sum() == pytest.approx(own, abs=1e-9)


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
