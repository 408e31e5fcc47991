"""A server killed with -9 again and again under bots: every answer that they were told is stored is there, once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from real_parts import free_port
from small_study import small_study
from store_tools import Processes, run_together
from verax.studies.bots import BotRun, run_bots
from verax.studies.bots.page import read_page
from verax.studies.definition.study import Study
from verax.studies.definition.study_files import save_study
from verax.studies.store import Store, open_store
from verax.studies.store.identifiers import token_hash
from verax.studies.store.tables import participants, responses, steps
from verax.web.serve import serve as serve_study

BOTS = 50
# Of the eleven steps two are a second try at the screening test, which nobody needs.
STEPS = (1, 2, 5, 6, 7, 8, 9, 10, 11)
PROFILES = "helped=0.6,double-clicker(copies=3)=0.2,reloader=0.2"
LONG = 240  # seconds after which something hangs, on any machine
SERVE = "from sys import argv as a; from verax.web.serve import serve; serve(a[1], database=a[2], port=a[3], workers=2)"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path) -> str:
    """An empty database, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'answers.sqlite'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture(scope="module")
def processes() -> Processes:
    """Starts processes in which nothing of this one is left."""
    return Processes()


# ---- Servers that can be killed

# Starts a server; what kills it, and everything that it started.
Start = Callable[[], Callable[[], None]]


def one_process(processes: Processes, folder: Path, database: str, port: int) -> Start:
    """A server of one process, forked off one that has everything imported."""

    def start() -> Callable[[], None]:
        server = processes.start(partial(serve_study, str(folder), database=database, port=port))

        def kill() -> None:
            server.kill()
            server.join(LONG)
            assert server.exitcode == -signal.SIGKILL

        return kill

    return start


def two_processes(folder: Path, database: str, port: int) -> Start:
    """A server of two processes and the one that watches over them, begun by a command."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}

    def start() -> Callable[[], None]:
        server = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(folder), database, str(port)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

        def kill() -> None:
            os.killpg(server.pid, signal.SIGKILL)
            assert server.wait(LONG) == -signal.SIGKILL

        return kill

    return start


class Pages:
    """How many pages the bots were told are stored; the test waits for it to grow."""

    def __init__(self) -> None:
        self.told = 0

    def __call__(self, now) -> None:
        self.told = now.pages

    def wait(self, enough: int, still: Callable[[], bool]) -> None:
        until = time.monotonic() + LONG
        while self.told < enough:
            assert still(), "the bots ended too early"
            assert time.monotonic() < until, f"after {LONG} seconds the bots had only {self.told} pages"
            time.sleep(0.002)


def run_while_killing(
    study: Study, start: Start, url: str, bot_pass: str, *, bots: int, kills: int
) -> list[BotRun]:
    """Sends bots to a server that is killed and started again, at moments drawn from all of their answers."""
    chance = random.Random(kills)
    moments = sorted(chance.sample(range(1, bots * len(STEPS) - bots // 2), kills))
    pages = Pages()
    kill = start()
    try:
        with ThreadPoolExecutor(1) as thread:
            running = thread.submit(
                run_bots,
                study,
                url,
                bot_pass,
                PROFILES,
                bots,
                seed=1,
                concurrent=bots,
                progress=pages,
                patience=LONG,
            )
            for moment in moments:
                pages.wait(moment, lambda: not running.done())
                time.sleep(chance.random() / 50)
                kill()
                kill = start()
            return running.result(2 * LONG)
    finally:
        kill()


# ---- What must be true afterwards


def stored(store: Store) -> dict[str, list]:
    """All responses by the participant's token hash, with their steps."""
    query = (
        select(
            participants.c.token_hash,
            steps.c.ord,
            steps.c.opened_at,
            steps.c.closed_at,
            responses.c.positions,
            responses.c.received_at,
        )
        .join_from(responses, steps)
        .join(participants)
        .where(participants.c.study_id == store.study_id)
    )
    found: dict[str, list] = defaultdict(list)
    for row in store.database.read(lambda connection: connection.execute(query).all()):
        found[row.token_hash].append(row)
    return found


def check_nothing_lost(store: Store, runs: list[BotRun]) -> None:
    """Every answer that a bot was told is stored is there, once, with its times; and everybody has finished."""
    assert Counter((run.status, run.problem) for run in runs) == {("complete", ""): len(runs)}
    by_token = stored(store)
    assert set(by_token) == {token_hash(run.token) for run in runs}
    for run in runs:
        there = by_token[token_hash(run.token)]
        assert sorted(row.ord for row in there) == list(STEPS)  # each once
        positions = {row.ord: row.positions for row in there}
        for answer in run.acknowledged:
            assert positions[answer.ord].get(answer.question) == answer.position
        assert sorted({answer.ord for answer in run.acknowledged}) == list(STEPS)
        assert max(Counter((answer.ord, answer.question) for answer in run.acknowledged).values()) == 1
        for row in there:
            assert None not in (row.opened_at, row.received_at)
            assert row.opened_at <= row.received_at == row.closed_at
    query = select(
        participants.c.status, participants.c.is_bot, participants.c.number, participants.c.completion_code
    ).where(participants.c.study_id == store.study_id)
    people = store.database.read(lambda connection: connection.execute(query).all())
    done = [row for row in people if row.status == "complete"]
    assert {row.is_bot for row in people} == {True}
    assert sorted(row.number for row in done) == list(range(1, len(runs) + 1))
    assert {row.completion_code for row in done} == {run.completion_code for run in runs}
    # Who was lost between the first page and the cookie came in a second time; nobody took a place so.
    assert {row.status for row in people} <= {"complete", "invited"}


@pytest.fixture
def study(tmp_path) -> Study:
    """The small study in its folder, with a place for each bot."""
    return save_study(small_study(target=BOTS // 2), tmp_path)


@pytest.fixture
def store(study, database) -> Iterator[Store]:
    with closing(open_store(study, database)) as opened:
        yield opened


def test_twenty_kills_under_fifty_bots_lose_nothing(tmp_path, study, database, store, processes):
    port = free_port()
    start = one_process(processes, tmp_path, database, port)
    url = f"http://127.0.0.1:{port}"
    runs = run_while_killing(study, start, url, store.bot_pass(), bots=BOTS, kills=20)
    check_nothing_lost(store, runs)


def test_kills_of_a_server_of_two_processes_lose_nothing(tmp_path, study, postgres_url):
    port = free_port()
    start = two_processes(tmp_path, postgres_url, port)
    with closing(open_store(study, postgres_url)) as store:
        runs = run_while_killing(study, start, f"http://127.0.0.1:{port}", store.bot_pass(), bots=20, kills=2)
        check_nothing_lost(store, runs)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_of_eight_who_agree_at_once_for_one_free_place_one_gets_it(serve, kind, request):
    database = "" if kind == "sqlite" else request.getfixturevalue("postgres_url")
    served = serve(small_study(rows=1, target=1), database)
    places = [served.client.post("/enter").headers["location"] for _ in range(8)]

    def agree(place: str) -> str:
        with httpx.Client(base_url=served.address, timeout=LONG) as client:
            assert client.post(place, data={"consent": "yes"}).status_code == 303
            return read_page(client.get(place).text).kind

    assert Counter(run_together(agree, places)) == {"step": 1, "queue": 7}
