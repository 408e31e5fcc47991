"""Brings a database to the present tables, from nothing or from an older version of Verax."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, func, inspect, select

from verax.errors import VeraxError
from verax.studies.store.tables import metadata
from verax.text import listed

# Any number that nobody else would take: two servers that start at once make the tables one after the other.
LOCK = 0x7E7A_5EED
# Alembic keeps its present work in global names, so threads take turns too.
_one_at_a_time = Lock()


def migrate(connection: Connection) -> None:
    """Makes or changes the tables, in the caller's transaction."""
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        with _one_at_a_time:
            command.upgrade(config, "head")
    except CommandError as error:
        raise VeraxError(
            f"The database was made by another version of Verax ({error}), newer than this one or one that was never "
            "released; use that version, or a newer one."
        ) from error
    if lacking := _lacking(connection):
        raise VeraxError(
            f"The database was made by another version of Verax: it has no {listed(lacking, most=3)}; use that "
            "version, or a new database."
        )


def _lacking(connection: Connection) -> list[str]:
    """The columns that are not there: before the first release tables change without a migration."""
    there = {
        table: {column["name"] for column in columns}
        for (_, table), columns in inspect(connection).get_multi_columns().items()
    }
    return [
        f"{table.name}.{column.name}"
        for table in metadata.sorted_tables
        if table.name in there  # a database that was moved has none of them
        for column in table.columns
        if column.name not in there[table.name]
    ]
