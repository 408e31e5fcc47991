"""What tests of the store need: the rows of one study, threads that start together, and other processes."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Barrier
from typing import Any

from sqlalchemy import Column, select

from real_parts import LONG
from small_study import answers
from verax.errors import VeraxError
from verax.studies.definition.study import Study
from verax.studies.store import Store, open_store
from verax.studies.store.database.backup import backup
from verax.studies.store.database.relocate import move
from verax.studies.store.tables import participants, responses, steps


def rows(store: Store, *columns: Column) -> list[tuple]:
    """These columns of one table, of the participants of this study alone, in the order of the table's key."""
    table = columns[0].table
    query = select(*columns).select_from(table).order_by(*table.primary_key)
    if table is responses:
        query = query.join(steps).join(participants)
    elif table is not participants:
        query = query.join(participants)
    query = query.where(participants.c.study_id == store.study_id)
    return [tuple(row) for row in store.database.read(lambda connection: connection.execute(query).all())]


def run_together(work: Callable[[Any], Any], arguments: Iterable[Any]) -> list[Any]:
    """What the work returns for each argument, each in its own thread, all started at the same moment."""
    arguments = list(arguments)
    gate = Barrier(len(arguments))

    def wait_and_work(argument: Any) -> Any:
        gate.wait(LONG)
        return work(argument)

    with ThreadPoolExecutor(len(arguments)) as threads:
        return list(threads.map(wait_and_work, arguments))


class Processes:
    """Forks processes off a clean one, which has imported what they need; so each starts in no time."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["store_tools", "alembic.command", "psycopg"])
        before = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # or it would not find what it shall import
        forkserver.ensure_running()
        os.environ["PYTHONPATH"] = before

    def start(self, work: Callable[..., Any], *arguments: Any) -> BaseProcess:
        """A process that is at work."""
        process = self._context.Process(target=work, args=arguments)
        process.start()
        return process

    def run(self, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What the calls (a function and its arguments) return, each in its own process, begun at the same moment."""
        gate, results = self._context.Barrier(len(calls)), self._context.Queue()
        started = [self.start(_report, number, call, gate, results) for number, call in enumerate(calls)]
        returned = dict(results.get(timeout=LONG) for _ in calls)
        for process in started:
            process.join(LONG)
        return [returned[number] for number in range(len(calls))]


def _report(number: int, call: tuple[Any, ...], gate: Any, results: Any) -> None:
    work, *arguments = call
    gate.wait(LONG)
    try:
        results.put((number, work(*arguments)))
    except Exception as error:
        results.put((number, repr(error)))
        raise


def open_once(url: str, study: Study) -> int:
    """Opens the store; the study's number in the database."""
    store = open_store(study, url)
    store.close()
    return store.study_id


def submit_copies(url: str, study: Study, page: tuple[Any, ...], copies: int) -> list[tuple[bool, bool]]:
    """Sends the same page so many times at once; for each whether it was stored, and whether it was a duplicate."""
    store = open_store(study, url)
    sent = run_together(lambda _: store.submit(*page), range(copies))
    store.close()
    return [(one.stored, one.duplicate) for one in sent]


def consent_all(url: str, study: Study, tokens: list[str]) -> list[str]:
    """Consents for all at once; what each is then."""
    store = open_store(study, url)
    found = run_together(lambda token: store.consent(token, True).status, tokens)
    store.close()
    return found


def answer_until_killed(url: str, study: Study, tokens: list[str], acknowledged: Path) -> None:
    """Answers for several participants at once; each answer that the store says is stored becomes a line of a file."""
    store = open_store(study, url)
    file = os.open(acknowledged, os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def answer_all(token: str) -> None:
        while (where := store.show(token)).status == "active":
            if store.submit(token, where.ord, where.nonce, answers(where.screen), {}).stored:
                os.write(file, f"{token} {where.ord}\n".encode())

    run_together(answer_all, tokens)


def backup_on_a_full_disk(url: str, path: Path, room: int) -> str:
    """What is said if no file may become larger than so many bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    try:
        backup(url, path, force=True)
    except VeraxError as error:
        return str(error)
    return "nothing"


def try_to_move(study: Study, source: str, target: str) -> str:
    """What is said against a move; nothing if it was done."""
    try:
        move(study, source, target)
    except VeraxError as error:
        return str(error)
    return ""
