import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.models import CallableModel, TableModel, TextPipeline, as_model

ROWS = np.arange(12.0).reshape(6, 2)
LABELS = np.array([0, 0, 1, 1, 0, 1])


def test_a_model_is_returned_as_it_is(texts):
    model = as_model(make_pipeline(CountVectorizer(), LogisticRegression()).fit(*texts))
    assert as_model(model) is model


def test_classes_are_named_by_their_labels_or_as_told(texts):
    inputs, labels = texts
    names = np.array(["bad", "good"])[labels]
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(inputs, names)
    assert as_model(pipeline).class_names == ("bad", "good")
    assert as_model(pipeline, class_names=["-", "+"]).class_names == ("-", "+")
    with pytest.raises(VeraxError, match=r"does not fit a model with 2 classes \(bad, good\)"):
        as_model(pipeline, class_names=["-", "0", "+"])


def test_nested_pipelines_are_laid_flat_and_empty_steps_left_out(texts):
    inner = make_pipeline(CountVectorizer(), TfidfTransformer())
    outer = Pipeline([("words", inner), ("nothing", "passthrough"), ("classes", LogisticRegression())])
    model = as_model(outer.fit(*texts))
    assert [type(step) for step in (model.vectorizer, *model.transforms, model.classifier)] == [
        CountVectorizer,
        TfidfTransformer,
        LogisticRegression,
    ]
    assert np.array_equal(model.predict_proba(texts[0]), outer.predict_proba(texts[0]))


def test_a_grid_search_gives_its_best_pipeline(texts):
    pipeline = Pipeline([("words", CountVectorizer()), ("classes", LogisticRegression())])
    search = GridSearchCV(pipeline, {"classes__C": [0.1, 1.0]}, cv=2).fit(*texts)
    model = as_model(search)
    assert isinstance(model, TextPipeline)
    assert np.array_equal(model.predict_proba(texts[0]), search.predict_proba(texts[0]))


def test_any_other_text_estimator_is_called_with_texts_when_told_so(texts):
    union = FeatureUnion([("words", CountVectorizer()), ("pairs", CountVectorizer(ngram_range=(2, 2)))])
    pipeline = make_pipeline(union, LogisticRegression()).fit(*texts)
    model = as_model(pipeline, kind="text", class_names=["no", "yes"])
    assert isinstance(model, CallableModel)
    assert model.class_names == ("no", "yes")
    assert np.array_equal(model.predict_proba(texts[0]), pipeline.predict_proba(texts[0]))
    with pytest.raises(VeraxError, match="kind='text' if it reads texts"):
        as_model(pipeline)


def test_several_classes_on_a_table():
    rows = np.random.default_rng(0).normal(size=(60, 3))
    labels = rows.argmax(axis=1)
    fitted = make_pipeline(StandardScaler(), RandomForestClassifier(10, random_state=0)).fit(rows, labels)
    model = as_model(fitted, reference=rows)
    assert isinstance(model, TableModel)
    assert model.class_names == ("0", "1", "2")
    assert np.array_equal(model.reference, rows)
    assert np.array_equal(model.predict_proba(rows), fitted.predict_proba(rows))


def test_xgboost_is_a_table_model():
    xgboost = pytest.importorskip("xgboost")
    fitted = xgboost.XGBClassifier(n_estimators=3, n_jobs=1).fit(ROWS, LABELS)
    model = as_model(fitted, reference=ROWS)
    assert model.schema.names == ("x0", "x1")
    assert np.allclose(model.predict_proba(ROWS), fitted.predict_proba(ROWS), atol=1e-7)


class OtherLibrary:
    """Not of scikit-learn, but with what it takes."""

    classes_ = ("no", "yes")
    n_features_in_ = 1

    def predict_proba(self, rows):
        return np.column_stack([1 - rows[:, 0], rows[:, 0]])


def test_an_estimator_of_another_library_needs_only_predict_proba_and_classes():
    assert as_model(OtherLibrary()).predict_proba(np.array([[0.25]])).tolist() == [[0.75, 0.25]]


@pytest.mark.parametrize(
    ("thing", "sentence"),
    [
        (LogisticRegression(), r"LogisticRegression is not fitted yet; call its fit\(inputs, labels\) first"),
        (
            make_pipeline(CountVectorizer(), DecisionTreeClassifier()),
            "DecisionTreeClassifier is not fitted yet",
        ),
        (LogisticRegression, "LogisticRegression is a class, not a fitted model"),
        (LinearSVC().fit(ROWS, LABELS), r"LinearSVC has no predict_proba; .* CalibratedClassifierCV"),
        (SVC().fit(ROWS, LABELS), "SVC has no predict_proba"),
        (GaussianMixture().fit(ROWS), "GaussianMixture has no classes_"),
        (StandardScaler().fit(ROWS), "StandardScaler predicts neither classes nor numbers"),
        (
            RandomForestClassifier(2).fit(ROWS, np.column_stack([LABELS, LABELS])),
            "The model gives 2 labels at once",
        ),
        (3, "A value of the type int is no model; give a fitted classifier"),
        (None, "A value of the type NoneType is no model"),
    ],
)
def test_what_cannot_be_a_model_is_told(thing, sentence):
    with pytest.raises(VeraxError, match=sentence):
        as_model(thing)


def test_an_unfitted_xgboost_is_told():
    xgboost = pytest.importorskip("xgboost")
    with pytest.raises(VeraxError, match="XGBClassifier is not fitted yet"):
        as_model(xgboost.XGBClassifier())


def test_an_unknown_kind_is_told():
    with pytest.raises(VeraxError, match="There is no kind of model 'image'; kind is 'text' or 'table'"):
        as_model(len, kind="image")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"schema": Schema((Column("x"),))}, r"fitted on 2 columns but the table has 1 \(x\)"),
        ({"reference": np.ones((3, 5))}, "fitted on 2 columns but the table has 5"),
        (
            {"reference": [["cook", 1.0]]},
            "fitted without column names but column 'x0' of the reference holds categories",
        ),
    ],
)
def test_a_table_that_is_not_the_models_is_told(options, sentence):
    fitted = DecisionTreeClassifier().fit(ROWS, LABELS)
    with pytest.raises(VeraxError, match=sentence):
        as_model(fitted, **options)


def test_the_columns_of_a_frame_must_be_those_of_the_fit():
    frame = pd.DataFrame(ROWS, columns=["age", "hours"])
    fitted = DecisionTreeClassifier(random_state=0).fit(frame, LABELS)
    swapped = as_model(fitted, reference=frame[["hours", "age"]])
    assert swapped.schema.names == ("age", "hours")
    assert np.array_equal(swapped.predict_proba(frame), fitted.predict_proba(frame))
    with pytest.raises(
        VeraxError, match=r"fitted with a column 'hours' that the reference lacks \(it has age\)"
    ):
        as_model(fitted, reference=frame[["age"]])
    with pytest.raises(VeraxError, match="fitted with a column 'age' that the schema lacks"):
        as_model(fitted, schema=Schema((Column("hours"), Column("income"))))
    # A schema may have its columns in another order, and more of them: the model is asked with its own.
    wide = as_model(fitted, schema=Schema((Column("hours"), Column("other"), Column("age"))))
    rows = np.column_stack([ROWS[:, 1], np.zeros(len(ROWS)), ROWS[:, 0]])
    assert np.array_equal(wide.predict_proba(rows), fitted.predict_proba(frame))


def test_a_frame_whose_columns_are_numbered_is_a_reference_too():
    fitted = DecisionTreeClassifier(random_state=0).fit(ROWS, LABELS)
    model = as_model(fitted, reference=pd.DataFrame(ROWS))
    assert (model.schema.names, model.frames) == (("0", "1"), False)
    assert np.array_equal(model.predict_proba(pd.DataFrame(ROWS)), fitted.predict_proba(ROWS))


def test_a_calibrated_classifier_is_adapted():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    fitted = CalibratedClassifierCV(LinearSVC(), cv=2).fit(rows, rows[:, 0] > 0)
    model = as_model(fitted, class_names=["left", "right"])
    assert np.array_equal(model.predict_proba(rows), fitted.predict_proba(rows))


def test_a_pipeline_of_texts_beside_columns_reads_both_and_asks_for_training_rows():
    from sklearn.compose import make_column_transformer

    from verax.explain import Greedy

    frame = pd.DataFrame({"body": ["good film", "bad film"] * 4, "age": range(8)})
    columns = make_column_transformer((CountVectorizer(), "body"), remainder="passthrough")
    pipeline = make_pipeline(columns, LogisticRegression()).fit(frame, [1, 0] * 4)
    with pytest.raises(
        VeraxError, match="reads the columns age beside texts; give some of its training rows"
    ):
        as_model(pipeline)
    explanation = Greedy().explain(as_model(pipeline, reference=frame), frame[:1])[0]
    assert explanation.features == ("body: good", "body: film", "age")
    assert dict(explanation.top(3))["body: good"] > abs(dict(explanation.top(3))["body: film"])
