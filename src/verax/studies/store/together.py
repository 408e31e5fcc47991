"""Studies that are offered together: whoever comes is given one of them, and there a condition, as its targets need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Unpack

from sqlalchemy import Connection, Select, bindparam, func, select

from verax.errors import VeraxError
from verax.studies.definition.study import Study
from verax.studies.design import Places, choose_study
from verax.studies.store.clock import micros, utc_now
from verax.studies.store.database.location import open_registered, register
from verax.studies.store.identifiers import link_key, platform_key
from verax.studies.store.participant.participant_view import Refused
from verax.studies.store.people import Transaction, state_of, taken
from verax.studies.store.store import Store, Visitor
from verax.studies.store.tables import participants

_of_study = (
    participants.c.study_id == bindparam("study_id"),
    participants.c.is_bot == bindparam("is_bot"),
)
ARRIVED = select(func.count()).where(*_of_study)
# Who has come and reads the consent, or has closed the page.
READING = ARRIVED.where(participants.c.status == "invited", participants.c.created_at > bindparam("since"))


def folder_of(study: Study) -> str:
    """Behind which address a study's pages lie where it is served with others: the same after a restart."""
    return f"/{study.hash[:8]}"


class Together:
    """Studies in one database with one way in.

    Attributes:
        stores: of the studies, in the order in which the database knows them, so that who is given which does not
            depend on the order in which they are named.
    """

    def __init__(self, stores: Sequence[Store]) -> None:
        self.stores = tuple(sorted(stores, key=lambda store: store.study_id))

    def enter(
        self, *, holds: Mapping[str, str] = MappingProxyType({}), **who: Unpack[Visitor]
    ) -> tuple[Store, str]:
        """The study that somebody new is given, and their token there; whom a platform sent before gets theirs again.

        Args:
            holds: what the browser kept from before, by the study's hash.
            who: see `Who`.

        Raises:
            Refused: nobody can enter any of the studies now, or not with this session.
        """
        arriving = [store.arriving(holds=holds.get(store.study.hash), **who) for store in self.stores]

        def enter(connection: Connection) -> tuple[Store, str]:
            works = [store.begin(connection) for store in self.stores]
            known = [place for place, work in enumerate(works) if arriving[place].is_known(work)]
            if not known:
                # All arrivals wait for each other, always in this order: each sees the places that those before took.
                states = [state_of(work, lock=True).state for work in works]
                # Who came twice at the same moment is known by now.
                known = [place for place, work in enumerate(works) if arriving[place].is_known(work)]
            place = known[0] if known else _choose(works, states, is_bot=who.get("is_bot", False))
            return self.stores[place], arriving[place].enter(works[place])

        return self.stores[0].database.write(enter)

    def close(self) -> None:
        """Closes the connections; nothing waits to be written."""
        for store in self.stores:
            store.close()


def _choose(works: Sequence[Transaction], states: Sequence[str], *, is_bot: bool) -> int:
    """The place in the list of the study for somebody new."""
    open_ones = [place for place, state in enumerate(states) if state == "open"]
    if not open_ones:
        raise Refused("paused" if "paused" in states else "closed")
    designs = [works[place].study.rows for place in open_ones]
    places = [taken(works[place], is_bot=is_bot) for place in open_ones]
    arrival = 1 + sum(_count(ARRIVED, work, is_bot) for work in works)
    # Who still reads the consent takes no place, but will: or all who come at once would be given the same study. Where
    # nothing else is left, their places are anybody's, since they may have gone for good.
    expected = [
        _with_readers(works[place], people, is_bot) for place, people in zip(open_ones, places, strict=True)
    ]
    for people in (expected, places):
        chosen = choose_study(designs, people, works[0].study.spec.seed, arrival)
        if chosen is not None:
            return open_ones[chosen]
    raise Refused("full")


def _with_readers(work: Transaction, places: Places, is_bot: bool) -> Places:
    """The places taken, with those who came lately and have not decided yet at the door."""
    since = work.now - micros(work.study.spec.timing.hold_minutes * 60)
    reading = _count(READING, work, is_bot, since=since)
    return Places(places.rows, places.orders, places.at_door + reading)


def _count(query: Select[int], work: Transaction, is_bot: bool, **more: int) -> int:
    keys = {"study_id": work.study_id, "is_bot": is_bot, **more}
    return work.connection.execute(query, keys).scalar_one()


def open_together(
    studies: Sequence[Study],
    url: str,
    *,
    clock: Callable[[], datetime] = utc_now,
    folders: Sequence[str | Path] = (),
) -> Together:
    """The stores of several studies in one database, as `open_store` opens one.

    Args:
        studies: saved ones with names (or else titles) of their own.
        url: of the database.
        clock: the time, with a time zone.
        folders: of the studies, where the keys lie by which people whom a platform sends are known again.
    """
    names = Counter(study.spec.own_name for study in studies)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise VeraxError(
            f"{names[twice[0]]} of the studies are called {twice[0]!r}, by which a database tells studies apart; give "
            "each a name of its own (name = ... in the spec, which participants do not see) and build again."
        )
    database, first = open_registered(studies[0], url, clock)
    try:
        numbers = [first, *(register(database, study, clock) for study in studies[1:])]
        keys = [(platform_key(*one), link_key(*one)) for one in zip(studies, folders, strict=False)]
    except BaseException:
        database.close()
        raise
    return Together(
        [
            Store(study, number, database, clock, key=key, link=link)
            for study, number, (key, link) in zip(
                studies, numbers, keys or [(None, None)] * len(studies), strict=True
            )
        ]
    )
