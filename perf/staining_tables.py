"""Tables of docs/results/staining.md from the summaries of runs that lie beside it: nothing is computed again.

    python perf/staining_tables.py

writes accuracy.csv, recall.csv and differences.csv into docs/results/staining/, and the part of the page between its two
comments: what was asked in each run, and the verdict. `verax bench stain` writes a summary as summary.json into a run's folder;
a copy there under another name is one more run.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from verax.benchmarks.staining.findings import Pair, StainSummary
from verax.reporting.page import short_names
from verax.reporting.staining.figures import CHECKS, FLOOR, checked
from verax.reporting.staining.verdict import staining_verdict
from verax.stats import Estimate
from verax.text import minus

PAGE = Path(__file__).parents[1] / "docs" / "results" / "staining.md"
RUNS = PAGE.with_suffix("")
BEGIN, END = "<!-- runs: written by perf/staining_tables.py -->", "<!-- end of runs -->"
BUDGETS = (1, 2, 5, 10)
ACCURACY = [
    "run",
    "model",
    "learnt",
    "stained region",
    "its original labels",
    "outside",
    "twin, region",
    "twin, outside",
]
RECALL = ["run", "model", "explainer", "stains", *(f"b = {budget}" for budget in BUDGETS), "area"]
DIFFERENCES = ["run", "model", "difference in area", "points", "95% interval", "p, Holm", "survives"]


def shown(estimate: Estimate | None) -> str:
    """Per cent with its interval."""
    if estimate is None:
        return "–"
    mean = f"{100 * estimate.mean:.1f}"
    if estimate.low is None or estimate.high is None:
        return mean
    return f"{mean} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def accuracies(pairs: Iterable[Pair]) -> Iterator[list[str]]:
    """Accuracies of stained models and their twins."""
    for pair in pairs:
        found = {name: checked(pair, name) for name in CHECKS}
        learnt = pair.stains_learnt
        of = learnt + len(pair.stains_left_out)
        apart = f", {len(pair.stains_apart)} of them apart" if pair.stains_apart else ""
        yield [
            pair.model,
            f"{learnt} of {of}{apart}",
            *(shown(found[name][0]) for name in CHECKS),
            shown(found["original_region"][1]),
            shown(found["outside"][1]),
        ]


def recall(pairs: Iterable[Pair], names: dict[str, str]) -> Iterator[list[str]]:
    """Recall at some budgets, and the area under its curve."""
    for pair in pairs:
        for label, found in pair.explainers.items():
            values = (
                shown(found.recall[budget - 1]) if budget <= len(found.recall) else "" for budget in BUDGETS
            )
            yield [pair.model, names.get(label, label), str(found.stains), *values, shown(found.auc)]


def differences(pairs: Iterable[Pair], names: dict[str, str]) -> Iterator[list[str]]:
    """All differences between explainers in area, in points."""
    for pair in pairs:
        for one in pair.differences.get("auc", ()):
            if FLOOR in (one.first, one.second) or one.mean is None:
                continue
            ends = (
                "–"
                if one.low is None or one.high is None
                else f"[{100 * one.low:+.1f}, {100 * one.high:+.1f}]"
            )
            p = "–" if one.p_holm is None else f"{one.p_holm:.2g}"
            survives = "–" if one.p_holm is None else "yes" if one.verdict != "none" else "no"
            compared = f"{names[one.first]} − {names[one.second]}"
            yield [pair.model, compared, minus(f"{100 * one.mean:+.1f}"), minus(ends), p, survives]


def asked(summary: StainSummary) -> str:
    """A run's stains in a few words."""
    spec = summary.spec
    dataset = str(spec.datasets[0]).removesuffix(".csv")
    limit = f", {spec.limit:,} texts" if spec.limit else ""
    share = f", {100 * spec.plant_share:.0f}% of inputs" if spec.plant else ""
    drawn = "planted" if spec.plant else "drawn"
    return f"{dataset}{limit}: {spec.stains} {drawn}{share}, {spec.size} word{'s'[: spec.size - 1]}, weight {spec.weight}"


def written() -> tuple[dict[str, list[list[str]]], str]:
    """The rows of each file, and the part of the page."""
    files = {"accuracy.csv": [ACCURACY], "recall.csv": [RECALL], "differences.csv": [DIFFERENCES]}
    lines = ["| run | stains | verdict |", "|---|---|---|"]
    for path in sorted(RUNS.glob("*.json")):
        summary = StainSummary.from_dict(json.loads(path.read_text(encoding="utf-8")))
        names = short_names(summary.explainers)
        pairs = list(summary.pairs)
        found = (accuracies(pairs), recall(pairs, names), differences(pairs, names))
        for rows, own in zip(files.values(), found, strict=True):
            rows += [[path.stem, *row] for row in own]
        lines.append(
            f"| [{path.stem}](staining/{path.name}) | {asked(summary)} | {staining_verdict(summary).sentence} |"
        )
    return files, "\n".join(lines)


def write_rows(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """A table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def page_with(page: str, body: str) -> str:
    """The page with the part between its two comments."""
    start, stop = page.index(BEGIN), page.index(END)
    return f"{page[:start]}{BEGIN}\n\n{body}\n\n{page[stop:]}"


def main() -> None:
    files, body = written()
    for name, rows in files.items():
        write_rows(RUNS / name, rows)
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), body), encoding="utf-8")


if __name__ == "__main__":
    main()
