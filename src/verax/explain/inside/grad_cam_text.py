"""Grad-CAM-Text: the n-grams that the filters of a convolutional network detected, by their effect on the target."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
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
    from verax.explain.inside.cnn_arrays import CnnArrays
    from verax.models.neural.networks import TextNetwork

# The words of an n-gram: the first, and the one behind the last.
Run = tuple[int, int]


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
            evidence=strongest_runs(text, found.runs, found.evidence, 1.0, self.count),
            counter_evidence=strongest_runs(text, found.runs, found.counter_evidence, -1.0, self.count),
            target=found.target,
            target_name=model.class_names[found.target],
            input=text,
            details={"count": self.count, "detected": len(found.runs), **found.details},
            cost=cost,
            explainer=repr(self),
        )


@dataclass(frozen=True, eq=False)
class Effects:
    """What the filters' n-grams do to the target of one text.

    Attributes:
        target: the class.
        runs: the n-grams that some filter responds to, each once, in the text's order.
        evidence: each word's effect for the target, 0 or more, and
        counter_evidence: against it.
        details: how it was made.
    """

    target: int
    runs: tuple[Run, ...]
    evidence: FloatArray
    counter_evidence: FloatArray
    details: dict[str, object] = field(default_factory=dict)

    @property
    def signed(self) -> FloatArray:
        """For less against."""
        return self.evidence - self.counter_evidence


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
    return [
        Effects(
            chosen[number],
            _runs(detected.places[number], arrays.widths, detected.features[number], len(for_target[number])),
            settled(for_target[number]),
            settled(against[number]),
            {"score": rounded(scores[number, chosen[number]])},
        )
        for number in range(len(texts))
    ]


def _runs(places: IndexArray, widths: IntArray, features: FloatArray, length: int) -> tuple[Run, ...]:
    """The n-grams of the filters that respond, cut at the end of the text."""
    responding = features > 0.0
    ends = np.minimum(places + widths, length)[responding]
    runs = set(zip(places[responding].tolist(), ends.tolist(), strict=True))
    return tuple(sorted(run for run in runs if run[0] < run[1]))


def strongest_runs(
    text: str, runs: Sequence[Run], words: FloatArray, sign: float, count: int
) -> tuple[Fragment, ...]:
    """The n-grams with the highest sums that do not overlap; ties go to the earlier, then to the shorter.

    Args:
        text: what they stand in.
        runs: the candidates, in the text's order.
        words: a number of 0 or more for each word.
        sign: of the fragments' scores.
        count: how many at the most.
    """
    before = np.concatenate([[0.0], np.cumsum(words)]).tolist()
    sums = [before[end] - before[first] for first, end in runs]
    split = split_words(text)
    chosen: list[tuple[Run, float]] = []
    for place in sorted(range(len(runs)), key=lambda place: -sums[place]):
        first, end = runs[place]
        if len(chosen) == count or sums[place] <= 0.0:
            break
        if all(end <= other[0] or other[1] <= first for other, _ in chosen):
            chosen.append(((first, end), sums[place]))
    spans = [((split.starts[first], split.ends[end - 1]), total) for (first, end), total in chosen]
    return tuple(Fragment(text[span[0] : span[1]], sign * total, span) for span, total in spans)
