"""A real Dask cluster on this machine for tests."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from real_parts import LONG
from run.watching import wait_until


class Cluster:
    """A Dask scheduler on a free port of this machine, and its workers."""

    def __init__(self, start, folder: Path, **environment: str) -> None:
        self._start, self._folder = start, folder
        self._file = folder / "scheduler.json"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        options = ("--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", self._file)
        self.scheduler = start(
            "-m", "distributed.cli.dask_scheduler", *options, environment=environment, **quiet
        )
        wait_until(self._file.exists)
        wait_until(lambda: self._file.read_text().endswith("}"))
        self.address = json.loads(self._file.read_text())["address"]

    def worker(self, path: Path | None = None) -> subprocess.Popen:
        """One more worker, with a folder before all others where it looks for modules."""
        return self._start(
            *("-m", "distributed.cli.dask_worker", "--scheduler-file", self._file, "--host", "127.0.0.1"),
            *("--nthreads", 1, "--no-nanny", "--no-dashboard", "--local-directory", self._folder / "scratch"),
            path=path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def wait_for(self, workers: int) -> None:
        """Until so many workers are known to the scheduler."""
        from distributed import Client

        with Client(self.address, timeout=LONG, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=LONG)
