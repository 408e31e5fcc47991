import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.models import TableModel, as_model
from verax.models.tables import encode_rows


@pytest.fixture(scope="module")
def people():
    """A frame as people have them: spaces in categories, missing cells, integers, booleans, a label column."""
    rng = np.random.default_rng(0)
    jobs = np.array([" cook", " clerk", None], dtype=object)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, 120),
            "job": jobs[rng.integers(0, 3, 120)],
            "member": rng.random(120) < 0.5,
            "hours": rng.uniform(0, 80, 120),
        }
    )
    frame.loc[::9, "hours"] = np.nan
    frame["rich"] = np.where((frame.age > 40) ^ (frame.job == " cook"), "yes", "no")
    return frame


@pytest.fixture(scope="module")
def pipeline(people):
    columns = make_column_transformer(
        (OneHotEncoder(), ["job", "member"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "hours"]),
    )
    features = people.drop(columns="rich")
    return make_pipeline(columns, RandomForestClassifier(20, random_state=0)).fit(features, people.rich)


def test_a_pipeline_fitted_on_a_mixed_frame_gets_its_frame_back(people, pipeline):
    model = as_model(pipeline, reference=people)
    assert model.frames
    assert model.class_names == ("no", "yes")
    assert model.schema.names == ("age", "job", "member", "hours")
    assert model.schema.categorical == (1, 2)
    expected = pipeline.predict_proba(people)
    assert np.array_equal(model.predict_proba(people), expected)
    assert np.array_equal(model.predict_proba(model.reference), expected)
    assert np.array_equal(model.predict_proba(list(model.reference)), expected)
    raw = people.drop(columns="rich").to_numpy(dtype=object).tolist()
    assert np.array_equal(model.predict_proba(raw), expected)


def test_columns_of_the_type_category_come_back_as_such(people):
    features = people[["age", "job"]].astype({"job": "category"})
    gradient = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype", random_state=0)
    gradient.fit(features, people.rich)
    model = as_model(gradient, reference=features)
    assert np.array_equal(model.predict_proba(model.reference), gradient.predict_proba(features))


def test_xgboost_on_a_frame_with_categories(people):
    xgboost = pytest.importorskip("xgboost")
    features = people[["age", "job", "hours"]].astype({"job": "category"})
    labels = (people.rich == "yes").astype(int)
    fitted = xgboost.XGBClassifier(n_estimators=5, enable_categorical=True, n_jobs=1).fit(features, labels)
    model = as_model(fitted, reference=features)
    assert np.allclose(model.predict_proba(model.reference), fitted.predict_proba(features), atol=1e-7)


def test_without_a_reference_columns_are_numbers(people):
    rows, labels = people[["age"]].to_numpy(float), people.rich
    model = as_model(LogisticRegression().fit(rows, labels))
    assert isinstance(model, TableModel)
    assert (model.schema.names, model.schema.numeric, model.reference) == (("x0",), (0,), None)
    assert np.array_equal(
        model.predict_proba(rows), LogisticRegression().fit(rows, labels).predict_proba(rows)
    )
    named = as_model(LogisticRegression().fit(people[["age"]], labels))
    assert (named.schema.names, named.frames) == (("age",), True)
    assert np.array_equal(named.predict_proba(rows), model.predict_proba(rows))


def test_missing_numbers_are_allowed_where_the_estimator_or_the_reference_allows_them(people):
    hours, labels = people[["hours"]].to_numpy(), people.rich
    tolerant = as_model(HistGradientBoostingClassifier(max_iter=3).fit(hours, labels))
    assert tolerant.predict_proba([[np.nan]]).shape == (1, 2)
    ages = people[["age"]].to_numpy(float)
    strict = as_model(LogisticRegression().fit(ages, labels))
    with pytest.raises(
        VeraxError, match="Row 1 has a missing value in column 'x0', where none was seen before;"
    ):
        strict.predict_proba(np.array([[1.0], [np.nan]]))


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (np.ones((2, 3)), r"The rows have shape \(2, 3\) but the table has 4 columns"),
        (np.ones(4), r"The rows have shape \(4,\)"),
        (np.array([[30, 9, 0, 1.0]]), "Row 0 has 9 in the categorical column 'job'"),
        (np.array([[np.inf, 0, 0, 1.0]]), "Row 0 has an infinite value in column 'age'"),
        ([[30, "pilot", True, 1.0]], "Row 0 has the unseen category 'pilot' in column 'job'"),
        ([[30, " cook", True]], "Row 0 of the table has 3 values but there are 4 columns"),
    ],
)
def test_rows_that_do_not_fit_the_table_are_told(people, pipeline, rows, sentence):
    model = as_model(pipeline, reference=people)
    with pytest.raises(VeraxError, match=sentence):
        model.predict_proba(rows)


def test_what_the_estimator_raises_is_told(pipeline):
    # Without a reference the job cannot be known to be a category, so the encoder meets numbers.
    blind = as_model(pipeline)
    with pytest.raises(
        VeraxError, match=r"The model raised \w+Error \(.* on a batch of 2 inputs, the first of them"
    ):
        blind.predict_proba(np.ones((2, 4)))


def test_no_rows_give_no_rows(people, pipeline):
    model = as_model(pipeline, reference=people)
    assert model.predict_proba([]).shape == (0, 2)
    assert model.predict_proba(np.empty((0, 4))).shape == (0, 2)


def test_it_survives_pickling(people, pipeline):
    model = as_model(pipeline, reference=people)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(model.reference), model.predict_proba(model.reference))


def test_a_model_on_encoded_rows_keeps_them_encoded():
    schema = Schema((Column("job", ("clerk", "cook")), Column("hours")))
    rows = np.array([[0, 1.0], [1, 2.0], [0, 3.0], [1, 4.0]])
    fitted = LogisticRegression().fit(rows, [0, 1, 0, 1])
    model = as_model(
        fitted, schema=schema, reference=[["clerk", 1.0], ["cook", 2.0]], class_names=["no", "yes"]
    )
    assert not model.frames
    assert model.reference.tolist() == [[0, 1.0], [1, 2.0]]
    assert np.array_equal(model.predict_proba([["cook", 2.0]]), fitted.predict_proba([[1, 2.0]]))


def test_arrays_of_numbers_are_taken_as_encoded_and_lists_as_raw():
    schema = Schema((Column("month", ("3", "12")),))
    assert encode_rows(np.array([[1]]), schema).tolist() == [[1.0]]
    assert encode_rows([np.array([1.0])], schema).tolist() == [[1.0]]
    assert encode_rows([[12]], schema).tolist() == [[1.0]]
    assert encode_rows([], schema).shape == (0, 1)
