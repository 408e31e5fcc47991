"""The sentences and numbers that stand beside explanations."""

import numpy as np
import pytest

from verax.explain import Attribution, Fragment, Fragments
from verax.reporting.comparison import (
    Entry,
    Subject,
    agreement,
    decimals,
    how,
    in_table,
    scored,
    signed,
    verdict,
)


def entry(name, scores, control=False, details=None):
    words = ("good", "bad", "film")[: len(scores)]
    text = " ".join(words)
    return Entry(name, Attribution(words, np.array(scores), 1, input=text, details=details or {}), control)


def subject(*entries, probabilities=(0.3, 0.7), target=1, label=None):
    names = ("down", "up", "side")[: len(probabilities)]
    return Subject("text 1", "good bad film", names, probabilities, target, label, entries)


@pytest.mark.parametrize(
    ("target", "label", "sentence"),
    [
        (1, None, "The model says up (0.70)."),
        (1, 1, "The model says up (0.70), rightly."),
        (1, 0, "The model says up (0.70); in truth it is down."),
        (0, None, "The model says up (0.70); explained is down (0.30)."),
    ],
)
def test_verdict(target, label, sentence):
    assert verdict(subject(target=target, label=label)) == sentence


def test_agreement_groups_methods_by_their_first_feature_and_leaves_controls_out():
    found = agreement(
        subject(
            entry("lime", [1.0, 0.2, 0.0]),
            entry("greedy", [0.1, -0.5, 0.0]),
            entry("shap", [0.9, 0.0, 0.0]),
            entry("random", [0.0, 0.0, 1.0], control=True),
        )
    )
    assert found == "lime and shap name “good” first; greedy names “bad” first."


def test_agreement_when_nothing_matters_and_when_there_is_no_word():
    assert agreement(subject(entry("lime", [0.0, 0.0]))) == "No feature changes the model's answer."
    assert (
        agreement(subject(entry("lime", [])))
        == "There is no word in this text, so there is nothing to score."
    )
    assert agreement(subject(entry("random", [1.0], control=True))) == ""


def test_likeliest_keeps_the_explained_and_the_true_class():
    many = subject(probabilities=(0.1, 0.7, 0.2), target=0)
    assert many.likeliest(1) == [0, 1]
    assert many.predicted == 1


@pytest.mark.parametrize(
    ("largest", "digits"), [(0.5, 3), (25.0, 3), (0.01, 3), (0.005, 4), (2e-6, 7), (0.0, 3)]
)
def test_decimals_show_two_digits_of_the_largest_score(largest, digits):
    assert decimals(entry("lime", [largest, 0.0]).attribution) == digits


@pytest.mark.parametrize(
    ("score", "text"),
    [(0.25, "+0.250"), (-0.25, "-0.250"), (0.0, " 0.000"), (-0.0001, " 0.000"), (12.0, "+12.000")],
)
def test_signed(score, text):
    assert signed(score, 3) == text


def test_how_names_route_and_path():
    assert (
        how(entry("shap", [1.0], details={"route": "kernel", "path": "strings"}).attribution)
        == "kernel; strings"
    )
    assert how(entry("random", [1.0]).attribution) == ""


def test_n_grams_have_no_column_of_dashes_beside_words():
    n_grams = Entry("n-grams", Fragments((Fragment("good bad", 1.0, (0, 8)),), (), 1, input="good bad film"))
    both = scored(subject(entry("lime", [1.0, 0.2, 0.0]), n_grams))
    assert [method.name for method in both] == ["lime", "n-grams"]
    assert [method.name for method in in_table(both)] == ["lime"]
    assert [method.name for method in in_table(scored(subject(n_grams)))] == ["n-grams"]
