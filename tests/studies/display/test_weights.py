"""LIME as Hase and Bansal (2020) showed it: weights that add up with a baseline; and one question for each kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from verax.errors import VeraxError
from verax.explain.explanation import Attribution
from verax.studies.definition.screen import Bars, Passage
from verax.studies.definition.spec import make_study_spec
from verax.studies.display.legends import (
    method_question,
    of_second_class,
    question_on,
    reading_lines,
    shown_kind,
    weights_block,
)
from verax.studies.display.levels import shuffled_scores
from verax.studies.protocols.checks import check_protocol, sample_material
from web.gallery import TOLD

TEXT = "Despite modest aspirations its occasional charms are not to be dismissed."
# Figure 2 of the paper, with its numbers.
WORDS = {
    "despite": -0.18,
    "occasional": -0.11,
    "dismissed": -0.06,
    "modest": 0.04,
    "charms": 0.05,
    "its": 0.0,
}
CONDITIONS = [
    {"name": "none"},
    {"name": "lime", "explainer": "lime", "display": "weights"},
    {"name": "control", "like": "lime"},
]


def figure_two(target=1):
    """The figure's local model of the second class, or what it is of the first."""
    scores, baseline = np.array(list(WORDS.values())), 0.24
    if target == 0:
        scores, baseline = -scores, 1 - baseline
    return Attribution(
        tuple(WORDS), scores, target, ("neg", "pos")[target], TEXT, details={"intercept": baseline}
    )


def material_with(explanation, conditions=CONDITIONS, **options):
    """Made-up items, all of which have one explanation in every condition but a control."""
    made = sample_material(
        {"name": "forward"}, {"learning": 4, "test": 4}, conditions=conditions, options=options
    )
    given = {
        key: shuffled_scores(explanation, 0, key[0]) if key[1] == "control" else explanation
        for key in made.explanations
    }
    return replace(made, explanations=given)


@pytest.mark.parametrize("target", [0, 1])
def test_the_figure_of_the_paper_is_drawn_whatever_the_model_predicts(target):
    material = material_with(figure_two(target))
    block = weights_block(material, material.items[0], "lime")
    assert [name for name, _ in block.pairs] == [
        "charms",
        "modest",
        "dismissed",
        "occasional",
        "despite",
        "Sum of words",
        "Baseline",
        "Estimated probability of ⟦1⟧",
    ]
    values = [value for _, value in block.pairs]
    assert values == pytest.approx([0.05, 0.04, -0.06, -0.11, -0.18, -0.26, 0.24, -0.02])
    assert "above zero they speak for ⟦1⟧, below zero for ⟦0⟧" in block.legend


def test_a_page_shows_the_plain_input_and_weights_in_place_of_marks_and_a_control_looks_the_same():
    study = check_protocol(material_with(figure_two()))
    for condition in ("lime", "control"):
        blocks = study.screens[f"explained:i001:{condition}"].blocks
        (shown,) = [block for block in blocks if isinstance(block, Bars)]
        assert dict(shown.pairs)["Baseline"] == pytest.approx(0.24)
        assert dict(shown.pairs)["Sum of words"] == pytest.approx(-0.26)
        (passage,) = [block for block in blocks if isinstance(block, Passage)]
        assert not any(token.level for token in passage.tokens)


def test_marks_and_bars_stay_the_default():
    plain = [{"name": "none"}, {"name": "lime", "explainer": "lime"}]
    study = check_protocol(material_with(figure_two(), plain))
    (shown,) = [block for block in study.screens["explained:i001:lime"].blocks if isinstance(block, Bars)]
    assert "Baseline" not in dict(shown.pairs)


def test_scores_without_a_baseline_cannot_add_up():
    with pytest.raises(VeraxError, match=r"'lime' is to be displayed as weights .* use lime"):
        check_protocol(material_with(replace(figure_two(), details={})))
    three = replace(figure_two(), details={})
    assert of_second_class(three, ("a", "b", "c")) is three


def test_weights_need_a_direction_and_an_explainer():
    options = {"title": "t", "dataset": "d", "protocol": {"name": "forward"}}
    with pytest.raises(VeraxError, match=r"display\.direction is false"):
        make_study_spec(options | {"conditions": CONDITIONS, "display": {"direction": False}})
    with pytest.raises(VeraxError, match="has a display but no explainer"):
        make_study_spec(options | {"conditions": [{"name": "none", "display": "weights"}]})


@pytest.mark.parametrize("wording", ["plain", "published"])
@pytest.mark.parametrize("kind", ["rule", "path", "exemplar", "composite"])
def test_every_kind_has_its_own_question_and_says_how_it_is_read(kind, wording):
    conditions = [{"name": "none"}, {"name": "method", "explainer": "lime"}]
    material = material_with(TOLD[kind], conditions, display={"wording": wording})
    assert shown_kind(material, "method") == kind
    asked = method_question(material, "method")
    assert asked.correct == 2
    others = [
        question_on(other, plain=wording == "plain")
        for other in ("marks", "weights", "rule", "path", "exemplar", "composite", "written")
    ]
    assert [other.question for other in others].count(asked.question) == 1
    assert reading_lines(material, "method")
    said = " ".join(check_protocol(material).screens["about-explained:explained:method"].blocks[0].paragraphs)
    assert all(line.removeprefix("- ") in said for line in reading_lines(material, "method"))
