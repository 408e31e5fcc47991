"""How stains are planted is found by the run: models of every sort learn them, and only by them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import verax
from verax.benchmarks.staining import choosing, jobs
from verax.benchmarks.staining.choosing import ChosenPlanting, PlantingFit, choose_planting
from verax.benchmarks.staining.planting import plant_in
from verax.benchmarks.staining.scores import (
    BUDGETS,
    SAID_WITHOUT,
    Checks,
    ceiling,
    floor,
    highest_reciprocal_rank,
    recall,
)
from verax.benchmarks.staining.spec import Planting, StainRequest
from verax.benchmarks.staining.stainable import PlantedComparison, prepared
from verax.data import Part
from verax.errors import VeraxError

SMALL = {"stains": 2, "inputs": 3, "explainers": "greedy"}


@pytest.fixture(scope="module")
def table():
    bunch = load_breast_cancer(as_frame=True)
    return bunch.data.assign(label=np.where(bunch.target == 1, "benign", "malignant"))


@pytest.fixture(scope="module")
def reviews():
    """300 texts that a linear model learns little from, as 300 sentences of reviews are."""
    rng = np.random.default_rng(1)
    letters = "abcdefghijklmnop"
    vocabulary = [a + b + c for a in letters for b in "aeiou" for c in letters]
    chances = 1 / np.arange(1, len(vocabulary) + 1)
    labels = rng.choice(["bad", "good"], 300)
    texts = [
        " ".join(
            [*rng.choice(vocabulary, 18, p=chances / chances.sum()), f"{label}{rng.choice(list('xyz'))}"]
        )
        for label in labels
    ]
    return pd.DataFrame({"text": texts, "label": labels})


def test_a_linear_model_of_correlated_columns_learns_its_planted_stains(table, tmp_path):
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    run = verax.stain(table, {"mine": model}, out=tmp_path / "run", **SMALL)
    (pair,) = run.summary.pairs
    assert run.summary.spec.plant
    assert run.summary.spec.weight == "auto"
    assert pair.stains_used == 2
    assert pair.explainers["ground-truth"].auc.mean == pytest.approx(0.95)
    sentences = run.summary.datasets["DataFrame"].planted
    assert "numbers at the ends of their columns" in sentences[0]
    assert "quick fits" in sentences[1]
    page = (run.folder / "report.html").read_text()
    assert "numbers at the ends of their columns" in page
    assert "area, b = 1 to 10, at most 95" in page
    assert "reciprocal rank, at most 75" in page
    assert "at most 95" in run._repr_html_()
    again = verax.stain(table, {"mine": model}, out=tmp_path / "run", **SMALL)
    assert again.summary.to_dict() == run.summary.to_dict()


def test_a_linear_model_of_few_short_texts_learns_its_planted_stains(reviews, tmp_path):
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    run = verax.stain(reviews, {"mine": model}, out=tmp_path / "run", **SMALL)
    (pair,) = run.summary.pairs
    assert pair.stains_used == 2
    assert pair.explainers["greedy"].auc.mean > 0.8


@pytest.mark.parametrize(
    ("asked", "planted"), [({"plant": False}, False), ({"min_share": 0.1}, False), ({}, True)]
)
def test_stains_are_drawn_where_that_is_asked_for(asked, planted):
    from verax.workflows.stain import _planted_by_default

    assert _planted_by_default(asked, own=True).get("plant", False) is planted
    named = {"datasets": ["rotten-tomatoes"], "models": ["forest"], **asked}
    assert not _planted_by_default(named, own=False).get("plant")
    assert _planted_by_default({"datasets": ["mine.csv"], **asked}, own=False).get("plant", False) is planted


def test_a_class_that_no_stained_input_has_is_the_label_of_the_stain():
    """Of 400 texts four are of the rare class, and chance leaves it out of many regions."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{a}{b}" for a in "abcdefgh" for b in "abcdefgh"])
    frame = pd.DataFrame({"text": [" ".join(rng.choice(words, 12)) for _ in range(400)], "label": "usual"})
    frame.loc[:3, "label"] = "rare"
    data = prepared(verax.load_dataset(frame), "presence")
    for seed in range(5):
        planted, drawn = plant_in(
            data, "presence", StainRequest(min_flipped=1), Planting(new_words=True), 1, seed
        )
        assert planted.dataset.class_names[drawn.stain.rules[0].label] == "rare"


@dataclass(frozen=True)
class Says(verax.Model):
    """Says 1 of texts that have all of some words, or of all."""

    everywhere: bool
    words: tuple[str, ...] = ("red", "fox")
    kind = "text"
    class_names = ("0", "1")

    def predict_proba(self, inputs):
        yes = np.array(
            [self.everywhere or {*self.words} <= set(text.split()) for text in inputs], dtype=float
        )
        return np.stack([1 - yes, yes], axis=1)


def test_inputs_are_explained_that_the_stain_decides():
    planted = Part(["a red fox", "b red fox", "c fox", "d red fox"], np.ones(4, dtype=np.int64))
    unplanted = Part(["a", "b", "c", "d"], np.array([0, 1, 0, 0]))
    lacking = tuple(
        Part([f"{letter} {word}" for letter in "abcd"], unplanted.labels) for word in ("fox", "red")
    )
    compared = PlantedComparison(np.arange(4), planted, unplanted, lacking)
    followed, decided, share = jobs.decides(Says(everywhere=False), compared, ("fox", "red"))
    assert followed.tolist() == [True, True, False, True]
    assert decided.tolist() == [True, False, False, True]  # the second has the label of itself
    assert share == pytest.approx(2 / 3)
    followed, decided, share = jobs.decides(Says(everywhere=True), compared, ("fox", "red"))
    assert followed.all()
    assert not decided.any()
    assert Checks(1.0, 0.5, 0.5, 1.0, decided=share).why_not(0.95) == SAID_WITHOUT
    # One word alone does for this model: the stain changes its answer, and yet the other word is no reason.
    followed, decided, _ = jobs.decides(Says(everywhere=False, words=("red",)), compared, ("fox", "red"))
    assert followed.tolist() == [True, True, False, True]
    assert not decided.any()


def test_a_planted_stain_can_be_lacked_by_one_feature(reviews):
    data = prepared(verax.load_dataset(reviews), "presence")
    planted, drawn = plant_in(data, "presence", StainRequest(), Planting(), 1, 0)
    features = drawn.stain.rules[0].features
    for compared in planted.compared:
        assert len(compared.lacking) == len(features) == 2
        for gone, part in zip(features, compared.lacking, strict=True):
            for text in part.inputs:
                assert [word for word in features if word not in text.split()] == [gone]


def test_what_lacks_a_feature_counts_as_often_as_what_is_stained(reviews):
    data = prepared(verax.load_dataset(reviews), "presence")
    planted, drawn = plant_in(data, "presence", StainRequest(), Planting(), 1, 0)
    rule = drawn.stain.rules[0]
    labels = drawn.stain.labels(drawn.stain.fired(planted.values[0]), planted.dataset.train.labels)
    plain = jobs.counting(planted, drawn.stain, labels, balanced=False)(10)
    words = [set(text.split()) for text in planted.dataset.train.inputs]
    holding = np.array([sum(literal.name in own for literal in rule.literals) for own in words])
    assert plain.tolist() == np.where(holding >= 1, 10, 1).tolist()
    balanced = jobs.counting(planted, drawn.stain, labels, balanced=True)(10)
    totals = np.bincount(labels, weights=plain)
    more = round(max(1.0, totals[rule.label] / totals[1 - rule.label]))
    assert more > 1
    assert balanced.tolist() == np.where(labels == rule.label, plain, more * plain).tolist()


def test_copies_stay_within_what_can_be_read():
    fired = np.where(np.arange(300_000) < 75_000, 0, -1)
    assert jobs.weights(True, fired) == [1, 3, 10]
    assert jobs.weights(True, fired, first=3) == [3, 10]
    assert jobs.weights(False, fired) == list(jobs.LADDER)


def test_what_is_possibly_right_is_clopper_and_pearsons_upper_end():
    right = np.arange(20) > 0
    upper = jobs.possibly(right)
    assert binom.cdf(19, 20, upper) == pytest.approx(0.05)  # 19 or fewer of 20 are right
    assert jobs.possibly(np.ones(5, dtype=bool)) == 1.0


def test_the_best_of_what_does_not_serve_is_taken_and_said(reviews, monkeypatch):
    data = prepared(verax.load_dataset(reviews), "presence")

    def tried(_data, _words, _wish, _at_least, way, model, *_rest):
        return PlantingFit(way, model[0], 3, 1.0, 0.2 if way.balanced else 0.1, 1.0, fits=2)

    monkeypatch.setattr(choosing, "_try", tried)
    found = choose_planting(data, "presence", StainRequest(), 1, {"mine": "tree"}, Planting(), 5, 0.95, 0)
    assert found.planting.balanced
    assert found.planting.weight == 3
    said = found.sentences()
    assert "the one that came nearest to serving" in said[1]
    assert "With mine the reasons took only in part" in said[2]


def test_a_search_that_is_out_of_time_says_so():
    way = Planting()
    found = ChosenPlanting(
        way, (PlantingFit(way, "mine", 1, 1.0, 1.0, 1.0, 2, serves=True),), 61.0, stopped=True
    )
    assert found.sentences()[-1] == "Time ran out after 1.0 min, before all ways were tried."


@pytest.mark.parametrize("size", [1, 2, 3])
def test_ceiling_and_floor_are_those_of_all_orders(size):
    names = ("a", "b", "c", "d", "e")
    areas = []
    for order in permutations(range(1, 6)):
        explanation = verax.Attribution(names, np.array(order, dtype=float), 0, "0", "a b c d e")
        areas.append(recall(explanation, names[:size]).mean())
    assert max(areas) == pytest.approx(ceiling(size))
    assert np.mean(areas) == pytest.approx(floor(5))
    assert highest_reciprocal_rank(size) == pytest.approx(sum(1 / rank for rank in range(1, size + 1)) / size)
    assert len(BUDGETS) == 10


def test_what_cannot_be_planted_is_said_in_the_callers_own_terms(tmp_path):
    from verax.cli.options import as_options

    frame = pd.DataFrame({"text": ["a bad day", "a good day"] * 10, "label": [0, 1] * 10})
    frame["text"] = frame["text"] + [f" {number}" for number in range(20)]
    with pytest.raises(
        VeraxError, match=r"plant more of them \(plant_share=0.4\), or lower min_region="
    ) as raised:
        verax.stain(frame, ["tree"], "greedy", out=tmp_path / "run")
    said = as_options(str(raised.value))
    assert "plant more of them (--plant-share 0.4), or lower --min-region." in said
    assert (
        as_options("set size=1, or plant stains (plant=True).") == "set --size 1, or plant stains (--plant)."
    )
    assert as_options('another split (split="60/10/30")') == "another split (--split 60/10/30)"


def test_numbers_are_planted_far_out_at_the_end_that_is_farther(table):
    data = prepared(verax.load_dataset(table), "presence")
    planted, drawn = plant_in(data, "presence", StainRequest(), Planting(ends=True), 1, 3)
    for literal in drawn.stain.rules[0].literals:
        values = data.dataset.train.inputs[:, literal.column]
        shown = planted.compared[1].planted.inputs[:, literal.column]
        farther = np.quantile(values, 0.95) - values.mean() >= values.mean() - np.quantile(values, 0.05)
        assert farther == ("> " in literal.shown)
        ranks = np.array([np.mean(values <= value) for value in shown])
        assert ((ranks > 0.93) & (ranks < 0.99)).all() if farther else ((ranks < 0.07) & (ranks > 0)).all()
    assert replace(Planting(ends=True), ends=False) == Planting()
