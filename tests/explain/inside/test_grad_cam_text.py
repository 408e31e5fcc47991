"""Grad-CAM-Text: on paper, and against a slow loop written straight from the equation."""

from itertools import pairwise

import numpy as np
import pytest

import verax
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.checks import check_explainer

torch = pytest.importorskip("torch")


def test_on_paper(by_hand):
    """Both filters push "yes": the derivatives are 2 and 1, the responses 2 and 2."""
    (found,) = verax.explainer("grad-cam-text").explain(by_hand, ["good bad"], ["yes"])
    assert [(part.text, part.score) for part in found.evidence] == [("good", 4.0), ("bad", 2.0)]
    assert found.counter_evidence == ()
    (other,) = verax.explainer("grad-cam-text").explain(by_hand, ["good bad"], ["no"])
    assert other.evidence == ()
    assert [(part.text, part.score) for part in other.counter_evidence] == [("good", -2.0), ("bad", -1.0)]


def slow_explanation(model, text, target, count, negative):
    """Section 4.3.1, step by step, the derivative by autograd."""
    network = model.network
    words = split_words(text)
    ids, lengths = model.encoder.collate(model.encoder.encode([text]))
    with torch.no_grad():
        responses = network.responses(network.embedding(ids), lengths)[0]  # (filters, positions)
    strongest = responses.amax(dim=1).double()
    v = strongest.clone().requires_grad_()
    weights = {name: value.detach().double() for name, value in network.named_parameters()}
    hidden = torch.relu(weights["hidden.weight"] @ v + weights["hidden.bias"])
    fc = weights["output.weight"] @ hidden + weights["output.bias"]
    (derivative,) = torch.autograd.grad(fc[target], v)
    widths = [width for width in network.widths for _ in range(len(responses) // len(network.widths))]
    effect_of_word = [0.0] * len(words)
    ngrams = []
    for k in range(len(v)):
        d = float(derivative[k])
        E = abs(min(d, 0.0) if negative else max(d, 0.0)) * float(strongest[k])
        if float(strongest[k]) <= 0.0:
            continue  # it detected nothing
        start = int(responses[k].argmax())
        N = list(range(start, min(start + widths[k], len(words))))
        if N:
            ngrams.append(tuple(N))
        for i in N:
            effect_of_word[i] += E
    ranked = sorted(set(ngrams), key=lambda N: (-round(sum(effect_of_word[i] for i in N), 6), N[0], len(N)))
    chosen = []
    for N in ranked:
        total = sum(effect_of_word[i] for i in N)
        if len(chosen) < count and total > 0 and not any(set(N) & set(other) for other, _ in chosen):
            chosen.append((N, total))
    return [(text[words.starts[N[0]] : words.ends[N[-1]]], total) for N, total in chosen], effect_of_word


@pytest.fixture
def distinct(film_data):
    """Texts in which no run of words comes twice, so that no two places respond equally; and odd ones."""
    texts = [text for text in film_data.test.inputs if len(set(text.split())) == len(text.split())]
    return [*texts[:25], "", "good", " ... !", "a fine, own plot"]


def test_it_is_the_equation(cnn, distinct):
    texts = distinct
    for target in (0, 1):
        found = verax.explainer("grad-cam-text").explain(cnn, texts, [target] * len(texts))
        assert any(len(each.evidence) == 3 for each in found)
        for text, each in zip(texts, found, strict=True):
            for side, sign in ((each.evidence, 1), (each.counter_evidence, -1)):
                slow, _ = slow_explanation(cnn, text, target, 3, negative=sign < 0)
                assert [part.text for part in side] == [part for part, _ in slow]
                assert [sign * part.score for part in side] == pytest.approx(
                    [total for _, total in slow], rel=1e-4, abs=1e-6
                )


def test_words_have_the_effects_of_the_n_grams_that_contain_them(cnn, distinct):
    texts = distinct
    found = verax.explainer("grad-cam-text", output="words").explain(cnn, texts, [1] * len(texts))
    for text, each in zip(texts, found, strict=True):
        evidence, counter = (
            np.array(slow_explanation(cnn, text, 1, 3, negative=side)[1]) for side in (False, True)
        )
        assert each.scores == pytest.approx(evidence - counter, rel=1e-4, abs=1e-6)


def test_fragments_stand_where_they_say_and_do_not_overlap(cnn, texts):
    for found in verax.explainer("grad-cam-text", count=5).explain(cnn, texts):
        for side in (found.evidence, found.counter_evidence):
            spans = sorted(part.span for part in side)
            assert all(found.input[slice(*part.span)] == part.text for part in side)
            assert all(one[1] <= other[0] for one, other in pairwise(spans))


@pytest.mark.parametrize("output", ["fragments", "words"])
def test_the_contract(cnn, output):
    check_explainer(verax.explainer("grad-cam-text", output=output), model=cnn)


def test_bad_parameters_are_sentences():
    with pytest.raises(VeraxError, match="count=0 is too small"):
        verax.explainer("grad-cam-text", count=0)
    with pytest.raises(VeraxError, match="must be 'fragments' or 'words'"):
        verax.explainer("grad-cam-text", output="word")
