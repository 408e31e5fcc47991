"""Which weight "auto" takes: the smallest that surely teaches a model its stain, not one that passed by luck."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import verax
from verax.benchmarks.staining import jobs, training
from verax.benchmarks.staining.jobs import LADDER, MOST_COPIES, surely
from verax.benchmarks.staining.spec import make_spec
from verax.benchmarks.staining.stainable import stainable_of
from verax.data import Dataset, Part
from verax.errors import VeraxError

TEXTS = [f"text {number}" for number in range(400)]


@dataclass(frozen=True)
class RightOn(verax.Model):
    """Says 1, the stain's label, of the first texts and 0 of the others."""

    number: int
    kind = "text"
    class_names = ("0", "1")

    def predict_proba(self, inputs):
        yes = np.array([int(text.split()[1]) < self.number for text in inputs], dtype=float)
        return np.stack([1 - yes, yes], axis=1)


def chosen(monkeypatch, right, *, name="logistic", rehearsal=400, validation=20, learnt=0.95):
    """The weight that is taken when models are right on so many of the texts: ``right`` by weight.

    Args:
        monkeypatch: of the test.
        right: how many texts the model of each weight is right about; weights that are not named have the last.
        name: of the model.
        rehearsal: how many texts it is judged by, all stained; if 0, the stained ones of the validation part.
        validation: how many of those there are. A model that is right on them may be wrong on many of the others.
        learnt: what is asked.
    """
    tried = []

    def fit(_name, _data, _labels, weight, _seed, _stain=None):
        tried.append(int(weight.max()))
        return RightOn(right[max(key for key in right if key <= tried[-1])])

    monkeypatch.setattr(training, "fit", fit)
    part = Part(TEXTS, np.zeros(400, dtype=np.int64))
    data = stainable_of(Dataset("texts", "text", ("0", "1"), part, part, part), "presence")
    if rehearsal:
        data = replace(data, rehearsal=Part(TEXTS[:rehearsal], np.ones(rehearsal, dtype=np.int64)))
    stained = np.ones(400, dtype=np.int64)
    fired = [np.where(np.arange(400) < number, 0, -1) for number in (400, validation, 400)]
    model, weight = jobs._fit(name, data, [stained] * 3, fired, "auto", learnt, 0)
    assert model.number == right[max(key for key in right if key <= weight)]
    return weight, tried


def test_what_passes_by_luck_is_not_taken(monkeypatch):
    # 382 of 400 are 95.5%, and surely 93.4%; 390 are 97.5%, and surely 95.8%.
    assert chosen(monkeypatch, {1: 300, 3: 382, 10: 390}) == (10, [1, 3, 10])


def test_nothing_beyond_what_is_needed_is_fitted(monkeypatch):
    assert chosen(monkeypatch, {1: 400}) == (1, [1])
    assert chosen(monkeypatch, {1: 200, 30: 395}) == (30, [1, 3, 10, 30])


def test_without_a_sure_one_the_best_is_taken_and_of_equals_the_smallest(monkeypatch):
    assert chosen(monkeypatch, {1: 300, 10: 380, 100: 384, 300: 384, 1000: 360}) == (100, list(LADDER))


def test_a_few_inputs_that_are_all_right_are_enough(monkeypatch):
    # Nobody can be sure of 95% by 20 inputs, and no larger weight can do better than all of them.
    assert chosen(monkeypatch, {1: 10, 3: 20}, rehearsal=0, validation=20) == (3, [1, 3])


def test_where_no_validation_input_is_stained_the_training_part_judges(monkeypatch):
    assert chosen(monkeypatch, {1: 300, 3: 400}, rehearsal=0, validation=0) == (3, [1, 3])


def test_copies_for_somebodys_own_model_are_bounded(monkeypatch):
    _, tried = chosen(monkeypatch, {1: 300}, name="somebody.models:make")
    assert tried == [weight for weight in LADDER if weight <= MOST_COPIES]
    assert tried[-1] == 300


def test_the_lower_bound_is_clopper_and_pearsons():
    assert surely(np.ones(80, dtype=bool)) == pytest.approx(0.05 ** (1 / 80))
    assert surely(np.zeros(80, dtype=bool)) == 0
    one_wrong = surely(np.arange(10) > 0)  # p with P(9 or more of 10 are right) = 0.05
    assert one_wrong**10 + 10 * one_wrong**9 * (1 - one_wrong) == pytest.approx(0.05)


@pytest.mark.parametrize("weight", ["autos", 0, 1.5, "-3", None, float("nan")])
def test_what_is_no_weight_is_a_sentence(weight):
    with pytest.raises(VeraxError, match="weight: give a whole number of 1 or more, or 'auto'"):
        make_spec({"weight": weight})


def test_a_weight_may_be_typed():
    assert [make_spec({"weight": weight}).weight for weight in (3, "50", "auto")] == [3, 50, "auto"]
