"""Masked variants of prompts: the path gives what the model says to each of them alone."""

import numpy as np
import pytest

import verax
from tiny_language import EXAMPLES, LABELS, PROMPT, network, tokenizer
from verax.data.words import split_words
from verax.perturb import Masks, path_for

TEXTS = ["the plot was good , the plot was dull !", "Étrange — 漢字 good", "good", " ...", ""]


def model_of(sort="causal", **options):
    prompt = "{text} It was {mask}." if sort == "masked" else PROMPT
    given = {} if sort == "masked" else {"examples": EXAMPLES}
    return verax.as_model(
        network(sort), tokenizer=tokenizer(sort), **{"prompt": prompt, "labels": LABELS, **given, **options}
    )


def variants_of(n_features, seed=0):
    present = np.random.default_rng(seed).random((12, n_features)) < 0.6
    present[0] = True
    return present


@pytest.mark.parametrize("sort", ["causal", "masked", "seq2seq"])
def test_words_are_taken_out_of_the_text_and_of_nothing_else(sort):
    model = model_of(sort)
    path = path_for(model)
    prepared = path.prepare(TEXTS)
    masks = [variants_of(len(ready.features)) for ready in prepared]
    answers = list(path.evaluate(prepared, [Masks.from_rows(rows) for rows in masks]))
    for text, ready, rows, answer in zip(TEXTS, prepared, masks, answers, strict=True):
        words = split_words(text)
        assert ready.features == words.distinct
        kept = [
            words.keep(word for word, here in zip(ready.features, row, strict=True) if here) for row in rows
        ]
        # The plain way: each variant's text by itself.
        plain = np.concatenate([model.predict_proba([each]) for each in kept])
        np.testing.assert_allclose(answer.probabilities, plain, atol=1e-4)
        assert answer.rows == len(set(kept))


def test_examples_and_instructions_can_be_taken_out():
    text = "a dull plot."
    model = model_of(features="prompt")
    path = path_for(model)
    (ready,) = path.prepare([text])
    assert ready.features == (
        "Say whether it is good.", "example 1", "example 2", "a dull plot.", "Sentiment:"
    )  # fmt: skip
    rows = np.array(
        [[1, 1, 1, 1, 1], [0, 1, 1, 1, 1], [1, 0, 1, 1, 1], [1, 1, 1, 0, 1], [1, 1, 1, 1, 0]], dtype=bool
    )
    (answer,) = path.evaluate([ready], [Masks.from_rows(rows)])
    first, second = model.prompt.examples
    whole = [
        "Say whether it is good.\n\n" + first + second + "Review: a dull plot.\nSentiment:",
        "\n\n" + first + second + "Review: a dull plot.\nSentiment:",
        "Say whether it is good.\n\n" + second + "Review: a dull plot.\nSentiment:",
        "Say whether it is good.\n\n" + first + second + "Review: \nSentiment:",
        "Say whether it is good.\n\n" + first + second + "Review: a dull plot.\n",
    ]
    # Asked without any prompt of its own: the text is the whole prompt.
    bare = verax.as_model(network(), tokenizer=tokenizer(), prompt="{text}", labels=LABELS)
    np.testing.assert_allclose(answer.probabilities, bare.predict_proba(whole), atol=1e-4)


@pytest.mark.parametrize("features", ["sentences", "passages", "examples", "instructions", "prompt"])
def test_explanations_of_parts_say_where_they_stand(features):
    model = model_of(features=features)
    text = "The plot was good. The film was dull!\n\nBut fine."
    for explainer in (verax.explainer("greedy"), verax.explainer("lime", samples=40)):
        (explanation,) = explainer.explain(model, [text])
        shown = text if features in ("sentences", "passages") else model.prompt.fill(text).whole
        assert explanation.input == shown
        for name, ((start, end),) in zip(explanation.features, explanation.spans, strict=True):
            assert shown[start:end].startswith("Review: " if name.startswith("example") else name)


def test_lime_on_words_is_lime_on_a_function_that_asks_the_plain_way():
    model = model_of()
    function = verax.as_model(
        lambda texts: np.concatenate([model.predict_proba([text]) for text in texts]),
        class_names=tuple(LABELS),
    )
    lime = verax.explainer("lime", samples=64)
    for fast, plain in zip(lime.explain(model, TEXTS[:2]), lime.explain(function, TEXTS[:2]), strict=True):
        assert fast.features == plain.features
        np.testing.assert_allclose(fast.scores, plain.scores, atol=1e-4)
        assert fast.cost.rows == plain.cost.rows
