"""Rules, paths, examples and composites in front of participants: in words, without the names of classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from verax.explain import Attribution, Composite, Edit, Exemplar, Part, Path, Rule, RuleStep
from verax.explain.account import account
from verax.studies.build.build import build_study
from verax.studies.display.written_block import as_text, in_words, legend_of, unnamed
from verax.studies.model.screen import Quote
from verax.web.participant.drawn_blocks import drawn

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


def told(explanation):
    return as_text(account(unnamed(explanation, NAMES), plain=True))


def test_a_rule_is_a_numbered_list_of_conditions():
    assert told(RULE) == "Conditions for the model predicting '⟦0⟧':\n1. dull"


def test_a_path_is_told_step_by_step_with_changed_words_between_stars():
    assert told(PATH) == (
        "Original evidence margin: -2.29\nEdits for changing the prediction to '⟦1⟧':\n\n"
        "Step 1. Evidence margin: +0.56\na **fine** film"
    )


def test_an_example_is_shown_with_its_similarity_out_of_ten():
    assert told(EXEMPLAR) == (
        "Most similar prototype (label: ⟦0⟧):\nRoutine and silly.\nImportant words:\ndull\t+5.19\nfilm\t-0.20\n"
        "Similarity score: 9.96 out of 10"
    )


def test_a_composite_has_all_parts_one_below_the_other():
    text = told(COMPOSITE)
    # Weights speak of the second of two classes on every page: what was 0.30 for the first is 0.30 against the second.
    assert "film\t+0.10\ndull\t-0.30\nSum of words\t-0.20\nBaseline\t0.50" in text
    assert "Estimated probability of '⟦1⟧'\t0.30" in text
    assert text.index("LIME") < text.index("Anchor") < text.index("Decision boundary")
    assert "Evidence margin" not in text  # only the last step, all edits at once
    assert not any(name in text for name in NAMES)


@pytest.mark.parametrize("explanation", [RULE, PATH, EXEMPLAR, COMPOSITE])
def test_every_kind_says_how_to_read_it(explanation):
    assert in_words(explanation)
    assert legend_of(explanation).endswith(".")


def test_scores_stay_marks():
    assert not in_words(LIME)


@pytest.mark.parametrize(
    "protocol", [{"name": "forward", "learning": 4, "test": 8}, {"name": "counterfactual", "test": 8}]
)
def test_a_study_with_such_conditions_is_built_and_shows_them(small_spec, tmp_path, protocol):
    spec = small_spec(
        protocol=protocol,
        conditions=[
            {"name": "none"},
            {"name": "anchor", "explainer": "anchor", "parameters": {"words": "removed", "beam": 1}},
            {"name": "boundary", "explainer": "decision-boundary", "parameters": {"samples": 500}},
        ],
    )
    study = build_study(spec, "# a spec\n", tmp_path / "study")
    quotes = [
        block for screen in study.screens.values() for block in screen.blocks if isinstance(block, Quote)
    ]
    rules = [quote for quote in quotes if "for the model predicting '⟦" in quote.text]
    paths = [quote for quote in quotes if quote.text.startswith("Original evidence margin")]
    assert len(rules) >= 4
    assert len(paths) >= 4
    assert len(rules) + len(paths) == len(quotes)
    assert all(quote.legend and quote.names_classes for quote in quotes)
    # Nothing that only readers of a report need.
    assert not any("perturbed inputs" in quote.text for quote in quotes)


def test_participants_read_the_names_of_classes():
    quote = drawn(Quote(told(PATH), "Explanation", names_classes=True), ("Group A", "Group B"))
    assert "Edits for changing the prediction to 'Group B':" in quote.pieces[0].text
    assert "⟦" not in quote.pieces[0].text


@pytest.mark.parametrize("reached", [True, False])
def test_a_rule_without_conditions_speaks_of_none_below_it(reached):
    assert legend_of(RULE).startswith("While these conditions hold")
    assert "conditions hold" not in legend_of(replace(RULE, conditions=(), named=(), reached=reached))
