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

from verax.data import load_dataset
from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.explain import explainer
from verax.models import TableModel, as_model, own_model
from verax.models.wrappers import encode_rows


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


def test_two_kinds_of_missing_are_two_categories_for_an_encoder_that_tells_them_apart():
    jobs = pd.Series(["cook", None, np.nan, "clerk"] * 10, dtype=object)
    frame = pd.DataFrame({"job": jobs})
    pipeline = make_pipeline(OneHotEncoder(), LogisticRegression())
    pipeline.fit(frame, [0, 1, 0, 1] * 10)
    model = as_model(pipeline, reference=frame)
    assert model.schema.columns[0].categories == ("clerk", "cook", "missing (NaN)", "missing (None)")
    assert model.schema.describe(0, 3) == "job is missing (None)"
    assert np.array_equal(model.predict_proba(frame), pipeline.predict_proba(frame))
    assert model.predict_proba(frame[1:3]).argmax(axis=1).tolist() == [1, 0]


def test_a_kind_of_missing_value_that_was_never_seen_is_told():
    frame = pd.DataFrame({"job": pd.Series(["cook", None] * 10, dtype=object)})
    model = as_model(
        make_pipeline(OneHotEncoder(), LogisticRegression()).fit(frame, [0, 1] * 10), reference=frame
    )
    with pytest.raises(VeraxError, match=r"Row 0 has NaN, another kind of missing .* 'job'; .* reference="):
        model.predict_proba(pd.DataFrame({"job": pd.Series([np.nan], dtype=object)}))
    assert model.predict_proba([[None]]).argmax() == 1
    with pytest.raises(VeraxError, match=r"Row 0 has the unseen category 'pilot' .* reference="):
        model.predict_proba(pd.DataFrame({"job": pd.Series(["pilot"], dtype=object)}))


def test_missing_categories_are_called_missing():
    frame = pd.DataFrame({"job": pd.Series(["cook", None, "?"], dtype="str")})
    schema = Schema.learn(frame)
    assert schema.columns[0].categories == ("?", "cook", "missing")
    assert schema.described(schema.encode(frame)[1]) == ("job is missing",)
    assert schema.described(schema.encode(frame)[2]) == ("job = ?",)
    bare = Schema.learn([["cook"], [None], ["?"]], names=["job"])
    assert bare == schema
    assert bare.decode(bare.encode([[None]]))["job"].isna().all()


class ReadsFrames:
    """Of another library: it was fitted on frames, and does not say so."""

    classes_ = ("no", "yes")

    def predict_proba(self, frame):
        yes = np.where(frame["job"].isna(), 0.75, 0.25)
        return np.column_stack([1 - yes, yes])


def test_an_estimator_that_does_not_name_its_columns_is_asked_with_frames_if_it_answers_to_them():
    frame = pd.DataFrame({"job": pd.Series(["cook", None, "clerk"], dtype=object)})
    assert as_model(ReadsFrames(), reference=frame).predict_proba(frame)[:, 1].tolist() == [0.25, 0.75, 0.25]


def test_whole_numbers_stay_whole_where_lime_draws_numbers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 80), "hours": rng.uniform(0, 80, 80)})
    asked = []

    def remember(rows):
        asked.append(rows)
        yes = (rows["age"] % 2).to_numpy(dtype=float)
        return np.column_stack([1 - yes, yes])

    explainer("lime", samples=300).explain(
        as_model(remember, reference=frame, class_names=("a", "b")), frame[:1]
    )
    drawn = pd.concat(asked)
    assert drawn.dtypes.equals(frame.dtypes)
    assert set(drawn["age"]) <= set(frame["age"])
    assert not set(drawn["hours"]) <= set(frame["hours"])


def test_numbers_too_large_to_be_exact_are_told():
    frame = pd.DataFrame({"id": [2**53 + 1, 5], "x": [1.0, 2.0]})
    model = as_model(LogisticRegression().fit(frame / 1e17, [0, 1]), reference=frame)
    assert model.schema.decode(model.reference)["id"].tolist() == [2**53 + 1, 5]
    with pytest.raises(VeraxError, match="Row 1 has 9007199254740995 in column 'id', with too many digits"):
        model.predict_proba(frame.assign(id=[5, 2**53 + 3]))


def test_numbers_written_in_two_ways_are_refused_for_a_model_of_frames(tmp_path):
    (tmp_path / "a.csv").write_text("x,z,label\n1,5,a\n?,6,b\nunknown,7,a\n".replace("unknown", "none"))
    own = pd.read_csv(tmp_path / "a.csv")
    data = load_dataset(tmp_path / "a.csv", split=(1, 0, 0))
    assert data.schema.columns[0].is_numeric
    pipeline = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(own[["x", "z"]], own.label)
    with pytest.raises(VeraxError, match="The column 'x' writes one value in several ways"):
        as_model(pipeline, schema=data.schema, reference=data.train.inputs)


def test_a_saved_model_of_native_categories_is_asked_with_these(tmp_path):
    """LightGBM knows categories by their type and order, and writes spaces in names as underscores."""
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    jobs = pd.Categorical(
        rng.choice(["cook", "clerk"], 80), categories=["judge", "cook", "clerk"], ordered=True
    )
    frame = pd.DataFrame({"past job": jobs, "age": rng.integers(20, 60, 80), "note": "x"})
    frame["rich"] = np.where((jobs == "cook") ^ (rng.random(80) < 0.1), "yes", "no")
    frame.to_parquet(tmp_path / "people.parquet")
    read = pd.read_parquet(tmp_path / "people.parquet")
    fitted = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1).fit(
        read[["age", "past job"]], read.rich
    )
    data = load_dataset(tmp_path / "people.parquet", label="rich", split=(1, 0, 0))
    model = own_model("lightgbm", fitted, data)
    back = data.schema.decode(data.train.inputs)
    assert back["past job"].dtype == read["past job"].dtype
    own = fitted.predict_proba(back[["age", "past job"]])
    assert np.allclose(model.predict_proba(data.train.inputs), own)
    assert np.ptp(own[:, 1]) > 0.3


def test_a_declared_schema_remembers_the_types_of_the_frame_it_is_given_with():
    frame = pd.DataFrame({"grade": [1, 2, 1, 2], "hours": [3, 5, 4, 1]})
    schema = Schema((Column("hours"), Column("grade", ("1", "2", "3"))))
    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()).fit(
        frame, [0, 1, 0, 1]
    )
    model = as_model(pipeline, reference=frame, schema=schema)
    assert model.schema == schema
    assert np.array_equal(model.predict_proba(frame), pipeline.predict_proba(frame))
    unseen = model.as_read(np.array([[3.0, 2.0]]))
    pd.testing.assert_frame_equal(unseen, pd.DataFrame({"grade": [3], "hours": [3]}))
