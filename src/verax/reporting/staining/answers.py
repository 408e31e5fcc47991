"""What a staining run found: one sentence per question asked, and reasons in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median

from verax.benchmarks.staining.findings import Accuracies, Pair, StainSummary
from verax.benchmarks.staining.run import KeptExample, Timing
from verax.benchmarks.staining.scores import MEMORISED, NOT_REPRESENTABLE, SAID_WITHOUT
from verax.reporting.page import short_names
from verax.reporting.staining.figures import CEILING, FLOOR
from verax.stats import Difference
from verax.stats.thresholds import FEWEST_FLIPPED
from verax.text import counted, duration, listed, percent

# So many names stand in a sentence; the tables have all of them.
NAMED = 4


def answers(summary: StainSummary, timings: Sequence[Timing]) -> list[tuple[str, str]]:
    """Questions with their answers, in the order of the report."""
    names = short_names(summary.explainers)
    answered = [
        ("Did the models learn their stains?", learnt_answer(summary)),
        ("Do the models' own reasons show the stain?", truth_answer(summary)),
        ("Which explainer shows the stain best?", best_answer(summary, names)),
        ("Is every explainer better than chance?", chance_answer(summary, names)),
        ("What does an explanation cost?", cost_answer(timings, names)),
        ("Was anything left out?", left_out_answer(summary)),
    ]
    return [(question, answer) for question, answer in answered if answer]


def learnt_answer(summary: StainSummary) -> str:
    """Research question 1: how well stained models follow their stain, and what became of the rest."""
    took = [(pair, pair.accuracies) for pair in summary.pairs if pair.accuracies is not None]
    if not took:
        return "No stained model could be trained; the reasons are below."
    learnt = sum(pair.stains_learnt for pair, _ in took)
    trained = learnt + sum(len(pair.stains_left_out) for pair, _ in took)
    answer = "Yes: all" if learnt == trained else "Not one of" if not learnt else f"Not all: {learnt:,} of"
    worst, accuracies = min(took, key=lambda each: each[1].stained_region.mean)
    lowest = percent(accuracies.stained_region.mean)
    mean = f"; the mean accuracy there is {lowest}"
    if len(took) > 1:
        mean = f"; the lowest mean accuracy there is {lowest} ({where(worst, summary)})"
    models = f"{answer} {counted(trained, 'stained model')}"
    if trained == 1:
        models = "Yes: the one stained model" if learnt else "No: not even the one stained model"
    reached = f"{models} reached {summary.spec.learnt:.0%} on the stained region"
    return f"{reached}{mean}. {_twins([accuracies for _, accuracies in took])}".strip()


def _twins(took: Sequence[Accuracies]) -> str:
    changes = [
        accuracies.outside.mean - accuracies.twin.outside.mean
        for accuracies in took
        if accuracies.twin is not None
    ]
    if not changes:
        return ""
    largest = max(changes, key=abs)
    if round(1000 * abs(largest)) == 0:
        return "Outside the region they are as accurate as their unstained twins."
    direction = "more" if largest > 0 else "less"
    size = f"{100 * abs(largest):.1f} percentage points {direction} accurate than"
    return f"Outside the region they are {'at the most ' if len(changes) > 1 else ''}{size} their unstained twins."


def truth_answer(summary: StainSummary) -> str:
    """Research question 2: recall of the ground-truth explanation where it can be read."""
    budget = wanted_features(summary)
    reached = [
        (pair.explainers[CEILING].recall[budget - 1].mean, where(pair, summary))
        for pair in summary.pairs
        if CEILING in pair.explainers
    ]
    if not reached:
        return ""
    low, high = min(reached), max(reached)
    if low[0] == high[0]:
        recall = f"a recall of {percent(low[0])} ({listed([name for _, name in reached], most=NAMED)})"
    else:
        recall = f"a recall between {percent(low[0])} ({low[1]}) and {percent(high[0])} ({high[1]})"
    return f"Where they can be read, they reach {recall} with b = |F| = {budget} features shown."


def best_answer(summary: StainSummary, names: Mapping[str, str]) -> str:
    """Research question 3: who beats all others after correction, and where nobody does."""
    scored = [pair for pair in summary.pairs if len(methods(pair)) > 1]
    if not scored:
        return "" if any(methods(pair) for pair in summary.pairs) else "No explainer could be scored."
    won: dict[str, list[str]] = {}
    undecided = []
    for pair in scored:
        winner = winner_of(pair)
        if winner is None:
            undecided.append(where(pair, summary))
        else:
            won.setdefault(winner, []).append(where(pair, summary))
    parts = [
        f"{names[label]} beats all others for {listed(places, most=NAMED)}"
        for label, places in sorted(won.items(), key=lambda item: -len(item[1]))
    ]
    if undecided:
        nobody = "no explainer beats all others for " + listed(undecided, most=NAMED)
        parts.append(nobody if parts else nobody.replace("no ", "No ", 1))
    untested = all(each.p_holm is None for pair in scored for each in pair.differences["auc"])
    tested = f"; no difference can be tested below {FEWEST_FLIPPED} stains" if untested else ""
    return f"{'; '.join(parts)}{tested}. {rank_answer(summary, names)}".strip()


def rank_answer(summary: StainSummary, names: Mapping[str, str]) -> str:
    """The best average rank, if there are ranks."""
    ranks = summary.ranks
    known = {label: rank for label, rank in ranks.ranks.items() if rank is not None} if ranks else {}
    if ranks is None or not known:
        return ""
    best = min(known.values())
    first = [names[label] for label, rank in known.items() if rank == best]
    verb = "has" if len(first) == 1 else "share"
    pairs = counted(ranks.cells, "dataset and model", "pairs of dataset and model")
    return f"On average {listed(first)} {verb} the best rank, {best:.1f} of {len(known)} over {pairs}."


def chance_answer(summary: StainSummary, names: Mapping[str, str]) -> str:
    """Which explainers are not shown to beat the floor, or lie below it."""
    below, unproven, tested = [], [], 0
    for pair in summary.pairs:
        for label in methods(pair):
            difference = versus(pair, label, FLOOR)
            if difference is None or difference.p_holm is None:
                continue
            tested += 1
            if difference.verdict == "none":
                unproven.append(f"{names[label]} for {where(pair, summary)}")
            elif difference.verdict == "second":
                below.append(f"{names[label]} for {where(pair, summary)}")
    if not tested:
        few = f"It could not be tested: that takes {FEWEST_FLIPPED} stains, made of as many words."
        return few if _floor(summary) else ""
    if not below and not unproven:
        return "Yes: after correction every explainer beats random everywhere."
    parts = []
    if below:
        parts.append(f"worse than random: {listed(below, most=NAMED)}")
    if unproven:
        parts.append(f"not shown to beat random: {listed(unproven, most=NAMED)}")
    rest = tested - len(below) - len(unproven)
    return f"Not everywhere: {'; '.join(parts)}; in {rest} of {counted(tested, 'case')} random is beaten."


def cost_answer(timings: Sequence[Timing], names: Mapping[str, str]) -> str:
    """The cheapest and the dearest explainer, by the median over datasets and models."""
    by_label: dict[str, list[Timing]] = {}
    for timing in timings:
        if timing.explainer not in (FLOOR, CEILING):
            by_label.setdefault(timing.explainer, []).append(timing)
    cost = {label: median(timing.seconds for timing in own) for label, own in by_label.items()}
    if not cost:
        return ""
    rows = {label: median(timing.rows for timing in own) for label, own in by_label.items()}
    parts = [
        f"{names.get(label, label)} {duration(cost[label])} and {rows[label]:,.0f} rows"
        for label in sorted(cost, key=lambda label: cost[label])
    ]
    if len(parts) > NAMED:
        return f"From {parts[0]} to {parts[-1]}."
    return f"{'; '.join(parts)}."


def left_out_answer(summary: StainSummary) -> str:
    """Stains that were not learnt, jobs that failed, explainers that raised: counted."""
    not_learnt = sum(len(pair.stains_left_out) for pair in summary.pairs)
    errors = sum(len(sentences) for pair in summary.pairs for sentences in pair.errors.values())
    failed = len(summary.failures)
    parts = []
    if not_learnt:
        parts.append(
            f"{counted(not_learnt, 'stained model')} had not learnt the stain and {_is(not_learnt)} not scored"
        )
    apart = sum(len(pair.stains_apart) for pair in summary.pairs)
    if apart:
        parts.append(
            f"{counted(apart, 'stained model')} had learnt it for other reasons and {_is(apart)} not scored"
        )
    if failed:
        parts.append(f"{counted(failed, 'training job')} failed")
    if errors:
        parts.append(f"explainers failed on {counted(errors, 'stained model')}")
    return (
        f"Yes: {'; '.join(parts)}; the list is below."
        if parts
        else "No: nothing failed and nothing was left out."
    )


def rank_notes(summary: StainSummary) -> str:
    """How the ranks were made, and what speaks against reading too much into them."""
    ranks = summary.ranks
    note = "Rank 1 is the highest area under the recall curve of a dataset and model; ties share their mean rank."
    if ranks is not None and ranks.left_out:
        left_out = counted(ranks.left_out, "pair")
        note += f" Not counted: {left_out} of dataset and model that some explainer lacks."
    note += (
        " This describes and tests nothing: models share their stains, and whoever beats random ranks above it. Who is "
        "ahead of whom is in the differences."
    )
    return note


def winner_of(pair: Pair) -> str | None:
    """The explainer that beats every other one (random is not counted) after correction."""
    rivals = methods(pair)
    for label in rivals:
        differences = [versus(pair, label, other) for other in rivals if other != label]
        if differences and all(each is not None and each.verdict == "first" for each in differences):
            return label
    return None


def versus(pair: Pair, label: str, other: str, measure: str = "auc") -> Difference | None:
    """The difference label - other, whichever way round it is stored."""
    for difference in pair.differences.get(measure, ()):
        if (difference.first, difference.second) == (label, other):
            return difference
        if (difference.first, difference.second) == (other, label):
            return turned(difference)
    return None


def turned(difference: Difference) -> Difference:
    """The same difference seen from the other side."""

    def minus(value: float | None) -> float | None:
        return None if value is None else -value

    return replace(
        difference,
        first=difference.second,
        second=difference.first,
        mean=minus(difference.mean),
        low=minus(difference.high),
        high=minus(difference.low),
        wins=difference.losses,
        losses=difference.wins,
    )


def methods(pair: Pair) -> list[str]:
    """The explainers on trial that have scores: without the floor and the ceiling."""
    return [label for label in pair.explainers if label not in (FLOOR, CEILING)]


def wanted_features(summary: StainSummary) -> int:
    """How many features of a rule an explanation can name: a negated one is not there to be named."""
    return summary.spec.size - summary.spec.negated


def where(pair: Pair, summary: StainSummary) -> str:
    """A pair in words: its model, and its dataset if there are several."""
    return pair.model if len(summary.spec.datasets) == 1 else f"{pair.model} on {pair.dataset}"


def _floor(summary: StainSummary) -> bool:
    return any(FLOOR in pair.explainers and methods(pair) for pair in summary.pairs)


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


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
