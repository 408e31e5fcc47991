"""Rules, paths, examples and composites in front of participants: in words, without the names of classes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from verax.codec import encode
from verax.data.words import split_words
from verax.explain import Attribution, Composite, Edit, Exemplar, Part, Path, Rule, RuleStep
from verax.studies.build.build import build_study
from verax.studies.definition.screen import Excerpt, Grid, Lines, Screen, WordedExplanation, read_screen
from verax.studies.display.stimulus import in_words, worded_block
from verax.web.participant.step_page import drawn

NAMES = ("awful", "superb")
RULE = Rule(
    ("a", "dull", "film"),
    (1,),
    ("dull",),
    0.98,
    0.96,
    0.5,
    True,
    (RuleStep((), 0.6, 1.0),),
    0,
    "awful",
    "a dull film",
)
PATH = Path(
    ("a", "dull", "film"), (Edit(1, 1, "dull", "fine"),), (-2.29, 0.56), "superb", 0, "awful", "a dull film"
)
EXEMPLAR = Exemplar(
    ("a", "dull", "film"),
    np.array([0.0, 5.19, -0.2]),
    0.996,
    "Routine and silly.",
    "awful",
    0,
    "awful",
    "a dull film",
)
LIME = Attribution(
    ("a", "dull", "film"), np.array([0.0, 0.3, -0.1]), 0, "awful", "a dull film", details={"intercept": 0.5}
)
COMPOSITE = Composite((Part("LIME", LIME), Part("Anchor", RULE), Part("Decision boundary", PATH)), 0, "awful")


def parts_of(explanation):
    return worded_block(explanation, NAMES).parts


def test_a_rule_is_a_numbered_list_of_conditions():
    assert parts_of(RULE) == (Lines("Conditions for the model predicting '⟦0⟧':\n1. dull"),)


def test_a_rule_that_does_not_always_hold_says_how_often_it_does():
    """Precision 0.75: three quarters of the changed versions keep the answer, which is not nearly all."""
    rule = replace(RULE, precision=0.754, lowest=0.7, reached=False)
    said = "While these conditions hold, the model gives this answer in about 75 of 100 changed versions."
    assert parts_of(rule)[0].text.split("\n")[-1] == said
    together = Composite((Part("Anchor", rule),), 0, "awful")
    assert parts_of(together)[0].text.split("\n")[-1] == said
    none_found = replace(rule, conditions=(), named=(), precision=0.6)
    assert parts_of(none_found)[0].text == (
        "No condition was found for the model predicting '⟦0⟧'.\n"
        "Without conditions, the model gives this answer in about 60 of 100 changed versions."
    )


def test_a_path_is_told_step_by_step_with_changed_words_apart():
    assert parts_of(PATH) == (
        Lines("Original evidence margin: -2.29\nEdits for changing the prediction to '⟦1⟧':"),
        Lines("", "Step 1. Evidence margin: +0.56"),
        Excerpt((("a ", False), ("fine", True), (" film", False))),
    )
    assert worded_block(PATH, NAMES).plain(" ").endswith("\na **fine** film")


def test_an_example_is_shown_with_its_similarity_out_of_ten():
    assert parts_of(EXEMPLAR) == (
        Lines("Most similar prototype with the label '⟦0⟧':"),
        Excerpt((("Routine and silly.", False),)),
        Lines("Important words:"),
        Grid((), (("dull", "+5.19"), ("film", "-0.20"))),
        Lines("Similarity score: 9.96 out of 10"),
    )


def test_a_composite_has_all_parts_one_below_the_other():
    text = worded_block(COMPOSITE, NAMES).plain("\t")
    # Weights speak of the second of two classes on every page: what was 0.30 for the first is 0.30 against the second.
    assert "film\t+0.10\ndull\t-0.30\nSum of words\t-0.20\nBaseline\t0.50" in text
    assert "Estimated probability of '⟦1⟧'\t0.30" in text
    headings = [part.heading for part in parts_of(COMPOSITE) if isinstance(part, Lines) and part.heading]
    assert headings == ["LIME", "Anchor", "Decision boundary"]
    assert "Evidence margin" not in text  # only the last step, all edits at once
    assert not any(name in text for name in NAMES)


@pytest.mark.parametrize(
    "text",
    ["a warm\tand moving film", "a warm\n\nand moving film", "a warm **and** ⟦1⟧ film", "a warm , film"],
)
def test_whatever_a_text_holds_is_shown_as_it_is(text):
    """Tabs made tables of texts once, and stars of a text looked like those around changed words."""
    start, end = text.split("warm")
    features = tuple(dict.fromkeys(split_words(text).words))
    path = Path(features, (Edit(1, 1, "warm", "dull"),), (-2.0, 0.5), "superb", 0, "awful", text)
    *_, shown = parts_of(path)
    tidy = ", film" if end == " , film" else end  # only tokens that were cut apart are put together again
    assert shown == Excerpt(((start, False), ("dull", True), (tidy, False)))
    example = replace(EXEMPLAR, prototype=text)
    assert parts_of(example)[1] == Excerpt(((f"{start}warm{tidy}", False),))
    block = worded_block(path, NAMES)
    assert read_screen(json.loads(json.dumps(encode(Screen("x", (block,)))))).blocks == (block,)


@pytest.mark.parametrize("explanation", [RULE, PATH, EXEMPLAR, COMPOSITE])
def test_every_kind_says_how_to_read_it(explanation):
    assert in_words(explanation)
    assert worded_block(explanation, NAMES).legend.endswith(".")


def test_scores_stay_marks():
    assert not in_words(LIME)


@pytest.mark.parametrize(
    "protocol", [{"name": "forward", "learning": 4, "test": 8}, {"name": "counterfactual", "test": 8}]
)
def test_a_study_with_such_conditions_is_built_and_shows_them(small_spec, tmp_path, protocol):
    spec = small_spec(
        protocol=protocol,
        display={"wording": "published"},
        conditions=[
            {"name": "none"},
            {"name": "anchor", "explainer": "anchor", "parameters": {"words": "removed", "beam": 1}},
            {"name": "boundary", "explainer": "decision-boundary", "parameters": {"samples": 500}},
        ],
    )
    study = build_study(spec, "# a spec\n", tmp_path / "study")
    told = [
        block
        for screen in study.screens.values()
        for block in screen.blocks
        if isinstance(block, WordedExplanation)
    ]
    texts = [block.plain(" ") for block in told]
    # A rule without conditions is one, too.
    rules = [text for text in texts if "for the model predicting '⟦" in text or "condition is needed" in text]
    paths = [text for text in texts if text.startswith("Original evidence margin")]
    assert len(rules) >= 4
    assert len(paths) >= 4
    assert len(rules) + len(paths) == len(texts)
    assert all(block.legend for block in told)
    # Nothing that only readers of a report need.
    assert not any("perturbed inputs" in text for text in texts)


def test_participants_read_the_names_of_classes():
    shown = drawn(worded_block(PATH, NAMES), ("Group A", "Group B"))
    assert "Edits for changing the prediction to 'Group B':" in shown.parts[0].text
    assert "⟦" not in shown.plain(" ")
