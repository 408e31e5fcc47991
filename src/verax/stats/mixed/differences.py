"""Mixed models of conditions compared within people: the cross-check of `verax.stats.crossed.within`.

score ~ condition + (1 | participant) + (1 | item) + (1 | participant:condition), linear by REML with Satterthwaite's
degrees of freedom, and for right and wrong answers the logistic model with (1 | participant) + (1 | item), whose
differences are also given in points: the mean over people and items, with the random effects integrated out.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.codec import Record
from verax.errors import VeraxError
from verax.stats.crossed.within import ConditionResponses
from verax.stats.estimate import Effect, effect
from verax.stats.logistic import mean_accuracy
from verax.stats.mixed.laplace import LogisticMixed, fit_logistic
from verax.stats.mixed.linear import Term, fit_linear, gradient
from verax.stats.responses import chosen_pairs, indicator

# The criterion decomposes a square matrix of so many rows hundreds of times: beyond, people's gains are left out.
MOST_LEVELS = 500
Pairs = Sequence[tuple[Hashable, Hashable]]


@dataclass(frozen=True)
class LogisticEffect(Record):
    """A difference of two conditions.

    Attributes:
        name: "first - second".
        points: Difference of accuracy over all people and items (0.08 is 8 points).
        log_odds: The same for one person on one item, in log-odds; exp of it is the odds ratio.
    """

    name: str
    points: Effect
    log_odds: Effect


def linear_differences(rows: ConditionResponses, pairs: Pairs, level: float = 0.95) -> tuple[Effect, ...]:
    """How much higher the first condition of each pair is than the second; p-values are not corrected."""
    person, item, code, value, names = _columns(rows, pairs)
    design = np.hstack([indicator(code, len(names)), _sessions(rows, person, item)])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise VeraxError("Conditions and sessions cannot be told apart: each was met in sessions of its own.")
    groups: list[IndexArray] = [person, item]
    own = person * len(names) + code
    small = sum(len(np.unique(group)) for group in (person, item, own)) <= MOST_LEVELS
    # With one answer per participant and condition their own gain is the residual.
    several = len(np.unique(own)) < len(own)
    if small and several:
        groups.append(own)
    _refuse_no_residual(value, design, person, item)
    fitted = fit_linear(value, design, groups)
    said = (
        ()
        if small or not several
        else ("The mixed model takes people's gains as equal: there are too many people for it.",)
    )
    return tuple(
        fitted.effect(
            f"{first} - {second}",
            np.append(_weights(names, first, second), np.zeros(design.shape[1] - len(names))),
            level,
            said,
        )
        for first, second in pairs
    )


def _sessions(rows: ConditionResponses, person: IndexArray, item: IndexArray) -> FloatArray:
    """A column for each session but the first; none where sessions are left out."""
    if rows.session is None or not rows.adjusted:
        return np.zeros((len(person), 0))
    places, code = np.unique(rows.session[person, item], return_inverse=True)
    return indicator(code, len(places))[:, 1:]


def _refuse_no_residual(value: FloatArray, design: FloatArray, person: IndexArray, item: IndexArray) -> None:
    """Where nothing is left beside people, items and conditions, the variances have no finite ratio."""
    dummies = [np.equal.outer(code, np.unique(code)).astype(np.float64) for code in (person, item)]
    columns = np.hstack([design, *dummies])
    best = np.linalg.lstsq(columns, value, rcond=None)[0]
    if ((value - columns @ best) ** 2).sum() <= 1e-10 * max(float((value**2).sum()), 1e-300):
        raise VeraxError(
            "The answers follow exactly from the participants, the items and the conditions: nothing varies by chance."
        )


def logistic_differences(
    rows: ConditionResponses, pairs: Pairs, level: float = 0.95
) -> tuple[LogisticEffect, ...]:
    """The same for right (1) and wrong (0) answers, in points over all people and items and in log-odds."""
    if rows.session is not None and rows.adjusted:
        raise VeraxError("It has no session term.")
    person, item, code, value, names = _columns(rows, pairs)
    for place, name in enumerate(names):
        share = value[code == place].mean()
        if share in (0.0, 1.0):
            raise VeraxError(
                f"All answers under {name} are {'right' if share else 'wrong'}: its odds are infinite."
            )
    design = indicator(code, len(names))
    ones = np.ones(len(value))
    fitted = fit_logistic(value, design, [Term(person, ones), Term(item, ones)])
    df = max(len(np.unique(person)) - len(names), 1)
    return tuple(_logistic(fitted, names, first, second, float(df), level) for first, second in pairs)


def _logistic(
    fitted: LogisticMixed, names: list[Hashable], first: Hashable, second: Hashable, df: float, level: float
) -> LogisticEffect:
    """One pair, in log-odds and in points (delta method)."""
    weights = np.append(_weights(names, first, second), np.zeros(len(fitted.sds)))
    point = np.append(fitted.coefficients, fitted.sds)
    a, b = names.index(first), names.index(second)

    def in_points(at: FloatArray) -> float:
        spread = float(np.sqrt((at[len(names) :] ** 2).sum()))
        return float(mean_accuracy(at[a], spread) - mean_accuracy(at[b], spread))

    slope = gradient(in_points, point, np.full(len(point), 1e-4))
    name = f"{first} - {second}"
    said = () if fitted.converged else ("The logistic mixed model did not converge.",)
    covariance = fitted.covariance
    return LogisticEffect(
        name,
        effect(name, in_points(point), float(np.sqrt(slope @ covariance @ slope)), df, level, said),
        effect(name, float(weights @ point), float(np.sqrt(weights @ covariance @ weights)), df, level, said),
    )


def _weights(names: list[Hashable], first: Hashable, second: Hashable) -> FloatArray:
    return np.array([float(name == first) - float(name == second) for name in names])


def _columns(
    rows: ConditionResponses, pairs: Pairs
) -> tuple[IndexArray, IndexArray, IndexArray, FloatArray, list[Hashable]]:
    """Participant, item, condition and score of each answer under the conditions that have some."""
    person, item = np.nonzero((rows.condition >= 0) & ~np.isnan(rows.value[0]))
    if not len(person):
        raise VeraxError("None of the answers has a score: there is nothing to estimate.")
    present, code = np.unique(rows.condition[person, item], return_inverse=True)
    names = [rows.conditions[place] for place in present]
    chosen_pairs(pairs, names, "answer under")
    return person, item, code, rows.value[0][person, item], names
