"""Reasons in words: why stains were not learnt and what to try, which stand apart, which route an explainer took."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from verax.benchmarks.staining.results import KeptExample
from verax.benchmarks.staining.summary import Pair
from verax.benchmarks.staining.trial_results import MEMORISED, NOT_REPRESENTABLE, SAID_WITHOUT
from verax.text import counted, listed

WHY = {
    MEMORISED: "the model knows its stained training inputs by their other features and does not apply the stain to "
    "enough new ones",
    NOT_REPRESENTABLE: "the model does not even follow the stain in training",
    SAID_WITHOUT: "the model says the stain's label of inputs without the stain too, so that it is not its reason",
}
# What helps depends on whether stains were drawn or planted. Options as the command line and as Python have them.
TRY_WEIGHTS = '--weight auto (weight="auto"), or a model that can say “both”'
TRY_DRAWN = {
    MEMORISED: "--plant (plant=True), a larger --min-region (min_region=) or more data",
    NOT_REPRESENTABLE: TRY_WEIGHTS,
}
TRY_PLANTED = {
    MEMORISED: "a larger --plant-share (plant_share=) or more data",
    NOT_REPRESENTABLE: TRY_WEIGHTS,
    SAID_WITHOUT: "a smaller --weight (weight=), or more data",
}


def _why(reason: str, planted: bool) -> str:
    return f"{WHY[reason]}; try {(TRY_PLANTED if planted else TRY_DRAWN)[reason]}"


def not_learnt(pair: Pair, planted: bool) -> list[str]:
    """One sentence for each reason why a model did not learn stains, with what to try."""
    sentences = []
    for reason, number in Counter(left_out.reason for left_out in pair.stains_left_out).items():
        why = f": {reason}, {_why(reason, planted)}" if reason else ""
        sentences.append(f"{counted(number, 'stain')} not learnt, left out of the scores{why}.")
    return sentences


def what_to_try(pair: Pair, planted: bool) -> list[str]:
    """The same without the numbers, for a list that has them."""
    reasons = dict.fromkeys(left_out.reason for left_out in pair.stains_left_out if left_out.reason)
    return [f"{reason.capitalize()}: {_why(reason, planted)}." for reason in reasons]


def apart(pair: Pair) -> str:
    """A sentence on stains that a model obeys for reasons of its own; empty if there are none."""
    if not pair.stains_apart:
        return ""
    lowest, highest = (f"{pick(stain.reasons for stain in pair.stains_apart):.0%}" for pick in (min, max))
    share = lowest if lowest == highest else f"{lowest} to {highest}"
    them = "it" if len(pair.stains_apart) == 1 else "them"
    return (
        f"{counted(len(pair.stains_apart), 'stain')} learnt, but the model's own reasons show only {share} of {them}, "
        "so that no faithful explanation could show more: reported apart, and not scored."
    )


def weights(pair: Pair) -> str:
    """How often stained inputs counted, where models were fitted with weights of their own; empty elsewhere."""
    if len(set(pair.weights)) < 2:
        return ""
    times = [f"{weight} ({pair.weights.count(weight)}x)" for weight in sorted(set(pair.weights))]
    return f"Stained training inputs counted {listed(times)} times."


def routes(examples: Sequence[KeptExample]) -> list[str]:
    """For each explainer that can take several routes, which one it took on which models."""
    taken: dict[str, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    for example in examples:
        details = example.explanation.get("details")
        route = details.get("route") if isinstance(details, dict) else None
        if route:
            taken[example.explainer][str(route)][example.model] = None
    return [
        f"{explainer} is "
        + "; ".join(
            f"{ROUTES.get(route, route)} on {listed(list(models))}" for route, models in found.items()
        )
        for explainer, found in taken.items()
    ]


ROUTES = {
    "trees": "exact Shapley values (closed form for trees)",
    "linear": "exact Shapley values (closed form for linear models)",
    "enumeration": "exact Shapley values (all coalitions)",
    "kernel": "KernelSHAP",
}
