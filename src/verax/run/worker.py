"""Doing one job, wherever it is done: import, call, catch, measure; and the process that does so beside a run."""

from __future__ import annotations

import json
import os
import pickle
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path

from verax.errors import VeraxError, reason
from verax.run.canonical import canonical
from verax.run.identity import receive
from verax.run.jobs import Job, Outcome

# Whether a job is being done here: then the run tells how far it is, and nothing inside the job does.
IN_JOB: ContextVar[bool] = ContextVar("performing", default=False)


def run_job(job: Job, worker: str) -> Outcome:
    """The job's outcome; whatever its function raises, other than Ctrl-C, becomes the outcome's error.

    Arguments and value pass through JSON, so that they are the same wherever the job runs and whether or not
    its value comes from a store.
    """
    value, error, trace = None, None, None
    start = time.perf_counter()
    inside = IN_JOB.set(True)
    try:
        function = import_function(job.function)
        arguments = json.loads(canonical(dict(job.arguments)))
        start = time.perf_counter()
        value = json.loads(canonical(function(**arguments), "the returned value"))
    except KeyboardInterrupt:
        raise
    except BaseException as raised:
        error = _in_one_line(raised)
        trace = "".join(traceback.format_exception(raised))
    finally:
        IN_JOB.reset(inside)
    seconds = time.perf_counter() - start
    return Outcome(job.key, job.name, value, error, seconds, peak_memory(), worker, trace)


def import_function(address: str) -> Callable[..., object]:
    """The function at "package.module:function"."""
    module, _, name = address.partition(":")
    function = getattr(import_module(module), name, None)
    if not callable(function):
        raise VeraxError(f"the module {module} has no function {name}")
    imported: Callable[..., object] = function
    return imported


def peak_memory() -> int:
    """The most bytes of memory this process has held so far; 0 if the system does not say."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    # Second choice, because on Linux a new process starts with the peak of the one that started it.
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _in_one_line(raised: BaseException) -> str:
    try:
        message = " ".join(str(raised).split()) if isinstance(raised, VeraxError) else reason(raised)
    except Exception:  # an error that cannot even be printed is still an outcome
        message = ""
    return f"{type(raised).__name__}: {message}" if message else type(raised).__name__


def main() -> None:
    """Do the jobs on standard input, a line of JSON each, until it closes."""
    name, objects = sys.argv[2:4]
    receive(pickle.loads(Path(objects).read_bytes()))
    sys.argv = sys.argv[:1]
    jobs_in, outcomes_out = _take_pipes()
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(jobs_in, lines), daemon=True).start()
    with os.fdopen(outcomes_out, "wb") as out:
        out.write(b"ready\n")
        out.flush()
        while True:
            outcome = run_job(Job(**json.loads(lines.get())), name)
            out.write(f"{canonical(vars(outcome))}\n".encode())
            out.flush()


def _take_pipes() -> tuple[int, int]:
    """The pipes to the run, out of reach of the jobs: these find an empty input, and print to standard error."""
    pipes = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return pipes


def _listen(jobs_in: int, lines: queue.SimpleQueue[bytes]) -> None:
    """Pass the lines on; when the run has ended or was killed, end at once, even in the middle of a job."""
    with os.fdopen(jobs_in, "rb") as incoming:
        for line in incoming:
            lines.put(line)
    os._exit(0)
