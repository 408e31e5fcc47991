"""What a verification found of each explainer, as rows: on each group of targets, and over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Literal

from verax.benchmarks.rationale.spec import ENOUGH
from verax.results.findings import Finding, against_random, content_key, is_compared, with_estimate
from verax.results.units import Unit
from verax.text import listed

if TYPE_CHECKING:
    from verax.benchmarks.rationale.summary import Group, GroupSet, Summary

PER_CENT, WORDS = Unit("per cent"), Unit("words")
INPUTS = {"strict": "strict inputs", "published": "inputs"}
MISRANKED = "{inputs} with a word that does nothing above a clearly relevant one"
# The other measures of an explainer: in words, their unit, and which way is better.
OTHERS: dict[str, tuple[str, Unit, Literal["higher", "lower"]]] = {
    "first": ("{inputs} whose first word does nothing", PER_CENT, "lower"),
    "above": ("words that do nothing above the lowest clearly relevant one, {inputs}", WORDS, "lower"),
    "auc": ("clearly relevant words told from those that do nothing, area, {inputs}", PER_CENT, "higher"),
}
FAMILY = "all pairs of explainers on one target, by Holm"


def rationale_findings(summary: Summary) -> tuple[Finding, ...]:
    """One row for each explainer over all groups of targets, and rows for each group by every measure.

    Strict inputs count where every target has enough of them, as in the run's own report; else all that are kept.
    """
    strict = bool(summary.targets) and all(
        target.sets["strict"].inputs >= ENOUGH for target in summary.targets
    )
    kind = "strict" if strict else "published"
    template = Finding(
        method="",
        measure=MISRANKED.format(inputs=INPUTS[kind]),
        estimate=None,
        unit=PER_CENT,
        counted="targets",
        better="lower",
        name="rationale",
        title=f"Rationale models, {listed(summary.spec.datasets, most=2)}",
        dataset=", ".join(summary.spec.datasets),
        model=", ".join(summary.spec.models),
        key=content_key(summary.spec.model_dump(), dict(summary.hashes)),
    )
    sets = [group.sets[kind] for group in summary.groups]
    tested = [target.sets[kind].differences for target in summary.targets]
    overall = []
    for label in filter(is_compared, summary.explainers):
        made = replace(template, method=label)
        if sets and all(label in found.explainers for found in sets):
            made = against_random(_over_groups(made, sets), tested, FAMILY)
        overall.append(made)
    parts = [
        one
        for group in summary.groups
        for label in summary.explainers
        for one in _part(replace(template, method=label, scope="part"), group, summary)
    ]
    return (*overall, *parts)


def _over_groups(made: Finding, sets: Sequence[GroupSet]) -> Finding:
    """The mean over groups, whose targets are trained apart: their errors are independent."""
    shares = [found.explainers[made.method].misranked for found in sets]
    # The longer side: the other may be cut at 0 or 1.
    margins = [
        max(share.high - share.mean, share.mean - share.low)
        for share in shares
        if share.low is not None and share.high is not None
    ]
    mean = 100 * sum(share.mean for share in shares) / len(shares)
    known = len(margins) == len(shares)
    margin = 100 * sqrt(sum(each**2 for each in margins)) / len(shares)
    return replace(
        made,
        estimate=mean,
        low=max(0.0, mean - margin) if known else None,
        high=min(100.0, mean + margin) if known else None,
        n=sum(found.targets for found in sets),
    )


def _part(part: Finding, group: Group, summary: Summary) -> Iterator[Finding]:
    """One explainer on one group of targets by every measure and set of inputs; no number where it was not scored."""
    model = "" if group.difficulty is None else f"{group.difficulty} targets"
    part = replace(part, dataset=group.dataset, model=model)
    targets = [
        target
        for target in summary.targets
        if (target.dataset, target.difficulty) == (group.dataset, group.difficulty)
    ]
    for kind, found in group.sets.items():
        scored = found.explainers.get(part.method)
        named = replace(part, measure=MISRANKED.format(inputs=INPUTS[kind]), n=found.targets)
        if scored is None:
            yield named
            continue
        differences = [target.sets[kind].differences for target in targets if kind in target.sets]
        yield against_random(with_estimate(named, scored.misranked), differences, FAMILY)
        for measure, (words, unit, better) in OTHERS.items():
            other = replace(named, measure=words.format(inputs=INPUTS[kind]), unit=unit, better=better)
            yield with_estimate(other, getattr(scored, measure))
