"""``verax study analyze``: what a study's answers say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from verax.cli.console import messages, one_sentence, output, working
from verax.cli.study_options import Database, Folder, check_installed
from verax.errors import VeraxError

if TYPE_CHECKING:
    from rich.table import Table

    from verax.studies.answers.frames import Collected
    from verax.studies.model.study import Study

ANALYZE_EXAMPLES = """Examples:

verax study analyze studies/forward

verax study analyze studies/forward --export exported --out analysis --replicates 25000

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
            "Gonzalez and Sogaard (2020). May be given several times.",
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
    as_json: Annotated[bool, typer.Option("--json", help="Print summary.json, and nothing else.")] = False,
    replicates: Annotated[int, typer.Option(min=100, help="Replicates of each bootstrap.")] = 5_000,
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
) -> None:
    """Say what the answers of a study show: flow of participants, estimates, tables, figures, one page.

    docs/analysis.md says what is computed for each protocol, and how to read it.
    """
    check_installed()
    from verax.studies.analysis.analyse import analyse, analysed, rehearsed
    from verax.studies.analysis.between.hase2020_tables import defects_of
    from verax.studies.analysis.contract import Estimator, Options
    from verax.studies.analysis.writing import SUMMARY, write_analysis
    from verax.studies.model.freeze import frozen
    from verax.studies.model.study import load_study

    if estimator not in get_args(Estimator):
        raise VeraxError(
            f"There is no estimator {estimator!r}; choose one of {', '.join(get_args(Estimator))}."
        )
    mended = tuple(name.strip().replace("-", "_") for name in mend.split(",") if name.strip())
    options = Options(estimator, replicates, seed, mended=mended, bots=bots)  # type: ignore[arg-type]
    defects_of(options)  # says what is wrong with --mend, also where nothing is resampled
    study = load_study(folder)
    collected = _collected(study, folder, database, export)
    into = out or folder / ("analysis-bots" if bots else "analysis")
    with working("Analysing"):
        others = [_collected(load_study(one), one, None, None) for one in together or ()]
        summary = analyse(collected, options, frozen=frozen(folder), others=others)
        write_analysis(into, rehearsed(analysed(collected, bots=bots)), summary, options)
        write_report(into, summary)
    if as_json:
        sys.stdout.write((into / SUMMARY).read_text(encoding="utf-8"))
        return
    _print(summary, into)


def _collected(study: Study, folder: Path, database: str | None, export: Path | None) -> Collected:
    """The answers in an export, or in a database."""
    from verax.cli.study_answers import answers
    from verax.studies.answers.collect import collect, collect_export

    if export is None:
        with answers(folder, database) as store:
            return collect(store)
    if database is not None:
        raise VeraxError("Give --database or --export, not both.")
    return collect_export(study, export)


def write_report(folder: Path, summary: dict[str, Any]) -> None:
    """The page and the tables to paste."""
    from verax.report.study.study_page import write_study_report
    from verax.report.study.study_tables import to_latex, to_markdown

    write_study_report(folder, summary)
    tables = folder / "tables"
    tables.mkdir(exist_ok=True)
    for table in (summary["attrition"], summary["balance"], *summary["tables"]):
        (tables / f"{table['key']}.md").write_text(to_markdown(table), encoding="utf-8")
        (tables / f"{table['key']}.tex").write_text(to_latex(table), encoding="utf-8")


def _print(summary: dict[str, Any], folder: Path) -> None:
    """The flow, the primary analysis, the problems, and where the rest is."""
    console = output()
    console.print(summary["title"], style="bold")
    if summary["people"] == "bots":
        console.print("These are bots, not people.", style="bold")
    console.print(summary["flow"]["sentence"], soft_wrap=True)
    primary = summary["primary"]
    if primary is not None:
        console.print()
        console.print(f"{primary['measure']}, in {primary['unit']}", soft_wrap=True)
        console.print(primary_table(primary))
        console.print(primary["sentence"], soft_wrap=True)
    elif summary["sensitivity"]:
        console.print()
        console.print(
            f"Everybody who answered (intention to treat), in {summary['sensitivity'].get('unit', 'points')}; nothing "
            "is claimed",
            soft_wrap=True,
        )
        console.print(_intended_table(summary["sensitivity"]))
    for problem in [*_notes(primary), *summary["problems"]]:
        messages().print(f"note: {problem}", soft_wrap=True)
    console.print()
    console.print(
        f"The report is {folder / 'report.html'}; tables to paste are in {folder / 'tables'}.", soft_wrap=True
    )


def _notes(primary: dict[str, Any] | None) -> list[str]:
    """What must be said beside the primary estimates, each once, with whose it is unless it is of all."""
    estimates = [] if primary is None else primary["estimates"]
    whose: dict[str, list[str]] = {}
    for one in estimates:
        for note in one["notes"]:
            whose.setdefault(note, []).append(one["condition"])
    return [
        note if len(names) == len(estimates) else f"{', '.join(names)}: {note}"
        for note, names in whose.items()
    ]


def _intended_table(sensitivity: dict[str, Any]) -> Table:
    """The estimates of everybody who answered, where nobody is analysed per protocol."""
    from rich.table import Table

    from verax.text import between, signed

    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("condition")
    for title in ("estimate", "95% interval"):
        table.add_column(title, justify="right")
    decimals = 1 if sensitivity.get("unit", "points") == "points" else 2
    for one in sensitivity["variants"]:
        if "intention to treat" in one["variant"] and one["estimate"] is not None:
            ends = one["interval"]
            table.add_row(
                one["condition"],
                signed(one["estimate"], decimals),
                "–" if ends is None else between(ends[0], ends[1], decimals),
            )
    return table


def primary_table(primary: dict[str, Any]) -> Table:
    """The primary analysis as a table for the terminal."""
    from rich.table import Table

    from verax.text import between, p_text, signed

    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("condition")
    for title in ("estimate", "95% interval", "p", "p, corrected", "people", "found in 80% of studies"):
        table.add_column(title, justify="right")
    table.add_column("plan")
    decimals = 1 if primary["unit"] == "points" else 2  # scores go from -1 to 1
    for one in primary["estimates"]:
        has_interval = one["low"] is not None
        table.add_row(
            one["condition"],
            "–" if one["estimate"] is None else signed(one["estimate"], decimals),
            between(one["low"], one["high"], decimals) if has_interval else "–",
            "–" if one["p"] is None else p_text(one["p"]).removeprefix("p = ").removeprefix("p "),
            "–"
            if one["p_adjusted"] is None
            else p_text(one["p_adjusted"]).removeprefix("p = ").removeprefix("p "),
            str(one["participants"]),
            "–" if one["detectable"] is None else f"{one['detectable']:.{decimals}f}",
            "planned" if one["planned"] else "exploratory",
        )
    return table
