"""The primary analysis a second time, by the linear mixed model: two ways that should agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verax.stats.effect import Effect
from verax.stats.mixed.linear import linear_changes, linear_contrasts
from verax.studies.analysis.between.change_tables import disagreement
from verax.studies.analysis.between.effects import Effects, interval, points
from verax.studies.analysis.between.pairs import as_responses
from verax.studies.analysis.contract import Column, Table
from verax.text import listed

if TYPE_CHECKING:
    import pandas as pd


def mixed_effects(pairs: pd.DataFrame, found: Effects, level: float) -> dict[str, Effect]:
    """The claims of the primary analysis by the mixed model, by condition."""
    rows = as_responses(pairs)
    names = list(found.primary)
    if found.control is not None:
        fitted = linear_contrasts(rows, [(name, found.control) for name in names], level)
        return dict(zip(names, fitted, strict=True))
    by_method = dict(zip(rows.methods, linear_changes(rows, level), strict=True))
    return {name: by_method[name] for name in names}


def disagreements(found: Effects, mixed: dict[str, Effect]) -> dict[str, str]:
    """By condition, where the two ways do not agree."""
    said = {
        name: disagreement(one, mixed[name].estimate, mixed[name].p) for name, one in found.primary.items()
    }
    return {name: why for name, why in said.items() if why is not None}


def cross_check_table(found: Effects, mixed: dict[str, Effect]) -> Table:
    """Both estimates of the primary analysis side by side."""
    apart = disagreements(found, mixed)
    rows = tuple(
        {
            "condition": name,
            "crossed": points(one.estimate),
            "crossed_interval": interval(one.low, one.high),
            "crossed_p": one.p,
            "mixed": points(mixed[name].estimate),
            "mixed_interval": interval(mixed[name].low, mixed[name].high),
            "mixed_p": mixed[name].p,
        }
        for name, one in found.primary.items()
    )
    notes = tuple(dict.fromkeys(warning for one in mixed.values() for warning in one.warnings))
    about_items = (
        ("The mixed model speaks about items in general, the crossed estimator here about these items only.",)
        if found.items == "fixed"
        else ()
    )
    return Table(
        key="cross-check",
        title="The primary analysis by two estimators",
        columns=(
            Column("condition", "Condition", "text"),
            Column("crossed", "Crossed", "number", "points"),
            Column("crossed_interval", "95% interval", "interval", "points"),
            Column("crossed_p", "p", "p"),
            Column("mixed", "Linear mixed model", "number", "points"),
            Column("mixed_interval", "95% interval", "interval", "points"),
            Column("mixed_p", "p", "p"),
        ),
        rows=rows,
        sentence=_sentence(apart)
        if any(one.p is not None and mixed[name].p is not None for name, one in found.primary.items())
        else "One of the two estimators has no test: they cannot be compared.",
        notes=("P-values are of each line alone, without correction.", *about_items, *notes),
    )


def _sentence(apart: dict[str, str]) -> str:
    if not apart:
        return "The linear mixed model (REML, Satterthwaite) agrees with the primary analysis."
    parts = listed([f"{name} ({why})" for name, why in apart.items()])
    return f"The linear mixed model does not agree with the primary analysis on {parts}: be careful with such a claim."
