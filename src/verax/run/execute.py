"""Executing jobs, here or in worker processes: what is stored is not done again, what finishes is stored at once."""

from __future__ import annotations

import json
import logging
import os
import pickle
import queue
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, redirect_stdout, suppress
from dataclasses import replace

from verax.errors import VeraxError
from verax.run.identity import at_hand, pack
from verax.run.jobs import Job, Outcome, Store
from verax.run.progress import Progress, Silent
from verax.run.threads import WORKER_ENVIRONMENT, one_thread
from verax.run.worker import run_job

ATTEMPTS = 2  # a worker that dies may have been the victim of another program's hunger; twice is no chance


def in_this_process(jobs: Sequence[Job]) -> Generator[Outcome, None, None]:
    """Do the jobs one after the other, here."""
    with one_thread():
        for job in jobs:
            with redirect_stdout(sys.stderr):  # standard output belongs to the command that started the run
                outcome = run_job(job, "this process")
            yield outcome


def in_processes(
    jobs: Sequence[Job], workers: int, objects: Mapping[str, bytes] | None = None
) -> Generator[Outcome, None, None]:
    """Do the jobs in several new processes; one that dies fails at most the job it was doing.

    Args:
        jobs: what to do.
        workers: how many processes.
        objects: what the jobs refer to, as `verax.run.identity.pack` gives it.
    """
    with tempfile.NamedTemporaryFile(prefix="verax-objects-") as file:
        file.write(pickle.dumps(dict(objects or {})))
        file.flush()
        yield from _in_processes(jobs, workers, file.name)


def _in_processes(jobs: Sequence[Job], workers: int, objects: str) -> Generator[Outcome, None, None]:
    team = _Team(jobs, objects)
    threads = [
        threading.Thread(target=team.attend, args=(f"process {number + 1}",), daemon=True)
        for number in range(min(workers, len(jobs)))
    ]
    try:
        for thread in threads:
            thread.start()
        for _ in jobs:
            finished = team.finished.get()
            if isinstance(finished, BaseException):
                raise finished
            yield finished
    finally:
        team.disband()
        for thread in threads:
            thread.join()


class _Team:
    """Worker processes, each attended by a thread that hands it jobs and waits for their outcomes."""

    def __init__(self, jobs: Sequence[Job], objects: str) -> None:
        self._objects = objects
        self.finished: queue.SimpleQueue[Outcome | BaseException] = queue.SimpleQueue()
        self._waiting = list(reversed(jobs))
        self._workers: dict[str, _Worker] = {}
        self._lock = threading.Lock()
        self._disbanded = False

    def attend(self, name: str) -> None:
        try:
            while (job := self._next_job()) is not None:
                outcome = self._do(job, name)
                if outcome is not None:
                    self.finished.put(outcome)
            self._dismiss(name)
        except BaseException as error:  # shown by the thread that waits for the outcomes
            self.finished.put(error)

    def disband(self) -> None:
        """Kill all workers and start no more."""
        with self._lock:
            self._disbanded = True
            for worker in self._workers.values():
                worker.kill()

    def _next_job(self) -> Job | None:
        with self._lock:
            return self._waiting.pop() if self._waiting and not self._disbanded else None

    def _do(self, job: Job, name: str) -> Outcome | None:
        """The job's outcome; None if the team was disbanded meanwhile."""
        start = time.perf_counter()
        deaths, false_starts, fate = 0, 0, ""
        while deaths < ATTEMPTS and false_starts < ATTEMPTS:
            worker = self._worker(name)
            if worker is None:
                return None
            ready = worker.is_ready()
            answer = worker.ask(job.to_json()) if ready else None
            if answer is not None:
                return Outcome(**json.loads(answer))
            deaths += ready
            false_starts += not ready
            fate = self._dismiss(name)
        if self._disbanded:
            return None
        if false_starts == ATTEMPTS:
            raise VeraxError(f"The worker processes do not start ({fate}); their errors stand above.")
        error = f"WorkerDied: the worker died {deaths} times in this job, the last time by {fate}"
        return Outcome(job.key, job.name, None, error, time.perf_counter() - start, 0, name)

    def _worker(self, name: str) -> _Worker | None:
        """The living worker of that name, started if need be."""
        with self._lock:
            if self._disbanded:
                return None
            if name not in self._workers:
                self._workers[name] = _Worker(name, self._objects)
            return self._workers[name]

    def _dismiss(self, name: str) -> str:
        """End a worker; what it died of, if it had."""
        with self._lock:
            worker = self._workers.pop(name, None)
        return worker.end() if worker is not None else ""


class _Worker:
    """A process that reads jobs and writes outcomes, a line of JSON each."""

    def __init__(self, name: str, objects: str) -> None:
        # A new interpreter, neither forked (threads and locks of this one would be copied) nor started by
        # multiprocessing (which would import the caller's script again).
        setup = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from verax.run.worker import main; main()"
        paths = json.dumps([entry or os.getcwd() for entry in sys.path])
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", setup, paths, name, objects],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | WORKER_ENVIRONMENT,
                process_group=0,  # Ctrl-C reaches the run, and the run ends its workers
            )
        except OSError as error:
            raise VeraxError(
                f"No worker process could be started ({error.strerror}); use fewer jobs at a time."
            ) from error
        self._ready = False

    def is_ready(self) -> bool:
        """Whether the process has started, which is waited for."""
        self._ready = self._ready or self._read_line() is not None
        return self._ready

    def ask(self, line: str) -> bytes | None:
        """The answer to a line; None if the process died before it was complete."""
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(f"{line}\n".encode())
            stdin.flush()
        except OSError:  # a closed pipe
            return None
        return self._read_line()

    def _read_line(self) -> bytes | None:
        """The one line that the process owes; None if it died first."""
        stdout = self._process.stdout
        assert stdout is not None
        line = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if selector.select(timeout=1.0):
                    chunk = os.read(stdout.fileno(), 1 << 20)
                    if not chunk:
                        return None
                    line += chunk
                elif self._process.poll() is not None:  # dead, while a child of its own holds the pipe open
                    return None
        return bytes(line)

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> str:
        """Close the pipes, on which a living worker ends; what the process died of."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
        status = self._process.wait()
        return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


logger = logging.getLogger(__name__)


def execute(
    jobs: Sequence[Job],
    store: Store,
    *,
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
    objects: Mapping[str, object] | None = None,
) -> list[Outcome]:
    """The outcomes of the jobs, in their order; equal jobs are done once, stored ones not again.

    A job that fails has an outcome with an error and stops nothing. When the run itself is stopped (Ctrl-C, kill,
    a full disk), the same call goes on where it stopped. Values do not depend on where the jobs are done.

    Args:
        jobs: What to do; they may not depend on each other.
        store: Where outcomes are looked up and kept.
        workers: 1 does the jobs in this process, more starts that many processes.
        cluster: The address of a Dask scheduler, whose workers then do the jobs.
        progress: Told of each outcome, see `verax.run.terminal_progress`.
        retry_failed: Do the stored jobs that failed again.
        fresh: Do all jobs again.
        objects: What the jobs' arguments refer to, see `verax.run.identity`. They are sent to other processes; if one
            cannot be, all jobs are done in this one.
    """
    if workers < 1:
        raise VeraxError(f"The number of jobs at a time is {workers}; it must be 1 or more.")
    distinct = {job.key: job for job in jobs}
    progress = progress or Silent()
    with store.lock():
        outcomes = {key: outcome for key in distinct if (outcome := store.get(key)) is not None}
        if fresh:
            outcomes = {}
        if retry_failed:
            outcomes = {key: outcome for key, outcome in outcomes.items() if not outcome.failed}
        waiting = [job for key, job in distinct.items() if key not in outcomes]
        try:
            progress.start(len(distinct), list(outcomes.values()))
            _say_stored_failures(list(outcomes.values()))
            if waiting:
                # Closing ends the workers, whatever it is that stops the loop.
                with closing(_finishing(waiting, workers, cluster, objects or {})) as finishing:
                    for outcome in finishing:
                        store.put(outcome)
                        outcomes[outcome.key] = outcome
                        progress.advance(outcome)
        finally:
            progress.stop()
    return [replace(outcomes[job.key], name=job.name) for job in jobs]


def _say_stored_failures(stored: Sequence[Outcome]) -> None:
    """Warns that failures of an earlier run stand as they were: their reason may have gone since."""
    failed = [outcome for outcome in stored if outcome.failed]
    if failed:
        logger.warning(
            "%d of %d stored jobs failed in an earlier run and %s not done again (%s: %s); --retry-failed does.",
            len(failed), len(stored), "was" if len(failed) == 1 else "were", failed[0].name, failed[0].error,
        )  # fmt: skip


def _finishing(
    jobs: Sequence[Job], workers: int, cluster: str | None, objects: Mapping[str, object]
) -> Generator[Outcome, None, None]:
    """The outcomes as they finish, from the place that the caller chose."""
    packed = pack(objects) if cluster is not None or workers > 1 else {}
    if packed is None:
        logger.warning("The objects of this run cannot be sent to other processes, so it runs in this one.")
    elif cluster is not None:
        from verax.run.cluster import on_cluster

        return on_cluster(jobs, cluster, packed)
    elif workers > 1:
        return in_processes(jobs, workers, packed)
    return _here(jobs, objects)


def _here(jobs: Sequence[Job], objects: Mapping[str, object]) -> Generator[Outcome, None, None]:
    with at_hand(objects):
        yield from in_this_process(jobs)
