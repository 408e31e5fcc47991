"""The spec of a study with the published forms of Hase and Bansal (2020), and how their explanations are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from verax.errors import VeraxError
from verax.studies.display.legends import Kind
from verax.studies.display.method_questions import question_on
from verax.studies.display.terms import TERMS

Domain = Literal["text", "tabular"]
Test = Literal["forward", "counterfactual"]

CLASS_NAMES = {"text": ("neg", "pos"), "tabular": ("below $50K", "above $50K")}
# Those of the paper; there are also forms for another, which the paper leaves out.
METHODS = ("LIME", "Anchor", "prototype", "decision_boundary", "composite")
ALL_METHODS = (*METHODS, "omission")
# What kind of explanation each is, by which people are asked how to read it.
KINDS: dict[str, Kind] = {
    "LIME": "weights",
    "Anchor": "rule",
    "prototype": "exemplar",
    "decision_boundary": "path",
    "composite": "composite",
    "omission": "weights",
}
NUMBERS = {"forward": "learning = 16\ntest = 32\nleaf = true\n", "counterfactual": "test = 32\n"}
TASKS = {
    "text": (
        "A computer program, the model, reads a sentence of a film review and says whether the review is "
        "negative (neg) or positive (pos)."
    ),
    "tabular": (
        "A computer program, the model, reads what a census says of a person and says whether this person "
        "earns less than $50,000 a year (below $50K) or more (above $50K)."
    ),
}
# By section 3 of the paper; in the forms, evidence above zero is always for the second class.
LEGENDS = {
    "LIME": (
        "The {pieces} that matter most, with their weights: those greater than zero speak for {high}, those "
        "less than zero for {low}. Baseline and weights add up to the total evidence, an estimate of the "
        "probability of {high}."
    ),
    "Anchor": (
        "A rule: as long as the {one} has these {pieces}, the model very probably gives the same answer, "
        "whatever the rest is."
    ),
    "prototype": (
        "The known example that the model finds most similar. Evidence greater than zero speaks for {high}, "
        "less than zero for {low}; 10 is the most. Informative {pieces} are those that matter most for the "
        "similarity."
    ),
    "decision_boundary": (
        "Changes that lead to the other answer, step by step{stars}. The evidence margin is greater than "
        "zero where the model says {high}, and less than zero where it says {low}."
    ),
    "composite": (
        "Several explanations of the same answer: the {pieces} that matter most (numbers greater than zero "
        "speak for {high}, less than zero for {low}), conditions under which the model very probably gives "
        "the same answer, changes that lead to the other answer{stars}, and the known example that the model "
        "finds most similar."
    ),
    "omission": (
        "What each of these {pieces} adds to the evidence: numbers greater than zero speak for {high}, less "
        "than zero for {low}. The evidence margin is greater than zero where the model says {high}."
    ),
}


def hase_bansal_spec(domain: Domain, test: Test, methods: Sequence[str] = METHODS) -> str:
    """A spec with one condition for each method, as the text of a TOML file.

    Args:
        domain: "text" (film reviews) or "tabular" (incomes).
        test: the protocol.
        methods: the conditions, see ``ALL_METHODS``.
    """
    for value, known in (
        (domain, list(CLASS_NAMES)),
        (test, list(NUMBERS)),
        *((method, list(ALL_METHODS)) for method in methods),
    ):
        if value not in known:
            raise VeraxError(f"There are no forms for {value!r}; there are: {', '.join(known)}.")
    head = f"""\
# The published test forms of Hase and Bansal (2020), "Evaluating Explainable AI: Which Algorithmic Explanations
# Help Users Predict Model Behavior?". To change this file: verax study import hase-bansal ... --spec FILE
title = "Predicting what a computer program says"
name = {json.dumps(f"published forms, {domain}, {test}")}
dataset = {json.dumps(dataset_name(domain))}
model = {json.dumps(dataset_name(domain))}
class_names = {json.dumps(list(CLASS_NAMES[domain]))}

[protocol]
name = {json.dumps(test)}
{NUMBERS[test]}
[screening]
method = "excludes"     # as published: who cannot say how to read the own method's explanations does not take part

[texts]
task = {json.dumps(TASKS[domain])}
"""
    return head + "".join(_condition(method, domain) for method in methods)


def dataset_name(domain: Domain) -> str:
    """What the forms' data is called in items."""
    return f"hase-bansal-2020-{domain}"


def _condition(method: str, domain: Domain) -> str:
    low, high = CLASS_NAMES[domain]
    is_text = domain == "text"
    legend = LEGENDS[method].format(
        one="text" if is_text else "record",
        pieces="words" if is_text else "values",
        stars=" (changed words stand between stars)" if is_text else "",
        low=low,
        high=high,
    )
    return f"""
[[conditions]]
name = {json.dumps(method)}
explainer = "imported"
parameters.legend = {json.dumps(legend)}
question = {_question(method, domain)}
"""


def _question(method: str, domain: Domain) -> str:
    """The question on how to read the explanations of a method, as TOML."""
    asked = question_on(KINDS[method], TERMS["text" if domain == "text" else "table"])
    answers = json.dumps(asked.answers)
    return f"{{ question = {json.dumps(asked.question)}, answers = {answers}, correct = {asked.correct} }}"
