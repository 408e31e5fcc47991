"""A verification in the terminal: errors per explainer, and the verdict."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group as Lines
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from verax.benchmarks.rationale.summary import Summary
from verax.report.common.run_facts import short_names
from verax.report.rationale.rationale_tables import table_1
from verax.report.rationale.verdict import rationale_verdict
from verax.results.render import verdict_lines


def terminal_summary(summary: Summary) -> RenderableType:
    """The verdict, then the errors of every group and set."""
    names = short_names(summary.explainers)
    parts: list[RenderableType] = [*map(Text, verdict_lines(rationale_verdict(summary))), Text()]
    for group in summary.groups:
        for given in table_1(group, summary, names):
            table = Table(title=given.caption, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
            for number, heading in enumerate(("explainer", "claim", "A, %", "B, %", "C", "AUC, %")):
                table.add_column(heading, justify="left" if number < 2 else "right", no_wrap=number > 1)
            for row in given.rows:
                table.add_row(*row)
            parts += [table, Text()]
    parts.append(
        Text(
            "A: the first word does nothing. B: some word that does nothing stands above a clearly relevant one. C: "
            "how many such words do. Lower is better."
        )
    )
    return Lines(*parts)


def failed_explainers(summary: Summary) -> list[str]:
    """One sentence for each explainer that failed on a target, with its first error."""
    return [
        f"{target.label}: {label} failed and is not scored there ({errors[0]})."
        for target in summary.targets
        for label, errors in target.errors.items()
    ]
