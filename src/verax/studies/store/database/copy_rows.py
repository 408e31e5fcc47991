"""All rows of all tables from one database into another, a bounded number at a time, as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import JSON, Connection, Table, func, inspect, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import AddConstraint, DropConstraint

from verax.errors import VeraxError
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
