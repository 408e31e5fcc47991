"""What a staining run found: one sentence per question asked, and reasons in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median

from verax.benchmarks.staining.findings import Accuracies, Pair, StainSummary
from verax.benchmarks.staining.run import KeptExample, Timing
from verax.benchmarks.staining.scores import MEMORISED, NOT_REPRESENTABLE, SAID_WITHOUT
from verax.phrases import first_of
from verax.phrases import say as say_phrase
from verax.reporting.page import short_names
from verax.reporting.staining.figures import CEILING, FLOOR
from verax.stats import Difference
from verax.stats.thresholds import FEWEST_FLIPPED
from verax.text import duration, percent

say = partial(say_phrase, "staining")
# So many names stand in a sentence; the tables have all of them.
NAMED = 4


def answers(summary: StainSummary, timings: Sequence[Timing]) -> list[tuple[str, str]]:
    """Questions with their answers, in the order of the report."""
    names = short_names(summary.explainers)
    answered = {
        "learnt": learnt_answer(summary),
        "truth": truth_answer(summary),
        "best": best_answer(summary, names),
        "chance": chance_answer(summary, names),
        "cost": cost_answer(timings, names),
        "left-out": left_out_answer(summary),
    }
    return [(say(f"question-{asked}"), answer) for asked, answer in answered.items() if answer]


def learnt_answer(summary: StainSummary) -> str:
    """Research question 1: how well stained models follow their stain, and what became of the rest."""
    took = [(pair, pair.accuracies) for pair in summary.pairs if pair.accuracies is not None]
    if not took:
        return say("learnt-none-trained")
    learnt = sum(pair.stains_learnt for pair, _ in took)
    missed = sum(len(pair.stains_left_out) for pair, _ in took)
    worst, accuracies = min(took, key=lambda each: each[1].stained_region.mean)
    said = say(
        "learnt",
        learnt=learnt,
        missed=missed,
        trained=learnt + missed,
        threshold=f"{summary.spec.learnt:.0%}",
        pairs=len(took),
        lowest=percent(accuracies.stained_region.mean),
        place=where(worst, summary),
    )
    return " ".join([said, *_twins([accuracies for _, accuracies in took])])


def _twins(took: Sequence[Accuracies]) -> list[str]:
    changes = [
        accuracies.outside.mean - accuracies.twin.outside.mean
        for accuracies in took
        if accuracies.twin is not None
    ]
    if not changes:
        return []
    largest = max(changes, key=abs)
    if round(1000 * abs(largest)) == 0:
        return [say("twins-alike")]
    return [
        say("twins-differ", pairs=len(changes), points=f"{100 * abs(largest):.1f}", more=bool(largest > 0))
    ]


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
    (low, low_place), (high, high_place) = min(reached), max(reached)
    if low == high:
        places = first_of([place for _, place in reached], NAMED)
        return say("truth-alike", recall=percent(low), places=places, budget=budget)
    return say(
        "truth-range",
        low=percent(low),
        low_place=low_place,
        high=percent(high),
        high_place=high_place,
        budget=budget,
    )


def best_answer(summary: StainSummary, names: Mapping[str, str]) -> str:
    """Research question 3: who beats all others after correction, and where nobody does."""
    scored = [pair for pair in summary.pairs if len(methods(pair)) > 1]
    if not scored:
        return "" if any(methods(pair) for pair in summary.pairs) else say("best-nothing")
    won: dict[str, list[str]] = {}
    undecided = []
    for pair in scored:
        winner = winner_of(pair)
        if winner is None:
            undecided.append(where(pair, summary))
        else:
            won.setdefault(winner, []).append(where(pair, summary))
    clauses = [
        say("best-wins", name=names[label], places=first_of(places, NAMED))
        for label, places in sorted(won.items(), key=lambda item: -len(item[1]))
    ]
    if undecided:
        clauses.append(say("best-nobody", first=not clauses, places=first_of(undecided, NAMED)))
    if all(each.p_holm is None for pair in scored for each in pair.differences["auc"]):
        clauses.append(say("best-untested", needed=FEWEST_FLIPPED))
    return f"{'; '.join(clauses)}. {rank_answer(summary, names)}".strip()


def rank_answer(summary: StainSummary, names: Mapping[str, str]) -> str:
    """The best average rank, if there are ranks."""
    ranks = summary.ranks
    known = {label: rank for label, rank in ranks.ranks.items() if rank is not None} if ranks else {}
    if ranks is None or not known:
        return ""
    best = min(known.values())
    first = [names[label] for label, rank in known.items() if rank == best]
    return say("rank", names=first, rank=f"{best:.1f}", explainers=len(known), pairs=ranks.cells)


def chance_answer(summary: StainSummary, names: Mapping[str, str]) -> str:
    """Which explainers are not shown to beat the floor, or lie below it."""
    cases: dict[str, list[str]] = {"second": [], "none": [], "first": []}
    for pair in summary.pairs:
        for label in methods(pair):
            difference = versus(pair, label, FLOOR)
            if difference is not None and difference.p_holm is not None:
                cases[difference.verdict].append(
                    say("chance-case", name=names[label], place=where(pair, summary))
                )
    tested = sum(map(len, cases.values()))
    if not tested:
        return say("chance-untested", needed=FEWEST_FLIPPED) if _floor(summary) else ""
    if tested == len(cases["first"]):
        return say("chance-beaten")
    clauses = [
        say(said, cases=first_of(cases[verdict], NAMED))
        for verdict, said in (("second", "chance-worse"), ("none", "chance-not-shown"))
        if cases[verdict]
    ]
    return say("chance-not-everywhere", clauses="; ".join(clauses), beaten=len(cases["first"]), tested=tested)


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
    costs = [
        say("cost", name=names.get(label, label), time=duration(cost[label]), rows=round(rows[label]))
        for label in sorted(cost, key=lambda label: cost[label])
    ]
    if len(costs) > NAMED:
        return say("cost-range", first=costs[0], last=costs[-1])
    return f"{'; '.join(costs)}."


def left_out_answer(summary: StainSummary) -> str:
    """Stains that were not learnt, jobs that failed, explainers that raised: counted."""
    not_learnt = sum(len(pair.stains_left_out) for pair in summary.pairs)
    apart = sum(len(pair.stains_apart) for pair in summary.pairs)
    errors = sum(len(sentences) for pair in summary.pairs for sentences in pair.errors.values())
    clauses = []
    if not_learnt:
        clauses.append(say("left-out-not-learnt", models=not_learnt))
    if apart:
        clauses.append(say("left-out-other-reasons", models=apart))
    if summary.failures:
        clauses.append(say("left-out-failed", jobs=len(summary.failures)))
    if errors:
        clauses.append(say("left-out-errors", models=errors))
    return say("left-out", clauses="; ".join(clauses)) if clauses else say("left-out-nothing")


def rank_notes(summary: StainSummary) -> str:
    """How the ranks were made, and what speaks against reading too much into them."""
    return say("ranks-how", left_out=summary.ranks.left_out if summary.ranks else 0)


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
    """The explainers that have scores: without the floor and the ceiling."""
    return [label for label in pair.explainers if label not in (FLOOR, CEILING)]


def wanted_features(summary: StainSummary) -> int:
    """How many features of a rule an explanation can name: a negated one is not there to be named."""
    return summary.spec.size - summary.spec.negated


def where(pair: Pair, summary: StainSummary) -> str:
    """A pair in words: its model, and its dataset if there are several."""
    if len(summary.spec.datasets) == 1:
        return pair.model
    return say("place", model=pair.model, dataset=pair.dataset)


def _floor(summary: StainSummary) -> bool:
    return any(FLOOR in pair.explainers and methods(pair) for pair in summary.pairs)


# The phrase that says why a stain was not learnt, and what to try; it depends on whether stains were planted.
WHY = {
    MEMORISED: "why-memorised",
    NOT_REPRESENTABLE: "why-not-representable",
    SAID_WITHOUT: "why-said-without-it",
}


def not_learnt(pair: Pair, planted: bool) -> list[str]:
    """One sentence for each reason why a model did not learn stains, with what to try."""
    return [
        say(
            "not-learnt",
            stains=number,
            reason=say(WHY[reason], planted=planted, capital=False) if reason else "none",
        )
        for reason, number in Counter(left_out.reason for left_out in pair.stains_left_out).items()
    ]


def what_to_try(pair: Pair, planted: bool) -> list[str]:
    """The same without the numbers, for a list that has them."""
    reasons = dict.fromkeys(left_out.reason for left_out in pair.stains_left_out if left_out.reason)
    return [say(WHY[reason], planted=planted, capital=True) for reason in reasons]


def apart(pair: Pair) -> str:
    """A sentence on stains that a model obeys for reasons of its own; empty if there are none."""
    if not pair.stains_apart:
        return ""
    low, high = (f"{pick(stain.reasons for stain in pair.stains_apart):.0%}" for pick in (min, max))
    share = low if low == high else say("share-range", low=low, high=high)
    return say("apart", stains=len(pair.stains_apart), share=share)


def weights(pair: Pair) -> str:
    """How often stained inputs counted, where models were fitted with weights of their own; empty elsewhere."""
    if len(set(pair.weights)) < 2:
        return ""
    times = [
        say("weight", weight=weight, stains=pair.weights.count(weight))
        for weight in sorted(set(pair.weights))
    ]
    return say("weights", times=times)


def routes(examples: Sequence[KeptExample]) -> list[str]:
    """For each explainer that can take several routes, which one it took on which models."""
    taken: dict[str, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    for example in examples:
        details = example.explanation.get("details")
        route = details.get("route") if isinstance(details, dict) else None
        if route:
            taken[example.explainer][str(route)][example.model] = None
    return [
        say(
            "explainer-is",
            name=explainer,
            routes="; ".join(
                say("route-on", route=_route(route), models=list(models)) for route, models in found.items()
            ),
        )
        for explainer, found in taken.items()
    ]


def _route(route: str) -> str:
    """A route in words; one of somebody's own explainer as it calls it."""
    return say(f"route-{route}") if route in ("trees", "linear", "enumeration", "kernel") else route
