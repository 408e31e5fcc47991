"""Relevance and attention in language models, beside rules written out one by one and paths counted one by one."""

from itertools import pairwise, product

import numpy as np
import pytest

import verax
from tiny_language import EXAMPLES, LABELS, PROMPT, network, tokenizer, torch
from verax.errors import VeraxError
from verax.explain.checks import check_explainer
from verax.explain.inside.attention import relevance_logits, rollout

LONG = {"negative": " terrible, awful", "positive": " great"}
MASKED = "{text} It was {mask}."


def model_of(sort="causal", labels=LABELS, family="llama", **options):
    prompt = MASKED if sort == "masked" else PROMPT
    given = {} if sort == "masked" else {"examples": EXAMPLES}
    return verax.as_model(
        network(sort, family), tokenizer=tokenizer(sort), prompt=prompt, labels=labels, **given, **options
    )


@pytest.mark.parametrize("name", ["lrp", "attention-rollout"])
def test_the_contract_holds(name):
    check_explainer(verax.explainer(name), model=model_of())


def linear(weight, inputs, relevance):
    """The z-rule: what each input added to each sum gets its share of that sum's relevance."""
    sums = inputs @ weight.T
    return inputs * ((relevance / sums) @ weight)


def softmax(rows):
    shares = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def rule_by_rule(net, ids, start):
    """Relevance of each token, handed back layer by layer in numpy; ``start`` are shares of logits behind the last."""
    state_of = {name: weight.detach().double().numpy() for name, weight in net.state_dict().items()}
    config = net.config
    heads, groups = config.num_attention_heads, config.num_key_value_heads
    n, size = len(ids), config.hidden_size // heads
    cosine, sine = (
        part[0].double().numpy() for part in net.model.rotary_emb(torch.zeros(1, n, 1), torch.arange(n)[None])
    )

    def norm(x, weight):
        return weight * x / np.sqrt((x**2).mean(-1, keepdims=True) + config.rms_norm_eps)

    def split(x, count):
        return x.reshape(n, count, size).swapaxes(0, 1)

    def turn(x, back=False):
        way = -1 if back else 1
        around = np.concatenate([-x[..., size // 2 :], x[..., : size // 2]], axis=-1)
        return x * cosine + way * around * sine

    def flat(x):
        return x.swapaxes(0, 1).reshape(n, -1)

    def grouped(x):
        return x.reshape(groups, heads // groups, n, size).sum(axis=1)

    def turned_back(relevance, values, own):
        return flat(split(own, len(values)) * turn(relevance / values, back=True))

    x = state_of["model.embed_tokens.weight"][ids]
    kept = []
    for number in range(config.num_hidden_layers):
        w = {
            k.removeprefix(f"model.layers.{number}."): v
            for k, v in state_of.items()
            if k.startswith(f"model.layers.{number}.")
        }
        read = norm(x, w["input_layernorm.weight"])
        q, k, v = (read @ w[f"self_attn.{p}_proj.weight"].T for p in "qkv")
        tq, tk = turn(split(q, heads)), np.repeat(turn(split(k, groups)), heads // groups, axis=0)
        tv = np.repeat(split(v, groups), heads // groups, axis=0)
        fit = tq @ tk.swapaxes(1, 2) / np.sqrt(size)
        seen = np.where(np.tri(n, dtype=bool), fit, -np.inf)
        a = softmax(seen)
        mixed = (a @ tv).swapaxes(0, 1).reshape(n, -1)
        middle = x + mixed @ w["self_attn.o_proj.weight"].T
        read2 = norm(middle, w["post_attention_layernorm.weight"])
        gate, up = read2 @ w["mlp.gate_proj.weight"].T, read2 @ w["mlp.up_proj.weight"].T
        opened = gate / (1 + np.exp(-gate))
        after = middle + (opened * up) @ w["mlp.down_proj.weight"].T
        kept.append((w, x, read, q, k, v, tq, tk, tv, fit, a, mixed, middle, read2, opened * up, after))
        x = after
    last = norm(x, state_of["model.norm.weight"])
    logits = last @ state_of["lm_head.weight"].T
    relevance = np.zeros_like(logits)
    for token, part in start.items():
        relevance[-1, token] = part * logits[-1, token]
    r = np.zeros_like(last)
    for token, _ in start.items():
        weight = state_of["lm_head.weight"][token]
        r[-1] += last[-1] * weight * relevance[-1, token] / logits[-1, token]
    for w, x, read, q, k, _, tq, tk, tv, fit, a, mixed, middle, read2, inner, after in reversed(kept):
        added = after - middle
        r_added, r_middle = r * added / after, r * middle / after
        r_inner = linear(w["mlp.down_proj.weight"], inner, r_added)
        # Half to the gate and half to what it lets through; the activation hands on what it got.
        r_middle = r_middle + linear(w["mlp.gate_proj.weight"], read2, r_inner / 2)
        r_middle = r_middle + linear(w["mlp.up_proj.weight"], read2, r_inner / 2)
        added = middle - x
        r_added, r_x = r_middle * added / middle, r_middle * x / middle
        r_mixed = linear(w["self_attn.o_proj.weight"], mixed, r_added).reshape(n, heads, size).swapaxes(0, 1)
        ratio = r_mixed / (a @ tv)
        r_a = a * (ratio @ tv.swapaxes(1, 2)) / 2
        r_v = tv * (a.swapaxes(1, 2) @ ratio) / 2
        r_fit = np.where(np.tri(n, dtype=bool), fit * (r_a - a * r_a.sum(-1, keepdims=True)), 0.0)
        share = r_fit / (fit * np.sqrt(size))  # of each product of a query's and a key's number
        r_q, r_k = tq * (share @ tk) / 2, tk * (share.swapaxes(1, 2) @ tq) / 2
        r_x = r_x + linear(w["self_attn.q_proj.weight"], read, turned_back(r_q, tq, q))
        one = tk.reshape(groups, heads // groups, n, size)[:, 0]
        r_x = r_x + linear(w["self_attn.k_proj.weight"], read, turned_back(grouped(r_k), one, k))
        r_x = r_x + linear(w["self_attn.v_proj.weight"], read, flat(grouped(r_v)))
        r = r_x
    return r.sum(axis=1)


@pytest.mark.parametrize("target", [0, 1])
def test_relevance_is_that_of_the_rules_applied_one_by_one(target):
    model = model_of()
    text = "the plot was good , not dull"
    (found,) = verax.explainer("lrp").explain(model, [text], target)
    tokens = model.tokens_of(text)
    labels = [label[0] for label in model.label_ids()]
    start = {labels[target]: 1.0, labels[1 - target]: -1.0}
    ids = [*tokens.before, *tokens.text, *tokens.after]
    expected = rule_by_rule(network(), ids, start)
    inside = expected[len(tokens.before) : len(tokens.before) + len(tokens.text)]
    by_word = np.bincount(
        tokens.word_of[tokens.word_of >= 0], inside[tokens.word_of >= 0], len(found.features)
    )
    np.testing.assert_allclose(found.scores, by_word, atol=1e-4 * max(1.0, np.abs(by_word).max()))
    margin = np.diff(model.scores([text])[0])[0] * (1 if target else -1)
    assert found.details["score"] == pytest.approx(margin, abs=1e-4)
    assert found.details["absorbed"] == pytest.approx(margin - expected.sum(), abs=1e-3)


def test_the_way_that_relevance_goes_back_on_is_the_networks():
    ids = torch.tensor([5, 9, 200, 31, 7])
    net = network()
    with torch.no_grad():
        found = relevance_logits(net, net.get_input_embeddings()(ids))
        torch.testing.assert_close(found, net(ids[None]).logits[0], atol=1e-4, rtol=1e-4)


def test_labels_of_several_tokens_and_given_answers_have_relevance():
    (found,) = verax.explainer("lrp").explain(model_of(labels=LONG), ["a dull plot"], 0)
    assert np.abs(found.scores).max() > 0
    answer = verax.as_model(network(), tokenizer=tokenizer(), prompt="Review: {text} It was", target=" great")
    (found,) = verax.explainer("lrp").explain(answer, ["a dull plot"])
    (row,) = answer.encode([answer.prompt.fill("a dull plot")])
    with torch.no_grad():
        logit = float(network()(torch.tensor([row])).logits[0, -1, answer.label_ids()[0][0]])
    assert found.details["score"] == pytest.approx(logit, abs=1e-4)


def test_rollout_adds_up_all_ways_through_the_layers():
    rng = np.random.default_rng(0)
    layers = [softmax(rng.normal(size=(4, 4))) for _ in range(3)]
    made = rollout(layers)
    for end, start in product(range(4), range(4)):
        ways = 0.0
        for middle in product(range(4), repeat=2):
            steps = [end, *middle, start]
            ways += np.prod(
                [
                    0.5 * layers[2 - place][here, there] + 0.5 * (here == there)
                    for place, (here, there) in enumerate(pairwise(steps))
                ]
            )
        assert made[end, start] == pytest.approx(ways)


@pytest.mark.parametrize("sort", ["causal", "masked"])
def test_rollout_of_a_prompt_is_a_share_of_all_its_tokens_and_the_same_for_all_classes(sort):
    model = model_of(sort)
    before = model.network.config._attn_implementation
    one, other = (
        verax.explainer("attention-rollout").explain(model, ["the plot was dull"], target)[0]
        for target in (0, 1)
    )
    np.testing.assert_array_equal(one.scores, other.scores)
    assert (one.scores > 0).all()
    assert one.scores.sum() + one.details["rest of the prompt"] == pytest.approx(1.0, abs=1e-5)
    assert model.network.config._attn_implementation == before


@pytest.mark.parametrize(
    ("name", "model", "sentence"),
    [
        (
            "lrp",
            {"family": "gpt2"},
            r"rules for language models of the Llama family.*not for this GPT2LMHeadModel",
        ),
        ("lrp", {"sort": "masked"}, "needs a local language model"),
        ("attention-rollout", {"sort": "seq2seq"}, r"needs a local language model \(causal or masked\)"),
        ("attention-rollout", {"features": "examples"}, "needs gradients"),
    ],
)
def test_what_there_are_no_rules_for_is_refused_with_what_works(name, model, sentence):
    with pytest.raises(VeraxError, match=sentence + ".*lime"):
        verax.explainer(name).explain(model_of(**model), ["a dull plot"])
