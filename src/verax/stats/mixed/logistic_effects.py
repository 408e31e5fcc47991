"""What the logistic mixed model says about methods: Change in points over all people and items, and in log-odds.

right ~ method + after:method + (1 + after || participant) + (1 + after || item). A coefficient is about one person on
one item; the points are its mean over people and items (the random effects are integrated out), which is what a study's
accuracy estimates. Both with t and as many degrees of freedom as participants less methods. A cross-check: some hundred
times slower than `crossed`, with about the same power.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.errors import VeraxError
from verax.stats.columns import listed
from verax.stats.effect import Effect, effect
from verax.stats.mixed.derivatives import gradient
from verax.stats.mixed.laplace import LogisticMixed, Term, fit_logistic
from verax.stats.power.simulation import mean_accuracy
from verax.stats.responses import Responses


@dataclass(frozen=True)
class LogisticEffect:
    """One method, or a difference of two.

    Attributes:
        name: The method, or "first - second".
        points: Change of accuracy over all people and items (0.08 is 8 points); accuracy itself where each item was
            answered once.
        log_odds: The same for one person on one item, in log-odds; exp of it is the odds ratio.
    """

    name: str
    points: Effect
    log_odds: Effect

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"name": self.name, "points": self.points.to_dict(), "log_odds": self.log_odds.to_dict()}


def logistic_changes(rows: Responses, level: float = 0.95) -> tuple[LogisticEffect, ...]:
    """The Change of each method. One that was all right or all wrong in a phase has no estimate, and says so.

    Over strata, the mean of the strata's values. P-values are not corrected.
    """
    model = _fit(rows)
    return tuple(_effect(model, str(name), {m: 1.0}, level) for m, name in enumerate(rows.methods))


def logistic_contrasts(
    rows: Responses, pairs: Sequence[tuple[Hashable, Hashable]] | None = None, level: float = 0.95
) -> tuple[LogisticEffect, ...]:
    """How much higher the first method of each pair is than the second; None is all pairs."""
    chosen = list(combinations(rows.methods, 2)) if pairs is None else list(pairs)
    for name in {name for pair in chosen for name in pair}:
        if name not in rows.methods:
            raise VeraxError(f"There is no method {name}: it must be one of {listed(rows.methods)}.")
    model = _fit(rows)
    return tuple(
        _effect(model, f"{a} - {b}", {rows.methods.index(a): 1.0, rows.methods.index(b): -1.0}, level)
        for a, b in chosen
    )


@dataclass(frozen=True, eq=False)
class _Model:
    """The fitted model with its cells (stratum, method), in the order of the coefficients, Pre before Post."""

    fitted: LogisticMixed
    cells: list[tuple[int, int]]
    phases: int
    df: float
    without: dict[int, str]


def _fit(rows: Responses) -> _Model:
    """Fits the model to all answers, Pre and Post, of the methods that can be estimated."""
    phases = [rows.post] if rows.pre is None else [rows.pre, rows.post]
    correct = np.concatenate(phases)
    after = np.repeat(np.arange(len(phases), dtype=np.float64), len(rows.post))
    cell, participant, item = (
        np.tile(codes, len(phases))
        for codes in (
            rows.stratum * len(rows.methods) + rows.method,
            rows.participant,
            rows.stratum * len(rows.items) + rows.item,
        )
    )
    without = _without(rows, correct, cell, after)
    kept = ~np.isnan(correct) & ~np.isin(cell % len(rows.methods), list(without))
    if not kept.any():
        raise VeraxError("No method has both right and wrong answers: the logistic model cannot be fitted.")
    names, column = np.unique(cell[kept], return_inverse=True)
    dummies = np.equal.outer(column, np.arange(len(names))).astype(np.float64)
    ones, later = np.ones(int(kept.sum())), after[kept]
    design = dummies if len(phases) == 1 else np.hstack([dummies, dummies * later[:, None]])
    covariates = [ones] if len(phases) == 1 else [ones, later]
    terms = [Term(group[kept], covariate) for group in (participant, item) for covariate in covariates]
    fitted = fit_logistic(correct[kept], design, terms)
    people = len(np.unique(participant[kept]))
    cells = [divmod(int(name), len(rows.methods)) for name in names]
    return _Model(fitted, cells, len(phases), float(max(people - len(names), 1)), without)


def _without(rows: Responses, correct: FloatArray, cell: IndexArray, after: FloatArray) -> dict[int, str]:
    """Methods whose log-odds would be infinite, and why."""
    found: dict[int, str] = {}
    for method, name in enumerate(rows.methods):
        for phase in np.unique(after):
            for stratum in range(len(rows.strata)):
                here = (cell == stratum * len(rows.methods) + method) & (after == phase)
                known = correct[here][~np.isnan(correct[here])]
                when = "" if rows.pre is None else f" {'after' if phase else 'before'} explanations"
                if here.any() and len(known) == 0:
                    found[method] = f"There is no answer of {name}{when}."
                elif here.any() and known.min() == known.max():
                    alike = f"The {len(known)} answers of {name}{when} are all alike"
                    found[method] = f"{alike}: its log-odds cannot be estimated."
    return found


def _effect(model: _Model, name: str, methods: dict[int, float], level: float) -> LogisticEffect:
    """A weighted sum of methods, in points and log-odds."""
    missing = tuple(model.without[m] for m in methods if m in model.without)
    if missing:
        nothing = effect(name, None, None, None, level, missing)
        return LogisticEffect(name, nothing, nothing)
    weights = np.zeros(len(model.cells))
    for method, weight in methods.items():
        own = np.array([cell[1] == method for cell in model.cells])
        weights += weight * own / own.sum()
    said = _about_fit(model.fitted)

    def quantity(function: Callable[[FloatArray], float]) -> Effect:
        point = np.concatenate([model.fitted.coefficients, model.fitted.sds])
        slope = gradient(function, point, np.full(len(point), 1e-4))
        se = float(np.sqrt(slope @ model.fitted.covariance @ slope))
        return effect(name, function(point), se, model.df, level, said)

    return LogisticEffect(
        name,
        quantity(lambda point: float(weights @ _points(point, len(weights), model.phases))),
        quantity(lambda point: float(weights @ point[: model.phases * len(weights)][-len(weights) :])),
    )


def _points(point: FloatArray, n_cells: int, phases: int) -> FloatArray:
    """Change (or accuracy) of each cell over all people and items."""
    coefficients, sds = point[: n_cells * phases], point[n_cells * phases :]
    if phases == 1:
        return mean_accuracy(coefficients, np.full(n_cells, np.sqrt((sds**2).sum())))
    before = np.sqrt(sds[0] ** 2 + sds[2] ** 2)
    after = np.sqrt((sds**2).sum())
    gained = mean_accuracy(coefficients[:n_cells] + coefficients[n_cells:], np.full(n_cells, after))
    return gained - mean_accuracy(coefficients[:n_cells], np.full(n_cells, before))


def _about_fit(fitted: LogisticMixed) -> tuple[str, ...]:
    """What must be said about the fit."""
    said = []
    if not fitted.converged:
        said.append("The logistic mixed model did not converge: do not rely on it.")
    if (fitted.sds == 0).any():
        said.append(
            f"{int((fitted.sds == 0).sum())} of {len(fitted.sds)} variances are estimated as 0 (a singular fit)."
        )
    return tuple(said)
