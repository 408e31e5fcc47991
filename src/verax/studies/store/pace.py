"""How fast a study fills: who finished hour by hour, and when its last place will be filled if that goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, func, select

from verax.studies.store.clock import SECOND, from_micros
from verax.studies.store.people import Transaction
from verax.studies.store.tables import participants

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
