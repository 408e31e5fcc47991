"""Composites and the preset of five methods: all parts, through JSON, in words; a part that cannot be is said."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import verax
from helpers import fitted, make_texts
from verax.benchmarks.staining.jobs import score
from verax.errors import VeraxError
from verax.explain import Attribution, Composite, Explanation, Path, Rule, Together
from verax.explain.account import Grid, Heading, Passage, account
from verax.workflows.explainer_names import preset_explainers


@pytest.fixture(scope="module")
def found():
    texts, _ = make_texts(300, seed=2)
    model = verax.as_model(fitted(LogisticRegression()), class_names=("bad", "good"), reference=texts)
    return Together(samples=500).explain(model, make_texts(2, seed=9)[0])


def test_a_model_without_prototypes_gets_the_other_three_and_says_so(found):
    for composite in found:
        kinds = [type(part.explanation) for part in composite.parts]
        assert kinds == [Attribution, Rule, Path]
        assert "prototype" in composite.details["left out"]
        assert np.count_nonzero(composite.parts[0].explanation.scores) <= 5
        assert {part.explanation.target for part in composite.parts} == {composite.target}
        assert composite.cost.rows > sum(part.explanation.cost.rows for part in composite.parts[:2])


def test_it_survives_json(found):
    for composite in found:
        again = Explanation.from_dict(json.loads(json.dumps(composite.to_dict())))
        assert isinstance(again, Composite)
        assert again == composite


def test_its_account_has_every_part_and_of_the_path_the_last_step(found):
    composite = next(each for each in found if each.parts[2].explanation.edits)
    parts = account(composite, plain=True)
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
    grid = next(part for part in account(lime) if isinstance(part, Grid))
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
