"""The ready-made language models by name. Light to import: torch comes when one is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from verax.errors import VeraxError
from verax.models.base import Model, check_weights
from verax.models.llm.prompt import SHOTS, TEXT, PromptOptions
from verax.models.ready import models
from verax.models.wrappers import check_texts
from verax.seeds import stream

if TYPE_CHECKING:
    from verax.data.dataset import Dataset, Part

# Examples are drawn among so many training texts, from the shorter half of them.
DRAWN = 200


@models.register("smollm2")
def smollm2(seed: int, *, examples: int = 6, calibration: int = 64, prompt: str = "") -> PromptedRecipe:
    """SmolLM2-135M-Instruct, asked with examples in its prompt and calibrated, not trained; texts.

    Args:
        seed: of the examples and validation texts that are drawn.
        examples: training texts with their classes in the prompt.
        calibration: validation texts that the threshold is fitted on; 0 for none.
        prompt: what it is asked, with ``{text}`` in it; made from the names of the classes by default.
    """
    return PromptedRecipe(seed, examples, calibration, prompt)


@models.register("smollm2-tuned")
def smollm2_tuned(
    seed: int, *, layers: int = 4, epochs: int = 4, rate: float = 0.0003, texts: int = 800, prompt: str = ""
) -> TunedRecipe:
    """SmolLM2-135M-Instruct, its last layers trained to say the class behind a short prompt; texts.

    Args:
        seed: of the order of the texts, and of which are drawn.
        layers: how many of the 30 are trained.
        epochs: passes over the texts at the most.
        rate: of the training.
        texts: so many of the training texts are learnt from at the most.
        prompt: what it is asked, with ``{text}`` in it.
    """
    return TunedRecipe(seed, layers, epochs, rate, texts, prompt)


def asked_for(dataset: Dataset, prompt: str, *, examples: bool) -> tuple[str, dict[str, str]]:
    """What a model is asked about the texts of a dataset, and what it says for each class."""
    if dataset.kind != "text":
        raise VeraxError("A language model reads texts, and this dataset is a table; choose another model.")
    labels = {name: f" {name.strip()}" for name in dataset.class_names}
    names = [name.strip() for name in dataset.class_names]
    if prompt:
        if TEXT not in prompt:
            raise VeraxError(f"The prompt {prompt!r} does not say where the text comes; write {TEXT} in it.")
        return prompt, labels
    # For reviews, these words are a few points more accurate than the general ones.
    reviews = set(names) == {"negative", "positive"}
    shot = f"Review: {TEXT}\nSentiment:" if reviews else f"Text: {TEXT}\nAnswer:"
    if not examples:
        return shot, labels  # one that is trained needs no instructions
    said = f"{', '.join(names[:-1])} or {names[-1]}"
    return f"Decide whether each {'review' if reviews else 'text'} is {said}.\n\n{SHOTS}{shot}", labels


@dataclass(frozen=True)
class PromptedRecipe:
    """A model that is asked and learns nothing but its threshold; see `smollm2`."""

    seed: int
    examples: int
    calibration: int
    prompt: str

    def fit_inputs(self, dataset: Dataset, sample_weight: ArrayLike | None = None) -> Model:
        """The model with examples of the training part, calibrated on the validation part."""
        from verax.models.llm.adapt_local import adapt_language_model
        from verax.models.llm.weights import packed_weights
        from verax.models.llm.weights import smollm2 as load

        if sample_weight is not None:
            raise VeraxError(
                "The model 'smollm2' is asked and not trained, so that it cannot learn from weighted or stained "
                "labels; use 'smollm2-tuned', whose last layers are trained."
            )
        packed_weights()
        network, tokenizer = load()
        prompt, labels = asked_for(dataset, self.prompt, examples=self.examples > 0)
        shots = draw_examples(dataset, self.examples, self.seed)
        watched = drawn(dataset.validation, self.calibration, self.seed, "calibration")
        fits = len(watched) and len(np.unique(watched.labels)) == len(labels)
        asked = PromptOptions(prompt, labels, shots, watched if fits else None)
        return adapt_language_model(network, "causal", tokenizer, asked, check_texts(dataset.train.inputs))


@dataclass(frozen=True)
class TunedRecipe:
    """A model whose last layers are trained; see `smollm2_tuned`."""

    seed: int
    layers: int
    epochs: int
    rate: float
    texts: int
    prompt: str

    def fit_inputs(self, dataset: Dataset, sample_weight: ArrayLike | None = None) -> Model:
        """The model trained on the training part; the validation part tells when to stop."""
        from verax.models.llm.adapt_local import adapt_language_model
        from verax.models.llm.tuning import PromptExamples, TuningSchedule, training_precision, tune
        from verax.models.llm.weights import VERSION, fresh_smollm2, packed_weights

        packed_weights()
        prompt, labels = asked_for(dataset, self.prompt, examples=False)
        network, tokenizer = fresh_smollm2()
        model = adapt_language_model(
            network, "causal", tokenizer, PromptOptions(prompt, labels), check_texts(dataset.train.inputs)
        )
        first = [tokens[0] for tokens in model.label_ids()]
        if len(set(first)) < len(first):
            raise VeraxError(
                f"Two of the classes {', '.join(dataset.class_names)} begin with the same token, so that one step of "
                "training cannot tell them apart; rename the classes."
            )
        weights = check_weights(sample_weight, len(dataset.train))
        kept = np.flatnonzero(weights > 0)
        order = kept[stream(self.seed, "taught texts").permutation(len(kept))[: self.texts]]
        watched = drawn(dataset.validation, 200, self.seed, "watched")

        def lesson(part: Part, counted: np.ndarray) -> PromptExamples:
            prompts = model.encode([model.prompt.fill(text) for text in check_texts(part.inputs)])
            answers = np.array(first, dtype=np.int64)[np.asarray(part.labels, dtype=np.int64)]
            return PromptExamples(prompts, answers, counted)

        tune(
            network,
            lesson(dataset.train.take(order), weights[order]),
            lesson(watched, np.ones(len(watched))),
            TuningSchedule(self.layers, self.epochs, rate=self.rate, precision=training_precision()),
            self.seed,
            f"smollm2 {VERSION}",
        )
        return model


def drawn(part: Part, count: int, seed: int, about: str) -> Part:
    """So many inputs of a part at random, or all if it has no more."""
    return part.take(np.sort(stream(seed, about).permutation(len(part))[:count]))


def draw_examples(dataset: Dataset, count: int, seed: int) -> tuple[tuple[str, str], ...]:
    """Short training texts with their classes, as many of each class as can be, in a random order."""
    rng = stream(seed, "examples")
    part = dataset.train
    places = rng.permutation(len(part))[:DRAWN]
    texts = [str(text) for text in part.take(places).inputs]
    short = sorted(range(len(texts)), key=lambda place: len(texts[place]))[: max(count, len(texts) // 2)]
    short = [short[place] for place in rng.permutation(len(short))]
    by_class = [
        [place for place in short if part.labels[places[place]] == number]
        for number in range(len(dataset.class_names))
    ]
    chosen: list[tuple[str, str]] = []
    for turn in range(max(map(len, by_class), default=0)):
        for number, found in enumerate(by_class):
            if turn < len(found) and len(chosen) < count:
                chosen.append((texts[found[turn]], dataset.class_names[number]))
    return tuple(chosen[place] for place in rng.permutation(len(chosen)))
