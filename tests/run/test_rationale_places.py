"""The command ``verax bench rationale`` on a real cluster: targets are trained here, explanations made there."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from run.dask_cluster import Cluster

pytest.importorskip("distributed")
pytest.importorskip("torch")

FILLER = ("film", "plot", "the", "actor", "scene", "story", "with", "about", "its", "own", "slow", "then")


@pytest.fixture
def verify(start, tmp_path):
    """Start the command on a small file of texts in which one word decides; the process and its summary's path."""
    rng = np.random.default_rng(3)
    with (tmp_path / "films.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for number in range(400):
            words = [*rng.choice(FILLER, rng.integers(5, 12)), ("poor", "fine")[number % 2]]
            writer.writerow([" ".join(rng.permutation(words)), ("negative", "positive")[number % 2]])

    def begin(out, *options):
        process = start(
            *("-m", "verax.cli.main", "bench", "rationale", "--dataset", tmp_path / "films.csv"),
            *("--model", "rationale(rate=0.01,dimensions=12)", "--explainers", "lime,greedy"),
            *("--target-models", 1, "--difficulty", "easy", "--epochs", 4, "--share", 0.25, "--inputs", 10),
            *("--samples", 60, "--subsets", 2, "--tau", 0.001, "--out", tmp_path / out, *options),
            cwd=tmp_path,
            environment={"VERAX_CACHE": str(tmp_path / "cache")},
        )
        return process, tmp_path / out / "summary.json"

    return begin


def test_a_cluster_and_this_machine_give_the_same_summary(start, verify, tmp_path):
    cluster = Cluster(start, tmp_path)
    cluster.worker()
    there, of_cluster = verify("cluster", "--cluster", cluster.address)
    assert there.wait(300) == 0
    here, of_machine = verify("here")
    assert here.wait(300) == 0
    assert of_cluster.read_bytes() == of_machine.read_bytes()
