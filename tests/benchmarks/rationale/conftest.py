"""A small set of texts with a few words that decide, and a finished verification of it."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from verax.workflows.rationale import rationale

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

FILLER = "film plot the actor scene story with about some of its own slow quick then here"
TELLING = (("bad", "poor", "dull"), ("good", "fine", "warm"))
# As small as a training may be.
MODEL = "rationale(rate=0.01,dimensions=12)"
QUICK = {"epochs": 10, "share": 0.25, "samples": 60, "inputs": 20, "subsets": 5}


@pytest.fixture(scope="session")
def films_csv(tmp_path_factory):
    """A file of 500 made-up texts."""
    path = tmp_path_factory.mktemp("rationale") / "films.csv"
    rng = np.random.default_rng(3)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for number in range(500):
            label = number % 2
            words = [*rng.choice(FILLER.split(), rng.integers(5, 14)), rng.choice(TELLING[label])]
            writer.writerow([" ".join(rng.permutation(words)), ("negative", "positive")[label]])
    return str(path)


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Where targets are kept: trained once for all tests of this process."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERAX_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def run(films_csv, cache, tmp_path_factory):
    """Three targets, four explainers."""
    return rationale(
        films_csv,
        MODEL,
        explainers=["lime", "shap", "greedy", "oracle"],
        out=tmp_path_factory.mktemp("run") / "run",
        target_models=3,
        difficulty=["easy"],
        **QUICK,
    )
