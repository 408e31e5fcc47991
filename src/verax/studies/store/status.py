"""How a study stands: who is where, which places of the design are filled, times, drop-outs and exclusions.

Everything is counted by the database, so that it takes no time worth naming however many people there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, bindparam, case, func, select

from verax.studies.model.study import Study
from verax.studies.store.clock import SECOND, from_micros, to_micros
from verax.studies.store.retention import due, last_moment
from verax.studies.store.tables import exclusions, participants, steps, studies
from verax.studies.store.tokens import pseudonym

if TYPE_CHECKING:
    from verax.studies.store.store import Store

LAST = 50
TIMED = 300  # people whose times are looked at
MINUTE = 60 * SECOND

STUDY = select(studies.c.state, studies.c.secret).where(studies.c.id == bindparam("study_id"))
_of_study = participants.c.study_id == bindparam("study_id")
# Active, but away for longer than a place is held.
_left = case(
    (and_(participants.c.status == "active", participants.c.hold_until <= bindparam("now")), 1), else_=0
)
_at_step = and_(steps.c.participant_id == participants.c.id, steps.c.ord == participants.c.current)
COUNTS = (
    select(
        participants.c.is_bot,
        participants.c.status,
        _left.label("left"),
        participants.c.design_row,
        func.count().label("people"),
    )
    .where(_of_study)
    .group_by(participants.c.is_bot, participants.c.status, "left", participants.c.design_row)
)
DROPPED = (
    select(participants.c.is_bot, steps.c.phase, func.count().label("people"))
    .join_from(participants, steps, _at_step)
    .where(_of_study, participants.c.status.in_(["screened-out", "withdrawn"]) | (_left == 1))
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
    select(participants, _left.label("left"), steps.c.phase)
    .outerjoin_from(participants, steps, _at_step)
    .where(_of_study)
    .order_by(participants.c.last_seen_at.desc(), participants.c.id.desc())
    .limit(bindparam("last"))
)
RULES = (
    select(exclusions.c.participant_id, exclusions.c.rule)
    .where(
        exclusions.c.participant_id.in_(bindparam("people", expanding=True)), exclusions.c.lifted_at.is_(None)
    )
    .order_by(exclusions.c.rule)
)
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
    cells: Mapping[str, Any]
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
class Seen:
    """Where a participant is; `step` counts from 1 and is 0 before the consent."""

    participant: str
    bot: bool
    status: str
    row: int | None
    phase: str | None
    step: int
    steps: int
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
    """

    title: str
    hash: str
    state: str
    frozen: str | None
    at: str
    people: Group
    bots: Group
    last: tuple[Seen, ...] = field(default=())
    retention_days: int | None = None
    due: int = 0


def overview(store: Store, *, frozen: str | None = None, last: int = LAST) -> Overview:
    """How the study stands now.

    Args:
        store: of the study.
        frozen: when the study was frozen, which stands in its folder.
        last: of how many people to say where they are.
    """
    study, now = store.study, to_micros(store.clock())
    keys = {"study_id": store.study_id, "now": now}
    with store.database.snapshot() as connection:
        about = connection.execute(STUDY, keys).one()
        people, bots = _groups(connection, study, keys)
        latest = last_moment(study.spec, now)
        return Overview(
            title=study.spec.title,
            hash=study.hash,
            state=about.state,
            frozen=frozen,
            at=from_micros(now).isoformat(timespec="seconds"),
            people=people,
            bots=bots,
            last=_last(connection, about.secret, keys | {"last": last}),
            retention_days=study.spec.retention_days,
            due=0 if latest is None else due(connection, store.study_id, latest),
        )


def _groups(connection: Connection, study: Study, keys: Mapping[str, int]) -> Iterator[Group]:
    """The people, then the bots."""
    counted, dropped, excluded, out = (
        connection.execute(query, keys).all() for query in (COUNTS, DROPPED, EXCLUDED, OUT)
    )
    for is_bot in (False, True):
        counts: Counter[str] = Counter()
        by_row: Counter[tuple[int, str]] = Counter()
        for found in _of(counted, is_bot):
            status = "left" if found.left else found.status
            counts[status] += found.people
            by_row[found.design_row, status] += found.people
        yield Group(
            counts=dict(counts),
            rows=_rows(study, by_row),
            phases=_phase_times(connection, study, dict(keys) | {"is_bot": is_bot}) if counts else (),
            dropped={found.phase: found.people for found in _of(dropped, is_bot)},
            excluded={found.rule: found.people for found in _of(excluded, is_bot)},
            out=sum(found.people for found in _of(out, is_bot)),
        )


def _of(rows: Iterable[Any], is_bot: bool) -> list[Any]:
    return [row for row in rows if row.is_bot == is_bot]


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


def _phase_times(connection: Connection, study: Study, keys: Mapping[str, Any]) -> tuple[PhaseTime, ...]:
    import numpy as np

    minutes: dict[str, list[float]] = {}
    first: dict[str, int] = {}
    for found in connection.execute(TIMES, keys):
        first[found.phase] = min(found.first, first.get(found.phase, found.first))
        if found.time is not None:
            minutes.setdefault(found.phase, []).append(float(found.time) / MINUTE)
    return tuple(
        PhaseTime(
            phase,
            study.phases[phase].title,
            len(minutes[phase]),
            *(float(quartile) for quartile in np.percentile(minutes[phase], [25, 50, 75])),
        )
        for phase in sorted(minutes, key=lambda phase: (first[phase], phase))
    )


def _last(connection: Connection, secret: str, keys: Mapping[str, int]) -> tuple[Seen, ...]:
    people = connection.execute(NEWEST, keys).all()
    rules: dict[int, list[str]] = {}
    for row in connection.execute(RULES, {"people": [person.id for person in people]}):
        rules.setdefault(row.participant_id, []).append(row.rule)
    return tuple(
        Seen(
            participant=pseudonym(secret, person.token_hash),
            bot=person.is_bot,
            status="left" if person.left else person.status,
            row=person.design_row,
            phase=person.phase,
            step=person.current,
            steps=person.steps,
            minutes=None
            if person.consented_at is None
            else ((person.finished_at or person.last_seen_at) - person.consented_at) / MINUTE,
            ago=(keys["now"] - person.last_seen_at) / MINUTE,
            rules=tuple(rules.get(person.id, ())),
        )
        for person in people
    )
