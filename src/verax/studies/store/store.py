"""The store: everything that is known of the participants of a study, in a database."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import DatabaseError

from verax.errors import VeraxError
from verax.studies.store.answers import clean, keepable
from verax.studies.store.clock import to_micros, utc_now
from verax.studies.store.consenting import consent
from verax.studies.store.database import Database, open_database
from verax.studies.store.entering import enter, make_codes
from verax.studies.store.migrating import migrate
from verax.studies.store.moving import Mover, leave
from verax.studies.store.people import lock, note
from verax.studies.store.showing import Viewer, look, show
from verax.studies.store.submitting import submit
from verax.studies.store.tables import studies
from verax.studies.store.tokens import token_hash
from verax.studies.store.where import Submitted, Where
from verax.studies.study import Study


class Store:
    """The participants of one study. Any number of threads and processes may share a database; see `open_store`.

    Attributes:
        study: the frozen study.
        study_id: its number in the database.
        database: for exports and tests.
        preview: whether this is only for looking around.
    """

    def __init__(
        self,
        study: Study,
        study_id: int,
        database: Database,
        clock: Callable[[], datetime] = utc_now,
        *,
        preview: bool = False,
    ) -> None:
        self.study = study
        self.study_id = study_id
        self.database = database
        self.preview = preview
        self._clock = clock

    def enter(self, *, code: str | None = None, is_bot: bool = False) -> str:
        """The token of a new participant; a code that was used before gives its participant's token again.

        Raises:
            Refused: nobody can enter now, or not with this code.
        """
        return self.database.write(
            lambda connection: enter(connection, self.study, self.study_id, self._now(), code, is_bot=is_bot)
        )

    def consent(self, token: str, agreed: bool) -> Where | None:
        """Notes the decision and gives whoever agrees a place and their steps, once; None for an unknown token."""
        self.database.write(
            lambda connection: consent(
                connection, self.study, self.study_id, token_hash(token), self._now(), agreed=agreed
            )
        )
        return self.look(token)

    def show(self, token: str) -> Where | None:
        """What to draw now; the first display of a step fixes its deadline. None for an unknown token."""
        return show(self._viewer(token))

    def look(self, token: str) -> Where | None:
        """Where the participant is, without counting it as a display. None for an unknown token."""
        return look(self._viewer(token))

    def submit(
        self, token: str, ord: int, nonce: str, given: Mapping[str, str], client: Mapping[str, Any]
    ) -> Submitted:
        """Stores the answers to a step, once, and moves the participant on.

        Args:
            token: the participant's.
            ord: the step that the page showed.
            nonce: of that page.
            given: by question: the position of the chosen option ("1" is the first), or the text.
            client: the browser's times, by name.
        """
        return self.database.write(
            lambda connection: submit(
                connection,
                self.study,
                self.study_id,
                token_hash(token),
                self._now(),
                ord,
                nonce,
                given,
                client,
            )
        )

    def event(self, token: str, type: str, data: Mapping[str, Any]) -> None:
        """Keeps what a browser reports; an unknown token is ignored."""

        def keep(connection: Connection) -> None:
            person = lock(connection, self.study_id, token_hash(token))
            if person is not None:
                note(connection, person.id, person.current, clean(type)[:40], self._now(), keepable(data))

        self.database.write(keep)

    def withdraw(self, token: str) -> Where | None:
        """Ends an active participation at the participant's wish; the place is free again, the answers stay."""

        def end(connection: Connection) -> None:
            person = lock(connection, self.study_id, token_hash(token))
            if person is not None and person.status == "active":
                leave(Mover(connection, self.study, person.id, self._now()), "withdrawn")

        self.database.write(end)
        return self.look(token)

    def make_codes(self, count: int) -> list[str]:
        """New codes for entering, each for one participant."""
        return self.database.write(
            lambda connection: make_codes(connection, self.study_id, self._now(), count)
        )

    def set_state(self, state: Literal["open", "paused", "closed"]) -> None:
        """Opens, pauses or closes the study; who is in a closed study may finish, answers are always taken."""
        if state not in ("open", "paused", "closed"):
            raise VeraxError(f"A study is open, paused or closed; {state!r} is none of them.")
        change = update(studies).where(studies.c.id == self.study_id).values(state=state)
        self.database.write(lambda connection: connection.execute(change))

    def close(self) -> None:
        """Closes the connections; nothing waits to be written."""
        self.database.close()

    def _now(self) -> int:
        return to_micros(self._clock())

    def _viewer(self, token: str) -> Viewer:
        return Viewer(self.database, self.study, self.study_id, token_hash(token), self._now, self.preview)


def open_store(
    study: Study, url: str, *, clock: Callable[[], datetime] = utc_now, preview: bool = False
) -> Store:
    """The store of a study in the database at a URL, whose tables are made or brought up to date.

    Args:
        study: a saved one: its hash says which answers belong to it.
        url: ``sqlite:///answers.db`` or ``postgresql://user:password@host/name``.
        clock: the time, with a time zone.
        preview: marks every page as one whose answers are not for keeps.
    """
    if not study.hash:
        raise VeraxError("The study was never saved, so it has no hash; save it with save_study first.")
    database = open_database(url)
    try:
        study_id = database.write(
            lambda connection: _register(connection, study, database.name, to_micros(clock()))
        )
    except DatabaseError as error:
        database.close()
        reason = " ".join(str(error.orig).split())
        raise VeraxError(
            f"The database {database.name!r} cannot be used ({reason}); check its address and that it is running."
        ) from error
    except BaseException:
        database.close()
        raise
    return Store(study, study_id, database, clock, preview=preview)


def _register(connection: Connection, study: Study, name: str, now: int) -> int:
    migrate(connection)
    title = study.spec.title
    found = connection.execute(
        select(studies.c.id, studies.c.hash).where(
            (studies.c.hash == study.hash) | (studies.c.title == title)
        )
    ).one_or_none()
    if found is None:
        record = {
            "hash": study.hash,
            "title": title,
            "secret": secrets.token_hex(32),
            "state": "open",
            "consented": 0,
            "created_at": now,
        }
        added = connection.execute(insert(studies), record).inserted_primary_key
        assert added is not None
        study_id: int = added[0]
        return study_id
    if found.hash != study.hash:
        raise VeraxError(
            f"The database {name!r} holds answers to another build of the study {title!r} ({found.hash[:12]}, not "
            f"{study.hash[:12]}); serve the folder that it was begun with, or name a new database."
        )
    found_id: int = found.id
    return found_id
