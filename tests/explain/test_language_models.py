"""Explainers on language models: the contract, and gradients beside captum's."""

import gc
import weakref

import numpy as np
import pytest

import verax
from tiny_language import EXAMPLES, LABELS, PROMPT, network, tokenizer, torch
from verax.explain.checks import check_explainer

MASKED = "{text} It was {mask}."
LONG = {"negative": " terrible, awful", "positive": " great"}


def model_of(sort="causal", labels=LABELS, **options):
    prompt = MASKED if sort == "masked" else PROMPT
    given = {} if sort == "masked" else {"examples": EXAMPLES}
    return verax.as_model(
        network(sort), tokenizer=tokenizer(sort), prompt=prompt, labels=labels, **given, **options
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("lime", {"samples": 30}),
        ("shap", {"samples": 30}),
        ("greedy", {}),
        ("gradient-x-input", {}),
        ("integrated-gradients", {"steps": 3}),
    ],
)
def test_the_contract_holds_on_a_causal_model(name, options):
    check_explainer(verax.explainer(name, **options), model=model_of())


def captum_scores(model, text, target, method, steps):
    """captum on the vectors of the text's tokens, everything else of the prompt fixed, in one plain forward pass."""
    from captum.attr import InputXGradient, IntegratedGradients

    pieces = model.tokenizer
    filled = model.prompt.fill(text)
    whole = filled.whole.replace("{mask}", pieces.mask_token)
    read = pieces(whole, return_offsets_mapping=True, add_special_tokens=True)
    start, end = len(filled.before), len(filled.before) + len(text)
    inside = [a < end and b > start and a < b for a, b in read["offset_mapping"]]
    table = model.network.get_input_embeddings()
    ids = torch.tensor(read["input_ids"])
    vectors = table(ids).detach()
    labels = [pieces(label, add_special_tokens=False)["input_ids"] for label in model.labels]

    def score(rows):
        found = []
        for row in rows:
            every = vectors.clone()
            every[torch.tensor(inside)] = row
            label = labels[target]
            if model.sort == "causal":
                more = table(torch.tensor(label[:-1], dtype=torch.long))
                logits = model.network(inputs_embeds=torch.cat([every, more])[None]).logits[0, -len(label) :]
            elif model.sort == "masked":
                logits = model.network(inputs_embeds=every[None]).logits[0, ids == pieces.mask_token_id]
            else:
                logits = model.network(
                    inputs_embeds=every[None], decoder_input_ids=torch.tensor([[2, *label[:-1]]])
                ).logits[0]
            found.append(logits.log_softmax(-1)[range(len(label)), label].sum())
        return torch.stack(found)

    given = vectors[torch.tensor(inside)][None].requires_grad_()
    if method == "gradient-x-input":
        values = InputXGradient(score).attribute(given)
    else:
        values = IntegratedGradients(score).attribute(given, n_steps=steps, method="gausslegendre")
    sums = values.sum(dim=-1)[0].detach().numpy()
    words = verax.data.words.split_words(text)
    by_word = np.zeros(len(words))
    spans = [span for span, here in zip(read["offset_mapping"], inside, strict=True) if here]
    for (a, b), value in zip(spans, sums, strict=True):
        for number, (first, last) in enumerate(words.places):
            if a - start < last and b - start > first:
                by_word[number] += value
                break
    return by_word


@pytest.mark.parametrize("method", ["gradient-x-input", "integrated-gradients"])
@pytest.mark.parametrize(
    ("sort", "labels"), [("causal", LABELS), ("causal", LONG), ("masked", LABELS), ("seq2seq", LONG)]
)
def test_gradients_are_captums(sort, labels, method):
    pytest.importorskip("captum")
    model = model_of(sort, labels)
    options = {"steps": 8} if method == "integrated-gradients" else {}
    for text in ("the plot was good , not dull", "Good!"):
        for target in (0, 1):
            (found,) = verax.explainer(method, **options).explain(model, [text], target)
            expected = captum_scores(model, text, target, method, 8)
            np.testing.assert_allclose(found.scores, expected, atol=1e-4 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("answer", [" great", " good"])
def test_gradients_of_an_answer_are_inseqs(answer):
    inseq = pytest.importorskip("inseq")  # installed by hand: it asks for an old typeguard
    net, pieces, text = network(), tokenizer(), "the plot was good , not dull"
    net.config._name_or_path = pieces.name_or_path = "tiny"
    theirs = inseq.load_model(net, "input_x_gradient", tokenizer=pieces).attribute(
        text, text + answer, attributed_fn="probability", logprob=True, show_progress=False
    )
    values = theirs.sequence_attributions[0].target_attributions[:-1, 0].sum(dim=-1).numpy()
    model = verax.as_model(net, tokenizer=pieces, prompt="{text}", target=answer)
    (found,) = verax.explainer("gradient-x-input").explain(model, [text])
    of_word = model.tokens_of(text).word_of
    expected = np.bincount(of_word[of_word >= 0], values[of_word >= 0], len(found.features))
    np.testing.assert_allclose(found.scores, expected, atol=1e-4)


def test_calibration_scales_gradients_as_it_scales_scores():
    plain, scaled = model_of(), model_of(calibrate=(["good", "bad film", "dull", "fine"], [1, 0, 0, 1]))
    explainer = verax.explainer("gradient-x-input")
    one, other = (explainer.explain(model, ["a dull plot"], 1)[0].scores for model in (plain, scaled))
    np.testing.assert_allclose(other, scaled.calibration.scale * one, rtol=1e-4)


def test_integrated_gradients_of_an_answer_add_up_to_its_log_probability():
    model = verax.as_model(
        network(), tokenizer=tokenizer(), prompt="Review: {text} It was", target=" great, good"
    )
    (found,) = verax.explainer("integrated-gradients", steps=200).explain(model, ["a dull plot"])
    assert found.details["score"] == pytest.approx(model.scores(["a dull plot"])[0, 0], abs=1e-4)
    # The error is what the integration misses: what is left of the difference.
    left = found.details["score"] - found.details["reference"] - found.scores.sum()
    assert found.details["error"] == pytest.approx(left, abs=1e-4)


@pytest.mark.parametrize(
    "name", ["greedy", "lime(samples=8)", "gradient-x-input", "lrp", "self-report(tokens=2)"]
)
def test_a_network_that_was_explained_is_not_kept(name):
    model = model_of()
    verax.explainer(name).explain(model, ["a dull plot"])
    kept = weakref.ref(model.network)
    del model
    gc.collect()
    assert kept() is None


def test_gradients_are_not_offered_for_parts_of_a_prompt():
    from verax.errors import VeraxError

    with pytest.raises(
        VeraxError, match=r"integrated-gradients.* needs gradients .* lime, shap and greedy work"
    ):
        verax.explainer("integrated-gradients").explain(model_of(features="examples"), ["a dull plot"])
