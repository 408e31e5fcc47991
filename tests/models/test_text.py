import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from verax.errors import VeraxError
from verax.models import TextPipeline, as_model

STEPS = {
    "counts": (CountVectorizer(), LogisticRegression()),
    "counts, tf-idf": (CountVectorizer(), TfidfTransformer(), LogisticRegression()),
    "tf-idf": (TfidfVectorizer(), DecisionTreeClassifier(random_state=0)),
    "hashing": (HashingVectorizer(n_features=64), LogisticRegression()),
    "counts, tf-idf, selection": (
        CountVectorizer(),
        TfidfTransformer(),
        SelectKBest(chi2, k=3),
        LogisticRegression(),
    ),
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_probabilities_are_the_pipelines_from_texts_and_from_rows(steps, texts):
    inputs, labels = texts
    pipeline = make_pipeline(*steps).fit(inputs, labels)
    model = as_model(pipeline)
    assert isinstance(model, TextPipeline)
    assert len(model.transforms) == len(steps) - 2
    unseen = ["a good film", "", "BAD bad scene!", "nothing known here"]
    expected = pipeline.predict_proba(unseen)
    assert np.array_equal(model.predict_proba(unseen), expected)
    assert np.array_equal(model.predict_rows(model.vectorizer.transform(unseen)), expected)


def test_it_survives_pickling(texts):
    model = as_model(
        make_pipeline(CountVectorizer(), LogisticRegression()).fit(*texts), class_names=["no", "yes"]
    )
    again = pickle.loads(pickle.dumps(model))
    assert again.class_names == ("no", "yes")
    assert np.array_equal(again.predict_proba(texts[0]), model.predict_proba(texts[0]))


def test_no_texts_give_no_rows(texts):
    model = as_model(make_pipeline(CountVectorizer(), LogisticRegression()).fit(*texts))
    assert model.predict_proba([]).shape == (0, 2)
    assert model.predict_rows(model.vectorizer.transform(["good"])[:0]).shape == (0, 2)


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ("one text", r"given one text instead of a list of texts; put it in a list: \[text\]"),
        (["fine", None], "Input 1 is None"),
        (["fine", "good", 3.5], r"Input 2 is 3.5 \(a float\), not a text"),
    ],
)
def test_what_is_not_a_list_of_texts_is_told(texts, inputs, sentence):
    model = as_model(make_pipeline(CountVectorizer(), LogisticRegression()).fit(*texts))
    with pytest.raises(VeraxError, match=sentence):
        model.predict_proba(inputs)


def test_rows_of_the_wrong_width_are_told_with_the_librarys_reason(texts):
    model = as_model(make_pipeline(CountVectorizer(), LogisticRegression()).fit(*texts))
    with pytest.raises(VeraxError, match=r"The model raised ValueError .*features.* on a batch of 2 inputs"):
        model.predict_rows(np.ones((2, 3)))
