"""The tables of docs/results/staining.md from the summaries of runs that lie beside it: nothing is computed again.

    python perf/staining_tables.py docs/results/staining/rotten-tomatoes.json

prints what stands on the page of that run. `verax bench stain` writes a summary as summary.json into a run's folder.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from verax.benchmarks.staining.findings import Pair, StainSummary
from verax.reporting.page import short_names
from verax.reporting.staining.figures import CHECKS, FLOOR, checked
from verax.reporting.staining.verdict import staining_verdict
from verax.stats import Estimate
from verax.text import minus

BUDGETS = (1, 2, 5, 10)


def shown(estimate: Estimate | None) -> str:
    """Per cent with its interval."""
    if estimate is None:
        return "–"
    mean = f"{100 * estimate.mean:.1f}"
    if estimate.low is None or estimate.high is None:
        return mean
    return f"{mean} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def took(pairs: list[Pair]) -> str:
    """Accuracies of stained models and their twins."""
    rows = []
    for pair in pairs:
        found = {name: checked(pair, name) for name in CHECKS}
        learnt = pair.stains_learnt
        of = learnt + len(pair.stains_left_out)
        apart = f", {len(pair.stains_apart)} of them apart" if pair.stains_apart else ""
        rows.append(
            [
                pair.model,
                f"{learnt} of {of}{apart}",
                *(shown(found[name][0]) for name in CHECKS),
                shown(found["original_region"][1]),
                shown(found["outside"][1]),
            ]
        )
    head = [
        "model",
        "learnt",
        "stained region",
        "its original labels",
        "outside",
        "twin, region",
        "twin, outside",
    ]
    return table(head, rows)


def recall(pairs: list[Pair], names: dict[str, str], budgets: tuple[int, ...] = BUDGETS) -> str:
    """Recall at some budgets, and the area under its curve."""
    rows = [
        [
            pair.model,
            names.get(label, label),
            str(found.stains),
            *(shown(found.recall[budget - 1]) for budget in budgets),
            shown(found.auc),
        ]
        for pair in pairs
        for label, found in pair.explainers.items()
    ]
    return table(["model", "explainer", "stains", *(f"b = {budget}" for budget in budgets), "area"], rows)


def differences(pairs: list[Pair], names: dict[str, str]) -> str:
    """All differences between explainers in area, in points."""
    rows = []
    for pair in pairs:
        for one in pair.differences.get("auc", ()):
            if FLOOR in (one.first, one.second):
                continue
            if one.mean is None:
                continue
            points = f"{100 * one.mean:+.1f}"
            ends = (
                "–"
                if one.low is None or one.high is None
                else f"[{100 * one.low:+.1f}, {100 * one.high:+.1f}]"
            )
            p = "–" if one.p_holm is None else f"{one.p_holm:.2g}"
            survives = "–" if one.p_holm is None else "yes" if one.verdict != "none" else "no"
            compared = f"{names[one.first]} − {names[one.second]}"
            rows.append([pair.model, compared, minus(points), minus(ends), p, survives])
    return table(["model", "difference in area", "points", "95% interval", "p, Holm", "survives"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("summary", type=Path, nargs="+")
    for path in parser.parse_args().summary:
        summary = StainSummary.from_dict(json.loads(path.read_text(encoding="utf-8")))
        names = short_names(summary.explainers)
        pairs = list(summary.pairs)
        print(f"# {path.stem}\n\n{staining_verdict(summary).sentence}\n")
        print(took(pairs), recall(pairs, names), differences(pairs, names), sep="\n\n", end="\n\n")


if __name__ == "__main__":
    main()
