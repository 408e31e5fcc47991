"""``verax study bots``: simulated people go through a study's real pages."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from verax.cli.console import INTERRUPTED, messages, note, one_sentence, output, print_json, say, show_reasons
from verax.cli.options import AsJson, Folders, Verbose

if TYPE_CHECKING:
    from verax.studies.bots.web import Pace, Progress

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
            parameters = ", ".join(f"{field.name}={field.default}" for field in fields(part()))
            console.print(
                f"  {spelled(part()) if not parameters else f'{part.name}({parameters})'}", style="bold"
            )
            console.print(f"      {part.meaning}")
    console.print("\nJoin an answer and habits by +, and different people by commas, each with its share:")
    console.print("  helped(by=0.1)=0.8,guesser+leaver(after=0.5)=0.2")
    raise typer.Exit


@one_sentence
def bots_command(
    folders: Folders,
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
        str,
        typer.Option(
            help="simulated does not wait, and its clock runs as if people had looked at each page; human waits as "
            "long as people do; fast answers in no time."
        ),
    ] = "simulated",
    patience: Annotated[
        float, typer.Option(help="For how many seconds they try again where no answer comes.")
    ] = 60.0,
    participants: Annotated[
        str | None,
        typer.Option(
            help="A language model that takes part in place of profiles: smollm2, or openai:MODEL for one behind an "
            "endpoint. It reads the pages and nothing else."
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="The address of the endpoint, as in http://localhost:8000/v1.")
    ] = None,
    persona: Annotated[str, typer.Option(help="What the language model is told to be.")] = "",
    temperature: Annotated[
        float, typer.Option(help="Of the language model's answers; 0 gives the likeliest.", min=0)
    ] = 0.0,
    reading: Annotated[
        int,
        typer.Option(help="Characters that the language model has before it, the last pages first.", min=200),
    ] = 2_000,
    pass_screening: Annotated[
        bool,
        typer.Option(
            "--pass-screening",
            help="Tell the language model the right answers to the screening test; marked so.",
        ),
    ] = False,
    as_json: AsJson = False,
    list_profiles: Annotated[  # noqa: ARG001
        bool,
        typer.Option("--list-profiles", help="Print all profiles.", is_eager=True, callback=_list_profiles),
    ] = False,
    verbose: Verbose = False,
) -> None:
    """Send simulated people through a study's real pages; they are marked as bots and take nobody's place."""
    show_reasons(verbose)
    from verax.studies.definition.study_files import load_study
    from verax.studies.protocol.common_steps import participant_steps
    from verax.workflows.study import send_bots

    study = load_study(folders[0])
    begun = time.monotonic()
    with _leaving() as stop, _progress(n, len(participant_steps(study, study.rows[0], 1))) as progress:
        summary = send_bots(
            folders,
            n,
            profile,
            url=url,
            database=database,
            concurrent=concurrent,
            seed=seed,
            pace=cast("Pace", pace),  # which is checked where it is used
            patience=patience,
            progress=progress,
            stop=stop,
            participants=participants,
            base_url=base_url,
            persona=persona,
            temperature=temperature,
            reading=reading,
            pass_screening=pass_screening,
        )
    summary |= {"seconds": round(time.monotonic() - begun, 1)}
    if as_json:
        print_json(summary)
    else:
        _print(study.spec.title, summary, _analysis(folders, database))
    if stop.is_set():
        raise typer.Exit(INTERRUPTED)
    if summary["problems"]:
        raise typer.Exit(FAILED)


def _analysis(folders: Sequence[Path], database: str | None) -> str:
    """The command that says what these bots answered."""
    parts = [f"verax study analyze {folders[0]}", *(f"--with {folder}" for folder in folders[1:])]
    return " ".join([*parts, *([f"--database {database}"] if database else []), "--bots"])


def _print(title: str, summary: Mapping[str, Any], following: str) -> None:
    console = output()
    console.print(f"{title}: {summary['bots']} bots in {summary['seconds']:.0f} seconds", style="bold")
    for status, count in summary["status"].items():
        console.print(f"{status:<14} {count:,}")
    console.print(
        f"{'pages':<14} {summary['pages_sent']:,} sent, {summary['pages_acknowledged']:,} acknowledged as stored "
        f"({summary['answers_acknowledged']:,} answers)"
    )
    who = ", ".join(f"{count} {profile}" for profile, count in summary["profiles"].items())
    say(f"{'profiles':<14} {who}")
    note(*(f"{count} failed: {problem}" for problem, count in summary["problems"].items()))
    say(f"Next: {following}")


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
