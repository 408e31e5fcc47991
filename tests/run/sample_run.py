"""A run as a command, to be killed and started again: sample_run.py FOLDER RUNS WORKERS JOBS SECONDS."""

from __future__ import annotations

import sys
from pathlib import Path

from verax.run import Job, Store, execute, terminal_progress, write_json


def main(folder: str, runs: str, workers: str, count: str, seconds: str) -> int:
    jobs = [
        Job(
            f"measure {seed}",
            "run.sample_jobs:measure",
            {"seed": seed, "runs": runs, "seconds": float(seconds)},
        )
        for seed in range(int(count))
    ]
    jobs.append(Job("failing", "run.sample_jobs:fail", {"message": "always"}))
    try:
        outcomes = execute(jobs, Store(folder), workers=int(workers), progress=terminal_progress("measuring"))
    except KeyboardInterrupt:
        return 130
    summary = [{"name": each.name, "value": each.value, "error": each.error} for each in outcomes]
    write_json(Path(folder) / "summary.json", summary)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
