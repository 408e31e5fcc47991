"""Whether people take part in a study already, in whatever build of it."""

from __future__ import annotations

from contextlib import closing

from sqlalchemy import Connection, func, inspect, select
from sqlalchemy.exc import DBAPIError

from verax.errors import VeraxError
from verax.studies.store.database.engine import open_database
from verax.studies.store.database.redirect import present_url, shown, sqlite_file
from verax.studies.store.tables import participants, studies


def people_who_agreed(url: str, title: str) -> int:
    """How many people, not bots, have agreed to take part in the study of this title; nothing is changed."""
    query = (
        select(func.count())
        .select_from(participants.join(studies))
        .where(studies.c.title == title, participants.c.consented_at.is_not(None), ~participants.c.is_bot)
    )

    def count(connection: Connection) -> int:
        there = inspect(connection).has_table(participants.name)
        return connection.execute(query).scalar_one() if there else 0

    url = present_url(url)
    file = sqlite_file(url)
    if file is not None and not file.exists():
        raise VeraxError(
            f"There is no database {shown(url)}, so nobody can be counted there; check the path, or leave it out if "
            "nobody was served yet."
        )
    try:
        with closing(open_database(url)) as database:
            return database.read(count)
    except DBAPIError as error:
        reason = " ".join(str(error.orig).split())
        raise VeraxError(
            f"The database {shown(url)} cannot be read ({reason}); check its address."
        ) from error
