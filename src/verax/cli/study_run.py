"""``verax study freeze``, ``account``, ``codes``, ``serve`` and ``status``: a study runs."""

from __future__ import annotations

import getpass
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verax.cli.console import note, one_sentence, output, plain_table, print_json, say
from verax.cli.options import AsJson, Database, Folder, Folders, with_spec_options
from verax.errors import VeraxError
from verax.studies.definition.options import ServeSpec
from verax.workflows.analysis import answers, check_installed, opened

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from verax.studies.definition.study import Study
    from verax.studies.store import Store
    from verax.studies.store.status import Group, Overview


FREEZE_EXAMPLES = """Examples:

verax study freeze studies/forward > registration.txt

verax study freeze studies/forward --database postgresql:///forward
"""
ACCOUNT_EXAMPLES = """Examples:

verax study account studies/forward anna

verax study account studies/forward anna --new-password < password.txt

verax study account studies/forward ben --role reader

verax study account studies/forward anna --second-factor
"""


@one_sentence
def freeze_command(
    folder: Folder,
    database: Annotated[
        str | None,
        typer.Option(
            help="The URL of the answers' database, to count who takes part already; a SQLite file in the study's "
            "folder by default."
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Freeze it anew, with today's date; not once people take part.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Freeze a study before its first participant, and print the text of a preregistration.

    The hash covers the spec, the items, every screen, the explanations and the analysis plan. From then on the folder
    runs only as it was frozen.
    """
    from verax.studies.definition.study_files import FREEZE, freeze_study, load_study, read_study
    from verax.studies.planning.registration import registration

    study = read_study(folder) if again else load_study(folder)
    made = freeze_study(folder, study, people=_people(study, folder, database), again=again)
    if as_json:
        print_json({"hash": made.hash, "frozen": made.at, "registration": registration(study, made)})
        return
    typer.echo(registration(study, made), nl=False)
    note(f"Frozen in {folder / FREEZE}; register the text above before the first participant.")


def _people(study: Study, folder: Path, database: str | None) -> int | None:
    """How many people take part already; None where there is no database to ask."""
    if database is None and not (folder / "answers.sqlite").exists():
        return None
    check_installed()
    from verax.studies.store.status import people_who_agreed
    from verax.web.serve import default_database

    return people_who_agreed(database or default_database(folder), study.spec.own_name)


@one_sentence
def account_command(
    folder: Folder,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the account.")],
    database: Database = None,
    new_password: Annotated[
        bool, typer.Option("--new-password", help="Give the account another password; its sessions end.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the account from the study.")] = False,
    role: Annotated[
        str | None,
        typer.Option(
            help="What the account may do in this study: owner (everything; the default), helper (watch, open, pause), "
            "reader (watch). Changes the role of an account that is there."
        ),
    ] = None,
    second_factor: Annotated[
        bool | None,
        typer.Option(
            "--second-factor/--no-second-factor",
            help="Ask for a code of an app as well when somebody signs in, or no longer.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make an account for the page that watches a study, /experimenter.

    The password is asked for, or read from standard input (one line) where that is no terminal. Studies in one database
    share accounts and passwords, but an account has a role in this study alone until it gets one in another.
    """
    check_installed()
    from verax.studies.definition.study_files import load_study
    from verax.studies.store import accounts

    if sum([remove, new_password, role is not None, second_factor is not None]) > 1:
        raise VeraxError("Give only one of --remove, --new-password, --role and --second-factor at a time.")
    secrets: dict[str, str] = {}  # that the account's owner types into an app
    wanted = next((one for one in accounts.ROLES if one == role), None)
    if role is not None and wanted is None:
        raise VeraxError(f"There is no role {role!r}; there are: {', '.join(accounts.ROLES)}.")
    with opened(load_study(folder), folder, database) as store:
        if remove:
            accounts.remove_account(store, name)
            done = f"The account {name!r} is removed."
        elif second_factor is not None:
            tell = note if as_json else say
            secrets, done = (
                _second_factor(store, name, tell) if second_factor else _no_second_factor(store, name)
            )
        elif wanted is not None and accounts.has_account(store, name):
            accounts.set_role(store, name, wanted)
            done = f"The account {name!r} is a {wanted} of this study now."
        elif new_password:
            accounts.change_password(store, name, _password())
            done = f"The account {name!r} has a new password; its sessions are ended."
        else:
            accounts.add_account(store, name, _password(), wanted or "owner")
            done = f"The account {name!r} is made. Next: verax study serve {folder}, and sign in at /experimenter."
    if as_json:
        print_json({"account": name, "done": done} | secrets)
        return
    say(done)


def _second_factor(store: Store, name: str, tell: Callable[..., None]) -> tuple[dict[str, str], str]:
    """Gives the account a secret; at a terminal only once a code of it was typed, so that nobody is locked out."""
    from verax.studies.store import accounts
    from verax.studies.store.clock import SECOND, to_micros

    if not accounts.has_account(store, name):
        raise VeraxError(f"There is no account {name!r} in this database; make it first.")
    secret = accounts.new_secret()
    link = accounts.second_factor_link(secret, store.study.spec.title, name)
    tell(
        f"Type this secret into an app for one-time codes: {secret}",
        f"Or open this link on the phone: {link}",
    )
    if sys.stdin.isatty():
        typed = typer.prompt("The code that it shows now", err=True)
        if accounts.period_of(secret, typed, to_micros(store.clock()) / SECOND) is None:
            raise VeraxError(
                "That is not the code of this secret; nothing was changed. Check the phone's clock."
            )
    accounts.set_second_factor(store, name, secret)
    done = f"The account {name!r} needs a code to sign in from now on; its sessions are ended."
    return {"secret": secret, "link": link}, done


def _no_second_factor(store: Store, name: str) -> tuple[dict[str, str], str]:
    from verax.studies.store import accounts

    accounts.set_second_factor(store, name, None)
    return {}, f"The account {name!r} needs no code any more; its sessions are ended."


def _password() -> str:
    """What is typed twice, unseen; or the first line of a file or a pipe."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    try:
        password, again = getpass.getpass("Password: "), getpass.getpass("Once more: ")
    except EOFError as error:
        raise VeraxError("No password was typed; nothing was changed.") from error
    if again != password:
        raise VeraxError("The two passwords differ; nothing was changed.")
    return password


@one_sentence
@with_spec_options(ServeSpec)
def serve_command(folders: Folders, *, given: dict[str, Any]) -> None:
    """Serve a study to participants and store their answers.

    With several folders, and --database for all of them, whoever comes is given one of the studies: the one with the
    condition that has the fewest people of all that still need some.
    """
    check_installed()
    from verax.web.serve import serve as run

    if given.get("title") and len(folders) == 1:
        raise VeraxError("--title is for several studies; one study has the title of its spec.")
    run(folders, **given)


@one_sentence
def links_command(
    folder: Folder,
    ids: Annotated[Path, typer.Option("--ids", help="A file with one id of the platform a line.")],
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Sign the ids of people for a study with recruiting.signed; one line each: the id, and what its link ends in."""
    check_installed()
    from verax.studies.definition.study_files import load_study
    from verax.web.participant.arrivals import ID, PARAMETERS, SIGNATURE

    loaded = load_study(folder)
    if not loaded.spec.recruiting.signed:
        raise VeraxError(
            f"Links of the study in {str(folder)!r} are not signed; write signed = true below [recruiting] in its spec "
            "and build it again."
        )
    try:
        people = [line.strip() for line in ids.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise VeraxError(f"{str(ids)!r} cannot be read ({error}).") from error
    wrong = next((person for person in people if not ID.fullmatch(person)), None)
    if wrong is not None:
        raise VeraxError(f"{wrong!r} in {str(ids)!r} is no id: letters, digits, _ and - only.")
    platform = loaded.spec.entry
    name = PARAMETERS[platform][0]
    with opened(loaded, folder, database) as store:
        signed = {
            person: f"{name}={person}&{SIGNATURE}={store.signature(platform, person)}" for person in people
        }
    if as_json:
        print_json({"links": signed})
    else:
        typer.echo("\n".join(f"{person}\t{ending}" for person, ending in signed.items()))


@one_sentence
def codes_command(
    folder: Folder,
    n: Annotated[int, typer.Option("--n", "-n", help="How many.")] = 0,
    again: Annotated[
        Path | None,
        typer.Option(
            help="A file with codes of another study, one a line: a new code for each of its people, by which they are "
            "known again where both studies ask for it (recruiting.link).",
        ),
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make entry codes for a study that is entered by code; one a line, each for one participant."""
    check_installed()
    from verax.studies.definition.study_files import load_study

    if n < 1 and again is None:
        raise VeraxError(f"--n {n} makes no codes; give 1 or more.")
    if n and again is not None:
        raise VeraxError("--again makes a code for each that the file has; leave --n out.")
    loaded = load_study(folder)
    if loaded.spec.entry != "code":
        raise VeraxError(
            f'The study in {str(folder)!r} is entered by link; write entry = "code" into its spec and build it again.'
        )
    with opened(loaded, folder, database) as store:
        made = store.make_codes(n, _lines(again))
    if as_json:
        print_json({"codes": list(made)})
    else:
        typer.echo("\n".join(made))


def _lines(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise VeraxError(f"The codes in {str(path)!r} cannot be read ({error}).") from error
    if not any(lines):
        raise VeraxError(f"There is no code in {str(path)!r}; give a file with a code on each line.")
    return [line for line in lines if line]


STATUS_EXAMPLES = """Examples:

verax study status studies/forward

verax study status studies/forward --watch

verax study status studies/forward --json > status.json
"""
EVERY = 2.0  # seconds
MOST_ROWS = 12  # of the design
STATUSES = {
    "invited": "asked",
    "declined": "declined",
    "full": "no place",
    "active": "active",
    "left": "left",
    "screened-out": "screened out",
    "over-quota": "quota full",
    "withdrawn": "withdrew",
    "complete": "complete",
}


@one_sentence
def status_command(
    folder: Folder,
    *,
    database: Database = None,
    as_json: AsJson = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on until Ctrl-C.")] = False,
    last: Annotated[int, typer.Option(min=0, help="Of how many people to say where they are.")] = 10,
) -> None:
    """Say how a study stands: who is where, places filled, times, drop-outs, exclusions by the declared rules."""
    from verax.studies.definition.study_files import frozen

    if as_json and watch:
        raise VeraxError("Give --json or --watch, not both.")
    freeze = frozen(folder)
    frozen_at = None if freeze is None else freeze.at
    with answers(folder, database) as store:
        if watch:
            with suppress(KeyboardInterrupt):
                _watch(store, frozen_at, last)
            return
        seen = _overview(store, frozen_at, last)
    if as_json:
        print_json(asdict(seen))
        return
    console = output()
    for part in _parts(seen):
        console.print(part)


def _overview(store: Store, frozen_at: str | None, last: int) -> Overview:
    from verax.studies.answers.exclusion import apply_exclusions
    from verax.studies.store.status import overview

    apply_exclusions(store)
    return overview(store, frozen=frozen_at, last=last)


def _watch(store: Store, frozen_at: str | None, last: int) -> None:
    from rich.console import Group as Together
    from rich.live import Live

    with Live(console=output(), auto_refresh=False) as live:
        while True:
            live.update(Together(*_parts(_overview(store, frozen_at, last))), refresh=True)
            time.sleep(EVERY)


def _parts(seen: Overview) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(seen.title, style="bold")
    frozen = "not frozen" if seen.frozen is None else f"frozen {seen.frozen[:10]}"
    yield Text(f"{seen.state}, {frozen}, hash {seen.hash[:12]}; {seen.at}")
    yield Text("")
    yield _counts(seen)
    for group, who in ((seen.people, "people"), (seen.bots, "bots")):
        if group.came:
            yield from _group(group, who)
    if seen.last:
        yield Text("\nlast seen")
        yield _last(seen)
    if seen.unkept:
        yield Text(f"\n{seen.unkept:,} refused pages were counted but not stored.")
    if seen.retention_days is not None:
        due = f"{seen.due} are due: verax study purge" if seen.due else "none is due"
        yield Text(f"\nAnswers are kept for {seen.retention_days} days; {due}.")


def _counts(seen: Overview) -> Table:
    table = _table("", "came", *STATUSES.values())
    for who, group in (("people", seen.people), ("bots", seen.bots)):
        if who == "people" or group.came:
            _add(table, who, group.came, *(group.counts.get(status, 0) for status in STATUSES))
    return table


def _group(group: Group, who: str) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(f"\ndesign ({who})")
    yield _rows(group)
    if group.phases:
        yield Text(f"\nminutes on the pages of each part ({who})")
        table = _table("part", "finished", "quarter", "median", "three quarters", "dropped out")
        timed = {timing.phase: timing for timing in group.phases}
        for phase in dict.fromkeys([*timed, *group.dropped]):
            times: tuple[object, ...] = ("", "", "", "")
            if (timing := timed.get(phase)) is not None:
                minutes = (f"{number:.1f}" for number in (timing.low, timing.median, timing.high))
                times = (timing.people, *minutes)
            _add(table, phase, *times, group.dropped.get(phase, 0))
        yield table
    if group.excluded:
        yield Text(f"\nexcluded by the declared rules ({who}; nobody is deleted)")
        table = _table("rule", who)
        for rule, count in sorted(group.excluded.items()):
            _add(table, rule, count)
        yield table


def _rows(group: Group) -> Table:

    table = _table("row", "gives", "wanted", "complete", "active", "left")
    for row in group.rows[:MOST_ROWS]:
        _add(table, row.row, row.cells.in_words(), row.target, row.complete, row.active, row.left)
    others = group.rows[MOST_ROWS:]
    if others:
        sums = [
            sum(getattr(row, what) for row in others) for what in ("target", "complete", "active", "left")
        ]
        _add(table, "others", f"{len(others)} more rows", *sums)
    return table


def _last(seen: Overview) -> Table:
    table = _table("participant", "status", "row", "part", "step", "minutes", "ago", "excluded by")
    for person in seen.last:
        minutes = "" if person.minutes is None else f"{person.minutes:.1f}"
        name = f"{person.participant} (bot)" if person.bot else person.participant
        of = "" if person.steps is None else f" of {person.steps}"
        step = f"{person.step}{of}" if person.step else ""
        row = "" if person.row is None else person.row
        where = (STATUSES[person.status], row, person.phase or "", step)
        _add(table, name, *where, minutes, _ago(person.ago), ", ".join(person.rules))
    return table


def _table(*heads: str) -> Table:
    texts = ("", "gives", "part", "rule", "participant", "status", "excluded by")
    return plain_table(*heads, left=texts, gap=2)


def _add(table: Table, *cells: object) -> None:
    table.add_row(*(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells))


def _ago(minutes: float) -> str:
    for size, unit in ((24 * 60, "d"), (60, "h"), (1, "min")):
        if minutes >= size:
            return f"{minutes / size:.0f} {unit}"
    return f"{minutes * 60:.0f} s"
