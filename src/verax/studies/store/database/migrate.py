"""Brings a database to the present tables, from nothing or from an older version of Verax."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, func, select

from verax.errors import VeraxError

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
