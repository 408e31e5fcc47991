"""The verdict of a staining run: who finds the planted reasons, who leads where, and what that rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from verax.benchmarks.staining.findings import Pair, StainSummary
from verax.phrases import Slot, first_of
from verax.phrases import say as say_phrase
from verax.reporting.page import short_names
from verax.reporting.staining.answers import NAMED, methods, versus, where, winner_of
from verax.reporting.staining.figures import FLOOR
from verax.results.verdict import Judged, Reference, Sign, Verdict
from verax.stats.thresholds import FEWEST_FLIPPED, FEWEST_UNITS

say = partial(say_phrase, "staining")
# How an explainer stands against chance, in the order of the headline, with the sign of each case.
CASES: dict[str, Sign] = {
    "finds": "yes",
    "some-models": "open",
    "not-shown": "no",
    "worse": "no",
    "not-tested": "open",
}


def staining_verdict(summary: StainSummary) -> Verdict:
    """What the run says of every explainer, in the words of somebody who asks which one to trust."""
    names = short_names(summary.explainers)
    scored = [pair for pair in summary.pairs if methods(pair)]
    labels = [label for label in names if any(label in methods(pair) for pair in scored)]
    if not labels:
        return Verdict(say("headline-nothing"), (), say("measure"), rests_on(summary, names))
    standing = sorted(
        (_judged(label, names, scored, summary) for label in labels), key=lambda one: _order(one[1])
    )
    by_case = {case: [row for own, row in standing if own == case] for case in CASES}
    floor = _mean([pair.explainers[FLOOR].auc.mean for pair in scored if FLOOR in pair.explainers])
    return Verdict(
        sentence=_sentence(summary, by_case, floor, names),
        judged=tuple(row for _, row in standing),
        measure=say("measure"),
        rests_on=rests_on(summary, names),
        reference=None if floor is None else Reference(say("chance"), floor),
        ends=(0.0, 100.0),
    )


def _order(row: Judged) -> tuple[int, float]:
    return ("yes", "open", "no").index(row.sign), -(row.estimate or 0.0)


def _mean(shares: Sequence[float]) -> float | None:
    return 100 * sum(shares) / len(shares) if shares else None


def _judged(
    label: str, names: Mapping[str, str], scored: Sequence[Pair], summary: StainSummary
) -> tuple[str, Judged]:
    """One explainer over the models that it was scored with, and its case."""
    own = [pair for pair in scored if label in pair.explainers]
    found = summary.overall.get(label)
    if (
        found is None and len(own) == 1
    ):  # a file of an older version: several models' intervals do not make one
        found = own[0].explainers[label].auc
    low, high = (None, None) if found is None else (found.low, found.high)
    case, slots = _against_chance(label, own)
    return case, Judged(
        names[label],
        CASES[case],
        say(f"judged-{case}", **slots),
        _mean([pair.explainers[label].auc.mean for pair in own]),
        None if low is None else 100 * low,
        None if high is None else 100 * high,
    )


def _against_chance(label: str, pairs: Sequence[Pair]) -> tuple[str, dict[str, Slot]]:
    """Whether an explainer beats the floor after correction: everywhere, somewhere, nowhere."""
    against = [versus(pair, label, FLOOR) for pair in pairs]
    verdicts = [each.verdict for each in against if each is not None and each.p_holm is not None]
    if not verdicts:
        return "not-tested", {"needed": FEWEST_FLIPPED}
    better, worse = verdicts.count("first"), verdicts.count("second")
    if better == len(verdicts):
        return "finds", {}
    if better:
        return "some-models", {"better": better, "models": len(verdicts)}
    return ("worse", {}) if worse else ("not-shown", {})


def _sentence(
    summary: StainSummary, by_case: Mapping[str, list[Judged]], floor: float | None, names: Mapping[str, str]
) -> str:
    """Who finds the planted reasons, who does not, and who leads where."""
    clauses: list[str] = []
    for case, rows in by_case.items():
        if not rows:
            continue
        reached = say(
            "reached",
            range=_range(rows),
            first=not clauses,
            chance="none" if floor is None else round(floor),
            most=round(100 * summary.spec.ceiling),
        )
        clauses.append(
            say(
                f"headline-{case}",
                names=[row.name for row in rows],
                reached=reached,
                first=not clauses,
                why=_too_few(summary),
            )
        )
    if between := _between(summary, names):
        clauses.append(between)
    return f"{'; '.join(clauses)}."


def _too_few(summary: StainSummary) -> str:
    """What a test lacks: stains, or the words that they are made of."""
    scored = [pair.explainers[label] for pair in summary.pairs for label in methods(pair)]
    stains = min(each.stains for each in scored)
    words = min((each.words for each in scored if each.words is not None), default=stains)
    case = "why-few-words"
    if stains < FEWEST_FLIPPED:
        case = "why-not-learnt" if stains < summary.spec.stains else "why-few-stains"
    return say(case, drawn=summary.spec.stains, stains=stains, words=words, needed=FEWEST_FLIPPED)


def _range(rows: Sequence[Judged]) -> str:
    """Estimates of several explainers in per cent, "88-91%"."""
    numbers = [row.estimate for row in rows if row.estimate is not None]
    low, high = round(min(numbers)), round(max(numbers))
    return f"{low}%" if low == high else f"{low}–{high}%"


def _between(summary: StainSummary, names: Mapping[str, str]) -> str:
    """Differences between explainers that survive correction, by model; nothing where none could be tested."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    undecided = 0
    for pair in summary.pairs:
        rivals = methods(pair)
        tested = [
            each
            for each in pair.differences.get("auc", ())
            if each.p_holm is not None and FLOOR not in (each.first, each.second)
        ]
        if len(rivals) < 2 or not tested:
            continue
        winner = winner_of(pair)
        if winner is not None:
            found.setdefault(("leads", (names[winner],)), []).append(where(pair, summary))
        elif any(each.verdict != "none" for each in tested):
            behind = tuple(
                names[label]
                for label in rivals
                if any(
                    (found_one := versus(pair, label, other)) and found_one.verdict == "second"
                    for other in rivals
                )
            )
            found.setdefault(("behind", behind), []).append(where(pair, summary))
        else:
            undecided += 1
    if not found:
        return say("between-none") if undecided else ""
    prefix = "except-" if undecided else ""
    clauses = [
        say(f"{prefix}{case}", names=who, places=first_of(places, NAMED))
        for (case, who), places in found.items()
    ]
    return say("between-except", exceptions=clauses) if undecided else "; ".join(clauses)


def rests_on(summary: StainSummary, names: Mapping[str, str]) -> tuple[str, ...]:
    """Stains, words, models; and why two orders of explainers that stand on the page seem to disagree."""
    counts = [
        say(
            "stains-on",
            dataset=name,
            stains=len(facts.stains),
            different="all" if facts.distinct_stains == len(facts.stains) else facts.distinct_stains,
            words="none" if facts.distinct_words is None else facts.distinct_words,
        )
        for name, facts in summary.datasets.items()
    ]
    spec = summary.spec
    said = say("rests-on", size=spec.size, stains="; ".join(counts), models=len(spec.models))
    return said, *_without_interval(summary), *_orders(summary, names)


def _without_interval(summary: StainSummary) -> list[str]:
    """Why an explainer's mean has no interval, where it has none."""
    scored = [pair for pair in summary.pairs if methods(pair)]
    few = [
        pair
        for pair in scored
        if min(pair.explainers[label].stains for label in methods(pair)) < FEWEST_UNITS
    ]
    if not few:
        return []
    if len(few) == len(scored):
        return [say("no-intervals", needed=FEWEST_UNITS)]
    places = [say("few-stains", place=where(pair, summary), stains=pair.stains_used) for pair in few]
    return [say("no-intervals-for-some", needed=FEWEST_UNITS, places=first_of(places, NAMED))]


def _orders(summary: StainSummary, names: Mapping[str, str]) -> list[str]:
    """Why the mean and the average rank name different explainers first, where they do."""
    ranks = {} if summary.ranks is None else {k: v for k, v in summary.ranks.ranks.items() if v is not None}
    common = [pair for pair in summary.pairs if ranks and all(label in pair.explainers for label in ranks)]
    if len(common) < 2:
        return []
    by_rank = min(ranks, key=lambda label: ranks[label])
    means = {label: _mean([pair.explainers[label].auc.mean for pair in common]) or 0.0 for label in ranks}
    by_mean = max(means, key=lambda label: means[label])
    if by_rank == by_mean or means[by_mean] - means[by_rank] < 0.05:
        return []

    def lost(pair: Pair) -> float:
        return pair.explainers[by_mean].auc.mean - pair.explainers[by_rank].auc.mean

    worst = max(common, key=lost)
    return [
        say(
            "orders-differ",
            by_mean=names[by_mean],
            by_rank=names[by_rank],
            place=where(worst, summary),
            points=round(100 * lost(worst)),
        )
    ]
