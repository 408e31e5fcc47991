"""What a verification found, in one sentence per question asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from scipy.special import bdtr

from verax.benchmarks.rationale.findings import (
    PUBLISHED,
    STRICT,
    Group,
    GroupSet,
    RationaleSummary,
    TargetSummary,
)
from verax.benchmarks.rationale.plan import CEILING
from verax.benchmarks.rationale.run import Timing
from verax.benchmarks.rationale.spec import ENOUGH
from verax.phrases import Slot
from verax.phrases import say as say_phrase
from verax.reporting.page import short_names
from verax.results.findings import FLOOR
from verax.results.verdict import Judged, Reference, Sign, Verdict
from verax.stats import Difference, Estimate
from verax.stats.tests.multiplicity import holm
from verax.stats.thresholds import ALPHA, FEWEST_UNITS
from verax.text import duration, estimate, p_text, percent

say = partial(say_phrase, "rationale")
INPUTS = {STRICT: "inputs-strict", PUBLISHED: "inputs-published"}
# Everybody below this share of misranked inputs: the inputs are too easy to tell explainers apart.
SATURATED = 0.01
# Who errs on fewer texts than this share, by an exact test, is said to err hardly ever.
RARE = 0.03
# Explainers that score a word by deleting it and nothing else, two names of one method.
SINGLE_DELETIONS = ("greedy", "omission")
# What is said of an explainer, the best case first, with its sign.
CASES: dict[str, Sign] = {
    "hardly-ever": "yes",
    "none-seen": "open",
    "less": "open",
    "less-on-some": "open",
    "not-shown": "no",
}


@dataclass(frozen=True)
class Standing:
    """How an explainer stands against chance: its case, and the slots of what is said then."""

    case: str
    row: Judged
    slots: Mapping[str, Slot] = field(default_factory=dict)


def verdict(summary: RationaleSummary) -> str:
    """The answer in a few sentences: who misranks least, on strict inputs if there are any, and how sure that is."""
    names = short_names(summary.explainers)
    return " ".join(_group_verdict(summary, group, names) for group in summary.groups)


def rationale_verdict(summary: RationaleSummary) -> Verdict:
    """The same with a line for every explainer: the mean over all groups of targets."""
    names = short_names(summary.explainers)
    kind = (
        STRICT
        if summary.groups and all(has_strict(summary, group) for group in summary.groups)
        else PUBLISHED
    )
    sets = [group.sets[kind] for group in summary.groups]
    labels = [label for label in names if sets and all(label in found.explainers for found in sets)]
    tried = compared_explainers(dict.fromkeys(labels))
    # Everything that is said of explainers in one sentence is one family: each has its part of the 5%.
    standings = sorted(
        (_standing(label, names, summary, sets, kind, ALPHA / len(tried)) for label in tried),
        key=lambda one: one.row.estimate or 0.0,
    )
    floor = [found.explainers[FLOOR].misranked.mean for found in sets if FLOOR in found.explainers]
    return Verdict(
        sentence=_answer(standings, floor, len(summary.targets)),
        judged=tuple(one.row for one in standings),
        measure=say("measure", inputs=say(INPUTS[kind])),
        rests_on=(verdict(summary), _of_whom(summary, standings), guarantee(summary))
        if summary.targets
        else (),
        reference=Reference(say("chance"), 100 * sum(floor) / len(floor)) if floor else None,
        ends=(0.0, 100.0),
    )


def _of_whom(summary: RationaleSummary, standings: Sequence[Standing]) -> str:
    """Of which models the verdict speaks, and how sure it is."""
    return say(
        "of-whom",
        models=say("these-models", models=len(summary.targets)),
        few=max((group.targets for group in summary.groups), default=0) < FEWEST_UNITS,
        needed=FEWEST_UNITS,
        rare=any(one.case in ("hardly-ever", "none-seen") for one in standings),
        share=round(100 * RARE),
    )


def _answer(standings: Sequence[Standing], floor: Sequence[float], targets: int) -> str:
    """Who ranks words right that the model does not use, and who does not, in one sentence."""
    if not standings:
        return say("headline-nothing")
    chance: Slot = round(100 * sum(floor) / len(floor)) if floor else "none"
    clauses: list[str] = []
    for words in dict.fromkeys(one.row.words for one in standings):
        alike = [one for one in standings if one.row.words == words]
        shares = [round(one.row.estimate or 0.0) for one in alike]
        low, high = min(shares), max(shares)
        case = alike[0].case
        reached = say(
            "reached",
            range=f"{low}%" if low == high else f"{low}–{high}%",
            inputs=case in ("less", "less-on-some"),
            chance="none" if clauses else chance,
        )
        clauses.append(
            say(
                f"headline-{case}",
                names=[one.row.name for one in alike],
                first=not clauses,
                models=say("these-models", models=targets),
                reached=reached,
                **alike[0].slots,
            )
        )
    return f"{'; '.join(clauses)}."


def _standing(
    label: str,
    names: Mapping[str, str],
    summary: RationaleSummary,
    sets: Sequence[GroupSet],
    kind: str,
    part: float,
) -> Standing:
    """One explainer: its mean over groups; groups have their own targets, so their errors are independent.

    The interval of the mean has the distance of each end from its estimate, squared and summed (Zou and Donner 2008).
    """
    found = [given.explainers[label].misranked for given in sets]
    mean = sum(each.mean for each in found) / len(found)
    ends = [
        (each.mean - each.low, each.high - each.mean)
        for each in found
        if each.low is not None and each.high is not None
    ]
    below, above = (
        (math.hypot(*side) / len(found) for side in zip(*ends, strict=True))
        if len(ends) == len(found)
        else (None, None)
    )
    case, slots = _against_chance(label, summary, kind, part)
    row = Judged(
        names[label],
        CASES[case],
        say(f"judged-{case}", **slots),
        100 * mean,
        None if below is None else 100 * max(0.0, mean - below),
        None if above is None else 100 * min(1.0, mean + above),
    )
    return Standing(case, row, slots)


def _against_chance(
    label: str, summary: RationaleSummary, kind: str, part: float
) -> tuple[str, dict[str, Slot]]:
    """Whether it hardly ever errs, errs less than chance on every target, or not even that.

    One after the other, each only where the one before is shown, so that all have the same ``part`` of the 5%: that it
    errs less than chance on some targets (Holm over targets) or on all of them (each alone), then that it hardly ever
    does, for these very targets.
    """
    p = [
        _less_than_chance(difference, label)
        for target in summary.targets
        for difference in target.sets[kind].differences
        if {label, FLOOR} == {difference.first, difference.second}
    ]
    times = int((holm(p) <= part).sum()) if p else 0
    if p and max(p) <= part:
        texts = summary.texts.get(kind, {}).get(label)
        if texts is not None and bdtr(texts.erred, texts.texts, RARE) <= part:
            return "hardly-ever", {}
        if texts is not None and not texts.erred:
            return "none-seen", {}
        return "less", {}
    return ("less-on-some", {"better": times, "targets": len(p)}) if times else ("not-shown", {})


def _less_than_chance(difference: Difference, label: str) -> float:
    """The exact p of "no less often than random": inputs on which one of the two errs are thrown like a coin."""
    better = difference.wins if difference.first == label else difference.losses
    worse = difference.losses if difference.first == label else difference.wins
    return float(bdtr(worse, better + worse, 0.5)) if better + worse else 1.0


def has_strict(summary: RationaleSummary, group: Group) -> bool:
    """Whether every target of a group has enough strict inputs for a verdict on them."""
    return all(target.sets[STRICT].inputs >= ENOUGH for target in targets_of(summary, group))


def _group_verdict(summary: RationaleSummary, group: Group, names: Mapping[str, str]) -> str:
    kind = STRICT if has_strict(summary, group) else PUBLISHED
    found = group.sets[kind]
    rivals = compared_explainers(found.explainers)
    if not rivals:
        return say("group-nothing", place=place(group))
    order = sorted(rivals, key=lambda label: found.explainers[label].misranked.mean)
    shares = {label: found.explainers[label].misranked for label in order}
    inputs = say(INPUTS[kind] if kind == STRICT else "inputs-too-few-strict")
    if shares[order[-1]].mean <= SATURATED:
        said = say(
            "group-too-easy",
            place=place(group),
            names=[names[label] for label in order],
            share=percent(shares[order[-1]].mean),
            inputs=inputs,
        )
        return said if kind == PUBLISHED else f"{said} {_on_all_inputs(group, names)}"
    best = [label for label in order if shares[label].mean == shares[order[0]].mean]
    others = [
        say("share-of", name=names[label], share=percent(shares[label].mean))
        for label in order
        if label not in best
    ]
    said = say(
        "group-least",
        place=place(group),
        names=[names[label] for label in best],
        share=_with_values(summary, group, kind, best[0], _in_words(shares[best[0]])),
        inputs=inputs,
        others=others or "none",
    )
    return f"{said} {how_sure(found, best, names, len(summary.groups))}"


def targets_of(summary: RationaleSummary, group: Group) -> list[TargetSummary]:
    """The targets of a group."""
    return [
        target
        for target in summary.targets
        if (target.dataset, target.difficulty) == (group.dataset, group.difficulty)
    ]


def _with_values(summary: RationaleSummary, group: Group, kind: str, label: str, share: str) -> str:
    """A share with the value of each target, where they are several and too few for an interval."""
    shares = [
        target.sets[kind].explainers[label].scored.misranked.mean
        for target in targets_of(summary, group)
        if label in target.sets[kind].explainers
    ]
    if not 1 < len(shares) < FEWEST_UNITS:
        return share
    return say("share-with-values", share=share, values=list(map(percent, shares)), targets=len(shares))


def how_sure(found: GroupSet, best: Sequence[str], names: Mapping[str, str], groups: int = 1) -> str:
    """Whether the order is that of one model, of some, or shown; all groups are one family of claims."""
    if found.targets == 1:
        return say("sure-one-target")
    beaten = [
        difference.second if difference.first == best[0] else difference.first
        for difference in found.differences
        if best[0] in (difference.first, difference.second)
        and difference.verdict == ("first" if difference.first == best[0] else "second")
        and groups * (difference.p_holm or 0.0) <= ALPHA
    ]
    if beaten and len(best) == 1:
        return say("sure-beats", names=[names[label] for label in beaten])
    case = "sure-too-few" if found.targets < FEWEST_UNITS else "sure-no-difference"
    times = sum(best[0] in least for least in found.least)
    return say(case, times=times, targets=found.targets, needed=FEWEST_UNITS)


def answers(summary: RationaleSummary, timings: Sequence[Timing]) -> list[tuple[str, str]]:
    """Questions with their answers, in the order of the report."""
    names = short_names(summary.explainers)
    answered = {
        "claim": claim_answer(summary, names),
        "targets": target_answer(summary.targets),
        "cost": cost_answer(timings, names),
        "left-out": left_out(summary, names),
    }
    return [(say(f"question-{asked}"), answer) for asked, answer in answered.items() if answer]


def guarantee(summary: RationaleSummary) -> str:
    """How many inputs are strict, and what the others leave open."""
    shares = [target.strict.mean for target in summary.targets]
    if not shares:
        return ""
    # Explainers that ask just what strict inputs were chosen by.
    single = [label for label in summary.explainers if label.split("(")[0] in SINGLE_DELETIONS]
    return say("guarantee", strict=_span(shares), single=single or "none")


def claim_answer(summary: RationaleSummary, names: Mapping[str, str]) -> str:
    """What the scores of each explainer claim, and what they are held to."""
    groups: dict[str, list[str]] = {}
    for label, claim in summary.claims.items():
        if label != CEILING:
            groups.setdefault(claim, []).append(names[label])
    claims = [say(f"claim-{claim}", names=labels) for claim, labels in groups.items()]
    return say("claim", claims="; ".join(claims))


def target_answer(targets: Sequence[TargetSummary]) -> str:
    """Accuracy and share of words, from the lowest to the highest."""
    if not targets:
        return ""
    accuracies, shares = [each.accuracy for each in targets], [each.share for each in targets]
    return say("targets", targets=len(targets), accuracy=_span(accuracies), share=_span(shares))


def _span(shares: Sequence[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else say("span", low=low, high=high)


def cost_answer(timings: Sequence[Timing], names: Mapping[str, str]) -> str:
    """Median seconds of each explainer over targets."""
    seconds: dict[str, list[float]] = {}
    for timing in timings:
        seconds.setdefault(timing.explainer, []).append(timing.seconds)
    typical = {
        label: sorted(several)[len(several) // 2] for label, several in seconds.items() if label != FLOOR
    }
    costs = [
        say("cost-of", name=names[label], time=duration(each))
        for label, each in sorted(typical.items(), key=lambda one: one[1])
    ]
    return say("cost", costs=costs) if costs else ""


def left_out(summary: RationaleSummary, names: Mapping[str, str]) -> str:
    """Targets that could not serve, and explainers that failed."""
    failed = {names[label] for target in summary.targets for label in target.errors}
    said = [say("left-out-failed", jobs=len(summary.failures))] if summary.failures else []
    if failed:
        said.append(say("left-out-errors", names=sorted(failed)))
    return " ".join(said) or say("left-out-nothing")


def _on_all_inputs(group: Group, names: Mapping[str, str]) -> str:
    """How often each errs where a target may change its mind, which strict inputs leave out."""
    found = group.sets[PUBLISHED].explainers
    order = sorted(compared_explainers(found), key=lambda label: found[label].misranked.mean)
    shares = [
        say("share-of", name=names[label], share=percent(found[label].misranked.mean)) for label in order
    ]
    return say("group-on-all-inputs", inputs=say(INPUTS[PUBLISHED]), shares=shares)


def compared_explainers(explainers: Mapping[str, object]) -> list[str]:
    """Everybody but the floor and the ceiling."""
    return [label for label in explainers if label not in (FLOOR, CEILING)]


def place(group: Group) -> str:
    """A group in words."""
    return say("place", dataset=group.dataset, difficulty=group.difficulty or "none")


def _in_words(given: Estimate) -> str:
    share = percent(given.mean)
    if given.low is None or given.high is None:
        return share
    return say(
        "share-with-interval", share=share, low=f"{100 * given.low:.1f}", high=f"{100 * given.high:.1f}"
    )


def shown(given: Estimate) -> str:
    """A share in per cent, with its interval."""
    return estimate({"mean": given.mean, "low": given.low, "high": given.high})


def compared(difference: Difference, names: Mapping[str, str]) -> tuple[str, str, str, str]:
    """Two explainers, by how much the first is right more often, how sure, and who is ahead."""
    ahead = {"first": difference.first, "second": difference.second}.get(difference.verdict)
    mean = "" if difference.mean is None else f"{100 * difference.mean:+.1f}".replace("-", "−")
    ends = ""
    if difference.low is not None and difference.high is not None:
        ends = f" [{100 * difference.low:.1f}, {100 * difference.high:.1f}]".replace("-", "−")
    return (
        say("pair", first=names[difference.first], second=names[difference.second]),
        mean + ends,
        p_text(difference.p_holm),
        names[ahead] if ahead else "",
    )
