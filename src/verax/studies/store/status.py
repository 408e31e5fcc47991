"""How a study stands: who is where, which places are filled, times, drop-outs, exclusions, and how fast it fills.

Everything is counted by the database, so that it takes no time worth naming however many people there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from sqlalchemy import Connection, Select, bindparam, case, func, inspect, select
from sqlalchemy.exc import DBAPIError

from verax.errors import VeraxError
from verax.studies.definition.study import Cells, Study
from verax.studies.store.clock import SECOND, from_micros
from verax.studies.store.database.engine import open_database, reason_of
from verax.studies.store.database.location import present_url, shown, sqlite_file
from verax.studies.store.identifiers import pseudonym
from verax.studies.store.participant.withdraw import due
from verax.studies.store.people import AT_STEP, HAS_LEFT, Transaction, is_blind, rules_in_force, state_of
from verax.studies.store.store import Store
from verax.studies.store.tables import exclusions, participants, steps, studies

HOUR = 3600 * SECOND
WINDOW = 24  # hours that the pace is taken from
FEWEST = 3  # who must have finished in them before anything is foretold

FINISHED = (
    select((participants.c.finished_at // HOUR).label("hour"), func.count().label("people"))
    .where(
        participants.c.study_id == bindparam("study_id"),
        participants.c.is_bot.is_(False),
        participants.c.status == "complete",
    )
    .group_by("hour")
    .order_by("hour")
)


@dataclass(frozen=True)
class Forecast:
    """When the last place will be filled: at the pace of the last hours, and the ends of its 95% interval (ISO 8601).

    Attributes:
        finished: how many did, in so many ``hours``.
        at: the estimate.
        earliest, latest: taking who finishes in an hour as a Poisson process.
    """

    finished: int
    hours: float
    at: str
    earliest: str
    latest: str


@dataclass(frozen=True)
class Pace:
    """How many finished by each hour (since 1970), and what is foretold; None where there is too little to go on."""

    hours: tuple[tuple[int, int], ...]
    forecast: Forecast | None

    @property
    def line(self) -> str:
        """The number of those who finished over time, as the points of a line in a box of 100 by 100."""
        if len(self.hours) < 2:
            return ""
        first, last = self.hours[0][0], self.hours[-1][0]
        total, done = sum(people for _, people in self.hours), 0
        points = ["0,100"]
        for hour, people in self.hours:
            place = 100 * (hour - first) / (last - first)
            points.append(f"{place:.2f},{100 - 100 * done / total:.2f}")
            done += people
            points.append(f"{place:.2f},{100 - 100 * done / total:.2f}")
        return " ".join(points)


def pace(work: Transaction, places_left: int) -> Pace:
    """How fast people finish.

    Args:
        work: a transaction.
        places_left: how many still have to.
    """
    rows = work.connection.execute(FINISHED, {"study_id": work.study_id})
    hours = tuple((int(hour), int(people)) for hour, people in rows)
    return Pace(hours, forecast(hours, places_left, work.now))


def forecast(hours: Sequence[tuple[int, int]], places_left: int, now: int) -> Forecast | None:
    """When so many more will have finished, if it goes on as in the last day; None if too few finished in it."""
    if not hours or places_left <= 0:
        return None
    begin = max(hours[0][0], now // HOUR - WINDOW + 1)
    finished = sum(people for hour, people in hours if hour >= begin)
    if finished < FEWEST:
        return None
    from scipy.stats import chi2

    passed = max(now / HOUR - begin, 1.0)
    slowest, fastest = chi2.ppf(0.025, 2 * finished) / 2, chi2.ppf(0.975, 2 * finished + 2) / 2

    def ends(in_window: float) -> str:
        return from_micros(int(now + places_left / in_window * passed * HOUR)).isoformat(timespec="minutes")

    return Forecast(finished, passed, ends(finished), ends(fastest), ends(slowest))


LAST = 50
TIMED = 300  # people whose times are looked at
MINUTE = 60 * SECOND

_of_study = participants.c.study_id == bindparam("study_id")
COUNTS = (
    select(
        participants.c.is_bot,
        participants.c.status,
        HAS_LEFT.label("left"),
        participants.c.design_row,
        func.count().label("people"),
    )
    .where(_of_study)
    .group_by(participants.c.is_bot, participants.c.status, "left", participants.c.design_row)
)
DROPPED = (
    select(participants.c.is_bot, steps.c.phase, func.count().label("people"))
    .join_from(participants, steps, AT_STEP)
    .where(_of_study, participants.c.status.in_(["screened-out", "withdrawn"]) | HAS_LEFT)
    .group_by(participants.c.is_bot, steps.c.phase)
)
EXCLUDED = (
    select(participants.c.is_bot, exclusions.c.rule, func.count().label("people"))
    .join_from(exclusions, participants)
    .where(_of_study, exclusions.c.lifted_at.is_(None))
    .group_by(participants.c.is_bot, exclusions.c.rule)
)
OUT = (
    select(participants.c.is_bot, func.count(exclusions.c.participant_id.distinct()).label("people"))
    .join_from(exclusions, participants)
    .where(_of_study, exclusions.c.lifted_at.is_(None))
    .group_by(participants.c.is_bot)
)
NEWEST = (
    select(participants, HAS_LEFT.label("left"), steps.c.phase)
    .outerjoin_from(participants, steps, AT_STEP)
    .where(_of_study)
    .order_by(participants.c.last_seen_at.desc(), participants.c.id.desc())
    .limit(bindparam("last"))
)
UNKEPT = select(func.coalesce(func.sum(participants.c.unkept), 0)).where(_of_study)
_timed = (
    select(participants.c.id)
    .where(_of_study, participants.c.is_bot == bindparam("is_bot"), participants.c.consented_at.is_not(None))
    .order_by(participants.c.last_seen_at.desc())
    .limit(TIMED)
)
_undone = func.sum(case((steps.c.state.in_(["pending", "open"]), 1), else_=0))
TIMES = (
    select(
        steps.c.phase,
        func.min(steps.c.ord).label("first"),
        func.sum(steps.c.closed_at - steps.c.opened_at).label("time"),
    )
    .where(steps.c.participant_id.in_(_timed))
    .group_by(steps.c.participant_id, steps.c.phase)
    .having(_undone == 0)
)


@dataclass(frozen=True)
class RowCount:
    """A row of the design.

    Attributes:
        row: its number.
        cells: what it gives its participants.
        target: how many shall complete it.
        complete: how many did.
        active: how many are at it and hold their place.
        left: how many are in the middle, but away for longer than a place is held.
    """

    row: int
    cells: Cells
    target: int
    complete: int
    active: int
    left: int


@dataclass(frozen=True)
class PhaseTime:
    """The minutes that people spent on the pages of a phase that they have behind them: quartiles."""

    phase: str
    title: str
    people: int
    low: float
    median: float
    high: float


@dataclass(frozen=True)
class Group:
    """The people of a study, or its bots.

    Attributes:
        counts: by status, how many; "left" are those of the active who are away for longer than a place is held, and
            are not in "active".
        rows: by row of the design.
        phases: the times, of the last 300 who agreed.
        dropped: by phase, how many left, withdrew or were screened out in it; not those whose steps are deleted.
        excluded: by rule, how many it holds for.
        out: how many some rule holds for.
    """

    counts: Mapping[str, int]
    rows: tuple[RowCount, ...]
    phases: tuple[PhaseTime, ...]
    dropped: Mapping[str, int]
    excluded: Mapping[str, int]
    out: int = 0

    @property
    def came(self) -> int:
        """How many came."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class ParticipantStatus:
    """Where a participant is; `step` counts from 1 and is 0 before the consent.

    While experimenters are blind, the row and the number of steps of people are None: they could tell the condition.
    """

    participant: str
    bot: bool
    status: str
    row: int | None
    phase: str | None
    step: int
    steps: int | None
    minutes: float | None
    ago: float
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Overview:
    """How a study stands.

    Attributes:
        title, hash: of the study.
        state: open, paused or closed.
        frozen: when it was frozen (ISO 8601), if it was.
        at: the moment of all this (ISO 8601).
        people, bots: apart.
        last: who did something last, the latest first; their `ago` is in minutes.
        retention_days: for how long answers are kept.
        due: how many people's answers are to be deleted by now.
        unkept: how often something that was sent in vain was only counted, since too much of it was kept already.
    """

    title: str
    hash: str
    state: str
    frozen: str | None
    at: str
    people: Group
    bots: Group
    last: tuple[ParticipantStatus, ...] = field(default=())
    retention_days: int | None = None
    due: int = 0
    unkept: int = 0


def overview(store: Store, *, frozen: str | None = None, last: int = LAST) -> Overview:
    """How the study stands now.

    Args:
        store: of the study.
        frozen: when the study was frozen, which stands in its folder.
        last: of how many people to say where they are.
    """
    study = store.study
    with store.snapshot() as work:
        state = state_of(work)
        people, bots = _groups(work)
        return Overview(
            title=study.spec.title,
            hash=study.hash,
            state=state.state,
            frozen=frozen,
            at=from_micros(work.now).isoformat(timespec="seconds"),
            people=people,
            bots=bots,
            last=_last(work, state.secret, last),
            retention_days=study.spec.retention_days,
            due=due(work),
            unkept=work.connection.execute(UNKEPT, {"study_id": work.study_id}).scalar_one(),
        )


def _groups(work: Transaction) -> Iterator[Group]:
    """The people, then the bots."""
    keys = {"study_id": work.study_id, "now": work.now}
    counted, dropped, excluded, out = (
        work.connection.execute(query, keys).all() for query in (COUNTS, DROPPED, EXCLUDED, OUT)
    )
    for is_bot in (False, True):
        counts: Counter[str] = Counter()
        by_row: Counter[tuple[int, str]] = Counter()
        for bot, status, left, row, people in counted:
            if bot == is_bot:
                counts["left" if left else status] += people
                by_row[row, "left" if left else status] += people
        yield Group(
            counts=dict(counts),
            rows=_rows(work.study, by_row),
            phases=_phase_times(work, is_bot=is_bot) if counts else (),
            dropped={phase: people for bot, phase, people in dropped if bot == is_bot},
            excluded={rule: people for bot, rule, people in excluded if bot == is_bot},
            out=sum(people for bot, people in out if bot == is_bot),
        )


def _rows(study: Study, people: Mapping[tuple[int, str], int]) -> tuple[RowCount, ...]:
    return tuple(
        RowCount(
            row.number,
            row.cells,
            row.target,
            **{status: people[row.number, status] for status in ("complete", "active", "left")},
        )
        for row in study.rows
    )


def _phase_times(work: Transaction, *, is_bot: bool) -> tuple[PhaseTime, ...]:
    import numpy as np

    minutes: dict[str, list[float]] = {}
    first: dict[str, int] = {}
    for phase, place, time in work.connection.execute(TIMES, {"study_id": work.study_id, "is_bot": is_bot}):
        first[phase] = min(place, first.get(phase, place))
        if time is not None:
            minutes.setdefault(phase, []).append(float(time) / MINUTE)
    return tuple(
        PhaseTime(
            phase,
            work.study.phases[phase].title,
            len(minutes[phase]),
            *(float(quartile) for quartile in np.percentile(minutes[phase], [25, 50, 75])),
        )
        for phase in sorted(minutes, key=lambda phase: (first[phase], phase))
    )


def _last(work: Transaction, secret: str, last: int) -> tuple[ParticipantStatus, ...]:
    keys = {"study_id": work.study_id, "now": work.now, "last": last}
    people = work.connection.execute(NEWEST, keys).all()
    rules = rules_in_force(work, [person.id for person in people])
    blind = is_blind(work)
    return tuple(
        ParticipantStatus(
            participant=pseudonym(secret, person.token_hash),
            bot=person.is_bot,
            status="left" if person.left else person.status,
            row=None if blind and not person.is_bot else person.design_row,
            phase=person.phase,
            step=person.current,
            steps=None if blind and not person.is_bot else person.steps,
            minutes=None
            if person.consented_at is None
            else ((person.finished_at or person.last_seen_at) - person.consented_at) / MINUTE,
            ago=(work.now - person.last_seen_at) / MINUTE,
            rules=tuple(rules.get(person.id, ())),
        )
        for person in people
    )


def people_who_agreed(url: str, title: str) -> int:
    """How many people, not bots, have agreed to take part in the study of this name (or title); nothing is changed."""
    query = (
        select(func.count())
        .select_from(participants.join(studies))
        .where(studies.c.title == title, participants.c.consented_at.is_not(None), ~participants.c.is_bot)
    )
    return _counted(url, query)


def holds_study(url: str, study: Study) -> bool:
    """Whether a database has this very study; nothing is changed."""
    return _counted(url, select(func.count()).where(studies.c.hash == study.hash)) > 0


def _counted(url: str, query: Select[int]) -> int:
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
        raise VeraxError(
            f"The database {shown(url)} cannot be read ({reason_of(error)}); check its address."
        ) from error
