"""``verax study analyze``: what a study's answers say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from verax.cli.console import note, one_sentence, output, plain_table, print_file, say, working
from verax.cli.options import Database, Folder, SummaryJson, split_names

if TYPE_CHECKING:
    from rich.table import Table

    from verax.studies.results.study_summary import Estimator, Primary, Sensitivity, Summary

ANALYZE_EXAMPLES = """Examples:

verax study analyze studies/forward

verax study analyze studies/forward --export exported --out analysis

verax study analyze studies/forward --bots --json > summary.json

verax study analyze studies/forward --with studies/counterfactual
"""


@one_sentence
def analyze_command(
    folder: Folder,
    *,
    database: Database = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Analyse an export of the study, not its database.")
    ] = None,
    together: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            metavar="DIR",
            help="A further forward or counterfactual study with the same conditions; adds the tables of Hase and "
            "Bansal (2020) over all of them. Or a further reverse-turing study, of another task: adds Table 1 of "
            "Gonzalez and Sogaard (2020). Or further studies of the three tasks with graded answers: adds Table 4 of "
            "Lertvittayakumjorn and Toni (2019). May be given several times.",
        ),
    ] = None,
    bots: Annotated[
        bool, typer.Option("--bots", help="Analyse the bots; they are never mixed with people.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Where the report goes; DIR/analysis (DIR/analysis-bots) by default."
        ),
    ] = None,
    as_json: SummaryJson = False,
    replicates: Annotated[
        int | None,
        typer.Option(
            min=100,
            help="Replicates of each bootstrap. By default 5,000, and for published tables what was published: 25,000 "
            "for Change, 10,000 for means, 15,000 for the regression on ratings.",
        ),
    ] = None,
    estimator: Annotated[
        str,
        typer.Option(
            help="Whose tables of Change are reported: crossed, with its cross-check; hase2020, the published "
            "procedure; or both. The primary analysis is always by crossed."
        ),
    ] = "both",
    mend: Annotated[
        str,
        typer.Option(
            metavar="DEFECTS",
            help="Defects of the published procedure to mend, with commas between: across_methods, shared_names, "
            "items_as_participants, drop_singular.",
        ),
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="Of the resampling.")] = 0,
    strategies: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A CSV file for what people wrote of how they found their answers in reverse-turing studies, with a "
            "column to code it: fill it in and analyse again, and the codes are counted by task and condition.",
        ),
    ] = None,
    session_term: Annotated[
        bool,
        typer.Option(
            "--session-term",
            help="Where everybody meets every condition: account for the session in which it was met.",
        ),
    ] = False,
    refuse_unequal: Annotated[
        bool,
        typer.Option(
            "--refuse-unequal",
            help="Where everybody meets every condition: analyse nothing if rows of the design are filled unequally.",
        ),
    ] = False,
) -> None:
    """Say what the answers of a study show: flow of participants, estimates, tables, figures, one page.

    The report says beside each table what was computed, and how to read it.
    """
    from verax.workflows.analysis import analyze_study

    analysis = analyze_study(
        folder,
        database=database,
        export=export,
        together=together or (),
        bots=bots,
        out=out,
        replicates=replicates,
        estimator=cast("Estimator", estimator),  # which is checked where it is used
        mend=[name.replace("-", "_") for name in split_names(mend)],
        seed=seed,
        strategies=strategies,
        session_term=session_term,
        refuse_unequal=refuse_unequal,
        during=working,
    )
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
