"""What runs and analyses found, as cells of a paper's tables: by table, row and column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.benchmarks.rationale.findings import TargetSummary
from verax.benchmarks.staining.findings import Pair
from verax.explain.composite import AS_PUBLISHED
from verax.results.tables import Table

if TYPE_CHECKING:
    from verax.studies.definition.study import Study
    from verax.workflows.rationale import RationaleRun
    from verax.workflows.stain import StainRun

# By table, row and column.
Numbers = dict[str, dict[str, dict[str, str]]]
GROUND_TRUTH = "ground-truth"
BUDGETS = (2, 5, 10)


def staining_numbers(run: StainRun, groups: Sequence[str]) -> Numbers:
    """Table 2 and Figures 2 to 4 of Sippy et al. (2020).

    Args:
        run: a staining run.
        groups: what its datasets are called in the paper.
    """
    found: Numbers = {"table-2": {}, "figure-2": {}, "figure-3": {}, "figure-4": {}}
    named = dict(zip(run.summary.datasets, groups, strict=True))
    for name, about in run.summary.datasets.items():
        if about.facts is not None:
            facts = about.facts
            correlation = "" if facts.correlation is None else f"{facts.correlation:.2f}"
            positive = list(facts.balance.values())[-1]
            found["table-2"][named[name]] = {
                "size": f"{facts.inputs:,}",
                "positive": f"{100 * positive:.0f}",
                "correlation": correlation,
            }
    for pair in run.summary.pairs:
        for table, row, column, value in _pair_numbers(pair, named[pair.dataset]):
            found[table].setdefault(row, {})[column] = value
    return found


def _pair_numbers(pair: Pair, group: str) -> list[tuple[str, str, str, str]]:
    numbers = []
    if pair.accuracies is not None:
        numbers.append(("figure-2", pair.model, group, f"{100 * pair.accuracies.stained_region.mean:.1f}"))
    for label, scored in pair.explainers.items():
        if label == GROUND_TRUTH:
            numbers.append(("figure-3", pair.model, group, f"{scored.recall[1].mean:.2f}"))
        for budget in BUDGETS:
            recall = scored.recall[budget - 1].mean
            numbers.append(
                ("figure-4", f"{pair.model}/{registered(label)}", f"{group}@{budget}", f"{recall:.2f}")
            )
    return numbers


def rationale_numbers(run: RationaleRun, groups: Sequence[str]) -> Numbers:
    """Tables 1 and 2 of Camburu et al. (2020), over the inputs that the paper would keep.

    Args:
        run: a verification.
        groups: what its targets are called in the paper: its aspects.
    """
    found: Numbers = {"table-1": {}, "table-2": {}}
    rows = run.results[~run.results["added"].astype(bool)]
    for group, target in zip(groups, run.summary.targets, strict=False):
        own = rows[(rows["dataset"] == target.dataset) & (rows["target"] == target.label)]
        for label, answers in own.groupby("explainer"):
            above = answers["above"].to_numpy(dtype=np.float64)
            found["table-1"].setdefault(registered(str(label)), {}).update(
                {
                    f"{group}.first": f"{100 * answers['first'].mean():.2f}",
                    f"{group}.misranked": f"{100 * answers['misranked'].mean():.2f}",
                    f"{group}.above": f"{above.mean():.2f} ({above.std():.2f})",
                }
            )
        found["table-2"][group] = _test_set_numbers(target)
    return found


def registered(label: str) -> str:
    """An explainer's own name: one row of a table, whatever k, samples or package's defaults it was given."""
    name = label.partition("(")[0]
    return AS_PUBLISHED[name][0] if name in AS_PUBLISHED else name


def _test_set_numbers(target: TargetSummary) -> dict[str, str]:
    table = target.test_set
    spreads = {
        "words": table.words,
        "selected": table.selected,
        "relevant": table.relevant,
        "irrelevant": table.irrelevant,
    }
    numbers = {
        name: f"{spread.mean:.1f} ({spread.deviation:.1f})"
        for name, spread in spreads.items()
        if spread is not None
    }
    error = {} if target.squared_error is None else {"squared_error": f"{target.squared_error:.4f}"}
    return (
        numbers
        | error
        | {
            "kept": f"{table.kept:,}",
            "handshakes": f"{100 * table.handshakes:.1f}",
            "without_relevant": f"{100 * table.without_relevant:.1f}",
        }
    )


def study_numbers(tables: Sequence[Table]) -> Numbers:
    """The tables of an analysis of studies: a row is known by its first column."""
    return {
        table.key: {
            str(row.get(table.columns[0].key)): {
                column.key: _printed(row.get(column.key), column.kind) for column in table.columns[1:]
            }
            for row in table.rows
        }
        for table in tables
    }


def model_numbers(kind: str, models: Mapping[str, Mapping[str, Any]]) -> Numbers:
    """Accuracies of a study's models on its test part: Table 4 of Hase and Bansal (2020).

    Args:
        kind: of the inputs.
        models: see ``Study.models``; a condition's own model is called "of" the condition.
    """
    named = {"task" if name == "model" else name.removeprefix("of "): about for name, about in models.items()}
    return {
        "models": {
            name: {kind: f"{100 * about['accuracy']:.2f}"}
            for name, about in named.items()
            if "accuracy" in about
        }
    }


def network_numbers(key: str, study: Study) -> Numbers:
    """Macro-F1 of a study's networks, and Table 5 of Lertvittayakumjorn and Toni (2019): the trees that mimic them.

    Args:
        key: of the study in the paper's tables.
        study: of which the explanations by decision trees say how large the trees are.
    """
    networks = {
        name: {key: f"{about['macro_f1']:.2f}"}
        for name, about in study.models.items()
        if "macro_f1" in about and name in ("model", "worse")
    }
    trees: dict[str, dict[str, str]] = {}
    for record in study.explanations:
        said = record["explanation"]
        if not isinstance(said, Mapping):
            continue
        facts = said.get("details")
        if isinstance(facts, Mapping) and "fidelity" in facts:
            trees[f"{key}/{record['model']}/{said['target']}"] = {
                "fidelity": f"{facts['fidelity']:.2f}",
                **{name: str(facts[name]) for name in ("nodes", "depth", "leaves")},
            }
    return {"networks": networks, "table-5": trees}


def _printed(value: object, kind: str) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if kind == "count":
            return f"{value:,.0f}"
        if kind == "percent":
            return f"{100 * value:.2f}"
        return f"{value:.3f}" if kind == "p" else f"{value:.2f}"
    return str(value)


def merged(found: Sequence[Mapping[str, Mapping[str, Mapping[str, str]]]]) -> Numbers:
    """The numbers of several runs in one."""
    made: Numbers = {}
    for numbers in found:
        for table, rows in numbers.items():
            for row, cells in rows.items():
                made.setdefault(table, {}).setdefault(row, {}).update(cells)
    return made


def training_numbers(task: str, tables: Mapping[str, Table]) -> Numbers:
    """Section 4.4 of Gonzalez and Soegaard (2020): accuracy and time before people were trained and after.

    Args:
        task: what the paper calls it.
        tables: of the analysis of a pre-experiment, by their keys.
    """
    row: dict[str, str] = {}
    for line in tables["accuracy"].rows if "accuracy" in tables else ():
        if isinstance(like_model := line["model"], float):
            row[f"{line['condition']}_model"] = f"{like_model / 100:.3f}"
    for line in tables["times"].rows if "times" in tables else ():
        if isinstance(length := line["minutes"], float):
            minutes, seconds = divmod(round(60 * length), 60)
            row[f"{line['condition']}_time"] = f"{minutes:02d}:{seconds:02d}"
    return {"training": {task: row}}


def in_places(found: Numbers, places: Sequence[int]) -> Numbers:
    """Numbers of several studies with the places that these have among all of the paper's, where some are left out."""
    names = {f"s{number}": f"s{place}" for number, place in enumerate(places)}

    def renamed(key: str) -> str:
        study, mark, rest = key.partition("_")
        return f"{names[study]}_{rest}" if mark and study in names else key

    return {
        table: {row: {renamed(key): cell for key, cell in cells.items()} for row, cells in rows.items()}
        for table, rows in found.items()
    }


def rating_numbers(kinds: Sequence[str], tables: Sequence[Table]) -> Numbers:
    """Section 5.3 of Hase and Bansal (2020): what a step of the rating says of right answers in the changed inputs.

    Args:
        kinds: of the inputs of user tests, in their order.
        tables: of their analysis. One test alone has the table of its part, several have one for each part.
    """
    named = {table.key: table for table in tables}
    found: dict[str, dict[str, str]] = {}
    for number, kind in enumerate(kinds):
        key = "rating-and-correctness"
        table = named.get(f"counterfactual-{key}" if len(kinds) == 1 else f"{key}-{2 * number + 2}")
        # The last two lines are those of the published procedure: of ratings, and of ratings within people.
        for row, name in zip(table.rows[2:] if table else (), ("rating", "normalised"), strict=False):
            if isinstance(ends := row["interval"], Sequence) and not isinstance(ends, str):
                found.setdefault(name, {})[f"{kind}_points"] = f"{ends[0]:.1f} to {ends[1]:.1f}"
            found.setdefault(name, {})[f"{kind}_n"] = _printed(row["n"], "count")
    return {"ratings-and-answers": found}
