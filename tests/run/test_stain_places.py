"""The whole command ``verax bench stain`` gives the same bytes wherever its jobs are done."""

from __future__ import annotations

import csv
import signal

import pytest

from helpers import make_texts
from run.dask_cluster import Cluster
from run.watching import is_alive, stored, wait_until

pytest.importorskip("distributed")


@pytest.fixture
def stain(start, tmp_path):
    """Start the command on a small file, with more options; the process, and where its summary will be."""
    texts, labels = make_texts(600, seed=8, length=14)
    with (tmp_path / "made.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows(
            (f"{text} {number}", label)
            for number, (text, label) in enumerate(zip(texts, labels, strict=True))
        )

    def begin(out, *options):
        process = start(
            *("-m", "verax.cli.main", "bench", "stain", "--dataset", tmp_path / "made.csv"),
            *("--models", "logistic,tree,mlp", "--explainers", "lime,shap,greedy", "--stains", 4),
            *("--inputs", 8, "--samples", 60, "--out", tmp_path / out, *options),
            cwd=tmp_path,
        )
        return process, tmp_path / out / "summary.json"

    return begin


def test_one_process_two_processes_and_a_cluster_that_loses_a_worker_give_the_same_summary(
    start, stain, tmp_path
):
    cluster = Cluster(start, tmp_path)
    workers = [cluster.worker(), cluster.worker()]
    process, there = stain("cluster", "--cluster", cluster.address)
    wait_until(lambda: len(stored(tmp_path / "cluster")) >= 3, seconds=240)
    finished = len(stored(tmp_path / "cluster"))
    workers[0].send_signal(signal.SIGKILL)
    workers[0].wait()
    assert process.wait(300) == 0
    assert finished < len(stored(tmp_path / "cluster"))
    assert [is_alive(worker.pid) for worker in workers] == [False, True]

    one, alone = stain("one", "--jobs", 1)
    assert one.wait(300) == 0
    two, together = stain("two", "--jobs", 2)
    assert two.wait(300) == 0
    assert there.read_bytes() == alone.read_bytes() == together.read_bytes()
