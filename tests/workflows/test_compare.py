"""What is refused before anything is explained."""

import numpy as np
import pytest

from verax.data import Dataset, Part
from verax.errors import VeraxError
from verax.models import as_model
from verax.workflows.compare import as_dicts, compare, from_texts, parse_target
from verax.workflows.explainer_names import parse_explainers

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
            ["Shap(samples=None, seed=0, output='log-odds', route='auto', absent='dropped')"],
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
