"""``verax study bots``: simulated people go through a study's real pages."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verax.cli.console import INTERRUPTED, messages, one_sentence, output, show_reasons
from verax.cli.study_options import Folder, check_installed
from verax.errors import VeraxError

if TYPE_CHECKING:
    from verax.studies.bots.crowd import Progress

BOTS_EXAMPLES = (
    "Example: verax study bots studies/forward --n 40 --profile 'helped(by=0.1)=0.8,guesser+leaver=0.2'"
)
FAILED = 1


def _list_profiles(asked: bool) -> None:
    """Prints all profiles and ends."""
    if not asked:
        return
    from dataclasses import fields

    from verax.studies.bots.profiles import ANSWERING, HABITS, spelled

    console = output()
    for title, parts in (("How they answer", ANSWERING), ("What they do besides", HABITS)):
        console.print(title, style="bold")
        for part in parts:
            parameters = ", ".join(f"{one.name}={one.default}" for one in fields(part()))  # type: ignore[arg-type]
            console.print(
                f"  {spelled(part()) if not parameters else f'{part.name}({parameters})'}", style="bold"
            )
            console.print(f"      {part.meaning}")
    console.print("\nJoin an answer and habits by +, and different people by commas, each with its share:")
    console.print("  helped(by=0.1)=0.8,guesser+leaver(after=0.5)=0.2")
    raise typer.Exit


@one_sentence
def bots_command(
    folder: Folder,
    n: Annotated[int, typer.Option("--n", "-n", help="How many.")] = 40,
    profile: Annotated[
        str, typer.Option(help="Who they are: one profile, or several with their shares.")
    ] = "helped",
    url: Annotated[
        str | None,
        typer.Option(help="Where the study is served; if it is not given, it is served here on a free port."),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            help="The URL of the answers' database; a SQLite file in the study's folder by default. The server at "
            "--url must use the same one: from it comes the pass that marks bots."
        ),
    ] = None,
    concurrent: Annotated[int, typer.Option(help="How many are at it at once.")] = 10,
    seed: Annotated[int, typer.Option(help="Of all that they decide.")] = 0,
    pace: Annotated[
        str, typer.Option(help="fast does not wait; human looks at each page as long as people do.")
    ] = "fast",
    patience: Annotated[
        float, typer.Option(help="For how many seconds they try again where no answer comes.")
    ] = 60.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON and nothing else.")
    ] = False,
    list_profiles: Annotated[  # noqa: ARG001
        bool,
        typer.Option("--list-profiles", help="Print all profiles.", is_eager=True, callback=_list_profiles),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say which way was taken, and why.")
    ] = False,
) -> None:
    """Send simulated people through a study's real pages; they are marked as bots and take nobody's place."""
    show_reasons(verbose)
    from verax.studies.bots.crowd import check_counts, run_bots, summarise
    from verax.studies.bots.mixture import parse_profiles
    from verax.studies.model.study import load_study

    check_installed()
    people = parse_profiles(profile)
    check_counts(n, concurrent)
    if pace not in ("fast", "human"):
        raise VeraxError(f"--pace is fast or human; {pace!r} is neither.")
    study = load_study(folder)
    from verax.studies.store import open_store
    from verax.web.background_server import serving_aside
    from verax.web.serve import default_database

    store = open_store(study, database or default_database(folder))
    try:
        bot_pass = store.bot_pass()
    finally:
        store.close()
    begun = time.monotonic()
    pages = len(study.steps(study.rows[0], 1))
    with (
        serving_aside(folder, database) if url is None else nullcontext(url) as address,
        _leaving() as stop,
        _progress(n, pages) as progress,
    ):
        runs = run_bots(
            study,
            address,
            bot_pass,
            people,
            n,
            seed=seed,
            concurrent=concurrent,
            pace="human" if pace == "human" else "fast",
            progress=progress,
            patience=patience,
            stop=stop,
        )
    summary = summarise(runs) | {"seconds": round(time.monotonic() - begun, 1)}
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        _print(study.spec.title, summary, folder)
    if stop.is_set():
        raise typer.Exit(INTERRUPTED)
    if summary["problems"]:
        raise typer.Exit(FAILED)


def _print(title: str, summary: Mapping[str, Any], folder: Path) -> None:
    console = output()
    console.print(f"{title}: {summary['bots']} bots in {summary['seconds']:.0f} seconds", style="bold")
    for status, count in summary["status"].items():
        console.print(f"{status:<14} {count:,}")
    console.print(
        f"{'pages':<14} {summary['pages_sent']:,} sent, {summary['pages_acknowledged']:,} acknowledged as stored "
        f"({summary['answers_acknowledged']:,} answers)"
    )
    who = ", ".join(f"{count} {profile}" for profile, count in summary["profiles"].items())
    console.print(f"{'profiles':<14} {who}", soft_wrap=True)
    for problem, count in summary["problems"].items():
        messages().print(f"{count} failed: {problem}", soft_wrap=True)
    console.print(f"Next: verax study analyze {folder} --bots", soft_wrap=True)


@contextmanager
def _leaving() -> Iterator[Event]:
    """The first Ctrl-C lets everybody leave after the page where they are; the second one ends at once."""
    stop = Event()

    def leave(number: int, _frame: object) -> None:
        stop.set()
        messages().print("Everybody leaves; press Ctrl-C again to end at once.")
        signal.signal(number, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, leave)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _progress(n: int, pages: int) -> Iterator[Callable[[Progress], None] | None]:
    """A bar on standard error, if somebody is looking at it."""
    console = messages()
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("bots"), BarColumn(), TextColumn("{task.fields[state]}", markup=False))
    with Bar(*columns, console=console) as bar:
        task = bar.add_task("bots", total=n * pages, state="")

        def advance(now: Progress) -> None:
            done = max(now.pages, now.ended * pages)
            bar.update(task, completed=done, state=f"{now.ended} of {n} have ended, {now.pages:,} pages")

        yield advance
