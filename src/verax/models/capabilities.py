"""What a model can give beyond probabilities: small protocols that explainers ask for by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.models.base import Inputs, Model
from verax.text import listed

if TYPE_CHECKING:
    from torch import nn

# These explainers need nothing but probabilities.
WORK_ON_ANY_MODEL = ("lime", "shap", "greedy")
# These need gradients.
WORK_ON_GRADIENTS = ("gradient-x-input", "integrated-gradients")


@dataclass(frozen=True, eq=False)
class Embedded:
    """A text where it has become numbers: a vector at each position that the network reads.

    Attributes:
        text: as it was given.
        vectors: (positions, dimensions). Other vectors in their place (``dataclasses.replace``) are other points of
            the same space: all zero, or halfway there.
        word_of: for each position, the number of the text's word (``verax.data.words.split_words``) that it is or
            is a piece of; -1 for what is no word, such as a mark that a tokenizer adds.
    """

    text: str
    vectors: NDArray[np.float32]
    word_of: IndexArray


@runtime_checkable
class Scores(Protocol):
    """Class scores before the softmax."""

    def scores(self, inputs: Inputs) -> FloatArray:
        """(inputs, classes); the softmax of a row is the row of ``predict_proba``."""


@runtime_checkable
class Gradients(Protocol):
    """A text's embeddings, and how the class scores change with them."""

    def embed(self, inputs: Inputs) -> list[Embedded]:
        """Each text as the vectors that the first layer after the embeddings sees."""

    def scores_from(self, embedded: Sequence[Embedded]) -> FloatArray:
        """(texts, classes): the scores if these were the vectors."""

    def gradients(self, embedded: Sequence[Embedded], targets: Sequence[int]) -> list[NDArray[np.float32]]:
        """For each text the gradient of its target's score, of the shape of its vectors."""


@runtime_checkable
class Layers(Protocol):
    """The parts of a network, for relevance that is handed back through them and for what filters see."""

    def layers(self) -> Mapping[str, nn.Module]:
        """Name and module of each, from the inputs to the scores."""


@runtime_checkable
class Reference(Protocol):
    """Inputs that the model was trained on, or others like them, from which explainers can learn."""

    @property
    def reference(self) -> Sequence[str] | FloatArray | None:
        """Texts, or encoded rows of a table; None if the model was given none."""


@dataclass(frozen=True)
class Selection:
    """The words that a model chose from a text, and nothing of the rest of it.

    Attributes:
        words: those chosen, in their order, as they stand in the text.
        places: the number of each among the text's words (``verax.data.words.split_words``).
    """

    words: tuple[str, ...]
    places: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def text(self) -> str:
        """The chosen words as a text of their own."""
        return " ".join(self.words)

    def without(self, number: int) -> Selection:
        """The same without one of its words, the first being number 0."""
        return Selection(
            self.words[:number] + self.words[number + 1 :], self.places[:number] + self.places[number + 1 :]
        )


@runtime_checkable
class Selecting(Protocol):
    """A model in two steps: it chooses words of a text, and predicts from these words alone."""

    def select(self, inputs: Inputs) -> list[Selection]:
        """The words that it chooses from each text."""

    def encode(self, selections: Sequence[Selection]) -> FloatArray:
        """(selections, classes): probabilities from the chosen words alone; of ``select``, they are the model's."""


@runtime_checkable
class Refittable(Protocol):
    """A model whose weights may change in place (trained on, randomised), and which says so."""

    def fitted_state(self) -> tuple[int, ...]:
        """Numbers that differ when a weight does."""


@runtime_checkable
class Writing(Protocol):
    """A language model that can be asked something about a text, in words, and answers in words."""

    def reply(self, text: str, target: int | None, question: str, tokens: int) -> str:
        """What it writes when it is asked a question about a text, as likely as can be and the same each time.

        Args:
            text: the input.
            target: the class that it is told to have answered just before; None if it has not answered yet.
            question: in words.
            tokens: so many of an answer at the most.
        """


Capability = Literal["scores", "gradients", "layers", "reference", "selection", "writing"]

PROTOCOLS: dict[Capability, type] = {
    "scores": Scores,
    "gradients": Gradients,
    "layers": Layers,
    "reference": Reference,
    "selection": Selecting,
    "writing": Writing,
}
MEANING: dict[Capability, str] = {
    "scores": "class scores before the softmax",
    "gradients": "gradients of its scores with respect to word embeddings",
    "layers": "a look at the layers of a network",
    "reference": "inputs that the model was trained on",
    "selection": "the words that it selects before it predicts (select and encode)",
    "writing": "a language model that answers in words",
}


def has(model: Model, capability: Capability) -> bool:
    """Whether a model offers this."""
    if capability == "reference" and getattr(model, "reference", None) is None:
        return False
    if capability == "writing" and not getattr(model, "writes", True):
        return False  # a language model that fills in masks
    if capability == "scores" and getattr(model, "outputs", "scores") != "scores":
        return False  # somebody's module that ends in probabilities
    return isinstance(model, PROTOCOLS[capability])


def what_works(model: Model, *inside: str) -> str:
    """The methods that do work on this very model, for a sentence that refuses another one.

    Args:
        model: what is to be explained.
        inside: methods that look inside and work on it; those that need gradients are known here.
    """
    if has(model, "gradients"):
        inside = (*inside, *WORK_ON_GRADIENTS)
    named = listed([*inside, *WORK_ON_ANY_MODEL])
    if model.kind == "table" and not has(model, "reference"):
        # Absent columns take values of other rows, and there are none.
        return f"{named} work on it once it has some training rows: verax.as_model(..., reference=rows)"
    return f"{named} work on {'it' if inside else 'any model'}"


@overload
def ask_for(model: Model, capability: Literal["scores"], method: str) -> Scores: ...
@overload
def ask_for(model: Model, capability: Literal["gradients"], method: str) -> Gradients: ...
@overload
def ask_for(model: Model, capability: Literal["layers"], method: str) -> Layers: ...
@overload
def ask_for(model: Model, capability: Literal["reference"], method: str) -> Reference: ...
@overload
def ask_for(model: Model, capability: Literal["selection"], method: str) -> Selecting: ...
@overload
def ask_for(model: Model, capability: Literal["writing"], method: str) -> Writing: ...
def ask_for(model: Model, capability: Capability, method: str) -> object:
    """The model, known to offer a capability; else a sentence that names methods that do work on it.

    Args:
        model: what is to be explained.
        capability: what the method needs of it.
        method: the explainer's name, for the sentence.
    """
    if has(model, capability):
        return model
    needs = (
        f"The method {method!r} needs {MEANING[capability]}, which this {type(model).__name__} does not give"
    )
    if capability == "reference":
        raise VeraxError(f"{needs}; give some: verax.as_model(..., reference=inputs).")
    raise VeraxError(f"{needs}; {what_works(model)}.")
