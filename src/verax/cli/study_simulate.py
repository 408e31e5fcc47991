"""``verax study power`` and ``bots``: simulated studies before people come, and simulated people on the real pages."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, cast

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
from verax.cli.options import AsJson, Folders, Verbose
from verax.errors import VeraxError

if TYPE_CHECKING:
    from rich.table import Table

    from verax.studies.bots.web import Pace, Progress
    from verax.studies.definition.spec import StudySpec
    from verax.studies.planning.check import Check
    from verax.studies.planning.power import People, PowerPlan


POWER_EXAMPLES = """Examples:

verax study power forward.toml --effect 8 --participants 10,20,40 --items 16,32 --out plans/forward

verax study power reverse-turing.toml --check --studies 200
"""
STUDIES, CHECKED = 400, 60


@one_sentence
def power_command(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="A TOML file; it need not be built.")],
    effect: Annotated[
        float,
        typer.Option(help="The effect to find, in points; of the graded tasks in hundredths of the score."),
    ] = 10.0,
    participants: Annotated[
        str, typer.Option(help="Sizes to try, for each row of the design, with commas between.")
    ] = "5,10,20,40",
    items: Annotated[
        str | None,
        typer.Option(
            help="Numbers of items to try beside the spec's: its protocol's test, or evaluation (of one session)."
        ),
    ] = None,
    power: Annotated[float, typer.Option(help="The share of studies that shall find it.")] = 0.8,
    between_people: Annotated[
        float | None,
        typer.Option(help="How much people differ: the standard deviation of their log-odds; 0.55."),
    ] = None,
    between_items: Annotated[
        float | None, typer.Option(help="How much items differ: the same of items; 1.0.")
    ] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(
            help="Right answers without explanations, as a share; 0.66, or 0.55 where people see each item once."
        ),
    ] = None,
    studies: Annotated[
        int | None, typer.Option(help=f"Simulated studies; {STUDIES} for each size, {CHECKED} with --check.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the simulation.")] = 0,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Simulate no effect through the whole analysis: false claims and coverage."
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
    from verax.studies.planning.power import People, plan_power

    asked = read_study_spec(spec)
    default = People()
    who = People(
        accuracy,
        default.between_people if between_people is None else between_people,
        default.between_items if between_items is None else between_items,
    )
    with one_thread():
        if check:
            _check(asked, who, CHECKED if studies is None else studies, seed, out, as_json)
            return
        with _saying() as say:
            plan = plan_power(
                asked,
                effect,
                _numbers("participants", participants),
                _numbers("items", items) if items else (),
                power,
                who,
                STUDIES if studies is None else studies,
                seed,
                say,
            )
    written = None if out is None else _write_plan(plan, out)
    if as_json:
        print_json(plan.to_dict())
        return
    _print_plan(plan)
    if written is not None:
        say(f"Figure: {written}")


def _check(asked: StudySpec, who: People, studies: int, seed: int, out: Path | None, as_json: bool) -> None:
    """Simulates no effect through the whole pipeline and says what came out."""
    from verax.studies.planning.check import check_pipeline

    with _bar("simulated studies", studies) as progress:
        check = check_pipeline(asked, studies, seed, who, progress)
    if out is not None:
        _write_json(out, "check.json", check.to_dict())
    if as_json:
        print_json(check.to_dict())
        return
    output().print(_check_table(check))
    say("", check.sentence())


def _numbers(name: str, text: str) -> tuple[int, ...]:
    """Whole numbers with commas between."""
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise VeraxError(
            f"--{name} is {text!r}: give whole numbers with commas between, such as 10,20."
        ) from error
    if min(numbers) < 1:
        raise VeraxError(f"--{name} has {min(numbers)}: give whole numbers from 1.")
    return numbers


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
