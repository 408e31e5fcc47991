"""What methods give in words, told so that people who know nothing of methods understand it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studies.display.test_written_block import COMPOSITE, EXEMPLAR, LIME, NAMES, PATH, RULE
from verax.explain import Edit, Path
from verax.phrases import speaking
from verax.studies.definition.screen import Excerpt, Grid, Lines
from verax.studies.display.legends import legend_of_kind, question_on
from verax.studies.display.plain_words import piece_of, whole_words
from verax.studies.display.stimulus import plain_block
from verax.studies.protocols.checks import sample_material

# What only readers of a paper know.
STRANGE = ("margin", "Baseline", "**", "prototype", "Sum of", "probability", "predict", "Step")


def told(explanation, data="text", features=0):
    return plain_block(explanation, NAMES, data, features)


def test_a_rule_names_what_has_to_stay():
    assert told(RULE).parts == (
        Lines("As long as these words stay in the text, the model answers “⟦0⟧”:\n1. dull"),
    )
    weak = replace(RULE, precision=0.754, lowest=0.7, reached=False)
    assert told(weak).parts[0].text.endswith("Then it gives this answer in about 75 of 100 changed versions.")
    assert told(weak).legend == "These words alone do not settle the model's answer."


def test_of_a_path_only_where_it_ends_is_shown_with_new_words_in_boxes():
    assert told(PATH).parts == (
        Lines("With this change the model answers “⟦1⟧”:"),
        Excerpt((("a ", False), ("fine", True), (" film", False))),
    )
    assert not told(PATH).starred
    row = Path(
        ("Age",), (Edit(0, None, "Age = 30", "Age = 50"),), (-1.0, 1.0), "superb", 0, "awful", ("Age = 30",)
    )
    assert told(row, "table").parts[1] == Grid(("before", "after"), (("Age = 30", "Age = 50"),))
    none = replace(PATH, edits=(), margins=(-2.29,), flipped_to="")
    assert told(none).parts == (Lines("No changes were found after which the model gives another answer."),)


def test_an_example_says_what_makes_it_alike_without_numbers_of_a_method():
    assert told(EXEMPLAR).parts == (
        Lines(
            "Of the examples with the label “⟦0⟧” that the model has learned from, this one is the most similar:"
        ),
        Excerpt((("Routine and silly.", False),)),
        Lines("What makes the two alike: dull\nWhat makes them different: film\nSimilarity: 10.0 of 10"),
    )


def test_scores_of_a_composite_are_for_and_against_the_models_answer():
    """As published they speak of the second of two classes: +0.3 for the first, the model's answer, was -0.30 there."""
    parts = told(COMPOSITE).parts
    assert parts[:2] == (
        Lines("", "What mattered most"),
        Lines("For the model's answer: dull\nAgainst it: film"),
    )
    assert told(LIME, features=1).parts == (Lines("For the model's answer: dull"),)
    headings = [part.heading for part in parts if isinstance(part, Lines) and part.heading]
    assert headings == [
        "What mattered most",
        "What is enough for this answer",
        "What would change the answer",
    ]


@pytest.mark.parametrize("explanation", [RULE, PATH, EXEMPLAR, COMPOSITE])
@pytest.mark.parametrize("language", ["en", "de"])
def test_nothing_of_a_method_is_left(explanation, language):
    with speaking(language):
        block = told(explanation)
    said = block.plain(" ").replace("**fine**", "fine") + block.legend
    assert not any(word in said for word in STRANGE)


@pytest.mark.parametrize("kind", ["rule", "path", "exemplar", "composite"])
@pytest.mark.parametrize("data", ["text", "table"])
def test_how_to_read_it_speaks_of_what_is_shown(kind, data):
    line = legend_of_kind(kind, data, plain=True)
    asked = question_on(kind, data, plain=True)
    said = " ".join((line, asked.question, *asked.answers))
    assert not any(word in said.lower() for word in ("margin", "star", "prototype", "condition", "step"))


@pytest.mark.parametrize(
    ("text", "words", "whole"),
    [
        ("it does n't work", ["does", "n", "t"], ["doesn't"]),
        ("it doesn't work", ["doesn", "t", "work"], ["doesn't", "work"]),
        ("does the film's plot", ["does", "s", "film"], ["does", "film's"]),
        ("a dull film", ["film"], ["film"]),
    ],
)
def test_words_are_whole(text, words, whole):
    assert whole_words(text, words) == whole


def test_a_piece_of_a_word_keeps_its_apostrophe_beside_the_text():
    assert [piece_of("it doesn't work", word) for word in ("doesn", "t", "work")] == ["doesn'", "'t", "work"]


def test_a_condition_is_told_in_plain_words_unless_the_spec_wants_the_published_ones():
    from verax.studies.display.stimulus import written_block

    for wording, starred in (("plain", False), ("published", True)):
        material = sample_material(
            {"name": "forward", "learning": 4, "test": 4},
            {"learning": 4, "test": 4},
            options={"display": {"wording": wording}},
        )
        key = next(key for key in material.explanations if key[1] == "method")
        shown = replace(material, explanations=material.explanations | {key: PATH})
        item = next(item for item in shown.items if item.id == key[0])
        block = written_block(shown, item, "method")
        assert block is not None
        assert ("margin" in block.plain(" ")) == starred == block.starred
