"""How strongly features are marked, in levels that mean the same in the whole study; and random controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Cost, Explanation, Spans
from verax.explain.fragments import Fragments
from verax.seeds import stream
from verax.studies.definition.screen import LEVELS


def scales(
    explanations: Mapping[tuple[str, str, str], Explanation], features: int
) -> dict[str, tuple[float, ...]]:
    """By condition, the thresholds between levels: the quartiles of |score| among the strongest of every item.

    Args:
        explanations: by item, condition and model.
        features: how many of an item's features are shown; 0 for all that have a say.
    """
    shown: dict[str, list[float]] = {}
    for (_, condition, _), explanation in explanations.items():
        if not isinstance(explanation, Attribution | Fragments):
            continue  # told in words: nothing is marked
        attribution = as_attribution(explanation, condition)
        sizes = shown.setdefault(condition, [])
        sizes += [abs(float(attribution.scores[number])) for number in strongest(attribution, features)]
    shares = [number / LEVELS for number in range(1, LEVELS)]
    return {
        condition: tuple(float(edge) for edge in np.quantile(sizes, shares)) if sizes else ()
        for condition, sizes in shown.items()
    }


def strongest(attribution: Attribution, features: int) -> list[int]:
    """The numbers of the features that are shown, the strongest first; those that score 0 never are.

    Of equally strong features those of fewer words come first, so that a control, in which only features of equally
    many words change scores, marks equally many words.
    """
    sizes = np.abs(attribution.scores).tolist()
    places = extents(attribution)
    order = sorted(
        (number for number, size in enumerate(sizes) if size > 0),
        key=lambda number: (-sizes[number], places[number], number),
    )
    return order[:features] if features else order


def feature_spans(attribution: Attribution) -> Spans:
    """Where each feature stands in its text: at its spans, or wherever the word occurs."""
    if attribution.spans is not None:
        return attribution.spans
    spans_of = split_words(str(attribution.input)).spans()
    return tuple(tuple(spans_of.get(feature, ())) for feature in attribution.features)


def extents(attribution: Attribution) -> list[int]:
    """How many words of the text each feature marks, all its places together; 1 for a column."""
    if not isinstance(attribution.input, str):
        return [1] * len(attribution.features)
    words = split_words(attribution.input)
    starts, ends = np.array(words.starts), np.array(words.ends)
    return [
        sum(int(((starts < end) & (ends > start)).sum()) for start, end in spans)
        for spans in feature_spans(attribution)
    ]


def as_attribution(explanation: Explanation, condition: str) -> Attribution:
    """The explanation, which must have scores to be marked."""
    if not isinstance(explanation, Attribution | Fragments):
        raise VeraxError(
            f"The explainer of the condition {condition!r} gives a {type(explanation).__name__}, which has no scores "
            "to mark words with; choose another."
        )
    return explanation.as_attribution()


def shuffled_scores(attribution: Attribution, seed: int, *about: str | int) -> Attribution:
    """The same scores, shuffled among the features that mark equally many words.

    So the control has as many words marked at each level as its method has, in every item: what differs is only which.
    A feature that is the only one to mark so many words, as one that is repeated more often than any other, has none
    to change with and keeps its score; ``details["kept"]`` counts them.

    Args:
        attribution: a method's.
        seed: of the shuffle.
        about: what it is for; other words shuffle in another way.
    """
    generator = stream(seed, "control", *about)
    groups: dict[int, list[int]] = {}
    for number, extent in enumerate(extents(attribution)):
        groups.setdefault(extent, []).append(number)
    scores = attribution.scores.copy()
    for members in groups.values():
        scores[members] = scores[generator.permutation(members)]
    return replace(
        attribution,
        scores=scores,
        details={
            "kept": sum(len(members) == 1 for members in groups.values()),
            # What a method that adds up shows beside its scores, and what values are called there.
            **{
                name: attribution.details[name]
                for name in ("intercept", "bins")
                if name in attribution.details
            },
        },
        cost=Cost(),
        explainer=f"shuffled: {attribution.explainer}",
    )
