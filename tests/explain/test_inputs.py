"""Inputs in whatever holds them are explained in their own order, by every explainer, for every sort of model."""

from __future__ import annotations

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import verax
from verax.data import Dataset, Part
from verax.errors import VeraxError
from verax.explain import explainers
from verax.models import fit_model

TEXTS = [
    "a good film with a fine plot",
    "the bad, dull plot of a film",
    "good and bad scenes in one story",
    "a dull film",
    "fine actors, good story",
]
TARGETS = [0, 1, 1, 0, 1]
# No text stands where its number says: what follows the index instead of the place is wrong.
SHUFFLED = [3, 0, 4, 1, 2]
FRAME = pd.DataFrame(
    {
        "age": [23.0, 61.0, 35.0],
        "job": ["cook", "judge", "clerk"],
        "hours": [20.0, 45.0, 60.0],
    }
)
ROWS_SHUFFLED = [2, 0, 1]
COLUMNS = FRAME.to_dict("list")

TEXT_CONTAINERS = {
    "tuple": tuple(TEXTS),
    "array": np.array(TEXTS),
    "array of objects": np.array(TEXTS, dtype=object),
    "dict's values": dict(enumerate(TEXTS)).values(),
    "series, shuffled index": pd.Series(TEXTS, index=SHUFFLED),
    "series from 10": pd.Series(TEXTS, index=range(10, 15)),
    "series of objects": pd.Series(TEXTS, index=SHUFFLED, dtype=object),
    "categories": pd.Series(pd.Categorical(TEXTS), index=SHUFFLED),
    "frame of one column": pd.DataFrame({"review": TEXTS}, index=SHUFFLED),
    "frame with a text column": pd.DataFrame({"id": range(5), "text": TEXTS}, index=SHUFFLED),
    "polars series": pl.Series(TEXTS),
    "polars frame": pl.DataFrame({"text": TEXTS, "label": TARGETS}),
    "polars, put off": pl.LazyFrame({"text": TEXTS}),
    "arrow array": pa.array(TEXTS),
    "arrow chunks": pa.chunked_array([TEXTS[:2], TEXTS[2:]]),
    "arrow table": pa.table({"label": TARGETS, "text": TEXTS}),
    "hugging face column": datasets.Dataset.from_dict({"text": TEXTS})["text"],
    "hugging face dataset": datasets.Dataset.from_dict({"label": TARGETS, "text": TEXTS}),
}
ROW_CONTAINERS = {
    "frame": FRAME,
    "frame, shuffled index": FRAME.set_axis(ROWS_SHUFFLED),
    "frame, other columns and order": FRAME[["hours", "job", "age"]].assign(name="x").set_axis(ROWS_SHUFFLED),
    "list of lists": FRAME.to_numpy(dtype=object).tolist(),
    "tuple of tuples": tuple(FRAME.itertuples(index=False, name=None)),
    "array of objects": FRAME.to_numpy(dtype=object),
    "list of dicts": FRAME.to_dict("records"),
    "polars frame": pl.DataFrame(COLUMNS),
    "polars, put off": pl.LazyFrame(COLUMNS),
    "arrow table": pa.table(COLUMNS),
    "arrow batch": pa.RecordBatch.from_pydict(COLUMNS),
    "hugging face dataset": datasets.Dataset.from_dict(COLUMNS | {"label": TARGETS[:3]}),
}
TARGET_CONTAINERS = {
    "array": np.array(TARGETS),
    "series, shuffled index": pd.Series(TARGETS, index=SHUFFLED),
    "polars series": pl.Series(TARGETS),
    "arrow array": pa.array(TARGETS),
}
PARAMETERS = {
    "lime": {"samples": 60},
    "shap": {"samples": 60},
    # Little of what takes long: they begin in the same place however much they do.
    "anchor": {"samples": 1_000},
    "composite": {"samples": 100},
    "decision-boundary": {"samples": 100},
    "invase": {"iterations": 10},
    "l2x": {"epochs": 1},
}


def _texts():
    rng = np.random.default_rng(0)
    words = " ".join(TEXTS).replace(",", "").split()
    inputs = [" ".join(rng.choice(words, 6)) for _ in range(60)]
    return inputs, np.array([int("good" in text or "fine" in text) for text in inputs])


def _text_data():
    inputs, labels = _texts()
    parts = [Part(inputs[a:b], labels[a:b]) for a, b in ((0, 40), (40, 50), (50, 60))]
    return Dataset("reviews", "text", ("no", "yes"), *parts)


def _rows():
    rng = np.random.default_rng(1)
    jobs = np.resize(["clerk", "cook", "judge"], 18)
    frame = pd.DataFrame({"age": rng.uniform(18, 70, 18), "job": jobs, "hours": rng.uniform(0, 60, 18)})
    return frame, ((frame["hours"] > 30) ^ (frame["job"] == "cook")).to_numpy(dtype=int)


def _table_data():
    frame, labels = _rows()
    return verax.load_dataset(frame.assign(label=labels), label="label")


class OwnModel(verax.Model):
    """Somebody's own class: it reads texts by their places."""

    kind = "text"
    class_names = ("no", "yes")

    def predict_proba(self, inputs):
        yes = np.array([0.9 if "good" in inputs[place] else 0.2 for place in range(len(inputs))])
        return np.stack([1 - yes, yes], axis=1)


def _good(texts):
    yes = np.array([0.5 + 0.3 * text.count("good") / len(text.split() or [1]) for text in texts])
    return np.stack([1 - yes, yes], axis=1)


@pytest.fixture(scope="module")
def models():
    texts, labels = _texts()
    frame, classes = _rows()
    columns = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    counts = CountVectorizer(vocabulary=["good", "bad", "film", "plot"])
    torch.manual_seed(0)
    table = _table_data()
    hours = verax.as_model(
        lambda rows: np.stack([1 - rows.iloc[:, 2] / 100, rows.iloc[:, 2] / 100], axis=1), reference=frame
    )
    return {
        "pipeline": verax.as_model(make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels)),
        "callable": verax.as_model(_good),
        "own class": OwnModel(),
        "own module": verax.as_model(
            torch.nn.Linear(4, 2),
            encoder=lambda given: torch.from_numpy(counts.transform(given).toarray()).float(),
            class_names=("no", "yes"),
        ),
        "cnn": fit_model("cnn", _text_data(), options={"epochs": 1}),
        "frames": verax.as_model(
            make_pipeline(columns, RandomForestClassifier(2, random_state=0)).fit(frame, classes),
            reference=frame,
        ),
        "encoded": fit_model("logistic", table),
        "callable on rows": hours,
        "dense": fit_model("mlp-2x50", table, options={"epochs": 1}),
    }


TEXT_MODELS = ("pipeline", "callable", "own class", "own module", "cnn")
TABLE_MODELS = ("frames", "encoded", "callable on rows", "dense")
ANY_MODEL = {"lime", "shap", "greedy", "greedy-path", "random"}


def _plain(explanations):
    return [_without_costs(explanation.to_dict()) for explanation in explanations]


def _without_costs(plain):
    if isinstance(plain, list):
        return [_without_costs(part) for part in plain]
    if isinstance(plain, dict):
        return {name: _without_costs(part) for name, part in plain.items() if name != "cost"}
    return plain


def _some(containers, name):
    """All of them for the methods of any model; the others begin in the same place, and some of them are slow."""
    return [
        (container, held)
        for container, held in containers.items()
        if name in ANY_MODEL
        or container in ("series, shuffled index", "frame, shuffled index", "polars frame")
    ]


def _explained(name, model, plain):
    """The explainer, and what it says to a plain list; None where it does not work on this model."""
    try:
        explainer = verax.explainer(name, **PARAMETERS.get(name, {}))
        return explainer, _plain(explainer.explain(model, plain))
    except VeraxError:
        assert name not in ANY_MODEL
        return None


@pytest.mark.parametrize("name", explainers.names())
@pytest.mark.parametrize("which", TEXT_MODELS)
def test_texts_in_any_container_are_explained_in_their_order(models, which, name):
    model = models[which]
    known = _explained(name, model, TEXTS)
    if known is None:
        return
    explainer, expected = known
    for container, texts in _some(TEXT_CONTAINERS, name):
        given = dict(enumerate(TEXTS)).values() if container == "dict's values" else texts
        assert _plain(explainer.explain(model, given)) == expected, container


@pytest.mark.parametrize("name", explainers.names())
@pytest.mark.parametrize("which", TABLE_MODELS)
def test_rows_in_any_container_are_explained_in_their_order(models, which, name):
    model = models[which]
    known = _explained(name, model, model.schema.encode(FRAME))
    if known is None:
        return
    explainer, expected = known
    for container, rows in _some(ROW_CONTAINERS, name):
        assert _plain(explainer.explain(model, rows)) == expected, container


@pytest.mark.parametrize("which", TEXT_MODELS)
def test_texts_in_any_container_are_predicted_in_their_order(models, which):
    expected = models[which].predict_proba(TEXTS)
    for container, texts in TEXT_CONTAINERS.items():
        assert np.array_equal(models[which].predict_proba(texts), expected), container


@pytest.mark.parametrize("which", TABLE_MODELS)
def test_rows_in_any_container_are_predicted_in_their_order(models, which):
    model = models[which]
    expected = model.predict_proba(model.schema.encode(FRAME))
    for container, rows in ROW_CONTAINERS.items():
        assert np.array_equal(model.predict_proba(rows), expected), container


@pytest.mark.parametrize("name", sorted(ANY_MODEL))
def test_targets_in_any_container_keep_to_their_inputs(models, name):
    explainer = verax.explainer(name, **PARAMETERS.get(name, {}))
    expected = _plain(explainer.explain(models["pipeline"], TEXTS, TARGETS))
    assert [e["target"] for e in expected] == TARGETS
    for container, targets in TARGET_CONTAINERS.items():
        given = explainer.explain(models["pipeline"], pd.Series(TEXTS, index=SHUFFLED), targets)
        assert _plain(given) == expected, container


def test_references_in_any_container_are_the_same_background(models):
    frame, classes = _rows()
    fitted = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough"),
        RandomForestClassifier(2, random_state=0),
    ).fit(frame, classes)
    expected = verax.as_model(fitted, reference=frame).reference
    columns = frame.to_dict("list")
    for reference in (pl.DataFrame(columns), pa.table(columns), datasets.Dataset.from_dict(columns)):
        assert np.array_equal(verax.as_model(fitted, reference=reference).reference, expected)


def test_a_table_without_a_column_of_texts_is_refused_in_a_sentence(models):
    with pytest.raises(VeraxError, match=r"reads texts and was given a table with the columns title, body"):
        verax.explainer("greedy").explain(models["pipeline"], pd.DataFrame({"title": TEXTS, "body": TEXTS}))


def test_a_dict_is_refused_in_a_sentence(models):
    with pytest.raises(VeraxError, match="a dict with the keys text, label; give one of its values"):
        models["pipeline"].predict_proba({"text": TEXTS, "label": TARGETS})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (np.array("a good film"), r"one text instead of a list of texts"),
        (np.array(3.0), "The inputs are a float"),
    ],
)
def test_an_array_of_no_dimensions_is_refused_as_what_it_holds(models, given, sentence):
    with pytest.raises(VeraxError, match=sentence):
        models["pipeline"].predict_proba(given)
    with pytest.raises(VeraxError, match=sentence):
        verax.explainer("greedy").explain(models["pipeline"], given)


@pytest.mark.parametrize("name", sorted(ANY_MODEL))
def test_a_function_that_was_never_asked_takes_targets(models, name):
    """How many classes it has is known from its first answer on, and nobody has asked yet."""
    explainer = verax.explainer(name, **PARAMETERS.get(name, {}))
    never_asked = verax.as_model(models["pipeline"].predict_proba, kind="text")
    assert [e.target for e in explainer.explain(never_asked, TEXTS, TARGETS)] == TARGETS
    never_asked = verax.as_model(models["pipeline"].predict_proba, kind="text")
    with pytest.raises(
        VeraxError,
        match=r"The target 7 of input 1 \(counted from 0\) does not exist; the classes are 0 \(class 0\)",
    ):
        explainer.explain(never_asked, TEXTS[:2], [1, 7])
