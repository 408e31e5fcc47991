"""Relevance: on paper, against gradients, and against a slow loop written from the rule."""

import copy

import numpy as np
import pytest

import verax
from verax.errors import VeraxError
from verax.explain.checks import check_explainer

torch = pytest.importorskip("torch")


def test_two_layers_on_paper(by_hand):
    """The unit (4) gets 8 of 8.5, the filters 4 and 2 of it, the words 4 and 3: biases keep 0.5, 2 and -1."""
    (found,) = verax.explainer("lrp", epsilon=0.0).explain(by_hand, ["good bad"], ["yes"])
    assert found.scores.tolist() == [4.0, 3.0]
    assert found.details == {"score": 8.5, "absorbed": 1.5}


def test_epsilon_on_paper(by_hand):
    """With epsilon 1: 8 of 9.5 x 8.5, shared by 2 and 1 of 4 + 1, then 2 of 2 + 1 and 3 of 2 + 1."""
    (found,) = verax.explainer("lrp", epsilon=1.0).explain(by_hand, ["good bad"], ["yes"])
    unit = 8 * 8.5 / 9.5
    assert found.scores == pytest.approx([unit * 2 / 5 * 2 / 3, unit * 1 / 5 * 3 / 3], rel=1e-7)


def test_without_epsilon_a_rectifier_network_hands_back_gradient_times_input(cnn, film_data):
    """Ancona et al. (2018); a text that repeats no word has no two equal responses to share between."""
    texts = [text for text in film_data.test.inputs if len(set(text.split())) == len(text.split())]
    relevance = verax.explainer("lrp", epsilon=0.0).explain(cnn, texts)
    gradients = verax.explainer("gradient-x-input").explain(cnn, texts)
    assert len(texts) > 20
    for one, other in zip(relevance, gradients, strict=True):
        assert one.scores == pytest.approx(other.scores, rel=1e-4, abs=1e-6)


def slow_relevance(network, vectors, target, epsilon):
    """The rule of Arras et al. (2017), one text, one weight at a time."""
    weights = {name: value.detach().double().numpy() for name, value in network.named_parameters()}
    vectors = vectors.astype(float)
    length = len(vectors)
    units = weights["lstm.weight_hh_l0"].shape[1]

    def share(inputs, matrix, sums, relevance):
        handed = np.zeros(len(inputs))
        for out, (total, had) in enumerate(zip(sums, relevance, strict=True)):
            for place in range(len(inputs)):
                part = inputs[place] * matrix[out, place]
                handed[place] += part * had / (total + (epsilon if total >= 0 else -epsilon))
        return handed

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def read(rows, way):
        W, U = weights[f"lstm.weight_ih_l0{way}"], weights[f"lstm.weight_hh_l0{way}"]
        b = weights[f"lstm.bias_ih_l0{way}"] + weights[f"lstm.bias_hh_l0{way}"]
        h, c, past = np.zeros(units), np.zeros(units), []
        for row in rows:
            z = W @ row + U @ h + b
            i, f, o = sigmoid(z[:units]), sigmoid(z[units : 2 * units]), sigmoid(z[3 * units :])
            zg = z[2 * units : 3 * units]
            new = f * c + i * np.tanh(zg)
            past.append((row, h, c, i * np.tanh(zg), f, zg, new))
            h, c = o * np.tanh(new), new
            past[-1] = (*past[-1], h)
        return past

    both = [read(vectors, ""), read(vectors[::-1], "_reverse")]
    states = np.array([np.concatenate([both[0][t][-1], both[1][length - 1 - t][-1]]) for t in range(length)])
    fit = (
        np.tanh(states @ weights["attention.weight"].T + weights["attention.bias"])
        @ weights["context.weight"][0]
    )
    attention = np.exp(fit) / np.exp(fit).sum()
    text = attention @ states
    score = weights["output.weight"][target] @ text + weights["output.bias"][target]
    of_text = share(text, weights["output.weight"][target][None], [score], [score])
    of_states = np.array([
        [attention[t] * states[t, u] * of_text[u] / (text[u] + (epsilon if text[u] >= 0 else -epsilon))
         for u in range(2 * units)]
        for t in range(length)
    ])  # fmt: skip
    words = np.zeros(length)
    for past, way, columns in ((both[0], "", slice(0, units)), (both[1], "_reverse", slice(units, None))):
        signal = slice(2 * units, 3 * units)
        W, U = weights[f"lstm.weight_ih_l0{way}"][signal], weights[f"lstm.weight_hh_l0{way}"][signal]
        back_h, back_c = np.zeros(units), np.zeros(units)
        for step in range(length - 1, -1, -1):
            word = step if way == "" else length - 1 - step
            row, before_h, before_c, entered, forget, zg, cell, _ = past[step]
            of_cell = back_c + back_h + of_states[word, columns]
            stable = cell + np.where(cell >= 0, epsilon, -epsilon)
            of_signal, back_c = entered * of_cell / stable, forget * before_c * of_cell / stable
            words[word] += share(row, W, zg, of_signal).sum()
            back_h = share(before_h, U, zg, of_signal)
    return words, score


def test_the_bilstm_follows_the_rule_for_gates(bilstm, texts):
    chosen = [text for text in texts if text.strip(" .!")][:5] + texts[-2:]
    for target in (0, 1):
        for text, found in zip(
            chosen, verax.explainer("lrp").explain(bilstm, chosen, [target] * len(chosen)), strict=True
        ):
            (embedded,) = bilstm.embed([text])
            words, score = slow_relevance(bilstm.network, embedded.vectors, target, 0.001)
            assert found.scores == pytest.approx(words, rel=1e-6, abs=1e-7)
            assert found.details["score"] == pytest.approx(score, abs=1e-6)


def test_without_biases_and_epsilon_nothing_is_absorbed(bilstm, cnn, texts):
    for model in (bilstm, cnn):
        network = copy.deepcopy(model.network)
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if "bias" in name:
                    parameter.zero_()
        bare = type(model)(network, model.encoder, model.class_names)
        for found in verax.explainer("lrp", epsilon=1e-12).explain(bare, texts):
            assert found.scores.sum() == pytest.approx(found.details["score"], rel=1e-5, abs=1e-6)


def test_what_is_absorbed_is_told(bilstm, cnn, texts):
    for model in (bilstm, cnn):
        for text, found in zip(texts, verax.explainer("lrp").explain(model, texts), strict=True):
            (row,) = model.scores([text])
            assert found.scores.sum() + found.details["absorbed"] == pytest.approx(
                row[found.target], abs=1e-4
            )


@pytest.mark.parametrize("name", ["cnn", "bilstm"])
def test_the_contract(name, request):
    check_explainer(verax.explainer("lrp"), model=request.getfixturevalue(name))


def test_a_word_beyond_what_is_read_scores_nothing(cnn):
    from dataclasses import replace

    short = replace(cnn, encoder=replace(cnn.encoder, max_words=2))
    (found,) = verax.explainer("lrp").explain(short, ["good film bad bad"])
    assert found.features == ("good", "film", "bad", "bad")
    assert found.scores[2:].tolist() == [0.0, 0.0]
    assert abs(found.scores[0]) > 0


def test_a_negative_epsilon_is_refused():
    with pytest.raises(VeraxError, match="must be 0 or more"):
        verax.explainer("lrp", epsilon=-1.0)
