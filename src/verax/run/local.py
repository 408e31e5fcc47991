"""Jobs on this machine: in this process, or in a few worker processes that may die without harm."""

from __future__ import annotations

import json
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
from contextlib import redirect_stdout, suppress

from verax.errors import VeraxError
from verax.run.jobs import Job, Outcome
from verax.run.perform import perform
from verax.run.threads import WORKER_ENVIRONMENT, one_thread

ATTEMPTS = 2  # a worker that dies may have been the victim of another program's hunger; twice is no chance


def in_this_process(jobs: Sequence[Job]) -> Generator[Outcome, None, None]:
    """Do the jobs one after the other, here."""
    with one_thread():
        for job in jobs:
            with redirect_stdout(sys.stderr):  # standard output belongs to the command that started the run
                outcome = perform(job, "this process")
            yield outcome


def in_processes(
    jobs: Sequence[Job], workers: int, objects: Mapping[str, bytes] | None = None
) -> Generator[Outcome, None, None]:
    """Do the jobs in several new processes; one that dies fails at most the job it was doing.

    Args:
        jobs: what to do.
        workers: how many processes.
        objects: what the jobs refer to, as `verax.run.objects.pack` gives it.
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
