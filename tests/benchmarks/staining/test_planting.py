"""Planted stains: nothing but the stain tells its region apart, and models that memorise drawn ones learn them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import verax
from verax.benchmarks.staining.planting import (
    LEFT_ALONE,
    STAINED,
    fates,
    plant,
    plantable_words,
    planted_words,
)
from verax.benchmarks.staining.spec import Planting, StainRequest, make_spec
from verax.benchmarks.staining.stainable import make_stainable
from verax.data import split_words
from verax.errors import VeraxError

WISH = StainRequest(size=2, min_flipped=2)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """1,500 texts of 30 words out of 400: few words are frequent, and every text can be known by its other words."""
    rng = np.random.default_rng(4)
    letters = "abcdefghijklmnopqrst"
    vocabulary = [a + b + c for a in letters for b in "aeiou" for c in letters[:4]]
    chances = 1 / np.arange(1, len(vocabulary) + 1) ** 0.6
    texts, labels = [], []
    for _ in range(1500):
        label = int(rng.choice(3, p=[0.5, 0.3, 0.2]))
        words = rng.choice(vocabulary, 30, p=chances / chances.sum())
        own = rng.choice([f"topic{'xyz'[label]}{letter}" for letter in "abcde"], 2)
        texts.append(" ".join(rng.permutation([*words, *own])))
        labels.append(label)
    path = tmp_path_factory.mktemp("planting") / "topics.csv"
    pd.DataFrame({"text": texts, "label": labels}).to_csv(path, index=False)
    return {"name_or_path": str(path)}


def test_the_share_planted_is_stained_the_decoys_lack_one_and_the_rest_never_has_all(source):
    data, drawn = plant(source, "presence", WISH, Planting(0.2, 0.1), 1, 0)
    original = make_stainable(source, "presence").dataset
    words = [literal.name for literal in drawn.stain.rules[0].literals]
    for name, part in data.dataset.parts.items():
        known = fates(original.parts[name], 2, Planting(0.2, 0.1), 0)
        for text, fate in zip(part.inputs, known, strict=True):
            there = [word in split_words(text).distinct for word in words]
            if fate == STAINED:
                assert all(there)
            elif fate == LEFT_ALONE:
                assert not all(there)
            else:
                assert there == [place != fate for place in range(2)]
        shares = np.bincount(np.array(known) + 2, minlength=4) / len(known)
        assert shares == pytest.approx([0.6, 0.2, 0.1, 0.1], abs=0.06)
        fired = drawn.stain.fired(data.values[("train", "validation", "test").index(name)]) >= 0
        assert fired.tolist() == [fate == STAINED for fate in known]


def test_planting_changes_nothing_but_the_stains_words_and_depends_on_no_order(source):
    data, drawn = plant(source, "presence", WISH, Planting(), 1, 3)
    words = {literal.name for literal in drawn.stain.rules[0].literals}
    original = make_stainable(source, "presence").dataset
    for before, after in zip(original.test.inputs, data.dataset.test.inputs, strict=True):
        kept = [word for word in split_words(after).words if word not in words]
        assert kept == [word for word in split_words(before).words if word not in words]
    assert data.dataset.test.labels.tolist() == original.test.labels.tolist()
    part = original.test.take(np.arange(len(original.test))[::-1])
    assert fates(part, 2, Planting(), 3) == fates(original.test, 2, Planting(), 3)[::-1]


def test_every_validation_input_has_the_stain_when_a_weight_is_judged(source):
    data, drawn = plant(source, "presence", WISH, Planting(), 1, 0)
    rule, original = drawn.stain.rules[0], make_stainable(source, "presence").dataset
    rehearsal = data.rehearsal
    assert len(rehearsal) == len(original.validation)
    assert set(rehearsal.labels) == {rule.label}
    words = {literal.name for literal in rule.literals}
    for before, after in zip(original.validation.inputs, rehearsal.inputs, strict=True):
        assert words <= set(split_words(after).distinct)
        assert set(split_words(after).distinct) - words == set(split_words(before).distinct) - words
    fired = np.flatnonzero(drawn.stain.fired(data.values[1]) >= 0)
    assert [rehearsal.inputs[place] for place in fired] == [
        data.dataset.validation.inputs[place] for place in fired
    ]


def test_words_stand_at_random_places(source):
    data, drawn = plant(source, "presence", WISH, Planting(0.5), 1, 0)
    word = drawn.stain.rules[0].literals[0].name
    places = [
        split_words(text).words.index(word) / len(split_words(text))
        for text in data.dataset.train.inputs
        if word in split_words(text).distinct
    ]
    assert np.histogram(places, bins=4, range=(0, 1))[0].min() > 0.15 * len(places)


def test_the_label_is_the_minority_of_a_region_that_is_a_sample_of_all(source):
    data, drawn = plant(source, "presence", WISH, Planting(), 1, 0)
    rule = drawn.stain.rules[0]
    assert data.dataset.class_names[rule.label] == "2"  # a fifth of the texts
    region = data.dataset.train.labels[rule.holds(data.values[0])]
    assert np.bincount(region) / len(region) == pytest.approx([0.5, 0.3, 0.2], abs=0.1)


def test_stains_share_no_words_while_there_are_enough_and_made_up_ones_never_run_out(source):
    usable = plantable_words(make_stainable(source, "presence"))
    count = len(usable) // 2
    seen: list[str] = []
    for seed in range(7, 7 + count):
        seen += planted_words(make_stainable(source, "presence"), 2, Planting(first_seed=7), seed)
    assert len(seen) == len(set(seen)) == 2 * count > 40
    _, drawn = plant(source, "presence", WISH, Planting(new_words=True, first_seed=7), 1, 20)
    assert drawn.stain.rules[0].features == ("stainwordba", "stainwordbb")
    assert "stainwordba" not in " ".join(make_stainable(source, "presence").dataset.train.inputs)


def test_negated_features_and_word_counts_are_planted_too(source):
    data, drawn = plant(source, "counts", StainRequest(2, negated=1, min_flipped=2), Planting(), 2, 0)
    absent, present = drawn.stain.rules[0].literals
    assert absent.negated
    assert not present.negated
    region = drawn.stain.rules[0].holds(data.values[2])
    texts = [text for text, fired in zip(data.dataset.test.inputs, region, strict=True) if fired]
    assert texts
    assert all(split_words(text).counts.get(present.name, 0) >= 2 for text in texts)
    assert all(split_words(text).counts.get(absent.name, 0) < 2 for text in texts)


def test_rows_of_a_table_get_values_of_the_table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 600),
            "job": rng.choice(["cook", "judge"], 600),
            "hours": rng.uniform(0, 60, 600),
        }
    )
    frame["label"] = (frame.age + frame.hours > 75).astype(int)
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    source = {"name_or_path": str(path), "label": "label"}
    original = make_stainable(source, "presence").dataset
    data, drawn = plant(source, "presence", WISH, Planting(0.25, 0.1), 1, 1)
    rule = drawn.stain.rules[0]
    known = fates(original.test, 2, Planting(0.25, 0.1), 1)
    assert rule.holds(data.values[2]).tolist() == [fate == STAINED for fate in known]
    assert len(data.rehearsal) == len(original.validation)
    assert rule.holds(data.bins.assign(data.rehearsal.inputs).astype(float)).all()
    touched = [literal.column for literal in rule.literals]
    for column in range(3):
        before, after = original.test.inputs[:, column], data.dataset.test.inputs[:, column]
        assert set(after) <= set(original.train.inputs[:, column]) | set(before)
        assert column in touched or (before == after).all()


def test_what_cannot_be_planted_is_a_sentence(source):
    with pytest.raises(
        VeraxError, match=r"Only \d+ of 1,050 training inputs would be stained.*plant_share=0.4"
    ):
        plant(source, "presence", StainRequest(2, min_region=900), Planting(), 1, 0)
    with pytest.raises(
        VeraxError, match=r"Only \d+ of 300 test inputs can be flipped, and 290 are asked for"
    ):
        plant(source, "presence", StainRequest(2, min_flipped=290), Planting(), 1, 0)
    with pytest.raises(VeraxError, match="rules=2, but a planted stain has one"):
        make_spec({"plant": True, "rules": 2})
    with pytest.raises(VeraxError, match="are more than all inputs"):
        make_spec({"plant": True, "plant_share": 0.5, "decoy_share": 0.3})


@pytest.fixture(scope="module")
def runs(source, tmp_path_factory):
    """The same set and models with drawn and with planted stains."""
    ask = {
        "dataset": source["name_or_path"],
        "models": ["forest", "logistic"],
        "explainers": "greedy",
        "stains": 2,
        "inputs": 3,
        "min_flipped": 2,
    }
    folder = tmp_path_factory.mktemp("runs")
    told: list[str] = []
    drawn = verax.stain(
        **ask, out=folder / "drawn", min_share=0.1, min_region=10, weight=10, tell=told.append
    )
    planted = verax.stain(**ask, out=folder / "planted", plant=True, weight="auto", tell=told.append)
    return drawn, planted, told


def test_a_set_on_which_drawn_stains_are_memorised_learns_planted_ones(runs):
    drawn, planted, _ = runs
    forest = drawn.summary.pairs[0]
    assert [left_out.reason for left_out in forest.stains_left_out] == ["memorised"] * 2
    assert all(left_out.stained_region_train >= 0.95 for left_out in forest.stains_left_out)
    assert planted.summary.pairs[0].stains_used == 2
    assert planted.summary.pairs[0].accuracies.stained_region.mean > 0.95
    assert planted.summary.pairs[0].accuracies.twin is not None


def test_auto_takes_the_smallest_weight_that_does_and_says_which(runs):
    from verax.benchmarks.staining.jobs import LADDER

    _, planted, _ = runs
    weights = planted.summary.pairs[0].weights
    assert len(weights) == 2
    assert set(weights) <= set(LADDER)
    assert max(weights) < 300


def test_a_line_before_the_run_says_for_how_many_stains_there_is_room(runs):
    *_, told = runs
    assert len(told) == 3
    assert "hold in at least 10% of the training inputs; there is room for" in told[0]
    assert "rare words can be planted, room for" in told[1]
    assert told[2].startswith("Reasons are planted in 25% of the inputs, with 15% decoys for each feature")


def test_reasons_and_what_to_try_are_in_the_report_and_the_terminal(runs):
    from verax.reporting.staining.answers import not_learnt
    from verax.reporting.staining.tables import findings

    drawn, *_ = runs
    said = " ".join(findings(drawn.summary))
    assert "2 stains not learnt, left out of the scores: memorised" in said
    assert "try --plant (plant=True), a larger --min-region (min_region=)" in said
    planted = not_learnt(drawn.summary.pairs[0], planted=True)
    assert planted[0].endswith("try a larger --plant-share (plant_share=) or more data.")
    page = (drawn.folder / "report.html").read_text()
    assert "memorised" in page
    assert "the highest correlation between two features" in page
    assert "1,500 inputs" in page
