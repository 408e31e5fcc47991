"""Prompts, examples and labels, and which parts of a prompt explanations are about."""

import pytest

from tiny_language import EXAMPLES, LABELS, PROMPT
from verax.errors import VeraxError
from verax.models.llm.prompt import checked_features, checked_labels, make_prompt


def test_examples_are_written_as_the_text_is_with_their_label_behind():
    prompt = make_prompt(PROMPT, LABELS, EXAMPLES)
    assert prompt.fill("so so").whole == (
        "Say whether it is good.\n\n"
        "Review: the plot was good\nSentiment: positive\n\n"
        "Review: a dull film\nSentiment: negative\n\n"
        "Review: so so\nSentiment:"
    )


def test_without_a_place_for_them_examples_stand_first_and_the_whole_prompt_is_how_each_is_written():
    prompt = make_prompt("Review: {text} =>", LABELS, [("good", 1)])
    assert prompt.fill("bad").whole == "Review: good => positive\n\nReview: bad =>"


def test_a_mask_in_an_example_is_filled_with_its_label():
    prompt = make_prompt(
        "{text} It was {mask}.", {"no": "bad", "yes": "good"}, [("Fun!", "yes")], masked=True
    )
    assert prompt.fill("Hm.").whole == "Fun! It was good.\n\nHm. It was {mask}."


@pytest.mark.parametrize(
    ("features", "named"),
    [
        ("words", ["so", "bad"]),
        ("sentences", ["so so.", "so bad!"]),
        ("examples", ["example 1", "example 2"]),
        ("instructions", ["Say whether it is good.", "Sentiment:"]),
        (
            "prompt",
            ["Say whether it is good.", "example 1", "example 2", "so so.", "so bad!", "Sentiment:"],
        ),
    ],
)
def test_every_feature_stands_where_its_spans_say(features, named):
    text = "so so. so bad!"
    prompt = make_prompt(PROMPT, LABELS, EXAMPLES)
    placed = prompt.place(text, features)
    assert list(placed.features) == named
    whole = prompt.fill(text).whole
    for name, places in zip(placed.features, placed.spans, strict=True):
        for start, end in places:
            said = whole[start:end]
            assert said.startswith("Review: ") if name.startswith("example") else said == name
    if placed.shown is not None:
        for given, shown in zip(placed.spans, placed.shown_spans, strict=True):
            assert [whole[a:b] for a, b in given] == [placed.shown[a:b] for a, b in shown]


def test_passages_are_parted_by_empty_lines():
    text = "First line\nof one.\n\nThe second. Both of it.\n \nThird"
    placed = make_prompt("Read:\n{text}\nSo:", LABELS).place(text, "passages")
    assert list(placed.features) == ["First line of one.", "The second. Both of it.", "Third"]


@pytest.mark.parametrize(
    ("template", "examples", "sentence"),
    [
        ("Review:", [], "does not say where the text comes; write {text} in it, once"),
        ("{text} {text}", [], "does not say where the text comes"),
        ("{text} {examples}", EXAMPLES, "stands in the prompt once, before {text}"),
        ("{examples}{text}", [], "a place for examples and there are none"),
        ("{text}", ["good"], "Example 0 is 'good'; give pairs of a text and its class"),
        (
            "{text}",
            [("good", "great")],
            "has the class 'great', which has no label; the classes are negative, positive",
        ),
    ],
)
def test_a_prompt_that_cannot_be_asked_is_refused_in_a_sentence(template, examples, sentence):
    with pytest.raises(VeraxError) as refused:
        make_prompt(template, LABELS, examples)
    assert sentence in str(refused.value)


def test_a_masked_prompt_needs_the_place_of_its_mask():
    with pytest.raises(VeraxError, match=r"write {mask} in the prompt, once"):
        make_prompt("{text} It was", LABELS, masked=True)


def test_labels_are_the_names_with_a_space_unless_given():
    assert checked_labels(["no", "yes"]) == {"no": " no", "yes": " yes"}


@pytest.mark.parametrize("labels", [{}, {"a": " a"}, {"a": " x", "b": " x"}, {"a": " a", "b": " "}, "ab"])
def test_labels_that_do_not_tell_classes_apart_are_refused(labels):
    with pytest.raises(VeraxError, match="labels="):
        checked_labels(labels)


def test_unknown_features_are_refused_with_those_there_are():
    with pytest.raises(VeraxError, match="one of words, sentences, passages, examples, instructions, prompt"):
        checked_features("lines")
