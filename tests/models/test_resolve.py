import pickle
import sys
from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from verax.errors import VeraxError
from verax.models import TableModel, TextPipeline, fit_model, resolve_model
from verax.models.resolve import model_files

MODULE = """
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from verax.models import (as_model)

def load(dataset):
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(dataset.train.inputs, dataset.train.labels)

def load_fixed():
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(["bad film", "good film"], [0, 1])

def load_option(path="nowhere"):
    assert path == "nowhere"
    return load_fixed()

def load_seeded(dataset, seed):
    tree = DecisionTreeClassifier(random_state=seed)
    return make_pipeline(CountVectorizer(), tree).fit(dataset.train.inputs, dataset.train.labels)

def load_function(dataset):
    return lambda texts: [[0.25, 0.75]] * len(texts)

def load_table(dataset):
    return DecisionTreeClassifier().fit(dataset.train.inputs[:, 1:], dataset.train.labels)

def load_frame(dataset):
    frame = dataset.schema.decode(dataset.train.inputs)[["job", "hours"]]
    frame["job"] = (frame["job"] == "cook").astype(float)
    return lambda rows: [[0.5, 0.25, 0.25]] * len(rows)

def load_other_columns(dataset):
    return as_model(lambda rows: rows, reference=[[1.0, 2.0]])

def load_other_order(dataset):
    names = [["pos", "neg"][label] for label in dataset.train.labels]
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(dataset.train.inputs, names)

def load_broken(dataset):
    return 1 / 0

def load_nothing(dataset):
    return None

fixed = load_fixed()
"""


@pytest.fixture(autouse=True)
def own_module(tmp_path, monkeypatch):
    (tmp_path / "models_for_this_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("models_for_this_test", None)


def own(name):
    return f"models_for_this_test:{name}"


def test_a_ready_made_model_is_fitted(text_data):
    resolved = resolve_model("tree", text_data, seed=3)
    assert resolved.classifier.random_state == 3
    expected = fit_model("tree", text_data, seed=3).predict_proba(text_data.test.inputs)
    assert np.array_equal(resolved.predict_proba(text_data.test.inputs), expected)


@pytest.mark.parametrize("name", ["load", "load_fixed", "load_option", "load_seeded", "fixed"])
def test_ones_own_loader_or_fitted_model_is_found_and_named_like_the_dataset(name, text_data):
    model = resolve_model(own(name), text_data, seed=4)
    assert isinstance(model, TextPipeline)
    assert model.class_names == text_data.class_names
    assert model.predict_proba(["good film", "bad film"]).argmax(axis=1).tolist() == [1, 0]
    if name == "load_seeded":
        assert model.classifier.random_state == 4


def test_a_loader_may_return_a_function(text_data, mixed_data):
    model = resolve_model(own("load_function"), text_data)
    assert (model.kind, model.class_names) == ("text", ("negative", "positive"))
    assert model.predict_proba(["x"]).tolist() == [[0.25, 0.75]]
    table = resolve_model(own("load_frame"), mixed_data)
    assert (table.kind, table.schema) == ("table", mixed_data.schema)
    assert table.predict_proba(mixed_data.test.inputs[:1]).tolist() == [[0.5, 0.25, 0.25]]


def test_options_may_stand_in_a_models_name(text_data):
    resolved = resolve_model("mlp(epochs=1)", text_data, seed=3)
    assert resolved.classifier.max_epochs == 1
    expected = fit_model("mlp", text_data, seed=3, options={"epochs": 1})
    assert np.array_equal(
        resolved.predict_proba(text_data.test.inputs), expected.predict_proba(text_data.test.inputs)
    )
    # What stands beside the name counts before what stands in it.
    assert resolve_model("mlp(epochs=1)", text_data, options={"epochs": 2}).classifier.max_epochs == 2


def test_a_table_model_with_options_reads_scaled_numbers(mixed_data):
    with_options = fit_model("mlp(epochs=3)", mixed_data).predict_proba(mixed_data.test.inputs)
    without = fit_model("mlp", mixed_data, options={"epochs": 3}).predict_proba(mixed_data.test.inputs)
    assert np.array_equal(with_options, without)


def test_the_files_that_a_model_depends_on_are_known(tmp_path):
    (tmp_path / "glove.txt").write_text("film 1 2")
    saved = tmp_path / "my (old) cnn"
    saved.mkdir()
    (saved / "model.json").write_text("{}")
    assert model_files(f"cnn(vectors={tmp_path}/glove.txt, epochs=2)") == [f"{tmp_path}/glove.txt"]
    assert model_files(str(saved)) == [str(saved / "model.json")]
    assert model_files("forest") == []


@pytest.mark.parametrize("suffix", [".joblib", ".pkl"])
def test_a_saved_model_is_loaded(suffix, tmp_path, text_data):
    fitted = make_pipeline(CountVectorizer(), LogisticRegression()).fit(
        text_data.train.inputs, text_data.train.labels
    )
    path = tmp_path / f"model{suffix}"
    joblib.dump(fitted, path) if suffix == ".joblib" else path.write_bytes(pickle.dumps(fitted))
    model = resolve_model(str(path), text_data)
    assert np.array_equal(model.predict_proba(["good"]), fitted.predict_proba(["good"]))


def test_a_saved_table_model_gets_the_datasets_columns(tmp_path, mixed_data):
    fitted = fit_model("tree", mixed_data).estimator
    joblib.dump(fitted, tmp_path / "tree.joblib")
    model = resolve_model(str(tmp_path / "tree.joblib"), mixed_data)
    assert isinstance(model, TableModel)
    assert model.schema == mixed_data.schema
    assert np.array_equal(
        model.predict_proba(mixed_data.test.inputs), fitted.predict_proba(mixed_data.test.inputs)
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("forrest", "did you mean 'forest'"),
        ("mlp(epoch=1)", "The model 'mlp' has no option 'epoch'; it has epochs=200."),
        (
            "mlp(epochs=1.5)",
            "The option 'epochs' of the model 'mlp' is a whole number, not 1.5; it has epochs=200.",
        ),
        ("mlp(epochs=True)", "is a whole number, not True"),
        ("tree(depth=3)", "The model 'tree' has no option 'depth'; it has none."),
        ("mlp(3)", "The option '3' of 'mlp' cannot be read; write name=value"),
        ("mlp(epochs=3", "The model 'mlp.epochs=3' cannot be read; write it like this: cnn.epochs=2."),
        (own("load") + "(depth=3)", "has no option 'depth'; only ready-made ones have any"),
        ("no_such_module_here:load", "cannot be imported"),
        (own("lode"), "has no 'lode'"),
        ("nowhere/model.joblib", "There is no saved model 'nowhere/model.joblib'; check the path"),
        (
            own("load_broken"),
            r"Calling 'models_for_this_test:load_broken' for a model raised ZeroDivisionError",
        ),
        (own("load_nothing"), "A value of the type NoneType is no model"),
        (own("load_other_columns"), "is of the kind 'table' but the dataset 'reviews' of the kind 'text'"),
    ],
)
def test_names_that_lead_nowhere_are_told(name, sentence, text_data):
    with pytest.raises(VeraxError, match=sentence):
        resolve_model(name, text_data)


def test_models_of_another_table_or_another_order_of_classes_are_told(text_data, mixed_data):
    with pytest.raises(
        VeraxError, match=r"columns or categories of the model .* are not those of the dataset 'jobs'"
    ):
        resolve_model(own("load_other_columns"), mixed_data)
    with pytest.raises(VeraxError, match="was fitted on 2 columns but the table has 3"):
        resolve_model(own("load_table"), mixed_data)
    with pytest.raises(
        VeraxError, match=r"in the order neg, pos, those of 'reviews' pos, neg; fit the model on"
    ):
        resolve_model(own("load_other_order"), replace(text_data, class_names=("pos", "neg")))
