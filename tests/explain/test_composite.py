"""Composites and the preset of five methods: all parts, through JSON, in words; a part that cannot be is said."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import verax
from helpers import fitted, make_texts
from verax.benchmarks.staining.jobs import score
from verax.data.dataset import Dataset, Part
from verax.data.table import Column, Schema
from verax.errors import VeraxError
from verax.explain import Attribution, Composite, Explanation, Path, Rule, Together
from verax.explain.composite import PARTS
from verax.explain.description import Grid, Heading, Passage, describe, edited
from verax.workflows.given_objects import preset_explainers


@pytest.fixture(scope="module")
def found():
    texts, _ = make_texts(300, seed=2)
    model = verax.as_model(fitted(LogisticRegression()), class_names=("bad", "good"), reference=texts)
    return Together(samples=500).explain(model, make_texts(2, seed=9)[0])


def test_a_model_without_prototypes_gets_the_other_three_and_says_so(found):
    for composite in found:
        kinds = [type(part.explanation) for part in composite.parts]
        assert kinds == [Attribution, Rule, Path]
        assert composite.details["left out"].startswith(
            "prototype. The method 'prototype' explains the models"
        )
        assert np.count_nonzero(composite.parts[0].explanation.scores) <= 5
        assert {part.explanation.target for part in composite.parts} == {composite.target}
        assert composite.cost.rows > sum(part.explanation.cost.rows for part in composite.parts[:2])


@pytest.fixture(scope="module")
def loans():
    """Rows of which hours and job decide; every eighth label is wrong."""
    rng = np.random.default_rng(4)
    columns = [
        rng.uniform(20, 60, 460),
        rng.integers(0, 3, 460),
        rng.uniform(0, 80, 460),
        rng.normal(0, 1, 460),
    ]
    rows = np.column_stack(columns)
    labels = (rows[:, 2] + 20 * (rows[:, 1] == 1) > 45).astype(np.int64)
    labels[::8] = 1 - labels[::8]
    schema = Schema(
        (Column("age"), Column("job", ("clerk", "cook", "judge")), Column("hours"), Column("noise"))
    )
    parts = [Part(rows[a:b], labels[a:b]) for a, b in ((0, 400), (400, 440), (440, 460))]
    return Dataset("loans", "table", ("no", "yes"), *parts, schema=schema)


@pytest.fixture(scope="module")
def network(loans):
    pytest.importorskip("torch")
    return verax.fit_model("mlp-2x50", loans, options={"epochs": 30, "rate": 0.1})


def test_each_of_the_four_parts_is_what_its_method_gives_alone(network, loans):
    rows = loans.test.inputs[:6]
    named = {each.name: each.explainer for each in preset_explainers("simulatability", seed=5)}
    composites = named["composite"].explain(network, rows)
    for part, method in PARTS.items():
        alone = named[method].explain(network, rows)
        assert [composite.parts[list(PARTS).index(part)].name for composite in composites] == [part] * 6
        assert [composite.parts[list(PARTS).index(part)].explanation for composite in composites] == alone
    assert composites[0].details == {}
    # Of the path only the last step is shown, as it is shown alone.
    shown = [composite for composite in composites if composite.parts[2].explanation.edits]
    assert shown
    for composite in shown:
        path = composite.parts[2].explanation
        assert describe(path)[-1] == edited(path, len(path.edits)) in describe(composite)


def test_what_is_given_to_a_composite_goes_to_the_methods_that_sample(loans, network):
    composite = Together(samples=300).explain(network, loans.test.inputs[:1])[0]
    made = [part.explanation.explainer for part in composite.parts]
    assert ["samples=300" in explainer for explainer in made] == [True, False, True, False]


def test_a_network_that_hardly_recognises_a_class_gets_the_other_three_and_says_so(loans):
    pytest.importorskip("torch")
    rare = np.where(np.arange(400) < 30, 1, 0)  # whatever the columns say
    one_sided = replace(loans, train=Part(loans.train.inputs, rare))
    model = verax.fit_model("mlp-2x50", one_sided, options={"epochs": 2})
    composite = Together(samples=300).explain(model, loans.test.inputs[:1])[0]
    assert [part.name for part in composite.parts] == ["LIME", "Anchor", "Decision boundary"]
    assert composite.details["left out"].startswith(
        "prototype. Of the 30 training inputs of the class 'yes' the model takes 0 for it, too few for 20 prototypes"
    )
    assert describe(composite)[-1].text.endswith("predicts this class more often.")


def test_it_survives_json(found):
    for composite in found:
        again = Explanation.from_dict(json.loads(json.dumps(composite.to_dict())))
        assert isinstance(again, Composite)
        assert again == composite


def test_its_account_has_every_part_and_of_the_path_the_last_step(found):
    composite = next(each for each in found if each.parts[2].explanation.edits)
    parts = describe(composite, plain=True)
    assert [part.text for part in parts if isinstance(part, Heading)] == [
        "LIME",
        "Anchor",
        "Decision boundary",
    ]
    passages = [part for part in parts if isinstance(part, Passage)]
    path = composite.parts[2].explanation
    assert len(passages) == 1
    assert sum(changed for _, changed in passages[0].pieces) == len(path.edits)


def test_the_local_model_is_shown_as_published(found):
    lime = found[0].parts[0].explanation
    grid = next(part for part in describe(lime) if isinstance(part, Grid))
    names = [row[0] for row in grid.rows]
    assert names[-3:] == ["Sum of words", "Baseline", f"Estimated probability of '{lime.target_name}'"]
    values = [float(row[1]) for row in grid.rows]
    assert values[-3] == pytest.approx(lime.scores.sum(), abs=0.006)
    assert values[-1] == pytest.approx(lime.details["intercept"] + lime.scores.sum(), abs=0.006)
    assert values[:-3] == sorted(values[:-3], reverse=True)


def test_it_ranks_nothing_and_staining_says_so(found):
    assert found[0].as_attribution() is None
    with pytest.raises(VeraxError, match="Composite"):
        score(found, [["good"], ["good"]], 1.0)


def test_the_preset_names_the_five_methods_of_the_paper():
    named = preset_explainers("simulatability", seed=3)
    assert [each.name for each in named] == ["lime", "anchor", "prototype", "decision-boundary", "composite"]
    assert named[0].explainer == verax.explainer("lime", samples=5000, features=5, seed=3)
    with pytest.raises(VeraxError, match="no preset called 'similar'"):
        preset_explainers("similar")


def test_a_composite_that_makes_no_sense_is_a_sentence():
    with pytest.raises(VeraxError, match="'parts'"):
        Explanation.from_dict({"kind": "composite", "target": 0})
