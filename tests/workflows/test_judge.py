"""Explainers judged on a model whose best three features are known by enumeration."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

import verax
from verax.errors import VeraxError
from verax.explain.base import Explainer
from verax.explain.explanation import Attribution

WEIGHTS = {"good": 1.5, "fine": 1.0, "warm": 0.7, "dull": -1.2, "the": 0.0, "film": 0.1, "was": 0.05}
TEXT = "the film was good and warm and fine but dull"


def probability(text):
    return 1 / (1 + np.exp(-sum(WEIGHTS.get(word, 0.0) for word in set(text.split()))))


def says(texts):
    positive = np.array([probability(text) for text in texts])
    return np.stack([1 - positive, positive], axis=1)


@pytest.fixture(scope="module")
def model():
    return verax.as_model(says, class_names=("negative", "positive"), kind="text")


@dataclass(frozen=True)
class Fixed(Explainer):
    """Names the words it is told, the first with the largest score."""

    words: tuple[str, ...] = ()

    def explain(self, model, inputs, targets=None):
        return [
            self._one(text, target) for text, target in zip(inputs, targets or [1] * len(inputs), strict=True)
        ]

    def _one(self, text, target):
        named = tuple(dict.fromkeys(text.split()))
        order = {word: float(len(self.words) - place) for place, word in enumerate(self.words)}
        return Attribution(named, [order.get(word, 0.0) for word in named], target, "positive", text)


def falls(text):
    """By enumeration: the fall for every three words."""
    words = list(dict.fromkeys(text.split()))
    whole = probability(text)
    return {
        three: 100 * (whole - probability(" ".join(w for w in text.split() if w not in three)))
        for three in combinations(words, 3)
    }


def test_falls_chance_and_best_are_those_of_enumeration(model):
    known = falls(TEXT)
    found = verax.judge(
        model, [TEXT], {"right": Fixed(("good", "fine", "warm")), "wrong": Fixed(("the", "was", "and"))}
    )
    right, wrong = found.trials
    assert right.best == pytest.approx(max(known.values()), abs=1e-6)
    assert right.chance == pytest.approx(np.mean(list(known.values())), abs=1e-6)
    assert right.fall == pytest.approx(known["good", "warm", "fine"], abs=1e-6)
    assert wrong.fall == pytest.approx(known["the", "was", "and"], abs=1e-6)
    assert (right.reached, right.seeds, right.others) == (pytest.approx(1.0), None, 0.0)
    assert [row.sign for row in found.verdict.judged] == ["yes", "no"]
    assert found.verdict.sentence.startswith("right names what the model uses")
    assert "wrong does no better than random features" in found.verdict.sentence
    assert str(found).startswith(found.verdict.sentence)


def test_seeds_and_other_methods_are_compared_and_five_inputs_are_tested(model):
    texts = [
        TEXT,
        *(" ".join(w for w in TEXT.split() if w != gone) for gone in ("dull", "film", "warm", "fine", "but")),
    ]
    found = verax.judge(model, texts, ["lime", "greedy", "random"])
    lime, greedy, random = found.trials
    assert (lime.beats_chance, greedy.beats_chance, random.beats_chance) == (True, True, False)
    assert lime.seeds > 0.9 > random.seeds
    assert greedy.seeds is None
    assert lime.others > random.others
    assert "not shown to beat random features" in found.verdict.sentence
    row = next(row for row in found.verdict.judged if row.name == "lime")
    margin = 2.5706 * np.std(lime.falls, ddof=1) / np.sqrt(6)  # Student's t of 5 degrees of freedom
    assert (row.low, row.high) == (
        pytest.approx(lime.fall - margin, abs=1e-3),
        pytest.approx(lime.fall + margin, abs=1e-3),
    )
    few = verax.judge(model, texts[:2], ["lime"])
    assert few.verdict.judged[0].low is None
    assert "these 2 inputs (fewer than 5, so there is no interval)" in str(few)


def test_bad_input_gets_a_sentence(model):
    with pytest.raises(VeraxError, match="no input to explain"):
        verax.judge(model, [], ["lime"])
    with pytest.raises(VeraxError, match="Input 2 has no feature"):
        verax.judge(model, [TEXT, "..."], ["greedy"])
    with pytest.raises(VeraxError, match="no explainer to judge"):
        verax.judge(model, [TEXT], [])
    flat = verax.as_model(lambda texts: np.full((len(texts), 2), 0.5), class_names=("a", "b"), kind="text")
    assert verax.judge(flat, [TEXT], ["greedy"]).verdict.sentence.startswith("No three features change")


def test_a_rule_of_one_word_is_judged_by_that_word_alone(model):
    found = verax.judge(
        model, [TEXT], {"one": Fixed(words=("good",)), "three": Fixed(words=("good", "fine", "warm"))}
    )
    one, three = found.trials
    alone = 100 * (probability(TEXT) - probability(TEXT.replace("good", "")))
    assert one.fall == pytest.approx(alone)
    assert (one.fewer, three.fewer) == (1, 0)
    # Beside one random word and the best one, by enumeration; the other beside three.
    words = list(dict.fromkeys(TEXT.split()))
    singles = [
        100 * (probability(TEXT) - probability(" ".join(w for w in TEXT.split() if w != gone)))
        for gone in words
    ]
    assert one.chance == pytest.approx(np.mean(singles))
    assert (one.best, one.reached) == (pytest.approx(max(singles)), pytest.approx(1.0))
    assert three.chance == pytest.approx(np.mean(list(falls(TEXT).values())))
    said = str(found)
    assert "one names fewer than 3 features that speak for the class: only those were taken away" in said
    assert f"({one.fall:.0f} of {one.best:.0f} and {three.fall:.0f} of {three.best:.0f} points)" in said


def test_what_names_nothing_is_said_to_and_what_is_below_chance_is_not_better(model):
    found = verax.judge(
        model,
        [TEXT],
        {"silent": Fixed(), "right": Fixed(("good", "fine", "warm")), "wrong": Fixed(("dull",))},
    )
    assert found.trials[0].silent
    assert "silent names no feature" in found.verdict.sentence
    wrong = found.trials[2]
    assert wrong.fall < wrong.chance
    assert "wrong does no better than random features" in found.verdict.sentence
    rows = {row.name: row.words for row in found.verdict.judged}
    assert rows["silent"] == "names no feature"


def test_each_is_tested_against_as_many_random_features_as_it_names(model):
    """The one best word of each text beats one random word, though not three."""
    texts = [
        TEXT,
        *(" ".join(w for w in TEXT.split() if w != gone) for gone in ("dull", "film", "warm", "fine", "but")),
    ]
    found = verax.judge(model, texts, {"one": Fixed(("good",)), "none": Fixed(("the",))})
    assert [trial.beats_chance for trial in found.trials] == [True, False]


def test_n_grams_are_not_judged_as_if_they_were_words(model):
    """They are no features of the input, and would all seem to name nothing."""
    with pytest.raises(VeraxError, match="gives no scores of single features"):
        verax.judge(model, [TEXT], {"n-grams": verax.explainer("random-fragments")})


def test_a_sentence_that_begins_with_a_part_says_of_what(model):
    found = verax.judge(model, [TEXT], {"half": Fixed(("good", "the", "was"))})
    (trial,) = found.trials
    assert 0.2 < trial.reached < 0.8
    assert found.verdict.sentence == (
        f"half names a part of what the model uses ({trial.fall:.0f} of {trial.best:.0f} points of its probability)."
    )
