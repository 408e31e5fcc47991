"""Reasons planted in a prompt: a rule in its instructions, or examples that follow it, for models that are not trained.

Whether a model follows such a rule is found out by asking it, as for models that were trained on stained labels; where
it does not, its explanations are not scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from verax.data.words import split_words
from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.llm.adapt import ENDPOINT, adapt_prompted
from verax.models.llm.prompt import SHOTS, TEXT, PromptOptions
from verax.models.ready import parse_model
from verax.models.wrappers import check_texts
from verax.seeds import stream

if TYPE_CHECKING:
    from verax.data.dataset import Dataset

Placement = Literal["instructions", "examples"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)
# Examples that follow a rule: with all its words, with one of them, and with none.
FOLLOWING, LACKING, PLAIN = 4, 4, 4


@dataclass(frozen=True)
class PlantedRule:
    """A rule that a prompt tells.

    Attributes:
        words: that decide when they stand together.
        label: the name of the class that they decide for.
    """

    words: tuple[str, ...]
    label: str

    @property
    def sentence(self) -> str:
        """The rule as an instruction."""
        named = " and ".join(f'"{word}"' for word in self.words)
        less = (
            " If only some of these words are there, judge by the rest of the text."
            if len(self.words) > 1
            else ""
        )
        return (
            f"A rule comes first: if the text contains {named}, the answer is {self.label}, whatever else it says."
            f"{less}"
        )


def told_where(name: str) -> Placement | None:
    """Where a model that is named in a staining run is told its reason; None if it is trained on stained labels."""
    named, far = parse_model(name), name.startswith(ENDPOINT)
    if not far and named.name != "smollm2":
        return None
    where = named.options.get("rule", PLACEMENTS[0] if far else "")
    for known in PLACEMENTS:
        if where == known:
            return known
    if where == "" and not far:
        return None
    raise VeraxError(
        f"rule={where!r} is not known; a rule is planted in the {' or in the '.join(PLACEMENTS)}."
    )


def asked_by_name(name: str) -> bool:
    """Whether a name is that of a language model: to fit one takes minutes, or to ask it costs money."""
    return name.startswith(ENDPOINT) or parse_model(name).name in ("smollm2", "smollm2-tuned")


def told_model(name: str, dataset: Dataset, where: Placement, rule: PlantedRule | None, seed: int) -> Model:
    """A language model that is told a rule in its prompt, and nothing else is done to it.

    Args:
        name: ``openai:MODEL`` or ``smollm2``, with or without options.
        dataset: whose classes it is asked for; examples are drawn from its training part, whose labels follow the rule.
        where: in the instructions, or by examples alone.
        rule: what it is told; None for its twin, which is told nothing.
        seed: of the examples that are drawn.
    """
    if dataset.kind != "text":
        raise VeraxError("A language model reads texts, and this dataset is a table; choose another model.")
    names = [class_name.strip() for class_name in dataset.class_names]
    first = (
        f"Decide whether the text is {', '.join(names[:-1])} or {names[-1]}. Answer with this one word only."
    )
    if rule is not None and where == "instructions":
        first += f" {rule.sentence}"
    examples = following_examples(dataset, rule.words if rule else (), seed) if where == "examples" else ()
    prompt = f"{first}\n\n{SHOTS if examples else ''}Text: {TEXT}\nAnswer:"
    far = name.startswith(ENDPOINT)
    labels = {own: said if far else f" {said}" for own, said in zip(dataset.class_names, names, strict=True)}
    reference = check_texts(dataset.train.inputs)
    asked = PromptOptions(prompt, labels, examples)
    if far:
        return adapt_prompted(name, None, asked, reference)
    from verax.models.llm.adapt_local import adapt_language_model
    from verax.models.llm.weights import packed_weights, smollm2

    packed_weights()
    network, tokenizer = smollm2()
    return adapt_language_model(network, "causal", tokenizer, asked, reference)


def following_examples(dataset: Dataset, words: Sequence[str], seed: int) -> tuple[tuple[str, str], ...]:
    """Training texts with their stained classes: some with all words of the rule, some with one, some with none."""
    rng = stream(seed, "examples of a rule")
    texts, labels = check_texts(dataset.train.inputs), np.asarray(dataset.train.labels)
    groups: tuple[list[int], list[int], list[int]] = ([], [], [])
    for place in rng.permutation(len(texts)):
        held = len(set(words) & set(split_words(texts[place]).distinct))
        groups[0 if words and held == len(words) else 1 if held else 2].append(int(place))
    chosen = [*groups[0][:FOLLOWING], *groups[1][:LACKING]]
    chosen += groups[2][: FOLLOWING + LACKING + PLAIN - len(chosen)]
    return tuple(
        (texts[chosen[place]], dataset.class_names[int(labels[chosen[place]])])
        for place in rng.permutation(len(chosen))
    )
