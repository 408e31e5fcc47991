"""Rows built in the model's columns give what the model says to the rebuilt strings."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import xgboost
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import verax
from helpers import fitted, make_texts
from verax.models.forest import SparseForest
from verax.models.mlp import MlpClassifier
from verax.perturb import path_for
from verax.perturb.masks import Masks
from verax.perturb.paths import bag_of_words, bags, tree_walks
from verax.perturb.paths.strings import StringPath

CLASSIFIERS = {
    "logistic": lambda: LogisticRegression(max_iter=1000),
    "tree": lambda: DecisionTreeClassifier(random_state=0),
    "forest": lambda: RandomForestClassifier(8, random_state=0),
    "extra": lambda: ExtraTreesClassifier(5, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=8, random_state=0),
    "xgboost": lambda: xgboost.XGBClassifier(n_estimators=8, n_jobs=1),
    "mlp": lambda: MLPClassifier(10, activation="tanh", max_iter=5, random_state=0, solver="lbfgs"),
    "own-mlp": lambda: MlpClassifier(random_state=0),
    "bayes": BernoulliNB,
}
VECTORIZERS = {
    "counts": CountVectorizer(),
    "presence": CountVectorizer(binary=True),
    "upper and lower": CountVectorizer(lowercase=False, token_pattern=r"(?u)\b\w+\b"),
    "stop words": CountVectorizer(stop_words="english"),
    "tfidf": TfidfVectorizer(),
    "tfidf l1, sublinear": TfidfVectorizer(norm="l1", sublinear_tf=True),
    "tfidf, no norm": TfidfVectorizer(norm=None, sublinear_tf=True),
    "hashing": HashingVectorizer(n_features=16, norm=None),
    "hashing, norm": HashingVectorizer(n_features=64),
    "unsigned hashing": HashingVectorizer(n_features=16, norm=None, alternate_sign=False),
    "bigrams": CountVectorizer(ngram_range=(1, 2)),
    "characters": CountVectorizer(analyzer="char_wb", ngram_range=(2, 3)),
}
# "The" and "the" feed one column; "zzz" and "a" feed none; some words are not of our alphabet.
ODD_TEXTS = ["The good THE bad the film", "", "zzz a", "Ünïcode good ΟΔΟΣ film 👍 naïve bad", "bad"]


def compare(model, texts, n_masks: int = 60, tolerance: float = 1e-12):
    """The largest difference between the model's path and strings, over random masks."""
    rng = np.random.default_rng(0)
    path, strings = path_for(model), StringPath(model)
    for text in texts:
        ready, letters = path.prepare([text])[0], strings.prepare([text])[0]
        assert ready.features == letters.features
        masks = Masks.from_rows(rng.random((n_masks, len(ready.features))) < rng.random((n_masks, 1)))
        quick = next(iter(path.evaluate([ready], [masks])))
        slow = next(iter(strings.evaluate([letters], [masks])))
        assert quick.probabilities.shape == (n_masks, len(model.class_names))
        assert np.abs(quick.probabilities - slow.probabilities).max() <= tolerance, text
        assert quick.rows <= n_masks


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # where training ends does not matter
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("vectorizer", VECTORIZERS)
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_masked_columns_equal_rebuilt_strings(classifier, vectorizer, classes, reviews):
    model = verax.as_model(fitted(CLASSIFIERS[classifier](), VECTORIZERS[vectorizer], classes=classes))
    single = classifier in ("xgboost", "mlp", "own-mlp")
    compare(model, reviews[0][:2] + ODD_TEXTS, tolerance=2e-6 if single else 1e-12)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("vectorizer", ["counts", "presence", "tfidf", "tfidf, no norm", "unsigned hashing"])
def test_our_own_forest_takes_the_fast_path_too(vectorizer, classes, reviews):
    model = verax.as_model(fitted(SparseForest(8, random_state=0), VECTORIZERS[vectorizer], classes=classes))
    assert path_for(model).name.endswith("rows" if vectorizer == "tfidf" else "trees")
    compare(model, reviews[0][:2] + ODD_TEXTS)


@pytest.mark.parametrize(
    ("classifier", "vectorizer", "route"),
    [
        ("logistic", "tfidf", "linear"),
        ("tree", "counts", "trees"),
        ("xgboost", "presence", "trees"),
        ("boosting", "counts", "trees"),
        ("own-mlp", "tfidf", "mlp"),
        ("bayes", "counts", "rows"),
        ("forest", "tfidf", "rows"),
        ("forest", "hashing", "rows"),
        ("logistic", "bigrams", "strings"),
    ],
)
def test_each_model_takes_its_route(classifier, vectorizer, route):
    model = verax.as_model(fitted(CLASSIFIERS[classifier](), VECTORIZERS[vectorizer]))
    assert path_for(model).name.split(", ")[-1] == route


def test_transforms_between_are_applied(reviews):
    texts, labels = make_texts(200)
    for vectorizer in (CountVectorizer(), CountVectorizer(binary=True)):
        pipeline = make_pipeline(vectorizer, TfidfTransformer(sublinear_tf=True), LogisticRegression())
        model = verax.as_model(pipeline.fit(texts, labels))
        assert path_for(model).name == "bag of words, linear"
        compare(model, reviews[0][:3] + ODD_TEXTS)


def test_xgboost_takes_absent_words_as_missing(reviews):
    # Trained on sparse rows, a removed word must follow the default branch and not the one of the value 0.
    model = verax.as_model(fitted(xgboost.XGBClassifier(n_estimators=30, n_jobs=1), count=600))
    path = path_for(model)
    assert path.head.ensemble.absent_is_missing
    compare(model, reviews[0][:5], tolerance=2e-6)


def test_numpy_walk_equals_compiled_walk(reviews, monkeypatch):
    for classifier in ("forest", "xgboost"):
        model = verax.as_model(fitted(CLASSIFIERS[classifier](), classes=3))
        path = path_for(model)
        bags = path.prepare(reviews[0][:3] + ODD_TEXTS)
        masks = [
            Masks.from_rows(np.random.default_rng(0).random((200, len(bag.features))) < 0.5) for bag in bags
        ]
        answers = {}
        for compiled in (True, False):
            monkeypatch.setattr(tree_walks, "HAS_NUMBA", compiled)
            answers[compiled] = [answer.probabilities for answer in path.evaluate(bags, masks)]
        for with_numba, without in zip(answers[True], answers[False], strict=True):
            assert np.allclose(with_numba, without, atol=1e-14)


def test_a_wrong_fast_path_is_not_used(monkeypatch, caplog, reviews):
    pipeline = fitted(DecisionTreeClassifier(random_state=0))
    original = bag_of_words.head_for

    def wrong(classifier, weighting, n_columns):
        head = original(classifier, weighting, n_columns)
        head.ensemble.trees.threshold[:] += 1.0  # counts of 1 now go the other way
        return head

    monkeypatch.setattr(bag_of_words, "head_for", wrong)
    with caplog.at_level(logging.INFO, logger="verax.perturb"):
        model = verax.as_model(pipeline)
        assert path_for(model).name == "bag of words, rows"
    assert "differs from predict_proba" in caplog.text
    compare(model, reviews[0][:2])


def test_fitting_again_changes_the_path(reviews):
    texts, labels = make_texts(200)
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels)
    model = verax.as_model(pipeline)
    before = path_for(model)
    assert path_for(model) is before
    pipeline.fit(texts, 1 - labels)
    assert path_for(model) is not before
    compare(model, reviews[0][:2])


def test_rows_are_merged_and_packed(reviews):
    calls = []

    class Counting(BernoulliNB):
        def predict_proba(self, rows):
            calls.append(rows.shape[0])
            return super().predict_proba(rows)

    model = verax.as_model(fitted(Counting()))
    texts = ["film good", "zzz yyy xxx", *reviews[0][:6]]
    path = path_for(model)
    ready = path.prepare(texts)
    masks = [
        Masks.from_rows(np.random.default_rng(0).random((500, len(bag.features))) < 0.5) for bag in ready
    ]
    calls.clear()
    answers = list(path.evaluate(ready, masks))
    assert len(calls) == 1
    assert answers[0].rows == 4
    assert answers[1].rows == 1  # none of its words is known: one row, however it is masked
    assert sum(answer.rows for answer in answers) == calls[0]


@pytest.mark.parametrize("vectorizer", ["counts", "tfidf", "hashing"])
def test_rows_built_in_strips_are_the_vectorisers_own(vectorizer, monkeypatch):
    monkeypatch.setattr(bags, "STRIP_ROWS", 7)
    made = VECTORIZERS[vectorizer]
    path = path_for(verax.as_model(fitted(BernoulliNB(), vectorizer=made)))
    rng = np.random.default_rng(0)
    # Each word stands once, so that a variant's string is its words. Some feed one column, some none.
    for bag in path.prepare(["The good THE bad film", "good bad film dull fine warm", "zzz a"]):
        present = rng.random((90, len(bag.features))) < 0.5  # more variants than there are distinct ones
        rows = bags.sparse_rows(bag, Masks.from_rows(present), path.lexicon.n_columns)
        strings = [" ".join(np.array(bag.features)[one]) for one in present]
        assert rows.n_rows == rows.rows.shape[0] < 90
        assert np.allclose(rows.rows.toarray()[rows.inverse], made.transform(strings).toarray())


def test_calls_stay_bounded(monkeypatch, reviews):
    from verax.perturb import masks as module

    calls = []

    class Counting(BernoulliNB):
        def predict_proba(self, rows):
            calls.append(rows.shape[0])
            return super().predict_proba(rows)

    model = verax.as_model(fitted(Counting()))
    path = path_for(model)
    ready = path.prepare(reviews[0][:9])
    masks = [
        Masks.from_rows(np.random.default_rng(0).random((300, len(bag.features))) < 0.5) for bag in ready
    ]
    at_once = [answer.probabilities for answer in path.evaluate(ready, masks)]
    monkeypatch.setattr(module, "MAX_ROWS", 700)
    calls.clear()
    bounded = [answer.probabilities for answer in path.evaluate(ready, masks)]
    assert max(calls) <= 700
    assert len(calls) > 1
    assert all(np.array_equal(one, other) for one, other in zip(at_once, bounded, strict=True))
