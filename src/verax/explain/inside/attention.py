"""What goes back through a language model's attention: relevance (AttnLRP), and attention itself (rollout)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.inside.word_scores import Find, PositionScores, rounded
from verax.explain.perturbed import Targets
from verax.models.base import Model
from verax.models.capabilities import what_works
from verax.models.llm.local import Tokens, WordLanguageModel

if TYPE_CHECKING:
    from collections.abc import Iterator

# ---- Attention rollout


def rollout_flow(model: Model) -> Find:
    """What finds how much attention reaches the place of the answer from texts' words."""
    asked = _language_model(model, "attention-rollout", ("causal", "masked"))

    def find(texts: Sequence[str], targets: Targets) -> list[PositionScores]:
        found = []
        for text, target in zip(texts, _chosen(asked, texts, targets), strict=True):
            tokens = asked.tokens_of(text)
            flow = rollout(attentions(asked, tokens))[_answered_at(asked, tokens)]
            first = len(tokens.before)
            values = flow[first : first + len(tokens.text)]
            details: dict[str, object] = {"rest of the prompt": rounded(1.0 - float(values.sum()))}
            found.append(PositionScores(target, values, details, tokens.word_of))
        return found

    return find


def _chosen(model: WordLanguageModel, texts: Sequence[str], targets: Targets) -> list[int]:
    """The classes to explain: those asked for, else the predicted ones."""
    predicted = model.scores(texts).argmax(axis=1).tolist() if None in targets else targets
    return [guess if target is None else target for target, guess in zip(targets, predicted, strict=True)]


def rollout(layers: Sequence[FloatArray]) -> FloatArray:
    """(tokens, tokens): what each token is made of after all layers, from each layer's attention."""
    made: FloatArray = np.eye(len(layers[0]))
    for attention in layers:
        made = np.asarray((0.5 * attention + 0.5 * np.eye(len(attention))) @ made)
    return made


def attentions(model: WordLanguageModel, tokens: Tokens) -> list[FloatArray]:
    """The attention of each layer, a mean over its heads, in a prompt."""
    ids = torch.tensor([[*tokens.before, *tokens.text, *tokens.after]])
    with _eager(model.network), torch.inference_mode():
        given = model.network(input_ids=ids, output_attentions=True).attentions
    if not given or any(layer is None for layer in given):
        raise VeraxError(f"{type(model.network).__name__} does not show its attention; {what_works(model)}.")
    return [layer[0].mean(dim=0).double().numpy() for layer in given]


def _answered_at(model: WordLanguageModel, tokens: Tokens) -> int:
    """The place from which the answer is read: the last one, or the mask."""
    ids = [*tokens.before, *tokens.text, *tokens.after]
    return len(ids) - 1 if model.sort == "causal" else ids.index(model.tokenizer.mask_token_id)


@contextmanager
def _eager(network: Any) -> Iterator[None]:
    """Attention computed in steps, so that it can be seen; set back afterwards."""
    before = network.config._attn_implementation
    network.eval().set_attn_implementation("eager")
    try:
        yield
    finally:
        network.set_attn_implementation(before)


# ---- AttnLRP

# How far the logits of the way that relevance goes back on may lie from the network's own.
TOLERANCE = 1e-3


def attention_relevance(model: Model) -> Find:
    """What finds the relevance of texts' words for a language model's answer (AttnLRP, Achtibat et al. 2024).

    What is handed back is the logit of the target's label less the mean of the other labels'; of a given answer, its
    tokens' logits. Every linear layer hands on in proportion to what each input added. A product of two signals
    (attention and values, queries and keys, the gate and what it lets through) hands half to each; the softmax hands on
    its first-order terms; normalisation and activation hand on what they got.
    """
    asked = _language_model(model, "lrp", ("causal",))
    _check_layers(asked)

    def find(texts: Sequence[str], targets: Targets) -> list[PositionScores]:
        chosen = _chosen(asked, texts, targets)
        return [_relevance(asked, text, target) for text, target in zip(texts, chosen, strict=True)]

    return find


def _relevance(model: WordLanguageModel, text: str, target: int) -> PositionScores:
    tokens = model.tokens_of(text)
    labels = model.label_ids()
    if target >= len(labels):
        raise VeraxError(
            "Relevance is handed back from the given answer, not from all others; leave target out."
        )
    ids = [*tokens.before, *tokens.text, *tokens.after]
    vectors = model.network.get_input_embeddings()(torch.tensor(ids)).detach().float().requires_grad_()
    shares = [1.0 if number == target else -1.0 / (len(labels) - 1) for number in range(len(labels))]
    handed: FloatArray = np.zeros(len(ids))
    score = 0.0
    # Labels of one token are all read off behind the prompt; longer ones need their own tokens before.
    for inner in sorted({label[:-1] for label in labels}):
        more = model.network.get_input_embeddings()(torch.tensor(inner, dtype=torch.long)).detach().float()
        logits = relevance_logits(model.network, torch.cat([vectors, more]))
        _check_logits(model, [*ids, *inner], logits)
        last = logits[len(ids) - 1 :]
        start = sum(
            share * last[range(len(label)), list(label)].sum()
            for share, label in zip(shares, labels, strict=True)
            if label[:-1] == inner
        )
        assert isinstance(start, Tensor)
        (slopes,) = torch.autograd.grad(start, vectors)
        handed += (slopes * vectors.detach()).sum(dim=1).double().numpy()
        score += float(start.detach())
    first = len(tokens.before)
    values = handed[first : first + len(tokens.text)]
    details: dict[str, object] = {
        "score": rounded(score),
        "rest of the prompt": rounded(float(handed.sum() - values.sum())),
        "absorbed": rounded(score - float(handed.sum())),
    }
    return PositionScores(target, values, details, tokens.word_of)


class _Halved(torch.autograd.Function):
    """A number that hands back half of what it is given: the other factor of a product gets the other half."""

    @staticmethod
    def forward(_: Any, value: Tensor) -> Tensor:
        """The same."""
        return value.view_as(value)

    @staticmethod
    def backward(_: Any, *given: Tensor) -> Tensor:
        """Half."""
        return given[0] / 2


def _half(value: Tensor) -> Tensor:
    made: Tensor = _Halved.apply(value)  # type: ignore[no-untyped-call]
    return made


def relevance_logits(network: Any, vectors: Tensor) -> Tensor:
    """The logits behind each token (tokens, dimensions) of a network of the Llama family.

    Their gradient times the vectors is relevance by the rules of `attention_relevance`.
    """
    core, config = network.model, network.config
    length = len(vectors)
    cosine, sine = (part[0] for part in core.rotary_emb(vectors[None], torch.arange(length)[None]))
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    heads, groups = config.num_attention_heads, config.num_key_value_heads

    def by_head(values: Tensor, count: int) -> Tensor:
        return values.view(length, count, -1).transpose(0, 1)

    def turned(values: Tensor) -> Tensor:
        half = values.shape[-1] // 2
        around = torch.cat([-values[..., half:], values[..., :half]], dim=-1)
        made: Tensor = values * cosine + around * sine
        return made

    state = vectors
    for layer in core.layers:
        part, read = layer.self_attn, _normalised(layer.input_layernorm, state)
        queries = turned(by_head(part.q_proj(read), heads))
        keys = turned(by_head(part.k_proj(read), groups)).repeat_interleave(heads // groups, dim=0)
        values = by_head(part.v_proj(read), groups).repeat_interleave(heads // groups, dim=0)
        fit = _half(queries) @ _half(keys).transpose(1, 2) * part.scaling
        weights = fit.masked_fill(later, -torch.inf).softmax(dim=-1)
        mixed = (_half(weights) @ _half(values)).transpose(0, 1).reshape(length, -1)
        state = state + part.o_proj(mixed)
        read = _normalised(layer.post_attention_layernorm, state)
        gate = layer.mlp.gate_proj(read)
        # An activation hands on what it got: as a factor that is fixed.
        opened = gate * (layer.mlp.act_fn(gate) / torch.where(gate == 0, 1.0, gate)).detach()
        state = state + layer.mlp.down_proj(_half(opened) * _half(layer.mlp.up_proj(read)))
    logits: Tensor = network.lm_head(_normalised(core.norm, state))
    return logits


def _normalised(norm: Any, state: Tensor) -> Tensor:
    """Divided by its size, which is fixed: it hands on what it got."""
    made: Tensor = norm.weight * (
        state * torch.rsqrt(state.detach().square().mean(-1, keepdim=True) + norm.variance_epsilon)
    )
    return made


def _check_layers(model: WordLanguageModel) -> None:
    """Refuses networks without the parts that there are rules for."""
    core: Any = getattr(model.network, "model", None)
    parts = (
        "self_attn.q_proj",
        "self_attn.o_proj",
        "mlp.gate_proj",
        "mlp.down_proj",
        "input_layernorm.weight",
    )
    layers: Any = getattr(core, "layers", None)
    try:
        known = layers is not None and hasattr(core, "rotary_emb")
        for part in parts if known else ():
            layers[0].get_submodule(part.rpartition(".")[0])
    except (AttributeError, IndexError, TypeError):
        known = False
    if not known or model.network.dtype != torch.float32:
        _refuse(model)


def _check_logits(model: WordLanguageModel, ids: Sequence[int], logits: Tensor) -> None:
    """A network of another family may have the same parts and put them together otherwise."""
    with torch.inference_mode():
        own = model.network(input_ids=torch.tensor([list(ids)]), use_cache=False).logits[0, -1]
    if float((own - logits[-1].detach()).abs().max()) > TOLERANCE * max(1.0, float(own.abs().max())):
        _refuse(model)


def _refuse(model: WordLanguageModel) -> None:
    raise VeraxError(
        "The method 'lrp' has rules for language models of the Llama family in single precision, not for this "
        f"{type(model.network).__name__}; {what_works(model)}."
    )


def _language_model(model: Model, method: str, sorts: tuple[str, ...]) -> WordLanguageModel:
    if isinstance(model, WordLanguageModel) and model.sort in sorts:
        return model
    raise VeraxError(
        f"The method {method!r} needs a local language model ({' or '.join(sorts)}) whose explanations are about the "
        f"words of the text, which this {type(model).__name__} is not; {what_works(model)}."
    )
