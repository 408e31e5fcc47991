"""Local language models as classifiers: causal, masked, and from sequence to sequence."""

import logging

import numpy as np
import pytest

import verax
from tiny_language import EXAMPLES, LABELS, PROMPT, network, tokenizer, torch
from verax.errors import VeraxError
from verax.models.llm.local import LanguageModel

TEXTS = ["the plot was good", "", "a bad , dull film with poor jokes !", "é ü 漢 🙂", "good"]
MASKED = "{text} It was {mask}."


def softmax(rows):
    shares = np.exp(np.asarray(rows) - np.max(rows, axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def model_of(sort, **options):
    prompt = MASKED if sort == "masked" else PROMPT.replace("{examples}", "")
    options = {"prompt": prompt, "labels": LABELS, **options}
    return verax.as_model(network(sort), tokenizer=tokenizer(sort), **options)


def by_hand(sort, text, labels):
    """Log-probabilities of labels, computed one text and one token at a time."""
    model, pieces = network(sort), tokenizer(sort)
    found = []
    for label in labels:
        ids = pieces(label, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            if sort == "causal":
                row = pieces(PROMPT.replace("{examples}", "").replace("{text}", text))["input_ids"]
                steps = [model(torch.tensor([row + ids[:n]])).logits[0, -1] for n in range(len(ids))]
            elif sort == "masked":
                filled = MASKED.replace("{text}", text).replace("{mask}", "<mask>" * len(ids))
                row = pieces(filled)["input_ids"]
                logits = model(torch.tensor([row])).logits[0]
                steps = [logits[place] for place, token in enumerate(row) if token == pieces.mask_token_id]
            else:
                row = pieces(PROMPT.replace("{examples}", "").replace("{text}", text))["input_ids"]
                steps = [
                    model(torch.tensor([row]), decoder_input_ids=torch.tensor([[2, *ids[:n]]])).logits[0, -1]
                    for n in range(len(ids))
                ]
        found.append(sum(float(step.double().log_softmax(-1)[i]) for step, i in zip(steps, ids, strict=True)))
    return found


@pytest.mark.parametrize("sort", ["causal", "masked", "seq2seq"])
@pytest.mark.parametrize("labels", [LABELS, {"no": " terrible, awful", "so": " good", "yes": " great"}])
def test_probabilities_are_the_shares_of_the_labels(sort, labels):
    model = model_of(sort, labels=labels)
    assert model.sort == sort
    expected = [by_hand(sort, text, labels.values()) for text in TEXTS]
    np.testing.assert_allclose(model.scores(TEXTS), expected, atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(TEXTS), softmax(expected), atol=1e-4)
    assert model.class_names == tuple(labels)


def test_peft_models_are_asked_with_their_adapters():
    peft = pytest.importorskip("peft")
    inner = network()
    plain = verax.as_model(inner, tokenizer=tokenizer(), prompt="{text} =", labels=LABELS).predict_proba(
        TEXTS
    )
    wrapped = peft.get_peft_model(inner, peft.LoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj"]))
    with torch.no_grad():
        for name, weight in wrapped.named_parameters():
            if "lora_B" in name:
                weight.fill_(0.3)
    adapted = verax.as_model(wrapped, tokenizer=tokenizer(), prompt="{text} =", labels=LABELS)
    assert np.abs(adapted.predict_proba(TEXTS) - plain).max() > 1e-4
    assert adapted.continuations().trees


def test_contextual_calibration_makes_nothing_say_nothing():
    model = model_of("causal", calibrate="contextual")
    free = softmax(model.scores(["N/A", "", "[MASK]"]) - np.array(model.calibration.offsets))
    np.testing.assert_allclose(np.log(free.mean(axis=0)) + model.calibration.offsets, 0.0, atol=1e-9)


def test_fitted_calibration_moves_the_threshold_and_keeps_the_order():
    plain = model_of("causal")
    margins = np.diff(plain.scores(TEXTS), axis=1)[:, 0]
    labels = (margins > np.median(margins)).astype(int)  # what a shifted threshold can tell
    model = model_of("causal", calibrate=(TEXTS, labels))
    moved = np.diff(model.scores(TEXTS), axis=1)[:, 0]
    assert model.calibration.scale > 0
    assert (np.argsort(moved) == np.argsort(margins)).all()
    right = (model.predict_proba(TEXTS).argmax(axis=1) == labels).mean()
    assert right >= (plain.predict_proba(TEXTS).argmax(axis=1) == labels).mean()
    assert right > 0.5


@pytest.mark.parametrize(
    ("calibrate", "sentence"),
    [
        ("yes", "calibrate='yes' is not known"),
        ((["a", "b"], [0, 0]), "texts of each of the 2 classes"),
        ((["a", "b"], [0]), "one label per text"),
    ],
)
def test_calibration_that_cannot_be_made_is_refused(calibrate, sentence):
    with pytest.raises(VeraxError, match=sentence):
        model_of("causal", calibrate=calibrate)


def test_a_given_answer_is_explained_by_its_log_probability():
    model = verax.as_model(network(), tokenizer=tokenizer(), prompt="{text} It was", target=" great, good")
    assert model.class_names == (" great, good", "another answer")
    (text,) = ["the plot was good"]
    row = tokenizer()(f"{text} It was")["input_ids"]
    ids = tokenizer()(" great, good")["input_ids"]
    with torch.no_grad():
        after = network()(torch.tensor([row + ids])).logits[0].double().log_softmax(-1)
    expected = sum(float(after[len(row) - 1 + n, token]) for n, token in enumerate(ids))
    assert model.scores([text])[0, 0] == pytest.approx(expected, abs=1e-4)
    assert model.predict_proba([text])[0, 0] == pytest.approx(np.exp(expected), abs=1e-6)
    explained = verax.explainer("greedy").explain(model, [text])[0]
    assert explained.target_name == " great, good"
    without = model.scores(["the plot  good"])[0, 0]  # "was" taken out
    assert dict(explained.top(4))["was"] == pytest.approx(expected - without, abs=1e-4)


def test_a_text_longer_than_the_window_is_cut_and_that_is_said(caplog):
    small = network(window=64)
    model = verax.as_model(small, tokenizer=tokenizer(), prompt="Review: {text}\nSentiment:", labels=LABELS)
    long = "good film " * 100
    with caplog.at_level(logging.WARNING):
        found = model.predict_proba([long])
    assert "1 of 1 texts is longer than the 63 tokens of the model's window" in caplog.text
    # What is left is a beginning of the text, and the end of the prompt is still there.
    (row,) = model.encode([model.prompt.fill(long)])
    assert len(row) <= 63
    read = tokenizer().decode(row)
    assert read.startswith("Review: good film")
    assert read.endswith("\nSentiment:")
    kept = read.removeprefix("Review: ").removesuffix("\nSentiment:")
    np.testing.assert_allclose(found, model.predict_proba([kept]), atol=1e-6)


def test_a_prompt_that_leaves_no_room_is_refused():
    small = network(window=16)
    model = verax.as_model(small, tokenizer=tokenizer(), prompt="Review: " * 20 + "{text} =", labels=LABELS)
    with pytest.raises(VeraxError, match=r"The prompt without any text has .* tokens and the model reads 15"):
        model.predict_proba(["good"])


def test_a_chat_template_is_put_around_the_prompt():
    import copy

    pieces = copy.deepcopy(tokenizer())
    pieces.chat_template = "{% for m in messages %}<s>{{ m['content'] }}{% endfor %}</s>"
    model = verax.as_model(
        network(), tokenizer=pieces, prompt="Is {text} good?", labels=["no", "yes"], chat=True
    )
    assert model.prompt.fill("it").whole == "<s>Is it good?</s>"
    with pytest.raises(VeraxError, match="no chat template"):
        verax.as_model(network(), tokenizer=tokenizer(), prompt="{text}", labels=["no", "yes"], chat=True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"prompt": "Review:", "labels": LABELS}, "does not say where the text comes"),
        ({"prompt": "{text}"}, "say what it is asked and what it says for each class"),
        ({"prompt": "{text}", "labels": LABELS, "target": "x"}, "say what it is asked"),
        (
            {"prompt": "{text}", "labels": {"a": " good", "b": " good film"}},
            "is the beginning of ' good film'",
        ),
        ({"prompt": "{text}", "labels": LABELS, "features": "lines"}, "There are no features 'lines'"),
        ({"prompt": "{text}", "labels": LABELS, "base_url": "http://x"}, "for models behind an endpoint"),
        ({"prompt": "{text}", "target": " good", "calibrate": "contextual"}, "leave calibrate= out"),
    ],
)
def test_what_a_language_model_cannot_be_asked_is_a_sentence(options, sentence):
    with pytest.raises(VeraxError) as refused:
        verax.as_model(network(), tokenizer=tokenizer(), **options)
    assert sentence in str(refused.value)


def test_a_language_model_without_its_tokenizer_is_refused():
    with pytest.raises(VeraxError, match="give its tokenizer too"):
        verax.as_model(network(), prompt="{text}", labels=LABELS)


def test_a_model_that_is_no_language_model_is_refused():
    import transformers

    headless = transformers.LlamaModel(network().config)
    for given in (headless, torch.nn.Linear(2, 2), len):
        with pytest.raises(VeraxError, match=r"prompt= is for language models, and .* is none"):
            verax.as_model(given, tokenizer=tokenizer(), prompt="{text}", labels=LABELS)


def test_few_shot_examples_are_part_of_what_is_read():
    model = verax.as_model(network(), tokenizer=tokenizer(), prompt=PROMPT, labels=LABELS, examples=EXAMPLES)
    assert isinstance(model, LanguageModel)
    (row,) = model.encode([model.prompt.fill("so so")])
    assert tokenizer().decode(row) == model.prompt.fill("so so").whole


def test_a_model_that_is_not_on_the_processor_is_refused():
    with pytest.raises(VeraxError, match=r"is on meta, and Verax asks local models on the processor"):
        verax.as_model(network().to("meta"), tokenizer=tokenizer(), prompt="{text}", labels=LABELS)
