import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.special import softmax
from torch import nn

from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain import explainer
from verax.models import as_model
from verax.models.capabilities import has
from verax.models.neural.adapt import ModuleModel
from verax.models.neural.networks import TextNetwork
from verax.models.neural.precision import PROBE, ReducedNetwork, _outcome, in_precision, prove
from verax.models.neural.probe import WRONG, reduced
from verax.models.neural.probe import main as trial
from verax.models.neural.representations import cache_folder
from verax.perturb.dispatch import path_for
from verax.perturb.masks import all_masks

transformers = pytest.importorskip("transformers")

PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "a",
    "good",
    "bad",
    "film",
    "##s",
    "##ing",
    "act",
    ",",
    "!",
    "b",
]
TEXTS = ["A good film, acting!", "bad films", "", "zzz", "good"]


def make_tokenizer(tmp_path, pieces=PIECES, **options):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(pieces))
    return transformers.BertTokenizerFast(vocab=str(path), **options)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return make_tokenizer(tmp_path_factory.mktemp("tokenizer"), model_max_length=12)


def make_bert(**options):
    torch.manual_seed(0)
    config = transformers.BertConfig(
        **{
            "vocab_size": len(PIECES),
            "hidden_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 32,
            "max_position_embeddings": 16,
            "id2label": {0: "down", 1: "up", 2: "flat"},
            "label2id": {"down": 0, "up": 1, "flat": 2},
        }
        | options
    )
    bert = transformers.BertForSequenceClassification(config).eval()
    with torch.no_grad():  # so that the answers differ
        for parameter in bert.parameters():
            parameter.mul_(4)
    return bert


@pytest.fixture(scope="module")
def bert():
    return make_bert()


@pytest.fixture(scope="module")
def model(bert, tokenizer):
    return as_model(bert, tokenizer=tokenizer, reference=["good", "bad"])


def test_a_hugging_face_model_answers_as_it_does_alone(model, bert, tokenizer):
    assert isinstance(model, TextNetwork)
    assert model.class_names == ("down", "up", "flat")
    assert model.reference == ["good", "bad"]
    with torch.inference_mode():
        logits = [bert(**tokenizer(text, return_tensors="pt")).logits[0].numpy() for text in TEXTS]
    assert np.allclose(model.scores(TEXTS), logits, atol=1e-5)
    assert np.allclose(model.predict_proba(TEXTS), softmax(logits, axis=1), atol=1e-6)
    assert np.ptp(model.predict_proba(TEXTS), axis=0).max() > 0.005


def test_a_pipeline_is_taken_apart(model, bert, tokenizer):
    pipeline = transformers.pipeline("text-classification", model=bert, tokenizer=tokenizer, top_k=None)
    taken = as_model(pipeline)
    assert np.allclose(taken.predict_proba(TEXTS), model.predict_proba(TEXTS), atol=1e-6)
    said = {answer["label"]: answer["score"] for answer in pipeline(["A good film, acting!"])[0]}
    assert np.allclose(
        [said[name] for name in taken.class_names], taken.predict_proba(TEXTS[:1])[0], atol=1e-5
    )


SMALL = {
    "vocab_size": len(PIECES),
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "max_position_embeddings": 16,
}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: transformers.GPT2LMHeadModel(
                transformers.GPT2Config(vocab_size=len(PIECES), n_embd=8, n_layer=1, n_head=2, n_positions=16)
            ),
            "GPT2LMHeadModel is a language model that predicts the next piece .* such as GPT2ForSequenceClassification",
        ),
        (
            lambda: transformers.BertForMaskedLM(transformers.BertConfig(**SMALL)),
            "BertForMaskedLM is a language model that fills in masked .* such as BertForSequenceClassification",
        ),
        (
            lambda: transformers.BertModel(transformers.BertConfig(**SMALL)),
            "BertModel is a model without a head for classes, .* such as BertForSequenceClassification",
        ),
        (
            lambda: transformers.BertForTokenClassification(transformers.BertConfig(**SMALL)),
            "BertForTokenClassification is a classifier of single pieces of a text",
        ),
        (
            lambda: transformers.BertForNextSentencePrediction(transformers.BertConfig(**SMALL)),
            "BertForNextSentencePrediction is a model that tells whether one sentence follows another",
        ),
    ],
)
def test_models_of_other_tasks_are_refused(make, sentence, tokenizer):
    with pytest.raises(VeraxError, match=sentence) as caught:
        as_model(make(), tokenizer=tokenizer)
    assert "\n" not in str(caught.value)
    with pytest.raises(VeraxError, match=sentence):
        as_model(make(), tokenizer=tokenizer, class_names=["no", "yes"])


class OwnHead(transformers.BertPreTrainedModel):
    """Not of the library's classifiers, but one that answers as they do."""

    def __init__(self, config):
        super().__init__(config)
        self.bert = transformers.BertModel(config)
        self.head = nn.Linear(config.hidden_size, 2)
        self.post_init()

    def forward(self, **given):
        hidden = self.bert(**given).last_hidden_state
        return transformers.modeling_outputs.SequenceClassifierOutput(logits=self.head(hidden[:, 0]))


class OwnBert(transformers.BertForSequenceClassification):
    """Derived from one of them."""


@pytest.mark.parametrize("kind", [OwnHead, OwnBert])
def test_classifiers_of_ones_own_are_taken(kind, tokenizer):
    model = as_model(kind(transformers.BertConfig(**SMALL)), tokenizer=tokenizer)
    assert model.predict_proba(["good film", "bad"]).shape == (2, 2)


def test_pieces_belong_to_words(model):
    embedded = model.embed(["A good film, acting!", ""])
    # [CLS] a good film , act ##ing ! [SEP]
    assert embedded[0].word_of.tolist() == [-1, 0, 1, 2, -1, 3, 3, -1, -1]
    assert split_words("A good film, acting!").words[3] == "acting"
    assert embedded[1].word_of.tolist() == [-1, -1]
    assert embedded[0].vectors.shape == (9, 16)
    gradients = model.gradients(embedded, [1, 2])
    assert [gradient.shape for gradient in gradients] == [(9, 16), (2, 16)]
    step = 1e-3 * gradients[0]
    moved = model.scores_from([replace(embedded[0], vectors=embedded[0].vectors + step)])[0, 1]
    rise = moved - model.scores(["A good film, acting!"])[0, 1]
    assert rise == pytest.approx((gradients[0] * step).sum(), rel=0.05)


def test_explanations_speak_of_words(model):
    explanation = explainer("lime", samples=100).explain(model, ["A good film, acting!"])[0]
    assert explanation.features == ("A", "good", "film", "acting")


def test_a_text_that_is_too_long_is_cut_and_that_is_said(model, caplog):
    assert model.encoder.max_pieces == 12
    long = "good " * 30
    assert np.allclose(model.predict_proba([long]), model.predict_proba(["good " * 10]), atol=1e-6)
    assert "1 of 1 texts is longer than the 12 pieces of words that the model reads" in caplog.text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"vocab_size": 9},
            "knows 15 pieces of words but the model has embeddings for 9; give the tokenizer that",
        ),
        ({"vocab_size": 2_000}, "knows 15 pieces of words but the model has embeddings for 2,000"),
        ({"id2label": {0: "score"}, "label2id": {"score": 0}}, "does not choose one of several classes"),
        ({"problem_type": "multi_label_classification"}, "does not choose one of several classes"),
    ],
)
def test_a_model_that_does_not_fit_is_told(tokenizer, options, sentence):
    with pytest.raises(VeraxError, match=sentence):
        as_model(make_bert(**options), tokenizer=tokenizer)


def test_a_hugging_face_model_needs_its_tokenizer(bert):
    with pytest.raises(VeraxError, match="reads pieces of words; give its tokenizer too"):
        as_model(bert)


class Bag(nn.Module):
    """The mean of word vectors."""

    def __init__(self, softmaxed=False):
        super().__init__()
        torch.manual_seed(1)
        self.words = nn.EmbeddingBag(5, 3, mode="mean")
        self.output = nn.Linear(3, 2)
        self.softmaxed = softmaxed

    def forward(self, ids):
        scores = 3 * self.output(self.words(ids))
        return scores.softmax(dim=1) if self.softmaxed else scores


def by_letters(texts):
    rows = [[len(word) % 4 + 1 for word in text.split()][:6] for text in texts]
    return torch.tensor([row + [0] * (6 - len(row)) for row in rows])


def test_any_module_with_its_encoder_is_a_model():
    module = Bag()
    texts = ["a bb ccc", "dddd", ""] * 100
    model = as_model(module, encoder=by_letters, class_names=["no", "yes"], reference=texts[:2])
    assert isinstance(model, ModuleModel)
    with torch.inference_mode():
        expected = module(by_letters(texts)).softmax(dim=1).numpy()
    assert np.allclose(model.predict_proba(texts), expected, atol=1e-6)
    assert (model.kind, model.reference, list(model.layers())) == ("text", texts[:2], ["words", "output"])
    assert not has(model, "gradients")
    assert has(model, "scores")
    assert np.allclose(softmax(model.scores(texts), axis=1), expected, atol=1e-6)
    ready = as_model(
        Bag(softmaxed=True), encoder=by_letters, class_names=["no", "yes"], outputs="probabilities"
    )
    assert np.allclose(ready.predict_proba(texts), expected, atol=1e-6)
    assert not has(ready, "scores")
    with pytest.raises(VeraxError, match="The module gives probabilities, not scores"):
        ready.scores(texts)


def test_scores_and_probabilities_are_not_mistaken_for_each_other():
    names = ["no", "yes"]
    promised = as_model(Bag(), encoder=by_letters, class_names=names, outputs="probabilities")
    with pytest.raises(VeraxError, match=r"(negative probability|sum to .* instead of 1)"):
        promised.predict_proba(["a bb"])
    blurred = as_model(Bag(softmaxed=True), encoder=by_letters, class_names=names)
    with pytest.raises(VeraxError, match="gives probabilities where scores were promised"):
        blurred.predict_proba(["a bb"])


def test_a_module_of_tables_reads_encoded_rows():
    module = nn.Linear(2, 3)
    rows = np.random.default_rng(0).normal(size=(20, 2))
    model = as_model(
        module,
        encoder=lambda batch: torch.tensor(batch, dtype=torch.float32),
        class_names=["a", "b", "c"],
        reference=rows,
    )
    assert (model.kind, model.schema.names) == ("table", ("x0", "x1"))
    with torch.inference_mode():
        expected = module(torch.tensor(rows, dtype=torch.float32)).softmax(dim=1)
    assert np.allclose(model.predict_proba(rows), expected, atol=1e-6)


def test_a_module_without_what_it_needs_is_told():
    with pytest.raises(VeraxError, match="say how inputs become what it is called with"):
        as_model(Bag())
    with pytest.raises(VeraxError, match="does not name its classes; give class_names"):
        as_model(Bag(), encoder=by_letters)


def test_a_module_whose_weights_change_is_noticed():
    model = as_model(Bag(), encoder=by_letters, class_names=["no", "yes"])
    before = model.fitted_state()
    assert model.fitted_state() == before
    model.module.output.bias.data[0] += 1
    assert model.fitted_state() != before


@cache
def can_compute(precision: str) -> bool:
    """Whether this machine can, found out by a child."""
    return subprocess.run([sys.executable, "-P", PROBE, precision], check=False).returncode == 0


@pytest.mark.parametrize("precision", ["int8", "bfloat16"])
def test_lower_precision_is_taken_where_it_says_the_same(model, precision):
    if not can_compute(precision):
        with pytest.raises(VeraxError, match=f"This machine cannot compute networks in {precision}: a trial"):
            in_precision(model, precision, texts=TEXTS, tolerance=0.5)
        return
    reduced = in_precision(model, precision, texts=TEXTS, tolerance=0.5)
    difference = np.abs(reduced.predict_proba(TEXTS) - model.predict_proba(TEXTS)).max()
    # The texts themselves are among the variants compared; in another batch the last digits may be others.
    assert 0 < difference <= reduced.difference + 1e-6 < 0.5
    assert reduced.class_names == model.class_names
    assert path_for(reduced) is path_for(reduced)
    found = explainer("greedy").explain(reduced, ["good film"])[0]
    answers = reduced.predict_proba(["good film", " film", "good "])[:, found.target]
    assert np.allclose(found.scores, answers[0] - answers[1:], atol=1e-6)


def test_lower_precision_is_refused_where_it_says_something_else(model):
    with pytest.raises(
        VeraxError, match=r"In int8 this network's probabilities differ by up to .* 1e-09 is allowed"
    ):
        in_precision(model, "int8", texts=TEXTS, tolerance=1e-9)
    with pytest.raises(VeraxError, match="There is no precision 'int4'; it is 'int8' or 'bfloat16'"):
        in_precision(model, "int4")
    with pytest.raises(VeraxError, match="No texts are known to compare the precisions on"):
        in_precision(replace(model, reference=None), "int8")
    function = as_model(lambda batch: np.full((len(batch), 2), 0.5), class_names=["a", "b"])
    with pytest.raises(
        VeraxError, match="Lower precision is for networks of texts, and this is a CallableModel"
    ):
        in_precision(function, "int8")


@pytest.fixture
def probe(tmp_path, monkeypatch) -> Iterator[Callable[[str], Path]]:
    """Another program in place of the trial, whose starts are counted; nothing is known of this machine."""

    def install(program: str) -> Path:
        path = tmp_path / "probe.py"
        starts = tmp_path / "starts"
        path.write_text(f"open({str(starts)!r}, 'a').write('x')\n{program}\n")
        monkeypatch.setattr("verax.models.neural.precision.PROBE", path)
        _outcome.cache_clear()
        return starts

    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    yield install
    _outcome.cache_clear()


DIES = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"


@pytest.mark.parametrize(
    ("program", "said", "is_kept"),
    [
        (DIES, r"was ended by signal 4 \(Illegal instruction\)", True),
        (f"print('off by 7'); raise SystemExit({WRONG})", r"answered wrongly \(off by 7\)", True),
        ("raise RuntimeError('no such layer')", r"failed \(RuntimeError: no such layer\)", False),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", r"was ended by signal 9 \(Killed\)", False),
    ],
)  # fmt: skip
def test_a_precision_whose_trial_fails_is_refused_and_this_process_lives(
    model, probe, program, said, is_kept
):
    starts = probe(program)
    sentence = rf"This machine cannot compute networks in bfloat16: a trial in a process of its own {said}\. Leave the"
    for _ in range(2):
        with pytest.raises(VeraxError, match=sentence):
            in_precision(model, "bfloat16", texts=TEXTS, tolerance=0.5)
    assert len(starts.read_text()) == 1
    _outcome.cache_clear()  # as in another process
    with pytest.raises(VeraxError, match=sentence):
        in_precision(model, "bfloat16", texts=TEXTS, tolerance=0.5)
    assert len(starts.read_text()) == (1 if is_kept else 2)


def test_a_trial_is_made_once_for_each_machine_library_and_choice_of_instructions(probe, monkeypatch):
    starts = probe("")

    def trials() -> int:
        before = len(starts.read_text()) if starts.exists() else 0
        prove("int8")
        _outcome.cache_clear()  # as in another process
        prove("int8")
        return len(starts.read_text()) - before

    assert [trials(), trials()] == [1, 0]
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "an older one")  # this process has read it long ago
    assert [trials(), trials()] == [0, 0]
    monkeypatch.setattr("verax.models.neural.precision.CHOICES", (("ONEDNN_MAX_CPU_ISA", "an older one"),))
    assert [trials(), trials()] == [1, 0]
    monkeypatch.setattr("verax.models.neural.precision._machine", lambda: "another processor")
    assert [trials(), trials()] == [1, 0]
    (kept,) = [path for path in cache_folder().glob("precision/*") if "another" in path.read_text()]
    kept.write_text("half wri")
    assert [trials(), trials()] == [1, 0]


def test_a_trial_has_the_choices_that_this_process_began_with(probe, monkeypatch):
    monkeypatch.setattr("verax.models.neural.precision.CHOICES", (("ONEDNN_MAX_CPU_ISA", "SSE41"),))
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    names = ["ONEDNN_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY"]
    probe(f"import os; print(*map(os.environ.get, {names})); raise SystemExit({WRONG})")
    with pytest.raises(VeraxError, match=r"answered wrongly \(SSE41 None\)"):
        prove("bfloat16")


def test_a_network_in_lower_precision_is_tried_where_it_arrives(model, probe):
    """As one that was made on a machine that can, and is asked on one that cannot."""
    sent = ReducedNetwork(model.network, model.encoder, model.class_names, "bfloat16", 0.0)
    probe("")
    assert np.allclose(sent.predict_proba(TEXTS), model.predict_proba(TEXTS))
    probe(DIES)
    with pytest.raises(VeraxError, match=r"cannot compute networks in bfloat16: .* signal 4"):
        sent.predict_proba(TEXTS)


@pytest.mark.parametrize("precision", ["bfloat16", "float16", "int8"])
def test_a_module_that_comes_in_lower_precision_is_tried_first(probe, precision):
    if not can_compute(precision):
        pytest.skip(f"this machine cannot make a network in {precision}")
    starts = probe(DIES)
    assert as_model(Bag(), encoder=by_letters, class_names=["no", "yes"]).predict_proba(["a"]).shape == (1, 2)
    assert not starts.exists()
    with pytest.raises(VeraxError, match=rf"cannot compute networks in {precision}: .* Give the network"):
        as_model(reduced(Bag(), precision), encoder=by_letters, class_names=["no", "yes"])
    assert starts.exists()


@pytest.mark.parametrize("value", [float("nan"), 0.0, -1.0])
def test_the_trial_notices_wrong_answers(value, monkeypatch, capsys):
    """Layers that say something else in lower precision, as if the instructions computed something else."""

    class Wrong(nn.Module):
        def __init__(self, network: nn.Module) -> None:
            super().__init__()
            self.network = network

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.network(ids) * value

    monkeypatch.setattr("verax.models.neural.probe.reduced", lambda network, _: Wrong(network))
    assert trial("bfloat16") == WRONG
    assert re.fullmatch(
        r"feedforward: off by (nan|1|2) of the size of its answers\n", capsys.readouterr().out
    )


def test_weights_changed_in_place_are_noticed(bert, tokenizer):
    taken = as_model(bert, tokenizer=tokenizer)
    path = path_for(taken)
    assert path_for(taken) is path
    weights = bert.classifier.weight.data
    kept = weights.clone()
    try:
        weights[0, 0] += 1e-4
        assert path_for(taken) is not path
    finally:
        weights.copy_(kept)


@pytest.mark.parametrize("mask", ["[MASK]", None])
def test_absent_words_are_masked_piece_by_piece(bert, tokenizer, tmp_path, mask):
    own = tokenizer if mask else make_tokenizer(tmp_path, mask_token=None, model_max_length=12)
    taken = as_model(bert, tokenizer=own)
    path = path_for(taken, "masked")
    (ready,) = path.prepare(["bad, acting film"])
    (answer,) = path.evaluate([ready], [all_masks(3)])
    (embedded,) = taken.embed(["bad, acting film"])
    assert embedded.word_of.tolist() == [-1, 0, -1, 1, 1, 2, -1]
    embedding = bert.get_input_embeddings().weight.detach().numpy()
    blank = embedding[PIECES.index(mask)] if mask else np.zeros(16, dtype=np.float32)
    for row, said in zip(all_masks(3).rows(), answer.probabilities, strict=True):
        hidden = np.array([word >= 0 and not row[word] for word in embedded.word_of])
        vectors = np.where(hidden[:, None], blank, embedded.vectors)
        expected = softmax(taken.scores_from([replace(embedded, vectors=vectors)]), axis=1)[0]
        assert np.allclose(said, expected, atol=1e-6)
