"""``verax study power`` and ``bots``: simulated studies before people come, and simulated people on the real pages."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verax.cli.console import (
    INTERRUPTED,
    messages,
    note,
    one_sentence,
    output,
    plain_table,
    print_json,
    say,
    show_reasons,
)
from verax.cli.options import AsJson, Folders, Verbose, with_spec_options
from verax.errors import VeraxError
from verax.options import checked_spec
from verax.studies.definition.options import BotsSpec, PowerSpec

if TYPE_CHECKING:
    from rich.table import Table

    from verax.studies.bots.web import Progress
    from verax.studies.definition.spec import StudySpec
    from verax.studies.planning.check import Check
    from verax.studies.planning.power import PowerPlan


POWER_EXAMPLES = """Examples:

verax study power forward.toml --effect 8 --participants 10,20,40 --items 16,32 --out plans/forward

verax study power reverse-turing.toml --check --studies 200
"""


@one_sentence
@with_spec_options(PowerSpec)
def power_command(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="A TOML file; it need not be built.")],
    *,
    given: dict[str, Any],
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Simulate no effect through the whole analysis (60 studies by default): false claims and coverage.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A folder for power.svg and power.json (or check.json)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many participants and items a study needs to find an effect, by simulating it."""
    from verax.run.threads import one_thread
    from verax.studies.definition.spec import read_study_spec
    from verax.studies.planning.power import plan_power

    asked = read_study_spec(spec)
    with one_thread():
        if check:
            _check(asked, given, out, as_json)
            return
        with _saying() as say_what:
            plan = plan_power(asked, say=say_what, **given)
    written = None if out is None else _write_plan(plan, out)
    if as_json:
        print_json(plan.to_dict())
        return
    _print_plan(plan)
    if written is not None:
        say(f"Figure: {written}")


def _check(asked: StudySpec, given: Mapping[str, object], out: Path | None, as_json: bool) -> None:
    """Simulates no effect through the whole pipeline and says what came out."""
    from verax.studies.planning.check import STUDIES, check_pipeline
    from verax.studies.planning.power import People

    wanted = checked_spec(PowerSpec, {"studies": STUDIES} | dict(given))
    with _bar("simulated studies", wanted.studies) as progress:
        check = check_pipeline(asked, wanted.studies, wanted.seed, People.asked(wanted), progress)
    if out is not None:
        _write_json(out, "check.json", check.to_dict())
    if as_json:
        print_json(check.to_dict())
        return
    output().print(_check_table(check))
    say("", check.sentence())


@contextmanager
def _saying() -> Iterator[Callable[[str], None]]:
    """Says what is simulated, if somebody is looking at standard error."""
    console = messages()
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("Simulating ...") as status:
        yield lambda what: status.update(f"Simulating: {what} ...")


@contextmanager
def _bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, if somebody is looking."""
    from rich.progress import Progress

    console = messages()
    with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def _write_json(out: Path, name: str, numbers: dict[str, Any]) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VeraxError(
            f"The folder {str(out)!r} cannot be made ({error.strerror}); choose another."
        ) from error
    (out / name).write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")


def _write_plan(plan: PowerPlan, out: Path) -> Path:
    from verax.reporting.figures import power_svg

    _write_json(out, "power.json", plan.to_dict())
    (out / "power.svg").write_text(power_svg(plan), encoding="utf-8")
    return out / "power.svg"


def _print_plan(plan: PowerPlan) -> None:
    """The table, what it rests on, and the sentence."""
    console = output()
    console.print(
        f"Power to find {plan.question.sized(plan.effect)}: {plan.question.to_words()}", style="bold"
    )
    console.print(_plan_table(plan))
    say("", plan.sentence())
    say(*(plan.needs(needed) for needed in plan.needed if needed.items != plan.size.items), "")
    corrected = (
        f" p is corrected (Holm) for {plan.question.comparisons} comparisons."
        if plan.question.comparisons > 1
        else ""
    )
    console.print(
        f"Simulated people are right in {plan.accuracy:.0%} without explanations and differ by "
        f"{plan.people.between_people:g} (people) and {plan.people.between_items:g} (items) in log-odds. Unless you "
        "set them, these are the values of docs/results/calibration.md, made to look like the published studies."
        f"{corrected}",
        soft_wrap=True,
        style="dim",
    )


def _plan_table(plan: PowerPlan) -> Table:
    table = plain_table("items", "in each row", "people", "found in", "95% interval")
    for row in plan.rows:
        enough = "bold" if row.power >= plan.wanted else None
        table.add_row(
            str(row.items),
            str(row.participants),
            f"{row.people:,}",
            f"{row.power:.0%}",
            f"{row.low:.0%} to {row.high:.0%}",
            style=enough,
        )
    return table


def _check_table(check: Check) -> Table:
    first = "without any effect"
    table = plain_table(first, "promised", "found", "95% interval", "of", left=[first])
    for title, promised, rate in (
        ("studies that claim one, uncorrected", "5%", check.claims),
        ("studies with any corrected claim", "at most 5%", check.families),
        ("intervals that hold 0", "95%", check.coverage),
    ):
        ends = f"{rate.low:.1%} to {rate.high:.1%}"
        table.add_row(title, promised, f"{rate.share:.1%}" if rate.of else "-", ends, str(rate.of))
    return table


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
@with_spec_options(BotsSpec)
def bots_command(
    folders: Folders,
    *,
    given: dict[str, Any],
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

    asked = checked_spec(BotsSpec, given)
    study = load_study(folders[0])
    begun = time.monotonic()
    with _leaving() as stop, _progress(asked.n, len(participant_steps(study, study.rows[0], 1))) as progress:
        summary = send_bots(folders, progress=progress, stop=stop, **given)
    summary |= {"seconds": round(time.monotonic() - begun, 1)}
    if as_json:
        print_json(summary)
    else:
        _print(study.spec.title, summary, _analysis(folders, asked.database))
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
