"""What is refused before anything is explained."""

import numpy as np
import pytest

from verax.data import Dataset, Part
from verax.errors import VeraxError
from verax.models import as_model
from verax.workflows.compare import as_dicts, compare, from_texts, parse_target, with_verdict
from verax.workflows.given_objects import parse_explainers, preset_explainers

MODEL = as_model(lambda texts: [[0.25, 0.75]] * len(texts), class_names=("1", "0"), kind="text")


def test_an_empty_test_part_is_named():
    none = Part([], np.array([], dtype=np.int64))
    data = Dataset("reviews", "text", ("1", "0"), none, none, none)
    with pytest.raises(VeraxError, match="The test part of 'reviews' is empty"):
        compare(data, MODEL, "own", [], parse_explainers("greedy"))


def test_a_class_whose_name_is_a_number_goes_by_its_name():
    assert parse_target("0", MODEL) == 1
    assert parse_target(None, MODEL) is None


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("greedy", ["Greedy(absent='dropped')"]),
        (" greedy , random ( seed = 3 ) ", ["Greedy(absent='dropped')", "Random(seed=3, ngram=1)"]),
        (
            "shap(output=log-odds)",
            [
                "Shap(samples=None, seed=0, output='log-odds', route='auto', absent='dropped', background='rows', "
                "interactions=False, selection='none')"
            ],
        ),
        (
            "greedy-path(until_flip=True, steps=2),greedy,",
            ["GreedyPath(steps=2, until_flip=True, absent='dropped')", "Greedy(absent='dropped')"],
        ),
        ("verax.explain.greedy:Greedy", ["Greedy(absent='dropped')"]),
    ],
)
def test_explainers_are_read_as_written(given, made):
    assert [repr(named.explainer) for named in parse_explainers(given)] == made


def test_the_common_number_of_samples_is_not_a_limit_to_a_search():
    lime, anchor = parse_explainers("lime,anchor", samples=1000)
    assert lime.explainer.samples == 1000
    assert anchor.explainer.most_samples == 100_000


def test_a_rule_stands_beside_scores_and_is_told_in_words():
    none = Part([], np.array([], dtype=np.int64))
    data = Dataset("reviews", "text", ("1", "0"), none, none, none)
    chosen = from_texts(["some words"], data)
    comparison = compare(data, MODEL, "own", chosen, parse_explainers("greedy,anchor(words=removed)"))
    scores, rule = comparison.subjects[0].entries
    assert scores.attribution is not None
    assert rule.attribution is None
    assert rule.account[0].text == (
        "No condition is needed: the model predicts '0' for nearly all changed versions."
    )
    assert [found["kind"] for found in as_dicts(comparison)] == ["attribution", "rule"]


def own_model():
    def predict(texts):
        return [[0.2, 0.8] if "good" in text else [0.6, 0.4] for text in texts]

    return as_model(
        predict, class_names=("no", "yes"), kind="text", reference=["a good film", "a dull film"] * 5
    )


def test_a_presets_method_that_a_model_cannot_have_is_left_out_and_said_and_the_rest_is_shown():
    none = Part([], np.array([], dtype=np.int64))
    data = Dataset("reviews", "text", ("no", "yes"), none, none, none)
    model, chosen, named = own_model(), from_texts(["a good film"], data), preset_explainers("simulatability")
    comparison = compare(data, model, "own", chosen, named, notes=["a note"])
    shown = [entry.name for entry in comparison.subjects[0].entries]
    assert shown == ["lime", "anchor", "decision-boundary", "composite"]
    first, second = comparison.notes
    assert first == "a note"
    assert second.startswith(
        "prototype is left out. The method 'prototype' explains the models prototype-bilstm"
    )
    assert "choose one of these models" in second
    # The verdict does not speak of what is not there.
    judged = with_verdict(comparison, model, chosen, named)
    said = [sentence for sentence in judged.verdict.rests_on if "not judged here" in sentence]
    assert said == [
        "composite does not say what the prediction rests on feature by feature, so it is not judged here."
    ]


def test_a_method_that_was_asked_for_by_name_is_never_left_out():
    none = Part([], np.array([], dtype=np.int64))
    data = Dataset("reviews", "text", ("no", "yes"), none, none, none)
    with pytest.raises(VeraxError, match="The method 'prototype' explains the models"):
        compare(
            data, own_model(), "own", from_texts(["a good film"], data), parse_explainers("greedy,prototype")
        )


def test_a_preset_of_which_nothing_works_is_a_sentence():
    none = Part([], np.array([], dtype=np.int64))
    data = Dataset("reviews", "text", ("no", "yes"), none, none, none)
    only = [each for each in preset_explainers("simulatability") if each.name == "prototype"]
    with pytest.raises(
        VeraxError, match=r"No method is left to explain this model\. prototype is left out\."
    ):
        compare(data, own_model(), "own", from_texts(["a good film"], data), only)
