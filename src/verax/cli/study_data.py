"""``verax study export``, ``withdraw``, ``purge``, ``backup``, ``restore`` and ``move``: answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verax.cli.console import one_sentence, output, print_json, say, working
from verax.cli.options import AsJson, Database, Folder, with_spec_options
from verax.errors import VeraxError
from verax.studies.definition.options import ExportSpec
from verax.workflows.analysis import answers, check_installed

if TYPE_CHECKING:
    from verax.studies.answers.export import Exported
    from verax.studies.store import Store
    from verax.studies.store.people import Known


MOST_ACTIONS = 1_000_000
EXPORT_EXAMPLES = """Examples:

verax study export studies/forward --out exported

verax study export studies/forward --out exported --file-formats csv,jsonl,parquet --free-text
"""
WITHDRAW_EXAMPLES = """Examples:

verax study withdraw studies/forward --completion-code K7QH2MXRT9

verax study withdraw studies/forward --prolific 5f3c0a2b9d1e4f0012345678

verax study withdraw studies/forward --link https://study.example.org/p/3qJt0c8...
"""
PURGE_EXAMPLES = """Examples:

verax study purge studies/forward --dry-run

verax study purge studies/forward
"""


@one_sentence
@with_spec_options(ExportSpec)
def export_command(
    folder: Folder,
    *,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FOLDER", help="Where it goes; an older export is replaced."),
    ],
    given: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Write all answers to a folder, with a codebook of every column; anonymous unless you ask for more.

    The study may be running. codebook.md in the folder says what is in each file.
    """
    from verax.workflows.analysis import export_answers

    with working("Exporting"):
        exported = export_answers(folder, out, **given)
    if as_json:
        files = list(exported.files)
        said = {"identifying": exported.identifying, "free_text": exported.free_text}
        print_json({"folder": str(out), "files": files} | said)
        return
    console = output()
    for file in exported.files:
        console.print(f"{file['name']:<22}{file['rows']:>9,} rows{file['bytes'] / 1e6:>9,.1f} MB")
    console.print("codebook.json, codebook.md: every column, its meaning, type and values")
    say(f"{_said(exported)} It is in {out}.")


@one_sentence
def actions_command(folder: Folder, database: Database = None, as_json: AsJson = False) -> None:
    """List what was done to a study, by whom and when: the log for an audit, the oldest first.

    Opened, paused and closed, exports, exclusions, deletions, and tries to sign in that failed. Redirect it to a file
    to keep it.
    """
    from verax.studies.store.clock import from_micros
    from verax.studies.store.people import acted

    with answers(folder, database) as store:
        done = store.read(acted, MOST_ACTIONS)[::-1]
    if as_json:
        rows = [
            {"at": from_micros(one.at).isoformat(), "by": one.by, "what": one.type, "data": dict(one.data)}
            for one in done
        ]
        print_json({"actions": rows})
        return
    for one in done:
        how = ", ".join(f"{name}: {value}" for name, value in one.data.items())
        say(f"{from_micros(one.at):%Y-%m-%d %H:%M:%S}  {one.by}  {one.type}{f' ({how})' if how else ''}")


def _said(exported: Exported) -> str:
    if exported.identifying and exported.free_text:
        return "The export is NOT anonymous: it has identifying columns and what people wrote."
    if exported.identifying:
        return "The export is NOT anonymous: it has identifying columns."
    if exported.free_text:
        return "The export has no identifying columns, but what people wrote may say who they are."
    return "The export is anonymous."


@one_sentence
def withdraw_command(
    folder: Folder,
    completion_code: Annotated[
        str | None, typer.Option("--completion-code", help="The code of the participant's last page.")
    ] = None,
    prolific: Annotated[str | None, typer.Option(help="The participant's id on Prolific.")] = None,
    mturk: Annotated[str | None, typer.Option(help="The worker's id on MTurk.")] = None,
    link: Annotated[str | None, typer.Option(help="The participant's own link.")] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Delete what a participant gave, at their wish; they cannot come back.

    Answers, times, events and the consent are deleted for good; what stays is that somebody left, so that they are
    recognised should they come again. Backups and exports that were made before are your own files: delete those too.
    """
    check_installed()
    from verax.studies.definition.study_files import load_study
    from verax.studies.store import platform_key
    from verax.studies.store.identifiers import KEY_FILE

    given = {"--completion-code": completion_code, "--prolific": prolific, "--mturk": mturk, "--link": link}
    named = {option: value.strip() for option, value in given.items() if value is not None}
    if len(named) != 1:
        verb = "were" if named else "was"
        raise VeraxError(
            f"Say who withdraws by exactly one of {', '.join(given)}; {len(named) or 'none'} of them {verb} given."
        )
    [(option, value)] = named.items()
    study = load_study(folder)
    if option in ("--prolific", "--mturk") and study.spec.entry != option.removeprefix("--"):
        raise VeraxError(
            f"People enter the study in {str(folder)!r} by {study.spec.entry!r}, so nobody has an id for {option}; "
            "use --completion-code or --link."
        )
    if option in ("--prolific", "--mturk") and not (folder / KEY_FILE).exists():
        raise VeraxError(
            f"{option} needs the key {KEY_FILE} of the folder that is served, and {str(folder)!r} has none; run this "
            "there, or use --completion-code or --link."
        )
    key = platform_key(study, folder) if option in ("--prolific", "--mturk") else None
    with answers(folder, database, key=key) as store:
        known, looked_for = _known(store, option, value)
        left = store.withdraw_known(known, looked_for, delete=True, by="command line")
    if left is None:
        raise VeraxError(f"Nobody in the study in {str(folder)!r} is known by {option} {value!r}; check it.")
    if as_json:
        print_json({"participant": left.number, "pages_deleted": left.deleted})
        return
    who = "Somebody who had not agreed yet" if left.number is None else f"Participant {left.number}"
    pages = "1 answered page was" if left.deleted == 1 else f"{left.deleted} answered pages were"
    say(
        f"{who} has left; {pages} deleted. Delete backups and exports too.",
    )


def _known(store: Store, option: str, value: str) -> tuple[Known, str]:
    from verax.studies.store.identifiers import token_hash, typed_code

    if option == "--completion-code":
        return "completion_code", typed_code(value)
    if option == "--link":
        return "token_hash", token_hash(value.rstrip("/").removesuffix("/leave").rpartition("/")[2])
    return "person_hash", store.person_hash(option.removeprefix("--"), value)


@one_sentence
def purge_command(
    folder: Folder,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many are due; delete nothing.")
    ] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Delete the data of participants who were last seen more than retention_days ago, as the spec promises.

    A running server does the same when it starts, and once a day. Who took part can no longer be recognised afterwards.
    """
    check_installed()
    from verax.studies.definition.study_files import load_study

    study = load_study(folder)
    days = study.spec.retention_days
    if days is None:
        raise VeraxError(
            f"The study in {str(folder)!r} promises no deletion: its spec has no retention_days. To delete what one "
            "participant gave, use `verax study withdraw`."
        )
    with answers(folder, database) as store:
        people, pages = (store.due(), 0) if dry_run else astuple(store.purge())
    if as_json:
        print_json({"retention_days": days, "people": people, "pages_deleted": pages, "dry_run": dry_run})
        return
    what = "nothing was deleted" if dry_run else f"{pages} answered pages deleted"
    say(f"{_people(people)} last seen {days} days ago or before; {what}.")


def _people(count: int) -> str:
    return f"{count} participant was" if count == 1 else f"{count} participants were"


PAYMENTS_EXAMPLES = """Examples:

verax study payments studies/forward --ids prolific_export.csv --out payments

verax study payments studies/forward --ids ids.txt --out payments --json
"""


@one_sentence
def payments_command(
    folder: Folder,
    ids: Annotated[
        Path,
        typer.Option(
            "--ids", metavar="FILE", help="The platform's own list of submissions (CSV), or one id a line."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FOLDER", help="Where the lists go; older ones are replaced."),
    ],
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Say whom to approve, reject, screen out and pay a bonus, as lists that the platform takes.

    Ids of a platform are never stored, so they come from the platform's list; a reason stands beside each. The lists
    say nothing of answers. Delete them when everybody is paid.
    """
    check_installed()
    from collections import Counter

    from verax.studies.answers.payments import payments, read_ids, write_payments
    from verax.studies.definition.study_files import load_study
    from verax.studies.store import platform_key
    from verax.studies.store.identifiers import KEY_FILE
    from verax.studies.store.people import act

    study, listed = load_study(folder), read_ids(ids)
    platform = study.spec.entry
    if platform in ("prolific", "mturk") and not (folder / KEY_FILE).exists():
        raise VeraxError(
            f"People are found by the key {KEY_FILE} of the folder that is served, and {str(folder)!r} has none; run "
            "this there."
        )
    with answers(folder, database, key=platform_key(study, folder)) as store:
        decided = payments(store, listed)
        files = write_payments(decided, out, platform)
        counted: Counter[str] = Counter(one.decision for one in decided)
        store.write(act, "command line", "payments", dict(counted))
    total = sum(one.bonus for one in decided)
    if as_json:
        print_json({"decisions": dict(counted), "bonus": float(total), "folder": str(out), "files": files})
        return
    for decision, many in counted.most_common():
        output().print(f"{decision:<12}{many:>6,}")
    output().print(f"{'bonus':<12}{total:>9,.2f}")
    say(
        f"The lists are in {out}: {', '.join(files)}. They have ids of people: delete them when all are paid."
    )


BACKUP_EXAMPLES = """Examples:

verax study backup studies/forward --out forward.backup

verax study backup studies/forward --database postgresql:///forward --out forward.backup --force
"""
RESTORE_EXAMPLES = """Examples:

verax study restore studies/forward forward.backup

verax study restore studies/forward forward.backup --database postgresql:///forward
"""
MOVE_EXAMPLES = """Examples:

verax study move studies/forward --to postgresql:///forward

verax study move studies/forward --database postgresql:///forward --to sqlite:///forward.sqlite
"""


@one_sentence
def backup_command(
    folder: Folder,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file of the backup.")],
    database: Database = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an older backup, once the new one is whole.")
    ] = False,
    passphrase_file: Annotated[
        Path | None,
        typer.Option(help="Encrypt it with gpg; the first line of this file is the passphrase."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Copy the answers of a study into one SQLite file, as they are at one moment; the server goes on.

    The backup holds everything that the database holds, also codes and hashes of passwords; only its owner may read it.
    Keep the study's folder as well: the backup holds the answers alone.
    """
    check_installed()
    from verax.studies.definition.study_files import load_study
    from verax.studies.store.database.backup import backup
    from verax.web.serve import default_database

    study = load_study(folder)
    with working("copying"):
        made = backup(
            database or default_database(folder), out, study=study, force=force, passphrase=passphrase_file
        )
    if as_json:
        where = {"source": made.source, "file": str(made.path), "bytes": made.bytes}
        print_json(_counts(made.rows) | where)
        return
    say(
        f"{made.rows['participant']:,} participants and {made.rows['response']:,} answered pages of {made.source} are "
        f"in {made.path} ({made.bytes / 1e6:,.1f} MB, checked).",
    )


@one_sentence
def restore_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the study.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `verax study backup` wrote.")],
    database: Annotated[
        str | None,
        typer.Option(help="The URL of an empty database; a SQLite file in the study's folder by default."),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Give a SQLite file that holds answers another name; nothing is deleted."
        ),
    ] = False,
    passphrase_file: Annotated[
        Path | None,
        typer.Option(help="For an encrypted backup: the first line of this file is the passphrase."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Put a backup back; stop the server before."""
    check_installed()
    from verax.studies.definition.study_files import load_study
    from verax.studies.store.database.backup import restore
    from verax.web.serve import default_database

    study = load_study(folder)
    with working("restoring"):
        done = restore(
            study, file, database or default_database(folder), force=force, passphrase=passphrase_file
        )
    if as_json:
        aside = None if done.aside is None else str(done.aside)
        print_json(_counts(done.rows) | {"target": done.target, "set_aside": aside})
        return
    if done.aside is not None:
        say(f"What was there before is now {done.aside}.")
    say(
        f"{done.rows['participant']:,} participants and {done.rows['response']:,} answered pages are in {done.target}. "
        "Whoever withdrew after the backup was made is there again: withdraw them once more.",
    )


@one_sentence
def move_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the study.")],
    to: Annotated[str, typer.Option("--to", help="The URL of an empty database.")],
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Move a study to another database while people answer; running servers follow by themselves.

    Answers that arrive meanwhile wait, and are stored in the new database. The old one stays as a copy that nobody can
    write to, and tells where the study went.
    """
    check_installed()
    from verax.studies.definition.study_files import load_study
    from verax.studies.store.database.relocate import move
    from verax.web.serve import default_database

    with working("moving"):
        done = move(load_study(folder), database or default_database(folder), to)
    if as_json:
        where = {"source": done.source, "target": done.target, "password_kept": done.password_kept}
        print_json(_counts(done.rows) | where | {"seconds_of_waiting": done.seconds})
        return
    say(
        f"{done.rows['participant']:,} participants and {done.rows['response']:,} answered pages were moved to "
        f"{done.target}; answers waited for {done.seconds:.1f} seconds.",
    )
    say(
        f"Servers that run follow by themselves; start the next one with --database. {done.source} is a copy from "
        "before the move, which withdrawals do not reach: delete it when you have a backup.",
    )
    if done.password_kept:
        say(
            "It also holds the password in --to, for the servers that run, and only its owner may read it now; a "
            "password in ~/.pgpass would not be written anywhere.",
        )


def _counts(rows: Mapping[str, int]) -> dict[str, object]:
    return {"participants": rows["participant"], "pages": rows["response"]}
