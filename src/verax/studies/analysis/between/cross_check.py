"""The primary analysis a second time, by the linear mixed model: two ways that should agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.results.tables import Sources, Table, build_table, interval, number, p_value, text
from verax.results.units import POINTS, Ends
from verax.stats.crossed.result import Crossed
from verax.stats.effect import Effect
from verax.stats.mixed.linear import linear_changes, linear_contrasts
from verax.studies.analysis.between.change_tables import disagreement
from verax.studies.analysis.between.effects import Effects
from verax.studies.analysis.between.pairs import as_responses
from verax.text import listed

if TYPE_CHECKING:
    import pandas as pd

EQUAL_VARIANCES = (
    "The mixed model supposes that people of all conditions vary alike; the crossed estimator gives every condition "
    "its own variance. That the two agree is no reassurance where variances differ."
)


def mixed_effects(pairs: pd.DataFrame, effects: Effects, level: float) -> dict[str, Effect]:
    """The claims of the primary analysis by the mixed model, by condition."""
    rows = as_responses(pairs)
    names = list(effects.primary)
    if effects.control is not None:
        fitted = linear_contrasts(rows, [(name, effects.control) for name in names], level)
        return dict(zip(names, fitted, strict=True))
    by_method = dict(zip(rows.methods, linear_changes(rows, level), strict=True))
    return {name: by_method[name] for name in names}


def disagreements(effects: Effects, mixed: dict[str, Effect]) -> dict[str, str]:
    """By condition, where the two ways do not agree."""
    said = {
        name: disagreement(claim, mixed[name].estimate, mixed[name].p)
        for name, claim in effects.primary.items()
    }
    return {name: why for name, why in said.items() if why is not None}


@dataclass(frozen=True)
class _Line:
    condition: str
    crossed: Crossed
    mixed: Effect


def cross_check_table(effects: Effects, mixed: dict[str, Effect]) -> Table:
    """Both estimates of the primary analysis side by side."""
    lines = [_Line(name, claim, mixed[name]) for name, claim in effects.primary.items()]
    about_items = (
        ("The mixed model speaks about items in general, the crossed estimator here about these items only.",)
        if effects.items == "fixed"
        else ()
    )
    sources: Sources[_Line] = (
        text("condition", "Condition", lambda line: line.condition),
        number("crossed", "Crossed", lambda line: POINTS.of(line.crossed.estimate), POINTS),
        interval("crossed_interval", "95% interval", lambda line: _ends(line.crossed), POINTS),
        p_value("crossed_p", "p", lambda line: line.crossed.p),
        number("mixed", "Linear mixed model", lambda line: POINTS.of(line.mixed.estimate), POINTS),
        interval("mixed_interval", "95% interval", lambda line: _ends(line.mixed), POINTS),
        p_value("mixed_p", "p", lambda line: line.mixed.p),
    )
    return build_table(
        "cross-check",
        "The primary analysis by two estimators",
        lines,
        sources,
        _sentence(disagreements(effects, mixed))
        if any(line.crossed.p is not None and line.mixed.p is not None for line in lines)
        else "One of the two estimators has no test: they cannot be compared.",
        [
            "P-values are of each line alone, without correction.",
            EQUAL_VARIANCES,
            *about_items,
            *dict.fromkeys(warning for effect in mixed.values() for warning in effect.warnings),
        ],
    )


def _ends(effect: Crossed | Effect) -> Ends:
    return POINTS.interval(effect.low, effect.high)


def _sentence(apart: dict[str, str]) -> str:
    if not apart:
        return "The linear mixed model (REML, Satterthwaite) agrees with the primary analysis."
    parts = listed([f"{name} ({why})" for name, why in apart.items()])
    return f"The linear mixed model does not agree with the primary analysis on {parts}: be careful with such a claim."
