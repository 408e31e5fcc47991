"""Whether the primary analysis hangs on one item, on one participant, on who is counted, or on late answers.

How the estimates are made anew differs between people (`verax.studies.analysis.sensitivity`) and within them
(`verax.studies.analysis.sensitivity`); what is made of them is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.results.tables import Sources, Table, build_table, interval, number, text
from verax.results.units import POINTS, Unit
from verax.stats.crossed import claims
from verax.stats.crossed.between import lay_out
from verax.stats.crossed.within import NOT_SHOWN, ConditionResponses, difference_claims, person_differences
from verax.stats.responses import Responses
from verax.studies.analysis.between.effects import Effects, as_responses, complete_pairs
from verax.studies.analysis.within.conditions import as_met
from verax.studies.results.study_summary import (
    AS_ANALYSED,
    EVERYBODY,
    WITHOUT_LATE,
    LeftOut,
    Sensitivity,
    Variant,
)

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.claims import Items
    from verax.stats.crossed.result import Crossed


say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")


@dataclass(frozen=True)
class Claim:
    """One estimate with its own interval, as shares or scores; None where there is none."""

    estimate: float | None = None
    low: float | None = None
    high: float | None = None

    def sign(self, widened: float | None = None) -> int:
        """1 or -1 where the interval (if it is given, made so many times as wide) excludes 0, else 0."""
        if self.estimate is None or self.low is None or self.high is None:
            return 0
        low, high = self.low, self.high
        if widened is not None:
            margin = widened * (high - low) / 2
            low, high = self.estimate - margin, self.estimate + margin
        return int(low > 0) - int(high < 0)

    def variant(self, name: str, condition: str, unit: Unit, *, turns: bool) -> Variant:
        """The claim as the estimate of a variant."""
        return Variant(name, condition, unit.of(self.estimate), unit.interval(self.low, self.high), turns)


def left_out(
    what: str,
    condition: str,
    main: Claim,
    without: Mapping[str, Claim],
    unit: Unit,
    turns: Callable[[Claim], bool],
) -> LeftOut:
    """The lowest and highest estimate, and without which ones the interval's verdict is another.

    Args:
        what: "item" or "participant".
        condition: whose estimate.
        main: as analysed.
        without: the claims by who was left out.
        unit: of the estimates.
        turns: whether a claim has another verdict than the main one.
    """
    known = {who: claim for who, claim in without.items() if claim.estimate is not None}
    estimates = [unit.of(claim.estimate) or 0.0 for claim in known.values()]
    turned = tuple(who for who, claim in known.items() if turns(claim))
    return LeftOut(
        left_out=what,
        condition=condition,
        estimate=unit.of(main.estimate),
        lowest=min(estimates, default=None),
        highest=max(estimates, default=None),
        tried=len(known),
        turns=bool(turned),
        turned_by=turned[:10],
    )


@dataclass(frozen=True)
class _SensitivityRow:
    condition: str
    variant: str
    estimate: float | None
    interval: Sequence[float] | None
    turns: str


def sensitivity_table(varied: Sensitivity) -> Table:
    """All variants in one table."""
    lines = [
        *(
            _of_variant(variant, _is_compared(varied))
            for variant in varied.variants
            if _is_shown(variant, varied)
        ),
        *(_of_left_out(each) for each in varied.leave_one_out),
    ]
    order = list(dict.fromkeys(line.condition for line in lines))
    sources: Sources[_SensitivityRow] = (
        text("condition", say_table("column-condition"), lambda line: line.condition),
        text("variant", say_table("column-analysed"), lambda line: line.variant),
        number("estimate", say_table("column-estimate"), lambda line: line.estimate, varied.unit),
        interval("interval", say_table("column-interval-or-range"), lambda line: line.interval, varied.unit),
        text("turns", say_table("column-conclusion-turns"), lambda line: line.turns),
    )
    return build_table(
        "sensitivity",
        say_table("sensitivity"),
        sorted(lines, key=lambda line: order.index(line.condition)),
        sources,
        _sentence(varied),
        [varied.turning or say_table("turning-alone"), *_without_change(varied.without_change or 0)],
    )


def _is_compared(varied: Sensitivity) -> bool:
    return any(variant.variant == AS_ANALYSED for variant in varied.variants)


def _is_shown(variant: Variant, varied: Sensitivity) -> bool:
    return variant.variant != WITHOUT_LATE or varied.late_answers > 0


def _of_variant(variant: Variant, compared: bool) -> _SensitivityRow:
    turns = ("yes" if variant.turns else "no") if variant.variant != AS_ANALYSED and compared else ""
    return _SensitivityRow(variant.condition, variant.variant, variant.estimate, variant.interval, turns)


def _of_left_out(each: LeftOut) -> _SensitivityRow:
    return _SensitivityRow(
        each.condition,
        say("each-left-out", what=each.left_out),
        each.estimate,
        None if each.lowest is None or each.highest is None else (each.lowest, each.highest),
        say("turned-by", names=each.turned_by[:3]) if each.turns else "no",
    )


def _without_change(many: int) -> tuple[str, ...]:
    """Who is not even in the analysis of everybody."""
    if not many:
        return ()
    return (say("without-change", people=many),)


def _sentence(varied: Sensitivity) -> str:
    if not _is_compared(varied):
        return say("nobody-per-protocol")
    turned: dict[tuple[str, str], list[str]] = {}
    for variant in varied.variants:
        if variant.turns and _is_shown(variant, varied):
            turned.setdefault(("with", variant.variant), []).append(variant.condition)
    for each in varied.leave_one_out:
        if each.turns:
            turned.setdefault(("without", each.left_out), []).append(each.condition)
    if turned:
        parts = [
            say("turns-with", variant=what, names=names)
            if how == "with"
            else say("turns-without", what=what, names=names)
            for (how, what), names in turned.items()
        ]
        return say("turns", parts=parts)
    if varied.leave_one_out and all(each.lowest is None for each in varied.leave_one_out):
        return say("turns-nothing-claimed")
    return say("turns-none")


def quick_claims(
    rows: Responses, names: Sequence[str], control: str | None, items: Items, level: float
) -> dict[str, Claim]:
    """The primary estimates and their intervals only: no permutations, no families."""
    if rows.missing == len(rows.post):
        return {name: Claim() for name in names}
    parts = lay_out(rows).parts
    claimed: dict[str, Claim] = {}
    for name in names:
        try:
            place = rows.methods.index(name)
            estimated = (
                claims.change(parts, place, items)
                if control is None
                else claims.contrast(parts, place, rows.methods.index(control), items)
            )
        except (VeraxError, ValueError):  # nobody is left in the condition, or in the control
            claimed[name] = Claim()
            continue
        low, high = (None if np.isnan(end[0]) else float(end[0]) for end in estimated.interval(level))
        claimed[name] = Claim(float(estimated.estimate[0]), low, high)
    return claimed


def varied_changes(
    pairs: pd.DataFrame, intended: pd.DataFrame, effects: Effects, level: float
) -> Sensitivity:
    """The primary estimates in all variants, in points.

    Args:
        pairs: of those analysed per protocol.
        intended: of everybody who answered.
        effects: the primary analysis.
        level: coverage of the intervals.
    """
    names = list(effects.primary)

    def claim(rows: Responses) -> dict[str, Claim]:
        return quick_claims(rows, names, effects.control, effects.items, level)

    rows = as_responses(pairs)
    main = claim(rows)
    wider = {name: _widened(effect) for name, effect in effects.primary.items()}
    testable = {name: effect.enough for name, effect in effects.primary.items()}

    def turns(name: str) -> Callable[[Claim], bool]:
        return lambda other: testable[name] and other.sign(wider[name]) != main[name].sign(wider[name])

    variants = {
        AS_ANALYSED: main,
        EVERYBODY: claim(as_responses(intended)),
        WITHOUT_LATE: claim(_without(rows, pairs["late"].to_numpy(dtype=bool))),
    }
    stopped = intended["pre"].notna() & intended["post"].isna()
    if stopped.any():
        carried = intended.assign(post=intended["post"].fillna(intended["pre"]))
        variants["everybody, missing second answers as no change"] = claim(as_responses(carried))
    without = {
        what: {str(label): claim(_without(rows, codes == place)) for place, label in enumerate(labels)}
        for what, codes, labels in (
            ("item", rows.item, rows.items),
            ("participant", rows.participant, rows.participants),
        )
    }
    with_change = set(complete_pairs(intended)["participant"])
    return Sensitivity(
        late_answers=int(pairs["late"].sum()),
        turning=say_table("turning"),
        without_change=len(set(intended["participant"]) - with_change),
        variants=tuple(
            other.variant(variant, name, POINTS, turns=turns(name)(other))
            for variant, by_name in variants.items()
            for name, other in by_name.items()
        ),
        leave_one_out=tuple(
            left_out(
                what,
                name,
                main[name],
                {who: by_name[name] for who, by_name in each.items()} if testable[name] else {},
                POINTS,
                turns(name),
            )
            for what, each in without.items()
            for name in names
        ),
    )


def _without(rows: Responses, gone: NDArray[np.bool_]) -> Responses:
    """The responses with some of them missing."""
    return replace(rows, post=np.where(gone, np.nan, rows.post))


def _widened(effect: Crossed) -> float:
    """How much wider the interval is that holds together with the other conditions': conclusions are drawn from it."""
    ends = (effect.low, effect.high, effect.low_family, effect.high_family)
    if None in ends or effect.low == effect.high:
        return 1.0
    low, high, low_family, high_family = (end or 0.0 for end in ends)
    return (high_family - low_family) / (high - low)


# Beyond so many participants only those whose own difference is extreme are left out in turn.
MOST_LEFT_OUT = 60
AT_ONCE = 20  # studies that are estimated together


def varied_differences(
    answers: pd.DataFrame, intended: pd.DataFrame, reference: str, names: Sequence[str], unit: Unit
) -> Sensitivity:
    """The differences in all variants."""
    late = answers["late"].astype("boolean").fillna(False).to_numpy(dtype=bool)
    others = {EVERYBODY: intended, WITHOUT_LATE: answers[~late]}
    variants, each_out = [], []
    for name in names:
        main = _claim(answers, name, reference)

        def turns(other: Claim, main: Claim = main) -> bool:
            return other.sign() != main.sign()

        claims = {AS_ANALYSED: main} | {what: _claim(part, name, reference) for what, part in others.items()}
        variants += [claim.variant(what, name, unit, turns=turns(claim)) for what, claim in claims.items()]
        rows = _two(answers, name, reference)
        each_out += [
            left_out(what, name, main, {} if rows is None else _without_each(rows, what), unit, turns)
            for what in ("item", "participant")
        ]
    return Sensitivity(int(late.sum()), tuple(variants), tuple(each_out), unit=unit)


def only_intended(intended: pd.DataFrame, reference: str, names: Sequence[str], unit: Unit) -> Sensitivity:
    """The differences of everybody who answered, where nobody is analysed per protocol; nothing is compared."""
    claims = {name: _claim(intended, name, reference) for name in names}
    variants = tuple(claim.variant(EVERYBODY, name, unit, turns=False) for name, claim in claims.items())
    return Sensitivity(0, variants, unit=unit)


def _claim(answers: pd.DataFrame, name: str, reference: str) -> Claim:
    """Estimate and interval only."""
    rows = _two(answers, name, reference)
    return Claim() if rows is None else _claims(rows)[0]


def _two(answers: pd.DataFrame, name: str, reference: str) -> ConditionResponses | None:
    """The answers under two conditions, the reference second; None if one has none."""
    two = answers[answers["condition"].isin([name, reference])]
    if two["condition"].nunique() < 2:
        return None
    rows = as_met(two)
    if rows.conditions == (name, reference):
        return rows
    return replace(
        rows,
        conditions=(name, reference),
        condition=np.where(rows.condition == NOT_SHOWN, NOT_SHOWN, 1 - rows.condition),
    )


def _claims(rows: ConditionResponses) -> list[Claim]:
    """The difference of the two conditions in each study of a batch."""
    differences = difference_claims(rows, 0, 1)
    low, high = differences.interval()
    return [
        Claim(*(None if np.isnan(value) else float(value) for value in line))
        for line in zip(differences.estimate, low, high, strict=True)
    ]


def _without_each(rows: ConditionResponses, what: Literal["item", "participant"]) -> dict[str, Claim]:
    """The difference without each item, or each participant: of many, those who differ most either way."""
    names = rows.items if what == "item" else rows.participants
    places = np.arange(len(names))
    if what == "participant" and len(places) > MOST_LEFT_OUT:
        each = person_differences(rows, 0, 1)[0]
        ranked = np.argsort(each, kind="stable")[: int((~np.isnan(each)).sum())]
        places = np.unique(np.concatenate([ranked[: MOST_LEFT_OUT // 2], ranked[-MOST_LEFT_OUT // 2 :]]))
    claims: dict[str, Claim] = {}
    for start in range(0, len(places), AT_ONCE):
        some = places[start : start + AT_ONCE]
        value = np.repeat(rows.value, len(some), axis=0)
        for study, place in enumerate(some):
            gone = (slice(None), place) if what == "item" else (place, slice(None))
            value[(study, *gone)] = np.nan
        claims |= zip([str(names[place]) for place in some], _claims(replace(rows, value=value)), strict=True)
    return claims
