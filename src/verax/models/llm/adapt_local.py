"""A local language model made from what `verax.as_model` is given: its prompt, labels, chat template, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from verax.errors import VeraxError
from verax.models.llm.continuations import Network
from verax.models.llm.local import LanguageModel, Sort, WordLanguageModel
from verax.models.llm.prompt import (
    CONTENT_FREE,
    OTHER,
    TEXT,
    Prompt,
    PromptOptions,
    checked_features,
    checked_question,
    contextual,
    fitted,
    make_prompt,
    pair_of,
)
from verax.models.wrappers import check_texts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


def adapt_language_model(
    network: Network,
    sort: Sort,
    tokenizer: PreTrainedTokenizerFast | None,
    asked: PromptOptions,
    reference: Sequence[str] | None = None,
) -> LanguageModel:
    """A local language model with its tokenizer and prompt as a model; what is missing or wrong is a sentence."""
    name = type(network).__name__
    if tokenizer is None:
        raise VeraxError(
            f"{name} reads pieces of words; give its tokenizer too: verax.as_model(model, tokenizer=...)."
        )
    words = checked_question(asked, name)
    made = make_prompt(asked.prompt or "", words, asked.examples, masked=sort == "masked")
    if asked.chat:
        made = _in_chat(made, tokenizer)
    model = LanguageModel(
        network=network,
        tokenizer=tokenizer,
        prompt=made,
        labels=tuple(words.values()) if asked.target is None else (asked.target,),
        class_names=tuple(words) if asked.target is None else (asked.target, OTHER),
        sort=sort,
        about=checked_features(asked.features),
        marks=not asked.chat,
        reference=reference,
    )
    if asked.features == "words":  # gradients are about the words of the text
        model = WordLanguageModel(**{name: value for name, value in vars(model).items() if name != "_kept"})
    _check_labels(model)
    return model if asked.calibrate is None else calibrated(model, asked.calibrate)


def calibrated(model: LanguageModel, calibrate: object) -> LanguageModel:
    """The model with the calibration that was asked for: 'contextual', or fitted on validation texts."""
    if model.default_target is not None:
        raise VeraxError("The log-probability of a given answer is explained as it is; leave calibrate= out.")
    if isinstance(calibrate, str):
        if calibrate != "contextual":
            pair_of(calibrate)
        rows = model.log_probabilities([model.prompt.fill(text) for text in CONTENT_FREE])
        return replace(model, calibration=contextual(rows))
    texts, known = pair_of(calibrate)
    rows = model.log_probabilities([model.prompt.fill(text) for text in check_texts(texts)])
    return replace(model, calibration=fitted(rows, known))


def _in_chat(prompt: Prompt, tokenizer: PreTrainedTokenizerFast) -> Prompt:
    """The prompt as what a user says in a chat, by the tokenizer's own template."""
    if not getattr(tokenizer, "chat_template", None):
        raise VeraxError("The tokenizer has no chat template; leave chat=True out.")
    said = tokenizer.apply_chat_template(
        [{"role": "user", "content": TEXT}], tokenize=False, add_generation_prompt=True
    )
    before, _, after = str(said).partition(TEXT)
    return replace(prompt, instructions=before + prompt.instructions, after=prompt.after + after)


def _check_labels(model: LanguageModel) -> None:
    """Refuses labels that cannot be told apart: one is the beginning of another, or stands for nothing."""
    ids = dict(zip(model.labels, model.label_ids(), strict=True))
    for label, tokens in ids.items():
        if not tokens:
            raise VeraxError(f"The tokenizer makes nothing of the label {label!r}; give another one.")
        for other, more in ids.items():
            if other != label and more[: len(tokens)] == tokens:
                raise VeraxError(
                    f"The label {label!r} is the beginning of {other!r} in the tokens of this model, so that it would "
                    "always be the likelier one; give labels of which none begins another."
                )
