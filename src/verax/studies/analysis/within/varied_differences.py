"""Differences once more: of everybody who answered, without late answers, without each item and person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from verax.results.units import Unit
from verax.stats.crossed.within import NOT_SHOWN, Met, difference_claims, person_differences
from verax.studies.analysis.sensitivity import Claim, left_out
from verax.studies.analysis.within.conditions import as_met
from verax.studies.results.summary import AS_ANALYSED, EVERYBODY, WITHOUT_LATE, Sensitivity

if TYPE_CHECKING:
    import pandas as pd

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


def _claims(rows: Met) -> list[Claim]:
    """The difference of the two conditions in each study of a batch."""
    differences = difference_claims(rows, 0, 1)
    low, high = differences.interval()
    return [
        Claim(*(None if np.isnan(value) else float(value) for value in line))
        for line in zip(differences.estimate, low, high, strict=True)
    ]


def _without_each(rows: Met, what: Literal["item", "participant"]) -> dict[str, Claim]:
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
