"""The same jobs on a real cluster: a scheduler and workers as processes of their own."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from real_parts import LONG
from run.dask_cluster import Cluster
from run.watching import is_alive, stored, wait_until
from verax.errors import VeraxError
from verax.run import Job, Store, cluster, execute
from verax.run.identity import refer

pytest.importorskip("distributed")


@pytest.fixture
def dask(start, tmp_path, monkeypatch) -> Cluster:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", LONG)  # a busy machine starts workers slowly
    return Cluster(start, tmp_path)


def measuring(count: int, runs: Path | None = None, seconds: float = 0.0) -> list[Job]:
    more = {"runs": str(runs), "seconds": seconds} if runs else {}
    return [
        Job(f"measure {seed}", "run.sample_jobs:measure", {"seed": seed, **more}) for seed in range(count)
    ]


def test_values_are_those_of_this_process_and_of_two_workers(dask, tmp_path):
    dask.worker(), dask.worker()
    jobs = [
        *measuring(6),
        Job("failing", "run.sample_jobs:fail", {"message": "in two\nlines"}),
        Job("array", "run.sample_jobs:give_array", {}),
        Job("threads", "run.sample_jobs:threads", {}),
    ]
    there = execute(jobs, Store(tmp_path / "cluster"), cluster=dask.address)
    here = execute(jobs, Store(tmp_path / "here"))
    processes = execute(jobs, Store(tmp_path / "processes"), workers=2)
    assert [(each.value, each.error) for each in there] == [(each.value, each.error) for each in here]
    assert [(each.value, each.error) for each in there] == [(each.value, each.error) for each in processes]
    assert {each.worker.partition(":")[0] for each in there} == {"tcp"}
    assert there[-1].value == [1]


def test_objects_are_found_wherever_the_job_runs(dask, tmp_path):
    dask.worker(), dask.worker()
    objects = {refer(numbers, "numbers"): numbers for numbers in ([1, 2, 3], [4, 5], {6, 7})}
    jobs = [Job(name, "run.sample_jobs:total", {"numbers": name}) for name in objects]
    places = {"cluster": {"cluster": dask.address}, "processes": {"workers": 2}, "here": {}}
    for name, place in places.items():
        outcomes = execute(jobs, Store(tmp_path / name), objects=objects, **place)
        assert [(each.value, each.error) for each in outcomes] == [(6, None), (9, None), (13, None)]


def test_run_ends_with_the_same_results_when_a_worker_is_killed(dask, tmp_path, runs):
    """The jobs are slow enough that the killed worker is in the middle of one."""
    workers = {each.pid: each for each in (dask.worker(), dask.worker())}
    dask.wait_for(2)
    jobs = measuring(16, runs, 0.1)
    folder = tmp_path / "cluster"

    class Killer:
        def start(self, total, stored):
            self.done, self.killed = 0, False

        def advance(self, outcome):
            self.done += 1
            busy = {int(path.name.split("-")[1]) for path in runs.iterdir()}
            if not self.killed and self.done >= 4 and busy == set(workers):
                workers[min(busy)].send_signal(signal.SIGKILL)
                self.killed = True

        def stop(self):
            pass

    killer = Killer()
    there = execute(jobs, Store(folder), cluster=dask.address, progress=killer)
    assert killer.killed
    assert sum(is_alive(pid) for pid in workers) == 1
    assert [each.error for each in there] == [None] * 16
    assert stored(folder) == {job.key for job in jobs}
    here = execute(jobs, Store(tmp_path / "here"), workers=2)
    assert [each.value for each in there] == [each.value for each in here]


def test_outcomes_that_are_lost_with_their_worker_are_computed_again(dask, tmp_path, runs):
    """One worker is killed when all jobs are done and their outcomes still lie with the workers."""
    from distributed import Client

    first, _ = dask.worker(), dask.worker()
    dask.wait_for(2)
    jobs = measuring(12, runs)

    class Killer:
        def start(self, total, stored):
            self.done = 0

        def advance(self, outcome):
            self.done += 1
            if self.done > 1:
                return
            with Client(dask.address, timeout=LONG, set_as_default=False) as client:
                wait_until(lambda: set(client.run_on_scheduler(states)) == {"memory"})
                first.send_signal(signal.SIGKILL)
                wait_until(lambda: len(client.scheduler_info()["workers"]) == 1)

        def stop(self):
            pass

    def states(dask_scheduler):
        return [task.state for task in dask_scheduler.tasks.values()]

    there = execute(jobs, Store(tmp_path / "cluster"), cluster=dask.address, progress=Killer())
    here = execute(jobs, Store(tmp_path / "here"))
    assert [(each.value, each.error) for each in there] == [(each.value, each.error) for each in here]
    assert len(list(runs.iterdir())) > 2 * len(jobs)


def test_lost_cluster_is_a_sentence_and_what_is_finished_is_kept(dask, tmp_path, runs, capfd):
    dask.worker()
    jobs = measuring(40, runs, 0.05)

    class Killer:
        def start(self, total, stored):
            self.done = 0

        def advance(self, outcome):
            self.done += 1
            if self.done == 5:
                dask.scheduler.kill()

        def stop(self):
            pass

    with pytest.raises(
        VeraxError, match=f"The cluster at {dask.address} was lost .*what is finished is kept"
    ):
        execute(jobs, Store(tmp_path / "run"), cluster=dask.address, progress=Killer())
    assert capfd.readouterr().err == ""  # nothing of Dask's own, and no traceback
    finished = stored(tmp_path / "run")
    assert 5 <= len(finished) < 40
    before = {path.name for path in runs.iterdir()}
    execute(jobs, Store(tmp_path / "run"), workers=2)
    again = {int(path.name.split("-")[0]) for path in runs.iterdir() if path.name not in before}
    assert again == {seed for seed, job in enumerate(jobs) if job.key not in finished}


def test_job_that_kills_its_workers_fails_and_a_cluster_without_workers_is_a_sentence(
    start, tmp_path, monkeypatch
):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", LONG)
    monkeypatch.setattr(cluster, "DESERTED_SECONDS", 1)
    dask = Cluster(start, tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    dask.worker()
    store = Store(tmp_path / "run")
    poison = Job("poison", "run.sample_jobs:leave", {"status": 3})
    died = "WorkerDied: each worker that was given this job died in it"
    assert execute([poison], store, cluster=dask.address)[0].error == died

    dask.worker()
    # Jobs that are not yet with the worker when it dies wait for another, which does not come.
    with pytest.raises(VeraxError, match="has lost all its workers; start some and run again"):
        execute([poison, *measuring(9)], store, cluster=dask.address, retry_failed=True)
    assert store.get(poison.key).error == died


def test_workers_that_would_not_do_are_named(dask, tmp_path, monkeypatch):
    jobs, store = measuring(1), Store(tmp_path / "run")

    (tmp_path / "old" / "numpy-0.0.1.dist-info").mkdir(parents=True)
    (tmp_path / "old" / "numpy-0.0.1.dist-info" / "METADATA").write_text("Name: numpy\nVersion: 0.0.1\n")
    worker = dask.worker(path=tmp_path / "old")
    with pytest.raises(
        VeraxError, match=r"The worker tcp://\S+ has numpy 0.0.1, this process \d\S+: numbers may"
    ):
        execute(jobs, store, cluster=dask.address)
    worker.terminate(), worker.wait()

    (tmp_path / "empty" / "verax").mkdir(parents=True)
    (tmp_path / "empty" / "verax" / "__init__.py").touch()
    worker = dask.worker(path=tmp_path / "empty")
    with pytest.raises(VeraxError, match=r"The worker tcp://\S+ cannot import verax \(.*No module named"):
        execute(jobs, store, cluster=dask.address)
    worker.terminate(), worker.wait()

    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    with pytest.raises(
        VeraxError, match=f"The scheduler at {dask.address} has no workers; start some: dask worker"
    ):
        execute(jobs, store, cluster=dask.address)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "127.0.0.1:1", "nonsense://x", "no such place"])
def test_address_where_nobody_listens_is_a_sentence(tmp_path, monkeypatch, address):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    with pytest.raises(VeraxError, match=f"No Dask scheduler answers at {address}; start one"):
        execute(measuring(1), Store(tmp_path), cluster=address)
    assert stored(tmp_path) == set()


def test_missing_dask_is_a_sentence(start, tmp_path):
    script = """
import sys
sys.modules["distributed"] = None  # as if it were not installed
from verax.run import (Job, Store, execute)
try:
    execute([Job("add", "run.sample_jobs:add", {"x": 1, "y": 1})], Store(sys.argv[1]), cluster="127.0.0.1:1")
except ValueError as error:
    print(error)
"""
    printed, _ = start("-c", script, tmp_path, stdout=-1, text=True).communicate(timeout=LONG)
    assert printed.startswith(
        "Running on a cluster, here and on the workers, needs the package distributed; "
    )
