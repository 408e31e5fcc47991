"""What a staining run found, in one sentence per question asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from verax.report.staining.figures import CEILING, FLOOR
from verax.text import counted, duration, listed, p_text, percent

Summary = Mapping[str, Any]
Cell = Mapping[str, Any]
# So many names stand in a sentence; the tables have all of them.
NAMED = 4


def short_names(labels: Sequence[str]) -> dict[str, str]:
    """Labels without their parameters, wherever that still tells them apart."""
    bare = {label: label.split("(", 1)[0].rsplit(":", 1)[-1] for label in labels}
    alike = list(bare.values())
    return {label: name if alike.count(name) == 1 else label for label, name in bare.items()}


def answers(summary: Summary, timings: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Questions with their answers, in the order of the report."""
    names = short_names(summary["explainers"])
    found = [
        ("Did the models learn their stains?", took_answer(summary)),
        ("Do the models' own reasons show the stain?", truth_answer(summary)),
        ("Which explainer shows the stain best?", best_answer(summary, names)),
        ("Is every explainer better than chance?", chance_answer(summary, names)),
        ("What does an explanation cost?", cost_answer(timings, names)),
        ("Was anything left out?", left_out_answer(summary)),
    ]
    return [(question, answer) for question, answer in found if answer]


def took_answer(summary: Summary) -> str:
    """Research question 1: how well stained models follow their stain, and what became of the rest."""
    took = [cell for cell in summary["cells"] if cell["took"]]
    if not took:
        return "No stained model could be trained; the reasons are below."
    learnt = sum(cell["stains_used"] for cell in took)
    trained = learnt + sum(len(cell["stains_left_out"]) for cell in took)
    limit = summary["spec"]["learnt"]
    answer = "Yes: all" if learnt == trained else "Not one of" if not learnt else f"Not all: {learnt:,} of"
    worst = min(took, key=lambda cell: cell["took"]["stained_region"]["mean"])
    lowest = percent(worst["took"]["stained_region"]["mean"])
    mean = f"; the mean accuracy there is {lowest}"
    if len(took) > 1:
        mean = f"; the lowest mean accuracy there is {lowest} ({where(worst, summary)})"
    models = f"{answer} {counted(trained, 'stained model')}"
    if trained == 1:
        models = "Yes: the one stained model" if learnt else "No: not even the one stained model"
    reached = f"{models} reached {limit:.0%} on the stained region"
    return f"{reached}{mean}. {_twins(took)}".strip()


def _twins(took: Sequence[Cell]) -> str:
    changes = [
        cell["took"]["outside"]["mean"] - cell["took"]["twin"]["outside"]["mean"]
        for cell in took
        if cell["took"].get("twin")
    ]
    if not changes:
        return ""
    largest = max(changes, key=abs)
    if round(1000 * abs(largest)) == 0:
        return "Outside the region they are as accurate as their unstained twins."
    direction = "more" if largest > 0 else "less"
    size = f"{100 * abs(largest):.1f} percentage points {direction} accurate than"
    return f"Outside the region they are {'at the most ' if len(changes) > 1 else ''}{size} their unstained twins."


def truth_answer(summary: Summary) -> str:
    """Research question 2: recall of the ground-truth explanation where it can be read."""
    budget = wanted_features(summary)
    found = [
        (cell["explainers"][CEILING]["recall"][budget - 1]["mean"], where(cell, summary))
        for cell in summary["cells"]
        if CEILING in cell["explainers"]
    ]
    if not found:
        return ""
    low, high = min(found), max(found)
    if low[0] == high[0]:
        reached = f"a recall of {percent(low[0])} ({listed([name for _, name in found], most=NAMED)})"
    else:
        reached = f"a recall between {percent(low[0])} ({low[1]}) and {percent(high[0])} ({high[1]})"
    return f"Where they can be read, they reach {reached} with b = |F| = {budget} features shown."


def best_answer(summary: Summary, names: Mapping[str, str]) -> str:
    """Research question 3: who beats all others after correction, and where nobody does."""
    scored = [cell for cell in summary["cells"] if len(methods(cell)) > 1]
    if not scored:
        return "" if any(methods(cell) for cell in summary["cells"]) else "No explainer could be scored."
    won: dict[str, list[str]] = {}
    open_cells = []
    for cell in scored:
        winner = winner_of(cell)
        if winner is None:
            open_cells.append(where(cell, summary))
        else:
            won.setdefault(winner, []).append(where(cell, summary))
    parts = [
        f"{names[label]} beats all others for {listed(cells, most=NAMED)}"
        for label, cells in sorted(won.items(), key=lambda item: -len(item[1]))
    ]
    if open_cells:
        nobody = "no explainer beats all others for " + listed(open_cells, most=NAMED)
        parts.append(nobody if parts else nobody.replace("no ", "No ", 1))
    untested = all(one["p_holm"] is None for cell in scored for one in cell["differences"]["auc"])
    tested = "; with one stain no difference can be tested" if untested else ""
    return f"{'; '.join(parts)}{tested}. {rank_answer(summary, names)}".strip()


def rank_answer(summary: Summary, names: Mapping[str, str]) -> str:
    """The best average rank, if there are ranks."""
    ranks = summary.get("ranks") or {}
    known = {label: rank for label, rank in ranks.get("ranks", {}).items() if rank is not None}
    if not known:
        return ""
    best = min(known.values())
    first = [names[label] for label, rank in known.items() if rank == best]
    verb = "has" if len(first) == 1 else "share"
    cells = counted(ranks["cells"], "dataset and model", "pairs of dataset and model")
    return f"On average {listed(first)} {verb} the best rank, {best:.1f} of {len(known)} over {cells}."


def chance_answer(summary: Summary, names: Mapping[str, str]) -> str:
    """Which explainers are not shown to beat the floor, or lie below it."""
    below, unproven, tested = [], [], 0
    for cell in summary["cells"]:
        for label in methods(cell):
            difference = versus(cell, label, FLOOR)
            if difference is None or difference["p_holm"] is None:
                continue
            tested += 1
            if difference["verdict"] == "none":
                unproven.append(f"{names[label]} for {where(cell, summary)}")
            elif difference["verdict"] == "second":
                below.append(f"{names[label]} for {where(cell, summary)}")
    if not tested:
        return "It could not be tested: that takes two stains or more." if _floor(summary) else ""
    if not below and not unproven:
        return "Yes: after correction every explainer beats random everywhere."
    parts = []
    if below:
        parts.append(f"worse than random: {listed(below, most=NAMED)}")
    if unproven:
        parts.append(f"not shown to beat random: {listed(unproven, most=NAMED)}")
    rest = tested - len(below) - len(unproven)
    return f"Not everywhere: {'; '.join(parts)}; in {rest} of {counted(tested, 'case')} random is beaten."


def cost_answer(timings: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> str:
    """The cheapest and the dearest explainer, by the median over datasets and models."""
    by_label: dict[str, list[Mapping[str, Any]]] = {}
    for timing in timings:
        if timing["explainer"] not in (FLOOR, CEILING):
            by_label.setdefault(timing["explainer"], []).append(timing)
    cost = {label: median(one["seconds"] for one in found) for label, found in by_label.items()}
    if not cost:
        return ""
    parts = [_cost(label, cost, by_label, names) for label in sorted(cost, key=lambda label: cost[label])]
    if len(parts) > NAMED:
        return f"From {parts[0]} to {parts[-1]}."
    return f"{'; '.join(parts)}."


def _cost(
    label: str,
    cost: Mapping[str, float],
    by_label: Mapping[str, Sequence[Mapping[str, Any]]],
    names: Mapping[str, str],
) -> str:
    rows = median(one["rows"] for one in by_label[label])
    return f"{names.get(label, label)} {duration(cost[label])} and {rows:,.0f} rows"


def left_out_answer(summary: Summary) -> str:
    """Stains that were not learnt, jobs that failed, explainers that raised: counted."""
    not_learnt = sum(len(cell["stains_left_out"]) for cell in summary["cells"])
    errors = sum(len(found) for cell in summary["cells"] for found in cell["errors"].values())
    failed = len(summary["failures"])
    parts = []
    if not_learnt:
        parts.append(
            f"{counted(not_learnt, 'stained model')} had not learnt the stain and {_is(not_learnt)} not scored"
        )
    if failed:
        parts.append(f"{counted(failed, 'training job')} failed")
    if errors:
        parts.append(f"explainers failed on {counted(errors, 'stained model')}")
    return (
        f"Yes: {'; '.join(parts)}; the list is below."
        if parts
        else "No: nothing failed and nothing was left out."
    )


def rank_notes(summary: Summary) -> str:
    """How the ranks were made, and what speaks against reading too much into them."""
    ranks = summary.get("ranks") or {}
    left_out = ranks.get("left_out", 0)
    note = "Rank 1 is the highest area under the recall curve of a dataset and model; ties share their mean rank."
    if left_out:
        note += f" Not counted: {counted(left_out, 'pair')} of dataset and model that some explainer lacks."
    if ranks.get("p") is not None:
        note += (
            f" Friedman's test that all rank alike: {p_text(ranks['p'])} (one test, no correction; "
            "rough below ten pairs, and too small where pairs share their data)."
        )
    return note


def winner_of(cell: Cell) -> str | None:
    """The explainer that beats every other one (random is not counted) after correction."""
    rivals = methods(cell)
    for label in rivals:
        differences = [versus(cell, label, other) for other in rivals if other != label]
        if differences and all(one is not None and one["verdict"] == "first" for one in differences):
            return label
    return None


def versus(cell: Cell, label: str, other: str, measure: str = "auc") -> dict[str, Any] | None:
    """The difference label - other, whichever way round it is stored."""
    for one in cell["differences"].get(measure, []):
        if (one["first"], one["second"]) == (label, other):
            return dict(one)
        if (one["first"], one["second"]) == (other, label):
            return turned(one)
    return None


def turned(difference: Mapping[str, Any]) -> dict[str, Any]:
    """The same difference seen from the other side."""

    def minus(value: float | None) -> float | None:
        return None if value is None else -value

    verdict = {"first": "second", "second": "first"}.get(difference["verdict"], "none")
    return {
        **difference,
        "first": difference["second"],
        "second": difference["first"],
        "mean": minus(difference["mean"]),
        "low": minus(difference["high"]),
        "high": minus(difference["low"]),
        "wins": difference["losses"],
        "losses": difference["wins"],
        "verdict": verdict,
    }


def methods(cell: Cell) -> list[str]:
    """The explainers on trial that have scores: without the floor and the ceiling."""
    return [label for label in cell["explainers"] if label not in (FLOOR, CEILING)]


def wanted_features(summary: Summary) -> int:
    """How many features of a rule an explanation can name: a negated one is not there to be named."""
    return int(summary["spec"]["size"]) - int(summary["spec"].get("negated", 0))


def where(cell: Cell, summary: Summary) -> str:
    """A cell in words: its model, and its dataset if there are several."""
    one = len(summary["spec"]["datasets"]) == 1
    return str(cell["model"]) if one else f"{cell['model']} on {cell['dataset']}"


def _floor(summary: Summary) -> bool:
    return any(FLOOR in cell["explainers"] and methods(cell) for cell in summary["cells"])


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
