"""Networks of others as models: a torch module with its encoder, or a Hugging Face classifier."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeGuard

import numpy as np
import torch
from scipy.special import softmax
from torch import Tensor, nn

from verax.arrays import FloatArray
from verax.data.table import Schema
from verax.errors import VeraxError
from verax.models.base import Inputs, Model, ask, check_class_names
from verax.models.llm.adapt import SORTS as PROMPTED
from verax.models.neural.encoders import PieceEncoder, TextEncoder
from verax.models.neural.networks import TextNetwork, WordNetwork, weights_state
from verax.models.neural.precision import prove_module
from verax.models.wrappers import check_texts, encode_rows, is_texts

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast


# What an encoder gives and a module is called with: one argument, several, or several by name.
Arguments = Tensor | Sequence[Tensor] | Mapping[str, Tensor]
Outputs = Literal["scores", "probabilities"]

# Inputs per call of a module whose memory nobody knows.
BATCH_INPUTS = 128
# What the transformers library calls its classifiers of texts; what its other models are, by how their names end.
CLASSIFIER = "ForSequenceClassification"
TASKS = {
    "LMHeadModel": "a language model that predicts the next piece of a text",
    "ForCausalLM": "a language model that predicts the next piece of a text",
    "ForMaskedLM": "a language model that fills in masked pieces of a text",
    "ForPreTraining": "a language model with the heads of its pretraining",
    "ForConditionalGeneration": "a model that writes texts",
    "ForTokenClassification": "a classifier of single pieces of a text",
    "ForQuestionAnswering": "a model that finds answers in a text",
    "ForNextSentencePrediction": "a model that tells whether one sentence follows another",
    "ForMultipleChoice": "a model that chooses among several texts",
    "Model": "a model without a head for classes",
}
# A tokenizer may know this many fewer pieces than a model has embeddings for: some round up.
SPARE_EMBEDDINGS = 256


@dataclass(frozen=True, eq=False)
class ModuleModel(Model):
    """Somebody's torch module: probabilities, scores if it gives them, layers.

    Attributes:
        module: from what the encoder gives to a row of numbers per input.
        encoder: from a list of texts, or encoded rows of a table, to the module's arguments.
        class_names: one name per number.
        outputs: what the numbers are: scores before the softmax, or probabilities.
        kind: what it reads.
        schema: a table's columns.
        reference: training inputs; None if not given.
    """

    module: nn.Module
    encoder: Callable[[Sequence[str] | FloatArray], Arguments]
    class_names: tuple[str, ...]
    outputs: Outputs = "scores"
    kind: str = "text"
    schema: Schema | None = None
    reference: Sequence[str] | FloatArray | None = field(default=None, repr=False)

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per input, checked."""
        batch = check_texts(inputs) if self.schema is None else encode_rows(inputs, self.schema)
        if len(batch) == 0:
            return np.empty((0, len(self.class_names)))
        return ask(self._probabilities, batch, len(batch), len(self.class_names))

    def scores(self, inputs: Inputs) -> FloatArray:
        """Class scores before the softmax, one row per input, if the module gives them."""
        if self.outputs != "scores":
            raise VeraxError("The module gives probabilities, not scores; ask for predict_proba.")
        batch = check_texts(inputs) if self.schema is None else encode_rows(inputs, self.schema)
        return self._numbers(batch) if len(batch) else np.empty((0, len(self.class_names)))

    def layers(self) -> Mapping[str, nn.Module]:
        """The module's own modules."""
        return dict(self.module.named_children())

    def fitted_state(self) -> tuple[int, ...]:
        """Numbers that change when a weight does."""
        return weights_state(self.module)

    def _probabilities(self, batch: Sequence[str] | FloatArray) -> FloatArray:
        numbers = self._numbers(batch)
        if self.outputs == "probabilities":
            return numbers
        if numbers.ndim == 2 and numbers.min() >= 0 and np.allclose(numbers.sum(axis=1), 1.0, atol=1e-4):
            raise VeraxError(
                "The module gives probabilities where scores were promised, and a second softmax would blur them; "
                "say outputs='probabilities'."
            )
        return np.asarray(softmax(numbers, axis=1))

    def _numbers(self, batch: Sequence[str] | FloatArray) -> FloatArray:
        self.module.eval()
        answers = []
        with torch.inference_mode():
            for first in range(0, len(batch), BATCH_INPUTS):
                arguments = self.encoder(batch[first : first + BATCH_INPUTS])
                if isinstance(arguments, Tensor):
                    answer = self.module(arguments)
                elif isinstance(arguments, Mapping):
                    answer = self.module(**arguments)
                else:
                    answer = self.module(*arguments)
                answers.append(getattr(answer, "logits", answer).double().numpy())
        return np.concatenate(answers)


class HuggingFaceNetwork(WordNetwork):
    """A Hugging Face model for sequence classification.

    Args:
        model: any that takes ``inputs_embeds`` and ``attention_mask`` and gives ``logits``.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.embedding = model.get_input_embeddings()
        self.model = model

    def from_embedded(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Scores of texts as vectors of their pieces."""
        inside = (torch.arange(vectors.shape[1]) < lengths[:, None]).long()
        scores: Tensor = self.model(inputs_embeds=vectors, attention_mask=inside).logits
        return scores


def adapt_module(
    module: nn.Module,
    tokenizer: PreTrainedTokenizerFast | None,
    encoder: TextEncoder | Callable[[Sequence[str] | FloatArray], Arguments] | None,
    class_names: Sequence[str] | None,
    outputs: Outputs,
    schema: Schema | None,
    reference: Sequence[str] | FloatArray | None,
) -> Model:
    """A torch module as a model: with its own encoder, or of Hugging Face with its tokenizer.

    A ``WordNetwork`` with a ``TextEncoder`` shows its embeddings, and so gives gradients too. One in lower precision is
    taken where this machine can compute in it.
    """
    prove_module(module)
    texts = reference if is_texts(reference) else None
    if encoder is None:
        if is_hugging_face(module):
            return adapt_hugging_face(module, tokenizer, class_names, texts)
        raise VeraxError(
            f"{type(module).__name__} is a torch module; say how inputs become what it is called with: "
            "verax.as_model(module, encoder=..., class_names=[...])."
        )
    if class_names is None:
        raise VeraxError(f"{type(module).__name__} does not name its classes; give class_names=[...].")
    names = check_class_names(class_names, class_names)
    if isinstance(encoder, TextEncoder):
        if isinstance(module, WordNetwork):
            return TextNetwork(module, encoder, names, texts)
        collate, encode = encoder.collate, encoder.encode
        return ModuleModel(module, lambda batch: collate(encode(batch)), names, outputs, reference=texts)
    kind = "text" if schema is None else "table"
    return ModuleModel(module, encoder, names, outputs, kind, schema, reference)


def is_hugging_face(module: nn.Module) -> TypeGuard[PreTrainedModel]:
    """Whether a module is one of the transformers library."""
    if "transformers" not in sys.modules:
        return False
    from transformers import PreTrainedModel

    return isinstance(module, PreTrainedModel)


def adapt_hugging_face(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast | None,
    class_names: Sequence[str] | None = None,
    reference: Sequence[str] | None = None,
) -> TextNetwork:
    """A Hugging Face classifier of texts with its tokenizer as a model."""
    _check_classifier(model)
    if tokenizer is None:
        raise VeraxError(
            f"{type(model).__name__} reads pieces of words; give its tokenizer too: "
            "verax.as_model(model, tokenizer=tokenizer), or a pipeline('text-classification')."
        )
    labels = [
        label
        for _, label in sorted(
            (int(number), label) for number, label in (model.config.id2label or {}).items()
        )
    ]
    problem = getattr(model.config, "problem_type", None)
    if len(labels) < 2 or problem == "multi_label_classification":
        raise VeraxError(
            f"{type(model).__name__} does not choose one of several classes ({len(labels)} labels, problem type "
            f"{problem!r}); give a function from texts to class probabilities."
        )
    _check_tokenizer(model, tokenizer)
    names = check_class_names(class_names, labels)
    encoder = PieceEncoder(tokenizer, _max_pieces(model, tokenizer))
    return TextNetwork(HuggingFaceNetwork(model), encoder, names, reference)


def _check_classifier(model: PreTrainedModel) -> None:
    """Refuses a model of the transformers library for another task, whose made-up labels are no classes."""
    kinds = type(model).__mro__
    answers = next(kind for kind in kinds if "forward" in vars(kind))
    if not answers.__module__.startswith("transformers.") or answers.__name__.endswith(CLASSIFIER):
        return  # a class of the user's own, or a classifier of texts
    name = next(kind.__name__ for kind in kinds if kind.__module__.startswith("transformers."))
    task = next((what for ending, what in TASKS.items() if name.endswith(ending)), "no classifier of texts")
    asked = (
        ", or ask it by a prompt: verax.as_model(model, tokenizer=..., prompt='Review: {text} It is', labels=[...])"
        if any(name.endswith(ending) for ending, _ in PROMPTED)
        else ""
    )
    family = name.partition("For")[0].removesuffix("Model").removesuffix("LMHead")
    raise VeraxError(
        f"{type(model).__name__} is {task}, which does not choose one of several classes for a text; give a model for "
        f"sequence classification, such as {family}{CLASSIFIER}, with its tokenizer, or a function from texts to class "
        f"probabilities{asked}."
    )


def _check_tokenizer(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> None:
    rows, pieces = next(model.get_input_embeddings().parameters()).shape[0], len(tokenizer)
    if not rows - SPARE_EMBEDDINGS <= pieces <= rows:
        raise VeraxError(
            f"The tokenizer knows {pieces:,} pieces of words but the model has embeddings for {rows:,}; give the "
            "tokenizer that the model was trained with."
        )


def _max_pieces(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> int:
    """What both can take. RoBERTa and its like count positions from their padding on, so two are lost."""
    positions = int(getattr(model.config, "max_position_embeddings", 512))
    lost = 2 if "roberta" in str(model.config.model_type) else 0
    return min(positions - lost, int(min(tokenizer.model_max_length, 1 << 20)))
