"""A run that is killed or stopped goes on where it was, and ends with the same bytes."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from real_parts import LONG
from run.watching import HERE, is_alive, stored, wait_until
from verax.run import Job

RUN = HERE / "sample_run.py"


def key(seed: int, runs: Path, seconds: float) -> str:
    return Job("", "run.sample_jobs:measure", {"seed": seed, "runs": str(runs), "seconds": seconds}).key


def times_run(runs: Path) -> Counter:
    return Counter(int(path.name.split("-")[0]) for path in runs.iterdir())


def processes(runs: Path) -> set[int]:
    return {int(path.name.split("-")[1]) for path in runs.iterdir()}


@pytest.mark.parametrize("workers", [1, 2])
def test_run_killed_at_any_moment_continues_and_ends_with_the_same_bytes(tmp_path, runs, start, workers):
    count, seconds = 40, 0.04
    folder = tmp_path / "killed"
    chance = random.Random(workers)
    for _ in range(3):
        before, ran = stored(folder), times_run(runs)
        run = start(RUN, folder, runs, workers, count, seconds)
        wait_until(lambda before=before: len(stored(folder)) >= len(before) + 2)
        time.sleep(chance.uniform(0, 0.08))
        run.send_signal(signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL
        assert before < stored(folder)
        wait_until(lambda: not any(map(is_alive, processes(runs))))
        again = times_run(runs) - ran
        assert not [seed for seed in again if key(seed, runs, seconds) in before]
    assert not (folder / "summary.json").exists()

    finished, ran = stored(folder), times_run(runs)
    assert start(RUN, folder, runs, workers, count, seconds).wait(LONG) == 0
    rest = {seed for seed in range(count) if key(seed, runs, seconds) not in finished}
    assert set(times_run(runs) - ran) == rest
    assert len(rest) < count

    assert start(RUN, tmp_path / "calm", runs, 3 - workers, count, seconds).wait(LONG) == 0
    assert (folder / "summary.json").read_bytes() == (tmp_path / "calm" / "summary.json").read_bytes()


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_keeps_what_is_finished_and_ends_the_workers(tmp_path, runs, start, workers):
    run = start(RUN, tmp_path, runs, workers, 30, 0.05, stderr=-1, text=True)
    wait_until(lambda: len(stored(tmp_path)) >= 3)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=LONG)
    assert run.returncode == 130
    assert said == ""
    assert not any(map(is_alive, processes(runs)))
    finished, ran = stored(tmp_path), times_run(runs)
    assert 3 <= len(finished) < 30
    assert start(RUN, tmp_path, runs, 2, 30, 0.05).wait(LONG) == 0
    assert not [seed for seed in times_run(runs) - ran if key(seed, runs, 0.05) in finished]


def test_killed_worker_fails_nothing(tmp_path, runs, start):
    run = start(RUN, tmp_path, runs, 2, 30, 0.05)
    wait_until(lambda: len(stored(tmp_path)) >= 4)
    victim = min(processes(runs))
    assert victim != run.pid
    os.kill(victim, signal.SIGKILL)
    assert run.wait(LONG) == 0
    assert len(processes(runs)) == 3
    outcomes = json.loads((tmp_path / "summary.json").read_text())
    assert [each["error"] for each in outcomes] == [None] * 30 + ["RuntimeError: always"]
