"""``verax study``: tests of explanations with people."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verax.cli.console import one_sentence, output, show_reasons, working
from verax.cli.study_account import ACCOUNT_EXAMPLES, account_command
from verax.cli.study_analyze import ANALYZE_EXAMPLES, analyze_command
from verax.cli.study_backup import BACKUP_EXAMPLES, backup_command
from verax.cli.study_bots import BOTS_EXAMPLES, bots_command
from verax.cli.study_export import EXPORT_EXAMPLES, export_command
from verax.cli.study_freeze import FREEZE_EXAMPLES, freeze_command
from verax.cli.study_import import IMPORT_EXAMPLES, import_command
from verax.cli.study_move import MOVE_EXAMPLES, move_command
from verax.cli.study_options import Database, Folder, check_installed
from verax.cli.study_power import POWER_EXAMPLES, power_command
from verax.cli.study_purge import PURGE_EXAMPLES, purge_command
from verax.cli.study_restore import RESTORE_EXAMPLES, restore_command
from verax.cli.study_status import STATUS_EXAMPLES, status_command
from verax.cli.study_withdraw import WITHDRAW_EXAMPLES, withdraw_command
from verax.errors import VeraxError

if TYPE_CHECKING:
    from rich.table import Table

    from verax.studies.build.summary import Balance
    from verax.studies.model.study import Study

study = typer.Typer(
    name="study",
    no_args_is_help=True,
    help="Put explainers on trial with people: build, look at and run studies.",
)
Port = Annotated[int, typer.Option(help="Where the pages are served; 0 for any free port.")]
Host = Annotated[str, typer.Option(help="127.0.0.1 for this machine only, 0.0.0.0 for everybody.")]


@one_sentence
def build(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="A TOML file; see examples/.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The study's folder; a stopped build goes on there.")
    ],
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes on this machine.")] = 1,
    force: Annotated[
        bool, typer.Option("--force", help="Build again, or in place of another study that nobody answered.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say which way was taken, and why.")
    ] = False,
) -> None:
    """Build a study from a spec: models, items, explanations and every screen, in one folder."""
    show_reasons(verbose)
    from verax.run import terminal_progress
    from verax.studies.build.build import build_study
    from verax.studies.model.folder import built_study
    from verax.studies.model.spec import parse_study_spec, read_spec_text

    text = read_spec_text(spec)
    asked = parse_study_spec(text, spec.name)
    ready = None if force else built_study(out, text)
    made = ready or build_study(
        asked, text, out, jobs=jobs, progress=terminal_progress("explanations"), force=force, during=working
    )
    print_study(made, out, already=ready is not None)


@one_sentence
def preview(
    folder: Folder,
    port: Port = 8000,
    host: Host = "127.0.0.1",
    row: Annotated[int | None, typer.Option(help="Say where to see this row of the design.")] = None,
) -> None:
    """Walk through a study's pages; nothing is recorded."""
    check_installed()
    from verax.studies.model.study import load_study
    from verax.web.preview import preview as show

    if row is not None:
        numbers = [one.number for one in load_study(folder).rows]
        if row not in numbers:
            raise VeraxError(f"There is no row {row}; the design has the rows {numbers[0]} to {numbers[-1]}.")
        output().print(f"Row {row} is at /row/{row}/ below the address.")
    show(folder, port=port, host=host)


@one_sentence
def serve(
    folder: Folder,
    database: Database = None,
    port: Port = 8000,
    host: Host = "127.0.0.1",
    workers: Annotated[int, typer.Option(help="Processes that serve pages.")] = 1,
    proxy: Annotated[
        str,
        typer.Option(metavar="ADDRESSES", help="Reverse proxies that say who asks; with commas between."),
    ] = "",
) -> None:
    """Serve a study to participants and store their answers."""
    check_installed()
    from verax.web.serve import serve as run

    run(folder, database=database, port=port, host=host, workers=workers, proxy=proxy)


@one_sentence
def codes(
    folder: Folder,
    count: Annotated[int, typer.Option("--count", "-n", help="How many.")],
    database: Database = None,
) -> None:
    """Make entry codes for a study that is entered by code; one a line, each for one participant."""
    check_installed()
    from verax.studies.model.study import load_study
    from verax.studies.store import open_store
    from verax.web.serve import default_database

    if count < 1:
        raise VeraxError(f"--count {count} makes no codes; give 1 or more.")
    loaded = load_study(folder)
    if loaded.spec.entry != "code":
        raise VeraxError(
            f'The study in {str(folder)!r} is entered by link; write entry = "code" into its spec and build it again.'
        )
    store = open_store(loaded, database or default_database(folder))
    try:
        made = store.make_codes(count)
    finally:
        store.close()
    typer.echo("\n".join(made))


def print_study(made: Study, out: Path, *, already: bool = False) -> None:
    """What was made, in a few lines."""
    from verax.studies.build.summary import minutes, places

    console = output()
    spec = made.spec
    if already:
        console.print(f"The study is already built in {out}; nothing was computed.", soft_wrap=True)
    console.print(f"{spec.title}", style="bold")
    console.print(f"protocol      {spec.protocol['name']} on {spec.dataset}")
    for which, about in made.models.items():
        console.print(f"{which:<13} {_model(about)}")
    console.print(f"conditions    {', '.join(f'{one.name} ({one.kind})' for one in spec.conditions)}")
    console.print()
    console.print(_balance_table(made))
    console.print()
    console.print(
        f"design        {len(made.rows)} rows, {places(made)} places; about {minutes(made):.0f} minutes a participant"
    )
    console.print(f"hash          {made.hash}")
    console.print(f"Next: verax study preview {out}", soft_wrap=True)


def _model(about: dict[str, object]) -> str:
    learnt = about["training_inputs"]
    source = "" if learnt is None else f", learnt from {learnt:,}"
    return (
        f"{about['name']}, right on {about['accuracy']:.1%} of {about['test_inputs']:,} test inputs{source}"
    )


def _balance_table(made: Study) -> Table:
    """How the items of each role are spread over the cells: predicted class, right or wrong."""
    from rich.table import Table

    from verax.studies.build.summary import balance

    cells = balance(made.items.values())
    roles = list(dict.fromkeys(cell.role for cell in cells))
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("predicted")
    table.add_column("model is")
    for role in roles:
        table.add_column(f"{role} items", justify="right")
    by_place = {(cell.prediction, cell.correct, cell.role): cell for cell in cells}
    for prediction, correct in dict.fromkeys((cell.prediction, cell.correct) for cell in cells):
        counts = [_count(by_place[prediction, correct, role]) for role in roles]
        table.add_row(made.class_names[prediction], "right" if correct else "wrong", *counts)
    return table


def _count(cell: Balance) -> str:
    """A cell's number, and what it is made of."""
    inside = []
    if cell.flips is not None:
        inside.append(f"{cell.flips} flip")
    if len(cell.groups) > 1:
        least, most = min(cell.groups), max(cell.groups)
        inside.append(f"{least} in each group" if least == most else f"{least} to {most} in a group")
    return f"{cell.items} ({', '.join(inside)})" if inside else str(cell.items)


# In the order of a study's life, as the help lists them: what is done, the command, its examples.
COMMANDS: dict[str, dict[str, tuple[Callable[..., None], str]]] = {
    "Make a study": {
        "build": (build, "Example: verax study build examples/forward.toml --out studies/forward --jobs 2"),
        "import": (import_command, IMPORT_EXAMPLES),
        "preview": (preview, "Example: verax study preview studies/forward"),
        "power": (power_command, POWER_EXAMPLES),
    },
    "Before the first participant": {
        "bots": (bots_command, BOTS_EXAMPLES),
        "freeze": (freeze_command, FREEZE_EXAMPLES),
        "account": (account_command, ACCOUNT_EXAMPLES),
        "codes": (codes, "Example: verax study codes studies/forward --count 40 > codes.txt"),
    },
    "While people take part": {
        "serve": (serve, "Example: verax study serve studies/forward --host 0.0.0.0 --port 80 --workers 2"),
        "status": (status_command, STATUS_EXAMPLES),
        "withdraw": (withdraw_command, WITHDRAW_EXAMPLES),
        "purge": (purge_command, PURGE_EXAMPLES),
        "backup": (backup_command, BACKUP_EXAMPLES),
        "restore": (restore_command, RESTORE_EXAMPLES),
        "move": (move_command, MOVE_EXAMPLES),
    },
    "What they answered": {
        "export": (export_command, EXPORT_EXAMPLES),
        "analyze": (analyze_command, ANALYZE_EXAMPLES),
    },
}


def _help(command: Callable[..., None]) -> str:
    """A command's docstring with each paragraph in one line, for terminals of any width."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


for _panel, _commands in COMMANDS.items():
    for _name, (_command, _examples) in _commands.items():
        study.command(_name, help=_help(_command), epilog=_examples, rich_help_panel=_panel)(_command)
