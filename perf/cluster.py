"""Ten thousand jobs on a Dask cluster whose workers come, go and die, beside the same jobs here.

    python perf/cluster.py --jobs 10000 --workers 3

It prints the overhead of a job against running it here, the peak memory of this process and of the scheduler, and
whether all values are the same to the last number. A worker is killed and another one started every few seconds.
"""

from __future__ import annotations

import argparse
import json
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


def churn(
    workers: list[subprocess.Popen[bytes]], begin: object, ended: threading.Event, seconds: float
) -> int:
    """Kills the oldest worker and starts another, again and again until the jobs have ended; how many were killed."""
    killed = 0
    while not ended.wait(seconds):
        workers.append(begin())  # type: ignore[operator]
        workers.pop(0).kill()
        killed += 1
    return killed


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
    begun = time.perf_counter()
    here = {job.key: run_job(job, "here").value for job in jobs}
    alone = time.perf_counter() - begun
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
        ended, killed = threading.Event(), [0]
        thread = threading.Thread(
            target=lambda: killed.append(churn(workers, begin, ended, wanted.kill_every)), daemon=True
        )
        begun = time.perf_counter()
        thread.start()
        there = {outcome.key: outcome.value for outcome in on_cluster(jobs, address)}
        taken = time.perf_counter() - begun
        ended.set()
        thread.join()
        memory = peak_mb(scheduler)
        for process in (*workers, scheduler):
            process.kill()
    print(f"{wanted.jobs:,} jobs on {wanted.workers} workers, {killed[-1]} of which were killed and replaced")
    print(f"here {alone:.1f} s, there {taken:.1f} s: {1000 * taken / wanted.jobs:.2f} ms a job there")
    print(
        f"memory: this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB, "
        f"scheduler {memory:.0f} MB"
    )
    print("the same to the last number" if here == there else "DIFFERENT VALUES")
    if here != there:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
