"""What a local worker process does: read a job, do it, write its outcome; end when the run ends."""

from __future__ import annotations

import json
import os
import pickle
import queue
import sys
import threading
from pathlib import Path

from verax.run.canonical import canonical
from verax.run.jobs import Job
from verax.run.objects import receive
from verax.run.perform import perform


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
            outcome = perform(Job(**json.loads(lines.get())), name)
            out.write(f"{canonical(outcome.to_dict())}\n".encode())
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
