"""Forward and counterfactual simulation: what explanations add to people's accuracy, and what ratings tell.

Hase and Bansal (2020), section 5. Both protocols ask the same items before and after explanations, so they share one
analysis; ratings stand beside the scored answer in the counterfactual test only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

from verax.phrases import say as say_phrase
from verax.results.tables import Table
from verax.results.units import POINTS
from verax.stats.hase2020 import NOTE
from verax.studies.analysis.between.change_tables import (
    accuracy_figure,
    change_figure,
    change_table,
    contrast_table,
    cross_check_table,
    disagreements,
    mixed_effects,
    pairs_table,
    ratings_figure,
)
from verax.studies.analysis.between.effects import (
    POST,
    PRE,
    Effects,
    answers_as_published,
    claimed_items,
    complete_pairs,
    counted_answers,
    effect_problems,
    effects,
    normalised_table,
    pair_contrasts,
    paired,
    primary_changes,
    ratings,
    ratings_as_published,
)
from verax.studies.analysis.between.hase2020 import (
    PAPER,
    PublishedChange,
    published_change,
    published_ratings,
    published_sides,
    published_table,
    regression_table,
)
from verax.studies.analysis.between.pooled_simulation import pooled_simulation
from verax.studies.analysis.between.ratings import (
    correctness_table,
    person_table,
    rating_curve,
    rating_table,
    ratings_table,
)
from verax.studies.analysis.plan import Plan, planned_equivalence
from verax.studies.analysis.primary import FindingsCollector, method_lines, primary_figure
from verax.studies.analysis.sensitivity import sensitivity_table, varied_changes
from verax.studies.definition.languages import in_language
from verax.studies.definition.screen import (
    Bars,
    Block,
    Evidence,
    Passage,
    Quote,
    Row,
    WordedExplanation,
    with_names,
)
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import Analysed, Findings, ProtocolAnalysis, make_protocol
from verax.studies.results.study_facts import ItemCounts, ItemResult
from verax.studies.results.study_summary import Options
from verax.text import always_signed

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.definition.study import Item, Study


say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")


def item_results(data: Analysed) -> tuple[ItemResult, ...]:
    """Every item that somebody answered both times, also of people who left early, in the order of the study."""
    both = complete_pairs(paired(answers_as_published(data), data.scored))
    counted = both.groupby(["item", "condition"])[[PRE, POST]].agg(["sum", "count"])
    shown = _shown(data.study)
    changes = make_protocol(data.study.spec.protocol).asks_about_changes
    found = []
    for name, item in data.study.items.items():
        counts = tuple(
            ItemCounts(
                condition.name,
                people=int(counted.loc[(name, condition.name), (POST, "count")]),
                before=int(counted.loc[(name, condition.name), (PRE, "sum")]),
                after=int(counted.loc[(name, condition.name), (POST, "sum")]),
                explanation=shown.get((name, condition.name), ""),
            )
            for condition in data.conditions
            if (name, condition.name) in counted.index
        )
        if counts:
            found.append(_result(data.study, item, counts, changes=changes))
    return tuple(found)


def _result(study: Study, item: Item, counts: tuple[ItemCounts, ...], *, changes: bool) -> ItemResult:
    names = study.class_names
    # Imported items of a forward test may have a changed version, which nobody is asked about there.
    variant = item.variant if changes else None
    asked = item.prediction if variant is None else variant.prediction
    return ItemResult(
        item=item.id,
        input=_written(item.input),
        label=names[item.label],
        prediction=names[item.prediction],
        changed="" if variant is None else _written(variant.input),
        right=names[asked],
        counts=counts,
    )


def _written(given: str | Sequence[tuple[str, str]]) -> str:
    return given if isinstance(given, str) else "; ".join(f"{column}: {value}" for column, value in given)


def _shown(study: Study) -> dict[tuple[str, str], str]:
    """By item and condition: the explanation on the page of the second time; every row of the design shows its own."""
    found = {}
    for row in study.rows:
        for step in participant_steps(study, row, 1):
            if step.phase == POST and step.item is not None and step.condition is not None:
                screen = study.screens.get(step.screen)  # a study simulated for planning has none
                if screen is not None:
                    found[step.item, step.condition] = explanation_in_words(screen.blocks, study.class_names)
    return found


def explanation_in_words(blocks: Sequence[Block], names: Sequence[str]) -> str:
    """What a page shows beside an input: numbers, words, fragments; where there are none, what is highlighted."""
    said = [
        words for block in blocks if (words := with_names(_in_words(block), names)) and not _is_input(block)
    ]
    marked = [words for block in blocks if _is_input(block) and (words := _marks(block))]
    return "; ".join(said or marked)


def _is_input(block: Block) -> bool:
    return isinstance(block, Passage | Row)


def _in_words(block: Block) -> str:
    match block:
        case Bars():
            return ", ".join(f"{name} {always_signed(value)}" for name, value in block.pairs)
        case Quote():
            return block.text
        case WordedExplanation():
            return block.plain(" | ")
        case Evidence():
            fragments = " | ".join(block.fragments) or "none"
            return f"{block.title}: {fragments}" if block.title else fragments
        case _:
            return ""


def _marks(block: Block) -> str:
    """The highlighted pieces, strongest first, with + or - where the direction shows."""
    pieces: list[tuple[int, int, str]] = []
    if isinstance(block, Passage):
        pieces = [(token.level, token.sign, token.text.strip()) for token in block.tokens if token.level]
    elif isinstance(block, Row):
        pieces = [
            (cell.level, cell.sign, f"{cell.column}: {cell.value}") for cell in block.cells if cell.level
        ]
    ranked = sorted(pieces, key=lambda piece: -piece[0])
    signs = {1: "+", -1: "\N{MINUS SIGN}", 0: ""}
    said = dict.fromkeys(f"{text} ({signs[sign]}{level})" for level, sign, text in ranked)
    return say_table("highlighted", pieces=", ".join(said)) if said else ""


# What the items of a protocol are balanced over: their sorts are strata of the analysis.
BALANCED_OVER = {"counterfactual": "flips"}

KEYS = (
    "change",
    "normalised-gain",
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
    gathered = FindingsCollector()
    if not len(complete_pairs(pairs)):
        return _only_intended(data, intended, options)
    found = effects(pairs, data.conditions, claimed_items(complete_pairs(pairs)), options.level)
    primary = primary_changes(found, data.conditions)
    gathered.problems += effect_problems(found, data.conditions)
    _about_change(gathered, data, pairs, found, options)
    gathered.figures.insert(0, primary_figure(primary, say_table("nothing-changed")))
    if data.people == "bots":
        gathered.add(say_table("column-normalised-gain"), lambda: normalised_table(pairs, data.conditions))
    _about_ratings(gathered, data, pairs, rated, found, options)
    varied = varied_changes(pairs, intended, found, options.level)
    gathered.tables.append(sensitivity_table(varied))
    findings = gathered.findings(primary, method_lines(primary, data.conditions), varied)
    return replace(findings, items=item_results(data))


def _only_intended(data: Analysed, intended: pd.DataFrame, options: Options) -> Findings:
    """Nobody is left per protocol: the primary estimates of everybody who answered, under sensitivity only."""
    why = (say("no-pairs"),) if len(data.participants) else ()
    if not len(complete_pairs(intended)):
        return Findings(problems=why)
    gathered = FindingsCollector()
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
    return say_table("where", domain=data.study.kind, test=data.study.spec.protocol["name"])


def _about_change(
    gathered: FindingsCollector, data: Analysed, pairs: pd.DataFrame, found: Effects, options: Options
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
        items = sum(item.role == "test" for item in in_language(data.study, None).items.values())
        gathered.tables.append(change_table(pairs, found, _where(data), items * len(data.participants)))
    against = say_table("against", control=found.control or "none")
    planned_equivalence(gathered, plan, found.primary, POINTS, against)
    gathered.add(say_table("pairs"), lambda: _pairs(pairs, found, plan, options))
    if options.estimator != "hase2020":
        _cross_check(gathered, pairs, found, options)
    published = _published(gathered, data, options) if options.estimator != "crossed" else None
    gathered.figures += [
        change_figure(found, None if published is None else published.change),
        accuracy_figure(pairs, found),
    ]
    test = data.study.spec.protocol["name"]
    gathered.add(say_table("what-regression"), lambda: regression_table(pairs, test))


def _cross_check(gathered: FindingsCollector, pairs: pd.DataFrame, found: Effects, options: Options) -> None:
    """The mixed model beside the primary analysis; that they do not agree is a problem."""
    mixed = gathered.tried(say_table("what-mixed"), lambda: mixed_effects(pairs, found, options.level))
    if mixed is None:
        return
    gathered.tables.append(cross_check_table(found, mixed))
    gathered.estimators["linear_mixed"] = {
        "unit": "share of answers",
        "primary": [effect.to_dict() for effect in mixed.values()],
    }
    apart = disagreements(found, mixed)
    if apart:
        parts = [say("mixed-disagrees-part", condition=name, why=why) for name, why in apart.items()]
        gathered.problems.append(say("mixed-disagrees", parts=parts))


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


def _published(gathered: FindingsCollector, data: Analysed, options: Options) -> PublishedChange | None:
    """The published procedure on the answers that it counts, labelled as a reproduction."""
    pairs = paired(counted_answers(data, options), data.scored)
    found = gathered.tried(say_table("what-published"), lambda: published_change(pairs, options))
    if found is None:
        return None
    order = tuple(condition.name for condition in data.conditions)
    title = say_table("change-published", paper=PAPER, where=_where(data))
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
    gathered: FindingsCollector,
    data: Analysed,
    pairs: pd.DataFrame,
    rated: pd.DataFrame,
    found: Effects,
    options: Options,
) -> None:
    """Ratings, if there are any; whether they tell anything."""
    if not len(rated):
        if data.methods and any(name in found.changes for name in data.methods):
            gathered.problems.append(say("no-ratings"))
        return
    scale = data.study.spec.rating.points
    gathered.add(
        say_table("what-ratings"),
        lambda: ratings_table(rated, data.methods, claimed_items(rated), options.level),
    )
    gathered.add(
        say_table("what-correctness"),
        lambda: correctness_table(rated, claimed_items(rated)),
    )
    published = None if options.estimator == "crossed" else ratings_as_published(data)
    if published is not None and published["condition"].isin(data.explained_methods).any():
        _published_ratings(gathered, published, data.explained_methods, options)
    gathered.figures.append(ratings_figure(rated, data.methods, scale))
    if rated["score"].notna().any():
        both = gathered.tried(
            say_table("what-rating-correctness"),
            lambda: rating_table(rated, _of_methods(published, data), scale, options),
        )
        if both is not None:
            gathered.tables.append(both[0])
            gathered.figures.append(rating_curve(both[1]))
    gathered.add(say_table("what-rating-change"), lambda: person_table(rated, pairs))


def _of_methods(rated: pd.DataFrame | None, data: Analysed) -> pd.DataFrame | None:
    """Without the ratings of a random control."""
    return None if rated is None else rated[rated["condition"].isin(data.explained_methods)]


def _published_ratings(
    gathered: FindingsCollector, rated: pd.DataFrame, methods: tuple[str, ...], options: Options
) -> None:
    """The paper's Tables 3 and 5 of one study."""
    gathered.add(
        say_table("what-ratings-published"),
        lambda: published_ratings(
            "ratings-hase2020", say_table("ratings-published", paper=PAPER), {"": rated}, methods, options
        ),
    )
    gathered.add(
        say_table("what-correctness-published"),
        lambda: published_sides(
            "ratings-by-correctness-hase2020",
            say_table("ratings-by-correctness-published", paper=PAPER),
            {"": rated},
            methods,
            options,
        ),
    )


SIMULATION = ProtocolAnalysis(simulation, KEYS, pooled_simulation)
