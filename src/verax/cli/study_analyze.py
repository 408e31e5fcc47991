"""``verax study analyze``: what a study's answers say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from verax.cli.console import note, one_sentence, output, plain_table, print_file, say, working
from verax.cli.options import Folder, SummaryJson, with_spec_options
from verax.studies.definition.options import AnalyzeSpec

if TYPE_CHECKING:
    from rich.table import Table

    from verax.studies.results.study_summary import Primary, Sensitivity, Summary

ANALYZE_EXAMPLES = """Examples:

verax study analyze studies/forward

verax study analyze studies/forward --export exported --out analysis

verax study analyze studies/forward --bots --json > summary.json

verax study analyze studies/forward --with studies/counterfactual
"""


@one_sentence
@with_spec_options(AnalyzeSpec)
def analyze_command(folder: Folder, *, given: dict[str, Any], as_json: SummaryJson = False) -> None:
    """Say what the answers of a study show: flow of participants, estimates, tables, figures, one page.

    The report says beside each table what was computed, and how to read it.
    """
    from verax.workflows.analysis import analyze_study

    analysis = analyze_study(folder, during=working, **given)
    if as_json:
        print_file(analysis.folder / "summary.json")
    else:
        _print(analysis.summary, analysis.folder)


def _print(summary: Summary, folder: Path) -> None:
    """The verdict, the flow, the primary analysis, the problems, and where the rest is."""
    from verax.reporting.study import study_verdict

    console = output()
    console.print(summary.title, style="bold")
    if summary.people == "bots":
        console.print("These are bots, not people.", style="bold")
    say("", study_verdict(summary).sentence, "")
    say(summary.flow.sentence)
    primary, varied = summary.primary, summary.sensitivity
    if primary is not None:
        say("", f"{primary.measure}, in {primary.unit}")
        console.print(_primary_table(primary))
        say(primary.sentence)
    elif varied is not None:
        say("", f"Everybody who answered (intention to treat), in {varied.unit}; nothing is claimed")
        console.print(_intended_table(varied))
    note(*(f"note: {problem}" for problem in [*_notes(primary), *summary.problems]))
    say("", f"The report is {folder / 'report.html'}; tables to paste are in {folder / 'tables'}.")


def _notes(primary: Primary | None) -> list[str]:
    """What must be said beside the primary estimates, each once, with whose it is unless it is of all."""
    estimates = () if primary is None else primary.estimates
    whose: dict[str, list[str]] = {}
    for line in estimates:
        for remark in line.notes:
            whose.setdefault(remark, []).append(line.condition)
    return [
        remark if len(names) == len(estimates) else f"{', '.join(names)}: {remark}"
        for remark, names in whose.items()
    ]


def _intended_table(varied: Sensitivity) -> Table:
    """The estimates of everybody who answered, where nobody is analysed per protocol."""
    from verax.studies.results.study_summary import EVERYBODY
    from verax.text import NOTHING, between

    table = plain_table("condition", "estimate", "95% interval", left=["condition"])
    for variant in varied.variants:
        if variant.variant == EVERYBODY and variant.estimate is not None:
            ends = variant.interval
            table.add_row(
                variant.condition,
                varied.unit.signed(variant.estimate),
                NOTHING if ends is None else between(ends[0], ends[1], varied.unit.decimals),
            )
    return table


def _primary_table(primary: Primary) -> Table:
    """The primary analysis as a table for the terminal."""
    from verax.text import NOTHING, between, p_number

    heads = ("estimate", "95% interval", "p", "p, corrected", "people", "minimum detectable effect")
    table = plain_table("condition", *heads, "plan", left=["condition", "plan"])
    unit = primary.unit
    for line in primary.estimates:
        table.add_row(
            line.condition,
            NOTHING if line.estimate is None else unit.signed(line.estimate),
            NOTHING if line.low is None or line.high is None else between(line.low, line.high, unit.decimals),
            NOTHING if line.p is None else p_number(line.p),
            NOTHING if line.p_adjusted is None else p_number(line.p_adjusted),
            str(line.participants),
            NOTHING if line.detectable is None else f"{line.detectable:.{unit.decimals}f}",
            "planned" if line.planned else "exploratory",
        )
    return table
