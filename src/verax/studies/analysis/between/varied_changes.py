"""Changes and contrasts once more: of everybody who answered, without late answers, without each item and person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from verax.errors import VeraxError
from verax.results.units import POINTS
from verax.stats.crossed import claims
from verax.stats.crossed.layout import lay_out
from verax.stats.responses import Responses
from verax.studies.analysis.between.effects import Effects
from verax.studies.analysis.between.pairs import as_responses, complete_pairs
from verax.studies.analysis.sensitivity import Claim, left_out
from verax.studies.results.summary import AS_ANALYSED, EVERYBODY, WITHOUT_LATE, Sensitivity

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.claims import Items
    from verax.stats.crossed.result import Crossed

TURNING = (
    "A conclusion turns where the simultaneous interval, which counts all conditions, excludes 0 in one analysis and "
    "not in the other; the intervals shown are of one line alone."
)


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
        turning=TURNING,
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
