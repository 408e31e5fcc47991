"""Responses laid out as participants x items, one table per stratum, and participants' own scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.stats.crossed.components import Components, Stratum, blocks_of, components
from verax.stats.responses import Responses


@dataclass(frozen=True, eq=False)
class Layout:
    """A study ready to be analysed; ``score``, ``method``, ``block`` and ``partial`` are of participants with a score.

    Attributes:
        rows: What it was made from.
        strata: Names of the strata that hold a score.
        parts: Its two components of variance.
        answered: (methods, strata): scores.
        score: Mean score (Post - Pre) of each participant who has any, averaged over strata.
        method: Place of each one's method among the study's.
        block: Strata that share participants are one block; blocks have different participants.
        partial: Whether a participant has no score in some stratum of the block.
        left_out: Participants of each method without a single score.
    """

    rows: Responses
    strata: tuple[str, ...]
    parts: Components
    answered: IndexArray
    score: FloatArray
    method: IndexArray
    block: IndexArray
    partial: NDArray[np.bool_]
    left_out: tuple[int, ...]


def lay_out(rows: Responses) -> Layout:
    """Lays out a study; refuses one without any score."""
    held = np.unique(rows.stratum[~np.isnan(rows.value)])
    if not len(held):
        raise VeraxError(
            f"None of the {len(rows.post)} responses has a score (Post, and Pre where it was asked): "
            "there is nothing to estimate."
        )
    strata = [_stratum(rows, number) for number in held]
    method = rows.method_of
    parts = components(strata, method, len(rows.methods))
    blocks = blocks_of(strata)
    block, attendance = np.zeros((2, len(method)), dtype=np.intp)
    answered = np.zeros((len(rows.methods), len(strata)), dtype=np.intp)
    for number, stratum in enumerate(strata):
        there = ~np.isnan(stratum.values[0])
        block[stratum.participant] = blocks[number]
        attendance[stratum.participant] += there.any(axis=1)
        np.add.at(answered[:, number], method[stratum.participant], there.sum(axis=1))
    some = attendance > 0
    return Layout(
        rows=rows,
        strata=tuple(str(rows.strata[number]) for number in held),
        parts=parts,
        answered=answered,
        score=parts.score[0][some],
        method=method[some],
        block=block[some],
        partial=(attendance < np.bincount(blocks)[block])[some],
        left_out=tuple(np.bincount(method[~some], minlength=len(rows.methods)).tolist()),
    )


def _stratum(rows: Responses, number: int) -> Stratum:
    """One stratum as a table; an item nobody has a score for is no item."""
    here = rows.stratum == number
    value = rows.value[here]
    people, row = np.unique(rows.participant[here], return_inverse=True)
    known = ~np.isnan(value)
    names, column = np.unique(rows.item[here][known], return_inverse=True)
    values = np.full((1, len(people), len(names)), np.nan)
    values[0, row[known], column] = value[known]
    return Stratum(people, values)
