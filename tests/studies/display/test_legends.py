"""How explanations are read: the same for everybody of a condition, and true of what stands there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from verax.explain import Attribution, Composite, Edit, Exemplar, Part, Path, Rule
from verax.studies.display.legends import legend_of, question_on
from verax.studies.display.wording import reading
from verax.studies.protocols.checks import sample_material

NAMES = ("a", "dull", "film")
INPUT = {"text": "text", "table": "record"}
DECIDES_BY_EXAMPLES = "The model finds its answers by comparing with such examples."
RULE = Rule(NAMES, (1,), ("dull",), 0.98, 0.96, 0.5, True, (), 0, "zorbic", "a dull film")
NO_CONDITION = replace(RULE, conditions=(), named=())
WEAK = replace(RULE, precision=0.75, lowest=0.7, reached=False)
PATH = Path(NAMES, (Edit(1, 1, "dull", "fine"),), (-2.29, 0.56), "plenkish", 0, "zorbic", "a dull film")
NO_CHANGE = replace(PATH, edits=(), margins=(-2.29,), flipped_to="")
EXEMPLAR = Exemplar(NAMES, np.zeros(3), 0.9, "a dull book", "zorbic", 0, "zorbic", "a dull film")
LIME = Attribution(NAMES, np.array([0.0, 0.3, 0.0]), 0, input="a dull film", details={"intercept": 0.5})


def together(*parts):
    return Composite(tuple(Part(type(part).__name__, part) for part in parts), 0, "zorbic", "a dull film")


def read(*explanations, kind="text", classes=2, wording="published", **condition):
    """What the instructions of a condition say, if its items have these explanations in turn."""
    conditions = [{"name": "none"}, {"name": "method", "explainer": "lime", **condition}]
    material = sample_material(
        {"name": "forward", "learning": 4, "test": 4},
        {"learning": 4, "test": 4},
        kind=kind,
        classes=classes,
        conditions=conditions,
        options={"display": {"wording": wording}},
    )
    keys = [key for key in material.explanations if key[1] == "method" and key[2] == "model"]
    shown = {key: explanations[place % len(explanations)] for place, key in enumerate(keys)}
    said = reading(replace(material, explanations=shown), "method", direction=True)
    assert said[0] == f"The explanation of the model's answer stands next to the {INPUT[kind]}."
    return said[1:]


@pytest.mark.parametrize("wording", ["plain", "published"])
@pytest.mark.parametrize("kind", ["text", "table"])
@pytest.mark.parametrize(
    "shown",
    [
        (RULE, NO_CONDITION, WEAK),
        (PATH, NO_CHANGE),
        (EXEMPLAR,),
        (together(LIME, RULE, PATH), together(LIME, NO_CONDITION, NO_CHANGE)),
        (together(LIME, RULE), together(LIME, RULE, EXEMPLAR)),
    ],
)
def test_instructions_are_the_same_whichever_explanation_comes_first(kind, shown, wording):
    orders = [shown[place:] + shown[:place] for place in range(len(shown))]
    assert len({read(*order, kind=kind, wording=wording) for order in orders}) == 1


@pytest.mark.parametrize("kind", ["text", "table"])
def test_conditions_are_explained_also_where_the_first_item_needs_none(kind):
    (line,) = read(NO_CONDITION, RULE, kind=kind)
    one = INPUT[kind]
    what = "words that stay in the text" if kind == "text" else "what some values of the record have to be"
    assert line.startswith(f"You see conditions: {what}. While they hold, the model gives this answer to ")
    assert f"nearly all changed versions of the {one}" in line
    assert "Where it does so less often, the explanation says how often." in line
    assert "Where no condition is needed" in line
    assert "conditions" in question_on("rule", kind).question
    [part] = [
        line for line in read(together(LIME, NO_CONDITION, PATH), kind=kind) if line.startswith("- Rule: ")
    ]
    assert part == f"- Rule: {line}"


def test_only_a_rule_that_holds_nearly_always_is_said_to():
    assert legend_of(RULE) == (
        "While these conditions hold, the model gives this answer to nearly all changed versions of the text, "
        "whatever else is changed."
    )
    assert legend_of(WEAK) == "These conditions alone do not settle the model's answer."
    assert (
        legend_of(NO_CONDITION) == "The model gives this answer to nearly all changed versions of the text."
    )
    assert "nearly" not in legend_of(replace(NO_CONDITION, reached=False))
    assert "conditions hold" not in legend_of(NO_CONDITION)


def test_a_path_is_read_as_it_is_shown():
    assert "with the words changed so far, between stars" in legend_of(PATH, "text")
    assert "lists the values changed so far, before and after" in legend_of(PATH, "table")
    for said in (
        *read(PATH, kind="table"),
        legend_of(PATH, "table"),
        *read(together(LIME, PATH), kind="table"),
    ):
        assert "star" not in said
        assert "word" not in said
    (line,) = read(NO_CHANGE, PATH)
    assert "Each step shows the text" in line
    assert line.endswith("Where no such changes were found, the explanation says so.")
    assert "step" not in legend_of(NO_CHANGE).lower()
    assert "The model gave the same answer to all changed versions" in legend_of(NO_CHANGE)


@pytest.mark.parametrize(
    ("kind", "shown"), [("text", "new words stand between stars"), ("table", "each value before and after")]
)
def test_of_a_path_in_a_composite_only_what_it_shows_is_explained(kind, shown):
    [line] = [line for line in read(together(LIME, PATH), kind=kind) if line.startswith("- Path: ")]
    assert line == (
        f"- Path: Changes after which the model gives another answer ({shown}). Where none were found, it says so."
    )


def test_only_a_prototype_model_is_said_to_decide_by_examples():
    (own,) = read(EXEMPLAR, model="prototype-bilstm(epochs=2)")
    (other,) = read(EXEMPLAR)
    assert own == f"{other} {DECIDES_BY_EXAMPLES}"
    assert "the most similar one whose label is the model's answer" in other
    for line in read(together(LIME, EXEMPLAR)):
        assert DECIDES_BY_EXAMPLES not in line
    assert "with this answer" in question_on("exemplar").answers[1]


def test_weights_of_more_than_two_classes_speak_of_the_models_answer():
    (two,) = read(LIME, display="weights")
    assert "above zero they speak for ⟦1⟧, below zero for ⟦0⟧" in two
    (three,) = read(LIME, display="weights", classes=3)
    assert "above zero they speak for the model's answer, below zero against it" in three
    assert "the estimated probability of the model's answer" in three


def test_where_nothing_could_be_changed_no_line_speaks_of_changes():
    rule = replace(RULE, conditions=(), named=(), precision=1.0, reached=True, details={"fresh samples": 0})
    assert legend_of(rule) == ""
