"""The verdict of a study: of each condition whether it is shown to help, to harm, or neither; what that rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verax.results.verdict import Judged, Reference, Verdict
from verax.stats.thresholds import FEWEST_PEOPLE
from verax.studies.results.study_summary import Primary, PrimaryEstimate, Summary
from verax.text import listed

NO_ANSWER = "The primary question cannot be answered with these data; what could not be estimated is below."


def study_verdict(summary: Summary) -> Verdict:
    """What the primary analysis says, for a reader who asks which explanation helps."""
    primary = summary.primary
    if primary is None or not primary.estimates:
        said = sentences((primary and primary.sentence) or NO_ANSWER)
        return Verdict(said[0], (), "", tuple(filter(None, said[1:])))
    differences = all(line.is_difference for line in primary.estimates)
    judged = tuple(_judged(line, differences) for line in primary.estimates)
    unit = f" ({primary.unit})" if primary.unit else ""
    return Verdict(
        sentence=_sentence(primary, judged, "bots" if summary.people == "bots" else "people")
        if differences
        else sentences(primary.sentence)[0],
        judged=judged,
        measure=f"{primary.measure}{unit}",
        rests_on=_rests_on(primary, differences),
        reference=Reference("no difference", 0.0) if differences else None,
        differences=differences,
        decimals=primary.unit.decimals,
    )


def sentences(text: str) -> tuple[str, str]:
    """The first sentence, which stands out, and the others."""
    first, *rest = re.split(r"(?<=[.!?])\s+(?=[A-Z])", text.strip(), maxsplit=1)
    return first, "".join(rest)


def _judged(line: PrimaryEstimate, differences: bool) -> Judged:
    sign = line.sign if differences else "open"
    if not differences:
        words = f"{line.participants} people" if line.low is not None else "no interval"
    elif sign != "open":
        words = "higher" if sign == "yes" else "lower"
    elif line.low is None:
        words = "no interval can be given"
    else:
        words = (
            "no clear difference"
            if line.conclusive
            else "rows of the design filled unequally, nothing claimed"
            if line.uneven
            else "too little data for a claim"
        )
    return Judged(line.condition, sign, words, line.estimate, line.low, line.high)


def _sentence(primary: Primary, judged: Sequence[Judged], people: str) -> str:
    """Who did better or worse, of whom that cannot be said, and why."""
    reference = primary.estimates[0].reference
    against = f"than with {reference}" if reference else "after explanations than before"
    unit = primary.unit
    parts = []
    for sign, how in (("yes", "better"), ("no", "worse")):
        clear = [f"{row.name} ({unit.said(row.estimate or 0.0)})" for row in judged if row.sign == sign]
        if clear:
            parts.append(f"{people} did {how} {'with' if reference else ''} {listed(clear)} {against}")
    unclear = [row.name for row in judged if row.words == "no clear difference"]
    uneven = [line.condition for line in primary.estimates if line.uneven and line.low is not None]
    few = [row.name for row in judged if row.sign == "open" and row.name not in (*unclear, *uneven)]
    if unclear:
        parts.append(
            f"no clear difference with {listed(unclear)}"
            if parts
            else f"no explanation is shown to help or to harm: no clear difference between {listed(unclear)} and "
            f"{reference or 'before'}"
        )
    if uneven:
        parts.append(
            f"of {listed(uneven)} nothing is claimed, since rows of the design are filled unequally and practice can "
            "pass for an effect"
        )
    if few:
        parts.append(f"of {listed(few)} nothing is claimed, there is too little data")
    said = re.sub(r" +", " ", "; ".join(parts))
    return f"{said[:1].upper()}{said[1:]}."


def _rests_on(primary: Primary, differences: bool) -> tuple[str, ...]:
    """People and items, what could have been missed, and what the protocol's own sentence adds."""
    lines = primary.estimates
    people = sorted({line.participants for line in lines})
    items = sorted({line.items for line in lines})
    each = "in a comparison" if differences else "in a condition"
    said = [f"It rests on {_span(people)} people {each} and {_span(items)} items."]
    missed = [line.detectable for line in lines if line.detectable is not None and line.sign == "open"]
    if differences and missed:
        about = primary.unit.number(float(round(max(missed), primary.unit.decimals)))
        said.append(
            f"Not clear is not equal: the minimum detectable effect is about {about}{primary.unit.noun} (a true effect "
            "of that size would be found in 80% of such studies), so smaller ones stay open."
        )
    if differences and not all(line.conclusive or line.uneven for line in lines):
        said.append(f"A claim needs {FEWEST_PEOPLE} people in each of the conditions that are compared.")
    if not differences:
        said.append(sentences(primary.sentence)[1])
    return tuple(filter(None, said))


def _span(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
