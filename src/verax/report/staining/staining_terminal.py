"""A staining run in the terminal: recall per model and explainer, and who is ahead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from verax.report.staining.answers import short_names
from verax.text import counted, estimate

# The budgets whose recall the terminal shows; the report has all of them.
SHOWN_BUDGETS = (2, 5, 10)


def terminal_summary(summary: Mapping[str, Any]) -> RenderableType:
    """Tables of recall in percent with 95% intervals, one per dataset, and sentences on what stands out."""
    parts: list[RenderableType] = []
    for dataset in summary["spec"]["datasets"]:
        parts += [_recall_table(summary, dataset), Text()]
    parts += [Text(sentence) for sentence in findings(summary)]
    return Group(*parts)


def _recall_table(summary: Mapping[str, Any], dataset: str) -> Table:
    size = summary["spec"]["size"]
    table = Table(
        title=f"{dataset}: recall of the stain's {size} features among the top b, in percent",
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    explainers = short_names(summary["explainers"])
    models = short_names(summary["spec"]["models"])
    table.add_column("model", overflow="fold")
    table.add_column("explainer", min_width=12, overflow="fold")
    table.add_column("stains", justify="right")
    for budget in SHOWN_BUDGETS:
        table.add_column(f"b = {budget}", justify="right", no_wrap=True)
    for cell in summary["cells"]:
        if cell["dataset"] != dataset:
            continue
        name = models.get(cell["model"], cell["model"])
        for label in summary["explainers"]:
            estimates = cell["explainers"].get(label)
            if estimates is not None:
                shown = [estimate(estimates["recall"][budget - 1]) for budget in SHOWN_BUDGETS]
                table.add_row(name, explainers[label], str(estimates["stains"]), *shown)
                name = ""
        if not cell["explainers"]:
            table.add_row(name, "no stain was learnt", "0", *([""] * len(SHOWN_BUDGETS)))
        table.add_section()
    return table


def recall_rows(summary: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The same tables as one, for places that draw their own: a row of headings, then one per explainer."""
    explainers = short_names(summary["explainers"])
    rows = [("dataset", "model", "explainer", "stains", *(f"b = {budget}" for budget in SHOWN_BUDGETS))]
    for cell in summary["cells"]:
        for label, scores in cell["explainers"].items():
            shown = [estimate(scores["recall"][budget - 1]) for budget in SHOWN_BUDGETS]
            rows.append((cell["dataset"], cell["model"], explainers[label], str(scores["stains"]), *shown))
    return rows


def findings(summary: Mapping[str, Any]) -> list[str]:
    """One sentence per cell on which differences survive correction, and on what was left out."""
    sentences = []
    for cell in summary["cells"]:
        where = f"{cell['dataset']}, {cell['model']}"
        sure = [
            d
            for d in cell["differences"]["auc"]
            if d["verdict"] != "none" and "random" not in (d["first"], d["second"])
        ]
        ahead = [
            f"{d['first']} above {d['second']}"
            if d["verdict"] == "first"
            else f"{d['second']} above {d['first']}"
            for d in sure
        ]
        if ahead:
            sentences.append(
                f"{where}: {'; '.join(ahead)} (area under the recall curve, Holm-corrected p <= 0.05)."
            )
        if cell["stains_left_out"]:
            left_out = counted(len(cell["stains_left_out"]), "stain")
            sentences.append(f"{where}: {left_out} not learnt, left out of the scores.")
        for label, errors in cell["errors"].items():
            sentences.append(f"{where}: {label} failed on {counted(len(errors), 'stain')} ({errors[0]}).")
    if not any("above" in sentence for sentence in sentences):
        sentences.insert(
            0,
            "No difference between explainers (other than to random) survives Holm's correction "
            "with five stains or more.",
        )
    return sentences
