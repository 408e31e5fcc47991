"""Backups: the whole database as one SQLite file, made while answers arrive, and put back.

A backup holds everything that the database holds: answers, codes, the study's secret, hashes of experimenters'
passwords. Only its owner may read it. What was deleted from the database is not in it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from verax.errors import VeraxError
from verax.studies.model.study import Study
from verax.studies.store.database.copy_rows import copy_tables, version_of
from verax.studies.store.database.engine import open_database, reason_of
from verax.studies.store.database.migrate import migrate
from verax.studies.store.database.redirect import present_url, shown, sqlite_file
from verax.studies.store.tables import metadata

# What SQLite keeps beside a database.
BESIDE = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True)
class Backup:
    """A backup as it was written.

    Attributes:
        path: the file.
        source: the database, without a password.
        rows: by table.
        bytes: of the file.
    """

    path: Path
    source: str
    rows: dict[str, int]
    bytes: int


def backup(url: str, path: str | Path, *, study: Study | None = None, force: bool = False) -> Backup:
    """Copies a database as it is at one moment into a SQLite file; writers go on meanwhile.

    Args:
        url: of the database, or of one from which it was moved.
        path: of the file; an unfinished one has another name.
        study: which must be in the database, if it is given.
        force: replace an older backup, once the new one is whole.
    """
    path = Path(path)
    if path.is_dir():
        raise VeraxError(f"{str(path)!r} is a folder; name a file for the backup.")
    if path.exists() and not force:
        raise VeraxError(
            f"There is a file {str(path)!r} already; name another one, or replace it with --force."
        )
    url = present_url(url)
    file = sqlite_file(url)
    if file is not None and not file.exists():
        raise VeraxError(f"There is no database {shown(url)}, so there is nothing to back up.")
    with written_whole(path) as unfinished:
        counts = _copy_postgresql(url, unfinished) if file is None else _copy_sqlite(file, unfinished)
        rows = _finish(unfinished)
        if rows != counts:
            raise VeraxError(
                f"The backup of {shown(url)} has other numbers of rows ({rows}) than it has ({counts}); try again."
            )
        if study is not None and study.hash not in held_studies(unfinished):
            raise VeraxError(
                f"The database {shown(url)} holds no answers to this study ({study.spec.title!r}, {study.hash[:12]}); "
                "name its own with --database."
            )
    return Backup(path, shown(url), rows, path.stat().st_size)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """The name of an empty file that only its owner may read; at the end of the block it takes the name `path`."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        _remove(unfinished)  # what a killed process left
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield unfinished
        _to_disk(unfinished)
        os.replace(unfinished, path)
        _to_disk(path.parent)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise VeraxError(
            f"{str(path)!r} could not be written ({reason}); make room or choose another place. What was there before "
            "is unchanged."
        ) from error
    finally:
        with suppress(OSError):
            _remove(unfinished)


def check_file(path: Path) -> dict[str, int]:
    """The rows of each table of a SQLite file, if it is whole; a sentence otherwise."""
    with closing(_connect(path)) as connection:
        try:
            problems = [row[0] for row in connection.execute("PRAGMA integrity_check(1)")]
            orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
            rows = _count(connection)
        except sqlite3.DatabaseError as error:
            problems, orphans, rows = [str(error)], [], {}
    if problems != ["ok"]:
        raise VeraxError(
            f"The file {str(path)!r} is damaged or no database ({problems[0]}); use another backup."
        )
    if orphans:
        raise VeraxError(
            f"In the file {str(path)!r} {len(orphans)} rows belong to rows that are missing; use another backup."
        )
    return rows


def held_studies(path: Path) -> dict[str, str]:
    """The title of each study in a SQLite file, by hash; nothing if there is no table of studies."""
    with closing(_connect(path)) as connection:
        if "study" not in _count(connection):
            return {}
        return dict(connection.execute("SELECT hash, title FROM study"))


def _copy_sqlite(source: Path, target: Path) -> dict[str, int]:
    with closing(_connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.execute("BEGIN")  # in WAL mode what is read from here on stays the same, and writers go on
        counts = _count(old)
        old.backup(new, pages=-1)  # in one step: in several it would begin anew after each answer
    return counts


def _copy_postgresql(url: str, target: Path) -> dict[str, int]:
    with closing(open_database(url)) as old, closing(open_database(f"sqlite:///{target}")) as new:
        try:
            with old.snapshot() as source, new.engines[-1].begin() as copy:
                migrate(copy)
                if version_of(source) != version_of(copy):
                    raise VeraxError(
                        f"The tables of {shown(url)} are of another version of Verax ({version_of(source)}, not "
                        f"{version_of(copy)}); start the server once with this version, to bring them up to date."
                    )
                return copy_tables(source, copy)
        except DBAPIError as error:
            if isinstance(error.orig, sqlite3.Error):
                raise error.orig from error  # the copy could not be written
            raise VeraxError(
                f"The database {shown(url)} cannot be read ({reason_of(error)}); check its address and that it is "
                "running."
            ) from error


def _finish(path: Path) -> dict[str, int]:
    """Makes a copy one plain file without what was deleted, and checks it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("VACUUM")
    return check_file(path)


def _count(connection: sqlite3.Connection) -> dict[str, int]:
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    return {
        table.name: connection.execute(f'SELECT count(*) FROM "{table.name}"').fetchone()[0]
        for table in metadata.sorted_tables
        if table.name in there
    }


def _connect(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=10)


def _remove(path: Path) -> None:
    for ending in BESIDE:
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
