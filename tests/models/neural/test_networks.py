import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import softmax

from verax.data.table import Column, Schema
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain import explainer
from verax.models import fit_model
from verax.models.neural.architectures import CnnNetwork
from verax.models.neural.encoders import RowEncoder
from verax.perturb.dispatch import path_for

TEXTS = [
    "A good film, with some plot",
    "bad",
    "",
    "!!!",
    "zzz qqq",
    "the scene the scene the scene of its own slow own poor story about the actor",
    "Fine fine FINE",
]


def accuracy(model, part):
    return np.mean(model.predict_proba(part.inputs).argmax(axis=1) == part.labels)


def test_networks_learn(text_network, word_data):
    assert accuracy(text_network, word_data.test) > 0.95
    assert text_network.class_names == word_data.class_names
    assert text_network.reference == word_data.train.inputs


def test_the_dense_network_learns_a_table_with_missing_numbers(dense, mixed_data):
    assert accuracy(dense, mixed_data.test) > 0.85
    assert dense.reference is mixed_data.train.inputs
    assert dense.schema is mixed_data.schema
    raw = mixed_data.schema.decode(mixed_data.test.inputs[:20])
    assert np.array_equal(dense.predict_proba(raw), dense.predict_proba(mixed_data.test.inputs[:20]))


def test_probabilities_are_the_softmax_of_the_scores(text_network):
    assert np.allclose(
        softmax(text_network.scores(TEXTS), axis=1), text_network.predict_proba(TEXTS), atol=1e-12
    )
    assert text_network.predict_proba([]).shape == (0, 2)


def test_a_text_has_its_own_answer_whatever_stands_beside_it(text_network):
    alone = np.concatenate([text_network.predict_proba([text]) for text in TEXTS])
    assert np.allclose(alone, text_network.predict_proba(TEXTS), atol=1e-6)


def test_the_cnn_computes_what_the_paper_says(cnn):
    network = cnn.network
    weights = {name: tensor.detach().double().numpy() for name, tensor in network.state_dict().items()}
    for text in TEXTS:
        words = [word.lower() for word in split_words(text).words]
        ids = [cnn.encoder.numbers.get(word, 1) for word in words]
        vectors = np.concatenate([weights["embedding.weight"][ids].reshape(-1, 12), np.zeros((4, 12))])
        strongest = []
        for place, width in enumerate((2, 3, 4)):
            runs = [vectors[start : start + width].T for start in range(max(1, len(ids)))]
            filters, bias = weights[f"filters.{place}.weight"], weights[f"filters.{place}.bias"]
            responses = [(filters * run).sum(axis=(1, 2)) + bias for run in runs]
            strongest.append(np.maximum(responses, 0).max(axis=0))
        hidden = np.maximum(weights["hidden.weight"] @ np.concatenate(strongest) + weights["hidden.bias"], 0)
        scores = weights["output.weight"] @ hidden + weights["output.bias"]
        assert np.allclose(cnn.scores([text])[0], scores, atol=1e-5)
    assert (len(weights["filters.0.bias"]), len(weights["hidden.bias"])) == (50, 150)


def test_the_bilstm_weighs_its_states_by_attention(bilstm):
    network = bilstm.network
    for text in TEXTS:
        ids = bilstm.encoder.encode([text])[0]
        vectors = network.embedding(torch.from_numpy(ids if len(ids) else np.zeros(1, dtype=np.int64)))
        states = network.lstm(vectors[None])[0][0].detach().numpy()
        fit = np.tanh(
            states @ network.attention.weight.detach().numpy().T + network.attention.bias.detach().numpy()
        )
        shares = softmax(fit @ network.context.weight.detach().numpy()[0])
        scores = (
            network.output.weight.detach().numpy() @ (shares @ states) + network.output.bias.detach().numpy()
        )
        assert np.allclose(bilstm.scores([text])[0], scores, atol=1e-5)


def test_words_that_are_not_known_are_all_one_word(text_network):
    first, second = text_network.predict_proba(["zzz good", "qqq good"])
    assert np.allclose(first, second, rtol=0, atol=1e-6)


def test_gradients_are_those_of_finite_differences(text_network):
    assert np.allclose(
        text_network.scores_from(text_network.embed(TEXTS)), text_network.scores(TEXTS), atol=1e-5
    )
    # No run of words comes twice: where two runs are equally strong, a maximum has no gradient.
    texts = [
        "A good film, with some plot",
        "bad",
        "",
        "the scene of its own slow actor about some poor story",
    ]
    embedded = text_network.embed(texts)
    targets = [0, 1, 0, 1]
    gradients = text_network.gradients(embedded, targets)
    rng = np.random.default_rng(0)
    for text, target, gradient in zip(embedded, targets, gradients, strict=True):
        assert gradient.shape == text.vectors.shape
        if not len(gradient):
            continue
        step = 3e-4 * rng.standard_normal(gradient.shape).astype(np.float32)
        ahead, behind = (
            text_network.scores_from([replace(text, vectors=text.vectors + sign * step)])[0, target]
            for sign in (1, -1)
        )
        assert np.isclose((ahead - behind) / 2, (gradient * step).sum(), rtol=0.05, atol=2e-6)


def test_positions_are_the_words_of_the_text(text_network):
    embedded = text_network.embed(["A good film, with some plot", ""])
    assert [text.word_of.tolist() for text in embedded] == [[0, 1, 2, 3, 4, 5], []]
    assert [text.vectors.shape for text in embedded] == [(6, 12), (0, 12)]


def test_layers_are_in_the_order_of_the_signal(cnn, bilstm, dense):
    assert list(cnn.layers()) == ["embedding", "filters", "hidden", "output"]
    assert list(bilstm.layers()) == ["embedding", "lstm", "attention", "context", "dropout", "output"]
    assert list(dense.layers()) == ["first", "second", "output"]


def test_a_text_that_is_too_long_is_cut_and_that_is_said(cnn, caplog):
    short = replace(cnn, encoder=replace(cnn.encoder, max_words=3))
    probabilities = short.predict_proba(["the film is good", "good film", "some plot of its own"])
    assert np.allclose(probabilities[0], cnn.predict_proba(["the film is"])[0], atol=1e-6)
    assert (
        "2 of 3 texts are longer than the 3 words that the model reads; the rest of them was not seen"
        in caplog.text
    )
    assert [text.word_of.tolist() for text in short.embed(["the film is good"])] == [[0, 1, 2]]


def test_explainers_work_on_networks(text_network):
    explanation = explainer("lime", samples=200).explain(text_network, ["some good film about the plot"])[0]
    assert explanation.ranking()[0] == explanation.features.index("good")
    assert explainer("greedy").explain(text_network, ["the bad story"])[0].top(1)[0][0] == "bad"


def test_table_explainers_work_on_networks(dense, mixed_data):
    explanation = explainer("shap", seed=0).explain(dense, mixed_data.test.inputs[:1])[0]
    assert len(explanation.features) == 3


@pytest.mark.parametrize("change", ["one weight", "two places"])
def test_the_engine_notices_changed_weights(cnn, change):
    weights = cnn.network.hidden.weight.data  # what optimisers' bookkeeping does not see
    kept = weights.clone()
    path = path_for(cnn)
    assert path_for(cnn) is path
    try:
        if change == "one weight":
            weights[3, 7] += 1e-6
        else:
            weights.copy_(weights.flip(0))
        assert path_for(cnn) is not path
    finally:
        weights.copy_(kept)


def test_weights_that_are_not_numbers_are_told(cnn):
    broken = CnnNetwork(**cnn.network.settings)
    broken.output.bias.data[0] = torch.nan
    with pytest.raises(
        VeraxError, match=r"The weights 'output\.bias' of the network are not all finite numbers"
    ):
        replace(cnn, network=broken).predict_proba(["good"])


def test_rows_are_scaled_filled_and_spread_out(mixed_schema):
    rows = np.array([[20.0, 0, 1], [np.nan, 2, 1], [40.0, 1, 1], [90.0, 1, 1]])
    encoder = RowEncoder.learn(mixed_schema, rows)
    filled = np.array([20.0, 40, 40, 90])
    age = (filled - filled.mean()) / filled.std()
    expected = np.column_stack([age, np.zeros(4), [0, 1, 0, 0], np.eye(3)[[0, 2, 1, 1]]])
    assert encoder.width == 6
    assert np.allclose(np.stack(encoder.encode(rows)), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("mlp-2x50", {}, "'mlp-2x50' reads a table but 'films' is a text dataset; use cnn or bilstm"),
        ("cnn", {"epochs": 0}, "epochs=0 trains nothing; give 1 or more"),
        (
            "cnn",
            {"epoch": 3},
            "has no option 'epoch'; it has epochs=20, rate=0.001, dropout=0.5, vectors='minilm', dimensions=200, ",
        ),
        ("cnn", {"rate": 0}, "rate=0 trains nothing; give a number above 0"),
        ("cnn", {"dropout": 1}, "dropout=1 is no share to leave out; give 0 or more, and less than 1"),
        ("bilstm", {"max_words": 0}, "max_words=0 reads nothing of a text; give 1 or more"),
        ("transformer-mean", {"max_pieces": 2}, "max_pieces=2 leaves no room for a word; give 3 or more"),
        ("forest", {"epochs": 3}, "The model 'forest' has no option 'epochs'; it has none"),
        ("cnn", {"vectors": "nowhere.txt"}, "There is no file 'nowhere.txt'"),
    ],
)
def test_what_cannot_be_trained_is_told(word_data, name, options, sentence):
    with pytest.raises(VeraxError, match=sentence):
        fit_model(name, word_data, options=options)


def test_a_network_of_texts_refuses_a_table(mixed_data):
    with pytest.raises(VeraxError, match="'cnn' reads a text but 'jobs' is a table dataset; use mlp-2x50"):
        fit_model("cnn", mixed_data)


def test_a_row_encoder_that_was_written_down_keeps_the_bins_of_its_columns():
    columns = (
        Column("Age", ("up to 48", "above 48"), binned=True),
        Column("Kind", ("a", "b")),
        Column("Pay"),
    )
    encoder = RowEncoder.learn(Schema(columns), np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 5.0]]))
    again = RowEncoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert again.schema == encoder.schema
    assert [column.binned for column in again.schema.columns] == [True, False, False]
