"""Many simulated people at once, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event, Lock

from verax.errors import VeraxError
from verax.studies.bots.album import make_album
from verax.studies.bots.browser import Browser
from verax.studies.bots.language import LanguagePerson, Reader
from verax.studies.bots.mixture import Mixture, as_mixture
from verax.studies.bots.person import Person
from verax.studies.bots.profiles import Profile
from verax.studies.bots.walk import Acknowledged, BotRun, Manner, Pace, walk
from verax.studies.model.study import Study
from verax.studies.store.together import folder_of

# How many seconds somebody tries again where no answer comes.
PATIENCE = 60.0


@dataclass(frozen=True)
class Progress:
    """How far all of them are: how many have ended, and how many pages were acknowledged."""

    ended: int
    pages: int


def run_bots(
    study: Study,
    url: str,
    bot_pass: str,
    profiles: Mixture | Profile | str,
    n: int,
    *,
    seed: int = 0,
    concurrent: int = 10,
    pace: Pace = "fast",
    progress: Callable[[Progress], None] | None = None,
    patience: float = PATIENCE,
    stop: Event | None = None,
    others: Sequence[Study] = (),
    reader: Reader | None = None,
) -> list[BotRun]:
    """Sends simulated people through a study that is served; what became of each.

    Args:
        study: as it is served: they know the right answers from it, and find out from the pages where they are.
        url: the study's first page.
        bot_pass: of the study's store, see `Store.bot_pass`.
        profiles: who they are, such as ``"helped(by=0.1)=0.8,guesser=0.2"``.
        n: how many.
        seed: of all their decisions.
        concurrent: how many at once.
        pace: "human" looks at pages as long as people do, "fast" does not wait.
        progress: called after every page.
        patience: for how many seconds they try again where no answer comes, as while the server is restarted.
        stop: when it is set, everybody leaves.
        others: studies that are served together with this one.
        reader: a language model that takes part in their place, with nothing but what stands on the pages.
    """
    check_counts(n, concurrent)
    people = as_mixture(profiles).people(n, seed) if reader is None else [reader.profile] * n
    album, ended, stopped = make_album(study), _Count(progress), stop or Event()
    studies = {folder_of(study): album} | {folder_of(other): make_album(other) for other in others}
    manner = Manner(pace, stopped, ended.told)

    def go(number: int) -> BotRun:
        if stopped.is_set():
            return BotRun(number, str(people[number - 1]), "not-begun")
        person: Person | LanguagePerson
        if reader is None:
            person = Person(album, people[number - 1], seed, number)
        else:
            tested = None if study.screening is None else study.screening.answers
            person = LanguagePerson(reader, seed, number, tested)
        # Who is waiting for an answer leaves too.
        browser = Browser(url, patience=patience, pause=stopped.wait)
        done = walk(person, browser, bot_pass, manner, studies)
        ended.one_more()
        return done

    threads = ThreadPoolExecutor(concurrent, "bot")
    try:
        return list(threads.map(go, range(1, n + 1)))
    except BaseException:
        stopped.set()
        raise
    finally:
        threads.shutdown(cancel_futures=True)


def check_counts(n: int, concurrent: int) -> None:
    """Refuses numbers of people that are none."""
    if n < 1 or concurrent < 1:
        raise VeraxError(f"{n} bots, {concurrent} at once, are nobody; give at least 1 of each.")


class _Count:
    """Counts what all threads tell."""

    def __init__(self, progress: Callable[[Progress], None] | None) -> None:
        self._progress = progress
        self._lock = Lock()
        self._ended = self._pages = 0

    def told(self, answers: tuple[Acknowledged, ...]) -> None:  # noqa: ARG002
        self._count(pages=1)

    def one_more(self) -> None:
        self._count(ended=1)

    def _count(self, *, ended: int = 0, pages: int = 0) -> None:
        with self._lock:
            self._ended += ended
            self._pages += pages
            if self._progress is not None:
                self._progress(Progress(self._ended, self._pages))


def summarise(runs: Sequence[BotRun]) -> dict[str, object]:
    """What became of all: by status and profile, pages sent and acknowledged, and what went wrong."""
    return {
        "bots": len(runs),
        "status": dict(Counter(run.status for run in runs).most_common()),
        "profiles": dict(Counter(run.profile for run in runs).most_common()),
        "pages_sent": sum(run.sent for run in runs),
        "pages_acknowledged": sum(len({answer.ord for answer in run.acknowledged}) for run in runs),
        "answers_acknowledged": sum(bool(answer.question) for run in runs for answer in run.acknowledged),
        "problems": dict(Counter(run.problem for run in runs if run.problem).most_common()),
    }
