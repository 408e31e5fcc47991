"""Doing one job, wherever it is done: import, call, catch, measure."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from importlib import import_module

from verax.errors import VeraxError, reason
from verax.run.canonical import canonical
from verax.run.jobs import Job, Outcome

# Whether a job is being done here: then the run tells how far it is, and nothing inside the job does.
PERFORMING: ContextVar[bool] = ContextVar("performing", default=False)


def perform(job: Job, worker: str) -> Outcome:
    """The job's outcome; whatever its function raises, other than Ctrl-C, becomes the outcome's error.

    Arguments and value pass through JSON, so that they are the same wherever the job runs and whether or not
    its value comes from a store.
    """
    value, error, trace = None, None, None
    start = time.perf_counter()
    inside = PERFORMING.set(True)
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
        PERFORMING.reset(inside)
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
