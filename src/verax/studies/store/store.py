"""The store: everything that is known of the participants of a study, in a database."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import DatabaseError

from verax.errors import VeraxError
from verax.studies.model.study import Study
from verax.studies.store.clock import to_micros, utc_now
from verax.studies.store.database.engine import Database, open_database
from verax.studies.store.database.migrate import migrate
from verax.studies.store.database.redirect import following, settle
from verax.studies.store.participant.consent import consent
from verax.studies.store.participant.enter import enter, enter_person, make_codes
from verax.studies.store.participant.participant_view import Submitted, Where
from verax.studies.store.participant.posted import clean, keepable
from verax.studies.store.participant.show import Viewer, look, show
from verax.studies.store.participant.submit import submit
from verax.studies.store.participant.withdraw import Known, Left, withdraw
from verax.studies.store.people import act, lock, note
from verax.studies.store.person_ids import known_person
from verax.studies.store.retention import Purged, due, last_moment, purge
from verax.studies.store.tables import participants, studies
from verax.studies.store.tokens import token_hash


class Store:
    """The participants of one study. Any number of threads and processes may share a database; see `open_store`.

    Attributes:
        study: the frozen study.
        study_id: its number in the database.
        database: for exports and tests.
        preview: whether this is only for looking around.
        clock: the time.
    """

    def __init__(
        self,
        study: Study,
        study_id: int,
        database: Database,
        clock: Callable[[], datetime] = utc_now,
        *,
        preview: bool = False,
        key: bytes | None = None,
    ) -> None:
        self.study = study
        self.study_id = study_id
        self.database = database
        self.preview = preview
        self.clock = clock
        self._given_key = key

    def enter(
        self,
        *,
        code: str | None = None,
        is_bot: bool = False,
        platform: str | None = None,
        person: str | None = None,
        return_to: Mapping[str, Any] | None = None,
    ) -> str:
        """The token of a new participant; who came before by this code, or from this platform, gets theirs again.

        Args:
            code: one of `make_codes`.
            is_bot: a simulated person.
            platform: "prolific" or "mturk".
            person: the platform's id of the person; only a keyed hash of it is stored.
            return_to: what the platform must be told at the end.

        Raises:
            Refused: nobody can enter now, or not with this code.
        """
        if platform is not None and person is not None:
            known = known_person(self._key(), self.study.hash, platform, person, return_to)
            return self.database.write(
                lambda connection: enter_person(connection, self.study, self.study_id, self._now(), known)
            )
        return self.database.write(
            lambda connection: enter(connection, self.study, self.study_id, self._now(), code, is_bot=is_bot)
        )

    def person_hash(self, platform: str, person: str) -> str:
        """What the database knows of somebody whom a platform sent."""
        return known_person(self._key(), self.study.hash, platform, person).hash

    def bot_pass(self) -> str:
        """What a simulated person shows when it enters, to be marked as a bot: known to whoever has the database."""
        return hmac.digest(self._secret().encode(), b"bots", "sha256").hex()

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
            if person is not None and person.status != "withdrawn":
                note(connection, person.id, person.current, clean(type)[:40], self._now(), keepable(data))

        self.database.write(keep)

    def withdraw(self, token: str, *, delete: bool = False) -> Where | None:
        """Ends somebody's part at their wish: the place is free again; None for an unknown token.

        Args:
            token: the participant's.
            delete: whether what they gave is deleted too; it can also be deleted later.
        """
        self.withdraw_known("token_hash", token_hash(token), delete=delete, by="participant")
        return self.look(token)

    def withdraw_known(self, known: Known, value: str, *, delete: bool, by: str) -> Left | None:
        """The same for somebody who is known by something else; None if there is nobody."""
        return self.database.write(
            lambda connection: withdraw(
                connection, self.study_id, known, value, self._now(), delete=delete, by=by
            )
        )

    def return_to(self, token: str) -> Mapping[str, Any] | None:
        """What the platform that sent the participant must be told at the end, if anything."""
        query = select(participants.c.return_to).where(
            participants.c.study_id == self.study_id, participants.c.token_hash == token_hash(token)
        )
        found: Mapping[str, Any] | None = self.database.read(
            lambda connection: connection.execute(query).scalar_one_or_none()
        )
        return found

    def due(self) -> int:
        """Of how many people the data are to be deleted, since the time for which they are kept is over."""
        latest = last_moment(self.study.spec, self._now())
        if latest is None:
            return 0
        return self.database.read(lambda connection: due(connection, self.study_id, latest))

    def purge(self, *, by: str = "command line") -> Purged:
        """Deletes what is due."""
        latest = last_moment(self.study.spec, self._now())
        if latest is None:
            return Purged()
        return purge(self.database, self.study_id, latest, self._now(), by=by)

    def make_codes(self, count: int) -> list[str]:
        """New codes for entering, each for one participant."""
        return self.database.write(
            lambda connection: make_codes(connection, self.study_id, self._now(), count)
        )

    def set_state(self, state: Literal["open", "paused", "closed"], *, by: str = "command line") -> None:
        """Opens, pauses or closes the study; who is in a closed study may finish, answers are always taken.

        Args:
            state: in which the study is then.
            by: who did it, for the list of actions.
        """
        if state not in ("open", "paused", "closed"):
            raise VeraxError(f"A study is open, paused or closed; {state!r} is none of them.")
        change = (
            update(studies).where(studies.c.id == self.study_id, studies.c.state != state).values(state=state)
        )

        def set_it(connection: Connection) -> None:
            if connection.execute(change).rowcount:
                act(connection, self.study_id, by, state, self._now(), {})

        self.database.write(set_it)

    def close(self) -> None:
        """Closes the connections; nothing waits to be written."""
        self.database.close()

    def _key(self) -> bytes:
        return self._secret().encode() if self._given_key is None else self._given_key

    def _secret(self) -> str:
        query = select(studies.c.secret).where(studies.c.id == self.study_id)
        return self.database.read(lambda connection: str(connection.execute(query).scalar_one()))

    def _now(self) -> int:
        return to_micros(self.clock())

    def _viewer(self, token: str) -> Viewer:
        return Viewer(self.database, self.study, self.study_id, token_hash(token), self._now, self.preview)


def open_store(
    study: Study,
    url: str,
    *,
    clock: Callable[[], datetime] = utc_now,
    preview: bool = False,
    key: bytes | None = None,
) -> Store:
    """The store of a study in the database at a URL, whose tables are made or brought up to date.

    If the study was moved away from there, it is the store in the new database.

    Args:
        study: a saved one: its hash says which answers belong to it.
        url: ``sqlite:///answers.db`` or ``postgresql://user:password@host/name``.
        clock: the time, with a time zone.
        preview: marks every page as one whose answers are not for keeps.
        key: of the hashes of people's ids, as `platform_key` gives it; a secret of the database itself if None.
    """
    if not study.hash:
        raise VeraxError("The study was never saved, so it has no hash; save it with save_study first.")
    database = following(open_database(url))
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
    return Store(study, study_id, database, clock, preview=preview, key=key)


def _register(connection: Connection, study: Study, name: str, now: int) -> int:
    migrate(connection)
    title = study.spec.title
    found = connection.execute(
        select(studies.c.id, studies.c.hash, studies.c.moved_to).where(
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
    if found.moved_to is not None:
        settle(connection, found.moved_to)
    found_id: int = found.id
    return found_id
