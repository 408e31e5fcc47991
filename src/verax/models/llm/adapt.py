"""Language models as people have them: which sort of model it is, and what to do where it is none."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.llm.prompt import PromptOptions

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from verax.data.dataset import Dataset
    from verax.models.llm.client import EndpointOptions
    from verax.models.llm.local import Sort


# How the transformers library's names of models end, and what such a model is.
SORTS: tuple[tuple[str, Sort], ...] = (
    ("LMHeadModel", "causal"),
    ("ForCausalLM", "causal"),
    ("ForMaskedLM", "masked"),
    ("ForConditionalGeneration", "seq2seq"),
)
ENDPOINT = "openai:"


def adapt_prompted(
    given: object,
    tokenizer: PreTrainedTokenizerFast | None,
    asked: PromptOptions,
    reference: Sequence[str] | None = None,
) -> Model:
    """A language model that is asked by a prompt: a local one, or the name of one behind an endpoint."""
    if isinstance(given, str):
        if not given.startswith(ENDPOINT):
            raise VeraxError(
                f"{given!r} is no language model; give a model of the transformers library with its tokenizer, or "
                "'openai:MODEL' with base_url= for one behind an endpoint."
            )
        from verax.models.llm.endpoint import adapt_endpoint

        return adapt_endpoint(given.removeprefix(ENDPOINT), asked, reference)
    if asked.base_url is not None or asked.endpoint is not None:
        raise VeraxError(
            "base_url= and endpoint= are for models behind an endpoint ('openai:MODEL'); leave them out."
        )
    inner = getattr(given, "model", None)  # of a pipeline
    if getattr(given, "task", None) is not None and inner is not None:
        given, tokenizer = inner, tokenizer or getattr(given, "tokenizer", None)
    if hasattr(given, "get_base_model"):  # of peft: its adapters are inside
        given = given.get_base_model()
    network, sort = language_sort(given)
    from verax.models.llm.adapt_local import adapt_language_model
    from verax.models.neural.precision import prove_module

    if network.device.type != "cpu":
        raise VeraxError(
            f"{type(network).__name__} is on {network.device}, and Verax asks local models on the processor; give "
            "model.cpu(), or serve it and ask it as 'openai:MODEL'."
        )
    prove_module(network)
    return adapt_language_model(network, sort, tokenizer, asked, reference)


def endpoint_for(name: str, dataset: Dataset, options: EndpointOptions | None = None) -> Model:
    """A model behind an endpoint that is asked for the classes of a dataset, in words made from their names."""
    if dataset.kind != "text":
        raise VeraxError("A language model reads texts, and this dataset is a table; choose another model.")
    names = [class_name.strip() for class_name in dataset.class_names]
    said = f"{', '.join(names[:-1])} or {names[-1]}"
    prompt = f"Decide whether the text is {said}. Answer with this one word only.\n\nText: {{text}}\nAnswer:"
    labels = dict(zip(dataset.class_names, names, strict=True))
    reference = [str(text) for text in dataset.train.inputs]
    return adapt_prompted(name, None, PromptOptions(prompt, labels, endpoint=options), reference)


def language_sort(given: Any) -> tuple[Any, Sort]:
    """A language model of the transformers library and its sort; anything else is refused in a sentence."""
    named = type(given).__name__
    if "transformers" in sys.modules:
        from transformers import PreTrainedModel

        if isinstance(given, PreTrainedModel):
            sequences = bool(getattr(given.config, "is_encoder_decoder", False))
            for kind in type(given).__mro__:
                for ending, sort in SORTS:
                    if kind.__name__.endswith(ending) and (sort == "seq2seq") == sequences:
                        return given, sort
    raise VeraxError(
        f"prompt= is for language models, and {named} is none that goes on with a text (...ForCausalLM), fills in a "
        "mask (...ForMaskedLM) or writes an answer (...ForConditionalGeneration); give one of them."
    )
