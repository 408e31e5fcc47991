"""Backups: the whole database as one SQLite file, made while answers arrive, and put back.

A backup holds everything that the database holds: answers, codes, the study's secret, hashes of experimenters'
passwords. Only its owner may read it. What was deleted from the database is not in it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import JSON, Connection, Table, delete, func, inspect, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import AddConstraint, DropConstraint

from verax.errors import VeraxError
from verax.studies.definition.study import Study
from verax.studies.store.database.encrypted import check_passphrase, encrypt, opened
from verax.studies.store.database.engine import open_database, reason_of
from verax.studies.store.database.location import OLD, open_registered, present_url, shown, sqlite_file
from verax.studies.store.database.migrate import migrate
from verax.studies.store.tables import metadata

CHUNK = 5_000  # rows

Rows = list[tuple[object, ...]]


def copy_tables(source: Connection, target: Connection) -> dict[str, int]:
    """Copies every row into tables that are there and empty; how many rows each table got.

    Neither connection commits here. The values pass as the drivers give them: JSON stays the text that it is.
    """
    if target.dialect.name == "postgresql":
        _fill_postgresql(source, target)
    else:
        for table in metadata.sorted_tables:
            _fill_sqlite(target, table, _read(source, table))
    there, here = count_rows(source), count_rows(target)
    if there != here:
        raise VeraxError(
            f"The copy has other numbers of rows ({here}) than the database ({there}); copy it again."
        )
    return here


def count_rows(connection: Connection) -> dict[str, int]:
    """How many rows each table has; nothing if there are no tables."""
    there = set(inspect(connection).get_table_names())
    return {
        table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in metadata.sorted_tables
        if table.name in there
    }


def lock_tables(connection: Connection) -> None:
    """Keeps everybody else from all tables of a PostgreSQL database until the end of the transaction."""
    names = ", ".join(f'"{table.name}"' for table in metadata.sorted_tables)
    connection.exec_driver_sql(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")


def version_of(connection: Connection) -> str | None:
    """The number of the last migration; None if there are no tables."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if version is None else str(version)


def _read(source: Connection, table: Table) -> Iterator[Rows]:
    postgresql = source.dialect.name == "postgresql"
    columns = [
        f'"{column.name}"::text' if postgresql and isinstance(column.type, JSON) else f'"{column.name}"'
        for column in table.columns
    ]
    keys = ", ".join(f'"{column.name}"' for column in table.primary_key)
    query = f'SELECT {", ".join(columns)} FROM "{table.name}" ORDER BY {keys}'
    # Or PostgreSQL would send all rows at once.
    rows = source.exec_driver_sql(query, execution_options={"stream_results": True})
    try:
        while chunk := rows.fetchmany(CHUNK):
            yield [tuple(row) for row in chunk]
    finally:
        rows.close()


def _fill_sqlite(target: Connection, table: Table, chunks: Iterable[Rows]) -> None:
    names, marks = _names(table), ", ".join("?" for _ in table.columns)
    for chunk in chunks:
        target.exec_driver_sql(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})', chunk)


def _fill_postgresql(source: Connection, target: Connection) -> None:
    # PostgreSQL checks that rows belong to each other much faster for all at once than for one after the other.
    references = [key for table in metadata.sorted_tables for key in table.foreign_key_constraints]
    for reference in references:
        target.execute(DropConstraint(reference, isolate_from_table=False))
    for table in metadata.sorted_tables:
        _copy_in(target, table, _read(source, table))
    for reference in references:
        target.execute(AddConstraint(reference, isolate_from_table=False))


def _copy_in(target: Connection, table: Table, chunks: Iterable[Rows]) -> None:
    driver = target.connection.driver_connection
    assert driver is not None
    statement = f'COPY "{table.name}" ({_names(table)}) FROM STDIN'
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            for chunk in chunks:
                for row in chunk:
                    copy.write_row(row)
    except target.dialect.loaded_dbapi.Error as error:
        raise DBAPIError(statement, None, error, hide_parameters=True) from error
    if table.autoincrement_column is not None:
        # Numbers came with the rows, so PostgreSQL has to be told where it goes on counting.
        key, name = table.autoincrement_column.name, table.name
        target.exec_driver_sql(
            f"""SELECT setval(pg_get_serial_sequence('"{name}"', '{key}'), coalesce(max("{key}"), 1),
            max("{key}") IS NOT NULL) FROM "{name}\""""
        )


def _names(table: Table) -> str:
    return ", ".join(f'"{column.name}"' for column in table.columns)


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


def backup(
    url: str,
    path: str | Path,
    *,
    study: Study | None = None,
    force: bool = False,
    passphrase: Path | None = None,
) -> Backup:
    """Copies a database as it is at one moment into a SQLite file; writers go on meanwhile.

    Args:
        url: of the database, or of one from which it was moved.
        path: of the file; an unfinished one has another name.
        study: which must be in the database, if it is given.
        force: replace an older backup, once the new one is whole.
        passphrase: a file whose first line encrypts the backup; it is a plain one if None.
    """
    path = Path(path)
    if passphrase is not None:
        check_passphrase(passphrase)
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
        if passphrase is not None:
            encrypt(unfinished, passphrase)
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
            f"The file {str(path)!r} is damaged or no database ({problems[0]}); use another backup, or name the "
            "passphrase of an encrypted one with --passphrase-file."
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


def restore(
    study: Study, path: str | Path, url: str, *, force: bool = False, passphrase: Path | None = None
) -> Restored:
    """Puts a backup in the place of a database that is empty or absent.

    Args:
        study: to which the backup must belong.
        path: of the backup.
        url: of the database.
        force: gives a SQLite file that holds answers another name; it is never deleted.
        passphrase: a file whose first line opens an encrypted backup.
    """
    path = Path(path)
    if not path.is_file():
        raise VeraxError(f"There is no backup {str(path)!r}; check the path.")
    with opened(path, passphrase) as plain:
        _check_belongs(study, plain)
        file = sqlite_file(url)
        restored = _into_postgresql(plain, url) if file is None else _into_sqlite(plain, file, force=force)
    open_registered(study, url)[0].close()  # tables of an older version are brought up to date
    return restored


def _check_belongs(study: Study, path: Path) -> None:
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
