"""Puts a backup back: into a SQLite file or a PostgreSQL database that holds no answers."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection, delete
from sqlalchemy.exc import DBAPIError

from verax.errors import VeraxError
from verax.studies.model.study import Study
from verax.studies.store.database.backup import BESIDE, check_file, held_studies, written_whole
from verax.studies.store.database.copy_rows import copy_tables, count_rows, lock_tables
from verax.studies.store.database.engine import open_database, reason_of
from verax.studies.store.database.migrate import migrate
from verax.studies.store.database.redirect import OLD, shown, sqlite_file
from verax.studies.store.database.register import open_registered
from verax.studies.store.tables import metadata


@dataclass(frozen=True)
class Restored:
    """What came of a restoration.

    Attributes:
        target: the database, without a password.
        rows: by table.
        aside: the new name of the file that was there before, if there was one.
    """

    target: str
    rows: dict[str, int]
    aside: Path | None = None


def restore(study: Study, path: str | Path, url: str, *, force: bool = False) -> Restored:
    """Puts a backup in the place of a database that is empty or absent.

    Args:
        study: to which the backup must belong.
        path: of the backup.
        url: of the database.
        force: gives a SQLite file that holds answers another name; it is never deleted.
    """
    path = Path(path)
    _check_belongs(study, path)
    file = sqlite_file(url)
    restored = _into_postgresql(path, url) if file is None else _into_sqlite(path, file, force=force)
    open_registered(study, url)[0].close()  # tables of an older version are brought up to date
    return restored


def _check_belongs(study: Study, path: Path) -> None:
    if not path.is_file():
        raise VeraxError(f"There is no backup {str(path)!r}; check the path.")
    check_file(path)
    held = held_studies(path)
    if study.hash not in held:
        titles = ", ".join(f"{title!r} ({hash[:12]})" for hash, title in held.items())
        raise VeraxError(
            f"{str(path)!r} is no backup of this study ({study.spec.title!r}, {study.hash[:12]}); it holds "
            f"{titles or 'no study'}."
        )


def _into_sqlite(path: Path, file: Path, *, force: bool) -> Restored:
    if file.exists() and file.samefile(path):
        raise VeraxError(f"The backup {str(path)!r} is the database itself; name another file.")
    held = _held_by(file) if file.exists() else ""
    if held and not force:
        raise VeraxError(
            f"The database {str(file)!r} holds answers ({held}); with --force it gets another name, and the backup "
            "takes its place."
        )
    with written_whole(file) as unfinished:
        shutil.copyfile(path, unfinished)
        aside = _set_aside(file)
    return Restored(str(file), check_file(file), aside)


def _set_aside(file: Path) -> Path | None:
    """Gives the file that is there another name, after making sure that nobody uses it."""
    if file.exists():
        _check_unused(file)
    # A journal whose database is gone would be taken for the new one's, so it goes too.
    there = [ending for ending in BESIDE if file.with_name(file.name + ending).exists()]
    if not there:
        return None
    aside = file.with_name(f"{file.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}")
    for ending in there:
        file.with_name(file.name + ending).rename(aside.with_name(aside.name + ending))
    return aside


def _held_by(file: Path) -> str:
    """What a database holds besides the study itself; empty if nothing."""
    with closing(open_database(f"sqlite:///{file}")) as database:
        try:
            return database.read(_content)
        except DBAPIError as error:
            raise VeraxError(
                f"The file {str(file)!r} is no database ({error.orig}); name another one."
            ) from error


def _content(connection: Connection) -> str:
    if connection.dialect.has_table(connection, f"{OLD}study"):
        return "from before they were moved to another database"
    return ", ".join(
        f"{name}: {count}" for name, count in count_rows(connection).items() if count and name != "study"
    )


def _check_unused(file: Path) -> None:
    """SQLite gives up the journal that several processes share only to whoever is alone; it also empties it."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=1)) as connection:
        try:
            alone = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete"
        except sqlite3.OperationalError:
            alone = False
    if not alone:
        raise VeraxError(f"The database {str(file)!r} is in use; stop the server first, then restore.")


def _into_postgresql(path: Path, url: str) -> Restored:
    with TemporaryDirectory(prefix="verax-restore-") as scratch:
        copied = Path(scratch) / "backup.sqlite"
        shutil.copyfile(path, copied)
        with closing(open_database(f"sqlite:///{copied}")) as old, closing(open_database(url)) as new:
            old.write(migrate)
            try:
                with old.snapshot() as source, new.engines[-1].begin() as target:
                    migrate(target)
                    _make_empty(target)
                    rows = copy_tables(source, target)
            except DBAPIError as error:
                raise VeraxError(
                    f"{str(path)!r} could not be put into {shown(url)} ({reason_of(error)})."
                ) from error
    return Restored(shown(url), rows)


def _make_empty(connection: Connection) -> None:
    lock_tables(connection)
    held = _content(connection)
    if held:
        raise VeraxError(
            f"The database {shown(connection.engine.url)} holds answers ({held}); name an empty one with --database."
        )
    connection.execute(delete(metadata.tables["study"]))
