"""The verdict of a staining run: who finds the planted reasons, who leads where, and what that rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verax.benchmarks.staining.findings import Pair, StainSummary
from verax.reporting.page import short_names
from verax.reporting.staining.answers import NAMED, methods, versus, where, winner_of
from verax.reporting.staining.figures import FLOOR
from verax.results.verdict import Judged, Reference, Sign, Verdict
from verax.stats.thresholds import FEWEST_FLIPPED, FEWEST_UNITS
from verax.text import counted, listed

MEASURE = (
    "planted reasons found among the first 1 to 10 features, mean in per cent (area under the recall curve), over all "
    "models"
)


def staining_verdict(summary: StainSummary) -> Verdict:
    """What the run says of every explainer, in the words of somebody who asks which one to trust."""
    names = short_names(summary.explainers)
    scored = [pair for pair in summary.pairs if methods(pair)]
    labels = [label for label in names if any(label in methods(pair) for pair in scored)]
    if not labels:
        return Verdict(
            "No explainer could be scored, so none is judged.", (), MEASURE, rests_on(summary, names)
        )
    judged = sorted((_judged(label, names, scored, summary) for label in labels), key=_order)
    floor = _mean([pair.explainers[FLOOR].auc.mean for pair in scored if FLOOR in pair.explainers])
    return Verdict(
        sentence=_sentence(summary, judged, floor, names),
        judged=tuple(judged),
        measure=MEASURE,
        rests_on=rests_on(summary, names),
        reference=None if floor is None else Reference("chance, the explainer random", floor),
        ends=(0.0, 100.0),
    )


def _order(row: Judged) -> tuple[int, float]:
    return ("yes", "open", "no").index(row.sign), -(row.estimate or 0.0)


def _mean(shares: Sequence[float]) -> float | None:
    return 100 * sum(shares) / len(shares) if shares else None


def _judged(label: str, names: Mapping[str, str], scored: Sequence[Pair], summary: StainSummary) -> Judged:
    """One explainer over the models that it was scored with."""
    own = [pair for pair in scored if label in pair.explainers]
    found = summary.overall.get(label)
    if (
        found is None and len(own) == 1
    ):  # a file of an older version: several models' intervals do not make one
        found = own[0].explainers[label].auc
    low, high = (None, None) if found is None else (found.low, found.high)
    sign, words = _against_chance(label, own)
    return Judged(
        names[label],
        sign,
        words,
        _mean([pair.explainers[label].auc.mean for pair in own]),
        None if low is None else 100 * low,
        None if high is None else 100 * high,
    )


def _against_chance(label: str, pairs: Sequence[Pair]) -> tuple[Sign, str]:
    """Whether an explainer beats the floor after correction: everywhere, somewhere, nowhere."""
    against = [versus(pair, label, FLOOR) for pair in pairs]
    verdicts = [each.verdict for each in against if each is not None and each.p_holm is not None]
    if not verdicts:
        return "open", f"not tested: that takes {FEWEST_FLIPPED} stains"
    better, worse = verdicts.count("first"), verdicts.count("second")
    if better == len(verdicts):
        return "yes", "finds them"
    if better == 0:
        return ("no", "worse than chance") if worse else ("no", "not shown to beat chance")
    return "open", f"beats chance for {better} of {counted(len(verdicts), 'model')}"


def _sentence(
    summary: StainSummary, judged: Sequence[Judged], floor: float | None, names: Mapping[str, str]
) -> str:
    """Who finds the planted reasons, who does not, and who leads where."""
    by_sign: dict[Sign, list[Judged]] = {"yes": [], "open": [], "no": []}
    for row in judged:
        by_sign[row.sign].append(row)
    most = f"at most {100 * summary.spec.ceiling:.0f}%"
    chance = f"; {most}" if floor is None else f"; chance {floor:.0f}%, {most}"
    parts = []
    if by_sign["yes"]:
        verb = "finds" if len(by_sign["yes"]) == 1 else "find"
        parts.append(
            f"{_names(by_sign['yes'])} {verb} the planted reasons ({_range(by_sign['yes'])}{chance})"
        )
        chance = ""
    untested = [row for row in by_sign["open"] if row.words.startswith("not tested")]
    partly = [row for row in by_sign["open"] if row not in untested]
    if partly:
        verb = "finds" if len(partly) == 1 else "find"
        what = "them" if parts else "the planted reasons"
        parts.append(f"{_names(partly)} {verb} {what} for some models only ({_range(partly)}{chance})")
        chance = ""
    for words in dict.fromkeys(row.words for row in by_sign["no"]):
        rows = [row for row in by_sign["no"] if row.words == words]
        parts.append(f"{_names(rows)} {'is' if len(rows) == 1 else 'are'} {words} ({_range(rows)}{chance})")
        chance = ""
    if untested:
        parts.append(
            f"nothing is claimed of {_names(untested)} ({_range(untested)}{chance}): {_too_few(summary)}"
        )
    said = "; ".join(parts)
    between = _between(summary, names)
    said = f"{said}; {between}." if between else f"{said}."
    return f"N{said[1:]}" if said.startswith("nothing") else said


def _too_few(summary: StainSummary) -> str:
    """What a test lacks: stains, or the words that they are made of."""
    scored = [pair.explainers[label] for pair in summary.pairs for label in methods(pair)]
    stains = min(each.stains for each in scored)
    words = min((each.words for each in scored if each.words is not None), default=stains)
    verb = "is" if stains == 1 else "are"
    drawn = summary.spec.stains
    if stains < FEWEST_FLIPPED and stains < drawn:
        return f"of {counted(drawn, 'stain')} some model learnt {stains}, and a test needs {FEWEST_FLIPPED}"
    if stains < FEWEST_FLIPPED:
        return f"there {verb} {counted(stains, 'stain')}, and a test needs {FEWEST_FLIPPED}"
    return f"there are {counted(stains, 'stain')} of {counted(words, 'word')}, and a test needs {FEWEST_FLIPPED} words"


def _names(rows: Sequence[Judged]) -> str:
    return listed([row.name for row in rows])


def _range(rows: Sequence[Judged]) -> str:
    """Estimates of several explainers in per cent, "88-91%"."""
    numbers = [row.estimate for row in rows if row.estimate is not None]
    low, high = round(min(numbers)), round(max(numbers))
    return f"{low}%" if low == high else f"{low}–{high}%"


def _between(summary: StainSummary, names: Mapping[str, str]) -> str:
    """Differences between explainers that survive correction, by model; nothing where none could be tested."""
    leads: dict[str, list[str]] = {}
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
            leads.setdefault(f"{names[winner]} leads", []).append(where(pair, summary))
        elif any(each.verdict != "none" for each in tested):
            behind = [
                label
                for label in rivals
                if any(
                    (found := versus(pair, label, other)) and found.verdict == "second" for other in rivals
                )
            ]
            verb = "is" if len(behind) == 1 else "are"
            said = f"{listed([names[label] for label in behind])} {verb} behind"
            leads.setdefault(said, []).append(where(pair, summary))
        else:
            undecided += 1
    if not leads:
        return "no clear difference between them" if undecided else ""
    parts = [f"on {listed(places, most=NAMED)}, where {said}" for said, places in leads.items()]
    if undecided:
        return f"no clear difference between them, except {', and '.join(parts)}"
    return listed([f"{said} on {listed(places, most=NAMED)}" for said, places in leads.items()])


def rests_on(summary: StainSummary, names: Mapping[str, str]) -> tuple[str, ...]:
    """Stains, words, models; and why two orders of explainers that stand on the page seem to disagree."""
    spec = summary.spec
    counts = [
        f"{counted(len(facts.stains), 'stain')} on {name}"
        + (
            f", {facts.distinct_stains} of them different"
            if facts.distinct_stains < len(facts.stains)
            else ""
        )
        + (
            ""
            if facts.distinct_words is None
            else f", made of {counted(facts.distinct_words, 'distinct word')}"
        )
        for name, facts in summary.datasets.items()
    ]
    said = (
        f"A reason is planted by a stain: a rule on |F| = {counted(spec.size, 'feature')} that decides the training "
        f"labels, so that the model must have learnt it. This rests on {'; '.join(counts)}; with "
        f"{counted(len(spec.models), 'model')}. Stains that share words are not independent, and intervals and claims "
        "count that: they are about words like these. All claims of this run, over models, measures and explainers, "
        "are corrected together: in 95% of such runs none of them is false."
    )
    return said, *_without_interval(summary), *_orders(summary, names)


def _without_interval(summary: StainSummary) -> list[str]:
    """Why an explainer's mean has no interval, where it has none."""
    few = [
        pair
        for pair in summary.pairs
        if methods(pair) and min(pair.explainers[label].stains for label in methods(pair)) < FEWEST_UNITS
    ]
    if not few:
        return []
    if len(few) == len([pair for pair in summary.pairs if methods(pair)]):
        return [
            f"There are no intervals: that takes {FEWEST_UNITS} stains that a model learnt. These are values only."
        ]
    places = listed(
        [f"{where(pair, summary)} ({counted(pair.stains_used, 'stain')})" for pair in few], most=NAMED
    )
    return [
        f"The means over all models have no interval, since below {FEWEST_UNITS} stains there are values only: "
        f"{places}. The other models' intervals are in the tables."
    ]


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
        f"By the mean {names[by_mean]} is first, by average rank {names[by_rank]}: {names[by_rank]} is ahead more "
        f"often, but far behind on {where(worst, summary)} ({100 * lost(worst):.0f} points), which a mean counts and a "
        "rank does not."
    ]
