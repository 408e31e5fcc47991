"""The store: everything that is known of the participants of a study, in a database."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Concatenate, Literal, NamedTuple, ParamSpec, TypedDict, TypeVar, Unpack

from sqlalchemy import Connection, bindparam, select, update

from verax.errors import VeraxError
from verax.studies.definition.languages import language_of
from verax.studies.definition.study import Study
from verax.studies.store.clock import to_micros, utc_now
from verax.studies.store.database.engine import Database
from verax.studies.store.database.location import open_registered
from verax.studies.store.identifiers import (
    code_link,
    is_lent,
    known_person,
    lent_token,
    token_behind,
    token_hash,
)
from verax.studies.store.participant.enter import consent, enter, enter_person, is_known, make_codes
from verax.studies.store.participant.participant_view import ParticipantView, Submitted
from verax.studies.store.participant.placing import keep_waiting
from verax.studies.store.participant.posted import clean, keepable
from verax.studies.store.participant.steps import Due, display, find, leaf, look, submit
from verax.studies.store.participant.withdraw import (
    Purged,
    Withdrawal,
    due,
    last_moment,
    purge_some,
    withdraw,
)
from verax.studies.store.people import Known, Transaction, act, lock, note_rejected, state_of
from verax.studies.store.tables import participants, studies

P = ParamSpec("P")
T = TypeVar("T")

State = Literal["open", "paused", "closed"]
LOOKS = 50  # more than tabs can be opened while a page is made

RETURN_TO = select(participants.c.return_to).where(
    participants.c.study_id == bindparam("study_id"), participants.c.token_hash == bindparam("token_hash")
)
LANGUAGE_OF = select(participants.c.language).where(
    participants.c.study_id == bindparam("study_id"), participants.c.token_hash == bindparam("token_hash")
)
MOST_LANGUAGES = 20_000
SET_STATE = (
    update(studies)
    .where(studies.c.id == bindparam("study_id"), studies.c.state != bindparam("new"))
    .values(state=bindparam("new"))
)


class Visitor(TypedDict, total=False):
    """Who comes to a study.

    Attributes:
        is_bot: a simulated person.
        platform: "prolific" or "mturk", and what it says:
        person: its id of the person; only a keyed hash of it is stored.
        return_to: what it must be told at the end.
        session: its id of this visit; who has begun with one is let in with no other.
        origin: the address and the network from which they come; only keyed hashes are stored, until the first answer.
        language: of their pages, in a study in several.
    """

    is_bot: bool
    platform: str | None
    person: str | None
    return_to: Mapping[str, str] | None
    session: str | None
    origin: tuple[str, str] | None
    language: str | None


class Arriving(NamedTuple):
    """Somebody who comes to a study: lets them in and says their token; says whether they were there before."""

    enter: Callable[[Transaction], str]
    is_known: Callable[[Transaction], bool]


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
        link: bytes | None = None,
    ) -> None:
        self.study = study
        self.study_id = study_id
        self.database = database
        self.preview = preview
        self.clock = clock
        self._given_key = key
        self._link_key = link
        self._languages: dict[str, str] = {}  # who came in one keeps it

    def read(self, work: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Does work that changes nothing; each statement sees what is committed at its moment."""
        return self.database.read(lambda connection: work(self.begin(connection), *args, **kwargs))

    def write(self, work: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Does work as one transaction, whole or not at all."""
        return self.database.write(lambda connection: work(self.begin(connection), *args, **kwargs))

    @contextmanager
    def snapshot(self) -> Iterator[Transaction]:
        """For reading the study as it is at the beginning, whatever is written meanwhile."""
        with self.database.snapshot() as connection:
            yield self.begin(connection)

    def enter(self, *, code: str | None = None, holds: str | None = None, **who: Unpack[Visitor]) -> str:
        """The token of a new participant; who came before by this code, or from this platform, gets theirs again.

        Whoever comes a second time from a platform, in a browser that kept nothing, is lent a way in; see `opened_by`.

        Args:
            code: one of `make_codes`.
            holds: what the browser kept from before.
            who: see `Who`; somebody who is not known if nothing is given.

        Raises:
            Refused: nobody can enter now, or not with this code, or not with this session.
        """
        return self.write(self.arriving(code=code, holds=holds, **who).enter)

    def arriving(
        self, *, code: str | None = None, holds: str | None = None, **who: Unpack[Visitor]
    ) -> Arriving:
        """Somebody who comes, to be let in by a transaction that may do more than that; see `enter`."""
        platform, person, origin = who.get("platform"), who.get("person"), self._origin(who.get("origin"))
        language = language_of(self.study, who.get("language"))
        if platform is None or person is None:
            is_bot = who.get("is_bot", False)
            link = None if is_bot else code_link(self._link_key, code)
            return Arriving(
                partial(enter, code=code, is_bot=is_bot, origin=origin, language=language, link=link),
                lambda _work: False,
            )
        key = self._key()
        known = known_person(
            key,
            self.study.hash,
            platform,
            person,
            who.get("return_to"),
            who.get("session"),
            link_key=self._link_key,
        )
        own = token_hash(holds) if holds is not None and not is_lent(holds) else None

        def let_in(work: Transaction) -> str:
            owns = enter_person(work, known, own, origin, language)
            return known.token if owns else lent_token(key, known.token)

        return Arriving(let_in, partial(is_known, person=known))

    def language(self, token: str) -> str | None:
        """The language of a participant's pages; None if nobody has the token, or all of theirs was deleted."""
        if len(self.study.spec.languages) == 1:
            return self.study.spec.languages[0]
        hashed = token_hash(token)
        if hashed not in self._languages:
            keys = {"study_id": self.study_id, "token_hash": hashed}
            found = self.database.read(
                lambda connection: connection.execute(LANGUAGE_OF, keys).scalar_one_or_none()
            )
            if found is None:
                return None
            if len(self._languages) > MOST_LANGUAGES:
                self._languages.clear()
            self._languages[hashed] = str(found)
        return self._languages[hashed]

    def opened_by(self, shown: str) -> tuple[str, bool]:
        """The token behind what stands in an address or a cookie, and whether it is the participant's own.

        What is only lent, to somebody who came by a platform's ids alone, shows the way on but deletes nothing.
        """
        if not is_lent(shown):
            return shown, True
        return token_behind(self._key(), shown) or "", False

    def person_hash(self, platform: str, person: str) -> str:
        """What the database knows of somebody whom a platform sent."""
        return known_person(self._key(), self.study.hash, platform, person).hash

    def signature(self, platform: str, person: str) -> str:
        """What a signed link shows beside the platform's id of the person; nobody else can make it."""
        return self.keyed(f"signed {platform} {person}")[:32]

    def bot_pass(self) -> str:
        """What a simulated person shows when it enters, to be marked as a bot: known to whoever has the database."""
        return self.keyed("bots")

    def keyed(self, message: str) -> str:
        """What only this database can say of a message: a mark that nobody can make without its secret."""
        return hmac.digest(self._secret().encode(), message.encode("utf-8", "replace"), "sha256").hex()

    def consent(self, token: str, agreed: bool, *, linked: bool = False) -> ParticipantView | None:
        """Notes the decision and gives whoever agrees a place and their steps, once; None for an unknown token.

        Args:
            token: the participant's.
            agreed: to take part.
            linked: to be known again in other studies of the same research, where the study asks for that.
        """
        self.write(consent, token_hash(token), agreed=agreed, linked=linked)
        return self.look(token)

    def show(self, token: str) -> ParticipantView | None:
        """What to draw now; the first display of a step fixes its deadline. None for an unknown token."""
        # Between looking and noting it, another tab may have moved on: then we look again.
        step: Due
        for _ in range(LOOKS):
            seen = self.read(find, token_hash(token))
            if not isinstance(seen, Due):
                if seen is not None and seen.queue:
                    self.write(keep_waiting, seen.participant)
                return seen
            step = seen
            displayed = self.write(display, step, token_hash(token))
            if displayed is not None:
                return displayed
        raise RuntimeError(
            f"No step of participant {step.row.id} can be shown; the last one looked at was {step.row.current}."
        )

    def look(self, token: str) -> ParticipantView | None:
        """Where the participant is, without counting it as a display. None for an unknown token."""
        return self.read(look, token_hash(token))

    def leaf(self, token: str, ord: int) -> ParticipantView | None:
        """An earlier page of the phase, looked at again and noted as an event; None where there is none to be seen."""
        return self.write(leaf, token_hash(token), ord)

    def submit(
        self, token: str, ord: int, nonce: str, given: Mapping[str, str], client: Mapping[str, object]
    ) -> Submitted:
        """Stores the answers to a step, once, and moves the participant on.

        Args:
            token: the participant's.
            ord: the step that the page showed.
            nonce: of that page.
            given: by question: the position of the chosen option ("1" is the first), or the text.
            client: the browser's times, by name.
        """
        return self.write(submit, token_hash(token), ord, nonce, given, client)

    def event(self, token: str, type: str, data: Mapping[str, object]) -> None:
        """Keeps what a browser reports; an unknown token is ignored."""

        def keep_it(work: Transaction) -> None:
            person = lock(work, token_hash(token))
            if person is not None and person.status != "withdrawn":
                note_rejected(work, person, person.current, clean(type)[:40], keepable(data))

        self.write(keep_it)

    def withdraw(self, token: str, *, delete: bool = False) -> ParticipantView | None:
        """Ends somebody's part at their wish: the place is free again; None for an unknown token.

        Args:
            token: the participant's.
            delete: whether what they gave is deleted too; it can also be deleted later.
        """
        self.withdraw_known("token_hash", token_hash(token), delete=delete, by="participant")
        return self.look(token)

    def withdraw_known(self, known: Known, value: str, *, delete: bool, by: str) -> Withdrawal | None:
        """The same for somebody who is known by something else; None if there is nobody."""
        return self.write(withdraw, known, value, delete=delete, by=by)

    def return_to(self, token: str) -> Mapping[str, str] | None:
        """What the platform that sent the participant must be told at the end, if anything."""
        keys = {"study_id": self.study_id, "token_hash": token_hash(token)}
        told: Mapping[str, str] | None = self.database.read(
            lambda connection: connection.execute(RETURN_TO, keys).scalar_one_or_none()
        )
        return told

    def due(self) -> int:
        """Of how many people the data are to be deleted, since the time for which they are kept is over."""
        return self.read(due)

    def purge(self, *, by: str = "command line") -> Purged:
        """Deletes what is due, some people at a time."""
        latest, purged = self.read(last_moment), Purged()
        while latest is not None and (some := self.write(purge_some, latest, by=by)).people:
            purged = Purged(purged.people + some.people, purged.answers + some.answers)
        return purged

    def make_codes(self, count: int = 0, again: Sequence[str] = ()) -> list[str]:
        """New codes for entering, each for one participant; or for those who had codes of another study."""
        return self.write(make_codes, count, again)

    def set_state(self, state: State, *, by: str = "command line") -> None:
        """Opens, pauses or closes the study; who is in a closed study may finish, answers are always taken.

        Args:
            state: in which the study is then.
            by: who did it, for the list of actions.
        """
        if state not in ("open", "paused", "closed"):
            raise VeraxError(f"A study is open, paused or closed; {state!r} is none of them.")

        def set_it(work: Transaction) -> None:
            if work.connection.execute(SET_STATE, {"study_id": work.study_id, "new": state}).rowcount:
                act(work, by, state, {})

        self.write(set_it)

    def close(self) -> None:
        """Closes the connections; nothing waits to be written."""
        self.database.close()

    def _origin(self, origin: tuple[str, str] | None) -> tuple[str, str] | None:
        """Keyed hashes of where somebody comes from."""
        return (
            None if origin is None else (self.keyed(f"origin {origin[0]}"), self.keyed(f"subnet {origin[1]}"))
        )

    def _key(self) -> bytes:
        return self._secret().encode() if self._given_key is None else self._given_key

    def _secret(self) -> str:
        return self.read(state_of).secret

    def begin(self, connection: Connection) -> Transaction:
        """Work on this study with a connection to its database."""
        return Transaction(connection, self.study, self.study_id, to_micros(self.clock()), self.preview)


def open_store(
    study: Study,
    url: str,
    *,
    clock: Callable[[], datetime] = utc_now,
    preview: bool = False,
    key: bytes | None = None,
    link: bytes | None = None,
) -> Store:
    """The store of a study in the database at a URL, whose tables are made or brought up to date.

    If the study was moved away from there, it is the store in the new database.

    Args:
        study: a saved one: its hash says which answers belong to it.
        url: ``sqlite:///answers.db`` or ``postgresql://user:password@host/name``.
        clock: the time, with a time zone.
        preview: marks every page as one whose answers are not for keeps.
        key: of the hashes of people's ids, as `platform_key` gives it; a secret of the database itself if None.
        link: of the hashes by which people are known again in other studies, as `link_key` gives it.
    """
    database, study_id = open_registered(study, url, clock)
    return Store(study, study_id, database, clock, preview=preview, key=key, link=link)
