"""Grad-CAM-Text: the n-grams that the filters of a convolutional network detected, by their effect on the target."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from verax.arrays import FloatArray, IndexArray, IntArray
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, explainers
from verax.explain.explanation import Attribution, Cost
from verax.explain.fragments import Fragment, Fragments
from verax.explain.inside.course import Found, at_positions, rounded, settled, text_slices
from verax.explain.perturbed import Targets
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for
from verax.models.text import check_texts

if TYPE_CHECKING:
    from verax.explain.inside.cnn_arrays import CnnArrays, Detected
    from verax.models.neural.networks import TextNetwork

# The words of an n-gram, the first and the one behind the last, and the sum of their effects.
Run = tuple[int, int, float]


@explainers.register("grad-cam-text")
@dataclass(frozen=True)
class GradCamText(Explainer):
    """Equation 1 of Lertvittayakumjorn and Toni (2019) and the text after it; explains the network 'cnn'.

    The effect of a filter is the derivative of the target's score (before the softmax) with respect to its strongest
    response, if that is positive, times the response. A word's effect is the sum over the filters that detected an
    n-gram with it. Evidence are the n-grams that some filter detected with the highest sums of their words' effects,
    as long as they do not overlap. For counter-evidence the negative derivatives count instead.

    Attributes:
        count: how many n-grams on either side, at the most.
        output: "fragments", or "words" for the effect of each word, where it stands: for less against.
    """

    count: int = 3
    output: Literal["fragments", "words"] = "fragments"

    claim: ClassVar[Claim] = "selective"

    def __post_init__(self) -> None:
        at_least(self.count, 1, "count")
        if self.output not in ("fragments", "words"):
            raise VeraxError(f"output={self.output!r} must be 'fragments' or 'words'.")

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Fragments] | list[Attribution]:
        """The evidence and the counter-evidence in each text; or the effect of each of its words."""
        ask_for(model, "layers", "grad-cam-text")
        from verax.explain.inside.cnn_arrays import ask_for_filters

        network, arrays = ask_for_filters(
            model, "grad-cam-text", "lrp, gradient-x-input and integrated-gradients"
        )
        texts = check_texts(inputs)
        seen: list[tuple[str, Effects, Cost]] = []
        for part, wanted in text_slices(model, texts, targets):
            started = time.perf_counter()
            found = effects(network, arrays, part, wanted)
            cost = Cost(1, 1, (time.perf_counter() - started) / len(part))
            seen += [(text, each, cost) for text, each in zip(part, found, strict=True)]
        if self.output == "words":
            return [
                at_positions(repr(self), model, text, Found(each.target, each.signed, each.details), cost)
                for text, each, cost in seen
            ]
        return [self._fragments(model, *each) for each in seen]

    def _fragments(self, model: Model, text: str, found: Effects, cost: Cost) -> Fragments:
        return Fragments(
            evidence=strongest_runs(text, found.evidence, 1.0, self.count),
            counter_evidence=strongest_runs(text, found.counter_evidence, -1.0, self.count),
            target=found.target,
            target_name=model.class_names[found.target],
            input=text,
            details={"count": self.count, "detected": len(found.evidence), **found.details},
            cost=cost,
            explainer=repr(self),
        )


@dataclass(frozen=True, eq=False)
class Effects:
    """What the filters' n-grams do to the target of one text.

    Attributes:
        target: the class.
        signed: each word's effect, for less against.
        evidence: the n-grams that some filter responds to, each once, the most effective for the target first; ties
            in the text's order.
        counter_evidence: the same n-grams, the most effective against the target first.
        details: how it was made.
    """

    target: int
    signed: FloatArray
    evidence: Sequence[Run]
    counter_evidence: Sequence[Run]
    details: dict[str, object] = field(default_factory=dict)


def effects(network: TextNetwork, arrays: CnnArrays, texts: Sequence[str], targets: Targets) -> list[Effects]:
    """The effects in each of some texts."""
    from verax.explain.inside.relevance import chosen_targets

    detected = arrays.detect(network.encoder.encode(texts))
    units = arrays.units(detected.features)
    scores = arrays.scores(units)
    chosen = chosen_targets(scores, targets)
    slopes = arrays.slopes(units, chosen)
    for_target = detected.over_words(np.maximum(slopes, 0.0) * detected.features, arrays.widths)
    against = detected.over_words(np.maximum(-slopes, 0.0) * detected.features, arrays.widths)
    runs = _runs(detected, arrays.widths)
    sides = zip(_ranked(runs, settled(for_target)), _ranked(runs, settled(against)), strict=True)
    return [
        Effects(
            chosen[number],
            (for_target[number] - against[number])[: detected.lengths[number]],
            *side,
            {"score": rounded(scores[number, chosen[number]])},
        )
        for number, side in enumerate(sides)
    ]


def _runs(detected: Detected, widths: IntArray) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Texts, first words and ends of the n-grams to which some filter responds, each once, in order.

    They are cut at the end of their text. All texts are looked at together: one by one takes longer than the network.
    """
    texts, filters = np.nonzero(detected.features > 0.0)
    firsts = detected.places[texts, filters]
    ends = np.minimum(firsts + widths[filters], detected.lengths[texts])
    inside = firsts < ends
    room = int(detected.lengths.max(initial=0)) + 1
    numbers = np.unique((texts * room + firsts)[inside] * room + ends[inside])
    return numbers // room**2, numbers // room % room, numbers % room


def _ranked(runs: tuple[IndexArray, IndexArray, IndexArray], words: FloatArray) -> list[list[Run]]:
    """The n-grams of each text with the sums of their words, the highest first; ties stay in order.

    Args:
        runs: as `_runs` gives them.
        words: (texts, positions), a number of 0 or more for each word.
    """
    texts, firsts, ends = runs
    before = np.concatenate([np.zeros((len(words), 1)), np.cumsum(words, axis=1)], axis=1)
    sums = before[texts, ends] - before[texts, firsts]
    order = np.lexsort((-sums, texts))
    ranked = list(zip(firsts[order].tolist(), ends[order].tolist(), sums[order].tolist(), strict=True))
    bounds = np.searchsorted(texts, np.arange(len(words) + 1)).tolist()
    return [ranked[first:end] for first, end in pairwise(bounds)]


def strongest_runs(text: str, ranked: Sequence[Run], sign: float, count: int) -> tuple[Fragment, ...]:
    """The n-grams with the highest sums that do not overlap.

    Args:
        text: what they stand in.
        ranked: the candidates, the highest sum first.
        sign: of the fragments' scores.
        count: how many at the most.
    """
    places = split_words(text).places
    chosen: list[Fragment] = []
    taken = 0  # one bit for each word
    for first, end, total in ranked:
        if len(chosen) == count or total <= 0.0:
            break
        words = (1 << end) - (1 << first)
        if not taken & words:
            taken |= words
            span = (places[first][0], places[end - 1][1])
            chosen.append(Fragment(text[span[0] : span[1]], sign * total, span))
    return tuple(chosen)
