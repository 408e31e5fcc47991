"""Random controls: a method's scores, given to other features of the same input."""

from __future__ import annotations

from dataclasses import replace

from verax.explain.explanation import Attribution, Cost
from verax.seeds import stream
from verax.studies.display.levels import extents


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
