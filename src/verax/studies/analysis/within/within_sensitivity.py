"""Whether differences within people hang on one item, one participant, on who is counted, or on late answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.stats.crossed.within import NOT_SHOWN, Met, difference_claims, person_differences
from verax.studies.analysis.within.conditions import Scale, as_met

if TYPE_CHECKING:
    import pandas as pd

# Beyond so many participants only those whose own difference is extreme are left out in turn.
MOST_LEFT_OUT = 60
AT_ONCE = 20  # studies that are estimated together
EVERYBODY = "everybody who answered (intention to treat)"


def within_sensitivity(
    answers: pd.DataFrame, intended: pd.DataFrame, reference: str, names: Sequence[str], scale: Scale
) -> dict[str, Any]:
    """The differences in all variants; the form is that of `verax.studies.analysis.between.sensitivity`."""
    late = answers["late"].astype("boolean").fillna(False).to_numpy(dtype=bool)
    variants = {
        "as analysed": answers,
        EVERYBODY: intended,
        "late answers left out": answers[~late],
    }
    lines, left_out = [], []
    for name in names:
        main = _claim(answers, name, reference)
        for variant, part in variants.items():
            one = main if part is answers else _claim(part, name, reference)
            lines.append(
                {
                    "variant": variant,
                    "condition": name,
                    "estimate": scale.of(one[0]),
                    "interval": scale.interval(one[1], one[2]),
                    "turns": _sign(one) != _sign(main),
                }
            )
        for column in ("item", "participant"):
            left_out.append(_leave_out(answers, column, name, reference, main, scale))
    return {"late_answers": int(late.sum()), "variants": lines, "leave_one_out": left_out}


def only_intended(
    intended: pd.DataFrame, reference: str, names: Sequence[str], scale: Scale
) -> dict[str, Any]:
    """The differences of everybody who answered, where nobody is analysed per protocol; nothing is compared."""
    lines = []
    for name in names:
        estimate, low, high = _claim(intended, name, reference)
        lines.append(
            {
                "variant": EVERYBODY,
                "condition": name,
                "estimate": scale.of(estimate),
                "interval": scale.interval(low, high),
                "turns": False,
            }
        )
    return {"late_answers": 0, "variants": lines, "leave_one_out": [], "unit": scale.unit}


_Claim = tuple[float | None, float | None, float | None]


def _claim(answers: pd.DataFrame, name: str, reference: str) -> _Claim:
    """Estimate and interval only."""
    rows = _two(answers, name, reference)
    return (None, None, None) if rows is None else _claims(rows)[0]


def _two(answers: pd.DataFrame, name: str, reference: str) -> Met | None:
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


def _claims(rows: Met) -> list[_Claim]:
    """The difference of the two conditions in each study of a batch."""
    found = difference_claims(rows, 0, 1)
    low, high = found.interval()
    known = [
        [None if np.isnan(value) else float(value) for value in line]
        for line in zip(found.estimate, low, high, strict=True)
    ]
    return [(line[0], line[1], line[2]) for line in known]


def _sign(claim: _Claim) -> int:
    _, low, high = claim
    return 0 if low is None or high is None else int(low > 0) - int(high < 0)


def _leave_out(
    answers: pd.DataFrame, column: str, name: str, reference: str, main: _Claim, scale: Scale
) -> dict[str, Any]:
    """The lowest and highest estimate without one item or participant, and who turns the verdict."""
    rows = _two(answers, name, reference)
    found = {} if rows is None else _without_each(rows, column)
    known = {who: one for who, one in found.items() if one[0] is not None}
    estimates = [scale.factor * (one[0] or 0.0) for one in known.values()]
    turned = [str(who) for who, one in known.items() if _sign(one) != _sign(main)]
    return {
        "left_out": column,
        "condition": name,
        "estimate": scale.of(main[0]),
        "lowest": min(estimates, default=None),
        "highest": max(estimates, default=None),
        "tried": len(known),
        "turns": bool(turned),
        "turned_by": turned[:10],
    }


def _without_each(rows: Met, column: str) -> dict[Any, _Claim]:
    """The difference without each item, or each participant: of many, those who differ most either way."""
    names = rows.items if column == "item" else rows.participants
    places = np.arange(len(names))
    if column == "participant" and len(places) > MOST_LEFT_OUT:
        each = person_differences(rows, 0, 1)[0]
        ranked = np.argsort(each, kind="stable")[: int((~np.isnan(each)).sum())]
        places = np.unique(np.concatenate([ranked[: MOST_LEFT_OUT // 2], ranked[-MOST_LEFT_OUT // 2 :]]))
    found: dict[Any, _Claim] = {}
    for start in range(0, len(places), AT_ONCE):
        some = places[start : start + AT_ONCE]
        value = np.repeat(rows.value, len(some), axis=0)
        for study, place in enumerate(some):
            gone = (slice(None), place) if column == "item" else (place, slice(None))
            value[(study, *gone)] = np.nan
        found |= zip([names[place] for place in some], _claims(replace(rows, value=value)), strict=True)
    return found
