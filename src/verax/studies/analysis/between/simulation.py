"""Forward and counterfactual simulation: what explanations add to people's accuracy, and what their ratings tell.

Hase and Bansal (2020), section 5. Both protocols ask the same items before and after explanations, so they share one
analysis; ratings stand beside the scored answer in the counterfactual test only.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from verax.results.tables import Table
from verax.results.units import POINTS
from verax.stats.hase2020 import NOTE
from verax.studies.analysis.between import change_figures, rating_tables, rating_value
from verax.studies.analysis.between.change_tables import change_table, contrast_table, pairs_table
from verax.studies.analysis.between.cross_check import cross_check_table, disagreements, mixed_effects
from verax.studies.analysis.between.effects import (
    Effects,
    effect_problems,
    effects,
    pair_contrasts,
    primary_changes,
)
from verax.studies.analysis.between.hase2020_ratings import published_ratings, published_sides
from verax.studies.analysis.between.hase2020_tables import (
    PublishedChange,
    published_change,
    published_table,
    regression_table,
)
from verax.studies.analysis.between.pairs import (
    answers_as_published,
    claimed_items,
    complete_pairs,
    paired,
    ratings,
    ratings_as_published,
)
from verax.studies.analysis.between.pooled_simulation import pooled_simulation
from verax.studies.analysis.between.single_items import item_results
from verax.studies.analysis.between.varied_changes import varied_changes
from verax.studies.analysis.collector import Gathered
from verax.studies.analysis.equivalence import planned_equivalence
from verax.studies.analysis.plan import Plan
from verax.studies.analysis.primary import court_lines, primary_figure
from verax.studies.analysis.sensitivity import sensitivity_table
from verax.studies.protocol.findings import Analysed, Findings, ProtocolAnalysis
from verax.studies.results.options import Options
from verax.text import listed

if TYPE_CHECKING:
    import pandas as pd

# What the items of a protocol are balanced over: their sorts are strata of the analysis.
BALANCED_OVER = {"counterfactual": "flips"}

KEYS = (
    "change",
    "contrast",
    "pairs",
    "cross-check",
    "change-hase2020",
    "equivalence",
    "ratings",
    "ratings-by-correctness",
    "ratings-hase2020",
    "ratings-by-correctness-hase2020",
    "rating-and-correctness",
    "rating-and-change",
    "regression-to-mean",
    "sensitivity",
)


def simulation(data: Analysed, options: Options) -> Findings:
    """The analysis of both simulation protocols."""
    balanced = BALANCED_OVER.get(data.study.spec.protocol["name"])
    pairs, intended = (paired(rows, data.scored, balanced) for rows in (data.responses, data.intended))
    rated = ratings(data.responses)
    gathered = Gathered()
    if not len(complete_pairs(pairs)):
        return _only_intended(data, intended, options)
    found = effects(pairs, data.conditions, claimed_items(complete_pairs(pairs)), options.level)
    primary = primary_changes(found, data.conditions)
    gathered.problems += effect_problems(found, data.conditions)
    _about_change(gathered, data, pairs, found, options)
    gathered.figures.insert(0, primary_figure(primary, "nothing changed"))
    _about_ratings(gathered, data, pairs, rated, found, options)
    varied = varied_changes(pairs, intended, found, options.level)
    gathered.tables.append(sensitivity_table(varied))
    findings = gathered.findings(primary, court_lines(primary, data.conditions), varied)
    return replace(findings, items=item_results(data))


def _only_intended(data: Analysed, intended: pd.DataFrame, options: Options) -> Findings:
    """Nobody is left per protocol: the primary estimates of everybody who answered, under sensitivity only."""
    why = (
        (
            "Nobody who is analysed answered an item both before and after explanations: there is no primary analysis.",
        )
        if len(data.participants)
        else ()
    )
    if not len(complete_pairs(intended)):
        return Findings(problems=why)
    gathered = Gathered()
    if options.estimator != "crossed":
        _published(gathered, data, options)
    found = effects(intended, data.conditions, claimed_items(complete_pairs(intended)), options.level)
    varied = varied_changes(intended, intended, found, options.level)
    kept = tuple(variant for variant in varied.variants if variant.variant.startswith("everybody"))
    shown = replace(varied, variants=kept, leave_one_out=())
    return Findings(
        tables=(*gathered.tables, sensitivity_table(shown)),
        estimators=gathered.estimators,
        sensitivity=shown,
        problems=(*why, *effect_problems(found, data.conditions), *gathered.problems),
        items=item_results(data),
    )


def _where(data: Analysed) -> str:
    domain = {"text": "text", "table": "tabular"}.get(data.study.kind, data.study.kind)
    return f"{domain} data, {data.study.spec.protocol['name']} simulation"


def _about_change(
    gathered: Gathered, data: Analysed, pairs: pd.DataFrame, found: Effects, options: Options
) -> None:
    """Accuracy before and after: the crossed estimator, its cross-check, and the published procedure."""
    plan = data.study.spec.analysis
    gathered.estimators["crossed"] = {
        "unit": "share of answers",
        "items": found.items,
        "changes": [change.to_dict() for change in found.changes.values()],
        "contrasts": [contrast.to_dict() for contrast in found.against.values()],
    }
    if found.control is not None:
        gathered.tables.append(contrast_table(found))
    if options.estimator != "hase2020":
        items = sum(item.role == "test" for item in data.study.items.values())
        gathered.tables.append(change_table(pairs, found, _where(data), items * len(data.participants)))
    against = "between the rounds" if found.control is None else f"from {found.control}"
    planned_equivalence(gathered, plan, found.primary, POINTS, against)
    gathered.add("Conditions compared with each other", lambda: _pairs(pairs, found, plan, options))
    if options.estimator != "hase2020":
        _cross_check(gathered, pairs, found, options)
    published = _published(gathered, data, options) if options.estimator != "crossed" else None
    gathered.figures += [
        change_figures.change_figure(found, None if published is None else published.change),
        change_figures.accuracy_figure(pairs, found),
    ]
    test = data.study.spec.protocol["name"]
    gathered.add("Regression to the mean", lambda: regression_table(pairs, test))


def _cross_check(gathered: Gathered, pairs: pd.DataFrame, found: Effects, options: Options) -> None:
    """The mixed model beside the primary analysis; that they do not agree is a problem."""
    mixed = gathered.tried("The linear mixed model", lambda: mixed_effects(pairs, found, options.level))
    if mixed is None:
        return
    gathered.tables.append(cross_check_table(found, mixed))
    gathered.estimators["linear_mixed"] = {
        "unit": "share of answers",
        "primary": [effect.to_dict() for effect in mixed.values()],
    }
    apart = disagreements(found, mixed)
    if apart:
        parts = listed([f"{name} ({why})" for name, why in apart.items()])
        gathered.problems.append(
            f"The linear mixed model does not agree with the primary analysis on {parts}."
        )


def _pairs(pairs: pd.DataFrame, found: Effects, plan: Plan, options: Options) -> Table | None:
    """All pairs of conditions that are not compared with the control already; None if there is none."""
    names = [name for name in found.changes if name != found.control]
    every = [_as_planned(pair, plan) for pair in combinations(names, 2)]
    planned = [pair for pair in every if f"{pair[0]}-vs-{pair[1]}" in plan]
    others = [pair for pair in every if pair not in planned]
    families = [pair_contrasts(pairs, family, found.items, options.level) for family in (planned, others)]
    return pairs_table({**families[0], **families[1]}, len(planned)) if every else None


def _as_planned(pair: tuple[str, str], plan: Plan) -> tuple[str, str]:
    """The pair in the order in which the plan names it, if it does."""
    first, second = pair
    return (second, first) if f"{second}-vs-{first}" in plan else pair


def _published(gathered: Gathered, data: Analysed, options: Options) -> PublishedChange | None:
    """The published procedure on the answers that it counts, labelled as a reproduction."""
    pairs = paired(answers_as_published(data), data.scored)
    found = gathered.tried("Change as published (hase2020)", lambda: published_change(pairs, options))
    if found is None:
        return None
    order = tuple(condition.name for condition in data.conditions)
    title = f"Change of accuracy as Hase and Bansal (2020) computed it, {_where(data)}"
    gathered.tables.append(published_table("change-hase2020", title, {"": found}, order))
    gathered.estimators["hase2020"] = {
        "label": "a reproduction of the published procedure",
        "note": NOTE,
        "unit": "share of answers",
        "change": found.change.to_dict(),
        "user_average": found.average.to_dict(),
    }
    return found


def _about_ratings(
    gathered: Gathered,
    data: Analysed,
    pairs: pd.DataFrame,
    rated: pd.DataFrame,
    found: Effects,
    options: Options,
) -> None:
    """Ratings, if there are any; whether they tell anything."""
    if not len(rated):
        if data.methods and any(name in found.changes for name in data.methods):
            gathered.problems.append(
                "There is no rating of an explanation: the tables of ratings are left out."
            )
        return
    scale = data.study.spec.rating.points
    gathered.add(
        "Ratings",
        lambda: rating_tables.ratings_table(rated, data.methods, claimed_items(rated), options.level),
    )
    gathered.add(
        "Ratings by the model's correctness",
        lambda: rating_tables.correctness_table(rated, claimed_items(rated)),
    )
    published = None if options.estimator == "crossed" else ratings_as_published(data)
    if published is not None and published["condition"].isin(data.explained_methods).any():
        _published_ratings(gathered, published, data.explained_methods, options)
    gathered.figures.append(change_figures.ratings_figure(rated, data.methods, scale))
    if rated["score"].notna().any():
        both = gathered.tried(
            "Rating against correctness",
            lambda: rating_value.rating_table(rated, _of_methods(published, data), scale, options),
        )
        if both is not None:
            gathered.tables.append(both[0])
            gathered.figures.append(rating_value.rating_curve(both[1]))
    gathered.add("Rating against Change", lambda: rating_value.person_table(rated, pairs))


def _of_methods(rated: pd.DataFrame | None, data: Analysed) -> pd.DataFrame | None:
    """Without the ratings of a random control."""
    return None if rated is None else rated[rated["condition"].isin(data.explained_methods)]


def _published_ratings(
    gathered: Gathered, rated: pd.DataFrame, methods: tuple[str, ...], options: Options
) -> None:
    """The paper's Tables 3 and 5 of one study."""
    as_they = "as Hase and Bansal (2020) counted them"
    gathered.add(
        "Ratings as published",
        lambda: published_ratings(
            "ratings-hase2020", f"Ratings of the explanations {as_they}", {"": rated}, methods, options
        ),
    )
    gathered.add(
        "Ratings by the model's correctness as published",
        lambda: published_sides(
            "ratings-by-correctness-hase2020",
            f"Ratings by whether the model was right {as_they}",
            {"": rated},
            methods,
            options,
        ),
    )


SIMULATION = ProtocolAnalysis(simulation, KEYS, pooled_simulation)
