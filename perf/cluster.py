"""Ten thousand jobs on a Dask cluster whose workers come, go and die, beside the same jobs here.

    python perf/cluster.py --jobs 10000 --workers 3

It prints the overhead of a job against running it here, in seconds of the clock and of the processor (which depend less
on what else the machine does), the peak memory of this process and of the scheduler, and
whether all values are the same to the last number. A worker is killed and another one started every few seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from distributed import Client

from verax.run.cluster import on_cluster
from verax.run.jobs import Job
from verax.run.worker import run_job

START_SECONDS = 240


def measure(seed: int) -> dict[str, float]:
    """A short piece of arithmetic whose value depends on the seed alone."""
    values = np.random.default_rng(seed).standard_normal(2000)
    return {"mean": float(values.mean()), "largest": float(np.sort(values)[-1])}


def start(*arguments: object) -> subprocess.Popen[bytes]:
    """A process of Dask."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", *map(str, arguments)], **quiet)  # type: ignore[call-overload]


def peak_mb(process: subprocess.Popen[bytes]) -> float:
    """The most memory that a process has held."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def spent(process: subprocess.Popen[bytes]) -> float:
    """The seconds of the processor that a process has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def churn(
    workers: list[subprocess.Popen[bytes]], begin: object, ended: threading.Event, seconds: float
) -> tuple[int, float]:
    """Kills the oldest worker and starts another, again and again until the jobs have ended.

    Returns:
        How many were killed, and the seconds of the processor that these had used.
    """
    killed, used = 0, 0.0
    while not ended.wait(seconds):
        workers.append(begin())  # type: ignore[operator]
        oldest = workers.pop(0)
        used += spent(oldest)
        oldest.kill()
        killed += 1
    return killed, used


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument(
        "--kill-every", type=float, default=10.0, help="seconds; a new worker needs some until it is there"
    )
    wanted = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parent))
    jobs = [Job(f"job {seed}", "cluster:measure", {"seed": seed}) for seed in range(wanted.jobs)]
    begun, used = time.perf_counter(), time.process_time()
    here = {job.key: run_job(job, "here").value for job in jobs}
    alone, alone_used = time.perf_counter() - begun, time.process_time() - used
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        where = ("--scheduler-file", file, "--no-dashboard")
        scheduler = start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", 0, *where)
        while not file.exists() or not file.read_text().endswith("}"):
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]

        def begin() -> subprocess.Popen[bytes]:
            options = ("--nthreads", 1, "--no-nanny", "--local-directory", folder)
            return start("distributed.cli.dask_worker", *where, *options)

        workers = [begin() for _ in range(wanted.workers)]
        with Client(address, timeout=START_SECONDS) as client:  # on a busy machine they need long to start
            client.wait_for_workers(wanted.workers, timeout=START_SECONDS)
        ended, killed = threading.Event(), [(0, 0.0)]
        thread = threading.Thread(
            target=lambda: killed.append(churn(workers, begin, ended, wanted.kill_every)), daemon=True
        )
        begun, used = time.perf_counter(), time.process_time()
        before = spent(scheduler), sum(map(spent, workers))
        thread.start()
        there = {outcome.key: outcome.value for outcome in on_cluster(jobs, address)}
        taken, client_used = time.perf_counter() - begun, time.process_time() - used
        ended.set()
        thread.join()
        memory, scheduler_used = peak_mb(scheduler), spent(scheduler) - before[0]
        workers_used = killed[-1][1] + sum(map(spent, workers)) - before[1]
        for process in (*workers, scheduler):
            process.kill()
    print(
        f"{wanted.jobs:,} jobs on {wanted.workers} workers, {killed[-1][0]} of which were killed and replaced"
    )
    print(f"here {alone:.1f} s, there {taken:.1f} s: {1000 * taken / wanted.jobs:.2f} ms a job there")
    each = {"here": alone_used, "client": client_used, "scheduler": scheduler_used, "workers": workers_used}
    print(
        "of the processor, ms a job:",
        ", ".join(f"{name} {1000 * seconds / wanted.jobs:.2f}" for name, seconds in each.items()),
        "(workers: with the starts of those that came)",
    )
    print(
        f"memory: this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB, "
        f"scheduler {memory:.0f} MB"
    )
    print("the same to the last number" if here == there else "DIFFERENT VALUES")
    if here != there:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
