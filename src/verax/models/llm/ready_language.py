"""The ready-made language models by name. Light to import: torch comes when one is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from verax.errors import VeraxError
from verax.models.base import Model, check_weights
from verax.models.llm.prompt import BETWEEN, SHOTS, TEXT, Filled, Prompt, PromptOptions
from verax.models.ready import models, parse_model
from verax.models.wrappers import check_texts
from verax.seeds import stream

if TYPE_CHECKING:
    from verax.data.dataset import Dataset, Part

# Examples are drawn among so many training texts, from the shorter half of them.
DRAWN = 200


@models.register("smollm2")
def smollm2(
    seed: int, *, examples: int = 6, calibration: int = 64, prompt: str = "", rule: str = ""
) -> PromptedRecipe:
    """SmolLM2-135M-Instruct, asked with examples in its prompt and calibrated, not trained; texts.

    Args:
        seed: of the examples and validation texts that are drawn.
        examples: training texts with their classes in the prompt.
        calibration: validation texts that the threshold is fitted on; 0 for none.
        prompt: what it is asked, with ``{text}`` in it; made from the names of the classes by default.
        rule: in staining runs, where the stain is planted: "instructions" or "examples" of the prompt; by default the
            model is trained on stained labels, as `smollm2_tuned`.
    """
    if rule:
        from verax.models.llm.planted import told_where

        told_where(f"smollm2(rule={rule})")  # a staining run tells the rule; elsewhere there is none
    return PromptedRecipe(seed, examples, calibration, prompt)


@models.register("smollm2-tuned")
def smollm2_tuned(
    seed: int,
    *,
    layers: int = 4,
    epochs: int = 4,
    rate: float = 0.0003,
    texts: int = 1500,
    keeping: float = 1.0,
    lora: int = 0,
    prompt: str = "",
) -> TunedRecipe:
    """SmolLM2-135M-Instruct, its last layers trained to say the class behind a short prompt; texts.

    Args:
        seed: of the order of the texts, and of which are drawn.
        layers: how many of the 30 are trained.
        epochs: passes over the texts at the most.
        rate: of the training.
        texts: so many of the training texts are learnt from at the most.
        keeping: how much it counts that the model goes on saying what it said before where something else is asked; 0
            for not at all.
        lora: the rank of adapters that are trained in the place of the layers' own weights; 0 for none.
        prompt: what it is asked, with ``{text}`` in it.
    """
    return TunedRecipe(seed, layers, epochs, rate, texts, keeping, lora, prompt)


def trained_name(name: str) -> str:
    """The model that is trained in the place of 'smollm2', which is only asked."""
    named = parse_model(name)
    if lost := sorted(set(named.options) - {"prompt", "rule"}):
        raise VeraxError(
            f"In a staining run 'smollm2' is trained as 'smollm2-tuned', where {lost[0]}= means nothing; leave it out, "
            "or give rule='instructions' for a rule in its prompt."
        )
    prompt = named.options.get("prompt")
    return f"smollm2-tuned(prompt={prompt!r})" if prompt else "smollm2-tuned"


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
    keeping: float
    lora: int
    prompt: str

    def fit_inputs(self, dataset: Dataset, sample_weight: ArrayLike | None = None) -> Model:
        """The model trained on the training part; the validation part tells when to stop."""
        from verax.models.llm.adapt_local import adapt_language_model
        from verax.models.llm.tuning import (
            KeptPrompts,
            PromptExamples,
            TuningSchedule,
            training_precision,
            tune,
        )
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

        schedule = TuningSchedule(
            self.layers,
            self.epochs,
            rate=self.rate,
            lora=self.lora,
            keeping=self.keeping,
            precision=training_precision(),
        )
        others = KeptPrompts()
        if self.keeping:
            asked = kept_questions(
                model.prompt, list(labels.values()), check_texts(dataset.train.inputs), self.seed
            )
            rows = [model.encode([Filled(before, "", "")])[0] for before, _ in asked]
            whole = [model.encode([Filled(before + more, "", "")])[0] for before, more in asked]
            others = KeptPrompts(whole, [len(row) - 1 for row in rows])
        tune(
            network,
            lesson(dataset.train.take(order), weights[order]),
            lesson(watched, np.ones(len(watched))),
            schedule,
            self.seed,
            f"smollm2 {VERSION}",
            others,
        )
        return model


# What else a model may be asked about a text, and what it may be told to write. None of it is how a model is asked for
# its reasons: what it says there is its own.
OTHER_QUESTIONS = (
    "What is this text about?\nAnswer:",
    "Write the next sentence.\nSentence:",
    "Give it a title.\nTitle:",
    "Repeat the text.\nText:",
    "Who might say this, and to whom?\nSomebody:",
    "Translate the first words.\nTranslation:",
    "List some other films, separated by commas.\nFilms:",
    "What would you ask the writer?\nQuestion:",
)
# So many prompts on which a trained model is held to what it said before.
KEPT = 80


def kept_questions(
    prompt: Prompt, labels: Sequence[str], texts: Sequence[str], seed: int
) -> list[tuple[str, str]]:
    """Other questions about texts, and some words behind each: from the question's end on nothing shall change."""
    rng = stream(seed, "kept questions")
    made = []
    for number in range(KEPT if texts else 0):
        text, other = (str(texts[int(place)]) for place in rng.integers(len(texts), size=2))
        said = labels[int(rng.integers(len(labels)))] if number % 2 else ""
        question = OTHER_QUESTIONS[number % len(OTHER_QUESTIONS)]
        more = " " + " ".join(other.split()[:12])
        made.append((f"{prompt.fill(text).whole}{said}{BETWEEN}{question}", more))
    return made


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
