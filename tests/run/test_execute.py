"""Jobs in this process and in others: the same outcomes, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

import pytest

from real_parts import LONG
from verax.errors import VeraxError
from verax.run import Job, Outcome, Store, execute


def job(function: str, **arguments) -> Job:
    return Job(f"{function} {arguments}", f"run.sample_jobs:{function}", arguments)


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "run")


@pytest.fixture(params=[1, 2], ids=["one process", "two workers"])
def workers(request) -> int:
    return request.param


class Told:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.events: list = []

    def start(self, total: int, stored: Sequence[Outcome]) -> None:
        self.events.append(("start", total, len(stored)))

    def advance(self, outcome: Outcome) -> None:
        self.events.append(outcome.name)

    def stop(self) -> None:
        self.events.append("stop")


def test_outcomes_come_in_the_order_of_the_jobs(store, workers):
    jobs = [job("measure", seed=seed, seconds=0.1 if seed == 0 else 0.0) for seed in range(5)]
    outcomes = execute(jobs, store, workers=workers)
    assert [outcome.name for outcome in outcomes] == [each.name for each in jobs]
    assert [outcome.key for outcome in outcomes] == [each.key for each in jobs]
    assert outcomes[0].seconds >= 0.1
    assert all(outcome.peak_memory > 10_000_000 for outcome in outcomes)


def test_values_do_not_depend_on_the_number_of_workers(tmp_path):
    jobs = [job("measure", seed=seed) for seed in range(6)]
    alone = execute(jobs, Store(tmp_path / "1"))
    together = execute(jobs, Store(tmp_path / "2"), workers=2)
    assert [each.value for each in alone] == [each.value for each in together]


def test_new_and_stored_values_are_the_same_plain_data(store, workers):
    new = execute([job("add", x=1, y=0.5)], store, workers=workers)
    assert new[0].value == {"pair": [1, 0.5], "sum": 1.5}
    assert list(new[0].value) == ["pair", "sum"]
    assert execute([job("add", x=1, y=0.5)], store, workers=workers) == new


def test_job_cannot_change_the_arguments_of_others(store):
    items = ["one"]
    jobs = [job("mutate", items=items), Job("again", "run.sample_jobs:mutate", {"items": items}, version=2)]
    assert [each.value for each in execute(jobs, store)] == [["one", "more"]] * 2
    assert items == ["one"]


def test_equal_jobs_run_once_and_keep_their_names(store, runs):
    arguments = {"seed": 1, "runs": str(runs)}
    jobs = [Job(name, "run.sample_jobs:measure", arguments) for name in ("first", "second")]
    outcomes = execute(jobs, store)
    assert [outcome.name for outcome in outcomes] == ["first", "second"]
    assert outcomes[0].value == outcomes[1].value
    assert len(list(runs.iterdir())) == 1


def test_running_again_runs_only_what_is_new(store, runs, workers):
    jobs = [job("measure", seed=seed, runs=str(runs)) for seed in range(3)]
    before = execute(jobs[:2], store, workers=workers)
    told = Told()
    after = execute(jobs, store, workers=workers, progress=told)
    assert after[:2] == before
    assert sorted(path.name[0] for path in runs.iterdir()) == ["0", "1", "2"]
    assert told.events == [("start", 3, 2), jobs[2].name, "stop"]


@pytest.mark.parametrize(
    ("failing", "error"),
    [
        (job("fail", message="in two\n lines"), "RuntimeError: in two lines"),
        (job("fail", message=""), "RuntimeError"),
        (job("fail_unprintably"), "UnprintableError"),
        (job("exit_politely", status=3), "SystemExit: 3"),
        (
            job("give_array"),
            "VeraxError: the returned value['scores'][0] is a numpy.ndarray, which JSON cannot",
        ),
        (job("give_nan"), "VeraxError: the returned value['recall'] is nan, which JSON cannot hold"),
        (
            job("give_numbered"),
            "VeraxError: the returned value has the key 1, but JSON has only strings as keys",
        ),
        (job("add", x=1), "TypeError: add() missing 1 required positional argument: 'y'"),
        (job("absent"), "VeraxError: the module run.sample_jobs has no function absent"),
        (
            Job("no module", "sample_jobs_absent:f", {}),
            "ModuleNotFoundError: No module named 'sample_jobs_absent'",
        ),
    ],
    ids=lambda each: each.name if isinstance(each, Job) else "",
)
def test_failure_is_an_outcome_and_stops_no_other_job(store, failing, error):
    first, failed, last = execute([job("add", x=1, y=1), failing, job("add", x=2, y=2)], store)
    assert failed.failed
    assert failed.value is None
    assert failed.error.startswith(error)
    assert "\n" not in failed.error
    assert failed.traceback.startswith("Traceback")
    assert (first.value["sum"], last.value["sum"]) == (2, 4)


def test_failures_are_the_same_from_workers(store, tmp_path):
    jobs = [job("fail", message="a\nb"), job("give_nan"), job("exit_politely", status=3), job("absent")]
    here = execute(jobs, store)
    there = execute(jobs, Store(tmp_path / "there"), workers=2)
    assert [(each.error, each.value) for each in here] == [(each.error, each.value) for each in there]


def test_failures_are_kept_until_a_retry_is_asked_for(store, tmp_path):
    jobs = [job("fail_without", marker=str(tmp_path / "marker")), job("add", x=1, y=1)]
    failed, added = execute(jobs, store)
    assert failed.error == "RuntimeError: marker is missing"
    (tmp_path / "marker").touch()
    assert execute(jobs, store)[0] == failed
    told = Told()
    retried = execute(jobs, store, retry_failed=True, progress=told)
    assert [retried[0].value, retried[1]] == ["there", added]
    assert told.events == [("start", 2, 1), jobs[0].name, "stop"]


def test_corrupt_file_is_run_again_and_replaced(store, runs):
    jobs = [job("measure", seed=seed, runs=str(runs)) for seed in range(2)]
    before = execute(jobs, store)
    path = store.path(jobs[1].key)
    path.write_bytes(path.read_bytes()[:50])
    after = execute(jobs, store)
    assert [each.value for each in after] == [each.value for each in before]
    assert sorted(path.name[0] for path in runs.iterdir()) == ["0", "1", "1"]
    assert store.get(jobs[1].key) == after[1]


def test_job_whose_worker_is_killed_is_tried_again(store, tmp_path):
    jobs = [job("die_once", marker=str(tmp_path / "marker")), *(job("add", x=n, y=n) for n in range(4))]
    outcomes = execute(jobs, store, workers=2)
    assert outcomes[0].value == "survived"
    assert [each.value["sum"] for each in outcomes[1:]] == [0, 2, 4, 6]


def test_job_that_kills_each_worker_fails_alone(store):
    jobs = [job("leave", status=3), *(job("add", x=n, y=n) for n in range(4)), job("leave", status=4)]
    outcomes = execute(jobs, store, workers=2)
    assert (
        outcomes[0].error == "WorkerDied: the worker died 2 times in this job, the last time by exit status 3"
    )
    assert outcomes[5].error.endswith("by exit status 4")
    assert [each.value["sum"] for each in outcomes[1:5]] == [0, 2, 4, 6]
    assert store.get(jobs[0].key) == outcomes[0]


def test_dead_worker_is_noticed_though_its_child_holds_the_pipes(store, runs):
    outcome, added = execute(
        [job("die_with_living_child", runs=str(runs)), job("add", x=1, y=1)], store, workers=2
    )
    children = [int(path.name.removeprefix("child-")) for path in runs.iterdir()]
    for child in children:
        os.kill(child, signal.SIGKILL)
    assert len(children) == 2
    assert outcome.error.endswith("by signal SIGKILL")
    assert added.value["sum"] == 2


def test_workers_that_cannot_start_are_a_sentence(store, monkeypatch, tmp_path, capfd):
    (tmp_path / "shadow" / "verax").mkdir(parents=True)
    (tmp_path / "shadow" / "verax" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path / "shadow"))
    with pytest.raises(VeraxError, match=r"The worker processes do not start \(exit status 1\)"):
        execute([job("add", x=1, y=1), job("add", x=2, y=2)], store, workers=2)
    assert "No module named 'verax.run'" in capfd.readouterr().err
    assert store.get(job("add", x=1, y=1).key) is None


def test_large_values_pass(store, workers):
    text = "ü" * 1_000_000
    assert [each.value for each in execute([job("give", value=text)], store, workers=workers)] == [text]


def test_what_jobs_print_stays_out_of_standard_output(tmp_path, start):
    script = """
import sys
from verax.run import (Job, Store, execute)
jobs = [Job("talk", "run.sample_jobs:talk", {"text": "hello"}), Job("add", "run.sample_jobs:add", {"x": 1, "y": 1})]
print([each.value for each in execute(jobs, Store(sys.argv[1]), workers=2)])
"""
    printed, said = start("-c", script, tmp_path, stdout=-1, stderr=-1, text=True).communicate(timeout=LONG)
    assert printed == "['hello', {'pair': [1, 1], 'sum': 2}]\n"
    assert sorted(said.splitlines()) == ["hello", "hello from below"]


def test_numerical_libraries_have_one_thread_in_a_job_and_theirs_again_after(store, workers):
    import numpy as np
    import threadpoolctl

    np.ones((2, 2)) @ np.ones((2, 2))
    environment = dict(os.environ)
    with threadpoolctl.threadpool_limits(2):
        before = threadpoolctl.threadpool_info()
        assert [each.value for each in execute([job("threads")], store, workers=workers)] == [[1]]
        assert threadpoolctl.threadpool_info() == before
    assert dict(os.environ) == environment


def test_no_jobs_are_no_outcomes(store, workers):
    assert execute([], store, workers=workers) == []


def test_stored_jobs_need_no_cluster(store):
    jobs = [job("add", x=1, y=1)]
    before = execute(jobs, store)
    assert execute(jobs, store, cluster="tcp://127.0.0.1:1") == before


def test_no_workers_are_refused(store):
    with pytest.raises(VeraxError, match="The number of jobs at a time is 0; it must be 1 or more"):
        execute([], store, workers=0)


def test_a_stored_failure_is_told_with_the_way_to_do_it_again(store, tmp_path, caplog):
    jobs = [job("fail", message="no such module")]
    execute(jobs, store)
    assert not caplog.records  # it has just been done: who asked has its outcome
    execute(jobs, store)
    assert "1 of 1 stored jobs failed in an earlier run and was not done again" in caplog.text
    assert "no such module" in caplog.text
    assert "--retry-failed" in caplog.text
    caplog.clear()
    execute(jobs, store, retry_failed=True)
    assert not caplog.records
