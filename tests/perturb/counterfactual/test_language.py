from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

import verax
from helpers import fitted, make_texts
from verax.data.words import split_words
from verax.perturb.counterfactual import Language, counterfactual_texts, train_vectors
from verax.perturb.counterfactual.language import (
    DISCOUNT,
    HALF_PROOF,
    likeliest,
    likelihoods,
    version_likelihoods,
)
from verax.perturb.counterfactual.text_versions import Options, Versions

TEXTS = ["the cat sat", "the dog sat", "the dog ran"]


def test_the_probability_of_a_pair_is_the_discounted_share_and_the_rest_by_frequency():
    language = Language.from_texts(TEXTS)
    # Nine words and six edges; five different words, and the edge.
    assert language.words["the"] == 3
    assert language.words[""] == 6
    total, distinct = 15, 6
    alone = (2 + 0.5) / (total + 0.5 * distinct + 0.5)  # "dog" occurs twice
    followers = 2  # cat and dog follow "the"
    expected = (2 - DISCOUNT) / 3 + DISCOUNT * followers / 3 * alone
    assert language._follows("the", "dog") == pytest.approx(expected)
    assert language._follows("sat", "the") == pytest.approx(DISCOUNT * 1 / 2 * (3.5 / 18.5))


def test_a_word_of_the_same_sort_reads_better_than_one_of_another():
    language = Language.from_texts(TEXTS * 20)
    words = split_words("the dog ran")
    same, other = (language.change(words, 1, word) for word in ("cat", "sat"))
    assert math.isfinite(same)
    assert other == -math.inf
    # "dog" was seen 40 times and "cat" 20; both follow "the", half of the dogs ran and no cat did.
    proofs = 40 / (40 + HALF_PROOF), 20 / (20 + HALF_PROOF)
    assert language.alike("dog", "dog") == pytest.approx(proofs[0])
    assert language.alike("dog", "cat") == pytest.approx(math.sqrt(0.5) * math.sqrt(proofs[0] * proofs[1]))
    assert language.alike("dog", "sat") == 0
    assert language.alike("dog", "unheard") == 0


def test_marks_are_neighbours_and_tell_sorts_apart():
    # Both words follow "a"; only the noun goes before a comma.
    language = Language.from_texts(["a cat , a dog , a good cat , a good dog ,"] * 20)
    assert language.pairs["cat", ","] == 40
    assert language.alike("cat", "dog") > 0.5 > language.alike("cat", "good")
    assert language.change(split_words("a cat , a dog"), 1, "good") == -math.inf


@pytest.mark.parametrize(
    ("text", "place", "after"),
    [
        ("the dog sat on the mat", 3, "in"),  # an adposition
        ("the dog-like cat sat", 1, "cat"),  # a part of a longer word
        ("the dog 's cat sat", 1, "cat"),
        ("some dog purred", 1, "cat"),  # never seen beside either neighbour
    ],
)
def test_what_is_no_option_at_all(text, place, after):
    language = Language.from_texts([*TEXTS, "the cat sat in the box", "the dog sat on the box"] * 20)
    assert language.alike("dog", "cat") > 0.5
    assert language.change(split_words(text), place, after) == -math.inf


def test_case_does_not_matter_and_unknown_words_are_no_options():
    language = Language.from_texts(TEXTS * 20)
    words = split_words("The dog ran")
    assert language.change(words, 1, "CAT") == language.change(split_words("the dog ran"), 1, "cat")
    found = likelihoods(language, words, [1, 1], ["cat", "zyx"])
    assert math.isfinite(found[0])
    assert found[1] == -math.inf


def test_a_version_is_as_likely_as_its_least_likely_word_and_further_ones_and_neighbours_cost():
    words = split_words("a b c d e")
    options = Options(words, np.array([0, 1, 3]), ("x", "y", "z"))
    # x alone; x and y side by side; x and z apart.
    versions = Versions(options, np.array([0, 1, 3, 5]), np.array([0, 0, 1, 0, 2]))
    assert version_likelihoods(versions, np.array([-1.0, -2.0, -0.5])).tolist() == [-1.0, -5.5, -1.5]


def test_only_the_likeliest_versions_are_drawn_from():
    assert likeliest(np.array([-3.0, -1.0, -2.0])).tolist() == [1, 2, 0]
    assert len(likeliest(np.arange(1000.0))) == 50


def test_with_a_language_changed_texts_are_likelier_and_depend_on_nothing_but_text_and_seed():
    texts, _ = make_texts(200, seed=5)
    model = verax.as_model(fitted(LogisticRegression(max_iter=1000), CountVectorizer()))
    vectors, language = train_vectors(texts, min_count=2), Language.from_texts(texts)
    some = list(texts[:12])
    flips = [place % 2 == 0 for place in range(len(some))]
    published = counterfactual_texts(model, some, flips, vectors, samples=500)
    fluent = counterfactual_texts(model, some, flips, vectors, samples=500, language=language)
    again = counterfactual_texts(model, some[3:4], flips[3:4], vectors, samples=500, language=language)
    assert again == fluent[3:4]
    assert all(one is None or one.likelihood is None for one in published)

    def worst(one):
        words = split_words(one.original)
        return min(language.change(words, change.place, change.after) for change in one.changes)

    pairs = [(a, b) for a, b in zip(published, fluent, strict=True) if a and b]
    assert len(pairs) >= 4
    assert np.mean([worst(b) for _, b in pairs]) > np.mean([worst(a) for a, _ in pairs])
    assert all(one.flipped == flip for one, flip in zip(fluent, flips, strict=True) if one)
