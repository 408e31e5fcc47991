"""Language models as people have them: which sort of model it is, and what to do where it is none."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.llm.prompt import PromptOptions
from verax.models.ready import parse_model

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

        name, options = endpoint_named(given, asked.endpoint)
        return adapt_endpoint(name, replace(asked, endpoint=options), reference)
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


def endpoint_named(given: str, options: EndpointOptions | None = None) -> tuple[str, EndpointOptions]:
    """A model's name at its endpoint, and how it is asked.

    Args:
        given: ``openai:MODEL``, or with options in the name: ``openai:MODEL(max_requests=500, record=answers)``.
        options: how it is asked where the name does not say.
    """
    from pydantic import TypeAdapter, ValidationError

    from verax.models.llm.client import EndpointOptions

    named = parse_model(given)
    known = [each.name for each in fields(EndpointOptions)]
    # A rule is told in staining runs; elsewhere there is none.
    told = {name: value for name, value in named.options.items() if name != "rule"}
    for option in told:
        if option not in known:
            raise VeraxError(
                f"The model {named.name!r} has no option {option!r}; a model behind an endpoint has {', '.join(known)}."
            )
    before = {} if options is None else vars(options)
    try:
        made = TypeAdapter(EndpointOptions).validate_python({**before, **told})
    except ValidationError as error:
        first = error.errors()[0]
        if isinstance(own := first.get("ctx", {}).get("error"), VeraxError):
            raise own from error
        raise VeraxError(
            f"The option {first['loc'][0]!r} of the model {named.name!r} is {first['input']!r}, which cannot be "
            f"({first['msg'].lower()}); write it like this: {ENDPOINT}MODEL(max_requests=500, record=answers)."
        ) from error
    return named.name.removeprefix(ENDPOINT), made


def check_shared_limits(given: str) -> None:
    """Refuses limits behind an endpoint's name where more than one model of it is made, unless all count together."""
    _, asked = endpoint_named(given)
    if asked.limited and asked.record is None:
        raise VeraxError(
            f"The limits of {given!r} would hold for each part of a run by itself; give answers a folder of their own, "
            "record=FOLDER, in which all of them count together."
        )


def endpoint_for(name: str, dataset: Dataset, options: EndpointOptions | None = None) -> Model:
    """A model behind an endpoint that is asked for the classes of a dataset, in words made from their names.

    Options in the name count before those beside it.
    """
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
