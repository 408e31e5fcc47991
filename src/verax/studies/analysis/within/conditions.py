"""Conditions that every participant meets: answers laid out, means and differences, and their cross-check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verax.stats.crossed.result import Crossed
from verax.stats.crossed.within import Met, condition_differences, condition_means, met
from verax.stats.effect import Effect
from verax.stats.thresholds import ALPHA, FEWEST_ITEMS, FEWEST_OWN
from verax.studies.analysis.contract import Analysed, Column, Court, Figure, Primary, PrimaryEstimate, Table
from verax.text import between, listed, p_text, signed

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.model.spec import Condition


@dataclass(frozen=True)
class Scale:
    """How values are reported.

    Attributes:
        factor: what values are multiplied by.
        unit: what they are then called in tables.
        decimals: how many are written in sentences.
        noun: what follows a number in sentences, with a space before it.
    """

    factor: float
    unit: str
    decimals: int
    noun: str

    def of(self, value: float | None) -> float | None:
        """A value on this scale."""
        return None if value is None else self.factor * value

    def interval(self, low: float | None, high: float | None) -> list[float] | None:
        """Both ends on this scale, or None."""
        return None if low is None or high is None else [self.factor * low, self.factor * high]

    def said(self, value: float) -> str:
        """A difference that is on this scale already, with its sign and unit."""
        return f"{signed(value, self.decimals)}{self.noun}"


POINTS = Scale(100.0, "points", 1, " points")
SCORE = Scale(1.0, "score", 2, "")


def tested(responses: pd.DataFrame, scored: str) -> pd.DataFrame:
    """The scored answers of the test phases, one row each; steps that expired have no score."""
    found = responses[
        (responses["phase_kind"] == "test")
        & (responses["question"] == scored)
        & responses["item"].notna()
        & responses["condition"].notna()
    ]
    return found.assign(score=found["score"].astype("float64")).reset_index(drop=True)


def answered(answers: pd.DataFrame) -> pd.DataFrame:
    """Those that have a score."""
    return answers[answers["score"].notna()].reset_index(drop=True)


def as_met(answers: pd.DataFrame, value: str = "score") -> Met:
    """Answers as the estimators take them."""
    numbers = answers[value].astype("float64").to_numpy()
    return met(
        answers["participant"].tolist(), answers["item"].tolist(), answers["condition"].tolist(), numbers
    )


def in_order(names: Sequence[Any], conditions: Sequence[Condition]) -> list[str]:
    """The conditions that have answers, in the order of the spec."""
    return [one.name for one in conditions if one.name in names]


def means_by_condition(answers: pd.DataFrame, value: str, level: float) -> dict[str, Crossed]:
    """The mean of a value under each condition that has answers."""
    return {one.name: one for one in condition_means(as_met(answers, value), level)}


def references(data: Analysed, there: Sequence[str]) -> list[str]:
    """What methods are compared with, the first one in the primary analysis: no explanation, then a random control."""
    kinds = {one.name: one.kind for one in data.conditions}
    plain = [name for name in there if kinds[name] == "none"]
    return plain[:1] + [name for name in there if kinds[name] == "control"][:1]


def compared_with(rows: Met, reference: str, names: Sequence[str], level: float) -> dict[str, Crossed]:
    """How much higher each condition is than the reference, within people; Holm over all of them."""
    chosen = [(name, reference) for name in names if name != reference]
    if not chosen:
        return {}
    found = condition_differences(rows, chosen, level)
    return {first: one for (first, _), one in zip(chosen, found, strict=True)}


def estimate_of(name: str, key: str, one: Crossed, scale: Scale) -> PrimaryEstimate:
    """A line of the primary analysis."""
    return PrimaryEstimate(
        condition=name,
        key=key,
        estimate=scale.of(one.estimate),
        low=scale.of(one.low),
        high=scale.of(one.high),
        p=one.p,
        p_adjusted=one.p_family,
        low_adjusted=scale.of(one.low_family),
        high_adjusted=scale.of(one.high_family),
        adjustment=one.correction,
        detectable=scale.of(one.detectable),
        participants=one.n_participants,
        items=one.n_items,
        conclusive=one.enough,
        notes=one.warnings,
    )


def difference_sentence(estimates: Sequence[PrimaryEstimate], reference: str, what: str, scale: Scale) -> str:
    """What the differences from a reference say, in every case.

    Args:
        estimates: the lines.
        reference: what they are compared with.
        what: what is higher or lower, such as "accuracy".
        scale: of the numbers.
    """
    clear = [one for one in estimates if _is_clear(one)]
    open_ones = [one for one in estimates if one.low is not None and one.conclusive and not _is_clear(one)]
    small = [one for one in estimates if one.low is not None and not one.conclusive]
    bare = [one for one in estimates if one.low is None]
    said = [
        f"{one.condition} {'raised' if (one.estimate or 0) > 0 else 'lowered'} {what} by "
        f"{abs(one.estimate or 0):.{scale.decimals}f}{scale.noun} against {reference} "
        f"(95% interval {between(one.low or 0, one.high or 0, scale.decimals)}; {p_text(one.p_adjusted or 0)}"
        f"{', corrected for all comparisons' if len(estimates) > 1 else ''})."
        for one in clear
    ]
    if open_ones:
        missed = [one.detectable for one in open_ones if one.detectable is not None]
        parts = listed([_with_interval(one, scale) for one in open_ones])
        said.append(
            f"No clear difference from {reference}: {parts}. This is no evidence of no effect: a study like this finds "
            f"a true difference of about {max(missed):.{scale.decimals}f}{scale.noun} in 80% of cases, so smaller ones "
            "stay open."
        )
    if small:
        parts = listed([_with_interval(one, scale) for one in small])
        said.append(
            f"Too little data for a claim against {reference} (it needs {FEWEST_OWN} people and {FEWEST_ITEMS} items): "
            f"{parts}."
        )
    if bare:
        known = [one for one in bare if one.estimate is not None]
        if known:
            parts = listed([f"{one.condition} {scale.said(one.estimate or 0)}" for one in known])
            said.append(f"No interval can be given against {reference}: {parts}.")
        lost = [one.condition for one in bare if one.estimate is None]
        if lost:
            said.append(
                f"Nobody met both {reference} and {listed(lost, 'or')}: there is no difference to tell."
            )
    return " ".join(said) or "There is nothing to compare."


def _is_clear(one: PrimaryEstimate) -> bool:
    return one.conclusive and one.p_adjusted is not None and one.p_adjusted <= ALPHA


def _with_interval(one: PrimaryEstimate, scale: Scale) -> str:
    return f"{one.condition} {scale.said(one.estimate or 0)} ({between(one.low or 0, one.high or 0, scale.decimals)})"


def difference_table(
    key: str, title: str, found: dict[str, Crossed], reference: str, what: str, scale: Scale
) -> Table:
    """Differences from one reference with their tests, alone and together."""
    rows = tuple(
        {
            "condition": name,
            "difference": scale.of(one.estimate),
            "interval": scale.interval(one.low, one.high),
            "p": one.p,
            "p_adjusted": one.p_family,
            "p_exact": one.p_exact,
            "detectable": scale.of(one.detectable),
            "participants": one.n_participants,
            "items": one.n_items,
        }
        for name, one in found.items()
    )
    estimates = [estimate_of(name, "", one, scale) for name, one in found.items()]
    warnings = dict.fromkeys(f"{name}: {said}" for name, one in found.items() for said in one.warnings)
    return Table(
        key=key,
        title=title,
        columns=(
            Column("condition", "Condition", "text"),
            Column("difference", f"Difference from {reference}", "number", scale.unit),
            Column("interval", "95% interval", "interval", scale.unit),
            Column("p", "p", "p"),
            Column("p_adjusted", "p, corrected", "p"),
            Column("p_exact", "p, signs flipped", "p"),
            Column("detectable", "Detectable with 80% power", "number", scale.unit),
            Column("participants", "Participants", "count"),
            Column("items", "Items", "count"),
        ),
        rows=rows,
        sentence=difference_sentence(estimates, reference, what, scale),
        notes=(
            "Conditions are compared within each participant; items and participants are both taken as samples "
            "(crossed). Corrected: Holm over the lines. Signs flipped: exact, on these items only.",
            *warnings,
        ),
    )


def difference_figure(
    key: str, title: str, estimates: Sequence[PrimaryEstimate], measure: str, unit: str
) -> Figure:
    """Estimates with intervals."""
    rows = [
        {
            "label": one.condition,
            "estimate": one.estimate,
            "low": one.low,
            "high": one.high,
            "group": "primary",
        }
        for one in estimates
    ]
    return Figure(
        key=key,
        title=title,
        kind="intervals",
        data={"x_label": f"{measure} ({unit})", "reference": 0, "rows": rows},
        sentence="Points are estimates, lines 95% intervals; one that crosses 0 does not exclude that nothing differs.",
    )


def mixed_table(
    found: dict[str, Crossed], models: dict[str, list[Effect]], reference: str, scale: Scale
) -> Table:
    """The differences again by mixed models; all models must have the lines of the first."""
    columns = [
        Column("condition", "Condition", "text"),
        Column("crossed", "Crossed, within people", "number", scale.unit),
        Column("crossed_interval", "95% interval", "interval", scale.unit),
        Column("crossed_p", "p", "p"),
    ]
    for number, name in enumerate(models):
        columns += [
            Column(f"model{number}", name, "number", scale.unit),
            Column(f"model{number}_interval", "95% interval", "interval", scale.unit),
            Column(f"model{number}_p", "p", "p"),
        ]
    rows, apart = [], []
    for place, (name, one) in enumerate(found.items()):
        row: dict[str, Any] = {
            "condition": name,
            "crossed": scale.of(one.estimate),
            "crossed_interval": scale.interval(one.low, one.high),
            "crossed_p": one.p,
        }
        for number, lines in enumerate(models.values()):
            line = lines[place]
            row |= {
                f"model{number}": scale.of(line.estimate),
                f"model{number}_interval": scale.interval(line.low, line.high),
                f"model{number}_p": line.p,
            }
            if (
                one.enough
                and one.p is not None
                and line.p is not None
                and (one.p <= ALPHA) != (line.p <= ALPHA)
            ):
                apart.append(name)
        rows.append(row)
    agree = (
        f"Other models agree with the differences from {reference}."
        if any(one.enough for one in found.values())
        else "There is too little data for a claim by any model."
    )
    differ = f"The models do not agree on {listed(list(dict.fromkeys(apart)))}: one finds a difference, one does not."
    said = dict.fromkeys(said for lines in models.values() for line in lines for said in line.warnings)
    return Table(
        key="cross-check",
        title=f"The differences from {reference} by several models",
        columns=tuple(columns),
        rows=tuple(rows),
        sentence=differ if apart else agree,
        notes=(
            "Mixed models with participants and items as random effects; p-values are of each line alone.",
            *said,
        ),
    )


def court_of(condition: Condition, one: Crossed, measure: str, scale: Scale, unit: str) -> Court:
    """A line for the joint report."""
    return Court(
        explainer="random" if condition.kind == "control" else condition.explainer,
        condition=condition.name,
        measure=measure,
        unit=unit,
        estimate=scale.of(one.estimate),
        low=scale.of(one.low),
        high=scale.of(one.high),
        participants=one.n_participants,
        items=one.n_items,
    )


def primary_of(
    found: dict[str, Crossed], reference: str, measure: str, what: str, scale: Scale, unit: str
) -> Primary:
    """The differences from the reference as the primary analysis."""
    estimates = tuple(estimate_of(name, f"{name}-vs-{reference}", one, scale) for name, one in found.items())
    return Primary(measure, unit, difference_sentence(estimates, reference, what, scale), estimates)
